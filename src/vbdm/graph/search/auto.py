"""Engines by name, and the automatic choice: by measuring them on a sample of the points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib.util import find_spec
from time import process_time
from typing import Any

from ...base.arrays import FloatArray
from ...base.errors import bad_input
from ...base.threads import n_threads
from .approximate import PyNNDescent
from .exact import BruteForce, KDTree, NeighborIndex, NeighborSearch
from .projected import MOST_DIRECTIONS, Projected
from .rotation import Axes, RotatedIndex, principal_axes

# The numbers below were set on the clouds of `benchmarks/engines.py`, and on no others.
#: Most columns, or directions that are not empty, for which the tree wins without being timed.
TREE_COLUMNS = 8
#: Seconds below which a search is too short to be worth a comparison.
SHORT = 0.5
#: Least seconds that brute force takes per pair: a tree that is faster has won.
PER_PAIR = 3e-9
#: Most leading directions that are best searched by a tree; more are searched by brute force.
TREE_DIRECTIONS = 16


@dataclass(frozen=True)
class Choice:
    """An engine, the directions it searches along, the reason in words, and whether it is exact."""

    engine: NeighborSearch
    rotation: FloatArray | None
    reason: str
    exact: bool = True


@dataclass(frozen=True, eq=False)
class Runner:
    """An engine, its index, and the seconds that it is expected to take for all points."""

    engine: NeighborSearch
    index: NeighborIndex
    seconds: float


@dataclass(frozen=True)
class Auto:
    """Turn the cloud to its principal directions, drop empty ones, and take the fastest engine.

    With few directions that is the k-d tree. With many, the rivals are timed on a sample of the
    points: the tree, brute force, and one of them in the leading directions only (`Projected`). All
    are exact. An approximate engine is taken only if the best of them would take longer than
    `patience` seconds and pynndescent is installed; the reason says so, and `graph.exact` is False.
    """

    #: Number of queries used to time the engines.
    n_timed: int = 64
    #: Seconds that an exact search may take before an approximate one is preferred.
    patience: float = 600.0

    def choose(self, cloud: FloatArray, k: int) -> Choice:
        """Return the engine for this cloud, with the reason."""
        return self.race(cloud, k)[0]

    def index(self, cloud: FloatArray, k: int) -> NeighborIndex:
        """Return the index of the chosen engine."""
        return self.race(cloud, k)[1]

    def race(self, cloud: FloatArray, k: int) -> tuple[Choice, NeighborIndex]:
        """Return the choice and its index; engines are timed only where the winner is unclear."""
        if cloud.shape[1] <= TREE_COLUMNS:
            return Choice(KDTree(), None, few_columns(cloud)), KDTree().index(cloud, k)
        axes = principal_axes(cloud)
        if not axes.is_isometry:
            return self.compare(cloud, k, axes, [])
        rank = axes.basis.shape[1]
        tree = turned(KDTree(), cloud, k, axes)
        if rank <= TREE_COLUMNS:
            why = f"{rank} directions hold all the variance: k-d tree"
            return Choice(KDTree(), rotation_of(tree), why), tree
        seconds = self.time(tree, cloud, k)
        if seconds < max(SHORT, PER_PAIR * len(cloud) ** 2 / n_threads()):
            why = f"{rank} directions; the k-d tree takes about {seconds:.2g} s, which is short"
            return Choice(KDTree(), rotation_of(tree), why), tree
        return self.compare(cloud, k, axes, [Runner(KDTree(), tree, seconds)])

    def compare(
        self, cloud: FloatArray, k: int, axes: Axes, others: list[Runner]
    ) -> tuple[Choice, NeighborIndex]:
        """Time brute force and its rivals, and return the fastest with its index.

        A first timing on few queries drops the rivals that fall far behind.
        """
        all_pairs = BruteForce()
        brute = turned(all_pairs, cloud, k, axes)
        first = Runner(all_pairs, brute, self.time(brute, cloud, k))
        for engine in rivals(axes):
            index = engine.index_along(cloud, k, axes)
            others = [*others, Runner(engine, index, self.time(index, cloud, k))]
        fastest = min(runner.seconds for runner in (first, *others))
        runners = [first] + [
            replace(runner, seconds=self.seconds(runner.index, cloud, k, 2 * self.n_timed))
            if runner.index.parallel
            else runner
            for runner in others
            if runner.seconds < 2 * fastest
        ]
        best = min(runners, key=lambda runner: runner.seconds)
        times = ", ".join(f"{named(runner.engine)} {runner.seconds:.2g} s" for runner in runners)
        reason = f"{axes.basis.shape[1]} directions, {axes.n_leading} of them wide; {times}"
        if best.seconds > self.patience and find_spec("pynndescent") is not None:
            why = f"{reason}; more than {self.patience:.3g} s, so an approximate search is taken"
            approximate = PyNNDescent()
            return Choice(approximate, None, why, False), approximate.index(cloud, k)
        return Choice(best.engine, rotation_of(best.index), reason), best.index

    def time(self, index: NeighborIndex, cloud: FloatArray, k: int) -> float:
        """Estimate the seconds that a search for all points will take, from a few queries."""
        if index.parallel:
            return self.seconds(index, cloud, k, 8)
        # Brute force works on blocks, and each call has a fixed cost: the first call warms up, and
        # the difference of two others is free of that cost.
        self.seconds(index, cloud, k, 8)
        few, many = self.n_timed, 4 * self.n_timed
        both = [n * self.seconds(index, cloud, k, n) for n in (few, many)]
        return max((both[1] - both[0]) / (many - few), both[1] / (4 * many))

    def seconds(self, index: NeighborIndex, cloud: FloatArray, k: int, n_queries: int) -> float:
        """Scale the time of some queries to all points.

        It is processor time, which other programs disturb little, over the number of threads.
        """
        sample = cloud[:: max(1, len(cloud) // n_queries)][:n_queries]
        started = process_time()
        index.query(sample, k)
        return (process_time() - started) / len(sample) * len(cloud) / n_threads()


def chosen(
    engine: NeighborSearch, cloud: FloatArray, k: int, own: NeighborIndex | None = None
) -> tuple[Choice, NeighborIndex]:
    """Return the choice, which is `Auto`'s or the user's own, and its index.

    `own` is another index by a k-d tree: where that wins without a race, SciPy's is not built.
    """
    if own is not None and isinstance(engine, Auto) and cloud.shape[1] <= TREE_COLUMNS:
        return Choice(KDTree(), None, few_columns(cloud)), own
    if isinstance(engine, Auto):
        return engine.race(cloud, k)
    return Choice(engine, None, "chosen by the user"), engine.index(cloud, k)


def few_columns(cloud: FloatArray) -> str:
    """Say why no race is needed."""
    return f"{cloud.shape[1]} columns: the k-d tree wins"


def rivals(axes: Axes) -> list[Projected]:
    """Return the engine that searches the leading directions first, if these are few."""
    if axes.n_leading > min(MOST_DIRECTIONS, axes.basis.shape[1] // 2):
        return []
    return [Projected(KDTree() if axes.n_leading <= TREE_DIRECTIONS else BruteForce())]


def turned(engine: NeighborSearch, cloud: FloatArray, k: int, axes: Axes) -> NeighborIndex:
    """Return the engine's index of the cloud, turned to these directions if that gains anything.

    The cloud stays as it is where no direction was dropped (a turn alone gains nothing, and
    distances would be measured twice), where some points lie outside the directions, and where all
    points coincide, so that there are no directions.
    """
    if axes.is_complete or not axes.is_isometry or axes.basis.size == 0:
        return engine.index(cloud, k)
    inner = engine.index(cloud @ axes.basis, k)
    return RotatedIndex(inner, cloud, axes.basis, inner.rows_per_call, inner.parallel)


def rotation_of(index: NeighborIndex) -> FloatArray | None:
    """Return the directions that an index searches along, if it was turned."""
    return index.rotation if isinstance(index, RotatedIndex) else None


def named(engine: NeighborSearch) -> str:
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
        engine: NeighborSearch = ENGINES[search]()
        return engine
    if not isinstance(search, (str, type)) and hasattr(search, "index"):
        found: NeighborSearch = search
        return found
    raise bad_input(
        "`search` must be a search or the name of one.",
        received=repr(search),
        because="A search has a method `index(cloud, k)`, see vbdm.search.NeighborSearch.",
        hint="Choose one of: " + ", ".join(map(repr, ENGINES)) + ".",
    )
