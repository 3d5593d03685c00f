"""Neighbour engines: who finds the k nearest points, behind one small protocol.

`Auto` is the default; ask it what it would choose and why with ``Auto().choose(points, k)``.
"""

from .auto import Auto, Choice
from .exact import BruteForce, KDTree, NeighborIndex, NeighborSearch

__all__ = ["Auto", "BruteForce", "Choice", "KDTree", "NeighborIndex", "NeighborSearch"]
