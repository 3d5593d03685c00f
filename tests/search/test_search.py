"""Engines by name: the exact ones agree, the approximate one is checked, a missing one says so."""

import sys

import numpy as np
import pytest
from tests.support.estimates import estimate_with
from tests.support.reference import squared_distances
from tests.support.stand_ins import fake_pynndescent

import vbdm
from vbdm.base.threads import blas, one_blas_thread
from vbdm.engines.scipy_engine import ScipyEngine
from vbdm.graph.point_set import tree_order
from vbdm.operator.sums import pairs_of
from vbdm.search import Auto, BruteForce, KDTree, Projected, auto
from vbdm.search.directions import principal_axes
from vbdm.search.exact import search_note

EXACT = ["auto", "kd-tree", "brute", "projected", Projected(BruteForce())]


def sheet(n_points, n_columns, noise, dim=3):
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((n_columns, dim)))[0]
    points = rng.standard_normal((n_points, dim)) @ turn.T
    return points + noise * rng.standard_normal(points.shape)


@pytest.mark.parametrize("engine", EXACT, ids=str)
@pytest.mark.parametrize("noise", [0, 1e-3, 0.3])
@pytest.mark.parametrize("columns", [12, 60])
def test_exact_engines_agree(engine, noise, columns):
    X = sheet(700, columns, noise) + 1e3
    graph = vbdm.neighbors(X, 15, search=engine)
    exact = np.sort(squared_distances(X), axis=1)[:, :15]
    np.testing.assert_allclose(graph.sqdist, exact, rtol=1e-9, atol=1e-12)
    assert graph.exact
    assert graph.recall is None


@pytest.mark.parametrize("engine", EXACT, ids=str)
def test_copies_and_lattices(engine):
    lattice = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), -1).reshape(-1, 3)
    X = np.repeat(np.hstack([lattice, np.zeros((64, 9))]), 3, axis=0)
    graph = vbdm.neighbors(X, 10, search=engine)
    exact = np.sort(squared_distances(X), axis=1)[:, :10]
    np.testing.assert_allclose(graph.sqdist, exact, atol=1e-12)
    np.testing.assert_array_equal(graph.indices[:, 0], np.arange(len(X)))


def test_candidates_are_doubled_until_the_bound_is_beyond_the_radius():
    small, points, radius = np.arange(20.0)[:, None], np.zeros((2, 1)), np.array([400.0, 2.0])
    # All 20 are nearer than the first radius: 4, 8, 16, then 32; two than the second: 4 will do.
    measured = (4 + 8 + 16 + 32 + 4) / 2
    found = auto.by_candidates(small, points, radius, 4, 10)
    assert found == pytest.approx(measured * (auto.PER_CANDIDATE + 10 * auto.PER_MEASURED))


@pytest.mark.parametrize("inner", ["kd-tree", KDTree, [KDTree()], 3])
def test_only_a_search_searches_the_leading_directions(inner):
    with pytest.raises(vbdm.InputError, match="`inner` must be a search"):
        Projected(inner)


def test_all_points_as_neighbours():
    X = sheet(40, 30, 0.1)
    for engine in EXACT:
        graph = vbdm.neighbors(X, 40, search=engine)
        np.testing.assert_allclose(graph.sqdist, np.sort(squared_distances(X), axis=1), atol=1e-12)


def test_a_direction_outside_the_sample_is_kept():
    """One point in 9,000 leaves the plane of the others: a sample does not see it."""
    X = sheet(9000, 40, 0, dim=2)
    assert principal_axes(X).basis.shape == (40, 2)
    X[1234] += 100 * np.random.default_rng(1).standard_normal(40)
    assert principal_axes(X).basis.shape == (40, 3)


@pytest.mark.slow
def test_thousands_of_columns():
    """More columns than a sample has rows: no turn, but the leading directions still help."""
    X = sheet(4000, 2600, 1e-4, dim=2)
    assert not principal_axes(X).is_isometry
    index = Auto().index(X, 10)
    found, sqdist = index.query(X[:50], 10)
    truth, exact = BruteForce().index(X, 10).query(X[:50], 10)
    np.testing.assert_array_equal(found, truth)
    np.testing.assert_allclose(sqdist, exact, rtol=1e-12)


