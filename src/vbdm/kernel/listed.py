"""The kernel on listed pairs: those of lists of nearest neighbours."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..graph.lists import ListedRows
from ..graph.neighbor_graph import NeighborGraph
from ..shapes import Shape
from .bandwidth import Bandwidth
from .kernel import Kernel
from .pair_matrix import PairMatrix
from .scaled import NEGLIGIBLE, rim, scaled


def evaluate_kernel(
    graph: NeighborGraph,
    bandwidth: Bandwidth,
    epsilon: float,
    shape: Shape,
    *,
    leave_one_out: bool = False,
    cutoff: float = np.inf,
    one_way_share: float = 0.5,
) -> Kernel:
    """Evaluate K on every listed pair and, if the form is symmetric, symmetrise it.

    Parameters
    ----------
    graph, bandwidth, epsilon, shape
        ``K = h(|x-y|² / (ε a(x) b(y)))``.
    leave_one_out : bool
        Set K_ii = 0. The point itself is not a sample of its surroundings: with n neighbours inside
        the kernel, keeping it shrinks every eigenvalue by about 1/(n+1).
    cutoff : float
        Set K = 0 beyond this s. Such a cut is symmetric, unlike one at the k-th neighbour.
    one_way_share : float
        Weight of a pair (i, j) when j is among i's neighbours but not the other way round: 1/2 is
        the paper's (K + Kᵀ)/2; 1 keeps it whole.

    Notes
    -----
    Cost: one evaluation of h per pair, N k in all; 12 bytes per pair within the cutoff.
    """
    peak = float(shape(np.zeros(1))[0])
    cut_rows = np.zeros(graph.n_points, dtype=np.bool_)

    def evaluate(block: ListedRows) -> FloatArray:
        s = scaled(block, bandwidth)
        s /= epsilon
        values = shape(s)
        if np.isfinite(cutoff):
            values[s >= cutoff] = 0.0
        cut_rows[block.rows] = rim(values) > NEGLIGIBLE * peak
        if leave_one_out:
            values[:, 0] = 0.0
        return values

    share = one_way_share if bandwidth.is_symmetric else None
    weights = PairMatrix.evaluated(graph.with_lists(), evaluate, share)
    return Kernel(
        graph=graph, weights=weights, bandwidth=bandwidth, epsilon=epsilon, shape=shape,
        saturated=float(cut_rows.mean()) if graph.n_neighbors < graph.n_points else 0.0,
        leave_one_out=leave_one_out, cutoff=cutoff, one_way_share=one_way_share,
    )  # fmt: skip
