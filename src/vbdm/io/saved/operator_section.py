"""The sections of an operator: pilot, dimension, bandwidth, kernel, tuning, settings, operator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from ...base.arrays import FloatArray, IntArray
from ...base.memory import refuse_lists, refuse_pairs
from ...base.parameters import FORMS
from ...engines.tree import Reach
from ...graph.neighbor_graph import NeighborGraph
from ...kernel.bandwidth import Bandwidth
from ...kernel.dimension import Dimension
from ...kernel.kernel import Kernel, evaluate_kernel
from ...kernel.pair_matrix import PairMatrix
from ...kernel.pilot import Pilot
from ...kernel.tuning import DegreeCurve, KeptCurve, SlopeCurve, Tuning
from ...kernel.within_reach import kernel_within_reach, sums_of
from ...operator.operator import Inside, Operator
from ...operator.record import Settings
from .archive import Source
from .consistency import check_bandwidth, check_operator, check_pilot, check_widths
from .fields import (
    POSITIVE,
    Array,
    Arrays,
    Maybe,
    Number,
    OneOf,
    count,
    pack,
    part,
    require,
    unpack,
)
from .graph_section import pack_graph, unpack_graph
from .settings_section import CREDIT, DIM, PRECISIONS, SETTINGS, SHAPE

#: One positive number per point, in the order inside.
WIDTHS = Array(("M",), low=POSITIVE, frozen=False)
PILOT = part(
    # Infinite where the volume of a kernel is too small for a number.
    Pilot, density=Array(("M",), low=0, high=np.inf), rho0=WIDTHS, radii=Array(("M",), low=0),
    n_density_neighbors=count(2), n_neighbors=count(2), cutoff=Number(POSITIVE, np.inf),
)  # fmt: skip
DIMENSION = part(
    Dimension, value=DIM, standard_error=Number(0, missing=True),
    by_scale=Maybe(Array(("scales",), low=POSITIVE)), credit=CREDIT,
)  # fmt: skip
EPSILONS, SUMS = Array(("e",), low=POSITIVE), Array(("e",), low=0)
CURVE = OneOf("curve", {
    "slopes": part(
        SlopeCurve, epsilons=EPSILONS, sums=SUMS, slopes=Array(("e - 1",), missing=True)
    ),
    "degrees": part(
        KeptCurve, epsilons=EPSILONS, sums=SUMS, slopes=Array(("e",), missing=True),
        levels=Array(("levels",), low=0, high=1), quantiles=Array(("levels", "e"), low=0),
    ),
})  # fmt: skip
TUNING = part(
    Tuning, epsilon=Number(POSITIVE), rule=str, words=str, curve=Maybe(CURVE),
    target=Maybe(Number()), n_neighbors=count(),
)  # fmt: skip
#: Leaves of the tree in which pairs are counted, before all are.
SOME_LEAVES = 8
#: Sections that stand for themselves.
SECTIONS = {"pilot": PILOT, "dimension": DIMENSION, "tuning": TUNING, "settings": SETTINGS}
OPERATOR = part(dict, factor=WIDTHS, degrees=Array(("M",), low=0), steps=WIDTHS)
#: How often points count, where weights are multiplicities.
MULTIPLICITY = Array(("M",), low=POSITIVE)
#: U at the points, in the order inside, where it weights the pairs: given, or of weights.
POTENTIAL = Array(("M",))


def make_bandwidth(form: str, rho: FloatArray, rho2: FloatArray | None) -> Bandwidth:
    """Place ρ, or a pair, where the form wants it."""
    require((rho2 is not None) == (form == "two-sided"), "bandwidth/rho2", "does not fit the form")
    return Bandwidth.of_form(form, rho if rho2 is None else (rho, rho2))


BANDWIDTH = part(make_bandwidth, form=FORMS, rho=WIDTHS, rho2=Maybe(WIDTHS))


def make_matrix(data: FloatArray, indices: IntArray, pointer: IntArray) -> Any:
    """Make a sparse matrix, if its rows begin and end where its entries are."""
    rising = pointer[0] == 0 and pointer[-1] == len(data) and (pointer[1:] >= pointer[:-1]).all()
    require(rising, "kernel", "has rows out of order")
    return csr_array((data, indices, pointer), shape=(len(pointer) - 1, len(pointer) - 1))


def matrix(axis: str, kinds: str) -> Maybe:
    """Return the field of a sparse matrix, row by row; it is absent if it is to be evaluated."""
    return Maybe(part(
        make_matrix, data=Array((axis,), kinds, low=0, empty=True, frozen=False),
        pointer=Array(("M + 1",), "i", low=0, frozen=False),
        indices=Array((axis,), "i", below="M", empty=True, frozen=False),
    ))  # fmt: skip


KERNEL = part(
    dict, epsilon=Number(POSITIVE), shape=SHAPE, saturated=Number(0, 1), leave_one_out=bool,
    cutoff=Number(POSITIVE, np.inf), one_way_share=Number(0, 1), power=count(1, 64),
    by_reach=bool, precision=PRECISIONS, listed=matrix("pairs", "fs"),
    one_way=matrix("single", "f"),
)  # fmt: skip


def pack_operator(operator: Operator, out: Arrays, *, entries: bool) -> dict[str, Any]:
    """Return the sections of an operator, with or without the entries of its kernel matrix."""
    parts = {**vars(operator), **vars(operator.inside)}
    if isinstance(operator.tuning.curve, DegreeCurve):
        # Evaluated: it is small, what it is computed from is not.
        parts["tuning"] = replace(operator.tuning, curve=KeptCurve.of(operator.tuning.curve))
    numbers = {**parts, "factor": operator.alpha_kernel.factor}
    return {
        **pack_graph(needed_graph(operator.kernel), out),
        **{name: pack(field, parts[name], name, out) for name, field in SECTIONS.items()},
        "bandwidth": pack_bandwidth(operator.kernel.bandwidth, out),
        "kernel": pack_kernel(operator.kernel, out, entries=entries),
        "operator": pack(OPERATOR, numbers, "operator", out),
        **pack_weights(operator, out),
    }


def unpack_operator(source: Source) -> Operator:
    """Make an operator again."""
    head, graph = source.head, unpack_graph(source)
    parts = {name: unpack(field, head[name], name, source) for name, field in SECTIONS.items()}
    pilot = parts["pilot"]
    listed = pilot.n_density_neighbors <= pilot.n_neighbors <= graph.n_points
    require(listed, "pilot/n_neighbors", "is more than there are")
    lengths = parts["settings"].series.lengths
    whole = not lengths or sum(lengths) == graph.order.n_rows
    require(whole, "settings/series/lengths", "are those of other rows")
    settings = parts["settings"]
    check_widths(pilot, graph)
    check_pilot(pilot, settings.exponents.dim, graph.order.n_rows)
    bandwidth = unpack(BANDWIDTH, head["bandwidth"], "bandwidth", source)
    check_bandwidth(bandwidth, settings, graph, pilot)
    kernel = unpack_kernel(graph, bandwidth, source)
    numbers = unpack(OPERATOR, head["operator"], "operator", source)
    factor = numbers.pop("factor")
    weights = kernel.weights.scaled(factor, factor)
    inside = Inside(
        pilot=parts.pop("pilot"), potential=unpack_potential(settings, source),
        multiplicity=unpack_multiplicity(settings, source), **numbers,
    )  # fmt: skip
    made = Operator(kernel=kernel, alpha_kernel=weights, inside=inside, **parts)
    check_operator(made)
    return made


def pack_weights(operator: Operator, out: Arrays) -> dict[str, Any]:
    """Return the sections of a potential and of multiplicities, if there are any."""
    found = {"potential": POTENTIAL, "multiplicity": MULTIPLICITY}
    values = {name: getattr(operator.inside, name) for name in found}
    return {
        name: pack(field, values[name], name, out)
        for name, field in found.items()
        if values[name] is not None
    }


def unpack_multiplicity(settings: Settings, source: Source) -> FloatArray | None:
    """Return how often points count, if weights are multiplicities: then it must be there."""
    if settings.weighting.kind != "counts":
        return None
    found: FloatArray = unpack(MULTIPLICITY, source.head["multiplicity"], "multiplicity", source)
    return found


def unpack_potential(settings: Settings, source: Source) -> FloatArray | None:
    """Return U, if a potential that is not the bandwidth, or weights, were given: it must be."""
    weighted = settings.weighting.kind == "measure" and bool(settings.exponents.c1)
    given = "potential" in settings.given and settings.exponents.beta is not None
    if not (given or weighted):
        return None
    found: FloatArray = unpack(POTENTIAL, source.head["potential"], "potential", source)
    return found


def needed_graph(kernel: Kernel) -> NeighborGraph:
    """Return the graph to be saved; without its lists where the kernel's pairs are no lists."""
    return kernel.graph.released() if kernel.by_reach else kernel.graph