def test_comparison_names_the_rivals(monkeypatch):
    monkeypatch.setattr("vbdm.search.auto.FEW_POINTS", 0)
    X = np.random.default_rng(0).standard_normal((500, 30))
    choice = Auto().choose(X, 10)
    assert isinstance(choice.engine, BruteForce)
    assert "BruteForce" in choice.reason
    assert choice.exact
    points = sheet(8000, 60, 1e-3)
    thin = Auto().choose(points[tree_order(points, ScipyEngine())], 10)
    assert "3 of them wide" in thin.reason
    assert isinstance(thin.engine, Projected)


def test_no_clock_decides(monkeypatch):
    """The same points get the same engine, however long everything takes."""

    def no_clock():
        raise AssertionError("somebody looked at a clock")

    for name in ("time", "perf_counter", "process_time", "monotonic"):
        monkeypatch.setattr(f"time.{name}", no_clock)
    monkeypatch.setattr("vbdm.search.auto.FEW_POINTS", 0)
    for X in (sheet(1500, 12, 0.3), sheet(1500, 40, 1e-3), sheet(1500, 30, 0.3, dim=20)):
        first, second = (Auto().choose(X, 10) for _ in range(2))
        assert (first.engine, first.reason) == (second.engine, second.reason)


def test_few_points_are_not_counted():
    choice = Auto().choose(np.random.default_rng(0).standard_normal((200, 30)), 10)
    assert isinstance(choice.engine, BruteForce)
    assert "quick" in choice.reason


def test_patience_is_needed_for_anything_approximate(monkeypatch):
    """Exactness is given up only if told to, with the engine at hand, and it is said."""
    monkeypatch.setattr("vbdm.search.auto.FEW_POINTS", 0)
    monkeypatch.setitem(sys.modules, "pynndescent", fake_pynndescent(miss=0))
    monkeypatch.setattr("vbdm.search.auto.find_spec", lambda name: object())
    X = np.random.default_rng(0).standard_normal((300, 30))
    assert Auto().choose(X, 10).exact
    choice = Auto(patience=0.0).choose(X, 10)
    assert not choice.exact
    assert "approximate" in choice.reason
    graph = vbdm.neighbors(X, 10, search=Auto(patience=0.0))
    assert not graph.exact
    assert graph.recall == 1


@pytest.mark.parametrize(
    "stretch", [1.0, 1e-60, 1e60, [1e5] + [1.0] * 19], ids=["plain", "small", "large", "uneven"]
)
@pytest.mark.parametrize("k", [1, 40, 2999, 3000])
def test_brute_force_is_exact(stretch, k):
    """Ties go to the first point; far outliers and any scale leave nothing undecided or lost."""
    X = np.random.default_rng(4100).standard_normal((3000, 20))
    X[100:400] = X[0]
    X[-3:] *= 1e4
    X = X * stretch
    rows = np.array([0, 5, 399, 1000, 2998])
    found, sqdist = BruteForce().index(X, k).query(X[rows], k)
    exact = ((X[rows, None] - X) ** 2).sum(axis=2)
    np.testing.assert_allclose(sqdist, np.sort(exact, axis=1)[:, :k], rtol=1e-12)
    np.testing.assert_array_equal(found[:3], np.argsort(exact[:3], axis=1, kind="stable")[:, :k])


def test_blas_limits_are_lifted_in_the_end():
    """Blocks that begin and end in any order leave the number of BLAS threads as it was."""
    before = [each["num_threads"] for each in blas().info()]
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert all(each["num_threads"] == 1 for each in blas().info() if each["user_api"] == "blas")
    second.__exit__(None, None, None)
    assert [each["num_threads"] for each in blas().info()] == before


def test_longer_lists_are_not_searched_for_twice(monkeypatch):
    graph = vbdm.neighbors(sheet(400, 12, 0.3), 60)
    short = graph.with_neighbors(10)
    monkeypatch.setattr("vbdm.graph.neighbor_graph.search_all", None)
    np.testing.assert_array_equal(short.with_neighbors(60).indices, graph.indices)
    assert short.indices.shape == (400, 10)


