"""Learn differential operators from data, with variable bandwidth diffusion kernels.

One walk: points → graph → bandwidth → kernel → operator → spectrum.

>>> import vbdm
>>> sample = vbdm.datasets.ou(400, sampling="grid")
>>> op = vbdm.estimate_operator(sample.points, "generator", dim=1, epsilon=3e-4, n_neighbors=400)
>>> op.spectrum(3).eigenvalues.round(1).tolist()
[0.0, -1.0, -2.0]
"""

from . import datasets, search, shapes, solvers, theory
from .alignment import align
from .errors import (
    DisconnectedWarning,
    InputError,
    SaturatedNeighborsWarning,
    SolverError,
    TuningWarning,
    UnboundedErrorWarning,
    VbdmWarning,
)
from .estimate import estimate_operator
from .graph import NeighborGraph, neighbors
from .operator import Operator
from .spectrum import Spectrum
from .tuning import Tuning, tune

__version__ = "0.1.0.dev0"

__all__ = [
    "DisconnectedWarning",
    "InputError",
    "NeighborGraph",
    "Operator",
    "SaturatedNeighborsWarning",
    "SolverError",
    "Spectrum",
    "Tuning",
    "TuningWarning",
    "UnboundedErrorWarning",
    "VbdmWarning",
    "align",
    "datasets",
    "estimate_operator",
    "neighbors",
    "search",
    "shapes",
    "solvers",
    "theory",
    "tune",
]
