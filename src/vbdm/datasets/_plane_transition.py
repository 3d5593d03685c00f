"""The passage between two discs of the plane, by finite volumes on a fine grid.

``L u = (1/π) ∇·(π ∇u)`` becomes fluxes through the faces of square cells, with the conductance of
Scharfetter and Gummel, which is exact where the potential is linear. A face whose neighbour lies
inside a disc leads to the circle instead: its conductance is divided by the share of the way.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.interpolate import RegularGridInterpolator
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import splu

from ..base.arrays import FloatArray
from ._sample import Function
from ._transition import Transition

#: Cells this many kT above the lowest one are left out.
HIGHEST = 60.0
#: Least share of the way from a cell to a circle.
NEAREST = 1e-3

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
    """The potential βV on a grid of equal cells, and two discs A and B."""

    potential: Function
    box: Box
    cells: int
    source: Disc
    target: Disc

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
    def stiffness(self) -> Any:
        """Matrix A of the energy, so that -A u / mass is L u; 0 for cells left out."""
        n = self.cells
        numbers = np.arange(n * n).reshape(n, n)
        pairs = ((numbers[:-1], numbers[1:]), (numbers[:, :-1], numbers[:, 1:]))
        first = np.concatenate([p[0].ravel() for p in pairs])
        second = np.concatenate([p[1].ravel() for p in pairs])
        kept = (self.mass[first] > 0) & (self.mass[second] > 0)
        first, second = first[kept], second[kept]
        length = np.linalg.norm(self.centres[second] - self.centres[first], axis=1)
        rise = self.heights[second] - self.heights[first]
        conductance = self.mass[first] * _bernoulli(rise) / length**2
        for disc in (self.source, self.target):
            conductance /= self._share_of_way(disc, first, second)
        joined = coo_array((conductance, (first, second)), shape=(n * n, n * n)).tocsr()
        joined = joined + joined.T
        return (diags_array(joined.sum(axis=1)) - joined).tocsr()

    def _share_of_way(self, disc: Disc, first: Any, second: Any) -> FloatArray:
        inside = disc.depth(self.centres) > 0
        enters, leaves = inside[second] & ~inside[first], inside[first] & ~inside[second]
        share = np.ones(first.size)
        for cut, outer, inner in ((enters, first, second), (leaves, second, first)):
            share[cut] = disc.share_of_way(self.centres[outer[cut]], self.centres[inner[cut]])
        return share

    def solved(self, source: FloatArray, fixed: FloatArray, free: Any) -> FloatArray:
        """Solve A u = source on the free cells, with the given values elsewhere."""
        rows = self.stiffness[free]
        matrix = rows[:, free].tocsc()
        # Symmetric and diagonally dominant, so no pivots are needed.
        factors = splu(
            matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )  # fmt: skip
        values = fixed.copy()
        values[free] = factors.solve(source[free] - rows @ np.where(free, 0.0, fixed))
        return values

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

    def transition(self) -> Transition:
        """Solve for the committor and for the time to reach the target."""
        present = self.mass > 0
        in_source, in_target = (d.depth(self.centres) > 0 for d in (self.source, self.target))
        reached = in_target.astype(np.float64)
        nothing = np.zeros_like(reached)
        chances = self.solved(nothing, reached, present & ~in_source & ~in_target)
        times = self.solved(self.mass, nothing, present & ~in_target)
        flux = float(chances @ (self.stiffness @ chances))
        in_b = float(self.mass @ chances)
        return Transition(
            flux=flux,
            rate=flux / (1 - in_b),
            rate_back=flux / in_b,
            mean_passage_time=float(np.average(times, weights=self.mass * in_source)),
            committor=self.interpolated(chances, [(self.source, 0.0), (self.target, 1.0)]),
            passage_time=self.interpolated(times, [(self.target, 0.0)]),
        )


def _bernoulli(x: FloatArray) -> FloatArray:
    """Return x/(e^x - 1)."""
    small = np.abs(x) < 1e-6
    return np.where(small, 1 - x / 2, x / np.expm1(np.where(small, 1.0, x)))
