"""Engines of other packages: any metric, by scikit-learn; approximate ones, by pynndescent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from ..base.arrays import FloatArray, IntArray
from ..base.checks import answer_of, as_number
from ..base.references import DESCENT, Credit
from ..errors import InputError
from .exact import nearest_of

#: Metrics that are computed as one minus a similarity, with what rounding makes of a distance 0.
BY_SIMILARITY = {"cosine": 1e-14, "correlation": 1e-14}


@dataclass(frozen=True)
class MetricSearch:
    """An engine for any metric: a name that scikit-learn knows, or a function of two points.

    The function returns a length. It is called from Python for every pair that is looked at: a few
    million pairs per second at most. scikit-learn takes a ball tree, a k-d tree or brute force,
    whichever fits the metric.
    """

    metric: str | Callable[[FloatArray, FloatArray], float]

    def index(self, cloud: FloatArray, k: int) -> MetricIndex:
        """Build scikit-learn's index."""
        from sklearn.neighbors import NearestNeighbors

        if not isinstance(self.metric, str) and not callable(self.metric):
            raise InputError(
                f"`metric` must be a name or a function of two points; received {self.metric!r}."
            )
        if callable(self.metric):
            check_function(self.metric, cloud)
            engine = NearestNeighbors(metric=self.metric).fit(cloud)
            return MetricIndex(engine, 0.0)
        try:
            engine = NearestNeighbors(metric=self.metric, n_jobs=-1).fit(cloud)
            engine.kneighbors(cloud[:1], 1)
        except (TypeError, ValueError) as error:
            raise cannot_search(self.metric, cloud.shape[1], error) from None
        return MetricIndex(engine, BY_SIMILARITY.get(self.metric, 0.0))


@dataclass(frozen=True, eq=False)
class MetricIndex:
    """A cloud in scikit-learn's hands; distances up to `rounding` count as 0."""

    engine: Any
    rounding: float
    rows_per_call: int = 1024
    parallel: bool = False

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest."""
        distance, index = self.engine.kneighbors(points, k)
        distance = np.asarray(distance, dtype=np.float64)
        distance[distance <= self.rounding] = 0.0
        wrong = ~((distance >= 0) & np.isfinite(distance))
        if wrong.any():
            raise InputError(
                f"The metric gave distances that are no lengths; received {int(wrong.sum())} "
                "negative, infinite or missing value(s). Check the metric on two equal points, "
                "and on two far ones."
            )
        return index.astype(np.int32), np.square(distance, out=distance)


def cannot_search(metric: str, n_columns: int, error: Exception) -> InputError:
    """Return the error for a metric that does not work: misspelt, or not for these columns."""
    from sklearn.neighbors import VALID_METRICS

    names = sorted({str(name) for name in VALID_METRICS["brute"]})
    similar = " or ".join(get_close_matches(metric, names, 3) or names[:6])
    advice = (
        f" ({str(error).strip().splitlines()[0][:200]}). Some metrics need parameters, or columns "
        "of a certain kind. Use another one, or a function of two points."
        if metric in names
        else f". There is no metric of this name; did you mean {similar}? "
        "sklearn.neighbors.VALID_METRICS lists all."
    )
    return InputError(
        f"scikit-learn cannot search by this metric; received metric={metric!r} and {n_columns} "
        f"column(s){advice}"
    )


def length(
    metric: Callable[[FloatArray, FloatArray], float], x: FloatArray, y: FloatArray
) -> float:
    """Return the distance that a user's function gives; NaN for what is no number."""
    return as_number(answer_of(metric, "metric", x, y))


def check_function(metric: Callable[[FloatArray, FloatArray], float], cloud: FloatArray) -> None:
    """Try the user's function on a few points, and refuse it if it is not a distance there."""
    some = cloud[np.linspace(0, len(cloud) - 1, 4).astype(np.intp)]
    there = np.array([length(metric, x, y) for x, y in pairwise(some)])
    back = np.array([length(metric, y, x) for x, y in pairwise(some)])
    own = length(metric, some[0], some[0])
    is_length = np.isfinite(there).all() and (there >= 0).all() and abs(own) <= 1e-7 * there.max()
    if is_length and np.allclose(there, back, rtol=1e-6, atol=0):
        return
    raise InputError(
        f"The function given as `metric` is no distance; received d(x, y) = {there.tolist()}, "
        f"d(y, x) = {back.tolist()}, d(x, x) = {own}. Return a length: finite, not negative, the "
        "same both ways, 0 from a point to itself; for a similarity s, often np.sqrt(2 - 2*s)."
    )


@dataclass(frozen=True)
class PyNNDescent:
    """Nearest neighbour descent, by the package pynndescent: for many points in many columns.

    It compiles for half a minute at its first use in a process. Its distances are in single
    precision and are not used: candidates are measured again.
    """

    #: Extra candidates, as a share of k; they serve as in `BruteForce`.
    spare: float = 0.25
    #: How far a query looks beyond its best candidates; more finds more.
    epsilon: float = 0.15
    #: Seed of its random projections.
    random_state: int = 0
    credit: ClassVar[Credit] = Credit(
        "PyNNDescent", "an approximate search by nearest neighbour descent", (DESCENT,)
    )

    def index(self, cloud: FloatArray, k: int) -> ApproximateIndex:
        """Build the graph that queries walk on."""
        try:
            from pynndescent import NNDescent
        except ImportError:
            raise InputError(
                "This search needs the package pynndescent, which is not installed. Run `pip "
                "install vbdm[approximate]`, or leave `search` out for an exact one."
            ) from None
        centre = cloud.mean(axis=0)
        points = (cloud - centre).astype(np.float32)
        engine = NNDescent(points, n_neighbors=max(15, min(k, 30)), random_state=self.random_state)
        engine.prepare()
        return ApproximateIndex(engine, cloud, centre, self.spare, self.epsilon)


@dataclass(frozen=True, eq=False)
class ApproximateIndex:
    """The graph that queries walk on; candidates are measured in the original columns."""

    engine: Any
    cloud: FloatArray
    centre: FloatArray
    spare: float
    epsilon: float
    rows_per_call: int = 4096
    parallel: bool = False

    def query(self, points: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
        """Return indices and squared distances of the k nearest that were found."""
        wanted = min(int((1 + self.spare) * k) + 1, len(self.cloud))
        single = (points - self.centre).astype(np.float32)
        candidates, _ = self.engine.query(single, k=wanted, epsilon=self.epsilon)
        return nearest_of(points, self.cloud, candidates, k, share=True)
