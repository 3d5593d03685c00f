"""`vbdm.shapes` is `vbdm.base.shapes`."""

import sys

from vbdm.base import shapes

sys.modules[__name__] = shapes
