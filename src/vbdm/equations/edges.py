r"""Held sets and their soft edges: how strongly known values pull at free points.

A walk on the points jumps, and is caught only at points of a set, so it would see the set's edge
about half a jump too far inside. The **soft edge** mends this: at a point j of the set, a free
neighbour i sees the value that continues u through the edge, :math:`u_j = v - (u_i - v) s_j/s_i`.
Here s is the resistance between a point and the edge, the distance over :math:`\sqrt{π}`, because a
steady stream has slopes ∝ 1/π (π, the invariant density, falls by a half across some kernels). This
adds :math:`Σ_j K_{ij} s_j/s_i` to the diagonal at i, and v times as much to the right-hand side:
the matrix stays symmetric, its solutions within the bounds of their data. Distances come from the
user, or from the share of its neighbours that a point has across the edge, which is
:math:`½\,\mathrm{erfc}(s/h)` for a kernel of width h, if neighbours are weighted such that the
density's slope does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import erfinv

from ..base.arrays import BoolArray, FloatArray
from .network import Network

#: Distances to an edge are at least this share of the kernel's width, and at most so many widths:
#: from the share of neighbours across the edge they cannot be told beyond.
NEAREST, FARTHEST = 0.1, 2.5


@dataclass(frozen=True, eq=False)
class Held:
    """A set of points, (M,) in the order inside, at which the solution is known."""

    mask: BoolArray
    #: The values of m solutions there: the same at all points of the set, (m,), or (M, m).
    values: FloatArray
    #: Distance of all points to the edge of the set, (M,); None: estimated from the mask.
    distance: FloatArray | None = None

    def on_points(self) -> FloatArray:
        """Return the values on all points, (M, m); 0 outside the set."""
        return np.where(self.mask[:, None], self.values, 0.0)


@dataclass(frozen=True, eq=False)
class Edge:
    """How strongly the points of a set pull at others, in the order inside."""

    #: q_i = Σ_j K_ij over the points j of the set, (M,).
    links: FloatArray
    #: t_i = Σ_j K_ij s_j/s_i, (M,): what the soft edge adds.
    extra: FloatArray
    #: The pull on the right-hand side, (M, m): values times q + t.
    pull: FloatArray


def edges_of(network: Network, sets: Sequence[Held]) -> list[Edge]:
    """Return the pulls of held sets on all points, by two products with K for all of them."""
    if not sets:
        return []
    level, masks = network.resistance, np.stack([own.mask for own in sets], axis=1)
    n, inside = len(sets), masks.astype(np.float64)
    columns = np.hstack([inside, inside * level[:, None], level[:, None]])
    products = (network.weights @ columns).T
    links, of_sets, of_all = products[:n], products[n:-1], products[-1]
    far = np.stack(
        [
            distance_to(network, own, of_set, of_all)
            for own, of_set in zip(sets, of_sets, strict=True)
        ],
        axis=1,
    )
    extra = ((network.weights @ (inside * far)) / far).T
    return [
        Edge(own_links, more, pull_of(network, own, own_links + more, far[:, j]))
        for j, (own, own_links, more) in enumerate(zip(sets, links, extra, strict=True))
    ]


def distance_to(network: Network, held: Held, of_set: FloatArray, of_all: FloatArray) -> FloatArray:
    """Return the resistance s between each point and the edge of a set, (M,).

    `of_set` and `of_all` are sums over the neighbours in the set and over all, weighted by 1/√π.
    """
    distance, width = held.distance, network.operator.kernel.widths
    if distance is None:
        share = np.divide(of_set, of_all, out=np.zeros_like(of_all), where=of_all > 0)
        across = np.where(held.mask, 1 - share, share)
        distance = width * erfinv(1 - 2 * np.clip(across, 0.0, 0.5))
    near = np.clip(np.abs(distance), NEAREST * width, FARTHEST * width)
    return np.asarray(network.resistance * near)


def pull_of(network: Network, held: Held, strength: FloatArray, far: FloatArray) -> FloatArray:
    """Return the pull of a set on the right-hand side, (M, m)."""
    if held.values.ndim == 1:
        return np.outer(strength, held.values)
    values, m = held.on_points(), held.values.shape[1]
    both = network.weights @ np.hstack([values, values * far[:, None]])
    return np.asarray(both[:, :m] + both[:, m:] / far[:, None])
