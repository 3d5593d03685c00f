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
    from .bandwidth import rules
    from .bandwidth.epsilon_by_slope import tune
    from .base import errors, progress, shapes
    from .base.errors import ClockWarning as ClockWarning
    from .base.errors import ClusterError as ClusterError
    from .base.errors import ClusterWarning as ClusterWarning
    from .base.errors import DensityTailWarning as DensityTailWarning
    from .base.errors import DeviceError as DeviceError
    from .base.errors import DisconnectedWarning as DisconnectedWarning
    from .base.errors import EngineWarning as EngineWarning
    from .base.errors import FilterWarning as FilterWarning
    from .base.errors import InputError as InputError
    from .base.errors import NoiseWarning as NoiseWarning
    from .base.errors import OutOfMemoryError as OutOfMemoryError
    from .base.errors import OutsideWarning as OutsideWarning
    from .base.errors import ProjectedWarning as ProjectedWarning
    from .base.errors import RecallWarning as RecallWarning
    from .base.errors import RootWarning as RootWarning
    from .base.errors import SaturatedNeighborsWarning as SaturatedNeighborsWarning
    from .base.errors import ScaleWarning as ScaleWarning
    from .base.errors import ScratchError as ScratchError
    from .base.errors import ShortTimeWarning as ShortTimeWarning
    from .base.errors import SkillWarning as SkillWarning
    from .base.errors import SmallSetWarning as SmallSetWarning
    from .base.errors import SolverError as SolverError
    from .base.errors import SolverWarning as SolverWarning
    from .base.errors import TuningWarning as TuningWarning
    from .base.errors import UnboundedErrorWarning as UnboundedErrorWarning
    from .base.errors import UnreachedWarning as UnreachedWarning
    from .base.errors import UnresolvedWarning as UnresolvedWarning
    from .base.errors import VbdmWarning as VbdmWarning
    from .base.errors import WeakLinkWarning as WeakLinkWarning
    from .base.errors import WeightsWarning as WeightsWarning
    from .base.memory import estimate_disk, estimate_memory
    from .diffusion_map import DiffusionMap
    from .estimate import estimate_operator, scan_epsilon
    from .extension.extension import extend
    from .forecaster import Forecaster
    from .graph import search
    from .graph.build import neighbors
    from .graph.neighbor_graph import NeighborGraph
    from .graph.projection import pca, tica
    from .io import results, single_cell
    from .io.saved.persistence import load, save
    from .operator import theory
    from .operator.operator import Operator
    from .rows import placement
    from .settings.method import Limiter
    from .spectrum import solvers
    from .spectrum.alignment import align
    from .spectrum.spectrum import Spectrum
    from .trust.diagnose import diagnose
    from .trust.second_opinion import second_opinion

__all__ = [
    "DiffusionMap",
    "Forecaster",
    "Limiter",
    "NeighborGraph",
    "Operator",
    "Spectrum",
    "align",
    "datasets",
    "diagnose",
    "errors",
    "estimate_disk",
    "estimate_memory",
    "estimate_operator",
    "extend",
    "io",
    "load",
    "neighbors",
    "pca",
    "placement",
    "plot",
    "progress",
    "report",
    "results",
    "rules",
    "save",
    "scan_epsilon",
    "search",
    "second_opinion",
    "shapes",
    "single_cell",
    "solvers",
    "theory",
    "tica",
    "tune",
]

#: The module of each public name. Nothing is loaded before it is used: ``import vbdm`` is quick.
HOMES = {
    "DiffusionMap": "diffusion_map",
    "Forecaster": "forecaster",
    "Limiter": "settings.method",
    "NeighborGraph": "graph.neighbor_graph",
    "Operator": "operator.operator",
    "Spectrum": "spectrum.spectrum",
    "align": "spectrum.alignment",
    "diagnose": "trust.diagnose",
    "estimate_disk": "base.memory",
    "estimate_memory": "base.memory",
    "estimate_operator": "estimate",
    "scan_epsilon": "estimate",
    "extend": "extension.extension",
    "load": "io.saved.persistence",
    "neighbors": "graph.build",
    "pca": "graph.projection",
    "save": "io.saved.persistence",
    "second_opinion": "trust.second_opinion",
    "tica": "graph.projection",
    "tune": "bandwidth.epsilon_by_slope",
}
#: Modules that have a short name here, such as `vbdm.search`, and where they are.
MODULES = {
    "errors": "base.errors",
    "placement": "rows.placement",
    "progress": "base.progress",
    "results": "io.results",
    "rules": "bandwidth.rules",
    "search": "graph.search",
    "shapes": "base.shapes",
    "single_cell": "io.single_cell",
    "solvers": "spectrum.solvers",
    "theory": "operator.theory",
}
# For statements such as ``import vbdm.search`` there is one short file for each of these modules.
__path__.append(str(Path(__file__).parent / "_aliases"))


def _load(name: str) -> Any:
    """Load a public name when it is first used."""
    if name in HOMES:
        found = getattr(import_module(f".{HOMES[name]}", __name__), name)
    elif name in MODULES or name in __all__:
        found = import_module(f".{MODULES.get(name, name)}", __name__)
    elif name.endswith(("Warning", "Error")):
        # Warnings and errors are in `vbdm.errors`, and can be reached here, too.
        found = getattr(import_module(".base.errors", __name__), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found
    return found


if not TYPE_CHECKING:
    # Hidden from type checkers, which would take any name for a public one.
    __getattr__ = _load


def __dir__() -> list[str]:
    """List the public names, not the modules that happen to be loaded."""
    return sorted([*__all__, "__version__"])
