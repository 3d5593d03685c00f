"""What the walk finds before there is a kernel: density, dimension, ρ and ε."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..base.arrays import FloatArray, is_elsewhere
from ..base.checks import a_count, is_auto
from ..graph.neighbor_graph import NeighborGraph
from ..graph.on_host import Moved, host_copy
from ..kernel.bandwidth import (
    Bandwidth,
    BandwidthRule,
    FromPotential,
    GivenBandwidth,
    PowerOfDensity,
    TwoBandwidths,
)
from ..kernel.dimension import ByRatios, Dimension, GivenDimension, estimate_by
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
from ..kernel.tuning import Tuning, choose_by
from ..operator.arguments import Request
from ..operator.method import Lists
from ..rows.place import no_lists
from ..shapes import radius_of
from .first_graph import BY_EPSILON

#: Rules for d, ρ and ε that take arrays wherever they live; classes derived from them may not.
OWN_RULES = (
    ByRatios, GivenDimension, PowerOfDensity, GivenBandwidth, TwoBandwidths, FromPotential,
    ByDegree, GivenEpsilon,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Scales:
    """What was found."""

    #: The first density, of `k0` neighbours.
    pilot: Pilot
    k0: int
    dimension: Dimension
    #: The rule for ρ, with everything decided, and ρ where the form has it.
    rule: BandwidthRule
    bandwidth: Bandwidth
    #: Share of its peak at which the kernel is cut, and the scaled squared distance of that.
    share: float | None
    cutoff: float
    #: ε, and how it was chosen.
    tuning: Tuning
    #: Length of lists that ε needs; 0 if these are of a given length.
    n_needed: int
    #: Whether the kernel's pairs are found by its reach, and not those of lists.
    within_reach: bool

    @property
    def epsilon(self) -> float:
        """ε."""
        return self.tuning.epsilon


def find_scales(
    request: Request, graph: NeighborGraph, k_from: str
) -> tuple[NeighborGraph, Scales]:
    """Return the graph, whose lists may have grown, and what was found from it.

    What else was made on the way is not kept: lists take much memory.
    """
    method, lists = request.method, request.method.lists
    near, wanted = graph, request.n_density_neighbors
    if lists.widen and not (k_from == BY_EPSILON and is_auto(wanted)):
        near = graph.with_neighbors(lists.n_neighbors)
    if is_auto(wanted):
        k0 = max(2, min(lists.n_density_neighbors, near.n_neighbors))
    else:
        k0 = a_count(2, near.n_neighbors)(wanted, "n_density_neighbors")
    rho0 = pilot_bandwidth(near, k0)
    dimension = estimate_by(
        method.dimension, *for_rule(method.dimension, graph.n_points, near, rho0)
    )
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
    tuning = choose_by(method.epsilon, *for_rule(method.epsilon, graph.n_points, pairs))
    needed = neighbors_needed(pairs, tuning) if k_from == BY_EPSILON else 0
    # An approximate search was asked for, or taken, to save time: then its lists are the pairs. In
    # many dimensions far more points lie within reach than the longest lists hold: then, too.
    within_reach = (
        k_from == BY_EPSILON
        and by_reach(graph)
        and bandwidth.is_symmetric
        and bool(np.isfinite(cutoff))
        and needed < MOST_NEIGHBORS
    )
    return graph, Scales(
        pilot, k0, dimension, rule, bandwidth, share, cutoff, tuning, needed, within_reach
    )


def for_rule(rule: object, n_points: int, *args: Any) -> tuple[Any, ...]:
    """Return the arguments of a rule: one that is not among our own gets them in memory.

    The number of points decides which engine computes with them there.
    """
    if type(rule) in OWN_RULES:
        return args
    moved: Moved = {}
    return tuple(host_copy(arg, n_points, moved) for arg in args)


def from_rule(rho: Any, beside: FloatArray) -> Any:
    """Return what a rule gives for ρ, one array or two, in double precision beside another."""
    if isinstance(rho, tuple):
        return tuple(from_rule(part, beside) for part in rho)
    like = beside if is_elsewhere(beside) else None
    return np.asarray(rho, dtype=np.float64, like=cast(Any, like))


def has_no_lists(graph: NeighborGraph) -> bool:
    """Tell whether rows live in blocks, or on a device: there no kernel is evaluated on lists."""
    return graph.point_set.rows is not None or is_elsewhere(graph.order.permutation)


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
