"""Engines that find the k nearest points, behind one small protocol.

`Auto` is the default; ask it what it would choose and why with ``Auto().choose(points, k)``.
"""

from .approximate import PyNNDescent
from .auto import ENGINES, Auto, Choice, as_search
from .brute import BruteForce
from .exact import KDTree, NeighborIndex, NeighborSearch
from .metric import MetricSearch
from .periodic import PeriodicTree
from .projected import Projected

__all__ = [
    "ENGINES",
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
    "as_search",
]
