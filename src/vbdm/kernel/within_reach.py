"""The kernel on all pairs within its reach: |x-y|² < s_c ε ρ(x) ρ(y).

Beyond s_c the kernel is cut, so these are all its pairs. The relation is symmetric, and so is the
matrix, exactly; there are no lists of neighbours that could end inside the kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike
from scipy.sparse import csr_array

from ..base.arrays import FloatArray, IntArray
from ..base.memory import refuse_pairs
from ..base.shapes import Shape
from ..base.threads import for_each, in_order
from ..engines.tree import Reach
from ..graph.neighbor_graph import NeighborGraph
from .pair_matrix import PairMatrix

#: Least kernel value, as a share of the peak, that is stored in single precision: smaller ones may
#: underflow when powers of the density are taken.
SINGLE_DOWN_TO = 1e-30


def weights_within_reach(
    graph: NeighborGraph,
    rho: FloatArray,
    epsilon: float,
    shape: Shape,
    *,
    cutoff: float,
    leave_one_out: bool = False,
    precision: str = "auto",
) -> PairMatrix:
    """Find all pairs within the kernel's reach, and evaluate it there.

    The arguments are those of `vbdm.kernel.kernel.kernel_within_reach`, with ρ at the points, (M,),
    in the order inside.

    Notes
    -----
    A first walk over the tree counts the pairs, a second one evaluates them, one block of leaves
    after the other: 8 bytes per pair, or 12 in double precision.
    """
    tree, engine = graph.point_set.tree, graph.point_set.engine
    if tree is None:
        raise TypeError("pairs within reach need the tree of the points")
    reach = Reach.of(tree, rho, cutoff * epsilon, with_self=not leave_one_out)
    blocks = list(tree.leaf_blocks())
    counts = np.concatenate(
        list(in_order(lambda leaves: engine.count_within(reach, leaves), blocks, "pairs"))
    )
    total = int(counts.sum())
    refuse_pairs(graph.n_points, total, tree.columns.shape[0])
    # Row pointers get the type of the indices where they fit: SciPy would copy all indices to make
    # the types alike.
    short = np.int32 if total < 2**31 else np.int64
    pointer = np.zeros(graph.n_points + 1, dtype=short)
    np.cumsum(counts, out=pointer[1:])
    neighbors = np.empty(total, dtype=np.int32)
    values = np.empty(total, dtype=stored_type(precision, shape, cutoff))

    def work(leaves: slice) -> None:
        rows = tree.rows_of(leaves)
        part = slice(int(pointer[rows.start]), int(pointer[rows.stop]))
        neighbors[part], scaled = engine.pairs_within(reach, leaves, part.stop - part.start)
        scaled /= epsilon
        values[part] = shape(scaled)

    for_each(work, blocks, "kernel")
    return PairMatrix(symmetric_csr(values, neighbors, pointer), engine=engine)


def symmetric_csr(values: np.ndarray, neighbors: IntArray, pointer: np.ndarray) -> csr_array:
    """Return the CSR matrix of the pairs; nothing is copied or checked."""
    n = len(pointer) - 1
    return csr_array((values, neighbors, pointer), shape=(n, n))


def stored_type(precision: str, shape: Shape, cutoff: float) -> DTypeLike:
    """Return the type of the stored values: double where single precision might underflow."""
    least = float(shape(np.array([cutoff]))[0]) / float(shape(np.zeros(1))[0])
    # Shapes with a finite support are 0 at their end, and exactly so.
    small = 0 < least < SINGLE_DOWN_TO
    return np.float64 if precision == "double" or small else np.float32
