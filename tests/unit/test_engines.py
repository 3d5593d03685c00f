"""Engines by name: the exact ones agree, the approximate one is checked, a missing one says so."""

import sys

import numpy as np
import pytest
from tests.support.reference import squared_distances
from tests.support.stand_ins import fake_pynndescent
from vbdm.search import Auto, BruteForce, KDTree, Projected, as_search

import vbdm
from vbdm.graph.search.rotation import principal_axes

EXACT = ["auto", "kd-tree", "brute", "projected", Projected(BruteForce()), Auto(n_timed=8)]


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
    monkeypatch.setattr("vbdm.graph.search.auto.SHORT", 0.0)
    monkeypatch.setattr("vbdm.graph.search.auto.PER_PAIR", 0.0)
    X = np.random.default_rng(0).standard_normal((500, 30))
    choice = Auto().choose(X, 10)
    assert "BruteForce" in choice.reason
    assert choice.exact
    thin = sheet(500, 60, 1e-3)
    assert "3 of them wide" in Auto().choose(thin, 10).reason


def test_a_short_search_is_not_compared():
    choice = Auto().choose(np.random.default_rng(0).standard_normal((200, 30)), 10)
    assert isinstance(choice.engine, KDTree)
    assert "short" in choice.reason


def test_patience_is_needed_for_anything_approximate(monkeypatch):
    """Exactness is given up only if told to, with the engine at hand, and it is said."""
    monkeypatch.setattr("vbdm.graph.search.auto.SHORT", 0.0)
    monkeypatch.setattr("vbdm.graph.search.auto.PER_PAIR", 0.0)
    monkeypatch.setitem(sys.modules, "pynndescent", fake_pynndescent(miss=0))
    monkeypatch.setattr("vbdm.graph.search.auto.find_spec", lambda name: object())
    X = np.random.default_rng(0).standard_normal((300, 30))
    assert Auto().choose(X, 10).exact
    choice = Auto(patience=0.0).choose(X, 10)
    assert not choice.exact
    assert "approximate" in choice.reason
    graph = vbdm.neighbors(X, 10, search=Auto(patience=0.0))
    assert not graph.exact
    assert graph.recall == 1


@pytest.mark.parametrize(("miss", "recall"), [(0, 1.0), (5, 0.75)])
def test_recall_is_measured(monkeypatch, miss, recall):
    monkeypatch.setitem(sys.modules, "pynndescent", fake_pynndescent(miss))
    X = sheet(300, 20, 0.1)
    if miss:
        with pytest.warns(vbdm.RecallWarning, match="found 75 % of the true"):
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
    values = vbdm.estimate_operator(X, search="pynndescent", dim=5).spectrum(4).eigenvalues
    exact = vbdm.estimate_operator(X, dim=5).spectrum(4).eigenvalues
    np.testing.assert_allclose(values, exact, rtol=0.02, atol=1e-9)


@pytest.mark.parametrize("bad", ["kdtree", 3, KDTree, "hnsw"])
def test_unknown_engines(bad):
    with pytest.raises(vbdm.InputError, match="'kd-tree', 'brute'"):
        vbdm.neighbors(sheet(50, 4, 0), 9, bad)


def test_names():
    assert as_search("brute") == BruteForce()
    assert as_search(None) == Auto()


def eigenvalues(X, search, **arguments):
    op = vbdm.estimate_operator(X, search=search, dim=3, **arguments)
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
    op = vbdm.estimate_operator(X, dim=3, precision="double")
    assert op.kernel.by_reach
    dense = vbdm.estimate_operator(X, dim=3, epsilon=op.epsilon, search="brute", n_neighbors=600)
    assert not dense.kernel.by_reach
    np.testing.assert_array_equal(op.pairs, dense.pairs)
    values = [found.spectrum(4, solver="dense").eigenvalues for found in (op, dense)]
    np.testing.assert_allclose(*values, rtol=1e-9, atol=1e-9)
