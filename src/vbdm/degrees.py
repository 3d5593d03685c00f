r"""Choose ε by how many points the kernel averages, and see what follows from it.

The degree of a point is :math:`S_i(ε) = Σ_{j≠i} \exp(-t_{ij}/4ε)`, :math:`t = |x-y|^2/(ρρ)`: the
number of other points inside its kernel. Too few, and the answer is noise; too many, and it is
biased. The sparse points decide, so the rule sets the 1 % quantile of the degrees.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from .arrays import FloatArray, frozen
from .bandwidth import Bandwidth
from .errors import bad_input
from .graph import NeighborGraph
from .kernel import rim
from .search import Auto
from .search.exact import chunks, squared_distances
from .shapes import Shape
from .threads import in_order

#: Rows looked at; all of them up to this number.
SAMPLE_ROWS = 4000
#: Far points drawn for each sampled row, to see the part of S(ε) beyond the neighbours.
FAR_PAIRS = 64
#: Share of rows whose neighbour list may end inside the kernel's reach.
CUT_ROWS = 0.01
#: What the rule for ε looks at: this quantile of the degrees, and the so-many-th sparsest point.
SPARSE, SPARSEST = 0.01, 10
#: Points of the widest kernels among which the sparsest are looked for.
TAIL_ROWS = 100
#: No neighbour list is made longer than this by itself.
MOST_NEIGHBORS = 1024


@dataclass(frozen=True, eq=False)
class Rows:
    """A sample of rows with their scaled squared distances t to the nearest others.

    The sample is stratified by the bandwidth, so that it does not depend on the order of the
    points; `tail` holds the rows with the widest kernels. Attributes are in the tree's order.
    """

    index: NDArray[np.intp]
    scaled: FloatArray
    n_points: int
    tail: Rows | None = None

    @property
    def n_neighbors(self) -> int:
        """Neighbours per row, the point itself included."""
        return int(self.scaled.shape[1]) + 1

    def degrees(self, epsilon: float, shape: Shape) -> FloatArray:
        """Return S_i(ε) for the sampled rows, on the scale of h(0) = 1."""
        peak = float(shape(np.zeros(1))[0])

        def work(part: slice) -> FloatArray:
            return np.asarray(shape(self.scaled[part] / epsilon).sum(axis=1) / peak)

        return np.concatenate(list(in_order(work, chunks(len(self.index), size=256))))

    def reach(self, epsilon: float, cutoff: float) -> NDArray[np.intp]:
        """Return how many neighbours of each row lie within the cut kernel.

        A wide outlier may come late in the list, sorted by distance; it lists the row itself.
        """
        return np.asarray((self.scaled < cutoff * epsilon).sum(axis=1))


def sample_rows(graph: NeighborGraph, bandwidth: Bandwidth) -> Rows:
    """Take up to 4,000 rows of the graph, evenly over the order of the bandwidth."""
    ranked = np.argsort(bandwidth.squared, kind="stable")
    count = min(SAMPLE_ROWS, graph.n_points)
    even = ranked[np.linspace(0, graph.n_points - 1, count).round().astype(np.intp)]

    def take(index: NDArray[np.intp]) -> Rows:
        listed = graph.tree_indices[index], graph.tree_sqdist[index]
        return scale_rows(index, *listed, bandwidth)

    return replace(take(even), tail=take(ranked[-TAIL_ROWS:]))


def longer_rows(graph: NeighborGraph, bandwidth: Bandwidth, rows: Rows, k: int) -> Rows:
    """Search the sampled rows again with k neighbours."""
    cloud = graph.tree_points
    if cloud is None:
        return rows
    n = len(rows.index)
    tail = rows.index[:0] if rows.tail is None else rows.tail.index
    index = np.concatenate([rows.index, tail])
    indices, sqdist = Auto().query(cloud, k, cloud[index])
    longer = scale_rows(index[:n], indices[:n], sqdist[:n], bandwidth)
    if rows.tail is None:
        return longer
    return replace(longer, tail=scale_rows(tail, indices[n:], sqdist[n:], bandwidth))


def scale_rows(
    index: NDArray[np.intp],
    neighbors: NDArray[np.integer],
    sqdist: FloatArray,
    bandwidth: Bandwidth,
) -> Rows:
    """Divide squared distances by ρρ; the point itself (or one copy of it) is left out."""
    scale = bandwidth.row[index, None] * bandwidth.column[neighbors[:, 1:]]
    return Rows(index, sqdist[:, 1:] / scale, len(bandwidth.row))


def degree_target(n_points: int) -> float:
    """Return n* = 1.7 N^{1/4}: 8, 11, 17, 30 at N = 500, 2000, 10⁴, 10⁵."""
    return float(1.7 * n_points**0.25)


def choose_epsilon(rows: Rows, shape: Shape, target: float) -> float:
    """Return the ε of the rule: sparse points have n* neighbours, the sparsest a third of that.

    The 1 % quantile alone does not see the last few points of a thin tail; if those have hardly
    any neighbours, a mode hangs on them. Where the tail is not thin, the second condition holds
    by itself; it may raise ε by a factor of four at the most.
    """
    epsilon = solve_degree(rows, shape, target, lambda degrees: np.quantile(degrees, SPARSE))
    if rows.tail is None or SPARSE * rows.n_points <= SPARSEST:
        return epsilon

    def sparsest(degrees: FloatArray) -> float:
        return float(np.partition(degrees, SPARSEST - 1)[SPARSEST - 1])

    tail = solve_degree(rows.tail, shape, target / 3, sparsest)
    return float(np.clip(tail, epsilon, 4 * epsilon))


def solve_degree(
    rows: Rows, shape: Shape, target: float, summary: Callable[[FloatArray], float]
) -> float:
    """Return the ε at which a summary of the degrees is the target, by Brent's bisection."""
    target = min(target, 0.5 * rows.scaled.shape[1])
    copies = (rows.scaled == 0).sum(axis=1)
    if summary(copies) >= target:
        raise bad_input(
            "Almost every point has so many copies that they fill its kernel.",
            received=f"{int(np.median(copies))} copies of a typical point",
            because="No ε, however small, averages over fewer points than these.",
            hint="Drop repeated rows, for example by np.unique(X, axis=0).",
        )

    def excess(log_epsilon: float) -> float:
        return float(summary(rows.degrees(2.0**log_epsilon, shape))) - target

    # The bracket scales with the data: the typical distance to the eighth neighbour (the nearest
    # ones may be copies).
    eighth = rows.scaled[:, : min(8, rows.scaled.shape[1])].max(axis=1)
    start = float(np.log2(np.median(eighth[eighth > 0]))) if eighth.any() else 0.0
    low, high = start - 12, start + 2
    while excess(low) > 0:
        low -= 8
    while excess(high) < 0:
        high += 4
    root = brentq(excess, low, high, xtol=1e-12 * max(1.0, abs(high)), rtol=1e-14)
    return float(2.0**root)


