"""Which points communicate at all: connected pieces of the numerically nonzero graph."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .arrays import BoolArray
from .errors import bad_input
from .pairs import PairMatrix
from .solvers.pencil import Pencil

#: A link weaker than this, against the degrees of its ends, changes no digit of the solution.
ROUNDING = 1e-15


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
    """Return the piece of each point, numbered from the largest."""
    matrices = [pencil.weights]
    if isinstance(pencil.weights, PairMatrix):
        matrices = [pencil.weights.listed]
        if pencil.weights.returned is not None:
            matrices.append(pencil.weights.returned)
    root = np.sqrt(pencil.degrees)
    rows, columns = [], []
    for matrix in matrices:
        row = np.repeat(np.arange(pencil.n_points, dtype=np.int32), np.diff(matrix.indptr))
        linked = matrix.data > ROUNDING * root[row] * root[matrix.indices]
        rows.append(row[linked])
        columns.append(matrix.indices[linked])
    row, column = np.concatenate(rows), np.concatenate(columns)
    n = pencil.n_points
    links = csr_array((np.ones(len(row), dtype=np.int8), (row, column)), shape=(n, n))
    _, labels = connected_components(links, directed=False)
    size = np.bincount(labels)
    rank = np.empty(len(size), dtype=np.intp)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return np.asarray(rank[labels])


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