def pack_bandwidth(bandwidth: Bandwidth, out: Arrays) -> Any:
    """Write down ρ, and the second one of a pair."""
    form, row, column = bandwidth.form, bandwidth.row, bandwidth.column
    second = column if form == "two-sided" else None
    parts = {"form": form, "rho": column if form == "right" else row, "rho2": second}
    return pack(BANDWIDTH, parts, "bandwidth", out)


def entries_of(matrix: Any) -> dict[str, Any]:
    """Take a sparse matrix apart."""
    return {"data": matrix.data, "indices": matrix.indices, "pointer": matrix.indptr}


def pack_kernel(kernel: Kernel, out: Arrays, *, entries: bool) -> Any:
    """Write down the kernel; one that was squared cannot be evaluated again."""
    weights = kernel.weights
    parts: dict[str, Any] = {
        **vars(kernel), "power": weights.power, "precision": kernel.precision
    }  # fmt: skip
    # A kernel in blocks is evaluated again from what else is written down.
    matrices = (None, None)
    if isinstance(weights, PairMatrix):
        matrices = (weights.listed, weights.returned)
    for name, rows in zip(("listed", "one_way"), matrices, strict=True):
        kept = rows is not None and (entries or weights.power != 1)
        parts[name] = entries_of(rows) if kept else None
    return pack(KERNEL, parts, "kernel", out)


