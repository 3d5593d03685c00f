"""Learn differential operators from data, with variable bandwidth diffusion kernels.

One walk: points → graph → bandwidth → kernel → operator → spectrum.

>>> import vbdm
>>> sample = vbdm.datasets.sphere(2000, random_state=0)
>>> op = vbdm.estimate_operator(sample.points, "laplacian")
>>> op.spectrum(4).eigenvalues.round(1).tolist()     # truth: 0, -2, -2, -2
[0.0, -2.0, -2.0, -2.0]
"""

from importlib import import_module
from typing import Any

from . import (
    datasets,
    memory,
    opinions,
    progress,
    search,
    shapes,
    solvers,
    theory,
    uncertainty,
    verification,
)
from .alignment import align
from .diagnosis import diagnose
from .errors import (
    DensityTailWarning,
    DisconnectedWarning,
    InputError,
    NoiseWarning,
    OutOfMemoryError,
    OutsideWarning,
    RecallWarning,
    SaturatedNeighborsWarning,
    SolverError,
    SolverWarning,
    TuningWarning,
    UnboundedErrorWarning,
    UnresolvedWarning,
    VbdmWarning,
    WeakLinkWarning,
)
from .estimate import estimate_operator
from .extension import Extension, extend
from .graph import NeighborGraph, neighbors
from .lights import Diagnosis
from .limiter import Limiter
from .memory import estimate_memory
from .operator import Operator
from .opinions import Opinions, second_opinion
from .persistence import load, save
from .spectrum import Spectrum
from .tuning import Tuning, tune
from .verification import Verification

__version__ = "0.1.0.dev0"

__all__ = [
    "DensityTailWarning",
    "Diagnosis",
    "DiffusionMap",
    "DisconnectedWarning",
    "Extension",
    "InputError",
    "Limiter",
    "NeighborGraph",
    "NoiseWarning",
    "Operator",
    "Opinions",
    "OutOfMemoryError",
    "OutsideWarning",
    "RecallWarning",
    "SaturatedNeighborsWarning",
    "SolverError",
    "SolverWarning",
    "Spectrum",
    "Tuning",
    "TuningWarning",
    "UnboundedErrorWarning",
    "UnresolvedWarning",
    "VbdmWarning",
    "Verification",
    "WeakLinkWarning",
    "align",
    "datasets",
    "diagnose",
    "estimate_memory",
    "estimate_operator",
    "extend",
    "figures",
    "io",
    "load",
    "memory",
    "neighbors",
    "opinions",
    "plot",
    "progress",
    "report",
    "results",
    "save",
    "search",
    "second_opinion",
    "shapes",
    "solvers",
    "theory",
    "tune",
    "uncertainty",
    "verification",
]


#: What sits at the edge: files and pictures.
LAZY_MODULES = ("figures", "io", "plot", "report", "results")


def __getattr__(name: str) -> Any:
    """Load what needs scikit-learn or sits at the edge when it is first used, not before."""
    if name == "DiffusionMap":
        return import_module(".estimators", __name__).DiffusionMap
    if name in LAZY_MODULES:
        return import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """List the lazy names, too."""
    return sorted([*globals(), "DiffusionMap", *LAZY_MODULES])
