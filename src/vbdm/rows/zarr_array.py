"""An array of Zarr over blocks in a scratch file: its chunks are put together as they are read.

The rows stay where they are, in a file without a name, so nothing can be left behind.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.abc.store import OffsetByteRequest, RangeByteRequest, Store, SuffixByteRequest
from zarr.storage import MemoryStore

from .block_array import BlockArray

#: The key under which Zarr looks for the description of an array.
DESCRIPTION = "zarr.json"


def as_zarr(inside: BlockArray, where: NDArray[np.intp], rows_per_chunk: int) -> Any:
    """Return an array of Zarr of the rows `where` of a block array, for reading."""
    shape = (len(where), *inside.shape[1:])
    described = MemoryStore()
    zarr.create_array(
        described, shape=shape, dtype=inside.dtype, chunks=(rows_per_chunk, *shape[1:]),
        compressors=None, filters=None, fill_value=0,
    )  # fmt: skip
    return zarr.open_array(RowsInOrder(inside, where, rows_per_chunk, described), mode="r")


class RowsInOrder(Store):
    """A store of Zarr, for reading, whose chunks are rows of a block array.

    Parameters
    ----------
    inside : BlockArray
        The values.
    where : (N,) int array
        Which of its rows to show, in order.
    rows_per_chunk : int
        Number of rows in a chunk; the last is filled up with zeros, as Zarr wants it.
    described : MemoryStore
        Holds the description of the array.
    """

    supports_writes = supports_deletes = supports_partial_writes = False
    supports_listing = True

    def __init__(
        self, inside: BlockArray, where: NDArray[np.intp], rows_per_chunk: int, described: Any
    ) -> None:
        super().__init__(read_only=True)
        self.inside, self.where, self.rows_per_chunk = inside, where, rows_per_chunk
        self.described = described

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        """Say where the rows live."""
        return f"rows {self.inside.rows.place.words}"

    __str__ = __repr__

    async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
        """Return the description, or the bytes of a chunk; None if there is no such key."""
        if not self.holds(key):
            return await self.described.get(key, prototype, byte_range)
        data = self.chunk(int(key.split("/")[1])).reshape(-1).view(np.uint8)
        return prototype.buffer.from_array_like(data[bytes_of(byte_range, len(data))])

    def chunk(self, number: int) -> NDArray[Any]:
        """Return a chunk."""
        wanted = self.where[number * self.rows_per_chunk :][: self.rows_per_chunk]
        result = np.zeros((self.rows_per_chunk, *self.inside.shape[1:]), self.inside.dtype)
        result[: len(wanted)] = self.inside.some_rows(wanted)
        return result

    def holds(self, key: str) -> bool:
        """Tell whether a key names a chunk of the array."""
        return key in set(self.keys())

    def keys(self) -> Iterable[str]:
        """Return the keys of all chunks."""
        last = "/0" * (self.inside.ndim - 1)
        n_chunks = -(-len(self.where) // self.rows_per_chunk)
        return (f"c/{number}{last}" for number in range(n_chunks))

    async def get_partial_values(self, prototype: Any, key_ranges: Iterable[Any]) -> list[Any]:
        """Return parts of several chunks."""
        asked = [self.get(key, prototype, part) for key, part in key_ranges]
        return list(await asyncio.gather(*asked))

    async def exists(self, key: str) -> bool:
        """Tell whether there is such a key."""
        return key == DESCRIPTION or self.holds(key)

    async def list(self) -> AsyncIterator[str]:
        """Yield all keys."""
        yield DESCRIPTION
        for key in self.keys():
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Yield the keys that begin so."""
        async for key in self.list():
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Yield what stands in a folder: the names behind its own."""
        folder = prefix.rstrip("/") + "/" if prefix else ""
        seen = set()
        async for key in self.list_prefix(folder):
            name = key.removeprefix(folder).partition("/")[0]
            if name not in seen:
                seen.add(name)
                yield name

    async def set(self, key: str, value: Any) -> None:
        """Refuse: the rows are results."""
        self._check_writable()

    async def delete(self, key: str) -> None:
        """Refuse: the rows are results."""
        self._check_writable()


def bytes_of(byte_range: Any, size: int) -> slice:
    """Return the bytes that Zarr asks for."""
    if isinstance(byte_range, RangeByteRequest):
        return slice(byte_range.start, byte_range.end)
    if isinstance(byte_range, OffsetByteRequest):
        return slice(byte_range.offset, None)
    if isinstance(byte_range, SuffixByteRequest):
        return slice(max(0, size - byte_range.suffix), None)
    return slice(None)
