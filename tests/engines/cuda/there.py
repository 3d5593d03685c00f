"""Ordinary results as they would be on a device: the same numbers in arrays of the device.

That is the real one where VBDM_DEVICE=cuda says so; else its arrays are strict.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from scipy.sparse import issparse

from vbdm.base.arrays import is_elsewhere
from vbdm.engines.cuda.availability import the_device
from vbdm.engines.cuda.engine import CudaEngine
from vbdm.engines.sparse import csr
from vbdm.graph.point_set import Distance, PointSet, tree_index
from vbdm.kernel.dimension import Dimension
from vbdm.kernel.tuning import Tuning
from vbdm.operator.record import Settings
from vbdm.spectrum.spectrum import Spectrum
from vbdm.spectrum.vectors import vectors_of

from .emulated import ON_GPU
from .strict_engine import StrictEngine

#: What is small, and stays in this machine's memory.
SMALL = (Settings, Tuning, Dimension, Distance)


@cache
def engine_there() -> Any:
    """Return the engine of the device."""
    return CudaEngine(the_device()) if ON_GPU else StrictEngine()


def there(value: Any) -> Any:
    """Return an operator, a graph, or a part of one, with its arrays on the device."""
    if isinstance(value, SMALL) or is_elsewhere(value):
        return value
    if isinstance(value, np.ndarray):
        return engine_there().device.array(np.array(value, order="C"))
    if issparse(value):
        return csr(*map(there, (value.data, value.indices, value.indptr)), value.shape)
    if hasattr(value, "pairs_to"):
        return engine_there()
    if isinstance(value, PointSet):
        return points_there(value)
    if isinstance(value, Spectrum):
        return spectrum_there(value)
    if type(value) in (tuple, list):
        return type(value)(there(entry) for entry in value)
    if isinstance(value, type) or not is_dataclass(value):
        return value
    result = object.__new__(type(value))
    vars(result).update({one.name: there(getattr(value, one.name)) for one in fields(value)})
    return result


def points_there(points: PointSet) -> PointSet:
    engine, distance = engine_there(), points.distance
    moved = {name: there(getattr(points, name)) for name in ("order", "coordinates", "tree")}
    index = None
    if points.tree is not None:
        index = tree_index(distance.engine(), points.coordinates, 1, engine.nearest(moved["tree"]))
    return replace(points, **moved, engine=engine, index=index)


def results_stay(spectrum: Spectrum) -> Spectrum:
    """Return a spectrum there whose results were asked to stay there, with output="device"."""
    result = there(spectrum)
    settings = replace(result.operator.settings, output="device")
    operator = replace(result.operator, settings=settings)
    return replace(result, operator=operator, eigenfunctions=there(spectrum.eigenfunctions))


def spectrum_there(spectrum: Spectrum) -> Spectrum:
    """Return a spectrum of an operator there; what users see of it is in memory."""
    result = replace(spectrum, operator=there(spectrum.operator))
    vars(result)["inside"] = there(vectors_of(spectrum))
    return result
