"""Connected pieces of the data: points that the kernel joins by more than rounding."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..base.arrays import BoolArray, FloatArray, IntArray
from ..base.errors import bad_input
from ..base.threads import in_order, rows_that_fit, slices
from ..engines.scipy_engine import some_rows
from .solvers.multilevel.finest import parts_of
from .solvers.pencil import Pencil

#: A link with K_ij / √(D_i D_j) below this changes no digit of the solution.
ROUNDING = 1e-15
#: Links of each point that are looked at first: they join nearly all that can be joined.
FEW_LINKS = 8


@dataclass(frozen=True, eq=False)
class Pieces:
    """A partition of the points, the largest piece first.

    Attributes
    ----------
    labels : (N,) array
        Number of the piece of each point.
    n_solved : int
        Number of pieces that get modes, the largest ones; the points of the others are strays.
    """

    labels: NDArray[np.intp]
    n_solved: int

    @property
    def n_pieces(self) -> int:
        """Number of pieces."""
        return int(self.labels.max()) + 1

    @property
    def strays(self) -> BoolArray:
        """Points outside the pieces that are solved."""
        return self.labels >= self.n_solved


def find_pieces(pencil: Pencil, components: str, smallest: int) -> Pieces:
    """Partition the points and decide which pieces to solve.

    Parameters
    ----------
    pencil : Pencil
        The problem. Two points are linked if K joins them by more than rounding.
    components : {"each", "largest", "error"}
        Solve every piece, only the largest, or refuse more than one.
    smallest : int
        Points that a piece must have to be solved. Points of smaller pieces are strays: they
        could not even measure their own density.
    """
    labels = connected_pieces(pencil)
    size = np.bincount(labels)
    if size.max() == 1 < smallest:
        # No piece would be solved: all points are strays.
        raise bad_input(
            "No two points are joined.",
            received=f"{len(size)} points, each a piece of its own",
            because="The kernel is far narrower than the distances between points: `epsilon` is "
            "too small.",
            hint="Leave `epsilon` out to have it chosen, or raise it.",
        )
    n_solved = max(1, int((size >= smallest).sum()))
    if components == "error" and n_solved > 1:
        raise bad_input(
            "The data is not connected.",
            received=f"{n_solved} pieces of {', '.join(map(str, size[:5]))} points",
            because="No kernel weight above rounding joins them.",
            hint="Raise `epsilon` or `n_neighbors`, or pass components='each' or 'largest'.",
        )
    return Pieces(labels, 1 if components == "largest" else n_solved)


def connected_pieces(pencil: Pencil) -> NDArray[np.intp]:
    """Return the piece of each point, numbered from the largest.

    The first pass looks at a few links of each point, which join most points. The second looks at
    the links between different pieces, and is left out if there is one piece only. No copy of the
    matrix is made.
    """
    matrices, factor = parts_of(pencil.weights)
    scale = np.sqrt(pencil.degrees) / factor
    labels = np.arange(pencil.n_points, dtype=np.int32)
    for few in (FEW_LINKS, None):
        for matrix in matrices:
            links = np.hstack(
                list(
                    in_order(partial(links_between, matrix, labels, scale, few), row_blocks(matrix))
                )
            )
            labels = joined(labels, links)
        if labels.max() == 0:
            break
    size = np.bincount(labels)
    rank = np.empty(len(size), dtype=np.intp)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return np.asarray(rank[labels])


def row_blocks(matrix: Any) -> Iterator[slice]:
    """Cut the rows of a matrix into blocks that fit the cache."""
    return slices(matrix.shape[0], size=rows_that_fit(matrix.nnz, matrix.shape[0]))


def links_between(
    matrix: Any, labels: IntArray, scale: FloatArray, few: int | None, rows: slice
) -> IntArray:
    """Return the pairs of different labels, (2, m), that some rows join by more than rounding.

    Only the first `few` links of each row are looked at; None: all.
    """
    part = some_rows(matrix, rows)
    count = np.diff(part.indptr)
    row = np.repeat(np.arange(rows.start, rows.stop), count)
    wanted = labels[row] != labels[part.indices]
    if few is not None:
        wanted &= np.arange(len(row)) - np.repeat(part.indptr[:-1], count) < few
    row, column, value = row[wanted], part.indices[wanted], part.data[wanted]
    linked = value > ROUNDING * scale[row] * scale[column]
    return np.stack([labels[row[linked]], labels[column[linked]]])


def joined(labels: IntArray, links: IntArray) -> IntArray:
    """Return the labels of the points after joining pairs of labels, numbered by first points."""
    n = int(labels.max()) + 1
    graph = coo_array((np.ones(links.shape[1], dtype=np.int8), tuple(links)), shape=(n, n))
    parts = connected_components(graph, directed=False)[1]
    return np.asarray(parts[labels], dtype=np.int32)
