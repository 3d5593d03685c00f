"""What the figures need of `vbdm` that is not public: all of it is imported here, with the reason.

`at_epsilon`
    One operator at many ε on one bandwidth. `vbdm.estimate_operator` would search the neighbours
    and estimate the bandwidth again for every ε.
`pilot_bandwidth`
    ρ0 of Section 3. A result holds ρ, which is a power of the density that ρ0 gives; Section 3
    makes a claim about ρ0 itself.
`Search`, `ROUNDING`
    The search for eigenvalues that occur several times, and the kernel value below which two points
    count as not joined. `line` solves the package's own eigenproblem by another matrix, and has to
    agree with it on both.
"""

from vbdm.bandwidth.bandwidth import pilot_bandwidth
from vbdm.spectrum.pieces import ROUNDING
from vbdm.spectrum.solvers.arpack import Search
from vbdm.trust.error_bars import at_epsilon

__all__ = ["ROUNDING", "Search", "at_epsilon", "pilot_bandwidth"]
