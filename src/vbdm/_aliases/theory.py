"""`vbdm.theory` is `vbdm.operator.theory`."""

import sys

from vbdm.operator import theory

sys.modules[__name__] = theory
