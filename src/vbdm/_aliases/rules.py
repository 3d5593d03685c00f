"""`vbdm.rules` is `vbdm.bandwidth.rules`."""

import sys

from vbdm.bandwidth import rules

sys.modules[__name__] = rules
