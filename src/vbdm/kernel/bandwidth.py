"""How wide the kernel is at each point, and the rules by which that is decided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..base.checks import a_number, answer_of
from ..base.points import check_per_point
from ..base.references import DIFFUSION_MAPS, Credit
from ..errors import InputError
from ..graph.neighbor_graph import NeighborGraph


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
    (a b)^{d/2}.
    """

    # (M,): a and b at the points, in the order inside
    row: FloatArray
    column: FloatArray
    form: str = "symmetric"  # name of the form

    @classmethod
    def of_form(cls, form: str, rho: FloatArray | tuple[FloatArray, FloatArray]) -> Bandwidth:
        """Place ρ, or the pair (ρ1, ρ2) of the two-sided form, where the form has it."""
        if isinstance(rho, tuple):
            return cls(*rho, form)
        one = np.ones_like(rho)
        row, column = {"left": (rho, one), "right": (one, rho)}.get(form, (rho, rho))
        return cls(row, column, form)

    @property
    def is_symmetric(self) -> bool:
        """Whether K(x, y) = K(y, x)."""
        return self.form == "symmetric"

    @property
    def squared(self) -> FloatArray:
        """The local squared length a(x) b(x), (M,), in units of ε."""
        return self.row * self.column


#: One number per point, or a function of the points that returns them.
PerPoint = ArrayLike | Callable[[FloatArray], ArrayLike]