def grow_rows(
    graph: NeighborGraph,
    bandwidth: Bandwidth,
    cutoff: float,
    choose: Callable[[Rows], float],
) -> tuple[float, Rows]:
    """Choose ε on rows that are long enough for it: lengthen them until the kernel fits in."""
    rows = sample_rows(graph, bandwidth)
    most = min(graph.n_points, max(MOST_NEIGHBORS, graph.n_neighbors))
    while True:
        epsilon = choose(rows)
        cut = np.mean(rim(rows.scaled) < cutoff * epsilon)
        if cut <= CUT_ROWS or rows.n_neighbors >= most or graph.tree_points is None:
            return epsilon, rows
        rows = longer_rows(graph, bandwidth, rows, min(2 * rows.n_neighbors, most))


def neighbors_needed(rows: Rows, epsilon: float, cutoff: float) -> int:
    """Return the k (itself included) that holds the kernel at 99 % of the rows, and a rim."""
    return int(np.quantile(rows.reach(epsilon, cutoff), 1 - CUT_ROWS) * 17 / 16) + 2


@dataclass(frozen=True, eq=False)
class DegreeCurve:
    """Degrees and S(ε) on a grid of ε: what the choice of ε was made from.

    Attributes
    ----------
    epsilons : (m,) array
        The grid.
    levels : (l,) array
        Levels of the quantiles.
    quantiles : (l, m) array
        Quantiles of the degrees over the points.
    sums : (m,) array
        S(ε): mean of the kernel over all pairs of different points.
    slopes : (m,) array
        d log S / d log ε in closed form; twice it is the dimension seen at that scale.
    """

    epsilons: FloatArray
    levels: FloatArray
    quantiles: FloatArray
    sums: FloatArray
    slopes: FloatArray

    def dim_at(self, epsilon: float) -> float:
        """Return the dimension seen at the kernel's own scale: twice the slope of S."""
        return float(2 * np.interp(np.log(epsilon), np.log(self.epsilons), self.slopes))


