"""The two methods, "resolved" and "paper": the same walk with different rules."""

from __future__ import annotations

from dataclasses import dataclass

from ..base.checks import a_count, a_number
from ..kernel.bandwidth import BandwidthRule, PowerOfDensity
from ..kernel.dimension import ByRatios, DimensionRule
from ..kernel.epsilon import ByDegree, BySlope, DimensionBySlope
from ..kernel.scaled import CutAt, CutWhereClean, TruncationRule
from ..kernel.tuning import EpsilonRule

#: Where ρ may stand in the kernel.
FORMS = ("symmetric", "left", "right", "two-sided")
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
    """How long the lists of neighbours are, and how pairs are read from them.

    Attributes
    ----------
    n_neighbors : int
        k of the first graph, the point itself included, if its lists are the pairs of the density.
    n_nearest : int
        k of the first graph if the pairs of the density are those within reach: enough for the
        dimension and for k0.
    n_density_neighbors : int
        k0 of the pilot density.
    widen : bool
        Whether lists are lengthened to hold the kernel at the chosen ε.
    one_way_share : float
        Weight of a pair (i, j) when j is among i's neighbours but not the other way round.
    merge_copies : bool
        Whether equal points become one point with a weight.
    effort : float
        Factor by which the user multiplied these numbers.
    """

    n_neighbors: int = 64
    n_nearest: int = 33
    n_density_neighbors: int = 16
    widen: bool = True
    one_way_share: float = 1.0
    merge_copies: bool = True
    effort: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Method:
    """A way to estimate: the rules of each room, and the switches.

    Attributes
    ----------
    name : {"resolved", "paper"}
        What the user asked for; the rules below may have been replaced one by one.
    bandwidth : BandwidthRule
        Rule for ρ.
    dimension : DimensionRule
        Rule for d.
    epsilon : EpsilonRule
        Rule for ε.
    truncation : TruncationRule
        Rule for the share of its peak at which the kernel is cut.
    leave_one_out : bool
        Whether a point is left out of its own sums: K_ii = 0 in density, tuning and kernel.
    limiter : Limiter or None
        Options for points whose surroundings are too sparse; None if they get no treatment.
    finite_sample : bool
        Whether eigenvalues are corrected for the randomness of the sample.
    lists : Lists
        Numbers of neighbours, and how pairs are read from the lists.
    forms : tuple of str
        Forms of the kernel that the method allows.
    potential_in_bandwidth : bool
        Whether a given potential U becomes the bandwidth, ρ = exp(-U/(d+2)); otherwise it weights
        the pairs, and ρ is what it would be without.
    smallest_piece : int or None
        Fewest points of a connected piece that gets modes of its own; points of smaller pieces are
        strays, which are only reported. None: k0, the number of points that measure the density.
    """

    name: str
    bandwidth: BandwidthRule
    dimension: DimensionRule
    epsilon: EpsilonRule
    truncation: TruncationRule
    leave_one_out: bool
    limiter: Limiter | None
    finite_sample: bool
    lists: Lists
    forms: tuple[str, ...]
    potential_in_bandwidth: bool
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
        forms=FORMS,
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
        forms=("symmetric",),
        potential_in_bandwidth=False,
        smallest_piece=None,
    ),
}
