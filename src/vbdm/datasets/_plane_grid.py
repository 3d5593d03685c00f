"""Passages that are known without learning, on a line, and by a fine grid in the plane.

``L u = (1/π) ∇·(π ∇u)`` becomes fluxes through the faces of square cells, with the conductance of
Scharfetter and Gummel, which is exact where the potential is linear. A face whose neighbour lies
inside a disc leads to the circle instead: its conductance is divided by the share of the way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import RegularGridInterpolator
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import eigsh, splu

from ..base.arrays import FloatArray
from ..base.checks import a_function, answer_of, as_floats, check_real
from ..errors import InputError
from ._sample import LARGEST, Function, Truth

#: Cells this many kT above the lowest one are left out.
HIGHEST = 60.0
#: Least share of the way from a cell to a circle.
NEAREST = 1e-3
#: Where eigenvalues are looked for, just above the largest of them, 0.
SHIFT = 0.01

Box = tuple[tuple[float, float], tuple[float, float]]


@dataclass(frozen=True)
class Disc:
    """A set of the plane, by its centre and its radius."""

    centre: tuple[float, float]
    radius: float

    def depth(self, points: FloatArray) -> FloatArray:
        """Return the distance to the edge, positive inside."""
        return np.asarray(self.radius - np.linalg.norm(points - self.centre, axis=-1))

    def mirrored(self, points: FloatArray) -> FloatArray:
        """Return points inside moved to the other side of the edge, as far away from it."""
        away = points - self.centre
        distance = np.maximum(np.linalg.norm(away, axis=-1, keepdims=True), 1e-12)
        return np.asarray(self.centre + away * (2 * self.radius - distance) / distance)

    def share_of_way(self, outside: FloatArray, inside: FloatArray) -> FloatArray:
        """Return at which share of the way from points outside to points inside the edge lies."""
        way, start = inside - outside, outside - self.centre
        square = (way**2).sum(axis=-1)
        half = (way * start).sum(axis=-1)
        rest = (start**2).sum(axis=-1) - self.radius**2
        root = np.sqrt(half**2 - square * rest)
        return np.asarray(np.clip((-half - root) / square, NEAREST, 1.0))


@dataclass(frozen=True)
class PlaneGrid:
    """The potential βV on a grid of equal cells."""

    potential: Function
    box: Box
    cells: int

    @cached_property
    def axes(self) -> tuple[FloatArray, FloatArray]:
        """Centres of the cells along both axes."""
        middles = (np.arange(self.cells) + 0.5) / self.cells
        (left, right), (low, high) = self.box
        return left + (right - left) * middles, low + (high - low) * middles

    @cached_property
    def centres(self) -> FloatArray:
        """Centres of all cells, (cells², 2)."""
        return np.stack(np.meshgrid(*self.axes, indexing="ij"), axis=-1).reshape(-1, 2)

    @cached_property
    def heights(self) -> FloatArray:
        """The potential of the cells."""
        return np.asarray(self.potential(self.centres))

    @cached_property
    def log_mass(self) -> float:
        """Logarithm of the integral of exp(-potential) over the box."""
        (left, right), (low, high) = self.box
        area = (right - left) * (high - low) / self.cells**2
        lowest = self.heights.min()
        return float(np.log(area * np.exp(lowest - self.heights).sum()) - lowest)

    @cached_property
    def mass(self) -> FloatArray:
        """Share of the invariant measure in each cell."""
        above = self.heights - self.heights.min()
        weight = np.where(above < HIGHEST, np.exp(-above), 0.0)
        return np.asarray(weight / weight.sum())

    @cached_property
    def pairs(self) -> tuple[Any, Any]:
        """Cells that share a face, both of them present."""
        numbers = np.arange(self.cells**2).reshape(self.cells, self.cells)
        first = np.concatenate([numbers[:-1].ravel(), numbers[:, :-1].ravel()])
        second = np.concatenate([numbers[1:].ravel(), numbers[:, 1:].ravel()])
        kept = (self.mass[first] > 0) & (self.mass[second] > 0)
        return first[kept], second[kept]

    def stiffness(self, *discs: Disc) -> Any:
        """Return the matrix A of the energy, so that -A u / mass is L u; 0 for cells left out.

        Faces at the edges of discs lead to these edges.
        """
        first, second = self.pairs
        length = np.linalg.norm(self.centres[second] - self.centres[first], axis=1)
        rise = self.heights[second] - self.heights[first]
        conductance = self.mass[first] * _bernoulli(rise) / length**2
        for disc in discs:
            conductance /= self._share_of_way(disc, first, second)
        shape = (self.mass.size, self.mass.size)
        joined = coo_array((conductance, (first, second)), shape=shape).tocsr()
        joined = joined + joined.T
        return (diags_array(joined.sum(axis=1)) - joined).tocsr()

    def _share_of_way(self, disc: Disc, first: Any, second: Any) -> FloatArray:
        inside = disc.depth(self.centres) > 0
        enters, leaves = inside[second] & ~inside[first], inside[first] & ~inside[second]
        share = np.ones(first.size)
        for cut, outer, inner in ((enters, first, second), (leaves, second, first)):
            share[cut] = disc.share_of_way(self.centres[outer[cut]], self.centres[inner[cut]])
        return share

    def interpolated(self, values: FloatArray, known: list[tuple[Disc, float]]) -> Function:
        """Return the function of the plane with these values in the cells, and in the discs.

        It is continued into the discs by reflection, so that it is smooth up to their edges.
        """
        field = np.where(self.mass > 0, values, np.nan)
        for _ in range(2):
            before = self._interpolator(field)
            for disc, value in known:
                inside = disc.depth(self.centres) > 0
                field[inside] = 2 * value - before(disc.mirrored(self.centres[inside]))
        smooth = self._interpolator(field)

        def at(points: FloatArray) -> FloatArray:
            found = np.asarray(smooth(points))
            for disc, value in known:
                found[disc.depth(points) >= 0] = value
            return found

        return at

    def _interpolator(self, values: FloatArray) -> Any:
        grid = values.reshape(self.cells, self.cells)
        # Between the edge of the box and the first centres the function is continued.
        return RegularGridInterpolator(self.axes, grid, bounds_error=False, fill_value=None)

    def transition(self, source: Disc, target: Disc) -> Transition:
        """Solve for the committor and for the time to reach the target."""
        present, stiffness = self.mass > 0, self.stiffness(source, target)
        in_source, in_target = (disc.depth(self.centres) > 0 for disc in (source, target))
        reached = in_target.astype(np.float64)
        nothing = np.zeros_like(reached)
        chances = _solved(stiffness, nothing, reached, present & ~in_source & ~in_target)
        times = _solved(stiffness, self.mass, nothing, present & ~in_target)
        flux = float(chances @ (stiffness @ chances))
        in_b = float(self.mass @ chances)
        return Transition(
            flux=flux,
            rate=flux / (1 - in_b),
            rate_back=flux / in_b,
            mean_passage_time=float(np.average(times, weights=self.mass * in_source)),
            committor=self.interpolated(chances, [(source, 0.0), (target, 1.0)]),
            passage_time=self.interpolated(times, [(target, 0.0)]),
        )

    def spectrum(self, n: int, c1: float) -> Truth:
        """Solve for the first eigenpairs; the potential is that of the density to the power c1."""
        present = np.flatnonzero(self.mass > 0)
        root = np.sqrt(self.mass[present])
        half = diags_array(1 / root)
        matrix = -(half @ self.stiffness()[present][:, present] @ half)
        start = np.random.default_rng(0).standard_normal(len(present))
        # The spectrum ends at 0. A shift above it by a part of the first eigenvalues will do.
        values, vectors = eigsh(matrix.tocsc(), k=n, sigma=SHIFT, v0=start)
        downwards = np.argsort(-values)
        functions = np.full((len(self.mass), n), np.nan)
        functions[present] = vectors[:, downwards] / root[:, np.newaxis]
        functions *= np.sign(functions[present[-1]])
        # The first pair is known: rounding should not show in it.
        values = values[downwards]
        values[0], functions[present, 0] = 0.0, 1.0
        parts = [self._interpolator(column) for column in functions.T]
        return Truth(c1, values, lambda x: np.column_stack([part(x) for part in parts]))


def _solved(stiffness: Any, source: FloatArray, fixed: FloatArray, free: Any) -> FloatArray:
    """Solve A u = source on the free cells, with the given values elsewhere."""
    rows = stiffness[free]
    # Symmetric and diagonally dominant, so no pivots are needed.
    factors = splu(
        rows[:, free].tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )  # fmt: skip
    values = fixed.copy()
    values[free] = factors.solve(source[free] - rows @ np.where(free, 0.0, fixed))
    return values


def _bernoulli(x: FloatArray) -> FloatArray:
    """Return x/(e^x - 1)."""
    small = np.abs(x) < 1e-6
    return np.where(small, 1 - x / 2, x / np.expm1(np.where(small, 1.0, x)))


#: Cells of the quadrature in each of the three parts of the line.
CELLS = 4000
#: Logarithms of the density below its maximum that matter; both it and its inverse are numbers.
LARGEST_RANGE = 300.0


@dataclass(frozen=True, eq=False)
class Transition:
    """The passage from a set A to a set B of ``dx = ∇log π dt + √2 dW``, exact.

    Times are in units in which the diffusivity is 1: with a diffusivity D divide times by D, and
    multiply rates and the flux by D.

    Attributes
    ----------
    flux : float
        ν, the number of passages from A to B per unit of time.
    rate : float
        ν over the share of time in which A was the last of both sets: the rate of A → B.
    rate_back : float
        The rate of B → A.
    mean_passage_time : float
        The mean time to reach B from points of A, distributed there as π is.
    committor : callable
        Takes points, (N, n) or on the line (N,), and gives the probability to reach B before A.
    passage_time : callable
        Takes points and gives the mean time to reach B.
    """

    flux: float
    rate: float
    rate_back: float
    mean_passage_time: float
    committor: Function = field(repr=False)
    passage_time: Function = field(repr=False)


def line_transition(
    log_density: Function, a: float, b: float, *, low: float, high: float
) -> Transition:
    """Integrate the passage from A = {x ≤ a} to B = {x ≥ b} on a line.

    With π = exp(log_density): the committor is ∫_a^x 1/π over ∫_a^b 1/π, the time to reach b
    is ∫_x^b (1/π(y)) ∫_{-∞}^y π.

    Parameters
    ----------
    log_density : callable
        The logarithm of the invariant density, up to a constant; takes an array.
    a, b : float
        The edges of both sets, a < b.
    low, high : float
        Where the line is cut off; the density beyond should be negligible. Ends reflect.

    Examples
    --------
    Two wells at ±1, the sets beyond them:

    >>> known = line_transition(lambda x: -2 * (x**2 - 1) ** 2, -1, 1, low=-2.6, high=2.6)
    >>> round(known.flux, 5), round(known.mean_passage_time, 2)
    (0.09748, 5.16)
    >>> known.committor(np.array([-2.0, 0.0, 1.5]))
    array([0. , 0.5, 1. ])
    """
    a, b, low, high = _in_order(low, a, b, high)
    ends = ((low, a), (a, b), (b, high))
    x = np.unique(np.concatenate([np.linspace(*pair, 2 * CELLS + 1) for pair in ends]))
    logs = _logarithms(log_density, x)
    density, resistance = np.exp(logs), np.exp(-logs)
    at_a, at_b = 2 * CELLS, 4 * CELLS

    mass = _integral(x, density)
    delays = _integral(x, resistance * mass)
    times = np.maximum(delays[at_b] - delays, 0.0)
    # 1/π is integrated between the sets alone: outside it is so large that digits would be lost.
    between = _integral(x[at_a : at_b + 1], resistance[at_a : at_b + 1])
    chances = np.zeros_like(x)
    chances[at_a : at_b + 1], chances[at_b:] = between / between[-1], 1.0

    last_in_a = _integral(x, density * (1 - chances))[-1] / mass[-1]
    flux = 1 / (mass[-1] * between[-1])
    return Transition(
        flux=float(flux),
        rate=float(flux / last_in_a),
        rate_back=float(flux / (1 - last_in_a)),
        mean_passage_time=float(_integral(x, density * times)[at_a] / mass[at_a]),
        committor=_on_the_line(x, chances),
        passage_time=_on_the_line(x, times),
    )


def _in_order(low: float, a: float, b: float, high: float) -> tuple[float, float, float, float]:
    names = ("low", "a", "b", "high")
    low, a, b, high = (check_real(v, n) for v, n in zip((low, a, b, high), names, strict=True))
    if not low < a < b < high or high - low > LARGEST:
        raise InputError(
            f"The line and its sets must satisfy low < a < b < high; received low={low:g}, "
            f"a={a:g}, b={b:g}, high={high:g}. A is what lies below `a`, B is what lies above "
            "`b`, and both have points. Choose `low` and `high` where the density has all but "
            "vanished."
        )
    return a, b, low, high


def _logarithms(log_density: Function, x: FloatArray) -> FloatArray:
    """Return the logarithm of the density, at most 0, with what is negligible cut off."""
    found = as_floats(answer_of(a_function(log_density, "log_density"), "log_density", x))
    if found is None or found.shape not in ((), x.shape) or np.isnan(found).any():
        raise InputError(
            "`log_density` must give a number for each entry of an array; received something "
            "else, or NaN. Write it with NumPy, such as log_density=lambda x: -x**2 / 2."
        )
    with np.errstate(invalid="ignore"):
        logs = np.broadcast_to(found, x.shape) - found.max()
    return np.asarray(np.nan_to_num(np.maximum(logs, -LARGEST_RANGE), nan=0.0))


def _integral(x: FloatArray, values: FloatArray) -> FloatArray:
    """Return the integral from the first place on, by parabolas through three places at a time."""
    first, middle, last = values[:-2:2], values[1::2], values[2::2]
    step = (x[2::2] - x[:-2:2]) / 2
    whole = np.zeros_like(values)
    whole[2::2] = np.cumsum(step * (first + 4 * middle + last) / 3)
    whole[1::2] = whole[:-2:2] + step * (5 * first + 8 * middle - last) / 12
    return whole


def _on_the_line(x: FloatArray, values: FloatArray) -> Function:
    def at(points: FloatArray) -> FloatArray:
        return np.interp(np.ravel(points), x, values)

    return at
