"""Order, nearest points and pairs on a device: the same as on the processor, to the last bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from vbdm.engines.cuda.walks import tree_order
from vbdm.engines.numba_engine import NumbaEngine
from vbdm.engines.scipy_engine import ScipyEngine
from vbdm.engines.scipy_engine import tree_order as order_on_host
from vbdm.engines.tree import Reach, Tree, levels_to
from vbdm.search.exact import search_all

from .emulated import needs_device, some_slow
from .nasty_clouds import CLOUDS, NastyCloud

pytestmark = needs_device


def ordered(device: Any, columns: Any, depth: int) -> Any:
    return tree_order(device.array(columns), depth).get()


@pytest.mark.parametrize("name", some_slow(CLOUDS, "many_columns"))
@pytest.mark.parametrize("n", [700, 4096])
def test_order_of_nasty_clouds(device: Any, name: str, n: int) -> None:
    columns = np.ascontiguousarray(CLOUDS[name](n).points.T)
    depth = levels_to(columns.shape[1], 8)
    found = ordered(device, columns, depth)
    assert found.dtype == np.intp
    np.testing.assert_array_equal(found, order_on_host(columns, depth))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 17, 127, 128, 129, 1000, 4999, 5000])
@pytest.mark.parametrize("dim", [1, 2, 10])
def test_order_of_any_size(device: Any, n: int, dim: int) -> None:
    rng = np.random.default_rng(n)
    depth = levels_to(n, 8)
    for columns in rng.normal(size=(dim, n)), rng.integers(-2, 3, (dim, n)) * 1.0:
        np.testing.assert_array_equal(
            ordered(device, columns, depth), order_on_host(columns, depth)
        )


def test_order_of_zeros_of_both_signs(device: Any) -> None:
    columns = np.where(np.random.default_rng(0).random((1, 300)) < 0.5, -0.0, 0.0)
    np.testing.assert_array_equal(ordered(device, columns, 5), order_on_host(columns, 5))


def in_order(cloud: NastyCloud) -> tuple[Tree, Any]:
    """Return the tree of a cloud, and its widths in the tree's order."""
    columns = cloud.points.T
    order = order_on_host(columns, levels_to(columns.shape[1], 8))
    return Tree.over(np.ascontiguousarray(columns[:, order]), cloud.period), cloud.rho[order]


def on(device: Any, tree: Tree) -> Tree:
    names = "columns", "period", "low", "high"
    return replace(tree, **{name: device.array(getattr(tree, name)) for name in names})


@pytest.mark.parametrize("n", [1, 16, 17, 1000])
def test_boxes(device: Any, n: int) -> None:
    rng = np.random.default_rng(n)
    columns, rho = rng.normal(size=(3, n)), rng.random(n)
    home = Tree.over(columns, np.array([0.0, 2.0, 0.0]))
    there = Tree.over(device.array(columns), np.array([0.0, 2.0, 0.0]))
    for name in "columns", "period", "low", "high":
        np.testing.assert_array_equal(getattr(there, name).get(), getattr(home, name))
    widest = Reach.of(there, device.array(rho), 1.0).widest
    np.testing.assert_array_equal(widest.get(), Reach.of(home, rho, 1.0).widest)


def nearest_of_all(tree: Tree, points: Any, k: int) -> tuple[Any, Any]:
    """Return the first k of all points, by distance and then by number."""
    total = np.zeros((len(points), tree.n_points))
    with np.errstate(over="ignore", under="ignore"):
        for x, column, length in zip(points.T, tree.columns, tree.period, strict=True):
            gap = column - x[:, None]
            if length > 0:
                gap -= length * np.rint(gap / length)
            total += gap * gap
    indices = np.argsort(total, axis=1, kind="stable")[:, :k]
    return indices, np.take_along_axis(total, indices, axis=1)


def check_nearest(device: Any, engine: Any, tree: Tree, points: Any, k: int) -> None:
    found = engine.nearest(on(device, tree)).query(device.array(points), k)
    for one, other in zip(found, nearest_of_all(tree, points, k), strict=True):
        assert one.shape == (len(points), k)
        np.testing.assert_array_equal(one.get(), other)
    assert found[0].dtype == np.int32


