"""The order inside: copies merged, points sorted; and the way back to the caller's rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_array, diags_array

from ..base.arrays import FloatArray, beside_array, contiguous, frozen, is_elsewhere, to_host
from ..rows.block_array import BlockArray, Tall
from ..rows.dask import OnDask, as_dask
from ..rows.disk import OnDisk


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows that are equal: merged into one point with a weight, and expanded again.

    Copies carry no news about distances, but they do about density: so geometry (neighbours,
    widths, dimension, ε) is read from the distinct points, and every sum over samples counts a
    point as often as it occurs. A point is left out of its own sums with all its copies, so a cloud
    in which every point occurs twelve times gives what the distinct points give.
    """

    point_of: NDArray[np.intp]  # (N,): index of the distinct point of each row
    first: NDArray[np.intp]  # (M,): index of the first row that holds each distinct point
    counts: FloatArray  # (M,): number of rows that hold each distinct point

    def average(self, values: NDArray[Any]) -> Any:
        """Return the mean over the copies of each point."""
        columns = to_host(values).reshape(len(values), -1)
        means = np.asarray(self.averaging @ columns).reshape(len(self.counts), *values.shape[1:])
        return beside_array(means, values)

    @property
    def averaging(self) -> Any:
        """The matrix (M, N) that takes means over copies, in this machine's memory."""
        own = self.host
        n = len(own.point_of)
        share = 1 / own.counts[own.point_of]
        return csr_array((share, (own.point_of, np.arange(n))), shape=(len(own.counts), n))

    @property
    def host(self) -> Copies:
        """The same in this machine's memory."""
        return Copies(*to_host((self.point_of, self.first, self.counts)))


