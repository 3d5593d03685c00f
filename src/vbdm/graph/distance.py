"""How distances are measured: metric, periods, and the engine that searches by them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..base.arrays import FloatArray, frozen
from ..base.checks import as_number, shown
from ..errors import InputError
from ..search import Auto, KDTree, MetricSearch, NeighborSearch, PeriodicTree, as_search
from ..search.periodic import wrap

#: A metric's name in scikit-learn, or a function of two points.
Metric = str | Callable[[FloatArray, FloatArray], float]
#: scikit-learn's names of the Euclidean distance, which is called "euclidean" here.
EUCLIDEAN = ("euclidean", "l2", "minkowski")
PRECOMPUTED = "precomputed"


@dataclass(frozen=True, eq=False)
class Distance:
    """A metric, and the periods of the columns that are periodic.

    Attributes
    ----------
    metric : str or callable
        "euclidean", another name that scikit-learn knows, or a function of two points.
    period : (n,) array or None
        Period of each column, 0 for those that are not periodic; None if no column is.
    """

    metric: Metric = "euclidean"
    period: FloatArray | None = None

    @classmethod
    def checked(cls, metric: Any, period: Any, n_columns: int) -> Distance:
        """Return the distance that the user asked for, checked against the number of columns."""
        metric = check_metric(metric)
        lengths = None if period is None else check_period(period, n_columns)
        if lengths is not None and metric != "euclidean":
            raise InputError(
                "Periodic columns go with the Euclidean metric only; received `period` and "
                f"metric={metric!r}. Distances in a periodic box are those to the nearest image "
                "of a point. Leave `metric` out, or pass a function of two points that knows the "
                "periods."
            )
        return cls(metric, lengths)

    @property
    def is_euclidean(self) -> bool:
        """Whether the metric is Euclidean and no column is periodic."""
        return self.metric == "euclidean" and self.period is None

    def wrapped(self, points: FloatArray) -> FloatArray:
        """Return the points with periodic columns wrapped into [0, period)."""
        return points if self.period is None else wrap(points, self.period)

    def engine(self, search: Any = None) -> NeighborSearch:
        """Return the engine that searches by this distance: the user's, or one that fits."""
        wanted = as_search(search)
        if self.is_euclidean:
            return wanted
        if not isinstance(wanted, (Auto, KDTree)):
            raise InputError(
                f"This search measures straight lines only; received search={search!r} with "
                f"metric={self.metric!r}{('' if self.period is None else ' and `period`')}. "
                "Periodic boxes are searched by SciPy's tree, other metrics by scikit-learn, "
                "which chooses its own algorithm. Leave `search` out, or pass neighbours found "
                "elsewhere (vbdm.NeighborGraph.from_arrays, from_sparse)."
            )
        return MetricSearch(self.metric) if self.period is None else PeriodicTree(self.period)


def check_metric(metric: Any) -> Metric:
    """Return the metric, the Euclidean one under one name; scikit-learn checks other names."""
    if callable(metric):
        found: Metric = metric
        return found
    if isinstance(metric, str):
        return "euclidean" if metric in EUCLIDEAN else metric
    raise InputError(
        f"`metric` must be a name or a function of two points; received {metric!r}. Use "
        "'euclidean', any metric of scikit-learn such as 'manhattan' or 'haversine', "
        "'precomputed', or a function."
    )


def check_period(period: Any, n_columns: int) -> FloatArray | None:
    """Return one length per column, 0 where a column is not periodic; None if none is."""
    try:
        # None, for a column that is not periodic, becomes 0; NaN stays NaN and is refused below.
        given = [period] * n_columns if np.ndim(period) == 0 else list(period)
        lengths = np.array([0.0 if length is None else as_number(length) for length in given])
    except (TypeError, ValueError):
        lengths = np.full(n_columns, np.nan)
    if len(lengths) != n_columns or np.isnan(lengths).any() or (lengths < 0).any():
        raise InputError(
            f"`period` must be one length, or one for each column; received {shown(period)} for "
            f"{n_columns} column(s). Use 2*np.pi or 360 for angles, the edges of a simulation "
            "cell for positions; None for a column that is not periodic."
        )
    lengths[np.isinf(lengths)] = 0.0
    return frozen(lengths) if lengths.any() else None
