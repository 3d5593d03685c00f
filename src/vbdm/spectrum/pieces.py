"""Which points communicate at all: connected pieces of the numerically nonzero graph."""

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
from ..kernel.pair_matrix import some_rows
from .solvers.multilevel.finest import parts_of
from .solvers.pencil import Pencil

#: A link weaker than this, against the degrees of its ends, changes no digit of the solution.
ROUNDING = 1e-15
#: So many links per point join nearly all that can be joined.
FEW_LINKS = 8


@dataclass(frozen=True, eq=False)
class Pieces:
    """A partition of the points, the largest piece first.

    Attributes
    ----------
    labels : (N,) array
        The piece of each point.
    n_solved : int
        The first so many pieces get modes; the points of the others are strays.
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
        Two points are linked if K joins them by more than rounding.
    components : {"each", "largest", "error"}
        Solve every piece, only the largest, or refuse more than one.
    smallest : int
        Pieces with fewer points are strays: they could not even measure their own density.
    """
    labels = connected_pieces(pencil)
    size = np.bincount(labels)
    if size.max() == 1 < smallest:
        # All points are strays.
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

    A few links per point join most of them; then only links between different pieces are looked
    for, and if one piece is left, none. No copy of the matrix is made.
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
    """Return the pairs of labels, (2, m), that some rows join by more than rounding."""
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
    """Return labels after joining pairs of them, numbered by their first points."""
    n = int(labels.max()) + 1
    graph = coo_array((np.ones(links.shape[1], dtype=np.int8), tuple(links)), shape=(n, n))
    parts = connected_components(graph, directed=False)[1]
    return np.asarray(parts[labels], dtype=np.int32)


def describe_pieces(pieces: Pieces) -> str:
    """Say how many pieces there are, how large, and what to do about it (caller's order)."""
    size = np.bincount(pieces.labels)
    largest = ", ".join(str(count) for count in size[:5]) + (", …" if len(size) > 5 else "")
    first = int(np.argmax(pieces.labels == 1))
    zeros = f"The eigenvalue 0 appears {pieces.n_solved} times, once per piece. "
    strays = int(pieces.strays.sum())
    left = f"{strays} stray point(s) in small or unwanted pieces get no modes. " if strays else ""
    return (
        f"The kernel splits the {len(pieces.labels)} points into {len(size)} pieces that do not "
        f"communicate (sizes {largest}; point {first} is the first outside the largest piece). "
        f"{zeros if pieces.n_solved > 1 else ''}{left}If the data should be "
        "connected, raise `epsilon` or `n_neighbors`; otherwise analyse the pieces apart "
        "(see `spectrum.components`)."
    )
