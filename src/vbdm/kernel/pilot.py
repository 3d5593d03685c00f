"""The pilot: a first look at the density, from the nearest neighbours of each point."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, frozen
from ..base.threads import in_order
from ..errors import InputError
from ..graph.lists import ListedRows
from ..graph.neighbor_graph import NeighborGraph
from ..shapes import Gaussian
from .bandwidth import Bandwidth
from .kernel import density_from
from .scaled import scaled_distances
from .within_reach import sums_within_reach

#: ε of the pilot's kernel, as printed in the paper.
PILOT_EPSILON = 0.5
#: The scaled squared distance at which the pilot's kernel is cut, where it has fallen to e⁻⁵; or
#: earlier, at a ball with this many times k0 points: in four dimensions at e⁻³. It is not 20: on
#: lattices and counts scaled distances are ratios of integers, and rounding would decide.
PILOT_CUTOFF, MOST_POINTS = 20.0 * (1 + 1e-9), 16.0
#: How many times longer lists are than those that hold the kernel of an average point.
LIST_SLACK = 3.0
#: Largest dimension in which all pairs within reach are summed over.
MOST_DIMENSIONS = 6.0
#: Largest density and width: powers of the one, and the fourth power of the other, squares of
#: energies among them, must be numbers.
LARGEST_DENSITY, LARGEST_WIDTH = 1e250, 1e70
#: Weight of a one-way pair in the pilot's sums: that of (K + Kᵀ)/2.
PILOT_SHARE = 0.5


@dataclass(frozen=True, eq=False)
class Pilot:
    """The first density estimate, with what is needed to evaluate it at new points."""

    density: FloatArray  # (M,): q0, per unit of d-dimensional volume, in the order inside
    rho0: FloatArray  # (M,): the pilot bandwidth ρ0, a length, in the order inside
    radii: FloatArray  # (M,): squared distance of each point's last neighbour, in the order inside
    # k0, the number of neighbours, the point itself included, from which ρ0 was measured
    n_density_neighbors: int
    # Length of the lists of neighbours, over which the density was summed if it has no cutoff
    n_neighbors: int
    # The scaled squared distance ``|x-y|²/(ε ρ0 ρ0)`` at which the kernel is cut: all pairs within
    # were summed over. Infinite: the kernel ends where the lists do.
    cutoff: float = np.inf

    def effective_cutoff(self, dim: float) -> float:
        """Return where the kernel ends: at its cutoff, or where the lists do on average."""
        if np.isfinite(self.cutoff):
            return self.cutoff
        return cutoff_of(self.n_neighbors / self.n_density_neighbors, dim)


def pilot_bandwidth(graph: NeighborGraph, n_density_neighbors: int) -> FloatArray:
    r"""Return ρ0, the root mean square distance to the nearest k0 - 1 other points.

    Notes
    -----
    Implements :math:`ρ_0(x_i)^2 = \frac{1}{k_0-1} Σ_{j=2}^{k_0} |x_i - x_{I(i,j)}|^2` (Section 3).
    """
    rho0: FloatArray = graph.from_distances(root_mean_square, slice(1, n_density_neighbors))[0]
    # Refuse widths whose powers are no numbers. Copies have the distance 0, which is another
    # matter, unless no two squares differ from 0.
    apart = rho0[rho0 > 0]
    if not apart.size:
        spread = 0.0 if graph.points is None else float(np.ptp(graph.points, axis=0).max())
        apart = np.array([spread]) if 0 < spread < 1 / LARGEST_WIDTH else np.ones(1)
    if apart.min() < 1 / LARGEST_WIDTH or apart.max() > LARGEST_WIDTH:
        raise unusable_unit(apart)
    if not (rho0 > 0).all():
        raise InputError(
            "Some points coincide with all the neighbours that measure their density; received "
            f"{(rho0 == 0).sum()} point(s) with {n_density_neighbors - 1} or more copies. Drop "
            "repeated rows, or raise `n_density_neighbors`."
        )
    return rho0


def root_mean_square(sqdist: FloatArray) -> FloatArray:
    """Return the root mean square distance of each row, (1, m), from squared ones, (m, k)."""
    rho0: FloatArray = np.sqrt(sqdist.mean(axis=1))
    return rho0[None]


def unusable_unit(rho0: FloatArray) -> Exception:
    """Return the error of points whose distances have no powers."""
    return InputError(
        "Neighbours are too near to each other, or too far apart, for the computer's numbers; "
        f"received distances from {rho0.min():.3g} to {rho0.max():.3g}. Choose another unit."
    )


def cutoff_of(share: float, dim: float) -> float:
    """Return the s = |x-y|²/(ε ρ0²) of a ball with `share` times k0 points, ε being 1/2.

    In a ball of k0 points the mean of the squared distances, ρ0², is d/(d+2) of the largest.
    """
    return float(share ** (2 / dim) * (dim + 2) / dim / PILOT_EPSILON)


def pilot_cutoff(dim: float) -> float:
    """Return the scaled squared distance at which the pilot's kernel is cut; infinite: nowhere.

    In many dimensions too many points would lie within: then lists of neighbours end the sums.
    """
    if dim > MOST_DIMENSIONS:
        return np.inf
    return min(PILOT_CUTOFF, cutoff_of(MOST_POINTS, dim))


def neighbors_within(cutoff: float, n_density_neighbors: int, dim: float) -> int:
    """Return the length of lists that hold the pilot's kernel at nearly all points.

    It is `LIST_SLACK` times what an average point needs, but at most `MOST_POINTS` times k0: beyond
    that memory would go to pairs of little weight.
    """
    share = (cutoff * PILOT_EPSILON * dim / (dim + 2)) ** (dim / 2)
    return int(np.ceil(min(LIST_SLACK * share, MOST_POINTS) * n_density_neighbors)) + 1


def by_reach(graph: NeighborGraph) -> bool:
    """Tell whether pairs within reach can be found without lists."""
    return graph.point_set.tree is not None and graph.exact


def pilot_density(
    graph: NeighborGraph,
    rho0: FloatArray,
    dim: float,
    *,
    leave_one_out: bool = False,
    cutoff: float = np.inf,
    even_ends: bool = False,
) -> FloatArray:
    r"""Return the first estimate of the density, in the order inside.

    Notes
    -----
    Implements Eq. "preestimate": the density of the Gaussian kernel with bandwidth ρ0 and ε = 1/2.
    A far outlier that is left out of its own sum may have no neighbour within reach. Its sum is
    then set to the number of its copies, 1 if there are none: the value that the printed sum, which
    includes the point itself, would have.
    With a finite cutoff the sums are over all pairs within it, and the kernel's integral is that
    of what is left. Lists of neighbours end earlier, at 64 points in d = 3 where the kernel has
    fallen to 12 % only, and the outermost points miss those that do not list them. With `even_ends`
    points at the end of a list count by their distance alone, so that it does not matter which of
    several at equal distances are listed; a cutoff comes before that end.
    """
    even_ends = even_ends and graph.n_neighbors < graph.n_points and np.isinf(cutoff)
    bandwidth, shape = Bandwidth.of_form("symmetric", rho0), Gaussian()

    def evaluate(block: ListedRows) -> FloatArray:
        t = scaled_distances(block, bandwidth)
        if even_ends:
            t = np.where(block.at_the_end, block.sqdist / rho0[block.rows, None] ** 2, t)
        s = t / PILOT_EPSILON
        values = np.where(s < cutoff, shape(s), 0.0)
        if leave_one_out:
            values[:, 0] = 0.0
        return values

    if np.isfinite(cutoff) and by_reach(graph):
        sums = sums_within_reach(
            graph, rho0, PILOT_EPSILON, shape, cutoff, leave_one_out=leave_one_out
        )
    else:
        sums = mean_row_sums(graph, evaluate, whole_at_the_end=even_ends)
    volume = shape.moments(dim, cutoff).m0 * (PILOT_EPSILON * rho0**2) ** (dim / 2)
    own = 1.0 if graph.order.counts is None else graph.order.counts
    return density_from(np.maximum(sums, own), volume, graph.order, leave_one_out)


def mean_row_sums(
    graph: NeighborGraph,
    evaluate: Callable[[ListedRows], FloatArray],
    *,
    whole_at_the_end: bool = False,
) -> FloatArray:
    """Return the row sums of (K + Kᵀ)/2, K being known on the listed pairs, without building it.

    `evaluate` returns the values (m, k) of a block of the lists; each point counts as often as it
    occurs. With `whole_at_the_end` the row that lists a pair keeps its value whole at the end of
    the list: then the sums do not depend on which of several points at equal distances are listed.

    Notes
    -----
    Half of each value goes to the row that lists the pair, half to the other: so a pair in both
    lists counts whole, and a one-way pair counts half, for both its ends.
    """
    graph = graph.with_lists()
    sums, counts = np.zeros(graph.n_points), graph.order.counts

    def work(rows: slice) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        block = graph.block(rows)
        values = evaluate(block)
        values *= 0.5
        often = values if counts is None else values * counts[block.neighbors]
        if whole_at_the_end:
            last = block.at_the_end
            # Neither do the numbers of copies: points there count as often as points on average.
            often = np.where(last, 2 * graph.order.n_rows / graph.n_points * values, often)
            values = np.where(last, 0.0, values)
        if counts is not None:
            values *= counts[rows, None]
        return block.neighbors.reshape(-1), values.reshape(-1), often.sum(axis=1)

    blocks = graph.row_blocks()
    for rows, (neighbors, values, own) in zip(blocks, in_order(work, blocks), strict=True):
        np.add.at(sums, neighbors, values)
        sums[rows] += own
    return sums


def look_first(
    graph: NeighborGraph,
    rho0: FloatArray,
    n_density_neighbors: int,
    dim: float,
    *,
    leave_one_out: bool,
    cutoff: float = np.inf,
    even_ends: bool = False,
) -> Pilot:
    """Return the pilot of a graph, given ρ0 and the dimension."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # refused below
        density = pilot_density(
            graph, rho0, dim, leave_one_out=leave_one_out, cutoff=cutoff, even_ends=even_ends
        )
    if not ((density > 1 / LARGEST_DENSITY) & (density < LARGEST_DENSITY)).all():
        raise unusable_unit(rho0)
    return Pilot(
        frozen(density), frozen(rho0), graph.radii, n_density_neighbors, graph.n_neighbors, cutoff
    )
