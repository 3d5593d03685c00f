"""Blocks on the workers of a Dask cluster.

Every value is the result of a task, and tasks can be repeated: if a worker is lost, others compute
again what it kept. So a task gets the values that it may change as copies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from itertools import islice
from secrets import token_hex
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ..base.threads import WORKER, one_blas_thread, slices
from ..base.wording import counted
from ..errors import ClusterError
from .block_array import BlockArray
from .cluster import LOOK, Homes, failure_in_words
from .place import Partition, not_in_blocks, results_of
from .workers import Store, from_store

#: Arrays of at least this many bytes become tasks of their own; smaller ones travel with others.
SMALL = 1 << 16
#: Most values that are fetched at a time, and the seconds after which workers are looked for.
AT_ONCE, PATIENCE = 16, 20.0
#: Bytes of a task above which Dask would warn: our arrays are meant to be sent.
LARGEST_TASK = 1 << 60
#: Fewest rows in a chunk of an array of Dask.
ROWS_PER_CHUNK = 1 << 17


class OnDask:
    """Blocks on the workers of a cluster, each at a home of its own; neighbours share workers."""

    at_once = False

    def __init__(self, client: Any, partition: Partition, store: Store | None = None) -> None:
        self.client, self.store = client, store
        self.homes = Homes(client, partition)
        self.known: WeakValueDictionary[str, Any] = WeakValueDictionary()

    def __reduce__(self) -> Any:
        """Refuse to be pickled: the connection belongs to this process."""
        raise not_in_blocks(
            "A copy by pickle",
            "a result whose rows are on a cluster",
            "Its method `save` writes a result to a file of its own.",
        )

    @property
    def words(self) -> str:
        """Where the rows are, in words."""
        return f"on {counted(self.homes.n_workers, 'worker')}"

    def run(
        self,
        block: int,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        n_results: int = 1,
        n_written: int = 0,
    ) -> list[Any]:
        """Send a task to the block's home."""
        return self.run_all(function, {block: args}, n_results, n_written)[0]

    def run_all(
        self,
        function: Callable[..., Any],
        args: Mapping[int, tuple[Any, ...]],
        n_results: int = 1,
        n_written: int = 0,
    ) -> list[list[Any]]:
        """Send tasks of several blocks, those of a worker together: sending takes longest.

        Of several results, each gets a small task of its own. Whoever needs one of them would
        otherwise be sent all, and keep them.
        """
        Task, TaskRef, parse_input, _ = parts_of_dask()
        name, token = getattr(function, "__name__", "task"), token_hex(8)
        n_all = n_written + n_results
        if n_all == 0:
            return [[] for _ in args]
        tasks: dict[str, dict[str, Any]] = {}
        keys: dict[int, list[str]] = {}
        for block, own in args.items():
            key, graph = f"{name}-{token}-{block}", tasks.setdefault(self.homes.of(block), {})
            call: tuple[Any, ...] = (function, n_results, n_written, *own)
            if self.store is not None and getattr(function, "worth_keeping", False):
                path = self.store.path(function, own, n_results)
                call = (from_store, n_results, 0, path, function, n_results, *own)
            graph[key] = Task(key, call_on_worker, *map(parse_input, call))
            keys[block] = [key] if n_all == 1 else [f"{key}-{entry}" for entry in range(n_all)]
            for entry, part in enumerate(keys[block] if n_all > 1 else ()):
                graph[part] = Task(part, entry_of, TaskRef(key), entry)
        futures: dict[str, Any] = {}
        for home, graph in tasks.items():
            wanted = [key for block in keys.values() for key in block if key in graph]
            futures |= zip(wanted, self.sent(home, graph, wanted), strict=True)
        self.known.update(futures)
        return [[futures[key] for key in block] for block in keys.values()]

    def sent(self, home: str, graph: dict[str, Any], wanted: list[str]) -> list[Any]:
        """Send tasks to a worker, and return the futures of those that are wanted."""
        from dask import config

        *_, LLGExpr = parts_of_dask()
        with self.stopping(), config.set({LARGE_TASKS: LARGEST_TASK}):
            found = self.client.get(
                LLGExpr(graph, _determ_token=token_hex(16)), wanted, sync=False,
                workers=[home], allow_other_workers=True, fifo_timeout="100 ms",
            )  # fmt: skip
        return list(found)

    def keep(self, block: int, value: Any) -> Any:
        """Send an array to the block's home, as a task that holds it; small ones stay here."""
        large = isinstance(value, np.ndarray) and value.nbytes >= SMALL
        return self.run(block, itself, (value,))[0] if large else value

    def share(self, value: Any) -> Any:
        """Send a large array once for all blocks."""
        return self.keep(0, value)

    def read(self, handles: Iterable[Any]) -> Iterator[Any]:
        """Fetch values in order, a bounded number at a time."""
        remaining = iter(handles)
        while some := list(islice(remaining, AT_ONCE)):
            values = iter(self.fetched([handle for handle in some if is_future(handle)]))
            yield from (next(values) if is_future(handle) else handle for handle in some)

    def fetched(self, futures: list[Any]) -> list[Any]:
        """Return the values of futures, also if a worker is lost while it sends them.

        Dask would wait for it without an end. So every now and then the workers are looked for, and
        what they lost is waited for again; the next time more patience is shown, since what is sent
        may be large.
        """
        patience = PATIENCE
        while True:
            for _ in self.finished(futures):
                pass
            try:
                with self.stopping():
                    found = self.client.sync(
                        self.client._gather, futures, callback_timeout=patience
                    )
                return list(align(found))
            except TimeoutError:
                self.homes.look()
                patience *= 2

    def finished(self, handles: Sequence[Any]) -> Iterator[Any]:
        """Yield futures as they are ready, in any order."""
        from distributed import wait

        waiting = {handle for handle in handles if is_future(handle)}
        while waiting:
            try:
                with self.stopping(), self.client.as_current():
                    ready, waiting = wait(waiting, timeout=LOOK, return_when="FIRST_COMPLETED")
            except TimeoutError:
                self.homes.look()
                continue
            failed = [future for future in ready if future.status == "error"]
            with self.stopping():
                self.client.gather(failed)  # raises the error, before others fail, too
            yield from ready

    @contextmanager
    def stopping(self) -> Iterator[None]:
        """Leave nothing at work behind an error or Ctrl-C, and say in words what failed."""
        try:
            yield
        except TimeoutError:
            raise
        except BaseException as error:
            unfinished = [future for future in self.known.values() if not future.done()]
            if unfinished and self.client.status == "running":
                self.client.cancel(unfinished, force=True)
            failure = failure_in_words(error, self.homes)
            if failure is None:
                raise
            raise failure from error


