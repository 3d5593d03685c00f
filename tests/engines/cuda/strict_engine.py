"""SciPy's engine on arrays that are as strict as a device's: what it returns lives there, too."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from vbdm.base.arrays import to_host
from vbdm.engines.cuda.csr import DeviceCsr
from vbdm.engines.scipy_engine import ScipyEngine
from vbdm.engines.tree import Reach, Tree
from vbdm.search import KDTree, PeriodicTree

from .emulated import EmulatedDevice
from .strict_array import StrictArray


def at_home(value: Any) -> Any:
    """Return an argument as SciPy's engine takes it; NumPy's arrays are refused."""
    if isinstance(value, np.ndarray) and value.ndim:
        raise TypeError("an engine of a device takes its arrays")
    if isinstance(value, DeviceCsr):
        return value.get()
    if isinstance(value, Tree):
        parts = {
            name: at_home(getattr(value, name)) for name in ("columns", "period", "low", "high")
        }
        return replace(value, **parts)
    if isinstance(value, Reach):
        return replace(
            value, tree=at_home(value.tree), rho=at_home(value.rho), widest=at_home(value.widest)
        )
    if isinstance(value, list):
        return [at_home(entry) for entry in value]
    return to_host(value)


def away(value: Any) -> Any:
    """Return a result as a device's engine gives it."""
    if isinstance(value, np.ndarray):
        return StrictArray(value)
    if issparse(value):
        arrays = (StrictArray(part) for part in (value.data, value.indices, value.indptr))
        return DeviceCsr(*arrays, value.shape)
    if isinstance(value, tuple):
        return tuple(away(entry) for entry in value)
    return value


def abroad(name: str) -> Any:
    def call(self: StrictEngine, *args: Any, **kwargs: Any) -> Any:
        out = kwargs.pop("out", None)
        result = away(
            getattr(ScipyEngine(), name)(
                *map(at_home, args), **{key: at_home(value) for key, value in kwargs.items()}
            )
        )
        if out is None:
            return result
        out[...] = result
        return out

    return call


@dataclass(frozen=True)
class StrictEngine:
    """An engine of a device, as far as rooms can tell."""

    credit = ScipyEngine.credit
    device = EmulatedDevice()

    order, count_within, pairs_within, pairs_to = map(
        abroad, ("order", "count_within", "pairs_within", "pairs_to")
    )
    sums_over_cells, parts_of_cells, pieces = map(
        abroad, ("sums_over_cells", "parts_of_cells", "pieces")
    )

    def nearest(self, tree: Tree) -> Any:
        return StrictIndex(tree)

    def multiply(self, matrix: Any, block: Any, left: Any = None, right: Any = None,
                 power: int = 1, diagonal: Any = None, out: Any = None) -> Any:  # fmt: skip
        return abroad("multiply")(self, matrix, block, left, right, power, diagonal, out=out)

    def jacobi(self, matrix: Any, block: Any, added: Any, divisor: Any, out: Any = None) -> Any:
        return abroad("jacobi")(self, matrix, block, added, divisor, out=out)

    def placed(self, points: Any) -> StrictArray:
        return self.device.array(points)


@dataclass(frozen=True, eq=False)
class StrictIndex:
    """The nearest points, by SciPy."""

    tree: Tree
    rows_per_call: int = 1 << 30
    parallel: bool = False
    is_exact: bool = True
    is_measured: bool = False

    def query(self, points: Any, k: int) -> Any:
        points, tree = at_home(points), at_home(self.tree)
        search = PeriodicTree(tree.period) if tree.period.any() else KDTree()
        return away(search.index(np.ascontiguousarray(tree.columns.T), k).query(points, k))
