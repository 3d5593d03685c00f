"""From graphs, operators and spectra to what a file says (`schema`), and back.

Indices are looked at, and sizes against each other: whatever a file says, nothing foreign is read,
and no more memory is taken than there is. That its numbers are true, the checksum says.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from msgspec import structs
from scipy.sparse import csr_array

from ... import rules
from ...base.arrays import FloatArray, frozen
from ...base.memory import refuse_lists, refuse_pairs
from ...engines.choose import chosen_engine
from ...engines.numba_engine import CompiledIndex
from ...engines.tree import LEAF, Reach, Tree
from ...graph.lists import KeptLists, ReleasedLists
from ...graph.neighbor_graph import NeighborGraph
from ...graph.order import Copies, Order
from ...graph.point_set import PRECOMPUTED, Distance, PointSet, faster, tree_of
from ...kernel.bandwidth import Bandwidth
from ...kernel.kernel import Kernel, evaluate_kernel
from ...kernel.pair_matrix import PairMatrix
from ...kernel.tuning import DegreeCurve, KeptCurve, SlopeCurve, Tuning
from ...kernel.within_reach import kernel_within_reach, sums_of
from ...operator.operator import Inside, Operator
from ...search.brute import BruteForce, BruteIndex
from ...search.directions import ProjectedIndex, RotatedIndex, along_and_rest
from ...search.exact import KDTree, NeighborIndex, PeriodicIndex, PeriodicTree, TreeIndex
from ...search.external import ApproximateIndex, MetricIndex, MetricSearch, PyNNDescent
from ...spectrum.limiter import Limits
from ...spectrum.pieces import Pieces
from ...spectrum.spectrum import Spectrum
from . import schema
from .archive import cannot_save, require
from .schema import GraphModel, OperatorModel, SpectrumModel

#: Leaves of the tree in which pairs are counted, before all are.
SOME_LEAVES = 8
#: Dimensions beyond make constants of the kernel that are no numbers.
LARGEST_DIM = 600

# --- Graphs --------------------------------------------------------------------------------------


def parts_of_graph(graph: NeighborGraph) -> dict[str, Any]:
    """Return what a file says of a graph."""
    points, lists, copies = graph.point_set, graph.lists, graph.copies
    if callable(graph.metric):
        raise cannot_save(graph.metric, "metric")
    parts = {
        "permutation": graph.order.permutation, "point_of": copies and copies.point_of,
        "points": points.coordinates, "metric": graph.metric, "period": graph.period,
        "tree": points.tree is not None,
        "search": points.search, "search_reason": points.search_reason,
        "n_neighbors": lists.n_neighbors, "neighbors": getattr(lists, "indices", None),
        "sqdist": getattr(lists, "sqdist", None), "radii": getattr(lists, "radii", None),
        "exact": graph.exact, "recall": graph.recall,
    }  # fmt: skip
    return {"graph": parts, "index": None if points.index is None else parts_of_index(points.index)}


def parts_of_index(index: Any) -> dict[str, Any]:
    """Return what a file says of an engine; one of the user's own is refused."""
    match index:
        case TreeIndex() | CompiledIndex():
            return {"kind": "tree", "leafsize": leafsize_of(index)}
        case PeriodicIndex():
            return {"kind": "periodic", "leafsize": leafsize_of(index.inner)}
        case BruteIndex():
            return {"kind": "brute"}
        case MetricIndex():
            return {"kind": "metric"}
        case ApproximateIndex():
            engine = index.engine
            return {
                "kind": "approximate", "spare": index.spare, "epsilon": index.epsilon,
                "n_neighbors": engine.n_neighbors, "random_state": engine.random_state,
            }  # fmt: skip
        case RotatedIndex():
            inner = parts_of_index(index.inner)
            return {"kind": "rotated", "rotation": index.rotation, "inner": inner}
        case ProjectedIndex():
            inner = parts_of_index(index.inner)
            found = {"centre": index.centre, "basis": index.basis}
            return {"kind": "projected", **found, "inner": inner}
    raise cannot_save(index, "search")


def leafsize_of(index: Any) -> int:
    """Return the size of the leaves of a tree, ours or SciPy's."""
    return LEAF if isinstance(index.tree, Tree) else int(index.tree.leafsize)


