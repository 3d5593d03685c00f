"""Distances: periodic boxes, other metrics, given distances, and new points with each of them."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from scipy.spatial.distance import cdist
from sklearn.neighbors import (
    KNeighborsTransformer,
    NearestNeighbors,
    kneighbors_graph,
    radius_neighbors_graph,
)
from tests.support.estimates import estimate_with

import vbdm
from vbdm.graph.precomputed import table_of_matrix
from vbdm.search import MetricSearch, PeriodicTree

TURN = 2 * np.pi


@pytest.fixture(scope="module")
def angles():
    return np.random.default_rng(0).uniform(-10, 10, (2000, 1))


@pytest.fixture(scope="module")
def sphere():
    return vbdm.datasets.sphere(1500, random_state=0).points


def box_distances(X, Y, period):
    gap = np.abs(X[:, None] - Y[None]) % np.where(period > 0, period, np.inf)
    return np.sqrt((np.where(period > 0, np.minimum(gap, period - gap), gap) ** 2).sum(axis=2))


@pytest.mark.parametrize("period", [[3.0, 2.0, 5.0], [None, 2.0, 0], [np.inf, 0.7, None]])
def test_box_against_all_images(period):
    X = np.random.default_rng(1).uniform(-7, 7, (300, 3))
    graph = vbdm.neighbors(X, 12, period=period)
    lengths = np.array([0 if p in (None, np.inf) else p for p in period])
    exact = np.sort(box_distances(X, X, lengths), axis=1)[:, :12]
    np.testing.assert_allclose(np.sqrt(graph.sqdist), exact, atol=1e-12)
    assert graph.exact
    assert "periodic" in repr(graph)
    assert graph.kept.sqdist is None  # measured again where needed: no bytes per pair


def test_many_periodic_columns():
    X = np.random.default_rng(1).uniform(0, 9, (60, 20))
    graph = vbdm.neighbors(X, 9, period=1.0)
    exact = np.sort(box_distances(X, X, np.ones(20)), axis=1)[:, :9]
    np.testing.assert_allclose(np.sqrt(graph.sqdist), exact, atol=1e-12)


def test_no_periodic_column_is_no_box(angles):
    graph = vbdm.neighbors(angles, 9, period=[None])
    assert graph.period is None
    np.testing.assert_array_equal(graph.sqdist, vbdm.neighbors(angles, 9).sqdist)


def test_circle_by_its_angle(angles):
    """The same operator as on the circle in the plane, and the truth 0, -1, -1, -4, -4."""
    op = vbdm.estimate_operator(angles, period=TURN)
    values = op.spectrum(5).eigenvalues
    np.testing.assert_allclose(values, [0, -1, -1, -4, -4], rtol=0.03)
    plane = np.hstack([np.cos(angles), np.sin(angles)])
    chords = vbdm.estimate_operator(plane).spectrum(5).eigenvalues
    np.testing.assert_allclose(values, chords, rtol=1e-3, atol=1e-6)


def test_torus_by_two_angles():
    X = np.random.default_rng(3).uniform(0, TURN, (5000, 2))
    spectrum = vbdm.estimate_operator(X, period=TURN).spectrum(9)
    truth = [0, -1, -1, -1, -1, -2, -2, -2, -2]
    np.testing.assert_allclose(spectrum.eigenvalues, truth, rtol=0.04)


def test_tuning_curve_knows_the_box(angles):
    """Twice the slope of S(ε) is the dimension also where the far pairs decide."""
    op = vbdm.estimate_operator(angles, period=TURN)
    plane = vbdm.estimate_operator(np.hstack([np.cos(angles), np.sin(angles)]))
    near = slice(0, 30)
    ours, theirs = op.tuning.curve.slopes[near], plane.tuning.curve.slopes[near]
    np.testing.assert_allclose(ours, theirs, atol=0.02)


def test_copies_across_the_seam():
    grid = np.linspace(0, TURN, 61)[:, None]  # both ends are the same point
    op = vbdm.estimate_operator(np.vstack([grid, [[-TURN]]]), period=TURN, dim=1)
    graph = op.graph
    assert graph.n_points == 60
    assert graph.order.n_rows == 62
    values = op.spectrum(3).eigenfunctions
    np.testing.assert_array_equal(values[0], values[60])
    np.testing.assert_array_equal(values[0], values[61])


def test_new_points_in_the_box(angles):
    spectrum = vbdm.estimate_operator(angles, period=TURN).spectrum(3)
    fresh = np.random.default_rng(5).uniform(0, TURN, (500, 1))
    extension = vbdm.extend(spectrum, fresh)
    assert not extension.outside.any()
    moved = vbdm.extend(spectrum, fresh + 3 * TURN).values
    np.testing.assert_allclose(moved, extension.values, atol=1e-7)
    wave = np.hstack([np.ones_like(fresh), np.cos(fresh), np.sin(fresh)])
    rest = extension.values - wave @ np.linalg.lstsq(wave, extension.values, rcond=None)[0]
    assert np.sqrt((rest**2).mean()) < 0.06
    again = vbdm.extend(spectrum, angles)
    assert (again.training == np.arange(len(angles))).all()
    np.testing.assert_allclose(again.values, spectrum.eigenfunctions, atol=1e-3)


METRICS = {
    "manhattan": "cityblock",
    "chebyshev": "chebyshev",
    "canberra": "canberra",
    "cosine": "cosine",
}


@pytest.mark.parametrize("metric", METRICS)
def test_metrics_match_scipy(sphere, metric):
    X = sphere[:300]
    graph = vbdm.neighbors(X, 10, metric=metric)
    exact = np.sort(cdist(X, X, METRICS[metric]), axis=1)[:, :10]
    np.testing.assert_allclose(np.sqrt(graph.sqdist), exact, atol=1e-9)
    np.testing.assert_array_equal(graph.indices[:, 0], np.arange(300))
    assert (graph.sqdist[:, 0] == 0).all()
    assert graph.metric == metric


@pytest.mark.parametrize("metric", ["l2", "minkowski", "euclidean"])
def test_euclidean_names_take_the_fast_path(sphere, metric):
    graph = vbdm.neighbors(sphere, 10, metric=metric)
    assert graph.metric == "euclidean"
    np.testing.assert_array_equal(graph.sqdist, vbdm.neighbors(sphere, 10).sqdist)


def test_haversine_is_the_sphere(sphere):
    degrees = np.column_stack([np.arcsin(sphere[:, 2]), np.arctan2(sphere[:, 1], sphere[:, 0])])
    by_arcs = vbdm.estimate_operator(degrees, metric="haversine").spectrum(4).eigenvalues
    by_chords = vbdm.estimate_operator(sphere).spectrum(4).eigenvalues
    np.testing.assert_allclose(by_arcs, by_chords, rtol=0.02, atol=1e-6)


def euclid(x, y):
    return float(np.sqrt(((x - y) ** 2).sum()))


def test_callable_is_the_metric_it_computes(sphere):
    X = sphere[:300]
    options = {"n_neighbors": 60, "dim": 2}
    own = estimate_with(X, metric=euclid, **options)
    fast = estimate_with(X, **options)
    assert "euclid" in repr(own.graph)
    assert own.graph.metric is euclid
    difference = abs(own.matrix - fast.matrix).max()
    assert difference < 1e-10 * abs(fast.matrix).max()


@pytest.mark.parametrize("metric", ["manhattan", euclid])
def test_new_points_by_a_metric(sphere, metric):
    train, fresh = sphere[:400], sphere[400:600]
    spectrum = vbdm.estimate_operator(train, metric=metric).spectrum(4)
    extension = vbdm.extend(spectrum, fresh)
    assert extension.values[~extension.outside].shape[0] > 190
    harmonics = np.column_stack([np.ones(200), fresh])
    rest = extension.values - harmonics @ np.linalg.lstsq(harmonics, extension.values)[0]
    assert np.sqrt((rest**2).mean()) < 0.2
    again = vbdm.extend(spectrum, train)
    assert (again.training == np.arange(400)).all()


def test_no_tree_cells_where_columns_mean_nothing(sphere):
    """Only Euclidean points are cut into cells of a tree; other graphs along their links."""
    spectrum = vbdm.estimate_operator(sphere, metric="manhattan").spectrum(5, tol=1e-8)
    dense = spectrum.operator.spectrum(5, solver="dense")
    np.testing.assert_allclose(spectrum.eigenvalues, dense.eigenvalues, rtol=1e-6, atol=1e-9)
    from vbdm.spectrum.solve import pencil_of

    assert pencil_of(spectrum.operator).points is None
    assert pencil_of(vbdm.estimate_operator(sphere)).points is not None


def given(X, kind, k):
    return {
        "dense": lambda: cdist(X, X),
        "dense float32": lambda: cdist(X, X).astype(np.float32),
        "list": lambda: cdist(X, X).tolist(),
        "complete sparse": lambda: csr_array(cdist(X, X)),
        "coo": lambda: coo_array(cdist(X, X)),
        "KNeighborsTransformer": lambda: KNeighborsTransformer(
            mode="distance", n_neighbors=k - 1
        ).fit_transform(X),
        "kneighbors_graph, no self": lambda: kneighbors_graph(X, k - 1, mode="distance"),
        "NeighborGraph": lambda: vbdm.neighbors(X, k),
    }[kind]()


@pytest.mark.parametrize(
    "kind",
    [
        "dense", "dense float32", "list", "complete sparse", "coo", "KNeighborsTransformer",
        "kneighbors_graph, no self", "NeighborGraph",
    ],
)  # fmt: skip
def test_given_distances_equal_points(sphere, kind):
    X, k = sphere[:400], 150  # enough for the kernel: rows are not searched for again
    options = {"n_neighbors": k, "dim": 2.0}
    points = estimate_with(X, **options)
    other = estimate_with(given(X, kind, k), metric="precomputed", **options)
    tolerance = 1e-5 if kind == "dense float32" else 1e-10
    np.testing.assert_allclose(other.epsilon, points.epsilon, rtol=tolerance)
    assert abs(other.matrix - points.matrix).max() < tolerance * abs(points.matrix).max()
    ours = other.spectrum(5, solver="dense").eigenvalues
    truth = points.spectrum(5, solver="dense").eigenvalues
    np.testing.assert_allclose(ours, truth, rtol=tolerance, atol=tolerance)


def test_objects_that_are_numbers_are_given_distances(sphere):
    D = cdist(sphere[:30], sphere[:30])
    found = vbdm.NeighborGraph.from_sparse(D.astype(object), 9)
    expected = vbdm.neighbors(D, 9, metric="precomputed")
    np.testing.assert_array_equal(found.sqdist, expected.sqdist)
    np.testing.assert_array_equal(found.indices, expected.indices)


def test_a_graph_of_given_distances_keeps_its_lists(sphere):
    """They cannot be searched for again: so they are not given up."""
    graph = vbdm.neighbors(cdist(sphere[:30], sphere[:30]), 9, metric="precomputed")
    assert graph.released() is graph
    fewer = vbdm.neighbors(graph, 5, metric="precomputed")
    np.testing.assert_array_equal(fewer.indices, graph.indices[:, :5])
    assert vbdm.neighbors(graph, metric="precomputed") is graph


@pytest.mark.slow
def test_given_distances_need_no_neighbour_count(sphere):
    D = cdist(sphere, sphere)
    for matrix in (D, csr_array(D)):
        op = vbdm.estimate_operator(matrix, metric="precomputed")
        np.testing.assert_allclose(op.spectrum(4).eigenvalues, [0, -2, -2, -2], rtol=0.06)
        assert op.n_neighbors < 200  # cut to what the kernel needs


def uneven():
    """Return clouds that are not smooth: outliers, counts with copies, clusters, many columns."""
    rng = np.random.default_rng(4000)
    return {
        "plane": rng.normal(size=(300, 2)),
        "outliers": rng.standard_t(2, size=(300, 2)),
        "counts": rng.poisson(20, (300, 2)).astype(float),
        "clusters": np.vstack([rng.normal(size=(150, 2)), rng.normal(size=(150, 2)) + 7]),
        "many columns": rng.normal(size=(300, 10)),
        "many counts": rng.poisson(3, (300, 10)).astype(float),
    }


@pytest.mark.parametrize(("name", "X"), uneven().items())
@pytest.mark.parametrize("operator", ["generator", "laplacian"])
def test_same_distances_same_answer(name, X, operator):
    """A whole matrix gives what the points give: densities, ε, pairs, and copies merged."""
    points = vbdm.estimate_operator(X, operator, run=vbdm.Run(precision="double"))
    given = vbdm.estimate_operator(cdist(X, X), operator, metric="precomputed")
    np.testing.assert_allclose(given.density, points.density, rtol=1e-9)
    np.testing.assert_allclose(given.epsilon, points.epsilon, rtol=1e-9)
    assert given.n_neighbors == points.n_neighbors
    first, second = (op.spectrum(6, solver="dense") for op in (points, given))
    np.testing.assert_allclose(second.eigenvalues, first.eigenvalues, rtol=1e-7, atol=1e-12)


def test_too_few_given_distances_are_named():
    X = np.random.default_rng(0).normal(size=(400, 10))
    few = kneighbors_graph(X, 12, mode="distance")
    with pytest.warns(vbdm.errors.SaturatedNeighborsWarning, match="Give more distances per point"):
        vbdm.estimate_operator(few, metric="precomputed")


def test_pairs_count_from_both_ends():
    """Each pair is stored once; rows have unequal lengths, a distance 0 is stored."""
    X = np.sort(np.random.default_rng(0).uniform(size=(30, 1)), axis=0)
    X[1] = X[0]
    D = cdist(X, X)
    row, column = np.nonzero(np.triu(np.ones_like(D), 1))
    half = coo_array((D[row, column], (row, column)), shape=D.shape)
    indices, sqdist = table_of_matrix(half, 30)
    np.testing.assert_allclose(sqdist, np.sort(D, axis=1) ** 2)
    assert sqdist[0, 1] == 0
    assert (indices[:, 0] == np.arange(30)).all()


def test_uneven_rows_are_cut_to_one_length(sphere):
    matrix = radius_neighbors_graph(sphere, 0.3, mode="distance")
    shortest = int(np.diff(matrix.indptr).min()) + 1
    graph = vbdm.NeighborGraph.from_sparse(matrix)
    assert graph.n_neighbors == shortest
    exact = NearestNeighbors(n_neighbors=shortest).fit(sphere).kneighbors(sphere)[0]
    np.testing.assert_allclose(np.sqrt(graph.sqdist), exact, atol=1e-12)


def test_given_distances_do_not_take_new_points(sphere):
    op = vbdm.estimate_operator(cdist(sphere, sphere), metric="precomputed")
    with pytest.raises(vbdm.InputError, match="distances to all 1500 training points"):
        vbdm.extend(op.spectrum(3), sphere[:3])


X = np.random.default_rng(0).uniform(size=(40, 2))
D = cdist(X, X)


def changed(row, column, value):
    other = D.copy()
    other[row, column] = value
    return other


def infinite_somewhere(x, y):
    """A length everywhere but between two points, at which nobody looks beforehand."""
    odd = {7, 8} == {int(np.argmin(((X - z) ** 2).sum(axis=1))) for z in (x, y)}
    return np.inf if odd else np.linalg.norm(x - y)


BAD = {
    "negative period": (lambda: vbdm.neighbors(X, 9, period=-1), "one for each column"),
    "nan period": (lambda: vbdm.neighbors(X, 9, period=[1, np.nan]), "one for each column"),
    "three periods": (lambda: vbdm.neighbors(X, 9, period=[1, 1, 1]), "for 2 column"),
    "ragged period": (lambda: vbdm.neighbors(X, 9, period=[[1, 2], [3]]), "one for each column"),
    "text period": (lambda: vbdm.neighbors(X, 9, period="pi"), "'pi'"),
    "period and metric": (lambda: vbdm.neighbors(X, 9, metric="l1", period=1), "Euclidean"),
    "period and brute": (lambda: vbdm.neighbors(X, 9, "brute", period=1), "straight lines"),
    "metric and brute": (lambda: vbdm.neighbors(X, 9, "brute", metric="l1"), "straight lines"),
    "unknown metric": (lambda: vbdm.neighbors(X, 9, metric="manhatten"), "manhatten"),
    "number for a metric": (lambda: vbdm.neighbors(X, 9, metric=2), "name or a function"),
    "haversine of one column": (lambda: vbdm.neighbors(X[:, :1], 9, metric="haversine"), "1 col"),
    "similarity": (lambda: vbdm.neighbors(X, 9, metric=lambda x, y: x @ y), "no distance"),
    "one-way metric": (
        lambda: vbdm.neighbors(X, 9, metric=lambda x, y: max(0.0, (x - y)[0])),
        "the same both ways",
    ),
    "points as distances": (lambda: vbdm.neighbors(X, 9, metric="precomputed"), "square"),
    "search of three periods": (
        lambda: vbdm.neighbors(X, 9, PeriodicTree([1, 1, 1])),
        "`period` must be one length for each column.*for 2 column",
    ),
    "search of negative periods": (
        lambda: vbdm.neighbors(X, 9, PeriodicTree([1, -1])),
        "`period` must be one length for each column",
    ),
    "search outside of the box": (
        lambda: vbdm.neighbors(X, 9, PeriodicTree([1, 0.5])),
        "must lie in the box",
    ),
    "text for the periods of a search": (
        lambda: PeriodicTree("ab"),
        "`period` must be a list of finite numbers.*'ab'",
    ),
    "nan for a period of a search": (lambda: PeriodicTree([1, np.nan]), "list of finite numbers"),
    "number for the metric of a search": (
        lambda: vbdm.neighbors(X, 9, MetricSearch(2)),
        "`metric` must be a name or a function",
    ),
    "a metric that fails on few pairs": (
        lambda: vbdm.neighbors(X, 40, metric=infinite_somewhere),
        "no lengths.*2 negative, infinite or missing",
    ),
    "ragged lists as distances": (
        lambda: vbdm.neighbors([[0, 1], [1]], 2, metric="precomputed"),
        "square.*received list",
    ),
    "text as distances": (lambda: vbdm.neighbors("D", 9, metric="precomputed"), "square"),
    "negative": (lambda: vbdm.NeighborGraph.from_sparse(changed(7, 3, -1.0)), "row 7"),
    "nan": (lambda: vbdm.NeighborGraph.from_sparse(changed(7, 3, np.nan)), "row 7"),
    "sparse nan": (lambda: vbdm.NeighborGraph.from_sparse(csr_array(changed(7, 3, np.nan))), "7"),
    "not symmetric": (lambda: vbdm.NeighborGraph.from_sparse(changed(7, 3, 9.0)), "symmetric"),
    "sparse not symmetric": (
        lambda: vbdm.NeighborGraph.from_sparse(csr_array(changed(7, 3, 9.0))),
        "symmetric",
    ),
    "affinities": (lambda: vbdm.NeighborGraph.from_sparse(np.exp(-D)), "obsp"),
    "sparse affinities": (lambda: vbdm.NeighborGraph.from_sparse(csr_array(np.exp(-D))), "obsp"),
    "empty row": (
        lambda: vbdm.NeighborGraph.from_sparse(csr_array(np.where(D < 0.05, D, 0))),
        "at least 4 neighbours",
    ),
    "too few": (
        lambda: vbdm.neighbors(kneighbors_graph(X, 7, mode="distance"), 20, metric="precomputed"),
        "at least 19 neighbours",
    ),
    "search of given": (lambda: vbdm.neighbors(D, 9, "brute", metric="precomputed"), "contradict"),
    "period of given": (
        lambda: vbdm.estimate_operator(D, metric="precomputed", period=1),
        "contradict",
    ),
    "metric of a graph": (
        lambda: vbdm.estimate_operator(vbdm.neighbors(X, 9), metric="manhattan"),
        "already built",
    ),
    "period of a graph": (lambda: vbdm.estimate_operator(vbdm.neighbors(X, 9), period=1), "built"),
    "search of a graph": (
        lambda: vbdm.estimate_operator(vbdm.neighbors(X, 9), run=vbdm.Run(search="brute")),
        "already built",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_message(case):
    call, message = BAD[case]
    with pytest.raises(vbdm.InputError, match=message):
        call()
