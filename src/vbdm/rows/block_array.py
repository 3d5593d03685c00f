"""An array whose rows live in blocks, and the three ways to work on such arrays.

`mapped` makes new arrays, `total` adds up small results in the order of the blocks, `overwrite`
writes over arrays that are there. All three call their function on NumPy arrays: on each block of
rows or, if no argument lives in blocks, once, on the whole arrays. So what is written for one block
runs on all, and ordinary arrays cost nothing.

If the whole arrays live on a device, small NumPy arrays beside them are sent there first, and what
`total` and `each` return comes back as NumPy arrays: sums are small, and worked on here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..base.arrays import FloatArray, beside_array, is_elsewhere, to_host
from ..progress import is_heard, report
from .place import InMemory, Partition, Place


@dataclass(frozen=True, eq=False)
class Rows:
    """Where the rows of large arrays live: the blocks, and who keeps them and works on them."""

    partition: Partition
    place: Place = field(default_factory=InMemory)

    @property
    def n_blocks(self) -> int:
        """Number of blocks."""
        return self.partition.n_blocks

    def spread(self, values: NDArray[Any]) -> BlockArray:
        """Return an array, (M,) or (M, m), in blocks."""
        handles = [
            self.place.keep(block, values[rows])
            for block, rows in enumerate(self.partition.blocks())
        ]
        return BlockArray(self, handles, kind_of(values))

    def run(
        self,
        function: Callable[..., Any],
        *args: Any,
        n_results: int = 1,
        n_written: int = 0,
        stage: str | None = None,
    ) -> list[list[Any]]:
        """Call a function for every block; return lists of handles, one list for each result.

        Arguments that are block arrays, or `PerBlock`, also in lists, are replaced by what belongs
        to the block; others are the same for all.
        """
        place, found = self.place, []
        shared = [place.share(arg) if isinstance(arg, np.ndarray) else arg for arg in args]
        own = (tuple(of_block(arg, block) for arg in shared) for block in range(self.n_blocks))
        if not place.at_once:
            found = place.run_all(function, dict(enumerate(own)), n_results, n_written)
            if stage is not None and is_heard():
                firsts = [handles[0] for handles in found]
                for done, _ in enumerate(place.finished(firsts), start=1):
                    report(stage, done, self.n_blocks)
            return [list(handles) for handles in zip(*found, strict=True)]
        for block, values in enumerate(own):
            found.append(place.run(block, function, values, n_results, n_written))
            if stage is not None:
                report(stage, block + 1, self.n_blocks)
        return [list(handles) for handles in zip(*found, strict=True)]


@dataclass(frozen=True, eq=False)
class PerBlock:
    """One argument for each block: values, or handles of the place."""

    values: Sequence[Any]


@dataclass(frozen=True, eq=False)
class BlockArray:
    """An array (M,) or (M, m) whose rows live in blocks.

    `array[:, columns]` is a block array again, or a NumPy array if `columns` is one number.
    `array[rows]` fetches some rows, and `np.asarray(array)` all of them.
    """

    rows: Rows
    # What stands for the rows of each block.
    handles: list[Any]
    # The shape without its first entry, and the type of the numbers; None: asked for if needed.
    known: tuple[tuple[int, ...], np.dtype[Any]] | None = None

    @cached_property
    def kind(self) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """The shape without its first entry, and the type of the numbers."""
        if self.known is not None:
            return self.known
        place = self.rows.place
        found: tuple[tuple[int, ...], np.dtype[Any]]
        (found,) = place.read(place.run(0, kind_of, (self.handles[0],)))
        return found

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
        return self.kind[1]

    @property
    def shape(self) -> tuple[int, ...]:
        """The whole array's shape."""
        return (self.rows.partition.n_rows, *self.kind[0])

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    def __len__(self) -> int:
        return self.rows.partition.n_rows

    def blocks(self) -> Iterator[NDArray[Any]]:
        """Yield the rows of each block as a NumPy array, which must not be written to."""
        return self.rows.place.read(self.handles)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        result = np.empty(self.shape, dtype=self.dtype if dtype is None else dtype)
        for rows, values in zip(self.rows.partition.blocks(), self.blocks(), strict=True):
            result[rows] = values
        return result

    def __getitem__(self, key: Any) -> Any:
        rows, columns = key if isinstance(key, tuple) else (key, ...)
        if columns is ... or not (isinstance(rows, slice) and rows == slice(None)):
            wanted = np.arange(len(self))[rows]
            values = self.some_rows(np.atleast_1d(wanted))[:, columns]
            return values if wanted.ndim else values[0]
        if isinstance(columns, slice) and columns.indices(self.shape[1]) == (0, self.shape[1], 1):
            return self
        found = mapped(columns_of, self, columns)
        if self.known is not None:
            shape = np.empty((0, *self.known[0]))[:, columns].shape[1:]
            found = BlockArray(self.rows, found.handles, (shape, self.known[1]))
        return np.asarray(found) if isinstance(columns, int | np.integer) else found

    def some_rows(self, rows: NDArray[np.intp]) -> NDArray[Any]:
        """Return some rows, (m,), in the order given."""
        rows = np.asarray(rows)
        partition = self.rows.partition
        # NumPy sorts numbers of one or two bytes in linear time.
        block_of = partition.block_of(rows).astype(np.min_scalar_type(partition.n_blocks))
        result = np.empty((len(rows), *self.kind[0]), dtype=self.dtype)
        by_block = np.argsort(block_of, kind="stable")
        ends = np.searchsorted(block_of, np.arange(1, partition.n_blocks), sorter=by_block)
        wanted = np.split(by_block, ends)
        needed = [block for block, places in enumerate(wanted) if places.size]
        there = [rows[wanted[block]] - partition.starts[block] for block in needed]
        place, handles = self.rows.place, [self.handles[block] for block in needed]
        if place.at_once:
            for block, own, values in zip(needed, there, place.read(handles), strict=True):
                result[wanted[block]] = values[own]
            return result
        # Only the rows that are wanted travel.
        asked = dict(zip(needed, zip(handles, there, strict=True), strict=True))
        found = [handle for (handle,) in place.run_all(rows_of, asked)]
        for block, values in zip(needed, place.read(found), strict=True):
            result[wanted[block]] = values
        return result


