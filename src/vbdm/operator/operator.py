"""The operator L on the points, and the normalisation that makes it from the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import diags_array

from .. import theory
from ..base.arrays import FloatArray, from_user, frozen, to_user
from ..base.checks import a_switch
from ..base.kept import KEPT
from ..base.points import check_function
from ..engines.choose import to_engine
from ..engines.engine import at_work
from ..errors import InputError
from ..graph.neighbor_graph import NeighborGraph
from ..graph.on_host import in_memory, state_in_memory
from ..graph.order import as_caller_sees
from ..kernel.block_matrix import BlockMatrix
from ..kernel.dimension import Dimension
from ..kernel.kernel import Kernel
from ..kernel.pair_matrix import PairMatrix
from ..kernel.pilot import Pilot
from ..kernel.tuning import Tuning
from ..placement import IN_MEMORY
from .record import Settings
from .sums import in_potential

if TYPE_CHECKING:
    from ..calculus.calculus import Calculus
    from ..equations.equations import Equations
    from ..equations.solved import Committor, PassageTime, Solved
    from ..solvers import EigenSolver
    from ..spectrum.spectrum import Spectrum

#: Cached properties that a copy of an operator in memory takes over.
KNOWN = (KEPT,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Inside:
    """What an operator has at each of its points, in the order inside (`op.graph.order`)."""

    #: D, (M,), the row sums of K_α; and ε m ρ², (M,), the time that one step of the kernel takes.
    degrees: FloatArray
    steps: FloatArray
    #: The first density estimate, from which the bandwidth is made.
    pilot: Pilot
    #: U, (M,), in units of kT and up to a constant, if it weights the pairs; of weights w that are
    #: a function of the place it is -c1 log w.
    potential: FloatArray | None = None
    #: How often each point counts in sums over the sample, (M,), if weights jump between points.
    multiplicity: FloatArray | None = None


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Operator:
    """The estimate of L f = Δf + c1 ∇f·∇q/q - ∇U·∇f on the points; U is 0 unless it was given.

    With weights w of the points, w q takes the place of the sampling density q.

    `op @ f` applies it to values on the points, `op.spectrum(10)` gives its eigenpairs. All arrays
    are in the order of the points that were passed, but for those of `alpha_kernel` and `inside`.

    Attributes
    ----------
    kernel : Kernel
        The kernel K that it was made from.
    alpha_kernel : PairMatrix or BlockMatrix
        K_α, the kernel divided by powers of the density; with a potential, times exp(-U/2) at both
        points.
    inside : Inside
        Densities, steps and weights at the points, in the order of `graph.order`.
    dimension : Dimension
        The dimension, with its error if it was estimated.
    tuning : Tuning
        ε and the curve that it came from.
    settings : Settings
        What was asked for and what was decided.
    """

    kernel: Kernel
    alpha_kernel: PairMatrix | BlockMatrix
    inside: Inside
    dimension: Dimension
    tuning: Tuning
    settings: Settings

    @property
    def graph(self) -> NeighborGraph:
        """The points and their neighbours."""
        return self.kernel.graph

    @property
    def on_host(self) -> Operator:
        """The same operator in this machine's memory; itself, unless it lives on a device."""
        return in_memory(self, self.graph.order.n_points, KNOWN)

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles keep: an operator on a device is copied into memory."""
        return state_in_memory(self)

    @property
    def n_points(self) -> int:
        """Number N of points that were passed."""
        return self.graph.order.n_rows

    @property
    def n_neighbors(self) -> int:
        """Mean number of pairs per point; by lists, their length k, the point itself included."""
        return self.kernel.n_neighbors

    @property
    def dim(self) -> float:
        """The dimension d in use, a real number."""
        return self.settings.exponents.dim

    @property
    def epsilon(self) -> float:
        """The global scale ε of the kernel."""
        return self.kernel.epsilon

    @property
    def bandwidth(self) -> FloatArray | tuple[FloatArray, FloatArray]:
        """ρ at the points, (N,); the pair (ρ1, ρ2) for the two-sided form.

        Where rows live in blocks, it is an array as eigenfunctions are; on a
        device, if that was asked for by `output`, it stays there.
        """
        widths = self.kernel.bandwidth
        if self.settings.form == "two-sided":
            return self._given_out("row", widths.row), self._given_out("column", widths.column)
        return self._given_out(
            "bandwidth", widths.column if self.settings.form == "right" else widths.row
        )

    @property
    @at_work("results")
    def widths(self) -> FloatArray:
        """The kernel's width √(4ε)·ρ(x) at the points, (N,), in the data's own unit of length."""
        return self._to_caller(self.kernel.widths)

    @property
    @at_work("results")
    def density(self) -> FloatArray:
        """The estimated sampling density q, (N,), per unit of d-dimensional volume.

        Where rows live in blocks, it is an array as eigenfunctions are.
        """
        return self._given_out("density", self.kernel.density(self.dim))

    @overload
    def apply(self, f: ArrayLike, return_std: Literal[False] = ...) -> FloatArray: ...
    @overload
    def apply(self, f: ArrayLike, return_std: Literal[True]) -> tuple[FloatArray, FloatArray]: ...
    @at_work("L f")
    def apply(
        self, f: ArrayLike, return_std: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        r"""Return L f at the points.

        Parameters
        ----------
        f : (N,) or (N, m) array
            Values of one or several functions on the points.
        return_std : bool
            Also return the sampling standard deviation of each value.

        Returns
        -------
        array, or pair of arrays, of the shape of f
            NaN at points that have no neighbour within the kernel's reach.

        Notes
        -----
        Implements :math:`(L f)_i = \frac{1}{ε m ρ_i^2} (Σ_j P_{ij} f_j - f_i)`,
        :math:`P = D^{-1} K_α` (Theorem "mainresult"), and for the standard deviation the weighted
        mean's :math:`\sqrt{Σ_j P_{ij}^2 (f_j - (Pf)_i)^2} / (ε m ρ_i^2)`, which takes the weights
        as fixed, times the factor by which their response to the sample changes it
        (`vbdm.theory.density_response`). A bandwidth that is estimated responds as well: both
        together act like the fixed kernel with the same c1, α = 1 - c1/2. Measured on circle and
        sphere where sampling error dominates, observed over predicted deviation: 0.9 to 1.25
        for c1 = 0, 1, 2 and three β.
        One sparse product, O(N k) per column; three with the deviation.
        """
        output = self.settings.output
        f = to_engine(f, self.graph.point_set.engine.credit.name)
        values = from_user(
            check_function(f, self.n_points, there=True), self.inside.degrees, output
        )
        columns = values.reshape(len(values), -1)
        columns = columns - columns.mean(axis=0)
        inside = self.graph.order.to_inside(columns)
        inverse = self._inverse_degrees()[:, None]
        steps = self.inside.steps[:, None]
        mean = (self.alpha_kernel @ inside) * inverse
        # Copies of a point may carry different values of f: each is compared with the mean.
        mean_there, time = (
            to_user(self.graph.order.to_caller(one), output) for one in (mean, steps)
        )
        result = frozen(((mean_there - columns) / time).reshape(values.shape))
        if not a_switch(return_std, "return_std"):
            return result
        second = self.alpha_kernel.product(inside**2, power=2)
        second -= 2 * mean * self.alpha_kernel.product(inside, power=2)
        second += mean**2 * self.alpha_kernel.row_sums(power=2)[:, None]
        deviation = np.sqrt(np.maximum(second, 0)) * inverse / steps
        exponents = self.settings.exponents
        share = exponents.alpha
        if exponents.c1 is not None:
            share = theory.alpha_for(exponents.c1, 0, self.dim)
        deviation *= theory.density_response(share, self.dim)
        spread = to_user(self.graph.order.to_caller(deviation), output)
        return result, spread.reshape(values.shape)

    def __matmul__(self, f: ArrayLike) -> FloatArray:
        """Return `apply(f)`."""
        return self.apply(f)

    @property
    @at_work("results")
    def matrix(self) -> Any:
        """L as a SciPy CSR matrix, built when asked for; rows of isolated points are 0."""
        inverse = np.nan_to_num(self._inverse_degrees())
        rate = np.where(inverse > 0, 1 / self.inside.steps, 0.0)
        P = self.alpha_kernel.scaled(rate * inverse, np.ones_like(rate))
        return self.graph.order.matrix_to_caller(P.merged()) - diags_array(self._to_caller(rate))

    @property
    @at_work("results")
    def symmetric(self) -> Any:
        r"""The symmetric conjugate :math:`\hat L = S L S^{-1}`, S = P D^{1/2}, as CSR (Section 3).

        Raises
        ------
        InputError
            For the left, right and two-sided forms, which have none.
        """
        refuse_unsymmetric(self, "Symmetric conjugates")
        inverse = np.nan_to_num(np.sqrt(self._inverse_degrees() / self.inside.steps))
        conjugate = self.alpha_kernel.scaled(inverse, inverse).merged()
        rate = np.where(inverse > 0, 1 / self.inside.steps, 0.0)
        moved = self.graph.order.matrix_to_caller(conjugate, symmetric=True)
        return moved - diags_array(self._to_caller(rate))

    @at_work("the spectrum")
    def spectrum(
        self,
        n: int = 10,
        *,
        components: str = "each",
        solver: EigenSolver | str | None = None,
        tol: float | None = None,
    ) -> Spectrum:
        """Return the n eigenvalues nearest 0, from 0 downwards, with their eigenfunctions.

        Warnings name what is doubtful about them; `vbdm.diagnose` has all findings. See
        `vbdm.spectrum.solve.compute_spectrum` for the options.
        """
        from ..spectrum.solve import compute_spectrum
        from ..trust.diagnose import warn_of

        spectrum = compute_spectrum(self, n, components=components, solver=solver, tol=tol)
        warn_of(spectrum)
        return spectrum

    def extend(self, f: ArrayLike, X_new: ArrayLike, *, outside: str = "nan") -> FloatArray:
        """Return a function known on the points at new points (see `vbdm.extension.extension`)."""
        from ..extension.extension import extend_function

        return extend_function(self, f, X_new, outside=outside)

    def density_at(self, X_new: ArrayLike) -> FloatArray:
        """Return the sampling density at new points (see `vbdm.extension.extension`)."""
        from ..extension.extension import density_at

        return density_at(self, X_new)

    @property
    def equations(self) -> Equations:
        """Equations with L, such as those for committors and passage times."""
        from ..equations.equations import Equations

        return Equations(self.on_host)

    @property
    def calculus(self) -> Calculus:
        """Gradients, their products, and tangent spaces."""
        from ..calculus.calculus import Calculus

        return Calculus(self.on_host)

    def solve(
        self,
        f: ArrayLike,
        fixed: Sequence[tuple[Any, Any]] = (),
        screen: float | ArrayLike = 0.0,
        *,
        labels: Any = None,
        columns: Any = None,
        tol: float = 1e-6,
    ) -> Solved:
        """See `Equations.solve`."""
        return self.equations.solve(f, fixed, screen, labels=labels, columns=columns, tol=tol)

    def committor(
        self, A: Any, B: Any, *, labels: Any = None, columns: Any = None, tol: float = 1e-6
    ) -> Committor:
        """See `Equations.committor`."""
        return self.equations.committor(A, B, labels=labels, columns=columns, tol=tol)

    def mean_first_passage(
        self, B: Any, *, labels: Any = None, columns: Any = None, tol: float = 1e-6
    ) -> PassageTime:
        """See `Equations.mean_first_passage`."""
        return self.equations.mean_first_passage(B, labels=labels, columns=columns, tol=tol)

    def gradient(self, f: ArrayLike) -> FloatArray:
        """See `Calculus.gradient`."""
        return self.calculus.gradient(f)

    @at_work("results")
    def plot(self) -> Any:
        """Draw the choice of ε and the density, and return the figure (see `vbdm.plot`)."""
        from ..plot import summary

        return summary(self)

    def _repr_html_(self) -> str:
        """Return the table that notebooks show."""
        from ..report.tables import operator_html

        return operator_html(self)

    def __repr__(self) -> str:
        """Say what was estimated, and with which settings."""
        exponents, weighting = self.settings.exponents, self.settings.weighting
        c1 = "bandwidth given" if exponents.c1 is None else f"c1={exponents.c1:g}"
        if in_potential(self):
            c1 = "potential given"
        if weighting.kind != "none":
            c1 += f", weighted as {weighting.effective_points:.0f} points"
        where = self.settings.placement
        blocks = "" if where == IN_MEMORY else f", {where}"
        return (
            f"Operator({self.n_points} points, {c1}, dim={self.dim:.3g}, "
            f"epsilon={self.epsilon:.4g}, n_neighbors={self.n_neighbors}, "
            f"alpha={exponents.alpha:.4g}{blocks})"
        )

    def _inverse_degrees(self) -> FloatArray:
        """1/D, (M,), NaN where no neighbour is within reach."""
        return 1 / np.where(self.inside.degrees > 0, self.inside.degrees, np.nan)

    def _to_caller(self, values: NDArray[Any]) -> NDArray[Any]:
        found: NDArray[Any] = to_user(self.graph.order.to_caller(values))
        return found

    @cached_property
    def _known(self) -> dict[str, FloatArray]:
        """Arrays that were given out, by name: each is brought to where rows live only once."""
        return {}

    @at_work("results")
    def _given_out(self, name: str, values: FloatArray) -> FloatArray:
        """Return values (M,) in the caller's order, as an array of the kind that rows live in."""
        rows = self.graph.point_set.rows
        if rows is None:
            found: FloatArray = to_user(self.graph.order.to_caller(values), self.settings.output)
            return found
        if name not in self._known:
            self._known[name] = as_caller_sees(rows.spread(values), self.graph.order)
        return self._known[name]


def refuse_unsymmetric(operator: Operator, what: str) -> None:
    """Raise for the forms of the kernel that have no such thing: only K = Kᵀ is reversible."""
    if not operator.kernel.is_symmetric:
        raise InputError(
            f"{what} need the symmetric form of the kernel; received "
            f"form={operator.settings.form!r}. Use form='symmetric'."
        )