#: The setting of Dask for the size of a task at which it warns.
LARGE_TASKS = "distributed.admin.large-graph-warning-threshold"


def parts_of_dask() -> tuple[Any, Any, Any, Any]:
    """Return the parts of Dask that tasks are made of; they are not public, and may move."""
    try:
        from dask._expr import LLGExpr
        from dask._task_spec import Task, TaskRef, parse_input
    except ImportError as error:
        raise ClusterError(
            f"Tasks cannot be made for this Dask; received dask {version('dask')}: {error}. "
            "Install that of pip install 'vbdm[cluster]', here and on all workers."
        ) from error
    return Task, TaskRef, parse_input, LLGExpr


def is_future(handle: Any) -> bool:
    """Tell whether a handle stands for a value on the cluster."""
    from distributed import Future

    return isinstance(handle, Future)


def call_on_worker(function: Callable[..., Any], n_results: int, n_written: int, *args: Any) -> Any:
    """Call a function on a worker: one value, or a tuple of what was changed and what it gave.

    The worker has other blocks for its other cores: the function keeps to one.
    """
    WORKER.busy = True
    try:
        with one_blas_thread():
            changed = [np.array(value) for value in args[:n_written]]
            others = align(args[n_written:])
            found = results_of(function(*changed, *others), n_results)
    finally:
        WORKER.busy = False
    entries = (*changed, *found)
    return entries[0] if len(entries) == 1 else entries


def align(value: Any) -> Any:
    """Return a value with every array at an address that its numbers can be computed at.

    What was sent may begin anywhere; of such arrays NumPy makes copies at every step, and passes
    others to BLAS than usual: the last bits of a product would differ. It may also be closed to
    writing, for which compiled code would be compiled anew.
    """
    if isinstance(value, np.ndarray):
        return np.require(value, requirements=["A", "W"])
    if type(value) in (list, tuple):
        return type(value)(align(entry) for entry in value)
    return value


def entry_of(entries: tuple[Any, ...], entry: int) -> Any:
    """Return one of several results."""
    return entries[entry]


def itself(value: Any) -> Any:
    """Return the value: the task that holds an array."""
    return value


def as_dask(inside: BlockArray, where: NDArray[np.intp]) -> Any:
    """Return an array of Dask of the rows `where` of a block array on a cluster.

    Its tasks take rows from the blocks, which it keeps alive; copies of a point name the same row.
    """
    from dask.array import Array

    place = inside.rows.place

    name = f"in-callers-order-{token_hex(8)}"
    # No more chunks than blocks, and none too small.
    size = max(1, min(len(where), max(ROWS_PER_CHUNK, -(-len(where) // inside.rows.n_blocks))))
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
            tasks[pieces[-1]] = (
                pick_rows,
                reference(inside.handles[block]),
                reference(kept),
                *limits,
            )
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


def pick_rows(values: NDArray[Any], where: NDArray[np.intp], start: int, stop: int) -> NDArray[Any]:
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
