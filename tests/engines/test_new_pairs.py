"""Pairs of new points with all points within reach: those of brute force, from all engines."""

import numpy as np
import pytest

from vbdm.engines.numba_engine import NumbaEngine
from vbdm.engines.scipy_engine import ScipyEngine
from vbdm.engines.tree import LEAF, Reach, Tree, levels_to

ENGINES = [ScipyEngine(), NumbaEngine()]


@pytest.fixture(params=ENGINES, ids=lambda engine: engine.credit.name)
def engine(request):
    if isinstance(request.param, NumbaEngine):
        pytest.importorskip("numba")
    return request.param


def normal(n, columns, seed=0):
    return np.random.default_rng(seed).standard_normal((n, columns))


def lattice():
    return np.stack(np.meshgrid(*[np.arange(6.0)] * 3), -1).reshape(-1, 3)


#: Points and periods: few, many, copies, ties, one place, large numbers, columns that wrap.
CLOUDS = {
    "one point": (normal(1, 2), None),
    "two points": (normal(2, 1), None),
    "one leaf and a point": (normal(LEAF + 1, 2), None),
    "line": (normal(500, 1), None),
    "plane": (normal(1000, 2), None),
    "space": (normal(700, 3), None),
    "twelve columns": (normal(300, 12), None),
    "copies": (np.repeat(normal(60, 2), 7, axis=0), None),
    "lattice": (lattice(), None),
    "one place": (np.ones((100, 2)), None),
    "far from the origin": (normal(400, 2) + 1e8, None),
    "tiny": (normal(400, 2) * 1e-160, None),
    "angle": (normal(400, 1) % 1.0, [1.0]),
    "torus": (normal(800, 2) % 1.0, [1.0, 1.0]),
    "second column wraps": (np.c_[normal(600, 1), normal(600, 1, 1) % 2.5], [0.0, 2.5]),
    "lattice that wraps": (lattice() % 6.0, [6.0, 0.0, 6.0]),
}


def cloud_of(name):
    """Return the tree of a cloud, and new points: beside it, in it, on it, far away."""
    points, period = CLOUDS[name]
    order = ScipyEngine().order(np.ascontiguousarray(points.T), levels_to(len(points), LEAF))
    length = np.zeros(points.shape[1]) if period is None else np.array(period)
    tree = Tree.over(np.ascontiguousarray(points[order].T), length)
    rng = np.random.default_rng(5)
    spread = np.ptp(points, axis=0).max() + np.abs(points).max() * 1e-12
    beside = points[:50] + 0.1 * spread * rng.standard_normal(points[:50].shape)
    away = points[:5] + 100 * spread
    new = np.vstack([beside, points[::9], away])
    new = np.where(length > 0, new % np.where(length > 0, length, 1.0), new)
    return tree, new, spread


def brute_force(reach, points, rho):
    """Return the pairs from all distances, with the operations in the order of the engines."""
    total = np.zeros((len(points), reach.tree.n_points))
    for x, column, length in zip(points.T, reach.tree.columns, reach.tree.period, strict=True):
        gap = column - x[:, None]
        if length > 0:
            gap -= length * np.rint(gap / length)
        total += gap * gap
    product = rho[:, None] * reach.rho
    inside = total < reach.cut * product
    return inside.sum(axis=1), np.nonzero(inside)[1], total[inside] / product[inside]


@pytest.mark.parametrize("cut", [0.0, 0.01, 1.0, 1e4])
@pytest.mark.parametrize("name", CLOUDS)
def test_pairs_are_those_of_brute_force(engine, name, cut):
    """Widths differ by a factor of a thousand; some new points have none."""
    tree, new, spread = cloud_of(name)
    rng = np.random.default_rng(1)
    reach = Reach.of(tree, 0.3 * spread * np.exp(rng.uniform(-5, 2, tree.n_points)), cut)
    rho = 0.3 * spread * np.exp(rng.uniform(-5, 2, len(new)))
    rho[::7] = 0.0
    counts, neighbors, scaled = engine.pairs_to(reach, new, rho)
    true_counts, true_neighbors, true_scaled = brute_force(reach, new, rho)
    np.testing.assert_array_equal(counts, true_counts)
    np.testing.assert_array_equal(neighbors, true_neighbors)
    np.testing.assert_array_equal(scaled, true_scaled)
    assert (counts[::7] == 0).all()
    assert neighbors.dtype == np.int32


def test_rows_do_not_depend_on_their_company(engine):
    tree, new, _ = cloud_of("plane")
    reach, rho = Reach.of(tree, np.full(tree.n_points, 0.2), 3.0), np.linspace(0.1, 1, len(new))
    counts, neighbors, scaled = engine.pairs_to(reach, new, rho)
    start = counts[:40].sum()
    alone = engine.pairs_to(reach, new[40:41], rho[40:41])
    np.testing.assert_array_equal(alone[1], neighbors[start : start + counts[40]])
    np.testing.assert_array_equal(alone[2], scaled[start : start + counts[40]])


def test_no_new_points(engine):
    tree, new, _ = cloud_of("space")
    found = engine.pairs_to(Reach.of(tree, np.ones(tree.n_points), 1.0), new[:0], np.zeros(0))
    assert [len(part) for part in found] == [0, 0, 0]


def test_more_pairs_than_there_was_room_for(engine):
    """One row of all points, from a tree of many."""
    tree, new, spread = cloud_of("plane")
    reach = Reach.of(tree, np.full(tree.n_points, spread), 1e3)
    counts, neighbors, _ = engine.pairs_to(reach, new[:1], np.array([spread]))
    assert counts.tolist() == [tree.n_points]
    np.testing.assert_array_equal(neighbors, np.arange(tree.n_points))