@pytest.mark.parametrize("name", some_slow(CLOUDS, "many_columns"))
def test_nearest_points_of_nasty_clouds(device: Any, engine: Any, name: str) -> None:
    tree, _ = in_order(CLOUDS[name](600))
    points = np.ascontiguousarray(tree.columns.T)
    check_nearest(device, engine, tree, points, 33)
    check_nearest(device, engine, tree, points[::37], 300)


@pytest.mark.parametrize("name", ["lattice", "heavy_tails", "torus", "curve", "huge"])
def test_nearest_points_of_points_anywhere(device: Any, engine: Any, name: str) -> None:
    tree, _ = in_order(CLOUDS[name](600))
    rng = np.random.default_rng(0)
    low, high = tree.columns.min(axis=1), tree.columns.max(axis=1)
    check_nearest(device, engine, tree, rng.uniform(low, high, (50, len(low))), 7)
    away = rng.uniform(low, high, (50, len(low))) * np.where(tree.period > 0, 1.0, 3.0)
    check_nearest(device, engine, tree, away, 40)


@pytest.mark.parametrize("n", [1, 2, 16, 17, 33, 257, 3000])
def test_any_number_of_nearest_points(device: Any, engine: Any, n: int) -> None:
    rng = np.random.default_rng(n)
    tree, _ = in_order(NastyCloud(rng.integers(0, 9, (n, 3)) * 1.0, np.ones(n), 1.0))
    points = np.ascontiguousarray(tree.columns.T)[:: max(1, n // 20)]
    for k in sorted({1, min(n, 32), n // 2 + 1, n}):
        check_nearest(device, engine, tree, points, k)


def test_nearest_points_in_pieces(device: Any, engine: Any, monkeypatch: Any) -> None:
    tree, _ = in_order(CLOUDS["rounded"](700))
    monkeypatch.setattr("vbdm.engines.cuda.walks.IN_SHARED", 512)
    monkeypatch.setattr("vbdm.engines.cuda.walks.AT_ONCE", 2048 * 12 * 5)
    points = np.ascontiguousarray(tree.columns.T)[:23]
    check_nearest(device, engine, tree, points, 650)
    # Where little memory is free, pieces are smaller: two rows, or one.
    monkeypatch.setattr("vbdm.engines.cuda.walks.AT_ONCE", 1 << 29)
    for free in (4 * 2048 * 12 * 2, 0):
        monkeypatch.setattr(device, "free_bytes", lambda free=free: free)
        check_nearest(device, engine, tree, points[:5], 650)


def test_nearest_of_all_points_in_several_calls(device: Any, engine: Any) -> None:
    tree, _ = in_order(CLOUDS["rounded"](300))
    there, points = on(device, tree), np.ascontiguousarray(tree.columns.T)
    index, cloud = engine.nearest(there), device.array(points)
    whole, pieces = (
        search_all(replace(index, rows_per_call=size), cloud, 9, keep=True)
        for size in (index.rows_per_call, 70)
    )
    for one, other in zip(whole, pieces, strict=True):
        np.testing.assert_array_equal(one.get(), other.get())


def test_the_engine_of_this_machine_finds_the_same_points() -> None:
    """What is compared with above is what compiled loops give."""
    for name in "lattice", "torus", "heavy_tails", "tiny":
        tree, _ = in_order(CLOUDS[name](600))
        points = np.ascontiguousarray(tree.columns.T)
        found = NumbaEngine().nearest(tree).query(points, 33)
        for one, other in zip(found, nearest_of_all(tree, points, 33), strict=True):
            np.testing.assert_array_equal(one, other)


def reaches(device: Any, cloud: NastyCloud, with_self: bool) -> tuple[Reach, Reach]:
    """Return a reach on this machine and on the device."""
    tree, rho = in_order(cloud)
    home = Reach.of(tree, rho, cloud.cut, with_self=with_self)
    parts = device.array(home.rho), device.array(home.widest)
    return home, replace(home, tree=on(device, tree), rho=parts[0], widest=parts[1])


def pairs_of(engine: Any, reach: Reach, leaves: slice) -> list[Any]:
    counts = engine.count_within(reach, leaves)
    return [counts, *engine.pairs_within(reach, leaves, int(counts.sum()))]


def check_same(found: Any, home: Any) -> None:
    for one, other in zip(found, home, strict=True):
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.get(), other)


@pytest.mark.parametrize("name", some_slow(CLOUDS, "many_columns"))
def test_pairs_of_nasty_clouds(device: Any, engine: Any, name: str) -> None:
    cloud = CLOUDS[name](600)
    for with_self in True, False:
        home, there = reaches(device, cloud, with_self)
        n_leaves = 1 << home.tree.depth
        some = slice(n_leaves // 3, n_leaves // 3 + 1), slice(1, n_leaves - 2), slice(0, n_leaves)
        for leaves in some:
            found = pairs_of(engine, there, leaves)
            with np.errstate(over="ignore", under="ignore"):
                for other in NumbaEngine(), ScipyEngine():
                    check_same(found, pairs_of(other, home, leaves))
        assert len(found[1]) > home.tree.n_points / 2


def test_pairs_of_leaves_that_were_not_counted(device: Any, engine: Any) -> None:
    home, there = reaches(device, CLOUDS["spiral"](600), with_self=True)
    n_leaves = 1 << home.tree.depth
    engine.count_within(there, slice(3, n_leaves - 1))
    for leaves in slice(5, 9), slice(2, 6), slice(0, n_leaves), slice(3, n_leaves):
        counts, *pairs = pairs_of(NumbaEngine(), home, leaves)
        check_same(engine.pairs_within(there, leaves, int(counts.sum())), pairs)


def test_what_another_thread_counts_meanwhile_is_not_taken(
    device: Any, engine: Any, monkeypatch: Any
) -> None:
    class Meanwhile(dict):  # type: ignore[type-arg]
        def __setitem__(self, reach: Any, found: Any) -> None:
            super().__setitem__(reach, (slice(0, 1), device.array(np.array([0, 7]))))

    monkeypatch.setattr("vbdm.engines.cuda.walks.COUNTED", Meanwhile())
    home, there = reaches(device, CLOUDS["torus"](600), True)
    leaves = slice(3, 9)
    exact = pairs_of(ScipyEngine(), home, leaves)
    check_same(pairs_of(engine, there, leaves), exact)


@pytest.mark.parametrize("name", some_slow(CLOUDS, "many_columns"))
def test_pairs_of_new_points(device: Any, engine: Any, name: str) -> None:
    cloud = CLOUDS[name](600)
    home, there = reaches(device, cloud, with_self=True)
    rng = np.random.default_rng(1)
    chosen = rng.integers(0, len(cloud.points), 60)
    shift = rng.normal(size=cloud.points[chosen].shape) * cloud.rho[chosen, None] / 3
    points = cloud.points[chosen] + np.where(rng.random(60) < 0.3, 0.0, 1.0)[:, None] * shift
    points[-1] = cloud.points.max(axis=0) * 2
    if cloud.period is not None:
        wrapped = np.where(cloud.period > 0, cloud.period, np.inf)
        points = np.where(cloud.period > 0, np.mod(points, wrapped), points)
    rho = cloud.rho[chosen[::-1]]
    found = engine.pairs_to(there, device.array(points), device.array(rho))
    with np.errstate(over="ignore", under="ignore"):
        for other in NumbaEngine(), ScipyEngine():
            check_same(found, other.pairs_to(home, points, rho))
    assert len(found[1]) > 0


@pytest.mark.parametrize("name", some_slow(["copies", "curve", "heavy_tails", "torus"], "curve"))
def test_warps_of_32_lanes(device: Any, engine: Any, name: str, monkeypatch: Any) -> None:
    """The same, where the lanes of a warp work together as they do on a GPU."""
    monkeypatch.setattr(device, "lanes", 32, raising=False)
    test_order_of_nasty_clouds(device, name, 700)
    tree, _ = in_order(CLOUDS[name](300))
    for k, step in (33, 3), (200, 50), (299, 100):
        check_nearest(device, engine, tree, np.ascontiguousarray(tree.columns.T[::step]), k)
    test_pairs_of_nasty_clouds(device, engine, name)
    test_pairs_of_new_points(device, engine, name)
