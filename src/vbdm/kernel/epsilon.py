r"""Rules for ε: by how many points the kernel averages, by the paper's slope, or given.

The degree of a point is :math:`S_i(ε) = Σ_{j≠i} \exp(-t_{ij}/4ε)`, :math:`t = |x-y|^2/(ρρ)`: the
kernel-weighted number of other points around it. Too few, and the answer is noise; too many, and it
is biased. The sparse points decide, so `ByDegree` sets the 1 % quantile of the degrees. The paper
takes the ε where log S(ε) is steepest (`BySlope`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.optimize import brentq

from ..base.arrays import FloatArray, frozen, to_host
from ..base.checks import EPSILONS, a_number, a_switch, check_positive
from ..base.references import Credit
from ..errors import InputError, TuningWarning, warn_user
from ..graph.neighbor_graph import NeighborGraph
from ..shapes import Gaussian, Shape, as_shape
from .bandwidth import Bandwidth, GivenBandwidth, PerPoint
from .dimension import Dimension, many_dimensions
from .scaled import ENOUGH_POINTS, SampledRows, ScaledPairs, grow_rows, neighbors_needed
from .tuning import DegreeCurve, SlopeCurve, Tuning

#: The rule sets two degrees: this quantile, and that of the tenth sparsest point.
SPARSE, SPARSEST = 0.01, 10
#: Share of a target that counts as reached.
REACHED = 0.95


@dataclass(frozen=True)
class ByDegree:
    """ε such that sparse points have n* neighbours inside their kernel, with a k that holds it.

    Examples
    --------
    >>> points = vbdm.datasets.circle(1000, random_state=0).points
    >>> op = vbdm.estimate_operator(points, epsilon=ByDegree(30))
    >>> op.tuning.target
    30.0
    """

    #: n*, to which the 1 % quantile of the degrees is set; None: `degree_target` times the user's
    #: `effort`
    target: float | None = None

    def choose(self, pairs: ScaledPairs) -> Tuning:
        """Return ε, with the degrees around it and the k that it needs."""
        if self.target is None:
            target = pairs.effort * degree_target(pairs.graph.n_points, pairs.dim)
        else:
            target = check_positive(self.target, "target")
        words = (
            "such that the points of the lowest 1 % have a kernel-weighted number of neighbours "
            f"of {target:.3g}"
        )
        before: list[float] = []

        def choose(rows: SampledRows) -> float:
            # Longer rows move ε little: it is looked for near the last one.
            near = before[-1] if before else None
            before.append(choose_epsilon(rows, pairs.shape, target, near))
            return before[-1]

        found = tuned(pairs, choose, rule="degree", words=words, target=target)
        curve = found.curve
        if self.target is None or not isinstance(curve, DegreeCurve):
            return found
        reached = np.interp(np.log(found.epsilon), np.log(curve.epsilons), curve.quantiles[0])
        if float(reached) < REACHED * target:
            warn_user(
                f"The rule ByDegree({target:g}) cannot be followed: at the largest ε that "
                f"{found.n_neighbors} neighbours per point allow, sparse points have {reached:.0f} "
                "inside their kernel. Choose a smaller target.",
                TuningWarning,
            )
        return found


@dataclass(frozen=True)
class GivenEpsilon:
    """The user's own ε."""

    epsilon: float  #: ε > 0
    #: Whether degrees are computed, so that lists can be made long enough for the kernel; the
    #: paper's method leaves its lists as they are
    looks: bool = True

    def __post_init__(self) -> None:
        """Refuse what cannot be ε."""
        object.__setattr__(self, "epsilon", a_number(*EPSILONS)(self.epsilon, "epsilon"))
        a_switch(self.looks, "looks")

    def choose(self, pairs: ScaledPairs) -> Tuning:
        """Return the user's ε; if `looks`, with the degrees around it and the k that it needs."""
        if not self.looks:
            return Tuning(self.epsilon, rule="given")
        return tuned(pairs, lambda rows: self.epsilon, rule="given")


def tuned(
    pairs: ScaledPairs,
    choose: Callable[[SampledRows], float],
    *,
    rule: str,
    words: str = "",
    target: float | None = None,
) -> Tuning:
    """Choose ε on sampled rows that are long enough for it: the frame of all rules by degree.

    `choose` goes from `SampledRows` to ε; it is called again with longer rows until the kernel
    fits into them. `rule`, `words` and `target` are those of the `Tuning`.
    """
    epsilon, rows = grow_rows(pairs, choose)
    graph = pairs.graph
    # The curve draws far pairs, whose distances can be measured if the metric is Euclidean.
    points = graph.point_set.coordinates if graph.metric == "euclidean" else None
    return Tuning(
        epsilon,
        rule=rule,
        words=words,
        curve=DegreeCurve(points, pairs.bandwidth, rows, epsilon, graph.period),
        target=target,
        n_neighbors=min(graph.n_points, neighbors_needed(rows, epsilon, pairs.reach)),
    )