def find_copies(points: FloatArray) -> Copies | None:
    """Return which rows are equal, or None if all are distinct.

    Rows are hashed and the hashes sorted: much faster than sorting rows. Equal hashes are checked.
    """
    keys = row_hashes(points)
    in_order = np.sort(keys)
    if (in_order[1:] != in_order[:-1]).all():
        return None
    del in_order
    # Points are numbered by their keys, in ascending order.
    ranked = np.argsort(keys, kind="stable")
    new = np.empty(len(keys), dtype=np.bool_, like=keys)
    new[:1] = True
    new[1:] = keys[ranked[1:]] != keys[ranked[:-1]]
    start = np.flatnonzero(new)
    point_of = np.empty_like(ranked)
    point_of[ranked] = np.cumsum(new) - 1
    often = np.diff(start, append=len(keys)).astype(np.float64)
    found = Copies(point_of, ranked[start], often)
    if np.array_equal(points[found.first[found.point_of]], points):
        return found
    # Two different rows with one hash, once in 10^8 clouds of 10^5 points: sort the rows.
    _, first, point_of, counts = np.unique(
        to_host(points), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    if len(first) == len(points):
        return None
    merged = point_of.reshape(-1), first, counts.astype(np.float64)
    return Copies(*beside_array(merged, points))


def row_hashes(points: FloatArray) -> NDArray[np.uint64]:
    """Return a 64-bit number per row; equal rows have equal numbers."""
    keys = np.zeros(len(points), dtype=np.uint64, like=points)
    for column in points.T:
        # Adding 0 makes -0 and 0 the same; the multipliers are those of splitmix64.
        keys ^= contiguous(column + 0.0).view(np.uint64)
        keys ^= keys >> np.uint64(30)
        keys *= np.uint64(0xBF58476D1CE4E5B9)
        keys ^= keys >> np.uint64(27)
        keys *= np.uint64(0x94D049BB133111EB)
        keys ^= keys >> np.uint64(31)
    return keys


@dataclass(frozen=True, eq=False)
class Order:
    """Two steps from the caller's rows to the points inside: copies are merged, then points sorted.

    Inside, points stand in the order of a k-d tree, so that neighbours lie close in memory and
    matrix products run several times faster. Whatever a user sees is in the caller's order.
    """

    # (M,): index of the distinct point at each place of the order inside. It lives where the points
    # do.
    permutation: NDArray[np.intp]
    # How the caller's N rows were merged into M distinct points; None if they were not, M = N
    copies: Copies | None = None

    @property
    def n_points(self) -> int:
        """Number M of distinct points."""
        return len(self.permutation)

    @property
    def n_rows(self) -> int:
        """Number N of rows that the caller passed: all copies count."""
        return self.n_points if self.copies is None else len(self.copies.point_of)

    @cached_property
    def counts(self) -> FloatArray | None:
        """Number of the caller's rows that hold each point inside, (M,); None if one each."""
        return None if self.copies is None else frozen(self.copies.counts[self.permutation])

    @property
    def caller_rows(self) -> NDArray[np.intp]:
        """Index of the caller's row of each point inside, (M,); of copies, the first."""
        return self.permutation if self.copies is None else self.copies.first[self.permutation]

    def inside_rows(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the places in the order inside of some of the caller's rows.

        Rows that are named by a NumPy array have their places in one, wherever the points live.
        """
        found = self.places[rows if self.copies is None else self.copies.point_of[rows]]
        return found if is_elsewhere(rows) else to_host(found)

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """The place in the order inside of each distinct point, (M,)."""
        result = np.empty_like(self.permutation)
        result[self.permutation] = np.arange(self.n_points, like=result)
        return frozen(result)

    @cached_property
    def host(self) -> Order:
        """The same order, in this machine's memory."""
        if not is_elsewhere(self.permutation):
            return self
        return Order(to_host(self.permutation), self.copies and self.copies.host)

    def to_caller(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring values (M, …) from the order inside into the caller's order, (N, …).

        They stay where they are: in this machine's memory, or on a device.
        """
        if isinstance(values, np.ndarray) and self is not self.host:
            return self.host.to_caller(values)
        result = np.empty_like(values)
        result[self.permutation] = values
        return result if self.copies is None else result[self.copies.point_of]

    def to_inside(self, values: NDArray[Any]) -> NDArray[Any]:
        """Bring values (N, …) from the caller's order into the order inside, (M, …).

        Values at the copies of a point are averaged. The result lives where the points do.
        """
        distinct = values if self.copies is None else self.copies.average(values)
        moved: NDArray[Any] = beside_array(distinct, self.permutation)
        return moved[self.permutation]

    def matrix_to_caller(self, matrix: Any, symmetric: bool = False) -> Any:
        """Return the matrix (M, M) with rows and columns in the caller's order, (N, N), as CSR.

        All copies of a point get its row, and its column is divided equally among them. If
        `symmetric`, rows and columns are both divided by the square root of the number of copies.
        """
        coo, place, copies = matrix.tocoo(), self.host.permutation, self.host.copies
        moved = csr_array((coo.data, (place[coo.row], place[coo.col])), shape=matrix.shape)
        if copies is not None:
            share, expanded = copies.averaging, copies.averaging.T
            root = diags_array(copies.counts ** (0.5 if symmetric else 1.0))
            moved = csr_array(expanded @ root @ moved @ (root @ share if symmetric else share))
        moved.sort_indices()
        return moved


@dataclass(frozen=True, eq=False)
class InCallerOrder(NDArrayOperatorsMixin):
    """An array (N,) or (N, n) whose rows stand in the caller's order, and live in blocks.

    `array[rows]` and `array[:, j]` fetch some rows, or a column, as NumPy arrays; and
    `np.asarray(array)` fetches everything, as does arithmetic.
    """

    # The values in the order inside, (M,) or (M, n).
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
        rows, columns = key if isinstance(key, tuple) else (key, ...)
        if isinstance(rows, slice) and rows == slice(None):
            inside = self.inside if columns is ... else self.inside[:, columns]
            return self.order.to_caller(np.asarray(inside))
        wanted = np.arange(len(self))[rows]
        values = self.inside[self.order.inside_rows(np.atleast_1d(wanted))]
        values = values if columns is ... else values[:, columns]
        return values if wanted.ndim else values[0]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        whole = (np.asarray(x) if isinstance(x, InCallerOrder) else x for x in inputs)
        return getattr(ufunc, method)(*whole, **options)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        return self.order.to_caller(np.asarray(self.inside, dtype=dtype))

    def __repr__(self) -> str:
        """Say how large it is, and where it lives."""
        return f"array of shape {self.shape}, {self.inside.rows.place.words}"


def as_caller_sees(inside: BlockArray, order: Order) -> Any:
    """Return results in blocks, (M,) or (M, n), in the caller's order, as users get them.

    Of blocks in memory they are a NumPy array, on a cluster an array of Dask, whose rows are put in
    order when they are asked for, and on disk an `InCallerOrder`.
    """
    place = inside.rows.place
    if isinstance(place, OnDisk):
        return InCallerOrder(inside, order)
    where = order.inside_rows(np.arange(order.n_rows))
    return as_dask(inside, where) if isinstance(place, OnDask) else frozen(inside.some_rows(where))
