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

__all__ = ["Auto", "Choice", "RotatedIndex"]

# The numbers below were set on the clouds of `benchmarks/engines.py`, and on no others.
#: Up to this many effective columns the tree wins always; beyond, it is timed.
TREE_COLUMNS = 8
#: A search that takes less than this, in seconds, is not worth a comparison.
SHORT = 0.5
#: Brute force takes at least this, in seconds per pair: a tree that is faster has won.
PER_PAIR = 3e-9
#: Up to this many leading directions a tree is the best to search them; beyond, brute force is.
TREE_DIRECTIONS = 16


@dataclass(frozen=True)
class Choice:
    """An engine, the directions it will search along, the reason in words, and if it is exact."""

    engine: NeighborSearch
    rotation: FloatArray | None
    reason: str
    exact: bool = True


@dataclass(frozen=True, eq=False)
class Runner:
    """An engine, its index, and the seconds that it will take for all points."""

    engine: NeighborSearch
    index: NeighborIndex
    seconds: float


@dataclass(frozen=True)
class Auto:
    """Turn the cloud to its principal directions, drop empty ones, and take the fastest engine.

    With few directions that is the k-d tree. With many, the rivals search for a sample of the
    points: the tree, brute force, and one of them in the leading directions only (`Projected`). All
    are exact. Only if the best would take longer than `patience` seconds, and pynndescent is
    installed, an approximate engine is taken; the reason says so, and `graph.exact` is False.
    """

    #: Queries used to time the engines.
    n_timed: int = 64
    #: Seconds that an exact search may take.
    patience: float = 600.0

    def choose(self, cloud: FloatArray, k: int) -> Choice:
        """Return the engine for this cloud and say why."""
        return self.race(cloud, k)[0]

    def index(self, cloud: FloatArray, k: int) -> NeighborIndex:
        """Return the index of the chosen engine."""
        return self.race(cloud, k)[1]

    def race(self, cloud: FloatArray, k: int) -> tuple[Choice, NeighborIndex]:
        """Return the choice and its index."""
        if cloud.shape[1] <= TREE_COLUMNS:
            why = f"{cloud.shape[1]} columns: the k-d tree wins"
            return Choice(KDTree(), None, why), KDTree().index(cloud, k)
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
        """Time the rivals; those that fall far behind are not looked at twice."""
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
            why = f"{reason}; more than {self.patience:.3g} s, so an approximate engine is taken"
            approximate = PyNNDescent()
            return Choice(approximate, None, why, False), approximate.index(cloud, k)
        return Choice(best.engine, rotation_of(best.index), reason), best.index

    def time(self, index: NeighborIndex, cloud: FloatArray, k: int) -> float:
        """Return the seconds that a search for all points will take, from a few of them."""
        if index.parallel:
            return self.seconds(index, cloud, k, 8)
        # Brute force works on blocks, and each call has a fixed cost, which is taken off.
        self.seconds(index, cloud, k, 8)
        few, many = self.n_timed, 4 * self.n_timed
        both = [n * self.seconds(index, cloud, k, n) for n in (few, many)]
        return max((both[1] - both[0]) / (many - few), both[1] / (4 * many))

    def seconds(self, index: NeighborIndex, cloud: FloatArray, k: int, n_queries: int) -> float:
        """Return the expected seconds; processor time, which other programs disturb little."""
        sample = cloud[:: max(1, len(cloud) // n_queries)][:n_queries]
        started = process_time()
        index.query(sample, k)
        return (process_time() - started) / len(sample) * len(cloud) / n_threads()


def chosen(engine: NeighborSearch, cloud: FloatArray, k: int) -> tuple[Choice, NeighborIndex]:
    """Return an engine's index and what is to be said of the choice."""
    if isinstance(engine, Auto):
        return engine.race(cloud, k)
    return Choice(engine, None, "chosen by the user"), engine.index(cloud, k)


def rivals(axes: Axes) -> list[Projected]:
    """Return the engine that searches few directions first, where a few are wider than the rest."""
    if axes.n_leading > min(MOST_DIRECTIONS, axes.basis.shape[1] // 2):
        return []
    return [Projected(KDTree() if axes.n_leading <= TREE_DIRECTIONS else BruteForce())]


def turned(engine: NeighborSearch, cloud: FloatArray, k: int, axes: Axes) -> NeighborIndex:
    """Return the engine's index along these directions.

    Where none was dropped, or points lie beside them, the cloud stays as it is: a turn alone gains
    nothing, and distances would be measured twice. Points that all coincide have no directions.
    """
    if axes.is_complete or not axes.is_isometry or axes.basis.size == 0:
        return engine.index(cloud, k)
    inner = engine.index(cloud @ axes.basis, k)
    return RotatedIndex(inner, cloud, axes.basis, inner.rows_per_call, inner.parallel)


def rotation_of(index: NeighborIndex) -> FloatArray | None:
    """Return the directions that an index searches along, if it was turned."""
    return index.rotation if isinstance(index, RotatedIndex) else None


def named(engine: NeighborSearch) -> str:
    """Return an engine's name, and who works inside it."""
    inner = getattr(engine, "inner", None)
    return type(engine).__name__ + ("" if inner is None else f"({type(inner).__name__})")


#: What `search` may be called.
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
        "`search` must be an engine or the name of one.",
        received=repr(search),
        because="An engine has a method `index(cloud, k)`, see vbdm.search.NeighborSearch.",
        hint="Choose one of: " + ", ".join(map(repr, ENGINES)) + ".",
    )
