"""Which points communicate at all: connected pieces of the numerically nonzero graph."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .pairs import PairMatrix
from .solvers.pencil import Pencil

#: A link weaker than this, against the degrees of its ends, changes no digit of the solution.
ROUNDING = 1e-15


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
        coo = matrix.tocoo()
        linked = coo.data > ROUNDING * root[coo.row] * root[coo.col]
        rows.append(coo.row[linked])
        columns.append(coo.col[linked])
    row, column = np.concatenate(rows), np.concatenate(columns)
    n = pencil.n_points
    links = csr_array((np.ones(len(row), dtype=np.int8), (row, column)), shape=(n, n))
    _, labels = connected_components(links, directed=False)
    size = np.bincount(labels)
    rank = np.empty(len(size), dtype=np.intp)
    rank[np.argsort(-size, kind="stable")] = np.arange(len(size))
    return np.asarray(rank[labels])


def describe_pieces(labels: NDArray[np.intp]) -> str:
    """Say how many pieces there are, how large, and what to do about it."""
    size = np.bincount(labels)
    largest = ", ".join(str(count) for count in size[:5]) + (", …" if len(size) > 5 else "")
    first = int(np.argmax(labels == 1))
    return (
        f"The kernel splits the {len(labels)} points into {len(size)} pieces that do not "
        f"communicate (sizes {largest}; point {first} is the first outside the largest piece). "
        f"The eigenvalue 0 appears {len(size)} times, once per piece. If the data should be "
        "connected, raise `epsilon` or `n_neighbors`; otherwise analyse the pieces apart "
        "(see `spectrum.components`)."
    )
