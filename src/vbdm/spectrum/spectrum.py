"""The result: eigenvalues and eigenfunctions on the points, and the solver's own account."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.kept import KEPT
from ..base.references import Credit
from ..engines.engine import at_work
from ..graph.on_host import in_memory, state_in_memory
from ..operator.operator import Operator
from ..operator.record import Settings
from .limiter import Limits
from .pieces import Pieces

if TYPE_CHECKING:
    from ..dynamics.clock import Clock
    from ..dynamics.dynamics import Dynamics
    from ..dynamics.states import States
    from ..extension.extension import Extension
    from ..trust.error_bars import ErrorBars


def nothing() -> FloatArray:
    """Return an empty array, the default of a field."""
    return np.empty(0)


@dataclass(frozen=True, eq=False, kw_only=True)
class SolveLog:
    """The solver's own account of a solve.

    Attributes
    ----------
    solvers : tuple of Credit
        The solvers at work: one, or several where connected pieces were solved apart.
    reason : str
        Why they were chosen, and which one failed before; empty if the user chose.
    passes : int
        Number of solves that the limiter took.
    iterations, products : int
        The work of the last solve: steps of the solver's own kind, and products with K.
    converged : bool
        Whether every solve reached its tolerance.
    error_estimate : float
        The solver's own estimate of the largest relative error of θ.
    residuals : (n,) array
        ``|M^{-1/2}((D - K) u - θ M u)|`` of each pair, for M^{1/2} u of norm 1.
    pencil_eigenvalues : (n,) array
        θ >= 0, the eigenvalues of the pencil (of each mode's own, if it has a limit of its own).
        λ = -θ, but for the limiter's last step and the finite-sample correction.
    shared_eigenvalues : (n,) array
        θ of the same modes under the limit that all share; empty if none has a limit of its own.
    set_aside : (m,) array
        θ of all modes that were found but are not in the list: left out, or too fast for it.
    """

    solvers: tuple[Credit, ...] = ()
    reason: str = ""
    passes: int = 1
    iterations: int = 0
    products: int = 0
    converged: bool = True
    error_estimate: float = 0.0
    residuals: FloatArray = field(default_factory=nothing)
    pencil_eigenvalues: FloatArray = field(default_factory=nothing)
    set_aside: FloatArray = field(default_factory=nothing)
    shared_eigenvalues: FloatArray = field(default_factory=nothing)

    @property
    def solver(self) -> str:
        """Names of the solvers, in one string."""
        return ", ".join(credit.name for credit in self.solvers) or "known zeros"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Spectrum:
    """Eigenvalues of L (0 first, then downwards), and its eigenfunctions on the points.

    Attributes
    ----------
    operator : Operator
        The operator L that was solved.
    eigenvalues : (n,) array
        Eigenvalues λ of L, all <= 0; NaN where a mode decays within one step of the kernel.
    eigenfunctions : (N, n) array
        Eigenfunctions by columns, mean square 1 over the points. The sign is fixed: the value
        that is largest in size (the first one, if several are within 1e-6) is positive. Where the
        eigenvalue is NaN, it is the vector that the solver found .
        If they live in blocks outside this process's memory, an array that fetches what it is
        asked for.
    pieces : Pieces
        The connected pieces of the data, and how many of them were solved.
    unresolved : (N,) bool array
        Points whose surroundings are too sparse to resolve the first ten modes (the limiter holds
        them to their neighbours), and strays outside the pieces that were solved.
    limits : Limits
        The limits of the limiter: the one that all modes share, and the one in force for each.
    correction : (n,) array
        The finite-sample correction: the factor λ̂/λ by which the eigenvalues were divided.
    extent : (n,) array
        Extent of each mode: the number of kernels' worth of points that hold its energy. Modes
        of small extent are fragile. Empty for the unsymmetric forms of the kernel.
    left_out : (m,) array
        Eigenvalues of modes that sat on a handful of unresolved points and are not listed above.
    log : SolveLog
        How it was solved: solver, iterations, residuals.
    """

    operator: Operator
    eigenvalues: FloatArray
    eigenfunctions: FloatArray
    pieces: Pieces
    unresolved: BoolArray
    limits: Limits
    correction: FloatArray
    extent: FloatArray
    left_out: FloatArray
    log: SolveLog
    # The eigenfunctions in the order inside, (M, n), if they live in blocks or on a device.
    _stored: Any = None

    @property
    def on_host(self) -> Spectrum:
        """The same spectrum in this machine's memory; itself, unless it lives on a device."""
        return in_memory(self, self.operator.graph.order.n_points, (KEPT,), left_out="_stored")

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles keep: a spectrum on a device is copied into memory."""
        return state_in_memory(self)

    @property
    def settings(self) -> Settings:
        """What was asked for and what was decided; the solver is in `log`."""
        return self.operator.settings

    @property
    def residuals(self) -> FloatArray:
        """Residuals of the pairs, (n,): the error of the solver alone (see `SolveLog`)."""
        return self.log.residuals

    @property
    def components(self) -> NDArray[np.intp]:
        """The connected piece of each point, (N,), the largest piece being 0."""
        return self.pieces.labels

    @property
    def timescales(self) -> FloatArray:
        """Relaxation times -1/λ, (n,), if the diffusion coefficient is 1; infinite for λ = 0.

        Points alone cannot tell that coefficient; ratios of times do not need it.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.abs(self.eigenvalues))

    @property
    def errors(self) -> ErrorBars:
        """How sure all of this is: errors of eigenvalues and eigenfunctions, and their parts."""
        from ..trust.error_bars import ErrorBars

        return ErrorBars(self)

    @property
    def standard_errors(self) -> FloatArray:
        """Sampling error of each eigenvalue, (n,) (see `ErrorBars.standard`)."""
        return self.errors.standard

    @property
    def total_errors(self) -> FloatArray:
        """Total error of each eigenvalue, (n,), a standard deviation: sampling and systematic."""
        return self.errors.total

    def intervals(self, level: float = 0.95) -> FloatArray:
        """Return an interval for each true eigenvalue, (n, 2): its lower and its upper end.

        `level` is the share of cases in which the interval holds the truth.

        Examples
        --------
        >>> sample = vbdm.datasets.sphere(600, random_state=0)
        >>> spectrum = vbdm.estimate_operator(sample.points).spectrum(4)
        >>> lower, upper = spectrum.intervals().T     # the truth: 0, -2, -2, -2
        >>> bool((lower[1:] < -2).all() and (upper[1:] > -2).all())
        True
        """
        return self.errors.intervals(level)

    def extend(self, X_new: ArrayLike, *, outside: str = "nan") -> Extension:
        """Return the eigenfunctions at new points (see `vbdm.extend`)."""
        from ..extension.extension import extend

        return extend(self, X_new, outside=outside)

    def save(self, path: str | os.PathLike[str], *, kernel: bool = True) -> None:
        """Write everything into one file, to be read by `vbdm.load` (see `vbdm.save`).

        A path that ends in ``.zarr`` becomes a group of Zarr with the results alone: eigenvalues,
        errors, eigenfunctions, density and bandwidth, also where they do not fit into memory.
        """
        from ..io.saved.persistence import save

        save(self, path, kernel=kernel)

    @property
    def dynamics(self) -> Dynamics:
        """What the process does in time: evolution, correlations, distances, states, a clock."""
        from ..dynamics.dynamics import Dynamics

        return Dynamics(self.on_host)

    def evolve(
        self, f: ArrayLike, t: ArrayLike, *, clock: Clock | None = None, by: str = "modes"
    ) -> FloatArray:
        """See `Dynamics.evolve`."""
        return self.dynamics.evolve(f, t, clock=clock, by=by)

    def clock(
        self,
        series: Any = None,
        *,
        step: float,
        unit: str = "",
        lags: ArrayLike | None = None,
        lengths: Sequence[int] | None = None,
    ) -> Clock:
        """See `Dynamics.clock`."""
        return self.dynamics.clock(series, step=step, unit=unit, lags=lags, lengths=lengths)

    def states(self, n: int | str = "auto", *, clock: Clock | None = None) -> States:
        """See `Dynamics.states`."""
        return self.dynamics.states(n, clock=clock)

    @at_work("results")
    def plot(self) -> Any:
        """Draw an overview and return its figure (see `vbdm.plot.summary`)."""
        from ..plot import summary

        return summary(self)

    def table(self, format: str = "markdown") -> str:
        """Return the eigenvalues with total errors and 95 % intervals, as a table for a text.

        Parameters
        ----------
        format : {"markdown", "latex"}
            The language; LaTeX needs no package.

        Examples
        --------
        >>> sample = vbdm.datasets.sphere(600, random_state=0)
        >>> print(vbdm.estimate_operator(sample.points).spectrum(1).table())
        | j | eigenvalue | ± total error | 95 % interval |
        | ---: | ---: | ---: | ---: |
        | 0 | 0 | exact |  |
        """
        from ..report.tables import table

        return table(self, format)

    def to_frame(self) -> Any:
        """Return the eigenvalues as a pandas DataFrame, one row each.

        Columns: ``eigenvalue``; ``group``, the number of the group of eigenvalues that cannot be
        told apart, and ``group_mean``; of this mean ``standard_error`` (sampling), ``total_error``,
        ``lower`` and ``upper`` (95 %); and ``in_doubt``, in words.
        """
        from ..report.tables import to_frame

        return to_frame(self)

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        from ..report.tables import spectrum_html

        return spectrum_html(self)

    def __repr__(self) -> str:
        """Show the first eigenvalues and how they were found."""
        values = ", ".join(f"{value:.4g}" for value in self.eigenvalues[:6])
        more = ", …" if len(self.eigenvalues) > 6 else ""
        return (
            f"Spectrum(eigenvalues=[{values}{more}], {self.pieces.n_pieces} component(s), "
            f"{int(self.unresolved.sum())} unresolved point(s), solver={self.log.solver!r})"
        )