def make_index(own: schema.Index, cloud: FloatArray, distance: Distance) -> NeighborIndex:
    """Build an engine again, from the points and by the distance of the graph."""
    special = "periodic" if distance.metric == "euclidean" else "metric"
    fits = own.kind == special if own.kind in ("periodic", "metric") else distance.is_euclidean
    require(fits, "index", "does not fit the metric")
    match own.kind:
        case "tree":
            return KDTree(own.leafsize).index(cloud, 1)
        case "brute":
            return BruteForce().index(cloud, 1)
        case "periodic":
            return PeriodicTree(np.asarray(distance.period), own.leafsize).index(cloud, 1)
        case "metric":
            return MetricSearch(distance.metric).index(cloud, 1)
        case "approximate":
            search = PyNNDescent(own.spare, own.epsilon, own.random_state)
            return search.index(cloud, own.n_neighbors)
    rotated = own.kind == "rotated"
    names = ("rotation",) if rotated else ("centre", "basis")
    parts: dict[str, Any] = {name: getattr(own, name) for name in names}
    # So that the points inside take no more room than those outside.
    columns, directions = parts[names[-1]].shape
    require(directions <= columns, "index", "has too many directions")
    if own.inner is None or own.inner.inner is not None:
        raise ValueError("index/inner is no plain engine")
    inside = cloud @ parts["rotation"] if rotated else along_and_rest(cloud, **parts)
    inner = make_index(own.inner, inside, Distance())
    parts |= {"rows_per_call": inner.rows_per_call, "parallel": inner.parallel}
    return (RotatedIndex if rotated else ProjectedIndex)(inner=inner, cloud=cloud, **parts)


def make_graph(model: GraphModel) -> NeighborGraph:
    """Make a graph again."""
    points = make_points(model.graph, model.index)
    lists = make_lists(model.graph, points)
    return NeighborGraph(points, lists, exact=model.graph.exact, recall=model.graph.recall)


def make_points(graph: schema.Graph, index: schema.Index | None) -> PointSet:
    """Make the points with their order, their distance and the engine that searches them."""
    permutation, cloud = graph.permutation, graph.points
    require((np.bincount(permutation) == 1).all(), "graph/permutation", "is no permutation")
    copies = None
    if graph.point_of is not None:
        found, first, counts = np.unique(graph.point_of, return_index=True, return_counts=True)
        require(len(found) == len(permutation), "graph/point_of", "leaves points out")
        copies = Copies(graph.point_of, frozen(first), frozen(counts.astype(np.float64)))
    distance = Distance(graph.metric, graph.period)
    if cloud is None:
        bare = index is None and distance.period is None and not graph.tree
        require(bare and distance.metric == PRECOMPUTED, "graph/points", "are missing")
    tree = tree_of(cloud, distance) if graph.tree and cloud is not None else None
    require((tree is not None) == graph.tree, "graph/tree", "does not fit the points")
    order = Order(permutation, copies)
    # Who computes is chosen anew: this machine may have other engines.
    engine, reason = chosen_engine("auto", order.n_rows)
    searched = None
    if index is not None and cloud is not None:
        searched = make_index(index, cloud, distance)
        if tree is not None and graph.search.name == CompiledIndex.credit.name:
            own = engine.nearest(tree)
            searched = searched if own is None else faster(searched, own, graph.search)[0]
    return PointSet(
        order, distance, cloud, tree, searched,
        search=graph.search, search_reason=graph.search_reason,
        engine=engine, engine_reason=reason,
    )  # fmt: skip


def make_lists(graph: schema.Graph, points: PointSet) -> KeptLists | ReleasedLists:
    """Make the lists of neighbours, kept or to be searched for again."""
    k, neighbors, radii = graph.n_neighbors, graph.neighbors, graph.radii
    require(k <= points.n_points, "graph/n_neighbors", "is more than there are")
    if neighbors is not None:
        first = neighbors[:, 0] == np.arange(points.n_points)
        require(neighbors.shape[1] == k and first.all(), "graph/neighbors", "is out of order")
        known = graph.sqdist is not None or points.coordinates is not None
        require(known, "graph/sqdist", "is missing")
        return KeptLists(neighbors, graph.sqdist)
    if radii is None or points.index is None:
        raise ValueError("graph/neighbors is missing")
    # One list is searched for: it shows whether all of them are as long as the file says.
    _, found = points.nearest(np.zeros(1, dtype=np.intp), k)
    require(np.isclose(found[0, -1], radii[0], 1e-6, 0), "graph/radii", "are of other lists")
    return ReleasedLists(k, radii)


# --- Operators -----------------------------------------------------------------------------------


def parts_of_operator(operator: Operator, *, entries: bool) -> dict[str, Any]:
    """Return what a file says of an operator, with or without the entries of its kernel matrix."""
    kernel, tuning = operator.kernel, operator.tuning
    if isinstance(tuning.curve, DegreeCurve):
        # Evaluated: it is small, what it is computed from is not.
        tuning = replace(tuning, curve=KeptCurve.of(tuning.curve))
    # The lists of neighbours are left out where the kernel's pairs are no lists.
    graph = kernel.graph.released() if kernel.by_reach else kernel.graph
    form, row, column = kernel.bandwidth.form, kernel.bandwidth.row, kernel.bandwidth.column
    second = column if form == "two-sided" else None
    names = ("degrees", "steps", "potential", "multiplicity")
    return {
        **parts_of_graph(graph),
        "pilot": operator.inside.pilot,
        "dimension": operator.dimension,
        "tuning": tuning,
        "settings": replace(operator.settings, output="numpy"),
        "bandwidth": {"form": form, "rho": column if form == "right" else row, "rho2": second},
        "kernel": parts_of_kernel(kernel, entries=entries),
        "operator": {
            "factor": operator.alpha_kernel.factor,
            **{name: getattr(operator.inside, name) for name in names},
        },
    }


