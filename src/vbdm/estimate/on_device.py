"""Where a device computes: what users' own rules get, and what is done in memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from ..base.arrays import FloatArray, is_elsewhere, to_host
from ..engines.choose import not_on_device
from ..errors import EngineWarning, warn_user
from ..graph.neighbor_graph import NeighborGraph
from ..graph.on_host import Moved, brought
from ..kernel.bandwidth import FromPotential, GivenBandwidth, PowerOfDensity, TwoBandwidths
from ..kernel.dimension import ByRatios, GivenDimension
from ..kernel.epsilon import ByDegree, GivenEpsilon
from ..operator.arguments import Request
from ..operator.operator import Operator
from ..rows.refused import NeedsLists

#: Why the processor computes where a device was to, in words for the settings.
BY_LISTS = "kernels on lists of neighbours are worked on in memory"
#: Rules for d, ρ and ε that take arrays wherever they live; classes derived from them may not.
OWN_RULES = (
    ByRatios, GivenDimension, PowerOfDensity, GivenBandwidth, TwoBandwidths, FromPotential,
    ByDegree, GivenEpsilon,
)  # fmt: skip


def there_if_possible(
    go: Callable[..., Operator],
    first: Callable[..., Any],
    cloud: Any,
    engine: str,
    request: Request,
) -> Operator:
    """Walk on the device or, where it turns out that lists are needed, in memory."""
    try:
        return go(partial(first, cloud, engine=engine))
    except NeedsLists:
        # Only when dimension and ε are known is it known that lists are needed.
        refuse_output(request)
    warn_user(
        "The kernel needs lists of neighbours, as in many dimensions: the processor computes, "
        "which takes longer. engine='numba' silences this.",
        EngineWarning,
    )
    return go(partial(first, to_host(cloud), why=BY_LISTS))


def for_rule(rule: object, n_points: int, *args: Any) -> tuple[Any, ...]:
    """Return the arguments of a rule: one that is not among our own gets them in memory.

    The number of points decides which engine computes with them there.
    """
    if type(rule) in OWN_RULES:
        return args
    moved: Moved = {}
    return tuple(brought(arg, n_points, moved) for arg in args)


def from_rule(rho: Any, beside: FloatArray) -> Any:
    """Return what a rule gives for ρ, one array or two, in double precision beside another."""
    if isinstance(rho, tuple):
        return tuple(from_rule(part, beside) for part in rho)
    like = beside if is_elsewhere(beside) else None
    return np.asarray(rho, dtype=np.float64, like=cast(Any, like))


def has_no_lists(graph: NeighborGraph) -> bool:
    """Tell whether rows live in blocks, or on a device: there no kernel is evaluated on lists."""
    return graph.point_set.rows is not None or is_elsewhere(graph.order.permutation)


def listed_in_memory(graph: NeighborGraph, request: Request) -> NeighborGraph:
    """Return a graph whose lists are the kernel's pairs: in memory, where kernels on them are."""
    if not is_elsewhere(graph.order.permutation):
        return graph
    refuse_output(request)
    graph = graph.on_host
    return replace(graph, point_set=replace(graph.point_set, engine_reason=BY_LISTS))


def refuse_output(request: Request) -> None:
    """Refuse to leave results on a device where the kernel is evaluated on lists."""
    if request.output == "device":
        raise not_on_device(
            "Results of an estimate by lists of neighbours",
            "output='device'",
            "Lists are needed for method='paper', `n_neighbors`, no `truncation`, and in many "
            "dimensions. Leave `output` out. ",
        )
