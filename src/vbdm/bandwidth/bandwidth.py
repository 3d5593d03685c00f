"""Second room: how wide the kernel is at each point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.checks import FloatArray, check_per_point
from ..base.errors import InputError, bad_input
from ..base.threads import for_each
from ..graph.graph import NeighborGraph


@dataclass(frozen=True, eq=False)
class Bandwidth:
    """Two factors, a at the row's point and b at the column's: ``K = h(|x-y|² / (ε a(x) b(y)))``.

    The four forms of the paper differ in nothing else. With ρ the bandwidth function,

    =========  ======  ======  =====================================
    form       a(x)    b(y)    equation
    =========  ======  ======  =====================================
    symmetric  ρ       ρ       "vbkernel"
    left       ρ       1       "leftkernel"
    right      1       ρ       "rightkernel"
    two-sided  ρ1      ρ2      Remark, appendix "symmform"
    =========  ======  ======  =====================================

    and in all of them the kernel's squared local length is ε·a(x)·b(x), its volume
    (a b)^{d/2}. Arrays are in the tree's order.
    """

    row: FloatArray
    column: FloatArray
    form: str = "symmetric"

    @classmethod
    def of_form(cls, form: str, rho: FloatArray, rho2: FloatArray | None = None) -> Bandwidth:
        """Place ρ (or ρ1 and ρ2) where the form wants them."""
        one = np.ones_like(rho)
        factors = {"symmetric": (rho, rho), "left": (rho, one), "right": (one, rho)}
        row, column = factors.get(form, (rho, rho if rho2 is None else rho2))
        return cls(row, column, form)

    @property
    def is_symmetric(self) -> bool:
        """Whether K(x, y) = K(y, x)."""
        return self.form == "symmetric"

    @property
    def squared(self) -> FloatArray:
        """The local squared length a(x) b(x), in units of ε."""
        return self.row * self.column


@dataclass(frozen=True, eq=False)
class BandwidthSource:
    """Where ρ came from, so that it can be had at new points, too.

    Attributes
    ----------
    rho0 : (N,) array
        The pilot bandwidth at the training points, in the tree's order.
    radii : (N,) array
        Squared distance of the last neighbour that the pilot density looked at.
    n_density_neighbors, n_neighbors : int
        How many neighbours measured ρ0, and the pilot density.
    beta : float or None
        ρ = q0^β, unless one of the next two was given.
    given, potential : array or callable, optional
        The user's ρ or U.
    dim : float
        The dimension, which a potential needs.
    """

    rho0: FloatArray
    radii: FloatArray
    n_density_neighbors: int
    n_neighbors: int
    beta: float | None
    given: Any
    potential: Any
    dim: float
    centre: float = 0.0

    def bandwidth_at(self, points: FloatArray, pilot: FloatArray) -> FloatArray:
        """Return ρ at new points, from the pilot density there or the user's function."""
        if self.beta is not None:
            return np.asarray(pilot**self.beta)
        function = self.given if self.potential is None else self.potential
        name = "bandwidth" if self.potential is None else "potential"
        if not callable(function):
            raise bad_input(
                f"`{name}` is not known at new points.",
                received=f"`{name}` as an array",
                because="It holds values at the training points only.",
                hint=f"Pass `{name}` as a function of the points.",
            )
        values = check_per_point(function(points), name, len(points))
        if self.potential is not None:
            return np.asarray(np.exp(-(values - self.centre) / (self.dim + 2)))
        if not (values > 0).all():
            raise not_positive(values, name)
        return values


def pilot_bandwidth(graph: NeighborGraph, n_density_neighbors: int) -> FloatArray:
    r"""Return ρ0, the root mean square distance to the nearest k0 - 1 other points.

    Notes
    -----
    Implements :math:`ρ_0(x_i)^2 = \frac{1}{k_0-1} Σ_{j=2}^{k_0} |x_i - x_{I(i,j)}|^2` (Section 3).
    """
    rho0 = np.empty(graph.n_points)

    def work(rows: slice) -> None:
        rho0[rows] = np.sqrt(graph.distances(rows, slice(1, n_density_neighbors)).mean(axis=1))

    for_each(work, graph.pieces())
    if not (rho0 > 0).all():
        raise bad_input(
            "Some points coincide with all the neighbours that measure their density.",
            received=f"{(rho0 == 0).sum()} point(s) with {n_density_neighbors - 1} or more copies",
            because="The density there would be infinite.",
            hint="Drop repeated rows, for example by np.unique(X, axis=0), or raise "
            "`n_density_neighbors`.",
        )
    return rho0


def given_bandwidth(
    rho: ArrayLike | Callable[[FloatArray], ArrayLike], graph: NeighborGraph, name: str
) -> FloatArray:
    """Return a bandwidth given by the user, as an array or as a function of the points."""
    values = evaluated(rho, graph, name)
    if not (values > 0).all():
        raise not_positive(values, name)
    return values


def not_positive(values: FloatArray, name: str) -> InputError:
    """Say that a bandwidth must be positive."""
    return bad_input(
        f"`{name}` must be positive everywhere.",
        received=f"a smallest value of {values.min():.3g}",
        because="It is a length at every point.",
        hint="Add a floor, or pass the exponential of a function.",
    )


def potential_bandwidth(
    potential: ArrayLike | Callable[[FloatArray], ArrayLike], graph: NeighborGraph, dim: float
) -> tuple[FloatArray, float]:
    r"""Return ρ = exp(-U/(d+2)), whose drift (d+2)∇ρ/ρ is -∇U (after Eq. "gradientFlow").

    U is centred first, and the centre returned, too: a constant added to U scales ρ, which changes
    nothing but the unit of ε.
    """
    U = evaluated(potential, graph, "potential")
    centre = float(np.median(U))
    exponent = -(U - centre) / (dim + 2)
    if np.ptp(exponent) > 600:
        raise bad_input(
            "`potential` spans too wide a range.",
            received=f"values from {U.min():.3g} to {U.max():.3g}",
            because="exp(-U/(d+2)) would overflow or underflow.",
            hint="Check its units: U enters as -log of the invariant density.",
        )
    return np.asarray(np.exp(exponent)), centre


def evaluated(
    function: ArrayLike | Callable[[FloatArray], ArrayLike], graph: NeighborGraph, name: str
) -> FloatArray:
    """Return one number per point, in the tree's order, from an array or a function of points."""
    values = function
    if callable(function):
        if graph.points is None:
            raise bad_input(
                f"`{name}` is a function of the points, but this graph has none.",
                received="a precomputed graph",
                because="Only neighbours and distances were given.",
                hint=f"Pass `{name}` as an array with one number per point.",
            )
        values = function(graph.points)
    checked = check_per_point(values, name, graph.n_rows)  # type: ignore[arg-type]
    return np.asarray(graph.to_tree(checked), dtype=np.float64)
