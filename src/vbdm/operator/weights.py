r"""Weights of the points: sampled with one density q, wanted for another, π = w q up to a constant.

There are two ways for weights to enter, and each is right for one kind of them:

measure
    w is a function of the place, as in a biased simulation. The kernel, its bandwidth and ε stay
    those of the sample, and pairs are multiplied by :math:`w(x_i)^{c_1/2} w(x_j)^{c_1/2}`, which
    turns c1 ∇f·∇q/q into c1 ∇f·∇π/π.
counts
    w jumps from point to point, as with reweighted replicas. Only its local mean means anything,
    so every sum over the sample counts a point w times, as if it occurred so often. Widths, which
    should follow the distances between points, stay those of the sample.

Which one it is can be seen: a function of the place differs the less between two points the nearer
they are, down to nothing. `roughness` is what remains.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, to_host
from ..base.points import check_per_point
from ..errors import InputError
from ..graph.lists import KeptLists
from ..graph.neighbor_graph import NeighborGraph

#: Weights may span this range, as a natural logarithm: their roots then stay within exp(±300).
LARGEST_RANGE = 600.0
#: Weights with fewer effective points than this are all on one point.
FEWEST_POINTS = 2.0
#: Weights count as multiplicities if log w scatters by more than this between nearest points, and
#: if that is more than this share of its variance. Functions of the place reach 0.1 with 10,000
#: points, and 1.5 with 300 points of a steep one, but then few per cent of its variance.
ROUGH, ROUGH_SHARE = 0.4, 0.1
#: Points at which roughness is looked at, and neighbours of each, itself included.
SOME_POINTS, SOME_NEIGHBORS = 2000, 17


@dataclass(frozen=True)
class Weighting:
    """How weights entered, and what they leave of the sample."""

    #: Whether they multiply pairs or count as multiplicities: "none", "measure", "counts".
    kind: str = "none"
    #: (Σ w)²/Σ w², the number of equal weights that would scatter as much; None without weights.
    effective_points: float | None = None
    #: Logarithm of the largest weight over the smallest.
    log_range: float = 0.0
    #: Scatter of log w between nearest points, from which the kind was decided; None if it was not
    #: looked at.
    roughness: float | None = None

    @property
    def is_used(self) -> bool:
        """Whether weights of the points entered, so that w q takes the place of q."""
        return self.kind != "none"


@dataclass(frozen=True, eq=False)
class Weights:
    """Weights as asked for."""

    #: One positive number per row of the caller, with mean 1.
    values: FloatArray
    #: How they are to enter: "auto", "measure" or "counts".
    way: str = "auto"

    def settled(self, graph: NeighborGraph) -> Weighting:
        """Return how these weights enter, decided on the points of a graph."""
        n_eff = effective_points(self.values)
        log_range = float(np.log(self.values.max()) - np.log(self.values.min()))
        if self.way != "auto":
            return Weighting(self.way, n_eff, log_range)
        inside = np.log(graph.order.to_inside(self.values))
        found = roughness(graph, inside)
        jumps = found > max(ROUGH, np.sqrt(ROUGH_SHARE) * float(inside.std()))
        kind = "counts" if jumps else "measure"
        return Weighting(kind, n_eff, log_range, found)

    def as_potential(self, graph: NeighborGraph, c1: float | None) -> FloatArray | None:
        """Return U = -c1 log w, (M,) in the order inside, which puts w^{c1/2} on pairs.

        At c1 = 0 there is none: the limit does not depend on the density.
        """
        return -c1 * np.log(graph.order.to_inside(self.values)) if c1 else None


def read_weights(weights: Any, way: str, n_rows: int) -> Weights | None:
    """Check weights, and return them with mean 1; None if none were given, or all are equal."""
    if weights is None:
        return None
    if isinstance(weights, (list, tuple)) and weights and all(np.ndim(w) == 1 for w in weights):
        # One array for each of several series.
        weights = np.concatenate([np.asarray(part) for part in weights])
    values = check_per_point(weights, "weights", n_rows)
    for wrong, words in ((values < 0, "negative"), (values == 0, "equal to zero")):
        if wrong.any():
            some = "all" if wrong.all() else f"{wrong.sum():,} of {len(values):,}"
            raise InputError(
                f"`weights` must be positive; received {some} {words}. Leave these points out, "
                "X[w > 0], w[w > 0]; of logarithms pass np.exp(log_weights)."
            )
    span = np.log(values.max()) - np.log(values.min())
    if span > LARGEST_RANGE:
        raise InputError(
            f"`weights` span too wide a range; received values from {values.min():.3g} to "
            f"{values.max():.3g}. Leave out the smallest: they say nothing about the process."
        )
    if (values == values[0]).all():
        return None
    # The largest goes to 1 first: sums of huge numbers overflow.
    scaled = values / values.max()
    n_eff = effective_points(scaled)
    if n_eff < FEWEST_POINTS:
        raise InputError(
            f"`weights` leave too few points; received weights that count as {n_eff:.2g} equal "
            f"ones of {n_rows:,}. Check the unit of the bias, or sample nearer to the density that "
            "is wanted."
        )
    return Weights(scaled / scaled.mean(), way)


def effective_points(values: FloatArray) -> float:
    """Return (Σ w)²/Σ w².

    Examples
    --------
    >>> effective_points(np.array([1.0, 1.0, 1.0])), effective_points(np.array([1.0, 0.0, 0.0]))
    (3.0, 1.0)
    """
    return float(values.sum() ** 2 / np.square(values).sum())


def roughness(graph: NeighborGraph, log_weights: FloatArray) -> float:
    r"""Return the scatter of log w that remains between points at distance 0.

    `log_weights`, (M,), are in the order inside.

    Notes
    -----
    Half the squared difference of log w between a point and its neighbours is fitted by a line in
    the squared distance, for some of the points; a smooth function has the intercept 0, and noise
    of variance σ² has the intercept σ². The root of the mean intercept is returned.
    """
    rows = np.unique(np.linspace(0, graph.n_points - 1, SOME_POINTS).astype(np.intp))
    k = min(SOME_NEIGHBORS, graph.n_neighbors)
    neighbors: NDArray[Any]
    if isinstance(graph.lists, KeptLists):
        neighbors = graph.kept.indices[rows, :k].astype(np.intp)
        sqdist = graph.distances(rows, slice(0, k))
    else:
        neighbors, sqdist = graph.point_set.nearest(rows, k)
    apart = log_weights[neighbors[:, 1:]] - log_weights[rows][:, None]
    # The few differences and distances are worked on here, wherever the points live.
    half, t = np.square(to_host(apart)) / 2, to_host(sqdist)[:, 1:]
    apart = t - t.mean(axis=1, keepdims=True)
    spread = np.square(apart).sum(axis=1)
    known = spread > 0
    slope = (apart * half).sum(axis=1)[known] / spread[known]
    intercept = half.mean(axis=1)[known] - slope * t.mean(axis=1)[known]
    return float(np.sqrt(max(intercept.mean(), 0.0))) if known.any() else 0.0