def test_a_long_search_says_how_long():
    assert search_note(64, 3.0, exact=True) == "64 nearest of each point"
    assert "about 45 s in all" in search_note(64, 44.7, exact=True)
    assert "pca" in search_note(64, 400.0, exact=True)


@pytest.mark.parametrize(("miss", "recall"), [(0, 1.0), (5, 0.75)])
def test_recall_is_measured(monkeypatch, miss, recall):
    monkeypatch.setitem(sys.modules, "pynndescent", fake_pynndescent(miss))
    X = sheet(300, 20, 0.1)
    if miss:
        with pytest.warns(vbdm.errors.RecallWarning, match="found 75 % of the true"):
            graph = vbdm.neighbors(X, 20, "pynndescent")
    else:
        graph = vbdm.neighbors(X, 20, "pynndescent")
        exact = np.sort(squared_distances(X), axis=1)[:, :20]
        np.testing.assert_allclose(graph.sqdist, exact, rtol=1e-12, atol=1e-15)
    assert graph.recall == pytest.approx(recall, abs=0.01)
    assert not graph.exact


def test_missing_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", None)
    with pytest.raises(vbdm.InputError, match=r"pip install vbdm\[approximate\]"):
        vbdm.neighbors(sheet(50, 4, 0), 9, "pynndescent")


def test_the_real_one():
    pytest.importorskip("pynndescent")
    X = sheet(3000, 40, 0.01, dim=5)
    first, second = (vbdm.neighbors(X, 30, "pynndescent") for _ in range(2))
    assert first.recall > 0.95
    np.testing.assert_array_equal(first.indices, second.indices)
    values = (
        vbdm.estimate_operator(X, dim=5, run=vbdm.Run(search="pynndescent")).spectrum(4).eigenvalues
    )
    exact = vbdm.estimate_operator(X, dim=5).spectrum(4).eigenvalues
    np.testing.assert_allclose(values, exact, rtol=0.02, atol=1e-9)


@pytest.mark.parametrize("bad", ["kdtree", 3, KDTree, "hnsw"])
def test_unknown_engines(bad):
    with pytest.raises(vbdm.InputError, match="'kd-tree', 'brute'"):
        vbdm.neighbors(sheet(50, 4, 0), 9, bad)


def test_names():
    assert auto.as_search("brute") == BruteForce()
    assert auto.as_search(None) == Auto()


def eigenvalues(X, search, **arguments):
    op = estimate_with(X, search=search, dim=3, **arguments)
    return op.spectrum(4, solver="dense").eigenvalues


def test_estimates_do_not_depend_on_the_search():
    """Neither lists of one length nor pairs within reach depend on who searched."""
    X = sheet(600, 20, 0.05)
    tree, brute, projected = (
        eigenvalues(X, search, n_neighbors=150) for search in ("kd-tree", "brute", "projected")
    )
    np.testing.assert_allclose([brute, projected], [tree] * 2, rtol=1e-9, atol=1e-9)
    reach, projected = (eigenvalues(X, search) for search in ("kd-tree", "projected"))
    np.testing.assert_allclose(projected, reach, rtol=1e-9, atol=1e-9)


def test_pairs_within_reach_are_those_of_complete_lists():
    """Brute force keeps lists; where these hold all points, the cut leaves the same pairs."""
    X = sheet(600, 20, 0.05)
    op = vbdm.estimate_operator(X, dim=3, run=vbdm.Run(precision="double"))
    assert op.kernel.by_reach
    dense = vbdm.estimate_operator(
        X,
        dim=3,
        epsilon=op.epsilon,
        method=vbdm.Resolved(n_neighbors=600),
        run=vbdm.Run(search="brute"),
    )
    assert not dense.kernel.by_reach
    np.testing.assert_array_equal(pairs_of(op), pairs_of(dense))
    values = [found.spectrum(4, solver="dense").eigenvalues for found in (op, dense)]
    np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-9)
