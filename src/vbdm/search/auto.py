"""Engines by name, and the automatic choice: by counting operations on a sample of the points.

No clock is involved: the same points lead to the same engine, however busy the machine is. The
nanoseconds per operation were measured on the clouds of `benchmarks/engines.py` (seed 4000); they
need not be right, only their ratios nearly so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any, cast

import numpy as np

from ..base.arrays import FloatArray
from ..engines.tree import LEAF, levels_to, starts_of
from ..errors import InputError
from .brute import BruteForce
from .directions import (
    Axes,
    Projected,
    RotatedIndex,
    along_and_rest,
    first_candidates,
    principal_axes,
)
from .exact import KDTree, NeighborIndex, NeighborSearch
from .external import PyNNDescent

#: Number of queries on which work is counted.
N_COUNTED = 32
#: Nanoseconds for one point in a leaf that a tree looks into.
PER_VISIT = 45.0
#: Nanoseconds for one pair by brute force, and for one column of it.
PER_PAIR, PER_COLUMN = 2.3, 0.03
#: Nanoseconds to measure a candidate, and for one column of it.
PER_CANDIDATE, PER_MEASURED = 50.0, 3.0


def by_visits(cloud: FloatArray, points: FloatArray, radii: FloatArray) -> float:
    """Return the nanoseconds of one query by a k-d tree.

    A tree must look into every leaf whose box is nearer than the k-th neighbour. The cloud's own
    order gives the leaves: it is that of a tree.
    """
    starts = starts_of(len(cloud), levels_to(len(cloud), LEAF))[:-1]
    low, high = np.minimum.reduceat(cloud, starts), np.maximum.reduceat(cloud, starts)
    visited = 0
    for point, radius in zip(points, radii, strict=True):
        gap = np.maximum(np.maximum(low - point, point - high), 0.0)
        visited += int((np.einsum("ij,ij->i", gap, gap) < radius).sum())
    return PER_VISIT * visited / len(points) * len(cloud) / len(starts)


def by_candidates(
    small: FloatArray, points: FloatArray, radii: FloatArray, first: int, n_columns: int
) -> float:
    """Return the nanoseconds of one query that measures candidates in all columns.

    Candidates come in the order of a lower bound, the distance in `small`, (N, r); their number is
    doubled until the bound exceeds the k-th distance.
    """
    measured = 0
    for point, radius in zip(points, radii, strict=True):
        gap = small - point
        needed = int((np.einsum("ij,ij->i", gap, gap) < radius).sum())
        wanted = first
        while wanted <= needed:
            measured += wanted
            wanted *= 2
        measured += wanted
    return measured / len(points) * (PER_CANDIDATE + PER_MEASURED * n_columns)


#: Most columns, or directions that are not empty, for which the tree wins without any count.
TREE_COLUMNS = 8
#: Most directions that a tree may win in.
TREE_DIRECTIONS = 16
#: Fewest points for which counting is worth its while.
FEW_POINTS = 4000


@dataclass(frozen=True, eq=False)
class Choice:
    """An engine, the reason in words, and whether it is exact."""

    engine: NeighborSearch
    reason: str
    exact: bool = True


@dataclass(frozen=True, eq=False)
class Runner:
    """An engine, its index, and the nanoseconds that one query is expected to take."""

    engine: NeighborSearch
    index: Callable[[], NeighborIndex]
    cost: float


@dataclass(frozen=True)
class Auto:
    """Turn the cloud to its principal directions, drop empty ones, and take the fastest engine.

    With few directions that is the k-d tree. With many, the work of each rival is counted on a
    few queries: the tree, brute force, and the tree in the leading
    directions only (`Projected`). All are exact. No clock decides: the same points get the same
    engine. An approximate engine is taken only if the best of them would take longer than
    `patience` seconds and pynndescent is installed; the reason says so, and `graph.exact` is False.
    """

    #: Seconds of processor time, by the count of operations, that an exact search may take before
    #: an approximate one is preferred.
    patience: float = 1200.0

    def choose(self, cloud: FloatArray, k: int) -> Choice:
        """Return the engine for this cloud, with the reason."""
        return self.settle(cloud, k)[0]

    def index(self, cloud: FloatArray, k: int) -> NeighborIndex:
        """Return the index of the chosen engine."""
        return self.settle(cloud, k)[1]

    def settle(self, cloud: FloatArray, k: int) -> tuple[Choice, NeighborIndex]:
        """Return the choice and its index; work is counted only where the winner is unclear."""
        if cloud.shape[1] <= TREE_COLUMNS:
            return Choice(KDTree(), few_columns(cloud)), KDTree().index(cloud, k)
        axes = principal_axes(cloud)
        rank = axes.basis.shape[1]
        if axes.is_isometry and rank <= TREE_COLUMNS:
            why = f"{rank} directions hold all the variance: k-d tree"
            return Choice(KDTree(), why), index_turned(KDTree(), cloud, k, axes)
        if len(cloud) < FEW_POINTS and self.patience > 0:
            why = f"{rank} directions and {len(cloud)} points: brute force is quick"
            return Choice(BruteForce(), why), index_turned(BruteForce(), cloud, k, axes)
        runners = rivals(cloud, k, axes)
        best = min(runners, key=lambda runner: runner.cost)
        costs = ", ".join(f"{full_name(each.engine)} {each.cost / 1e3:.2g} µs" for each in runners)
        reason = (
            f"{rank} directions, {axes.n_leading} of them wide; by counts of operations a query "
            f"takes: {costs}"
        )
        if best.cost * 1e-9 * len(cloud) > self.patience and find_spec("pynndescent") is not None:
            why = f"{reason}; more than {self.patience:.3g} s, so an approximate search is taken"
            approximate = PyNNDescent()
            return Choice(approximate, why, False), approximate.index(cloud, k)
        return Choice(best.engine, reason), best.index()


def settle_search(
    engine: NeighborSearch, cloud: FloatArray, k: int, own: NeighborIndex | None = None
) -> tuple[Choice, NeighborIndex]:
    """Return the choice, which is `Auto`'s or the user's own, and its index.

    `own` is another index by a k-d tree: where that wins without a count, SciPy's is not built.
    """
    if own is not None and isinstance(engine, Auto) and cloud.shape[1] <= TREE_COLUMNS:
        return Choice(KDTree(), few_columns(cloud)), own
    if isinstance(engine, Auto):
        return engine.settle(cloud, k)
    return Choice(engine, "chosen by the user"), engine.index(cloud, k)


def few_columns(cloud: FloatArray) -> str:
    """Say why nothing needs to be counted."""
    return f"{cloud.shape[1]} columns: the k-d tree wins"


def rivals(cloud: FloatArray, k: int, axes: Axes) -> list[Runner]:
    """Return brute force, and the trees that may be faster, with the work of each."""
    rank = axes.basis.shape[1]
    # Some points at even spacing, with the squared distance of the k-th nearest to each.
    queries = cloud[:: max(1, len(cloud) // N_COUNTED)][:N_COUNTED]
    radii = BruteForce().index(cloud, k).query(queries, k)[1][:, -1]
    is_turned = axes.is_isometry and not axes.is_complete
    sides = cloud @ axes.basis if is_turned else cloud
    all_pairs, tree, thin = BruteForce(), KDTree(), Projected()
    by_pairs = len(sides) * (PER_PAIR + PER_COLUMN * sides.shape[1])
    found = [Runner(all_pairs, partial(index_turned, all_pairs, cloud, k, axes), by_pairs)]
    if axes.is_isometry and rank <= TREE_DIRECTIONS:
        points = queries @ axes.basis if is_turned else queries
        cost = by_visits(sides, points, radii)
        found.append(Runner(tree, partial(index_turned, tree, cloud, k, axes), cost))
    if axes.n_leading <= min(TREE_DIRECTIONS, rank // 2):
        basis, centre = axes.basis[:, : axes.n_leading], cloud.mean(axis=0)
        small = along_and_rest(cloud, centre, basis)
        points = along_and_rest(queries, centre, basis)
        cost = by_visits(small, points, radii) + by_candidates(
            small, points, radii, first_candidates(k), cloud.shape[1]
        )
        found.append(Runner(thin, partial(thin.index_along, cloud, k, axes), cost))
    return found


def index_turned(engine: NeighborSearch, cloud: FloatArray, k: int, axes: Axes) -> NeighborIndex:
    """Return the engine's index of the cloud, turned to these directions if that gains anything.

    The cloud stays as it is where no direction was dropped (a turn alone gains nothing, and
    distances would be measured twice), where some points lie outside the directions, and where all
    points coincide, so that there are no directions.
    """
    if axes.is_complete or not axes.is_isometry or axes.basis.size == 0:
        return engine.index(cloud, k)
    inner = engine.index(cloud @ axes.basis, k)
    return RotatedIndex(inner, cloud, axes.basis, inner.rows_per_call, inner.parallel)


def full_name(engine: NeighborSearch) -> str:
    """Return an engine's name, followed by that of the engine inside it, if any."""
    inner = getattr(engine, "inner", None)
    return type(engine).__name__ + ("" if inner is None else f"({type(inner).__name__})")


#: Engines by the names that `search` may take.
ENGINES: dict[str, type[Any]] = {
    "auto": Auto,
    "kd-tree": KDTree,
    "brute": BruteForce,
    "projected": Projected,
    "pynndescent": PyNNDescent,
}


def as_search(search: Any) -> NeighborSearch:
    """Return the engine with this name, or the engine itself."""
    if search is None:
        return Auto()
    if isinstance(search, str) and search in ENGINES:
        return cast(NeighborSearch, ENGINES[search]())
    # Python's own sequences have a method `index`, too.
    if not isinstance(search, (str, type, Sequence)) and hasattr(search, "index"):
        return cast(NeighborSearch, search)
    raise InputError(
        f"`search` must be one of {', '.join(map(repr, ENGINES))}, or have a method `index(cloud, "
        f"k)`, see vbdm.search.NeighborSearch; received {search!r}."
    )
