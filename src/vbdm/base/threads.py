"""Work on pieces of rows, on all cores.

Threads split rows only: each piece is computed as it would be alone, so that results do not depend,
not by a bit, on how many threads there are.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any, TypeVar

from .progress import report

Piece = TypeVar("Piece")
Result = TypeVar("Result")


def n_threads() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(
    work: Callable[[Piece], Result],
    pieces: Iterable[Piece],
    room: str | None = None,
    parallel: bool = True,
) -> Iterator[Result]:
    """Yield the results in the order of the pieces, computed at most a few pieces ahead.

    If the `room` is named, it reports its progress.
    """
    todo = list(pieces)
    for done, result in enumerate(computed(work, todo, parallel), start=1):
        if room is not None:
            report(room, done, len(todo))
        yield result


def computed(
    work: Callable[[Piece], Result], todo: list[Piece], parallel: bool
) -> Iterator[Result]:
    """Yield the results, from as many threads as there are cores."""
    threads = min(n_threads(), len(todo)) if parallel else 1
    if threads <= 1:
        yield from map(work, todo)
        return
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        for piece in todo:
            waiting.append(pool.submit(work, piece))
            if len(waiting) > 2 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def for_each(
    work: Callable[[Piece], None],
    pieces: Iterable[Piece],
    room: str | None = None,
    parallel: bool = True,
) -> None:
    """Do the work on every piece, side by side unless told otherwise."""
    for _ in in_order(work, pieces, room, parallel):
        pass


def one_blas_thread() -> Any:
    """Return a context in which BLAS uses one thread.

    Products of tall thin blocks, cut to fit the cache, are too short to be shared out: threads
    that wait for each other made them three to thirty times slower.
    """
    return blas().limit(limits=1, user_api="blas")


@cache
def blas() -> Any:
    """Return the controller of the libraries in use; it comes with scikit-learn."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

    return ThreadpoolController()
