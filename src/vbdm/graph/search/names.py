"""Engines by name."""

from __future__ import annotations

from typing import Any

from ...base.errors import bad_input
from .approximate import PyNNDescent
from .auto import Auto
from .exact import BruteForce, KDTree, NeighborSearch
from .projected import Projected

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
