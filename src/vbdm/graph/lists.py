"""Lists of neighbours: kept, or given up and searched for again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.checks import FloatArray, IntArray, frozen
from ..base.memory import MEASURED_COLUMNS, refuse_if_too_large
from .point_set import PointSet
from .search.table import search_all


@dataclass(frozen=True, eq=False)
class KeptLists:
    """The neighbours of every point, in the order inside.

    Attributes
    ----------
    indices : (M, k) int array
        Neighbours of each point, nearest first; column 0 is the point itself.
    sqdist : (M, k) array or None
        Their squared distances; None where they are measured again when needed.
    """

    indices: IntArray
    sqdist: FloatArray | None = None

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours k per point, the point itself included."""
        return int(self.indices.shape[1])


@dataclass(frozen=True, eq=False)
class ReleasedLists:
    """Lists that were given up to save 4 bytes per pair; they can be searched for again.

    Attributes
    ----------
    n_neighbors : int
        Number of neighbours k that each list had, the point itself included.
    radii : (M,) array
        Squared distance of each point's last neighbour.
    """

    n_neighbors: int
    radii: FloatArray


@dataclass(frozen=True, eq=False)
class ListedRows:
    """A block of rows of the lists.

    Attributes
    ----------
    rows : slice
        Which points.
    neighbors : (m, k) int array
        Their neighbours, in the order inside.
    sqdist : (m, k) array
        Squared distances.
    """

    rows: slice
    neighbors: NDArray[np.intp]
    sqdist: FloatArray


def searched(points: PointSet, k: int) -> KeptLists:
    """Search for the k nearest of all points, if the estimate fits into memory."""
    X = points.coordinates
    if X is None or points.index is None:
        raise TypeError("points without coordinates or index cannot be searched")
    # Distances that are kept cost as much as many columns.
    columns = max(X.shape[1], MEASURED_COLUMNS + 1) if points.keeps_distances else X.shape[1]
    refuse_if_too_large(points.n_points, k, columns)
    indices, sqdist = search_all(points.index, X, k, keep=points.keeps_distances)
    return KeptLists(frozen(indices), sqdist)