def unpack_kernel(graph: NeighborGraph, bandwidth: Bandwidth, source: Source) -> Kernel:
    """Make the kernel again, or evaluate it if its entries were left out."""
    parts = unpack(KERNEL, source.head["kernel"], "kernel", source)
    listed, one_way, power = (parts.pop(key) for key in ("listed", "one_way", "power"))
    precision = parts.pop("precision")
    two = listed is not None and bandwidth.is_symmetric and not parts["by_reach"]
    require((one_way is not None) == two, "kernel/one_way", "does not fit the form")
    check_pairs(graph, bandwidth, listed, precision, parts)
    if listed is not None:
        weights = PairMatrix(listed, one_way, power=power, engine=graph.point_set.engine)
        sums = sums_of(listed) if parts["by_reach"] and power == 1 else None
        return Kernel(graph=graph, weights=weights, bandwidth=bandwidth, known_sums=sums, **parts)
    require(power == 1, "kernel/listed", "is missing")
    return evaluated_again(graph, bandwidth, precision, parts)


def check_pairs(
    graph: NeighborGraph, bandwidth: Bandwidth, listed: Any, precision: str, parts: dict[str, Any]
) -> None:
    """Raise if the stored pairs are not such as they are said to be."""
    if listed is not None:
        stored = "single" if listed.dtype == np.float32 else "double"
        require(stored == precision, "kernel/listed/data", "has another precision")
    if not parts["by_reach"]:
        require(precision == "double", "kernel/precision", "is not that of lists")
        return
    whole = bandwidth.is_symmetric and parts["one_way_share"] == 1.0
    found = graph.point_set.tree is not None and np.isfinite(parts["cutoff"])
    require(whole and found, "kernel/by_reach", "does not fit the points or the form")
    require(listed is None or ascending(listed), "kernel/listed/indices", "are out of order")


def ascending(matrix: Any) -> bool:
    """Tell whether the columns ascend in every row; one byte per entry is taken meanwhile."""
    rising = matrix.indices[1:] > matrix.indices[:-1]
    starts = matrix.indptr[(matrix.indptr > 0) & (matrix.indptr < matrix.nnz)]
    rising[starts - 1] = True
    return bool(rising.all())


def evaluated_again(
    graph: NeighborGraph, bandwidth: Bandwidth, precision: str, parts: dict[str, Any]
) -> Kernel:
    """Evaluate a kernel whose entries were left out, on the pairs that it had."""
    if parts["by_reach"]:
        refuse_wide_reach(graph, bandwidth, parts["cutoff"] * parts["epsilon"])
        return kernel_within_reach(
            graph, bandwidth, parts["epsilon"], parts["shape"], cutoff=parts["cutoff"],
            leave_one_out=parts["leave_one_out"], precision=precision,
        )  # fmt: skip
    X = graph.point_set.coordinates
    refuse_lists(graph.n_points, graph.n_neighbors, 1 if X is None else X.shape[1])
    names = ("epsilon", "shape", "leave_one_out", "cutoff", "one_way_share")
    kernel = evaluate_kernel(graph, bandwidth, **{name: parts[name] for name in names})
    return replace(kernel, saturated=parts["saturated"])


def refuse_wide_reach(graph: NeighborGraph, bandwidth: Bandwidth, scale: float) -> None:
    """Raise if the pairs of a few points show that all of them would not fit into memory.

    To count all pairs takes long if the reach is wide: as long as N² distances.
    """
    tree, n = graph.point_set.tree, graph.n_points
    if tree is None:
        return
    reach = Reach.of(tree, bandwidth.row, scale)
    blocks = list(tree.leaf_blocks(1))
    some = blocks[:: max(1, len(blocks) // SOME_LEAVES)]
    found = [graph.point_set.engine.count_within(reach, leaf) for leaf in some]
    refuse_pairs(n, int(np.concatenate(found).mean() * n), tree.columns.shape[0])
