"""Rows of the kernel at new points: distances, density and width as at the training points.

The width ρ(x) comes from the nearest training points. A kernel by reach then joins x to all
training points within reach, |x-x_j|² < s_c ε ρ(x) ρ_j; a kernel by lists to some of the nearest.

A training point is left out of its own sums, and a fresh point leaves out none. So that the one
turns into the other without a jump, a new point leaves out the training point beside it by a share
w(x), which is 1 there and 0 from half the distance to the next training point on.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..base.arrays import (
    BoolArray,
    FloatArray,
    beside_array,
    contiguous,
    is_elsewhere,
    ones_for,
    quotients,
    row_pointer,
    to_host,
)
from ..engines.sparse import csr
from ..engines.tree import Reach, Tree
from ..errors import InputError
from ..graph.order import Order
from ..graph.precomputed import check_distances, nearest_in_rows
from ..kernel.bandwidth import PowerOfDensity
from ..kernel.kernel import Kernel
from ..kernel.pilot import LARGEST_WIDTH, PILOT_EPSILON, PILOT_SHARE, by_reach
from ..kernel.scaled import NEGLIGIBLE
from ..kernel.within_reach import rows_within_reach, sum_rows
from ..operator.operator import Operator
from ..rows.block_array import Tall
from ..rows.sparse_blocks import sparse_times
from ..shapes import Gaussian, radius_of, values_of

#: Neighbours searched for around a new point, as a multiple of the length of the lists: some
#: training points that would not be in its list would have it in theirs.
MORE = 1.25
#: A new point leaves out the training point beside it if the next one is this many times as far.
BESIDE = 2.0
#: Share of a list's squared radius over which, beyond it, a new point fades out of the list.
RIM = 0.01


@dataclass(frozen=True, eq=False)
class NewRows:
    """The kernel between m new points and the training points of an operator."""

    #: P(x, x_j) as CSR (m, M), with columns in the order inside: rows sum to 1, or are 0 where the
    #: kernel has no row to give: outside, and by reach at training points, too.
    weights: Any
    #: w(x), (m,), the share by which the nearest training point is left out: 1 at that point.
    beside: FloatArray
    #: Number, in the order inside, of the training point nearest to each new point, (m,).
    nearest: NDArray[np.intp]
    #: ε m ρ(x)², (m,), the time that one step of the kernel takes.
    steps: FloatArray
    #: The sampling density at x, (m,), per unit of d-dimensional volume; 0 outside.
    density: FloatArray
    #: Points beyond the kernels of the nearest training points, (m,).
    outside: BoolArray
    #: Number, in the order inside, of the training point that x coincides with, (m,); -1: none.
    training: NDArray[np.intp]
    operator: Operator

    def average(self, f: Tall) -> FloatArray:
        """Return P f, (m, n).

        By lists, the row of a training point holds all points that list it, also some beyond those
        that are searched for around a new one; beside it the new row turns into it by the share w.
        """
        result = rows_times(self.operator, self.weights, f)
        if lists_end(self.operator):
            beside = np.flatnonzero(self.beside > 0)
            w = self.beside[beside, None]
            result[beside] = (1 - w) * result[beside] + w * self.at_nearest(beside, f)
        return result

    def at_nearest(self, which: NDArray[np.intp], f: Tall) -> FloatArray:
        """Return P f at the training points nearest to some of the new ones, by their own rows."""
        op, row = self.operator, self.nearest[which]
        degree = op.inside.degrees[row, None]
        average: FloatArray = quotients(op.alpha_kernel.product_at(row, f), degree, degree > 0)
        return average


def rows_times(op: Operator, rows: Any, f: Any) -> FloatArray:
    """Return the product of a CSR matrix (m, M) with vectors (M, n), where these live."""
    if not is_elsewhere(f):
        return sparse_times(rows, f)
    if not f.shape[1]:
        return np.zeros((len(rows.indptr) - 1, 0), like=f)
    return op.graph.point_set.engine.multiply(rows, contiguous(f))


def row_sums(op: Operator, rows: Any, counts: FloatArray | None = None) -> FloatArray:
    """Return the sums of rows, (m,), each column counted as often as its point occurs."""
    if not is_elsewhere(rows.data):
        sums: FloatArray = rows.sum(axis=1) if counts is None else rows @ counts
        return sums
    often = ones_for(op.inside.degrees) if counts is None else counts
    return rows_times(op, rows, often[:, None])[:, 0]


def lists_end(op: Operator) -> bool:
    """Tell whether the kernel is on lists that end before all points are listed."""
    return not op.kernel.by_reach and op.graph.n_neighbors < op.graph.n_points


def new_rows(op: Operator, points: FloatArray) -> NewRows:
    """Return the rows of the kernel at new points, with density and local time measured there."""
    kernel, order = op.kernel, op.graph.order
    near, rho, outside = scales_at(op, points)
    nearest = near.neighbors[:, 0]
    training = np.where(near.sqdist[:, 0] == 0, nearest, -1)
    known = training >= 0
    rows = rows_at(kernel, points, near, rho, known | outside)
    rows.data *= near.counted(np.diff(rows.indptr), rows.indices, kernel.leave_one_out)
    sums = row_sums(op, rows, order.counts)
    volume = kernel.moments(op.dim).m0 * (kernel.epsilon * rho**2) ** (op.dim / 2)
    density = sums / (near.n_counted(order, kernel.leave_one_out) * volume)
    if lists_end(op):
        density += near.beside * (kernel.density(op.dim)[nearest] - density)
    steps = kernel.epsilon * kernel.moments(op.dim).m * rho**2
    rows.data *= op.alpha_kernel.factor[rows.indices]
    total = row_sums(op, rows)
    rows.data /= np.repeat(np.where(total > 0, total, 1.0), np.diff(rows.indptr))
    outside |= total == 0
    if known.any():
        place = np.flatnonzero(known)
        row = training[place]
        steps[place], density[place] = op.inside.steps[row], kernel.density(op.dim)[row]
        outside[place] = op.inside.degrees[row] == 0
    density[outside] = 0.0
    return NewRows(rows, near.beside, nearest, steps, density, outside, training, op)


def scales_at(op: Operator, points: FloatArray) -> tuple[Nearest, FloatArray, BoolArray]:
    """Return the training points nearest to new ones, ρ at the new ones, and which are outside."""
    near, widths = find_neighbors(op, points), op.kernel.bandwidth
    # Beyond the kernels of the nearest training points. The widths there decide: far away, the
    # width at the new point grows with the distance, and would always reach one of them. Points
    # further off are not asked: the kernel of a lone stray is wider than its distance to the data,
    # and would vouch for everything around.
    squared = widths.row[near.neighbors] * widths.column[near.neighbors]
    reach = op.kernel.epsilon * squared * radius_of(op.kernel.shape, NEGLIGIBLE)
    outside: BoolArray = np.all(near.sqdist >= reach, axis=1)
    rule = op.settings.method.bandwidth
    with np.errstate(over="ignore", divide="ignore"):
        pilot = pilot_at(op, points, near)
        if type(rule) is PowerOfDensity:
            rho = rule.at(points, pilot)
        else:  # functions of the user get NumPy arrays, wherever the points are
            found = np.asarray(rule.at(to_host(points), to_host(pilot)), dtype=np.float64)
            rho = beside_array(found, points)
    # Far outside the width may be no number, and none is needed.
    return near, np.where(outside & ~(rho < LARGEST_WIDTH), 1.0, rho), outside


def kernel_rows(op: Operator, points: FloatArray) -> tuple[Any, BoolArray]:
    """Return K(x, x_j) as CSR (m, M), columns in the order inside, and which points are outside.

    A point that is a training point has a row like any other, with itself in it. A point outside
    has its nearest training points in equal shares, as many as tell the density.
    """
    near, rho, outside = scales_at(op, points)
    rows = rows_at(op.kernel, points, near, rho, outside)
    lost = outside | (row_sums(op, rows) <= 0)
    if lost.any():
        place, k = np.flatnonzero(lost), op.inside.pilot.n_density_neighbors
        columns = near.neighbors[place, :k].ravel()
        ones = np.ones(len(columns))
        rows = rows + csr_array((ones, (np.repeat(place, k), columns)), shape=rows.shape)
    return rows, lost


#: Least squared distance, so that ρ₀ is never 0.
TINY = np.finfo(np.float64).tiny


@dataclass(frozen=True, eq=False)
class Nearest:
    """The training points nearest to m new points, and their squared distances; both (m, k)."""

    neighbors: NDArray[np.intp]
    sqdist: FloatArray

    @cached_property
    def beside(self) -> FloatArray:
        """w(x), (m,): 1 at a training point, 0 from half the distance to the next one on."""
        first, second = self.sqdist[:, 0], self.sqdist[:, min(1, self.sqdist.shape[1] - 1)]
        ratio = quotients(first, second, first > 0)
        share: FloatArray = np.maximum(1 - BESIDE**2 * ratio, 0.0) ** 2
        return share

    def counted(
        self, lengths: NDArray[np.integer], indices: NDArray[np.integer], leave_one_out: bool
    ) -> FloatArray | float:
        """Return by how much each pair counts: 1 - w(x) for the nearest, if points are left out.

        `lengths` are the numbers of pairs of the new points, `indices` the training points.
        """
        if not leave_one_out:
            return 1.0
        share = np.repeat(1 - self.beside, lengths)
        return np.where(indices == np.repeat(self.neighbors[:, 0], lengths), share, 1.0)

    def n_counted(self, order: Order, leave_one_out: bool) -> FloatArray | float:
        """Return the number of rows of the data that each new point sums over, (m,)."""
        if not leave_one_out:
            return order.n_rows
        # A point is left out with all its copies.
        own = 1.0 if order.counts is None else order.counts[self.neighbors[:, 0]]
        return order.n_rows - self.beside * own

    def least_sum(self, order: Order) -> FloatArray | float:
        """Return what a new point counts for if it is alone: as often as points occur on average.

        Beside a training point, it is the number of copies of that one.
        """
        if order.counts is None:
            return 1.0
        mean, own = order.n_rows / order.n_points, order.counts[self.neighbors[:, 0]]
        return mean + self.beside * (own - mean)


def find_neighbors(op: Operator, points: FloatArray) -> Nearest:
    """Return the training points nearest to each new one, somewhat more than are in the lists."""
    graph = op.graph
    # By reach, lists are there for the pilot density only.
    listed = op.inside.pilot.n_neighbors if op.kernel.by_reach else graph.n_neighbors
    k = min(int(MORE * listed) + 1, graph.n_points)
    index = graph.point_set.index
    if index is None:
        distances, order = points, graph.order
        if distances.shape[1] != order.n_rows:
            raise InputError(
                f"Each new row must hold its distances to all {order.n_rows} training points; "
                f"received {distances.shape[1]} columns. Pass distances, or fit on the points."
            )
        check_distances(distances, 0)
        return Nearest(*nearest_in_rows(distances[:, order.caller_rows], k))
    indices, sqdist = index.query(points, k)
    return Nearest(indices.astype(np.intp), sqdist)


def listed_share(radii: FloatArray, k: int, near: Nearest, one_way: float) -> FloatArray:
    """Return the weight of each pair, (m, k): 1 if both list the other, `one_way` if one does.

    `radii` are the squared distances to the last points of the lists, which hold `k` points each.
    The list of a training point holds k - 1 others. Beside it a new point lists, by the share w,
    one more, in place of that point; and beyond a training point's radius it fades out of its list.
    """
    place = np.arange(near.neighbors.shape[1], like=near.neighbors)
    by_new = np.clip(k - 1 + near.beside[:, None] - place, 0.0, 1.0)
    beyond = near.sqdist / np.maximum(radii, TINY)[near.neighbors] - 1
    by_training = np.clip(1 - beyond / RIM, 0.0, 1.0)
    both = by_new * by_training
    share: FloatArray = one_way * (by_new + by_training - 2 * both) + both
    return share


def pilot_at(op: Operator, points: FloatArray, near: Nearest) -> FloatArray:
    """Return the pilot density at new points, estimated as in `bandwidth.pilot.pilot_density`."""
    pilot, order, shape = op.inside.pilot, op.graph.order, Gaussian()
    alone = op.kernel.leave_one_out
    k0, w = pilot.n_density_neighbors, near.beside
    fresh, others = (near.sqdist[:, part].mean(axis=1) for part in (slice(k0 - 1), slice(1, k0)))
    rho0 = np.sqrt(np.maximum((1 - w) * fresh + w * others, TINY))
    within = np.isfinite(pilot.cutoff) and by_reach(op.graph)
    if within:
        sums = pilot_sums_within_reach(op, points, rho0, near)
    else:
        s = near.sqdist / (PILOT_EPSILON * rho0[:, None] * pilot.rho0[near.neighbors])
        values = np.where(s < pilot.cutoff, shape(s), 0.0)
        values *= listed_share(pilot.radii, pilot.n_neighbors, near, PILOT_SHARE)
        if alone:
            values[:, 0] *= 1 - w
        counts = 1.0 if order.counts is None else order.counts[near.neighbors]
        sums = (values * counts).sum(axis=1)
    m0 = shape.moments(op.dim, pilot.cutoff).m0
    volume = m0 * (PILOT_EPSILON * rho0**2) ** (op.dim / 2)
    least, number = near.least_sum(order), near.n_counted(order, alone)
    density: FloatArray = np.maximum(sums, least) / (number * volume)
    if not within and pilot.n_neighbors < op.graph.n_points:
        # The sum of a training point is over all points that list it, some beyond these.
        density = density ** (1 - w) * pilot.density[near.neighbors[:, 0]] ** w
    return density


def pilot_sums_within_reach(
    op: Operator, points: FloatArray, rho0: FloatArray, near: Nearest
) -> FloatArray:
    """Return the sums of the pilot's kernel around new points with their own ρ0, (m,)."""
    known, pilot, counts = op.graph.point_set, op.inside.pilot, op.graph.order.counts
    reach = Reach.of(cast(Tree, known.tree), pilot.rho0, pilot.cutoff * PILOT_EPSILON)
    found, neighbors, scaled = known.engine.pairs_to(reach, known.distance.wrapped(points), rho0)
    values = Gaussian()(scaled / PILOT_EPSILON)
    values *= near.counted(found, neighbors, op.kernel.leave_one_out)
    if is_elsewhere(values):
        rows = csr(values, neighbors, row_pointer(found), (len(points), known.n_points))
        return row_sums(op, rows, counts)
    if counts is not None:
        values *= counts[neighbors]
    sums = np.zeros(len(points))
    sum_rows(values, np.cumsum(found) - found, sums)
    return sums


def rows_at(
    kernel: Kernel, points: FloatArray, near: Nearest, rho: FloatArray, needless: BoolArray
) -> Any:
    """Return K(x, x_j) as CSR (m, M); by lists, at the nearest training points.

    A one-way pair counts with the kernel's `one_way_share`. By reach, `needless` rows are empty:
    there ρ = 0, which reaches nothing, and takes no time.
    """
    if kernel.by_reach:
        return rows_within_reach(kernel, points, np.where(needless, 0.0, rho))
    graph = kernel.graph
    scaled = near.sqdist / (kernel.epsilon * rho[:, None] * kernel.bandwidth.column[near.neighbors])
    values = values_of(kernel.shape, scaled)
    values[scaled >= kernel.cutoff] = 0.0
    values *= listed_share(graph.radii, graph.n_neighbors, near, kernel.one_way_share)
    m, k = values.shape
    pointer = np.arange(0, m * k + 1, k, like=values)
    return csr(values.ravel(), near.neighbors.ravel(), pointer, (m, graph.n_points))
