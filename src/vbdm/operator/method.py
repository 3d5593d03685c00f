"""The two methods, resolved and paper: the same walk with different rules.

`Resolved` and `Paper` are what a user says about them; a `Method` is what comes of it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from ..base.checks import a_count, a_number
from ..base.parameters import Options, having
from ..errors import InputError
from ..kernel.bandwidth import BandwidthRule, PowerOfDensity
from ..kernel.dimension import ByRatios, DimensionRule
from ..kernel.epsilon import ByDegree, BySlope, DimensionBySlope
from ..kernel.scaled import CutAt, CutWhereClean, TruncationRule
from ..kernel.tuning import EpsilonRule
from ..shapes import as_shape

#: What the options of `Limiter` may be.
LIMITER_OPTIONS = {
    "kappa": a_number(1e-6, 1e6), "cap": a_number(0, 1), "n_reference": a_count(1, 1000),
    "passes": a_count(0, 100),
}  # fmt: skip


@dataclass(frozen=True)
class Limiter:
    """Options of the limiter, which keeps sparse points from carrying modes (`spectrum.limiter`).

    Attributes
    ----------
    kappa : float
        A point resolves a mode of rate λ if its local rate is above kappa·λ.
    cap : float
        Largest share of the points that may be limited; where more would have to be, modes are
        reported as unresolved instead. Beyond six dimensions it rises; from nine on all may be.
    n_reference : int
        Number of the mode, zeros not counted, whose rate is λ_ref. It is fixed, so that the first
        eigenvalues do not depend on how many others are asked for.
    passes : int
        Number of times that λ_ref is updated before the final solve.
    """

    kappa: float = 2.0
    cap: float = 0.02
    n_reference: int = 9
    passes: int = 1

    def __post_init__(self) -> None:
        """Refuse options that are out of bounds."""
        for name, kind in LIMITER_OPTIONS.items():
            kind(getattr(self, name), name)


@dataclass(frozen=True)
class Lists:
    """How long the lists of neighbours are, and how pairs are read from them."""

    #: k of the first graph, the point itself included, if its lists are the pairs of the density.
    n_neighbors: int = 64
    #: k if the pairs of the density are those within reach: enough for the dimension and for k0.
    n_nearest: int = 33
    #: k0 of the pilot density.
    n_density_neighbors: int = 16
    #: Whether lists are lengthened to hold the kernel at the chosen ε.
    widen: bool = True
    #: Weight of a pair (i, j) when j is among i's neighbours but not the other way round.
    one_way_share: float = 1.0
    #: Whether equal points become one point with a weight.
    merge_copies: bool = True
    #: Factor by which the user multiplied the numbers of neighbours.
    effort: float = 1.0

    def with_effort(self, effort: float) -> Lists:
        """Return the numbers of neighbours, for kernel and density, multiplied by the effort."""
        return replace(
            self,
            n_density_neighbors=max(4, round(effort * self.n_density_neighbors)),
            n_neighbors=max(16, round(effort * self.n_neighbors)),
            n_nearest=max(self.n_nearest, round(effort * self.n_density_neighbors)),
            effort=effort,
        )


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to estimate: the rules of each room, and the switches."""

    #: "resolved" or "paper"; the rules may have been replaced one by one.
    name: str
    bandwidth: BandwidthRule
    dimension: DimensionRule
    epsilon: EpsilonRule
    #: Rule for the share of its peak at which the kernel is cut.
    truncation: TruncationRule
    #: Whether a point is left out of its own sums: K_ii = 0 in density, tuning and kernel.
    leave_one_out: bool
    #: For points whose surroundings are too sparse; None if they get no treatment.
    limiter: Limiter | None
    #: Whether eigenvalues are corrected for the randomness of the sample.
    finite_sample: bool
    lists: Lists
    #: Whether a given potential U becomes the bandwidth, ρ = exp(-U/(d+2)); otherwise it weights
    #: the pairs, and ρ is what it would be without.
    potential_in_bandwidth: bool
    #: Fewest points of a connected piece that gets modes of its own; points of smaller pieces are
    #: strays, which are only reported. None: k0, the number of points that measure the density.
    smallest_piece: int | None


