"""What the figures need of `vbdm` that is not public: all of it is imported here, with the reason.

`pilot_bandwidth`
    ρ0 of Section 3. A result holds ρ, which is a power of the density that ρ0 gives; Section 3
    makes a claim about ρ0 itself.
`spectra_over`
    The loop over ε that the page and the second opinion use, too, for any list of ε.
`Search`, `ROUNDING`
    The search for eigenvalues that occur several times, and the kernel value below which two points
    count as not joined. `line` solves the package's own eigenproblem by another matrix, and has to
    agree with it on both.
"""

from vbdm.bandwidth.pilot import pilot_bandwidth
from vbdm.spectrum.pieces import ROUNDING
from vbdm.spectrum.solvers.arpack import Search
from vbdm.trust.epsilon_scan import spectra_over

__all__ = ["ROUNDING", "Search", "pilot_bandwidth", "spectra_over"]
