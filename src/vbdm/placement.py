"""Where the rows of large arrays are to live: in memory, on disk, on the workers of Dask.

`vbdm.estimate_operator` takes one of these objects as `run`, or a word for it: "memory",
"disk", a client of Dask or the address of its scheduler. "auto" is memory as long as the estimate
fits, and disk beyond; for an array of Dask it is the current client.

>>> points = vbdm.datasets.circle(4000, random_state=0).points
>>> op = vbdm.estimate_operator(points, run=vbdm.placement.Disk(blocks=4))
>>> op.settings.placement
'4 blocks on disk'
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from .base.arrays import shape_of
from .base.checks import Kind, a_count, a_kind, a_path, is_auto, is_whole, or_none
from .base.memory import POINTS_PER_BLOCK, TREE_COLUMNS, available_memory, memory_at_least
from .errors import InputError
from .rows.block_array import Rows
from .rows.cluster import current_client
from .rows.disk import OnDisk
from .rows.place import Partition
from .rows.sources import Chunks, is_dask_array, open_points
from .rows.workers import start_workers

__all__ = ["Dask", "Disk", "Memory", "Placement", "start_workers"]

#: Fewest points per block that is made without being asked for: smaller ones are mostly surface.
FEWEST_PER_BLOCK = 10_000
#: Blocks per worker of Dask, so that work can be shared out evenly.
PER_WORKER = 8
#: The address of a scheduler: a protocol and what it takes, or a host and its port.
ADDRESS = re.compile(r"(tcp|tls|ws|wss|ucx|inproc)://.+|[\w.-]+:\d+")
#: Where rows live in the ordinary case, in words.
IN_MEMORY = "in memory"
#: What `vbdm.estimate_operator` takes for the words.
WORDS = ("auto", "memory", "disk")


@runtime_checkable
class Placement(Protocol):
    """What `placement` may be: an object that says where so many rows live."""

    def rows(self, n_points: int, n_columns: int, effort: float = 1.0) -> Rows | None:
        """Return the blocks of so many points and their place; None: one block in memory.

        The effort multiplies the number of pairs, for a look at the room that there is.
        """


@dataclass(frozen=True)
class Memory:
    """All rows in the memory of this process.

    Parameters
    ----------
    blocks : int
        Number of blocks. One is the ordinary case; more are of use to those who want to see that
        blocks change nothing.
    """

    blocks: int = 1

    def __post_init__(self) -> None:
        a_count(1, 2**20)(self.blocks, "blocks")

    def rows(self, n_points: int, n_columns: int, effort: float = 1.0) -> Rows | None:
        """Return the blocks, or None for a single one."""
        return None if self.blocks == 1 else Rows(Partition.into(n_points, self.blocks))


@dataclass(frozen=True)
class Disk:
    """Rows in a scratch file without a name: nothing is left behind, not even after a crash.

    Parameters
    ----------
    scratch : str or path, optional
        Folder on a disk with enough space; by default the system's folder for temporary files
        (the environment variable TMPDIR), which on some systems is memory.
    blocks : int or "auto"
        Number of blocks; by default one for every 60,000 points.
    """

    scratch: str | os.PathLike[str] | None = None
    blocks: int | str | None = "auto"

    def __post_init__(self) -> None:
        or_none(blocks_or_auto)(self.blocks, "blocks")
        or_none(a_scratch)(self.scratch, "scratch")

    def rows(self, n_points: int, n_columns: int, effort: float = 1.0) -> Rows:
        """Return the blocks, and open the scratch file."""
        blocks: Any = self.blocks
        if not is_whole(blocks):
            blocks = not_too_small(n_points, -(-n_points // POINTS_PER_BLOCK))
        place = OnDisk(self.scratch)
        place.scratch.check_space(memory_at_least(n_points, n_columns, effort))
        return Rows(Partition.into(n_points, blocks), place)


@dataclass(frozen=True)
class Dask:
    """Rows in the memory of Dask's workers, on this machine or on others.

    Parameters
    ----------
    client : distributed.Client, str or None
        The client, or the address of its scheduler; None: the current client.
    blocks : int or "auto"
        Number of blocks; by default eight for each worker.
    store : str or path, optional
        A folder that all workers can write to. Distances and kernel are kept there: a lost worker
        then costs less, and the same estimate begun again finds what it had. Files are named after
        all that they were computed from; delete them when you like.
    """

    client: Any = None
    blocks: int | str | None = "auto"
    store: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        or_none(blocks_or_auto)(self.blocks, "blocks")
        or_none(a_client)(self.client, "client")
        # Whether workers can write there is asked later.
        or_none(a_path)(self.store, "store")

    def __deepcopy__(self, memo: Any) -> Dask:
        """Return the object itself: scikit-learn copies parameters, and clients resist."""
        return self

    def rows(self, n_points: int, n_columns: int, effort: float = 1.0) -> Rows:
        """Return the blocks, after the workers have been looked at."""
        from .rows.cluster import check_memory, client_of, workers_of
        from .rows.dask import OnDask
        from .rows.workers import Store

        client: Any = client_of(self.client)
        blocks: Any = self.blocks
        if not is_whole(blocks):
            blocks = not_too_small(n_points, PER_WORKER * len(workers_of(client)))
        partition = Partition.into(n_points, blocks)
        n_blocks = partition.n_blocks
        check_memory(client, memory_at_least(n_points, n_columns, effort) // n_blocks, n_blocks)
        store = None if self.store is None else Store(self.store)
        if store is not None:
            store.check(client)
        return Rows(partition, OnDask(client, partition, store))


def as_placement(value: Any) -> Placement | None:
    """Return the placement that a user asks for, by object, word, client or address; None: auto.

    Examples
    --------
    >>> as_placement("disk"), as_placement("tcp://node7:8786").client
    (Disk(scratch=None, blocks='auto'), 'tcp://node7:8786')
    """
    if is_auto(value):
        return None
    if isinstance(value, str):
        if value in WORDS:
            return Memory() if value == "memory" else Disk()
        if ADDRESS.fullmatch(value):
            return Dask(value)
    elif is_client(value):
        return Dask(value)
    elif isinstance(value, Placement) and not isinstance(value, type):
        return value
    raise InputError(
        f"`placement` says where the rows live; received {repr(value)[:80]}. It is 'auto', "
        "'memory', 'disk', a client of Dask, the address of a scheduler, or an object of "
        "vbdm.placement. Pass run='disk', or vbdm.placement.Disk(scratch='/some/folder')."
    )


def placed_points(
    X: Any, placement: Placement | None, effort: float = 1.0, *, may_move: bool = True
) -> tuple[Any, Placement | None]:
    """Return the points, read if they are not in memory, and where their rows are to live.

    Parameters
    ----------
    X : array, path, or array of Zarr, HDF5 or Dask
        The points; anything else comes back as it is.
    placement : Placement or None
        What the user asked for; None: chosen here.
    effort : float
        Multiplies the numbers of pairs.
    may_move : bool
        Whether the estimate can do with rows elsewhere than in memory.
    """
    source = open_points(X)
    if placement is None and may_move:
        placement = automatic(X, shape_of(source), effort)
    if isinstance(source, Chunks):
        elsewhere = not (placement is None or isinstance(placement, Memory))
        folder = getattr(placement, "scratch", None)
        source = source.checked().gathered(folder, mapped=elsewhere)
    return source, placement


def automatic(X: Any, shape: tuple[int, ...], effort: float) -> Placement | None:
    """Return the current client for an array of Dask, disk for points that are too many, or None.

    What memory needs at least is known by the number of points; what it needs exactly, when the
    pairs have been counted.
    """
    client = current_client() if is_dask_array(X) else None
    if client is not None:
        return Dask(client)
    if len(shape) != 2 or shape[1] > TREE_COLUMNS or shape[0] < FEWEST_PER_BLOCK:
        return None
    free = available_memory()
    return Disk() if free is not None and memory_at_least(*shape, effort) > free else None


def is_client(value: Any) -> bool:
    """Tell whether this is a client of Dask, without loading Dask."""
    return any(
        kind.__name__ == "Client" and kind.__module__.startswith("distributed.")
        for kind in type(value).__mro__
    )


def not_too_small(n_points: int, n_blocks: int) -> int:
    """Return the number of blocks, or fewer where they would be too small to be worth it."""
    return max(1, min(n_blocks, n_points // FEWEST_PER_BLOCK))


def in_words(rows: Rows | None) -> str:
    """Return where rows live, for settings and reports: "16 blocks on disk"."""
    if rows is None:
        return IN_MEMORY
    return f"{rows.n_blocks} block{'s' * (rows.n_blocks > 1)} {rows.place.words}"


#: A number of blocks, or what leaves it open.
blocks_or_auto: Kind[Any] = a_kind(
    lambda value: value if is_auto(value) or (is_whole(value) and 1 <= value <= 2**20) else None,
    "an integer from 1 to 1048576, or 'auto'",
)


def writable(folder: Any) -> Any:
    """Return a folder that is there, and can be written to; else None."""
    try:
        return folder if Path(folder).is_dir() and os.access(folder, os.W_OK) else None
    except (TypeError, ValueError, OSError):
        return None


a_scratch: Kind[Any] = a_kind(
    writable, "a folder that can be written to", "Make it first, on a disk with much free space."
)
a_client: Kind[Any] = a_kind(
    lambda value: value if isinstance(value, str) or is_client(value) else None,
    "a client of Dask, or the address of its scheduler",
    "None stands for the current client.",
)
