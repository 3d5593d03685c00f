"""Group the points into nested cells: the unknowns of the coarse problems.

A coarse problem replaces the points by groups of neighbours. The members of a group must be *near*
(strongly linked), groups must be *nested* (a group of groups is a group), and they must follow the
data exactly: equal slices of a good ordering straddle its cells, and cost three times the
iterations.

Where there are points, the nodes of a k-d tree are such groups. Where there are none, the strongest
links are contracted, pair by pair (`matching`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import BoolArray, FloatArray
from ...engines.engine import Engine
from ...engines.scipy_engine import ScipyEngine
from ...engines.tree import levels_to
from ...kernel.block_matrix import BlockMatrix
from ...rows.block_array import PerBlock
from ...rows.halo import OwnAndNear
from ...rows.sparse_blocks import made_square, owned

Labels = NDArray[np.int32]

#: An array in this machine's memory.
NOTHING = np.empty(0)

#: Coarsening ends with this few cells.
FEWEST_CELLS = 64
#: A link inside a cell is loose if it is weaker than this share of the average link.
LOOSE = 0.1
#: A point is heavy if its diagonal over its mass is below this share of the median.
HEAVY = 0.25


@dataclass(eq=False)
class Cells:
    """Nested groupings, each with about half as many cells as the one before; used up in order.

    Attributes
    ----------
    groupings : list of int arrays
        Entry 0 gives the cell of each unknown, entry l the cell of each cell of entry l - 1:
        finest first.
    n_apart : int
        The most heavy unknowns on a level that are kept as cells of their own.
    engine : Engine
        Who looks for links.
    """

    groupings: list[Labels]
    n_apart: int
    engine: Engine = field(default_factory=ScipyEngine)

    def count_down_to(
        self, fewest: float, most: int, diagonal: FloatArray, mass: FloatArray
    ) -> int:
        """Return how many groupings, `most` at most, can be used up to leave `fewest` cells.

        Cells that `take` splits because they are not tight are not foreseen.
        """
        n_apart = int(heavy(diagonal, mass, self.n_apart).sum())
        sizes = [int(grouping.max()) + 1 + n_apart for grouping in self.groupings[:most]]
        return sum(size >= fewest for size in sizes)

    def take(self, count: int, links: list[Any], diagonal: FloatArray, mass: FloatArray) -> Labels:
        """Use up `count` groupings; return the cell of each unknown, cells split if not tight.

        `links` are sparse matrices whose sum holds ±K, or one in blocks; `diagonal` is that of the
        stiffness matrix.
        """
        labels = self.groupings[0]
        for grouping in self.groupings[1:count]:
            labels = grouping[labels]
        del self.groupings[:count]
        tight = tightened(labels, links, diagonal, mass, self.n_apart, self.engine)
        if self.groupings:
            parent = np.empty(int(tight.max()) + 1, dtype=np.int32, like=tight)
            parent[tight] = labels
            self.groupings[0] = self.groupings[0][parent]
        return tight


def tree_cells(
    n_points: int, smallest: int, order: NDArray[np.intp] | None = None, like: Any = NOTHING
) -> list[Labels]:
    """Return groupings by the nodes of a k-d tree, the first of at most `smallest` points.

    Parameters
    ----------
    n_points : int
        Number N of points.
    smallest : int
        The most points in a cell of the first grouping.
    order : (N,) int array, optional
        The points in tree order; None if they stand in it.
    like : array, optional
        An array where the groupings are to live.
    """
    level = levels_to(n_points, smallest)
    # Node i holds the points from i N >> level on (`vbdm.engines.tree.starts_of`).
    ends = np.arange(1, n_points + 1, like=like) << level
    first = ((ends - 1) // n_points).astype(np.int32)
    if order is not None:
        labels = np.empty_like(first)
        labels[order] = first
        first = labels
    above = [
        np.arange(1 << finer, dtype=np.int32, like=like) >> 1
        for finer in range(level, 0, -1)
        if 1 << (finer - 1) >= FEWEST_CELLS
    ]
    return [first, *above]


def cells_of_members(groupings: list[Labels], members: NDArray[np.intp]) -> list[Labels]:
    """Return nested groupings of some of the points; `groupings` are those of all.

    Cells without members are left out, and the others keep their order.

    Examples
    --------
    >>> groupings = [np.array([0, 0, 1, 1, 2, 2, 3, 3]), np.array([0, 0, 1, 1])]
    >>> [labels.tolist() for labels in cells_of_members(groupings, np.array([1, 4, 5, 7]))]
    [[0, 1, 1, 2], [0, 1, 1]]
    """
    result, kept = [], members
    for grouping in groupings:
        kept, labels = np.unique(grouping[kept], return_inverse=True)
        result.append(labels.reshape(-1).astype(np.int32))
    return result


def tightened(
    labels: Labels,
    links: list[Any],
    diagonal: FloatArray,
    mass: FloatArray,
    n_apart: int,
    engine: Engine,
) -> Labels:
    """Split cells whose members hardly communicate, and set heavy members apart.

    A cell is one unknown. If it holds an outlying point, or parts of two clusters, a mode that
    lives on one of them does not exist in the coarse problem, and is never found.
    """
    apart, root = heavy(diagonal, mass, n_apart), 1 / np.sqrt(diagonal)
    n_cells = int(labels.max()) + 1
    loose = LOOSE * len(labels) / sum(part.nnz for part in links)
    # If the kernel is far too narrow, all links are loose: then only the worst cells are split.
    for threshold in (loose, loose / 10, loose / 100, 0.0):
        parts = parts_of_cells(links, labels, root, apart, threshold, engine)
        if parts.max() + 1 <= 1.25 * n_cells + apart.sum():
            break
    return parts.astype(np.int32, copy=False)


def parts_of_cells(
    links: list[Any],
    labels: Labels,
    root: FloatArray,
    apart: BoolArray,
    least: float,
    engine: Engine,
) -> Labels:
    """Return the connected parts of cells (`vbdm.engines.engine.Engine.parts_of_cells`).

    Cells have no points in two blocks, so their parts are found block by block.
    """
    matrix = links[0]
    if not isinstance(matrix, BlockMatrix):
        return engine.parts_of_cells(links, labels, root, apart, least)
    halo, result, n_before = matrix.stored.halo, [], 0
    given = (PerBlock(OwnAndNear(halo, values)) for values in (labels, root, apart))
    found = matrix.stored.run(parts_in_block, *given, least, engine, matrix.power)[0]
    for parts in matrix.rows.place.read(found):
        result.append(parts + np.int32(n_before))
        n_before += int(parts.max()) + 1
    return np.concatenate(result)


def parts_in_block(
    matrix: Any,
    labels: Labels,
    root: FloatArray,
    apart: BoolArray,
    least: float,
    engine: Engine,
    power: int,
) -> Labels:
    """Return the connected parts of a block's cells, from figures of its own and near points."""
    links = made_square(raised(matrix, power))
    parts = engine.parts_of_cells([links], owned(labels), owned(root), owned(apart), least)
    return np.array(parts[: matrix.shape[0]], dtype=np.int32)


def raised(matrix: Any, power: int) -> Any:
    """Return a CSR matrix with its entries raised to a power."""
    return matrix if power == 1 else matrix.astype(np.float64).power(power)


def heavy(diagonal: FloatArray, mass: FloatArray, n_apart: int) -> BoolArray:
    """Mark the points with the smallest diagonal for their mass: candidates for modes of one point.

    The quotient is the θ of a vector that lives on this point alone.
    """
    quotient = diagonal / mass
    low = np.flatnonzero(quotient < HEAVY * np.median(quotient))
    if len(low) > n_apart:
        low = low[np.argpartition(quotient[low], n_apart)[:n_apart]]
    marked = np.zeros(len(mass), dtype=np.bool_, like=mass)
    marked[low] = True
    return marked
