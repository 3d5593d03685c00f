"""Engines that compute: the same tree, the same pairs bit by bit, the same eigenvalues."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial import cKDTree
from tests.support.clouds import NASTY
from tests.support.estimates import estimate_with
from tests.support.slow import with_slow

import vbdm
from vbdm.engines.numba_engine import NumbaEngine
from vbdm.engines.scipy_engine import ScipyEngine
from vbdm.engines.tree import LEAF, Reach, Tree, levels_to
from vbdm.operator.sums import pairs_of
from vbdm.search.exact import wrap

D = vbdm.datasets
SCIPY, NUMBA = ScipyEngine(), NumbaEngine()
ENGINES = ["scipy", "numba"]


@pytest.fixture(params=[SCIPY, NUMBA], ids=ENGINES)
def engine(request):
    if request.param is NUMBA:
        pytest.importorskip("numba")
    return request.param


def columns_of(name):
    """Return the columns of a cloud, (n, N), and its periods, 0 where there is none."""
    points, period = NASTY[name]
    points = np.asarray(points, dtype=float)
    period = np.zeros(points.shape[1]) if period is None else np.asarray(period, dtype=float)
    return np.ascontiguousarray(wrap(points, period).T), period


def tree_of(name, engine=SCIPY):
    """Return the tree of a cloud, its points put into the order of the engine."""
    columns, period = columns_of(name)
    order = engine.order(columns, levels_to(columns.shape[1], LEAF))
    return Tree.over(np.ascontiguousarray(columns[:, order]), period)


def reach_of(tree, with_self=False, pairs=20.0):
    """Return a relation of some pairs per point: ρ is uneven, and about the distances' size."""
    sqdist = all_distances(tree)
    k = min(tree.n_points - 1, 8)
    nearest = np.sqrt(np.partition(sqdist, k, axis=1)[:, k])
    rho = np.maximum(nearest, nearest[nearest > 0].min())
    rho *= np.random.default_rng(3).uniform(0.5, 2.0, len(rho))
    return Reach.of(tree, rho, pairs / 8, with_self=with_self)


def all_distances(tree):
    """Return the squared distances of all pairs, measured column by column."""
    total = np.zeros((tree.n_points, tree.n_points))
    for column, length in zip(tree.columns, tree.period, strict=True):
        gap = column[None, :] - column[:, None]
        if length > 0:
            gap -= length * np.rint(gap / length)
        total += gap * gap
    return total


def brute(reach):
    """Return counts, neighbours and scaled distances of all pairs within reach, row by row."""
    sqdist, product = all_distances(reach.tree), reach.rho[:, None] * reach.rho
    near = sqdist < reach.cut * product
    if not reach.with_self:
        np.fill_diagonal(near, False)
    return near.sum(axis=1), np.nonzero(near)[1], (sqdist / product)[near]


def found_by(engine, reach, n_rows=4096):
    """Return the same by an engine, some leaves at a time."""
    counts, neighbors, scaled = [], [], []
    for leaves in reach.tree.leaf_blocks(n_rows):
        counts.append(engine.count_within(reach, leaves))
        pairs = engine.pairs_within(reach, leaves, int(counts[-1].sum()))
        neighbors.append(pairs[0])
        scaled.append(pairs[1])
    return np.concatenate(counts), np.concatenate(neighbors), np.concatenate(scaled)


