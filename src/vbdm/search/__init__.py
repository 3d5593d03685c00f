"""Engines that find the k nearest points, behind one small protocol.

`Auto` is the default; ask it what it would choose and why with ``Auto().choose(points, k)``.
"""

from .auto import Auto, Choice
from .brute import BruteForce
from .directions import Projected
from .exact import KDTree, NeighborIndex, NeighborSearch, PeriodicTree
from .external import MetricSearch, PyNNDescent

__all__ = [
    "Auto",
    "BruteForce",
    "Choice",
    "KDTree",
    "MetricSearch",
    "NeighborIndex",
    "NeighborSearch",
    "PeriodicTree",
    "Projected",
    "PyNNDescent",
]
