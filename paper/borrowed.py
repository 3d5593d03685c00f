"""Everything that the figures need of `vbdm` and that is not public, with the reason.

`pilot_bandwidth`
    ρ0 of Section 3. A result holds ρ, which is a power of the density that ρ0 gives; Section 3
    makes a claim about ρ0 itself.
`spectra_over`
    The loop over ε behind `vbdm.scan_epsilon` and `vbdm.second_opinion`, for any list of ε.
`Search`, `ROUNDING`
    The search for multiple eigenvalues, and the kernel value below which two points count as not
    joined. `line` solves the package's own eigenproblem by other matrices, and has to agree with it
    on both.
"""

from vbdm.kernel.pilot import pilot_bandwidth
from vbdm.solvers.arpack import Search
from vbdm.spectrum.pieces import ROUNDING
from vbdm.trust.epsilon_scan import spectra_over

__all__ = ["ROUNDING", "Search", "pilot_bandwidth", "spectra_over"]