def parts_of_kernel(kernel: Kernel, *, entries: bool) -> dict[str, Any]:
    """Return what a file says of a kernel; one that was squared cannot be evaluated again."""
    weights, matrices = kernel.weights, {}
    # A kernel in blocks is evaluated again from what else is written down.
    if isinstance(weights, PairMatrix) and (entries or weights.power != 1):
        matrices = {"listed": weights.listed, "one_way": weights.returned}
    names = (
        "epsilon", "shape", "saturated", "leave_one_out", "cutoff", "one_way_share", "by_reach",
        "precision",
    )  # fmt: skip
    return {
        **{name: getattr(kernel, name) for name in names},
        "power": weights.power,
        **{
            name: {"data": rows.data, "pointer": rows.indptr, "indices": rows.indices}
            for name, rows in matrices.items()
            if rows is not None
        },
    }


def make_operator(model: OperatorModel) -> Operator:
    """Make an operator again."""
    graph = make_graph(model)
    pilot, settings, numbers = model.pilot, model.settings, model.operator
    listed = 2 <= pilot.n_density_neighbors <= pilot.n_neighbors <= graph.n_points
    require(listed and pilot.cutoff > 0, "pilot/n_neighbors", "is more than there are")
    check_settings(model, graph.order.n_rows)
    kernel = make_kernel(model, graph)
    inside = Inside(
        pilot=pilot, degrees=numbers.degrees, steps=numbers.steps,
        potential=numbers.potential, multiplicity=numbers.multiplicity,
    )  # fmt: skip
    weights = kernel.weights.scaled(numbers.factor, numbers.factor)
    return Operator(
        kernel=kernel, alpha_kernel=weights, inside=inside, dimension=model.dimension,
        tuning=Tuning(**structs.asdict(model.tuning)), settings=settings,
    )  # fmt: skip


def check_settings(model: OperatorModel, n_rows: int) -> None:
    """Raise if rules are not settled, or do not fit the rows."""
    settings, numbers = model.settings, model.operator
    lengths, rule = settings.series.lengths, settings.method.bandwidth
    whole = not lengths or (min(lengths) >= 1 and sum(lengths) == n_rows)
    require(whole, "settings/series/lengths", "are those of other rows")
    require(0 < settings.exponents.dim <= LARGEST_DIM, "settings/exponents/dim", "is none")
    settled = rule.beta == settings.exponents.beta
    if isinstance(rule, rules.PowerOfDensity):
        settled = settled and rule.beta is not None
    if isinstance(rule, rules.FromPotential):
        settled = settled and rule.dim is not None and rule.centre is not None
    require(settled, "settings/method/bandwidth", "is not settled")
    curve = model.tuning.curve
    whole = curve is None or len(curve.slopes) == len(curve.sums) - isinstance(curve, SlopeCurve)
    require(whole, "tuning/curve/slopes", "are of another curve")
    kind = settings.weighting.kind
    require(kind in ("none", "measure", "counts"), "settings/weighting/kind", f"is {kind!r:.40}")
    counted = kind != "counts" or numbers.multiplicity is not None
    require(counted, "operator/multiplicity", "is missing")


def make_kernel(model: OperatorModel, graph: NeighborGraph) -> Kernel:
    """Make the kernel again, or evaluate it if its entries were left out."""
    own, widths = model.kernel, model.bandwidth
    second = widths.rho2
    require((second is not None) == (widths.form == "two-sided"), "bandwidth/rho2", "is missing")
    rho = widths.rho if second is None else (widths.rho, second)
    bandwidth = Bandwidth.of_form(widths.form, rho)
    listed, one_way = (make_matrix(rows) for rows in (own.listed, own.one_way))
    two = listed is not None and bandwidth.is_symmetric and not own.by_reach
    require((one_way is not None) == two, "kernel/one_way", "does not fit the form")
    check_pairs(own, listed, bandwidth, graph)
    if listed is None:
        require(own.power == 1, "kernel/listed", "is missing")
        return evaluated_again(graph, bandwidth, own)
    weights = PairMatrix(listed, one_way, power=own.power, engine=graph.point_set.engine)
    return Kernel(
        graph=graph, weights=weights, bandwidth=bandwidth, epsilon=own.epsilon, shape=own.shape,
        saturated=own.saturated, leave_one_out=own.leave_one_out, cutoff=own.cutoff,
        one_way_share=own.one_way_share, by_reach=own.by_reach,
        known_sums=sums_of(listed) if own.by_reach and own.power == 1 else None,
    )  # fmt: skip