def degree_curve(
    graph: NeighborGraph, bandwidth: Bandwidth, rows: Rows, epsilon: float
) -> DegreeCurve:
    r"""Compute the curve for 20 octaves around ε, near pairs from the rows, far pairs sampled.

    Notes
    -----
    With z = t/4ε, S = Σ e^{-z} and d log S/d log ε = Σ z e^{-z} / Σ e^{-z}: no finite differences.
    Cost: 41 passes over at most 4,000 rows, whatever N.
    """
    epsilons = epsilon * 2.0 ** (np.arange(-20, 21) / 2)
    levels = np.array([0.01, 0.1, 0.5, 0.9])
    far, weight = far_pairs(graph, bandwidth, rows)

    def work(part: slice) -> tuple[FloatArray, FloatArray]:
        near, distant = rows.scaled[part] / 4, far[part] / 4
        degrees = np.empty((len(epsilons), len(near)))
        moments = np.empty((len(epsilons), len(near)))
        for i, eps in enumerate(epsilons):
            z, z_far = near / eps, distant / eps
            h, h_far = np.exp(-z), weight[part] * np.exp(-z_far)
            degrees[i] = h.sum(axis=1) + h_far.sum(axis=1)
            moments[i] = np.einsum("ij,ij->i", z, h) + np.einsum("ij,ij->i", z_far, h_far)
        return degrees, moments

    results = in_order(work, chunks(len(rows.index), size=64))
    degrees, moments = (np.hstack(part) for part in zip(*results, strict=True))
    quantiles = np.quantile(degrees, levels, axis=1)
    totals = degrees.sum(axis=1)
    sums = totals / (len(rows.index) * (graph.n_points - 1))
    slopes = moments.sum(axis=1) / np.maximum(totals, 1e-300)
    return DegreeCurve(
        frozen(epsilons), frozen(levels), frozen(quantiles), frozen(sums), frozen(slopes),
    )  # fmt: skip


def far_pairs(
    graph: NeighborGraph, bandwidth: Bandwidth, rows: Rows
) -> tuple[FloatArray, FloatArray]:
    """Return scaled distances to points beyond each row's list, and what each of them stands for.

    Partners are taken at even spacing in the order of the bandwidth: any rule would do that does
    not depend on the order of the points.
    """
    n, index = graph.n_points, rows.index
    cloud = graph.tree_points
    beyond = n - rows.n_neighbors
    if cloud is None or beyond <= 0:
        return np.zeros((len(index), 1)), np.zeros((len(index), 1))
    ranked = np.argsort(bandwidth.squared, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[ranked] = np.arange(n)
    count = min(FAR_PAIRS, n - 1)
    offsets = 1 + (np.arange(count) * (n - 1)) // count
    partners = ranked[(rank[index, None] + offsets) % n]
    sqdist = squared_distances(cloud[index], cloud, partners)
    scaled = sqdist / (bandwidth.row[index, None] * bandwidth.column[partners])
    # The list ends at its last neighbour in true distance; scaled distance orders almost alike.
    outside = scaled > rows.scaled.max(axis=1)[:, None]
    return scaled, outside * (beyond / np.maximum(outside.sum(axis=1), 1))[:, None]
