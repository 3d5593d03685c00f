"""`vbdm.errors` is `vbdm.base.errors`."""

import sys

from vbdm.base import errors

sys.modules[__name__] = errors
