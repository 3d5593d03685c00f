"""Rows of the kernel at new points: distances, density and width as at the training points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from ..bandwidth.pilot import PILOT_EPSILON, PILOT_SHARE
from ..bandwidth.scaled import NEGLIGIBLE
from ..base.arrays import BoolArray, FloatArray
from ..base.errors import bad_input
from ..base.shapes import Gaussian, radius_of
from ..graph.neighbor_graph import NeighborGraph
from ..graph.precomputed import check_distances, nearest_in_rows
from ..kernel.kernel import Kernel
from ..kernel.pair_matrix import rows_at
from ..operator.operator import Operator

#: Neighbours searched for around a new point, as a multiple of the length of the lists: some
#: training points that would not be in its list would have it in theirs.
MORE = 1.25


@dataclass(frozen=True, eq=False)
class NewRows:
    """The kernel between M new points and their neighbours among the training points.

    Attributes
    ----------
    neighbors : (M, k) array
        Numbers, in the order inside, of the training points around each new point, nearest first.
    weights : (M, k) array
        P(x, x_j): rows sum to 1, or are 0 outside.
    steps : (M,) array
        ε m ρ(x)², the time that one step of the kernel takes.
    density : (M,) array
        The sampling density at x, per unit of d-dimensional volume; 0 outside.
    outside : (M,) bool array
        Points that no training point's kernel reaches.
    training : (M,) array
        Number, in the order inside, of the training point that x coincides with; -1: none.
    operator : Operator
        The operator that these rows extend.
    """

    neighbors: NDArray[np.intp]
    weights: FloatArray
    steps: FloatArray
    density: FloatArray
    outside: BoolArray
    training: NDArray[np.intp]
    operator: Operator

    @property
    def nearest(self) -> NDArray[np.intp]:
        """The training point nearest to each new point, (M,)."""
        return self.neighbors[:, 0]

    def average(self, f: FloatArray) -> FloatArray:
        """Return P f. A training point has its own row; any other point is a fresh draw."""
        n_new, k = self.neighbors.shape
        pointer = np.arange(0, n_new * k + 1, k)
        shape = (n_new, len(f))
        table = csr_array((self.weights.ravel(), self.neighbors.ravel(), pointer), shape)
        result: FloatArray = table @ f
        known = np.flatnonzero(self.training >= 0)
        if known.size:
            op, row = self.operator, self.training[known]
            degree = op.degrees[row, None]
            own = rows_at(op.weights, row) @ f
            result[known] = np.divide(own, degree, out=np.zeros_like(own), where=degree > 0)
        return result


def new_rows(op: Operator, points: FloatArray) -> NewRows:
    """Return the rows of the kernel at new points, with density and local time measured there."""
    graph, kernel, first = op.graph, op.kernel, op.pilot
    neighbors, sqdist = find_neighbors(graph, points)
    rho0 = np.sqrt(np.maximum(sqdist[:, : first.n_density_neighbors - 1].mean(axis=1), TINY))
    pilot = pilot_at(op, neighbors, sqdist, rho0)
    rho = op.settings.method.bandwidth.at(points, pilot)
    listing = n_listing(graph.radii, graph.n_neighbors, neighbors, sqdist)
    values = kernel_at(kernel, listing, rho, neighbors, sqdist)
    counts = 1.0 if graph.order.counts is None else graph.order.counts[neighbors]
    volume = kernel.moments(op.dim).m0 * (kernel.epsilon * rho**2) ** (op.dim / 2)
    density = (values * counts).sum(axis=1) / (graph.order.n_rows * volume)
    weights = values * op.weights.factor[neighbors]
    total = weights.sum(axis=1, keepdims=True)
    outside = out_of_reach(kernel, neighbors, sqdist) | (total[:, 0] == 0)
    training = np.where(sqdist[:, 0] == 0, neighbors[:, 0], -1)
    known = training >= 0
    steps = kernel.epsilon * kernel.moments(op.dim).m * rho**2
    steps[known] = op.steps[training[known]]
    density[known] = kernel.density(op.dim)[training[known]]
    outside[known] = op.degrees[training[known]] == 0
    return NewRows(
        neighbors,
        np.divide(weights, total, out=np.zeros_like(weights), where=total > 0),
        steps,
        np.where(outside, 0.0, density),
        outside,
        training,
        op,
    )


#: Least squared distance, so that ρ₀ is never 0.
TINY = np.finfo(np.float64).tiny


def find_neighbors(graph: NeighborGraph, points: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the training points nearest to each new one, (M, k), and their squared distances."""
    k = min(int(MORE * graph.n_neighbors) + 1, graph.n_points)
    index = graph.point_set.index
    if index is None:
        return nearest_given(graph, points, k)
    indices, sqdist = index.query(points, k)
    return indices.astype(np.intp), sqdist


