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

from ..base.checks import FloatArray
from ..base.errors import bad_input
from ..base.shapes import Shape
from ..base.threads import in_order
from ..graph.graph import NeighborGraph
from ..graph.search import Auto
from ..graph.search.exact import chunks
from ..kernel.kernel import rim
from .bandwidth import Bandwidth

#: Rows looked at; all of them up to this number.
SAMPLE_ROWS = 4000
#: Share of rows whose neighbour list may end inside the kernel's reach.
CUT_ROWS = 0.01
#: Neighbours beyond what 99 % of the rows need: a rim, to see that the kernel has decayed.
SLACK = 17 / 16
#: What the rule for ε looks at: this quantile of the degrees, and the so-many-th sparsest point.
SPARSE, SPARSEST = 0.01, 10
#: Points of the widest kernels among which the sparsest are looked for.
TAIL_ROWS = 100
#: Beyond so many points each of them needs no more neighbours.
ENOUGH_POINTS = 10_000
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
        return scale_rows(index, graph.tree_indices[index], graph.distances(index), bandwidth)

    return replace(take(even), tail=take(ranked[-TAIL_ROWS:]))


def longer_rows(graph: NeighborGraph, bandwidth: Bandwidth, rows: Rows, k: int) -> Rows:
    """Search the sampled rows again with k neighbours."""
    cloud = graph.tree_points
    if cloud is None:
        return rows
    n = len(rows.index)
    tail = rows.index[:0] if rows.tail is None else rows.tail.index
    index = np.concatenate([rows.index, tail])
    search = graph.index or Auto().index(cloud, k)
    found = in_order(lambda part: search.query(cloud[index[part]], k), chunks(len(index), size=512))
    indices, sqdist = (np.concatenate(part) for part in zip(*found, strict=True))
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
    """Return n* = 1.7 min(N, 10⁴)^{1/4}: 8, 11, 17 at N = 500, 2000, and from 10⁴ on.

    More neighbours lower the sampling noise of the kernel, but only together with a smoother
    density: with k0 = 16 held fixed, n* = 30 at N = 10⁵ is less accurate than 17 (circle 1.4 %
    against .4 %), and twice as dear. `effort` raises both.
    """
    return float(1.7 * min(n_points, ENOUGH_POINTS) ** 0.25)


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
    low, high = start - 5, start + 1
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
    return int(np.quantile(rows.reach(epsilon, cutoff), 1 - CUT_ROWS) * SLACK) + 2
