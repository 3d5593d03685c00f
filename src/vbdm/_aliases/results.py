"""`vbdm.results` is `vbdm.io.results`."""

import sys

from vbdm.io import results

sys.modules[__name__] = results
