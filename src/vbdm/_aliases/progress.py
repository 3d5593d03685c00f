"""`vbdm.progress` is `vbdm.base.progress`."""

import sys

from vbdm.base import progress

sys.modules[__name__] = progress
