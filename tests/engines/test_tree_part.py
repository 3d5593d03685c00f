"""Parts of the tree: pairs and nearest neighbours of a block are those of the whole tree."""

import warnings

import numpy as np
import pytest

from vbdm.base.arrays import frozen
from vbdm.engines.choose import chosen_engine
from vbdm.engines.tree import Reach, Tree, levels_to
from vbdm.engines.tree_part import (
    TreePart,
    bounds_of_nearest,
    leaves_of_nearest,
    leaves_within_reach,
    near_leaves,
    nodes_over,
)
from vbdm.rows.place import Partition

pytestmark = pytest.mark.blocks

CLOUDS = {
    "plane": (lambda rng: rng.normal(size=(2000, 2)), None),
    "space": (lambda rng: rng.normal(size=(1500, 3)), None),
    "lattice": (lambda rng: np.stack(np.meshgrid(*[np.arange(40.0)] * 2), -1).reshape(-1, 2), None),
    "cell": (lambda rng: rng.uniform(size=(1800, 2)), np.array([1.0, 0.0])),
    "outliers": (
        lambda rng: np.r_[rng.normal(size=(1200, 2)), 1e4 * rng.normal(size=(9, 2))],
        None,
    ),
}


def tree_and_widths(name, engine):
    """Return a tree, and a width for each of its points."""
    make, period = CLOUDS[name]
    points = make(np.random.default_rng(5))
    columns = np.ascontiguousarray(points.T)
    order = engine.order(columns, levels_to(len(points), 8))
    tree = Tree.over(frozen(np.ascontiguousarray(columns[:, order])), period)
    widths = np.exp(np.random.default_rng(1).normal(size=len(points)) / 3)
    return tree, widths * (1 + np.abs(tree.columns).sum(axis=0)) / np.sqrt(len(points))


def pairs_of(reach, leaves, engine):
    """Return the numbers of pairs of the rows of some leaves, the neighbours and the distances."""
    counts = engine.count_within(reach, leaves)
    return counts, *engine.pairs_within(reach, leaves, int(counts.sum()))


@pytest.mark.parametrize("name", CLOUDS)
@pytest.mark.parametrize("engine", ["scipy", "numba"])
@pytest.mark.parametrize("n_blocks", [3, 16])
def test_pairs_of_a_block_are_those_of_the_whole(name, engine, n_blocks):
    engine, _ = chosen_engine(engine, 2000)
    tree, widths = tree_and_widths(name, engine)
    reach = Reach.of(tree, widths, 4.0, with_self=False)
    partition = Partition.into(tree.n_points, n_blocks)
    for block in range(partition.n_blocks):
        own = partition.leaves(block)
        part = TreePart.of(tree, own, leaves_within_reach(reach, own))
        local = Reach.of(part.tree, part.placed(widths), 4.0, with_self=False)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            counts, neighbors, scaled = pairs_of(local, part.leaves, engine)
        number = np.full(part.tree.n_points, -1)
        number[part.is_point] = part.numbers
        expected = pairs_of(reach, own, engine)
        np.testing.assert_array_equal(part.of_own_rows(counts), expected[0])
        np.testing.assert_array_equal(number[neighbors], expected[1])
        np.testing.assert_array_equal(scaled, expected[2])


@pytest.mark.parametrize("name", CLOUDS)
@pytest.mark.parametrize("k", [2, 33, 300])
def test_nearest_neighbours_are_in_the_part(name, k):
    engine, _ = chosen_engine("numba", 2000)
    tree, _ = tree_and_widths(name, engine)
    whole = engine.nearest(tree).query(tree.columns.T, k)[1]
    bounds, partition = bounds_of_nearest(tree, k), Partition.into(tree.n_points, 7)
    for block in range(partition.n_blocks):
        own = partition.leaves(block)
        part = TreePart.of(tree, own, leaves_of_nearest(tree, bounds, own))
        points = part.tree.columns[:, part.own_places].T
        found = engine.nearest(part.tree).query(points, k)[1]
        np.testing.assert_array_equal(found, whole[partition.rows(block)])


def test_parts_are_small():
    engine, _ = chosen_engine("numba", 2000)
    points = np.random.default_rng(0).uniform(size=(2, 20_000))
    order = engine.order(points, levels_to(20_000, 8))
    tree = Tree.over(frozen(np.ascontiguousarray(points[:, order])))
    reach = Reach.of(tree, np.full(20_000, 0.01), 1.0)
    own = Partition.into(20_000, 16).leaves(5)
    n_own = own.stop - own.start
    assert len(leaves_within_reach(reach, own)) < n_own / 2
    assert len(leaves_of_nearest(tree, bounds_of_nearest(tree, 16), own)) < 2 * n_own


@pytest.mark.parametrize(("start", "stop"), [(0, 16), (3, 4), (5, 13), (0, 0), (8, 16)])
def test_nodes_cover_leaves_once(start, stop):
    leaves = []
    for node in nodes_over(start, stop, 4):
        low = high = node
        while low < 15:
            low, high = 2 * low + 1, 2 * high + 2
        leaves += range(low - 15, high - 14)
    assert sorted(leaves) == list(range(start, stop))


def test_everything_is_near_if_all_is():
    everything = near_leaves(5, slice(7, 20), lambda inside, outside: np.ones(len(inside), bool))
    assert everything.tolist() == [*range(7), *range(20, 32)]