def degree_target(n_points: int, dim: float) -> float:
    """Return n* = 1.7 N^{1/4} up to N = 10⁴, then growing like N^{1/(4d+4)}.

    That is 8 and 17 at N = 500 and 10⁴, and 30, 25, 23 at 10⁶ in one to three dimensions.

    More neighbours lower the noise of the kernel, of which the finite-sample correction takes out
    the part of order 1/n, and raise the bias of order ε ~ (n/N)^{2/d}. Both vanish as N grows only
    if n* grows with it. What is left of the noise goes like 1/n²: the two are in balance if n*
    grows like N^{1/(d+1)}. A quarter of that exponent is enough to converge, and keeps time and
    memory near those of a fixed n*.

    In many dimensions more neighbours hardly cost bias: twice as many take an ε that is larger by
    2^{2/d}. So beyond six dimensions n* rises, and from nine on it is twice as large.
    """
    few = min(n_points, ENOUGH_POINTS)
    in_few = 1.7 * few**0.25 * (n_points / few) ** (0.25 / (dim + 1))
    return float(in_few * (1 + many_dimensions(dim)))


def choose_epsilon(
    rows: SampledRows, shape: Shape, target: float, near: float | None = None
) -> float:
    """Return ε: the 1 % quantile of the degrees is n*, and the tenth sparsest point has n*/3.

    The 1 % quantile alone does not see the last few points of a thin tail; if those have hardly
    any neighbours, a mode hangs on them. Where the tail is not thin, the second condition holds
    by itself. It may raise ε by a factor of at most four. `near` is a guess of ε.
    """
    epsilon = solve_degree(rows, shape, target, lambda degrees: np.quantile(degrees, SPARSE), near)
    if rows.tail is None or SPARSE * rows.n_points <= SPARSEST:
        return epsilon

    def sparsest(degrees: FloatArray) -> float:
        return float(np.partition(degrees, SPARSEST - 1)[SPARSEST - 1])

    tail = solve_degree(rows.tail, shape, target / 3, sparsest, near, enough=epsilon)
    return float(np.clip(tail, epsilon, 4 * epsilon))


def solve_degree(
    rows: SampledRows,
    shape: Shape,
    target: float,
    summary: Callable[[FloatArray], float],
    near: float | None = None,
    enough: float | None = None,
) -> float:
    """Return the ε at which a summary of the degrees equals the target, by Brent's method.

    It is looked for around `near` first. If the target is reached at `enough`, that is returned:
    the ε that reaches it exactly is smaller, and of no interest.
    """
    target = min(target, 0.5 * rows.scaled.shape[1])
    copies = to_host((rows.scaled == 0).sum(axis=1))
    if summary(copies) >= target:
        raise InputError(
            "Almost every point has so many copies that they fill its kernel; received "
            f"{int(np.median(copies))} copies of a typical point. Drop repeated rows."
        )

    # SciPy keeps the function that it is given in a cycle of references, and all that this holds:
    # so the rows, up to 30 MB, are arguments.
    known = rows, shape, target, summary
    if enough is not None and excess(float(np.log2(enough)), *known) >= 0:
        return enough
    if near is not None:
        low, high = float(np.log2(near)) - 0.25, float(np.log2(near)) + 0.25
    else:
        # The bracket starts at the typical scaled distance to the eighth neighbour, so that it
        # scales with the data; nearer neighbours may be copies.
        eighth = to_host(rows.scaled[:, : min(8, rows.scaled.shape[1])].max(axis=1))
        start = float(np.log2(np.median(eighth[eighth > 0]))) if eighth.any() else 0.0
        low, high = start - 5, start + 1
    while excess(low, *known) > 0:
        low -= 8
    while excess(high, *known) < 0:
        high += 4
    root = brentq(excess, low, high, args=known, xtol=1e-12 * max(1.0, abs(high)), rtol=1e-14)
    return float(2.0**root)


def excess(
    log_epsilon: float,
    rows: SampledRows,
    shape: Shape,
    target: float,
    summary: Callable[[FloatArray], float],
) -> float:
    """Return by how much a summary of the degrees at ε, given as log2 ε, exceeds the target."""
    return float(summary(rows.degrees(2.0**log_epsilon, shape))) - target