METHODS = {
    "paper": Method(
        name="paper",
        bandwidth=PowerOfDensity(-0.5),
        dimension=DimensionBySlope(),
        epsilon=BySlope(),
        truncation=CutAt(None),
        leave_one_out=False,
        limiter=None,
        finite_sample=False,
        lists=Lists(n_density_neighbors=8, widen=False, one_way_share=0.5, merge_copies=False),
        potential_in_bandwidth=True,
        smallest_piece=1,
    ),
    "resolved": Method(
        name="resolved",
        bandwidth=PowerOfDensity(),
        dimension=ByRatios(),
        epsilon=ByDegree(),
        truncation=CutWhereClean(),
        leave_one_out=True,
        limiter=Limiter(),
        finite_sample=True,
        lists=Lists(),
        potential_in_bandwidth=False,
        smallest_piece=None,
    ),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Choices(Options):
    """What both methods let a user choose; `Resolved` describes it."""

    shape: object = "gaussian"
    leave_one_out: bool | str = "auto"
    truncation: float | str | TruncationRule | None = "auto"
    limiter: Limiter | bool | str = "auto"
    finite_sample: bool | str = "auto"
    n_neighbors: int | str = "auto"
    n_density_neighbors: int | str = "auto"
    alpha: float | None = None
    weights_as: str = "auto"

    name: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        as_shape(self.shape)

    def rules(self, effort: float = 1.0) -> Method:
        """Return the method with these choices.

        The finite-sample correction assumes independent samples that are left out of their own
        sums: without leave-one-out it is off unless asked for.
        """
        method = METHODS[self.name]
        if effort != 1 and not method.lists.widen:
            raise InputError(
                f"The paper's method has no `effort`; received effort={effort!r}. Choose "
                "`n_neighbors` and `n_density_neighbors` of vbdm.Paper instead."
            )
        chosen: dict[str, Any] = {"lists": method.lists.with_effort(effort)}
        if self.leave_one_out != "auto":
            on = chosen["leave_one_out"] = bool(self.leave_one_out)
            chosen["finite_sample"] = method.finite_sample and on
        if self.finite_sample != "auto":
            chosen["finite_sample"] = bool(self.finite_sample)
        if having("share").fits(self.truncation):
            chosen["truncation"] = self.truncation
        elif self.truncation != "auto":
            share: Any = self.truncation
            chosen["truncation"] = CutAt(None if share is None else float(share))
        if isinstance(self.limiter, Limiter):
            chosen["limiter"] = self.limiter
        elif self.limiter != "auto":
            chosen["limiter"] = Limiter() if self.limiter else None
        return replace(method, **chosen)


class Resolved(Choices):
    """The default method: right without tuning.

    Parameters
    ----------
    shape : {"gaussian", "broad", "compact"}, shape object or callable
        h, the kernel's shape, with h(s) < a·exp(-s/σ).
    leave_one_out : bool or "auto"
        Whether a point is left out of its own sums; by default it is. Right for independent
        samples; on regular grids the point is a true quadrature node, and False is better.
    truncation : float, rule, None or "auto"
        Share of its peak at which the kernel is cut, by radius; its moments are corrected. By
        default 1e-3, or e⁻⁵ for more than 10⁴ points without noise. None: the kernel ends only
        where the neighbour list does.
    limiter : vbdm.rules.Limiter, bool or "auto"
        Whether `spectrum` keeps sparse points from carrying modes of their own; by default it does.
    finite_sample : bool or "auto"
        Whether `spectrum` corrects the eigenvalues for the randomness of the sample, a term of
        order 1/n; by default it does, unless leave_one_out is off.
    n_neighbors : int or "auto"
        k, the point included: the kernel's pairs are those in lists of k nearest neighbours. By
        default there are no lists, but all pairs within the kernel's reach. N gives the dense
        method.
    n_density_neighbors : int or "auto"
        k0 of the pilot density, by default 16.
    alpha : float, optional
        α directly, instead of `operator`.
    weights_as : {"auto", "measure", "counts"}
        "measure": `weights` are a function of the place, and pairs are multiplied by w^{c1/2} at
        both points. "counts": they jump from point to point, and each point counts as if it
        occurred w times. By default a look at neighbours decides (`vbdm.operator.weights`).

    Examples
    --------
    >>> method = vbdm.Resolved(n_neighbors=40, limiter=False)
    >>> method
    Resolved(limiter=False, n_neighbors=40)
    >>> points = vbdm.datasets.circle(500, random_state=0).points
    >>> vbdm.estimate_operator(points, method=method).n_neighbors
    40
    """

    name = "resolved"
    form = "symmetric"


@dataclass(frozen=True, kw_only=True, repr=False)
class Paper(Choices):
    """Section 3 of the paper to the letter, with ε and d from the slope of S (Section 5).

    It has the parameters of `Resolved` with other defaults (k = 64, k0 = 8; no cut, no limiter, no
    correction, and no point left out), and the form.

    Parameters
    ----------
    form : {"symmetric", "left", "right", "two-sided"}
        Where ρ stands in the kernel; only the symmetric form has a fast spectrum.
    """

    form: str = "symmetric"

    name = "paper"


def as_method(method: Any) -> Resolved | Paper:
    """Return the choices of a method given by its name, or as they are."""
    if isinstance(method, str):
        return Paper() if method == "paper" else Resolved()
    chosen: Resolved | Paper = method
    return chosen
