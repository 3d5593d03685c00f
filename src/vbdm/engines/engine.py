"""What a machine must supply for the walk: the protocol of all engines.

An engine may also have something to say around each piece of work that users ask for, such as what
a failure of its own means, or that it has to compile first: it passes a block to `surround`, and
doors such as `vbdm.estimate_operator` are decorated with `at_work`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from functools import wraps
from typing import Any, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, IntArray
from ..base.references import Credit
from .tree import Reach, Tree

P = ParamSpec("P")
R = TypeVar("R")
#: A block of code around a piece of work, by the work's name.
Surrounding = Callable[[str], AbstractContextManager[None]]
#: What engines in use put around all work.
SURROUNDINGS: list[Surrounding] = []
#: The work that is being done, and what has been put around it.
CURRENT: ContextVar[tuple[str, ExitStack] | None] = ContextVar("vbdm_work", default=None)


def free_bytes(engine: Any) -> int | None:
    """Return how many bytes of memory of its own an engine has free; None: it has none."""
    device = getattr(engine, "device", None)
    return None if device is None else int(device.free_bytes())


def computes_elsewhere(value: Any) -> bool:
    """Tell whether this is an engine that computes on a device, with memory of its own."""
    return callable(getattr(value, "placed", None)) and hasattr(value, "device")


class Engine(Protocol):
    """Computes; it knows points, pairs and matrices, and nothing of densities or operators.

    Rows are computed one by one, or in blocks that do not depend on the number of threads, so that
    the same bits come out whoever works on them. Engines give the same pairs exactly, and sums that
    differ by rounding.
    """

    @property
    def credit(self) -> Credit:
        """Name and words of the engine."""

    def placed(self, points: Any) -> Any:
        """Return points where the engine computes; points that are there are not copied."""

    def order(self, columns: FloatArray, depth: int) -> NDArray[np.intp]:
        """Return the points, (n, N) by columns, in the order of the tree with this depth."""

    def nearest(self, tree: Tree) -> Any:
        """Return a `vbdm.search.NeighborIndex` of the points; None: SciPy's tree is as good."""

    def count_within(self, reach: Reach, leaves: slice) -> NDArray[np.intp]:
        """Return the number of points within reach of each point of some leaves, (m,)."""

    def pairs_within(
        self, reach: Reach, leaves: slice, n_pairs: int
    ) -> tuple[IntArray, FloatArray]:
        """Return the pairs of the points of some leaves, row by row: neighbours and distances.

        `n_pairs` is their number, the sum of what `count_within` gives.
        Neighbours ascend in each row; distances are scaled and squared, |x-y|²/(ρ(x) ρ(y)).
        """

    def pairs_to(
        self, reach: Reach, points: FloatArray, rho: FloatArray
    ) -> tuple[NDArray[np.intp], IntArray, FloatArray]:
        """Return the pairs of new points with the points of the tree, |x-y|² < cut ρ(x) ρ(y).

        New points, (m, n), have their own ρ, (m,), and lie in the box if columns are periodic. The
        numbers of pairs, (m,), come first, then neighbours and distances as of `pairs_within`. A
        point of the tree at distance 0 is a neighbour as any other.
        """

    def multiply(
        self,
        matrix: Any,
        block: FloatArray,
        left: FloatArray | None = None,
        right: FloatArray | None = None,
        power: int = 1,
        diagonal: FloatArray | None = None,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return diag(left) · matrix^power · diag(right) · block, (N, m).

        `matrix` is CSR, its entries are raised to the power one by one; `block`, (M, m), has
        contiguous rows; factors that are None are 1. With a `diagonal`, (N,), the product is
        subtracted from it times the block. The result is written to `out`, if that is given.
        """

    def jacobi(
        self,
        matrix: Any,
        block: FloatArray,
        added: FloatArray,
        divisor: FloatArray,
        out: FloatArray | None = None,
    ) -> FloatArray:
        """Return (matrix · block + added) / divisor, (N, m); the divisor is one number per row."""

    def sums_over_cells(self, matrix: Any, factor: FloatArray, labels: IntArray) -> Any:
        """Return diag(f) A diag(f) P as CSR, P giving each point the value of its cell."""

    def parts_of_cells(
        self, links: list[Any], labels: IntArray, root: FloatArray, apart: BoolArray, least: float
    ) -> IntArray:
        """Return the connected parts of cells, (N,), numbered by their first points.

        Points are linked if they are in the same cell, neither stands apart, and the sum of the
        matrices `links` has |K_ij| root_i root_j >= `least`.
        """

    def pieces(self, matrix: Any, scale: FloatArray, least: float, few: int) -> NDArray[np.intp]:
        """Return the first point of the connected piece of each point, (N,).

        Points are linked where an entry exceeds `least` times the scales of both. The first `few`
        links of each row are tried first: mostly they join all.
        """


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
