"""`vbdm.placement` is `vbdm.rows.placement`."""

import sys

from vbdm.rows import placement

sys.modules[__name__] = placement
