"""Work on blocks of rows, on all cores.

Threads share out whole blocks: each is computed as it would be alone, so results do not depend, not
even in the last bit, on the number of threads. BLAS does not keep this rule: where a result would
feel it, it is held at one thread (`one_blas_thread`).
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from threading import Lock, local
from typing import Any, TypeVar

import numpy as np

from ..progress import is_heard, report
from .arrays import is_elsewhere

#: Numbers of 8 bytes in one block, chosen so that a block fits the cache of a core.
IN_CACHE = 1 << 17


def slices(n_rows: int, size: int) -> Iterator[slice]:
    """Yield slices of `size` rows that cover range(n_rows), in order; the last may be shorter.

    Examples
    --------
    >>> list(slices(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def slices_of(array: Any, size: int) -> Iterator[slice]:
    """Yield slices of the rows of an array: of `size` rows, or all at once if it is on a device.

    A device works on all rows at the same time; small blocks would leave it idle.
    """
    return slices(len(array), max(1, len(array)) if is_elsewhere(array) else size)


def by_columns(
    work: Callable[..., Sequence[Any]], vectors: Any, rows: Sequence[Any], numbers: Sequence[Any]
) -> Any:
    """Return figures of the columns of an array (M, m): (k, m) if `work` returns k of them.

    It is called as `work(column, *rows, *numbers)`: with one column, (M,), arrays of as many rows,
    and a number of each array (m,); by several threads. On a device it is called once, with all
    columns, (M, m), arrays (M, 1), and all numbers.
    """
    if is_elsewhere(vectors):
        return np.stack(work(vectors, *(one[:, None] for one in rows), *numbers))

    def of_column(j: int) -> Sequence[Any]:
        return work(vectors[:, j], *rows, *(one[j] for one in numbers))

    return np.array(list(in_order(of_column, range(vectors.shape[1])))).T


def rows_that_fit(n_entries: int, n_rows: int = 1, *, most: int = IN_CACHE, least: int = 1) -> int:
    """Return the number of rows in a block of at most `most` numbers.

    So many rows have `n_entries`: the columns of a dense array, with n_rows left at 1, or nnz and
    the number of rows of a sparse matrix. A block has `least` rows, however many entries they hold.

    Examples
    --------
    >>> rows_that_fit(64), rows_that_fit(3_200_000, 100_000), rows_that_fit(10**9, least=256)
    (2048, 4096, 256)
    """
    return max(least, most * n_rows // max(n_entries, n_rows))


Block = TypeVar("Block")
Result = TypeVar("Result")


def n_threads() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Callable[[Block], Result],
    blocks: Iterable[Block],
    stage: str | None = None,
    parallel: bool = True,
) -> Iterator[Result]:
    """Yield work(block) for every block, in the order of the blocks.

    At most two blocks per thread are computed ahead of the reader, so that few results wait in
    memory. If a `stage` is named, its progress is reported after every block.
    """
    todo = list(blocks)
    heard = stage is not None and is_heard()
    for done, result in enumerate(compute_in_order(work, todo, parallel), start=1):
        if heard and stage is not None:
            report(stage, done, len(todo))
        yield result


def compute_in_order(
    work: Callable[[Block], Result], todo: list[Block], parallel: bool
) -> Iterator[Result]:
    """Yield work(block) in order, from as many threads as there are cores, or from one."""
    threads = n_threads()
    # A block that cuts its own work into blocks does so alone: if it waited for threads that wait
    # for it, neither would end.
    if not parallel or min(threads, len(todo)) <= 1 or getattr(WORKER, "busy", False):
        yield from map(work, todo)
        return
    waiting: deque[Future[Result]] = deque()
    share = pool(os.getpid(), threads)
    try:
        for block in todo:
            waiting.append(share.submit(work, block))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        # After an error, or if the reader stops early, nothing goes on working behind its back.
        wait([future for future in waiting if not future.cancel()])


#: Marks the threads of the pool.
WORKER = local()


@cache
def pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Return the one pool of threads; a forked process makes its own."""

    def mark() -> None:
        WORKER.busy = True

    return ThreadPoolExecutor(threads, thread_name_prefix="vbdm", initializer=mark)


def for_each(
    work: Callable[[Block], None],
    blocks: Iterable[Block],
    stage: str | None = None,
    parallel: bool = True,
) -> None:
    """Call work(block) for every block, several at a time if `parallel`."""
    for _ in in_order(work, blocks, stage, parallel):
        pass


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS at one thread inside the block.

    Products of blocks that fit the cache are too short to be shared out: BLAS threads that wait
    for each other made them three to thirty times slower. Of several blocks at a time, in several
    threads, the first sets the limit and the last to end lifts it.
    """
    with HELD.lock:
        if HELD.n_holding == 0:
            HELD.limit = blas().limit(limits=1, user_api="blas")
        HELD.n_holding += 1
    try:
        yield
    finally:
        with HELD.lock:
            HELD.n_holding -= 1
            if HELD.n_holding == 0:
                HELD.limit.restore_original_limits()


class HeldBlas:
    """How many blocks hold BLAS at one thread, and the limit that does it."""

    lock = Lock()
    n_holding = 0
    limit: Any = None


HELD = HeldBlas()


@cache
def blas() -> Any:
    """Return the controller of the BLAS libraries that are loaded."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