@runtime_checkable
class BandwidthRule(Protocol):
    """A rule for ρ, at the data and at new points; a user may pass one as `bandwidth`."""

    @property
    def beta(self) -> float | None:
        """Exponent β of ρ = q^β, or None where ρ is not a power of the density."""

    def settled(self, graph: NeighborGraph, dim: float) -> BandwidthRule:
        """Return the rule with everything decided that depends on the data and the dimension d."""

    def on_data(
        self, graph: NeighborGraph, pilot: FloatArray
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Return ρ, (M,), from the pilot density q0, (M,), both in the order inside."""

    def at(self, points: FloatArray, pilot: FloatArray) -> FloatArray:
        """Return ρ at new points, (m, n), from the pilot density there, (m,)."""


@dataclass(frozen=True)
class PowerOfDensity:
    """ρ = q0^β, q0 being the pilot density."""

    #: β; None: -min(1/2, 1/d), with which ρ grows no faster than the distance to neighbours does,
    #: and the sampling error stays bounded, where the density tends to 0. 0 is the fixed kernel
    #: (diffusion maps).
    beta: float | None = None

    def __post_init__(self) -> None:
        """Refuse exponents whose powers are no numbers."""
        if self.beta is not None:
            object.__setattr__(self, "beta", a_number(-10, 10)(self.beta, "beta"))

    @property
    def credit(self) -> Credit:
        """Name and words of the rule; β = 0, the fixed kernel, refers to diffusion maps."""
        fixed = (DIFFUSION_MAPS,) if self.beta == 0 else ()
        return Credit("power of the density", "a power of the pilot density", fixed)

    def settled(self, graph: NeighborGraph, dim: float) -> PowerOfDensity:
        """Return the rule with β decided."""
        return PowerOfDensity(-min(0.5, 1 / dim) if self.beta is None else self.beta)

    def on_data(self, graph: NeighborGraph, pilot: FloatArray) -> FloatArray:
        """Return q0^β."""
        return self.at(np.empty((0, 0)), pilot)

    def at(self, points: FloatArray, pilot: FloatArray) -> FloatArray:
        """Return q0^β."""
        return pilot ** cast(float, self.beta)


@dataclass(frozen=True, eq=False)
class GivenBandwidth:
    """The user's own ρ."""

    #: ρ > 0, a length up to a constant factor: an array (N,), known at the data only, or a function
    values: PerPoint
    beta: None = None

    def settled(self, graph: NeighborGraph, dim: float) -> GivenBandwidth:
        """Return the rule as it is."""
        return self

    def on_data(self, graph: NeighborGraph, pilot: FloatArray) -> FloatArray:
        """Return ρ, checked to be positive."""
        return checked_widths(at_the_data(self.values, graph, "bandwidth"))

    def at(self, points: FloatArray, pilot: FloatArray) -> FloatArray:
        """Return the user's ρ at new points, if it is a function."""
        return checked_widths(at_new_points(self.values, points, "bandwidth"))


@dataclass(frozen=True, eq=False)
class TwoBandwidths:
    """The pair (ρ1, ρ2) of the two-sided form, each as in `GivenBandwidth`."""

    first: PerPoint
    second: PerPoint
    beta: None = None

    def settled(self, graph: NeighborGraph, dim: float) -> TwoBandwidths:
        """Return the rule as it is."""
        return self

    def on_data(self, graph: NeighborGraph, pilot: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return ρ1 and ρ2."""
        first = checked_widths(at_the_data(self.first, graph, "bandwidth"))
        return first, checked_widths(at_the_data(self.second, graph, "bandwidth"))

    def at(self, points: FloatArray, pilot: FloatArray) -> FloatArray:
        """Refuse: the two-sided form is not extended."""
        raise InputError(
            "Two bandwidths are not extended to new points; received form='two-sided'. Use "
            "form='symmetric'."
        )


@dataclass(frozen=True, eq=False)
class FromPotential:
    r"""ρ = exp(-U/(d+2)), whose drift (d+2)∇ρ/ρ is -∇U (after Eq. "gradientFlow")."""

    potential: PerPoint  #: U, minus the logarithm of the wanted invariant density
    dim: float | None = None  #: d; None until the rule is settled
    #: Median of U over the data, which is subtracted: a constant added to U scales ρ, and that
    #: changes nothing but the unit of ε. None until the rule is settled.
    centre: float | None = None
    beta: None = None

    def settled(self, graph: NeighborGraph, dim: float) -> FromPotential:
        """Return the rule with dimension and centre decided."""
        U = at_the_data(self.potential, graph, "potential")
        if float(np.ptp(U)) / (dim + 2) > 600:
            raise InputError(
                f"`potential` spans too wide a range; received values from {U.min():.3g} to "
                f"{U.max():.3g}. Check its units: U enters as -log of the invariant density."
            )
        return replace(self, dim=dim, centre=float(np.median(U)))

    def on_data(self, graph: NeighborGraph, pilot: FloatArray) -> FloatArray:
        """Return ρ at the data."""
        return self.width(at_the_data(self.potential, graph, "potential"))

    def at(self, points: FloatArray, pilot: FloatArray) -> FloatArray:
        """Return ρ at new points."""
        return self.width(at_new_points(self.potential, points, "potential"))

    def width(self, potential: FloatArray) -> FloatArray:
        """Return exp(-(U - centre)/(d+2))."""
        return np.exp(-(potential - cast(float, self.centre)) / (cast(float, self.dim) + 2))


def checked_widths(values: FloatArray) -> FloatArray:
    """Return a bandwidth, or refuse it if it is not positive everywhere."""
    if not (values > 0).all():
        raise InputError(
            "`bandwidth` must be positive everywhere; received a smallest value of "
            f"{values.min():.3g}. Add a floor, or pass the exponential of a function."
        )
    return values


def at_new_points(function: PerPoint, points: FloatArray, name: str) -> FloatArray:
    """Return the user's function at new points, (m,); an array is refused."""
    if not callable(function):
        raise InputError(
            f"`{name}` is not known at new points; received `{name}` as an array. Pass it as a "
            "function of the points."
        )
    return check_per_point(answer_of(function, name, points), name, len(points))


def at_the_data(function: PerPoint, graph: NeighborGraph, name: str) -> FloatArray:
    """Return one number per point, (M,) in the order inside, from an array or a function."""
    values: Any = function
    if callable(function):
        if graph.points is None:
            raise InputError(
                f"`{name}` is a function of the points; received a precomputed graph, which has "
                "none. Pass an array with one number per point."
            )
        values = answer_of(function, name, graph.points)
    checked = check_per_point(values, name, graph.order.n_rows)
    return graph.order.to_inside(checked)
