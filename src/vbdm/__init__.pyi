from . import (
    datasets,
    errors,
    io,
    placement,
    plot,
    progress,
    report,
    results,
    rules,
    search,
    shapes,
    single_cell,
    solvers,
    theory,
)
from .base.memory import estimate_disk, estimate_memory
from .diffusion_map import DiffusionMap
from .errors import InputError as InputError
from .errors import VbdmWarning as VbdmWarning
from .estimate import estimate_operator, scan_epsilon
from .extension.extension import extend
from .forecaster import Forecaster
from .graph.build import neighbors
from .graph.neighbor_graph import NeighborGraph
from .io.saved.persistence import load, save
from .operator.method import Paper, Resolved
from .operator.operator import Operator
from .operator.run import Run
from .prepare.projection import pca, tica
from .spectrum.alignment import align
from .spectrum.spectrum import Spectrum
from .trust.diagnose import diagnose
from .trust.epsilon import second_opinion
from .trust.verification import verify

__version__: str
__all__ = [
    "DiffusionMap",
    "Forecaster",
    "NeighborGraph",
    "Operator",
    "Paper",
    "Resolved",
    "Run",
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
    "verify",
]
