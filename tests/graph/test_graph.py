"""Neighbours: exact, self first, harmless under ties and duplicates."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.estimates import estimate_with
from tests.support.reference import squared_distances

import vbdm
from vbdm.kernel.pair_matrix import one_way_places
from vbdm.search import Auto, BruteForce, KDTree


def test_matches_all_distances(cloud):
    graph = vbdm.neighbors(cloud, 20)
    exact = np.sort(squared_distances(cloud), axis=1)[:, :20]
    np.testing.assert_allclose(graph.sqdist, exact, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(graph.indices[:, 0], np.arange(len(cloud)))
    gap = cloud[graph.indices] - cloud[:, None, :]
    np.testing.assert_allclose((gap**2).sum(axis=2), graph.sqdist, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(graph.points, cloud)


@pytest.mark.parametrize("engine", [KDTree(), BruteForce(), Auto()])
@pytest.mark.parametrize("columns", [2, 12, 40])
def test_engines_agree(engine, columns):
    X = np.random.default_rng(0).standard_normal((300, columns)) + 1e3
    graph = vbdm.neighbors(X, 15, search=engine)
    exact = np.sort(squared_distances(X), axis=1)[:, :15]
    np.testing.assert_allclose(graph.sqdist, exact, rtol=1e-9, atol=1e-12)
    found, sqdist = engine.index(X, 15).query(X[7:8], 15)
    np.testing.assert_allclose(sqdist, exact[7:8], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(found, graph.indices[7:8])


def test_empty_directions_are_rotated_away():
    flat = np.random.default_rng(0).standard_normal((200, 3))
    frame = np.linalg.qr(np.random.default_rng(1).standard_normal((50, 3)))[0]
    choice, index = Auto().settle(flat @ frame.T, 10)
    assert index.rotation.shape == (50, 3)
    assert isinstance(choice.engine, KDTree)
    assert "3 directions" in choice.reason


def test_duplicates_keep_self_first():
    X = np.repeat(np.arange(10.0), 5)[:, None]
    for k in (3, 5, 8):
        graph = vbdm.neighbors(X, k)
        np.testing.assert_array_equal(graph.indices[:, 0], np.arange(50))
        assert (graph.sqdist[:, 0] == 0).all()
        assert all(len(set(row)) == k for row in graph.indices.tolist())


@pytest.mark.parametrize("points", ["cloud", "lattice", "duplicates"])
def test_one_way_pairs(points, cloud):
    """A point lists another that does not list it; only the rim of the lists is looked up."""
    lattice = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), -1).reshape(-1, 2)
    X = {"cloud": cloud, "lattice": lattice, "duplicates": np.repeat(cloud[:30], 4, axis=0)}[points]
    graph = vbdm.neighbors(X, 10)
    lists = [set(row) for row in graph.kept.indices.tolist()]
    alone = [[i not in lists[j] for j in row] for i, row in enumerate(graph.kept.indices.tolist())]
    for searched in (graph, replace(graph, exact=False)):
        found = np.zeros((len(X), 10), dtype=bool)
        for rows in (slice(0, 13), slice(13, len(X))):
            block = searched.block(rows)
            row, column = one_way_places(searched, block, np.ones(block.sqdist.shape, dtype=bool))
            found[row + rows.start, column] = True
        np.testing.assert_array_equal(found, alone)
    # Only those that are wanted are told.
    block = graph.block(slice(0, len(X)))
    wanted = np.arange(10) < np.full((len(X), 1), 6)
    row, column = one_way_places(graph, block, wanted)
    np.testing.assert_array_equal(np.stack([row, column]), np.nonzero(alone & wanted))


def test_from_arrays_round_trip(cloud):
    graph = vbdm.neighbors(cloud, 12)
    again = vbdm.NeighborGraph.from_arrays(graph.indices, graph.sqdist, cloud)
    settings = {"method": "paper", "dim": 2, "epsilon": 0.0002}
    first = estimate_with(graph, **settings).matrix
    second = estimate_with(again, **settings).matrix
    assert abs(first - second).max() < 1e-12 * abs(first).max()


def test_results_are_read_only(cloud):
    graph = vbdm.neighbors(cloud, 12)
    with pytest.raises(ValueError, match="read-only"):
        graph.sqdist[0, 0] = 1
    with pytest.raises(AttributeError):
        graph.metric = "other"


# --- The number of neighbours: those within reach, whatever the order; more of them by effort -----


D = vbdm.datasets


@pytest.mark.slow
def test_order_place_and_direction_do_not_matter():
    points = D.sphere(6000, axes=(1, 0.5, 0.3), random_state=1).points
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    chosen = vbdm.estimate_operator(points)
    for other in (rng.permutation(points), points @ turn, points + 7.0):
        op = vbdm.estimate_operator(other)
        assert op.n_neighbors == chosen.n_neighbors
        # ε is bisected to 1e-12; the dimension adds rounding.
        assert op.epsilon == pytest.approx(chosen.epsilon, rel=1e-8)


def test_more_effort_more_neighbours_less_error():
    sample = D.circle(20_000, sampling="random", random_state=2)
    truth = sample.truth(4).eigenvalues
    found = {}
    for effort in (0.5, 1, 2):
        op = vbdm.estimate_operator(sample.points, effort=effort)
        error = np.abs(op.spectrum(4).eigenvalues[1:] / truth[1:] - 1).max()
        found[effort] = op.n_neighbors, error
    neighbors, errors = zip(*found.values(), strict=True)
    assert list(neighbors) == sorted(neighbors)
    # Measured: .009, .005, .002; the last is at the level of the sampling error.
    assert errors[0] > 1.5 * errors[1]
    assert errors[1] > errors[2]