def nearest_given(
    graph: NeighborGraph, distances: FloatArray, k: int
) -> tuple[NDArray[np.intp], FloatArray]:
    """Return the k nearest training points from given distances to all of them, (M, N)."""
    if distances.shape[1] != graph.order.n_rows:
        raise bad_input(
            "New points cannot be placed among these.",
            received=f"{distances.shape[1]} columns, for a graph with metric {graph.metric!r}",
            because="Only the distances between training points are known, so each new row must "
            f"hold its distances to all {graph.order.n_rows} of them.",
            hint="Pass distances, or fit on the points themselves.",
        )
    check_distances(distances, 0)
    return nearest_in_rows(distances[:, graph.order.caller_rows], k)


def n_listing(
    radii: FloatArray, k: int, neighbors: NDArray[np.intp], sqdist: FloatArray
) -> NDArray[np.intp]:
    """Return for each pair how many of its points have the other among their neighbours: 0 to 2.

    `radii` are the squared distances to the last points of the lists, which hold `k` points each.
    """
    by_new = np.arange(neighbors.shape[1]) < k - 1
    by_training = sqdist <= radii[neighbors]
    return by_new.astype(np.intp) + by_training


def pilot_at(
    op: Operator, neighbors: NDArray[np.intp], sqdist: FloatArray, rho0: FloatArray
) -> FloatArray:
    """Return the pilot density at new points, estimated as in `bandwidth.pilot.pilot_density`."""
    pilot, order, shape = op.pilot, op.order, Gaussian()
    listing = n_listing(pilot.radii, pilot.n_neighbors, neighbors, sqdist)
    values = shape(sqdist / (PILOT_EPSILON * rho0[:, None] * pilot.rho0[neighbors]))
    values *= np.array([0.0, PILOT_SHARE, 1.0])[listing]
    counts = 1.0 if order.counts is None else order.counts[neighbors]
    sums = np.maximum((values * counts).sum(axis=1), 1.0)
    volume = shape.moments(op.dim).m0 * (PILOT_EPSILON * rho0**2) ** (op.dim / 2)
    return np.asarray(sums / (order.n_rows * volume))


def kernel_at(
    kernel: Kernel,
    listing: NDArray[np.intp],
    rho: FloatArray,
    neighbors: NDArray[np.intp],
    sqdist: FloatArray,
) -> FloatArray:
    """Return K(x, x_j), (M, k); a one-way pair counts with the kernel's `one_way_share`."""
    scaled = sqdist / (kernel.epsilon * rho[:, None] * kernel.bandwidth.column[neighbors])
    values = kernel.shape(scaled)
    values[scaled >= kernel.cutoff] = 0.0
    share = np.array([0.0, kernel.one_way_share, 1.0])
    return np.asarray(values * share[listing])


def out_of_reach(kernel: Kernel, neighbors: NDArray[np.intp], sqdist: FloatArray) -> BoolArray:
    """Mark the new points that lie beyond the kernels of all training points.

    The widths at the training points decide. Far away, the width at the new point grows with the
    distance, and would always reach one of them.
    """
    reach = kernel.epsilon * kernel.bandwidth.squared * radius_of(kernel.shape, NEGLIGIBLE)
    return np.asarray((sqdist >= reach[neighbors]).all(axis=1))
