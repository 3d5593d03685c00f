"""`vbdm.single_cell` is `vbdm.io.single_cell`."""

import sys

from vbdm.io import single_cell

sys.modules[__name__] = single_cell
