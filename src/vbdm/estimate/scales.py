"""What the walk finds before there is a kernel: density, dimension, ρ and ε."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..base.checks import a_count, is_auto
from ..graph.neighbor_graph import NeighborGraph
from ..kernel.bandwidth import Bandwidth, BandwidthRule
from ..kernel.dimension import Dimension, found_by
from ..kernel.epsilon import ByDegree, GivenEpsilon
from ..kernel.pilot import (
    Pilot,
    by_reach,
    look_first,
    neighbors_within,
    pilot_bandwidth,
    pilot_cutoff,
)
from ..kernel.scaled import MOST_NEIGHBORS, ScaledPairs
from ..kernel.tuning import Tuning, chosen_by
from ..operator.arguments import Request
from ..operator.method import Lists
from ..rows.refused import no_lists
from ..shapes import radius_of
from .first_graph import BY_EPSILON
from .on_device import for_rule, from_rule, has_no_lists


@dataclass(frozen=True, eq=False)
class Scales:
    """What was found.

    Attributes
    ----------
    pilot : Pilot
        The first density, of `k0` neighbours.
    dimension : Dimension
        d.
    rule : BandwidthRule
        The rule for ρ, with everything decided.
    bandwidth : Bandwidth
        ρ, where the form has it.
    share, cutoff : float
        Share of its peak at which the kernel is cut, and the scaled squared distance of that.
    tuning : Tuning
        ε, and how it was chosen.
    n_needed : int
        Length of lists that ε needs; 0 if these are of a given length.
    within_reach : bool
        Whether the kernel's pairs are found by its reach, and not those of lists.
    """

    pilot: Pilot
    k0: int
    dimension: Dimension
    rule: BandwidthRule
    bandwidth: Bandwidth
    share: float | None
    cutoff: float
    tuning: Tuning
    n_needed: int
    within_reach: bool

    @property
    def epsilon(self) -> float:
        """ε."""
        return self.tuning.epsilon


def find_scales(
    request: Request, graph: NeighborGraph, k_from: str, n_density_neighbors: int | str
) -> tuple[NeighborGraph, Scales]:
    """Return the graph, whose lists may have grown, and what was found from it.

    What else was made on the way is not kept: lists take much memory.
    """
    method, lists = request.method, request.method.lists
    near = graph
    if lists.widen and not (k_from == BY_EPSILON and is_auto(n_density_neighbors)):
        near = graph.with_neighbors(lists.n_neighbors)
    k0 = density_neighbors(n_density_neighbors, near, lists)
    rho0 = pilot_bandwidth(near, k0)
    dimension = found_by(method.dimension, *for_rule(method.dimension, graph.n_points, near, rho0))
    d = dimension.value
    end = pilot_cutoff(d) if lists.widen else np.inf
    near = enough_for_density(graph, lists, k0, d, end)
    pilot = look_first(
        near, rho0, k0, d, leave_one_out=method.leave_one_out, cutoff=end, even_ends=lists.widen
    )
    known, density = for_rule(method.bandwidth, graph.n_points, graph, pilot.density)
    rule = method.bandwidth.settled(known, d)
    rho = from_rule(rule.on_data(known, density), pilot.density)
    bandwidth = Bandwidth.of_form(request.form, rho)
    share = method.truncation.share(graph.n_points, dimension)
    cutoff = radius_of(request.shape, share)
    # These two rules lengthen the rows that they look at; a rule of the user's own may not.
    if lists.widen and not isinstance(method.epsilon, ByDegree | GivenEpsilon):
        graph = graph.with_neighbors(max(lists.n_neighbors, graph.n_neighbors))
    pairs = ScaledPairs(graph, bandwidth, request.shape, cutoff, lists.effort, d)
    tuning = chosen_by(method.epsilon, *for_rule(method.epsilon, graph.n_points, pairs))
    needed = neighbors_needed(pairs, tuning) if k_from == BY_EPSILON else 0
    within_reach = k_from == BY_EPSILON and reaches(pairs, needed)
    return graph, Scales(
        pilot, k0, dimension, rule, bandwidth, share, cutoff, tuning, needed, within_reach
    )


def density_neighbors(wanted: int | str, graph: NeighborGraph, lists: Lists) -> int:
    """Return k0: the user's, or the method's, which is at most the length of the lists."""
    if is_auto(wanted):
        return max(2, min(lists.n_density_neighbors, graph.n_neighbors))
    return a_count(2, graph.n_neighbors)(wanted, "n_density_neighbors")


def enough_for_density(
    graph: NeighborGraph, lists: Lists, k0: int, dim: float, cutoff: float
) -> NeighborGraph:
    """Return the graph with lists over which the pilot density can be summed, where it needs any.

    The paper's lists are what they are.
    """
    if not lists.widen or (np.isfinite(cutoff) and by_reach(graph)):
        return graph
    if has_no_lists(graph):
        raise no_lists(f"points in {dim:.2g} dimensions, whose density is summed over lists")
    held = lists.n_neighbors if np.isinf(cutoff) else neighbors_within(cutoff, k0, dim)
    if graph.is_whole and np.isfinite(cutoff):
        held = graph.n_points
    return graph.with_neighbors(held)


def neighbors_needed(pairs: ScaledPairs, tuning: Tuning) -> int:
    """Return the length of lists that hold the kernel at 99 % of the points."""
    # A rule may leave open how many neighbours its ε needs; then it is found out here.
    needed = tuning.n_neighbors or GivenEpsilon(tuning.epsilon).choose(pairs).n_neighbors
    return int(needed or pairs.graph.n_neighbors)


def reaches(pairs: ScaledPairs, needed: int) -> bool:
    """Tell whether the kernel's pairs can be found by its reach: points with a tree, a finite cut.

    An approximate search was asked for, or taken, to save time: then its lists are the pairs. In
    many dimensions far more points lie within reach than the longest lists hold: then, too.
    """
    graph = pairs.graph
    return (
        by_reach(graph)
        and pairs.bandwidth.is_symmetric
        and bool(np.isfinite(pairs.cutoff))
        and needed < MOST_NEIGHBORS
    )
