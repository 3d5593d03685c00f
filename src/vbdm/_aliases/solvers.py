"""`vbdm.solvers` is `vbdm.spectrum.solvers`."""

import sys

from vbdm.spectrum import solvers

sys.modules[__name__] = solvers
