"""Learn differential operators from data, with variable bandwidth diffusion kernels.

One walk: points → graph → bandwidth → kernel → operator → spectrum → extension.

>>> import vbdm
>>> sample = vbdm.datasets.sphere(2000, random_state=0)
>>> op = vbdm.estimate_operator(sample.points, "laplacian")
>>> op.spectrum(4).eigenvalues.round(1).tolist()     # truth: 0, -2, -2, -2
[0.0, -2.0, -2.0, -2.0]
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .base.versions import __version__ as __version__

if TYPE_CHECKING:
    from . import datasets, io, plot, report
    from .bandwidth.epsilon_by_slope import Tuning, tune
    from .base import errors, progress, shapes
    from .base.memory import estimate_memory
    from .diffusion_map import DiffusionMap
    from .estimate import estimate_operator
    from .extension.extension import Extension, extend
    from .graph import search
    from .graph.graph import NeighborGraph, neighbors
    from .io import results
    from .io.saved.persistence import load, save
    from .operator import theory
    from .operator.operator import Operator
    from .spectrum import solvers
    from .spectrum.alignment import align
    from .spectrum.limiter import Limiter
    from .spectrum.spectrum import Spectrum
    from .trust.diagnosis import diagnose
    from .trust.lights import Diagnosis
    from .trust.opinions import Opinions, second_opinion
    from .trust.verification import Verification

__all__ = [
    "Diagnosis",
    "DiffusionMap",
    "Extension",
    "Limiter",
    "NeighborGraph",
    "Operator",
    "Opinions",
    "Spectrum",
    "Tuning",
    "Verification",
    "align",
    "datasets",
    "diagnose",
    "errors",
    "estimate_memory",
    "estimate_operator",
    "extend",
    "io",
    "load",
    "neighbors",
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
]

#: Where each public name lives. Nothing is loaded before it is used: ``import vbdm`` is quick.
HOMES = {
    "Diagnosis": "trust.lights",
    "DiffusionMap": "diffusion_map",
    "Extension": "extension.extension",
    "Limiter": "spectrum.limiter",
    "NeighborGraph": "graph.graph",
    "Operator": "operator.operator",
    "Opinions": "trust.opinions",
    "Spectrum": "spectrum.spectrum",
    "Tuning": "bandwidth.epsilon_by_slope",
    "Verification": "trust.verification",
    "align": "spectrum.alignment",
    "diagnose": "trust.diagnosis",
    "estimate_memory": "base.memory",
    "estimate_operator": "estimate",
    "extend": "extension.extension",
    "load": "io.saved.persistence",
    "neighbors": "graph.graph",
    "save": "io.saved.persistence",
    "second_opinion": "trust.opinions",
    "tune": "bandwidth.epsilon_by_slope",
}
#: Modules that are reached from the door although they live in a room.
MODULES = {
    "errors": "base.errors",
    "progress": "base.progress",
    "results": "io.results",
    "search": "graph.search",
    "shapes": "base.shapes",
    "solvers": "spectrum.solvers",
    "theory": "operator.theory",
}
# ``import vbdm.search`` and the like: one short file for each of these modules.
__path__.append(str(Path(__file__).parent / "base" / "aliases"))


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name in HOMES:
        found = getattr(import_module(f".{HOMES[name]}", __name__), name)
    elif name in MODULES or name in __all__:
        found = import_module(f".{MODULES.get(name, name)}", __name__)
    elif name.endswith(("Warning", "Error")):
        # Warnings and errors live in `vbdm.errors`, and are found here, too.
        found = getattr(import_module(".base.errors", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """List the public names, not the modules that happen to be loaded."""
    return sorted([*__all__, "__version__"])
