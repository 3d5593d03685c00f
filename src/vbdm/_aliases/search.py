"""`vbdm.search` is `vbdm.graph.search`."""

import sys

from vbdm.graph import search

sys.modules[__name__] = search