def make_matrix(rows: schema.Matrix | None) -> Any:
    """Make a sparse matrix, if its rows begin and end where its entries are."""
    if rows is None:
        return None
    pointer, n = rows.pointer, len(rows.pointer) - 1
    rising = pointer[0] == 0 and pointer[-1] == len(rows.data) and (np.diff(pointer) >= 0).all()
    require(rising, "kernel", "has rows out of order")
    return csr_array((rows.data, rows.indices, pointer), shape=(n, n))


def check_pairs(
    own: schema.KernelParts, listed: Any, bandwidth: Bandwidth, graph: NeighborGraph
) -> None:
    """Raise if the pairs are not such as they are said to be."""
    if listed is not None:
        stored = "single" if listed.dtype == np.float32 else "double"
        require(stored == own.precision, "kernel/listed/data", "has another precision")
    if not own.by_reach:
        require(own.precision == "double", "kernel/precision", "is not that of lists")
        return
    whole = bandwidth.is_symmetric and own.one_way_share == 1.0
    found = graph.point_set.tree is not None and np.isfinite(own.cutoff)
    require(whole and found, "kernel/by_reach", "does not fit the points or the form")
    require(listed is None or ascending(listed), "kernel/listed/indices", "are out of order")


def ascending(matrix: Any) -> bool:
    """Tell whether the columns ascend in every row; one byte per entry is taken meanwhile."""
    rising = matrix.indices[1:] > matrix.indices[:-1]
    starts = matrix.indptr[(matrix.indptr > 0) & (matrix.indptr < matrix.nnz)]
    rising[starts - 1] = True
    return bool(rising.all())


def evaluated_again(graph: NeighborGraph, bandwidth: Bandwidth, own: schema.KernelParts) -> Kernel:
    """Evaluate a kernel whose entries were left out, on the pairs that it had."""
    if own.by_reach:
        refuse_wide_reach(graph, bandwidth, own.cutoff * own.epsilon)
        return kernel_within_reach(
            graph, bandwidth, own.epsilon, own.shape, cutoff=own.cutoff,
            leave_one_out=own.leave_one_out, precision=own.precision,
        )  # fmt: skip
    X = graph.point_set.coordinates
    refuse_lists(graph.n_points, graph.n_neighbors, 1 if X is None else X.shape[1])
    kernel = evaluate_kernel(
        graph, bandwidth, epsilon=own.epsilon, shape=own.shape, cutoff=own.cutoff,
        leave_one_out=own.leave_one_out, one_way_share=own.one_way_share,
    )  # fmt: skip
    return replace(kernel, saturated=own.saturated)


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


# --- Spectra -------------------------------------------------------------------------------------


def parts_of_spectrum(spectrum: Spectrum) -> dict[str, Any]:
    """Return what a file says of a spectrum beside its operator."""
    names = (
        "eigenvalues", "eigenfunctions", "unresolved", "correction", "extent", "left_out"
    )  # fmt: skip
    numbers = {name: getattr(spectrum, name) for name in names}
    numbers |= {"limit": spectrum.limits.shared, "limits": spectrum.limits.of_modes}
    return {"spectrum": numbers | vars(spectrum.pieces), "log": spectrum.log}


def make_spectrum(model: SpectrumModel) -> Spectrum:
    """Make a spectrum again."""
    operator = make_operator(model)
    parts = structs.asdict(model.spectrum)
    pieces = Pieces(parts.pop("labels"), parts.pop("n_solved"))
    whole = np.bincount(pieces.labels).all() and pieces.n_solved <= pieces.n_pieces
    require(whole, "spectrum/labels", "are of other pieces")
    n_modes = len(parts["eigenvalues"])
    for name in ("extent", "limits"):
        require(len(parts[name]) in (0, n_modes), f"spectrum/{name}", "is that of other modes")
    limits = Limits(parts.pop("limit"), parts.pop("limits"))
    known = [limit for limit in (limits.shared, *limits.of_modes) if limit is not None]
    rates = [rate for limit in known for rate in vars(limit).values()]
    require(all(0 < rate < np.inf for rate in rates), "spectrum/limits", "are no rates")
    fits = len(model.log.shared_eigenvalues) == (n_modes if limits.own else 0)
    require(fits, "log/shared_eigenvalues", "are of other modes")
    return Spectrum(operator=operator, pieces=pieces, limits=limits, log=model.log, **parts)
