"""The engine of a GPU: the operations of all engines, by kernels of our own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.arrays import BoolArray, FloatArray, IntArray, contiguous
from ...base.references import CUPY, Credit
from ..tree import Reach, Tree
from .device import Device


@dataclass(frozen=True)
class CudaEngine:
    """Kernels that give a leaf of the tree, or a row of a matrix, to a warp of the device.

    Arrays that it is given live on the device, and so do those that it returns.

    Attributes
    ----------
    device : Device
        The device.
    """

    device: Device

    @property
    def credit(self) -> Credit:
        """Name and words of the engine; the device is among these."""
        return Credit(
            "cuda",
            f"kernels of our own on a GPU ({self.device.name}), through CuPy (Okuta et al. 2017)",
            (CUPY,),
        )

    def placed(self, points: Any) -> Any:
        """Return points on the device, in double precision and with contiguous rows."""
        return contiguous(self.device.array(points).astype(np.float64, copy=False))

    def order(self, columns: FloatArray, depth: int) -> Any:
        """Return the points in tree order."""
        from .order import tree_order

        return tree_order(self.device, columns, depth)

    def nearest(self, tree: Tree) -> Any:
        """Return the index that finds nearest points."""
        from .nearest import DeviceIndex

        return DeviceIndex(tree)

    def count_within(self, reach: Reach, leaves: slice) -> Any:
        """Return the number of points within reach of each point of some leaves."""
        from .pairs import count_within

        return count_within(reach, leaves)

    def pairs_within(self, reach: Reach, leaves: slice, n_pairs: int) -> Any:
        """Return the pairs of the points of some leaves."""
        from .pairs import pairs_within

        return pairs_within(reach, leaves, n_pairs)

    def pairs_to(self, reach: Reach, points: FloatArray, rho: FloatArray) -> Any:
        """Return the pairs of new points with the points of the tree."""
        from .pairs import pairs_to

        return pairs_to(reach, points, rho)

    def multiply(
        self,
        matrix: Any,
        block: FloatArray,
        left: FloatArray | None = None,
        right: FloatArray | None = None,
        power: int = 1,
        diagonal: FloatArray | None = None,
        out: FloatArray | None = None,
    ) -> Any:
        """Return a product; rows are summed up in double precision."""
        from .products import product

        return product(matrix, block, left, right, power, diagonal, out=out)

    def jacobi(
        self,
        matrix: Any,
        block: FloatArray,
        added: FloatArray,
        divisor: FloatArray,
        out: FloatArray | None = None,
    ) -> Any:
        """Return (matrix · block + added) / divisor."""
        from .products import product

        return product(matrix, block, added=added, divisor=divisor, out=out)

    def sums_over_cells(self, matrix: Any, factor: FloatArray, labels: IntArray) -> Any:
        """Return diag(f) A diag(f) P as CSR, in single precision."""
        from .cells import sums_over_cells

        return sums_over_cells(matrix, factor, labels)

    def parts_of_cells(
        self,
        links: list[Any],
        labels: IntArray,
        root: FloatArray,
        apart: BoolArray,
        least: float,
    ) -> Any:
        """Return the connected parts of cells."""
        from .cells import parts_of_cells

        return parts_of_cells(links, labels, root, apart, least)

    def pieces(self, matrix: Any, scale: FloatArray, least: float, few: int) -> Any:
        """Return the first point of the piece of each point."""
        from .cells import pieces

        return pieces(matrix, scale, least, few)
