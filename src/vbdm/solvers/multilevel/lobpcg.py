"""Locally optimal block iteration: improve all wanted eigenvectors at once.

Each step looks for the best vectors in the span of the present ones X, their corrections W and
the previous moves P (Knyazev 2001): conjugate gradients for a whole block of eigenvectors.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import FloatArray
from ...base.threads import for_each
from ...progress import report
from ...rows.block_array import BlockArray, Tall, mapped
from .blocks import (
    combination,
    move,
    rayleigh_ritz,
    remove_constant,
    remove_span,
    rounding,
    row_slices,
)

#: θ below this share of the largest wanted one count as zero: errors are relative to that share.
ZERO = 1e-6
#: The error is estimated from the gains of the last steps, times this. On 1,320 small problems
#: the true error then was below 0.2 of the estimate in the median, below 1.35 in 99 %.
SAFETY = 3.0
#: After LONG steps, if a ratio of gains within the last LOOK_BACK of them exceeds SLOW, the worst
#: gain and the worst ratio among those count. Without this, blocks that cut through some 50 nearly
#: equal θ stopped after 15 to 40 steps with a claim of 1e-4, and were up to 4e-4 off.
LONG, LOOK_BACK, SLOW = 10, 5, 0.5
#: Columns with errors below this share of `tol` are left alone, and cost no more products.
FINISHED = 0.05

Product = Callable[[Any, FloatArray | None], Any]


@dataclass(frozen=True, eq=False)
class Problem:
    """(D - K) u = θ M u in the form that the iteration needs.

    All arrays of N rows are ordinary ones, or all of them live in blocks.
    """

    # Function that multiplies D - K with a block of vectors; its second argument is an array for
    # the result, or None
    stiffness: Product
    mass: Tall  # (N,): the diagonal M
    # Function of residuals (N, m), their θ (m,) and an array for the result, or None: roughly (D -
    # K - θM)⁻¹ times residuals
    correct: Callable[[Tall, FloatArray, FloatArray | None], Tall]
    degrees: Tall  # (N,): the diagonal D: θ cannot be known better than to the rounding of u'Du


@dataclass(eq=False)
class Block:
    """Approximate eigenvectors that are improved together."""

    # (N, m): the vectors X, and (D - K) X, kept up to date
    vectors: Tall
    images: Tall
    values: FloatArray  # (m,): their θ
    # P, the last moves of the active columns, and (D - K) P; None before the first step
    moves: Tall | None = None
    move_images: Tall | None = None
    # Ordinary arrays of an earlier step that the next one may write to
    spare: tuple[Any, Any] = (None, None)


@dataclass(frozen=True)
class Progress:
    """How an iteration went: estimated relative error of the wanted θ, steps, and success."""

    error: float
    steps: int
    converged: bool


@dataclass(eq=False)
class Outlook:
    """Estimates the errors of θ from the gains of the steps so far.

    Every step lowers each θ. If the gains g fall by a factor c per step, g c/(1 - c) is still to
    come. Residual norms would not do: rough parts that hardly change θ dominate them.
    """

    steps: int = 0
    slow: bool = False
    recent: deque[FloatArray] = field(default_factory=lambda: deque(maxlen=LOOK_BACK + 1))

    def errors(self, drops: FloatArray) -> FloatArray:
        """Return the estimated errors after a step that lowered the θ by `drops`."""
        self.steps += 1
        self.recent.append(drops)
        gains = [float(past.max(initial=0.0)) for past in self.recent]
        ratios = [after / before for before, after in pairwise(gains) if before > 0]
        if not ratios:
            # Until a ratio is known, a usual one must do.
            return SAFETY * 0.3 / 0.7 * drops
        # Slow iterations gain in fits and starts: a few small gains do not mean that it is over.
        self.slow = self.steps > LONG and max(ratios) > SLOW
        if self.slow:
            drops = np.max(self.recent, axis=0)
        else:
            ratios = ratios[-2:]
        rate = min(max(*ratios, 0.05), 0.95)
        return SAFETY * rate / (1 - rate) * drops


def ritz_block(stiffness: Product, mass: Tall, start: Tall) -> Block:
    """Return the Ritz vectors in the span of `start`, without the constant; `start` is overwritten.

    Columns that depend on the others are dropped.
    """
    start = remove_constant(start, mass)
    images = stiffness(start, None)
    values, mix = rayleigh_ritz([start], [images], mass, start.shape[1])
    return Block(combination([start], mix), combination([images], mix), values)


def iterate(
    problem: Problem,
    block: Block,
    n_wanted: int,
    n_active: int,
    tol: float,
    max_steps: int,
    room: str | None = None,
) -> Progress:
    """Improve a block in place until its first `n_wanted` θ have the relative accuracy `tol`.

    Only the first `n_active` columns are corrected; the others guard them: they take part in the
    search for the best vectors. Where rounding does not allow `tol`, an error of the size of the
    rounding is enough. `room` names the stage for progress reports; None: no reports.
    """
    active: NDArray[np.intp] = np.arange(n_active)
    noise = rounding(block.vectors, problem.degrees, n_wanted)
    outlook, followers, error = Outlook(), Outlook(), np.inf
    for step in range(1, max_steps + 1):
        before = block.values[:n_active]
        advance(problem, block, active)
        after = block.values[:n_active]
        last = after[n_wanted - 1]
        # If few columns are wanted, all their θ may be zero: the guards then give a scale.
        scale = np.maximum(after, max(ZERO * last, ZERO**2 * block.values[-1]))
        # A θ can only rise by rounding. If that is large, nothing is known, and it is no gain of 0.
        drops = np.abs(before - after) / scale
        errors = outlook.errors(drops[:n_wanted])
        error = float(np.maximum(errors, noise / scale[:n_wanted]).max())
        if room is not None:
            report(room, step, note=f"error {error:.0e}")
        done = (errors <= np.maximum(tol, noise / scale[:n_wanted])).all()
        behind = followers.errors(drops[n_wanted:])
        # A mode that converges late may stand behind one that it belongs before.
        lowest = after[n_wanted:] * (1 - behind)
        overtaking = (lowest < (1 - tol) * last) & (behind > tol)
        if done and not overtaking.any():
            return Progress(error, step, True)
        # In a slow iteration no column is left alone: that it gains little would say nothing.
        unfinished = np.flatnonzero((errors > FINISHED * tol) | outlook.slow)
        active = np.concatenate([unfinished, np.arange(n_wanted, n_active)])
    return Progress(error, max_steps, False)


def advance(problem: Problem, block: Block, active: NDArray[np.intp]) -> None:
    """Make one step: correct the active columns, then take the best of [X, W, P]."""
    mass, values, shape = problem.mass, block.values[active], (len(problem.mass), len(active))
    in_blocks = isinstance(block.vectors, BlockArray)
    # Large arrays are not made anew in every step: two that the last step left take W and (D - K) W
    # and, before that, the residuals. Arrays in blocks are kept, and used again, by their place.
    first, second = (None if in_blocks else front_of(array, shape, mass) for array in block.spare)
    residual: Tall = mapped(
        residual_rows, block.vectors, block.images, mass, values, active, second
    )  # fmt: skip
    W = problem.correct(residual, values, first)
    del residual
    W = remove_span(W, block.vectors, mass)
    basis, images = [block.vectors, W], [block.images, problem.stiffness(W, second)]
    if block.moves is not None and block.move_images is not None:
        basis.append(block.moves)
        images.append(block.move_images)
    _, mix = rayleigh_ritz(basis, images, mass, len(block.values))
    # In place: X takes its new value and W becomes P, so that no further (N, m) array is needed.
    # Ritz values carry the rounding of the roughest vectors in the basis; quotients do not.
    written, block.values = move(basis, images, mix, active, mass)
    if not in_blocks:
        block.spare = (block.moves, block.move_images)
    block.vectors, block.moves, block.images, block.move_images = written


def front_of(array: FloatArray | None, shape: tuple[int, int], like: Any) -> FloatArray:
    """Return an array of this shape: the front of an old one, if that is large enough."""
    size = shape[0] * shape[1]
    if array is None or array.size < size:
        return np.empty(shape, like=like)
    return array.reshape(-1)[:size].reshape(shape)


def residual_rows(
    vectors: FloatArray,
    images: FloatArray,
    mass: FloatArray,
    values: FloatArray,
    active: NDArray[np.intp],
    out: FloatArray | None,
) -> FloatArray:
    """Return (D - K) x - θ M x for the active columns x, in `out` if that is given."""
    result = np.empty((len(mass), len(active)), like=mass) if out is None else out

    def work(rows: slice) -> None:
        part = vectors[rows][:, active]
        part *= mass[rows, None]
        part *= values
        np.subtract(images[rows][:, active], part, out=result[rows])

    for_each(work, row_slices(result))
    return result