#: An array of M rows, as NumPy has it or in blocks.
Tall = FloatArray | BlockArray


def mapped(
    function: Callable[..., Any], *args: Any, n_results: int = 1, stage: str | None = None
) -> Any:
    """Return what a function makes of the rows: an array with as many rows, or several.

    The function may write to no argument, unless that is a NumPy array made for its result.
    """
    rows = rows_among(args)
    if rows is None:
        return function(*in_one_place(args))
    made = rows.run(function, *args, n_results=n_results, stage=stage)
    found = [BlockArray(rows, handles) for handles in made]
    return found[0] if n_results == 1 else tuple(found)


def to_numpy(array: Tall) -> Any:
    """Return an array in blocks as NumPy's; others as they are."""
    return np.asarray(array) if isinstance(array, BlockArray) else array


def of_width(array: Tall, n_columns: int) -> Any:
    """Return an array (M, m) of ordinary numbers with the known m: a place need not be asked."""
    if not isinstance(array, BlockArray):
        return array
    return BlockArray(array.rows, array.handles, ((n_columns,), np.dtype(np.float64)))


def each(function: Callable[..., Any], *args: Any) -> list[Any]:
    """Return a function's small results, one for each block; a list of one for ordinary arrays."""
    rows = rows_among(args)
    if rows is None:
        return [to_host(function(*in_one_place(args)))]
    return list(rows.place.read(rows.run(function, *args)[0]))


def total(function: Callable[..., Any], *args: Any) -> Any:
    """Return the sum of a function's small results, added in the order of the blocks."""
    rows = rows_among(args)
    if rows is None:
        return to_host(function(*in_one_place(args)))
    return in_sum(rows, rows.run(function, *args)[0])


def beside(array: Tall, values: NDArray[Any] | None, *, kept: bool = False) -> Any:
    """Return values of all rows, (M, …), as an argument for functions of the blocks of an array.

    Beside an ordinary array these are the values themselves. If `kept`, they are sent to where the
    blocks are once for all calls that they are an argument of.
    """
    if values is None or not isinstance(array, BlockArray):
        return values
    if kept:
        return PerBlock(array.rows.spread(values).handles)
    return PerBlock([values[rows] for rows in array.rows.partition.blocks()])


def overwrite(
    function: Callable[..., Any], targets: Sequence[Tall], *args: Any, summed: bool = False
) -> tuple[list[Any], Any]:
    """Call a function that writes over its first arguments, `targets`.

    Returns the targets as they are then: those that were passed must not be used any more. If
    `summed`, also the sum of what the function returns; else None.
    """
    rows = rows_among((*targets, *args))
    if rows is None:
        given = in_one_place((*targets, *args))
        return list(given[: len(targets)]), to_host(function(*given))
    found = rows.run(function, *targets, *args, n_results=int(summed), n_written=len(targets))
    arrays = [
        BlockArray(rows, handles, target.known if isinstance(target, BlockArray) else None)
        for handles, target in zip(found, targets, strict=False)
    ]
    return arrays, in_sum(rows, found[-1]) if summed else None


def in_sum(rows: Rows, handles: list[Any]) -> Any:
    """Return the sum of small results, added in the order of the blocks."""
    values = rows.place.read(handles)
    result = next(values)
    for value in values:
        result = result + value
    return result


def in_one_place(args: Sequence[Any]) -> Sequence[Any]:
    """Return the arguments of a function, those in this memory sent to the device of the others."""
    device = next(arrays_elsewhere(args), None)
    return args if device is None else [beside_array(arg, device) for arg in args]


def arrays_elsewhere(args: Sequence[Any]) -> Iterator[Any]:
    """Yield the arrays among arguments, also in lists and tuples, that live on a device."""
    for arg in args:
        if is_elsewhere(arg):
            yield arg
        elif isinstance(arg, list | tuple):
            yield from arrays_elsewhere(arg)


def rows_among(args: Sequence[Any]) -> Rows | None:
    """Return where the block arrays among some arguments live; None if there are none."""
    for arg in args:
        if isinstance(arg, BlockArray):
            return arg.rows
        if isinstance(arg, list | tuple):
            inner = rows_among(arg)
            if inner is not None:
                return inner
    return None


def of_block(arg: Any, block: int) -> Any:
    """Return what belongs to a block of an argument."""
    if isinstance(arg, BlockArray):
        return arg.handles[block]
    if isinstance(arg, PerBlock):
        return arg.values[block]
    if isinstance(arg, list):
        return [of_block(entry, block) for entry in arg]
    return arg


def kind_of(values: NDArray[Any]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Return the shape of an array without its first entry, and its type."""
    return values.shape[1:], values.dtype


def columns_of(values: NDArray[Any], columns: Any) -> NDArray[Any]:
    """Return some columns, as an array of its own with contiguous rows."""
    return np.array(values[:, columns], order="C")


def rows_of(values: NDArray[Any], rows: NDArray[np.intp]) -> NDArray[Any]:
    """Return some rows, as an array of its own."""
    return np.array(values[rows])