#: The paper's grid ε = 2^i, i = -30, …, 10.
PAPER_EXPONENTS = np.arange(-30, 11)
WORDS = "where the logarithm of the kernel sum S(ε) grows fastest"


@dataclass(frozen=True)
class BySlope:
    """ε where log S(ε) grows fastest, on the paper's grid (Section 5)."""

    def choose(self, pairs: ScaledPairs) -> Tuning:
        """Return the lower end of the steepest interval of the grid."""
        return steepest(pairs)


@dataclass(frozen=True)
class DimensionBySlope:
    """d as twice the largest slope of log S(ε), with the pilot bandwidth ρ0 in the kernel."""

    credit: ClassVar[Credit] = Credit("slope of S", "twice the largest slope of S(ε)")

    def estimate(self, graph: NeighborGraph, rho0: FloatArray) -> Dimension:
        """Return the dimension, without a standard error."""
        pairs = ScaledPairs(graph, Bandwidth.of_form("symmetric", rho0), Gaussian())
        return Dimension(steepest(pairs).dim, credit=self.credit)


def tune(
    graph: NeighborGraph, bandwidth: PerPoint | None = None, shape: object = "gaussian"
) -> Tuning:
    r"""Choose ε where S(ε) grows fastest, as the paper does.

    When ε is well chosen S(ε) grows like :math:`ε^{d/2}`; for much smaller ε every point is alone,
    for much larger ε all points are one, and S is flat.

    Parameters
    ----------
    graph : NeighborGraph
        The pairs; distances beyond the k-th neighbour are not seen.
    bandwidth : array or callable, optional
        ρ at the points; None means the fixed kernel, ρ = 1.
    shape : str, Shape or callable
        The shape function h.

    Returns
    -------
    Tuning

    Notes
    -----
    Implements Eq. "tuningfunction" and :math:`a_i = \log(S(ε_{i+1})/S(ε_i)) / \log 2` on
    :math:`ε_i = 2^i`, i = -30..10, with d = 2 max a and ε the lower end of the steepest interval.
    The pairs are those of the graph, each point with itself included. Cost O(N k) per grid point.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    >>> graph = vbdm.neighbors(np.c_[np.cos(angle), np.sin(angle)], n_neighbors=300)
    >>> round(vbdm.rules.tune(graph).dim, 1)
    1.2
    """
    if not isinstance(graph, NeighborGraph):
        raise InputError(
            f"`tune` needs a NeighborGraph; received {type(graph).__name__}. Call "
            "vbdm.rules.tune(vbdm.neighbors(X))."
        )
    rho = np.ones(graph.n_points)
    if bandwidth is not None:
        rho = GivenBandwidth(bandwidth).on_data(graph, rho)
    return steepest(ScaledPairs(graph, Bandwidth.of_form("symmetric", rho), as_shape(shape)))


def steepest(pairs: ScaledPairs) -> Tuning:
    """Return the paper's choice for any form of bandwidth."""
    epsilons = np.exp2(PAPER_EXPONENTS.astype(np.float64))
    sums = np.zeros(len(epsilons))
    for t in pairs.blocks():
        if isinstance(pairs.shape, Gaussian):
            sums += gaussian_octaves(t, epsilons)
        else:
            sums += [pairs.shape(t / epsilon).sum() for epsilon in epsilons]
    sums = sums / pairs.graph.n_points**2
    slopes = np.diff(np.log(sums)) / np.log(2)
    best = int(np.argmax(slopes))
    if best in (0, len(slopes) - 1):
        warn_user(
            f"The steepest slope of S(ε) lies at the end of the grid, at ε = {epsilons[best]:.2g}. "
            "Rescale the data, or give `epsilon`.",
            TuningWarning,
        )
    curve = SlopeCurve(frozen(epsilons), frozen(sums), frozen(slopes))
    return Tuning(float(epsilons[best]), "slope", WORDS, curve)


def gaussian_octaves(scaled: FloatArray, epsilons: FloatArray) -> FloatArray:
    """Return Σ exp(-t/4ε) on a grid of octaves; halving ε squares the kernel, which is cheap.

    The exponential is evaluated for every eighth ε: seven squarings in a row lose only two digits.
    """
    sums = np.empty(len(epsilons))
    kernel = np.empty_like(scaled)
    for step, i in enumerate(reversed(range(len(epsilons)))):
        if step % 8 == 0:
            np.exp(scaled * (-0.25 / epsilons[i]), out=kernel)
        else:
            np.square(kernel, out=kernel)
        sums[i] = kernel.sum()
    return sums
