"""What surrounds each piece of work that users ask for, whoever computes.

An engine may have something to say there that no room can know: what a failure of its own means,
or that it has to compile first. It passes a block to `surround`, and doors such as
`vbdm.estimate_operator` are decorated with `at_work`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
#: A block of code around a piece of work, by the work's name.
Surrounding = Callable[[str], AbstractContextManager[None]]
#: What engines in use put around all work.
SURROUNDINGS: list[Surrounding] = []
#: The work that is being done, and what has been put around it.
CURRENT: ContextVar[tuple[str, ExitStack] | None] = ContextVar("vbdm_work", default=None)


def at_work(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function that does a piece of work with all that engines put around it.

    >>> @at_work("sum")
    ... def sum_of(a, b):
    ...     return a + b
    >>> sum_of(1, 2)
    3
    """

    def decorated(function: Callable[P, R]) -> Callable[P, R]:
        @wraps(function)
        def working(*args: P.args, **kwargs: P.kwargs) -> R:
            with ExitStack() as stack:
                token = CURRENT.set((name, stack))
                stack.callback(CURRENT.reset, token)
                for surrounding in SURROUNDINGS:
                    stack.enter_context(surrounding(name))
                return function(*args, **kwargs)

        return working

    return decorated


def surround(surrounding: Surrounding) -> None:
    """Put a block around all work from now on, and around what is being done."""
    if surrounding in SURROUNDINGS:
        return
    SURROUNDINGS.append(surrounding)
    current = CURRENT.get()
    if current is not None:
        name, stack = current
        stack.enter_context(surrounding(name))