def same_bits(a, b):
    return all(x.tobytes() == np.asarray(y, x.dtype).tobytes() for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize("with_self", [False, True], ids=["others", "with itself"])
@pytest.mark.parametrize("name", NASTY)
def test_pairs_are_those_of_brute_force_bit_by_bit(name, with_self, engine):
    reach = reach_of(tree_of(name), with_self)
    truth = brute(reach)
    assert truth[0].sum() > 0
    assert same_bits(truth, found_by(engine, reach))
    assert same_bits(truth, found_by(engine, reach, n_rows=40))  # in whatever blocks


@pytest.mark.parametrize("name", NASTY)
def test_the_relation_is_symmetric(name, engine):
    reach = reach_of(tree_of(name))
    counts, neighbors, scaled = found_by(engine, reach)
    rows = np.repeat(np.arange(len(counts)), counts)
    table = {(i, j): s for i, j, s in zip(rows, neighbors, scaled, strict=True)}
    assert all(table[j, i] == s for (i, j), s in table.items())


def test_nothing_and_everything_within_reach(engine):
    tree = tree_of("plane")
    rho = np.ones(tree.n_points)
    counts, neighbors, _ = found_by(engine, Reach.of(tree, rho, 1e-30, with_self=False))
    assert counts.sum() == len(neighbors) == 0
    counts, neighbors, _ = found_by(engine, Reach.of(tree, rho, 1e9))
    assert (counts == tree.n_points).all()
    assert (neighbors.reshape(len(counts), -1) == np.arange(tree.n_points)).all()


@pytest.mark.parametrize("name", NASTY)
def test_tree_order_is_one_order(name):
    pytest.importorskip("numba")
    columns, _ = columns_of(name)
    for depth in range(levels_to(columns.shape[1], 4) + 1):
        first = SCIPY.order(columns, depth)
        np.testing.assert_array_equal(first, NUMBA.order(columns, depth))
        assert sorted(first) == list(range(columns.shape[1]))


@pytest.mark.parametrize("name", NASTY)
def test_boxes_hold_their_points(name, engine):
    tree = tree_of(name, engine)
    starts = tree.starts
    assert np.diff(starts).max() <= LEAF
    first = (1 << tree.depth) - 1
    for leaf, (start, stop) in enumerate(pairwise(starts)):
        np.testing.assert_array_equal(tree.low[first + leaf], tree.columns[:, start:stop].min(1))
        np.testing.assert_array_equal(tree.high[first + leaf], tree.columns[:, start:stop].max(1))
    np.testing.assert_array_equal(tree.low[0], tree.columns.min(axis=1))
    np.testing.assert_array_equal(tree.high[0], tree.columns.max(axis=1))


@pytest.mark.parametrize("k", [1, 2, 17, 90])
@pytest.mark.parametrize("name", NASTY)
def test_nearest_points_are_those_of_scipy(name, k):
    pytest.importorskip("numba")
    tree = tree_of(name)
    k = min(k, tree.n_points)
    points = np.ascontiguousarray(tree.columns.T)
    box = tree.period if tree.period.any() else None
    truth = cKDTree(points, boxsize=box).query(points, k)[0].reshape(len(points), k)
    for queries in (points, points[::-1], points[:1]):
        indices, sqdist = NUMBA.nearest(tree).query(queries, k)
        expected = truth if queries is points else truth[::-1][: len(queries)]
        expected = truth[:1] if len(queries) == 1 else expected
        np.testing.assert_allclose(np.sqrt(sqdist), expected, rtol=1e-9, atol=1e-12 * truth.max())
        assert (np.diff(sqdist, axis=1) >= 0).all()
        assert all(len(set(row)) == k for row in indices)
        assert ((indices >= 0) & (indices < tree.n_points)).all()


@pytest.mark.parametrize("scale", [1e-158, 1e-160, 1e-161, 1e-162, 1e-200])
def test_lists_are_full_where_squares_of_distances_underflow(scale):
    pytest.importorskip("numba")
    columns = scale * np.random.default_rng(0).standard_normal((2, 3000))
    columns = np.ascontiguousarray(columns[:, SCIPY.order(columns, levels_to(3000, LEAF))])
    indices, _ = NUMBA.nearest(Tree.over(columns)).query(np.ascontiguousarray(columns.T), 16)
    assert all(len(set(row)) == 16 for row in indices)
    assert ((indices >= 0) & (indices < 3000)).all()


def test_equal_distances_are_told_apart_by_number():
    pytest.importorskip("numba")
    tree = tree_of("lattice")
    indices, sqdist = NUMBA.nearest(tree).query(np.ascontiguousarray(tree.columns.T), 30)
    for row, distances in zip(indices, sqdist, strict=True):
        assert sorted(zip(distances, row, strict=True)) == list(zip(distances, row, strict=True))


# --- The whole walk ------------------------------------------------------------------------------


def estimated(points, engine, **arguments):
    if engine == "numba":
        pytest.importorskip("numba")
    return estimate_with(points, engine=engine, **arguments)


PROBLEMS = {
    "circle": (D.circle(700, sampling="random", random_state=0).points, {}),
    "OU": (D.ou(700, dim=2, random_state=0).points, {"operator": "generator"}),
    "sphere": (D.sphere(700, random_state=0).points, {}),
    "periodic": (np.random.default_rng(0).uniform(0, 1, (700, 2)), {"period": 1.0}),
    "copies": (np.repeat(D.sphere(300, random_state=0).points, 2, axis=0), {}),
    "lists": (D.sphere(700, random_state=0).points, {"n_neighbors": 80}),
    "paper": (D.sphere(700, random_state=0).points, {"method": "paper"}),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_both_engines_give_the_same_eigenvalues(name):
    points, arguments = PROBLEMS[name]
    first, second = (estimated(points, engine, **arguments) for engine in ENGINES)
    assert first.kernel.by_reach == second.kernel.by_reach == (name not in ("lists", "paper"))
    assert first.epsilon == pytest.approx(second.epsilon, rel=1e-10)
    np.testing.assert_array_equal(pairs_of(first), pairs_of(second))
    values = [op.spectrum(6, solver="dense").eigenvalues for op in (first, second)]
    np.testing.assert_allclose(values[1], values[0], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", with_slow(ENGINES, "scipy"))
def test_the_same_bits_with_any_number_of_threads(name, monkeypatch):
    points = D.sphere(9000, random_state=0).points
    results = []
    for threads in (1, 2, 2):
        monkeypatch.setattr("vbdm.base.threads.n_threads", lambda n=threads: n)
        op = estimated(points, name)
        assert op.kernel.by_reach
        matrix = op.kernel.weights.listed
        spectrum = op.spectrum(4)
        results.append((matrix.indptr, matrix.indices, matrix.data, op.density,
                        op @ points[:, 0], spectrum.eigenvalues))  # fmt: skip
    for other in results[1:]:
        assert same_bits(results[0], other)


@pytest.mark.parametrize("name", ENGINES)
def test_the_kernel_is_symmetric_exactly(name):
    matrix = estimated(PROBLEMS["OU"][0], name).kernel.weights.listed
    assert (matrix - matrix.T).nnz == 0


@pytest.mark.parametrize("name", ENGINES)
def test_single_precision_moves_eigenvalues_by_little(name):
    points = PROBLEMS["sphere"][0]
    single, double = (estimated(points, name, precision=p) for p in ("single", "double"))
    assert single.settings.precision == single.kernel.precision == "single"
    assert double.settings.precision == double.kernel.precision == "double"
    values = [op.spectrum(6, solver="dense").eigenvalues for op in (single, double)]
    np.testing.assert_allclose(values[0], values[1], rtol=1e-7, atol=1e-9)
    assert (values[0] != values[1]).any()


def test_lists_are_kept_in_double_precision():
    op = vbdm.estimate_operator(
        PROBLEMS["sphere"][0],
        method=vbdm.Resolved(n_neighbors=80),
        run=vbdm.Run(precision="single"),
    )
    assert op.settings.precision == op.kernel.precision == "double"


@pytest.mark.parametrize("arguments", [{}, {"method": "paper"}], ids=["resolved", "paper"])
def test_a_given_graph_is_computed_on_by_the_engine_that_is_asked_for(arguments):
    graph = vbdm.neighbors(PROBLEMS["sphere"][0], 80)
    first, second = (estimated(graph, engine, **arguments) for engine in ENGINES)
    assert second.settings.as_dict()["engine"] == "numba"
    assert isinstance(second.alpha_kernel.engine, NumbaEngine)
    assert isinstance(first.alpha_kernel.engine, ScipyEngine)
    np.testing.assert_allclose(second.density, first.density, rtol=1e-12)


def test_a_product_of_widths_that_underflows_reaches_nothing(engine):
    """Not even the point itself: so there is no pair with itself to leave out of the count."""
    tree = Tree.over(np.arange(20.0)[None, :])
    reach = Reach.of(tree, np.full(20, 1e-200), 1.0, with_self=False)
    leaves = slice(0, 1 << tree.depth)
    assert engine.count_within(reach, leaves).tolist() == [0] * 20
    assert len(engine.pairs_within(reach, leaves, 0)[0]) == 0
