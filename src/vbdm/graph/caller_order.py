"""Arrays in blocks as the caller sees them: in the order of the rows that were passed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..base.arrays import frozen
from ..rows.block_array import BlockArray, Rows, Tall
from ..rows.results import in_callers_order
from .order import Order


@dataclass(frozen=True, eq=False)
class InCallerOrder:
    """An array (N, n) whose rows stand in the caller's order, and live in blocks.

    `array[rows]` and `array[:, j]` fetch some rows, or a column, as NumPy arrays; and
    `np.asarray(array)` fetches everything.

    Attributes
    ----------
    inside : BlockArray
        The values in the order inside, (M, n).
    order : Order
        Conversion between the two orders.
    """

    inside: BlockArray
    order: Order

    @classmethod
    def of(cls, values: Tall, order: Order) -> Any:
        """Return values (M, n) in the caller's order; ordinary arrays as ordinary arrays."""
        return cls(values, order) if isinstance(values, BlockArray) else order.to_caller(values)

    @property
    def shape(self) -> tuple[int, ...]:
        """The whole array's shape."""
        return (self.order.n_rows, *self.inside.shape[1:])

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return self.inside.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.inside.ndim

    def __len__(self) -> int:
        return self.order.n_rows

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, slice(None))
        if isinstance(rows, slice) and rows == slice(None):
            found = self.inside[:, columns]
            return InCallerOrder.of(found, self.order)
        wanted = np.arange(len(self))[rows]
        inside = self.order.inside_rows(np.atleast_1d(wanted))
        values = self.inside[inside][:, columns]
        return values if wanted.ndim else values[0]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self.order.to_caller(np.asarray(self.inside, dtype=dtype))

    def __repr__(self) -> str:
        """Say how large it is, and where it lives."""
        return f"array of shape {self.shape}, {self.inside.rows.place.words}"


def as_caller_sees(inside: BlockArray, order: Order) -> Any:
    """Return results in blocks, (M, n), in the caller's order: as arrays that users know.

    They are arrays of NumPy, Zarr or Dask, by the place of the blocks; or an `InCallerOrder`, where
    blocks are on disk and zarr is not installed.
    """
    found = in_callers_order(inside, order.inside_rows(np.arange(order.n_rows)))
    if found is None:
        return InCallerOrder(inside, order)
    return frozen(found) if isinstance(found, np.ndarray) else found


def as_given_out(values: NDArray[Any], rows: Rows, order: Order) -> Any:
    """Return one number per point, (M,), as results in blocks are; without zarr, as NumPy's."""
    found = as_caller_sees(rows.spread(values), order)
    return frozen(np.asarray(found)) if isinstance(found, InCallerOrder) else found
