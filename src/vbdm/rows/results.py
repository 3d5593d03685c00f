"""Arrays in blocks as their user sees them: in the caller's order, as arrays of Dask or Zarr.

Nothing is computed or written for this: rows are put in order when they are asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from secrets import token_hex
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.threads import slices
from .block_array import BlockArray
from .dask import OnDask, is_future
from .disk import OnDisk

#: Fewest rows in a chunk of an array of Dask or Zarr.
ROWS_PER_CHUNK = 1 << 17


def in_callers_order(inside: BlockArray, where: NDArray[np.intp]) -> Any:
    """Return an array of the rows `where` of a block array, of the kind that suits its place.

    Parameters
    ----------
    inside : BlockArray
        The values, (M, …), in the order inside.
    where : (N,) int array
        The row inside of each of the caller's rows; copies of a point name the same row.

    Returns
    -------
    array
        NumPy's, of blocks in memory; on disk, one of Zarr, for reading; on a cluster, one of Dask.
        Where zarr is not installed, or older than version 3, blocks on disk give None.
    """
    place = inside.rows.place
    if isinstance(place, OnDask):
        return as_dask(inside, where, place)
    if isinstance(place, OnDisk):
        try:
            from .zarr_array import as_zarr
        except ImportError:
            return None
        return as_zarr(inside, where, rows_per_chunk(inside, len(where)))
    return inside.some_rows(where)


def rows_per_chunk(inside: BlockArray, n_rows: int) -> int:
    """Return the number of rows in a chunk: no more chunks than blocks, and none too small."""
    return max(1, min(n_rows, max(ROWS_PER_CHUNK, -(-n_rows // inside.rows.n_blocks))))


def as_dask(inside: BlockArray, where: NDArray[np.intp], place: OnDask) -> Any:
    """Return an array of Dask; its tasks take rows from the blocks, which it keeps alive."""
    from dask.array import Array

    name = f"in-callers-order-{token_hex(8)}"
    size = rows_per_chunk(inside, len(where))
    n_columns = inside.shape[1:]
    tasks: dict[Any, Any] = {handle.key: handle for handle in inside.handles if is_future(handle)}
    starts = inside.rows.partition.starts
    for chunk, rows in enumerate(slices(len(where), size)):
        wanted = where[rows]
        kept = place.keep(chunk % inside.rows.n_blocks, wanted)
        tasks |= {kept.key: kept} if is_future(kept) else {}
        pieces = []
        for block in np.unique(inside.rows.partition.block_of(wanted)):
            pieces.append((f"rows-of-{name}", chunk, int(block)))
            limits = int(starts[block]), int(starts[block + 1])
            tasks[pieces[-1]] = (picked, reference(inside.handles[block]), reference(kept), *limits)
        kind = n_columns, inside.dtype
        tasks[(name, chunk, *(0 for _ in n_columns))] = (
            put_together,
            reference(kept),
            starts,
            kind,
            pieces,
        )
    chunks = tuple(rows.stop - rows.start for rows in slices(len(where), size))
    return Array(tasks, name, (chunks, *((n,) for n in n_columns)), dtype=inside.dtype)


def reference(handle: Any) -> Any:
    """Return what stands for a handle in a graph of tasks: a key, or the value itself."""
    return handle.key if is_future(handle) else handle


def picked(values: NDArray[Any], where: NDArray[np.intp], start: int, stop: int) -> NDArray[Any]:
    """Return the rows of a block, which begins at `start`, that are wanted."""
    return np.asarray(values[where[(where >= start) & (where < stop)] - start])


def put_together(
    where: NDArray[np.intp],
    starts: NDArray[np.intp],
    kind: tuple[tuple[int, ...], np.dtype[Any]],
    pieces: Sequence[NDArray[Any]],
) -> NDArray[Any]:
    """Return the rows of a chunk from what the blocks gave, in the order of the blocks."""
    result = np.empty((len(where), *kind[0]), dtype=kind[1])
    block_of = np.searchsorted(starts, where, side="right") - 1
    for block, piece in zip(np.unique(block_of), pieces, strict=True):
        result[block_of == block] = piece
    return result
