"""From points to the operator with all tall arrays on a device, against the ordinary way."""

from __future__ import annotations

from threading import get_ident
from typing import Any

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
import vbdm.engines.choose
import vbdm.estimate
from vbdm.base.arrays import is_elsewhere
from vbdm.engines.cuda import availability
from vbdm.errors import DeviceError
from vbdm.extension import extension
from vbdm.graph import neighbor_graph
from vbdm.kernel import within_reach
from vbdm.kernel.dimension import Dimension
from vbdm.kernel.tuning import Tuning
from vbdm.operator.normalise import with_epsilon
from vbdm.operator.sums import pairs_of, relative_variance_of
from vbdm.shapes import Gaussian

from .emulated import ON_GPU, needs_device, some_slow
from .nasty_clouds import CLOUDS
from .strict_engine import StrictEngine

pytestmark = needs_device


@pytest.fixture(autouse=True)
def there(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Any:
    """Have engine="cuda" compute on strict arrays, or on the real device; return that."""
    engine = request.getfixturevalue("engine") if ON_GPU else StrictEngine()
    monkeypatch.setattr(vbdm.engines.choose, "device_engine", lambda: engine)
    monkeypatch.setattr(availability, "the_device", lambda: engine.device)
    return engine.device


def cloud(name: str, n: int = 600) -> Any:
    """Return points of one of several kinds."""
    rng = np.random.default_rng(5)
    if name == "columns":
        return rng.standard_normal((n, 8))
    if name == "curve":
        angle = rng.random(n) * 2 * np.pi
        waves = np.arange(1, 6)[:, None] * angle
        return np.vstack([np.cos(waves), np.sin(waves)]).T / np.arange(1, 11)
    if name == "box":
        return rng.random((n, 2)) * [1.0, 3.0] - 0.3
    points = rng.standard_normal((n, 3 if name == "space" else 2))
    if name == "copies":
        return np.concatenate([points, points[: n // 5], points[:7]])
    if name == "lattice":
        return np.stack(np.meshgrid(np.arange(25.0), np.arange(20.0)), -1).reshape(-1, 2)
    return points


def assert_same(points: Any, **options: Any) -> tuple[Any, Any]:
    """Estimate both ways, and compare all that users see."""
    here = estimate_with(points, engine="scipy", **options)
    there = estimate_with(points, engine="cuda", **options)
    assert there.epsilon == pytest.approx(here.epsilon, rel=1e-12)
    assert there.dim == pytest.approx(here.dim, rel=1e-12)
    f = np.stack([points[:, 0], np.sin(points[:, 1])], axis=1)
    seen = (
        lambda op: op.inside.degrees if op is here else op.on_host.inside.degrees,
        lambda op: op.density, lambda op: op.bandwidth, lambda op: op.widths,
        lambda op: relative_variance_of(op.on_host),
    )  # fmt: skip
    for look in seen:
        own, other = look(here), look(there)
        assert not is_elsewhere(other)
        np.testing.assert_allclose(other, own, rtol=1e-12)
    np.testing.assert_array_equal(pairs_of(there), pairs_of(here))
    for own, other in zip(here.apply(f, True), there.apply(f, True), strict=True):
        assert isinstance(other, np.ndarray)
        np.testing.assert_allclose(other, own, rtol=1e-9, atol=1e-7 * np.nanmax(np.abs(own)))
    np.testing.assert_array_equal(there.graph.points, here.graph.points)
    assert abs(there.matrix - here.matrix).max() <= 1e-12 * abs(here.matrix).max()
    return here, there


def width(points: Any) -> Any:
    return 1 + points[:, 0] ** 2


def hill(points: Any) -> Any:
    return np.square(points).sum(axis=1) / 2


PLANE = cloud("plane")
#: Lines that other cases run, too, with other numbers.
SLOW = pytest.mark.slow
JUMPING = np.random.default_rng(1).exponential(size=len(PLANE)) + 0.1


class OwnShape:
    """A user's shape, which knows NumPy's arrays only."""

    def __call__(self, s: Any) -> Any:
        return np.exp(-np.asarray(s) / 4)

    def moments(self, dim: float, cutoff: float = np.inf) -> Any:
        return Gaussian().moments(dim, cutoff)


class OwnRules:
    """A user's rules for ρ, d and ε, which know NumPy's arrays only."""

    beta = None

    def settled(self, graph: Any, dim: float) -> Any:
        return self

    def on_data(self, graph: Any, pilot: Any) -> Any:
        return np.asarray(pilot) ** -0.4

    def estimate(self, graph: Any, rho0: Any) -> Any:
        return Dimension(2.0 if np.asarray(rho0).min() > 0 else np.nan)

    def choose(self, pairs: Any) -> Any:
        return Tuning(float(np.median(np.concatenate(list(pairs.blocks())))))


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plane", {"operator": "generator"}),
        pytest.param("space", {"alpha": 0.3}, marks=SLOW),
        pytest.param("curve", {}, marks=SLOW),
        ("copies", {"operator": "generator"}),
        ("copies", {"weights": np.tile([1.0, 2.0, 5.0], 243)[:727], "operator": 2.0}),
        ("lattice", {"leave_one_out": False}),
        ("box", {"period": [1.0, None]}),
        pytest.param("plane", {"operator": 1, "weights": np.exp(-hill(PLANE) / 2)}, marks=SLOW),
        ("plane", {"operator": 1, "weights": JUMPING}),
        ("plane", {"potential": hill}),
        pytest.param("plane", {"potential": hill(PLANE), "dim": 2}, marks=SLOW),
        ("plane", {"bandwidth": width, "epsilon": 0.01}),
        pytest.param("plane", {"bandwidth": width(PLANE), "epsilon": 0.01}, marks=SLOW),
        ("plane", {"beta": 0.0, "operator": 2.0, "epsilon": 0.01}),
        ("plane", {"effort": 0.5, "precision": "double", "shape": "broad"}),
        ("plane", {"shape": "compact", "truncation": 0.05, "n_density_neighbors": 24}),
        ("plane", {"shape": OwnShape()}),
        ("plane", {"bandwidth": OwnRules(), "dim": OwnRules(), "epsilon": OwnRules()}),
        pytest.param(
            "plane",
            {"epsilon": vbdm.rules.BySlope(), "dim": vbdm.rules.DimensionBySlope()},
            marks=SLOW,
        ),
    ],
)
def test_the_operator_is_the_same(name: str, options: Any) -> None:
    _, there = assert_same(cloud(name), **options)
    for tall in (
        there.inside.degrees,
        there.inside.steps,
        there.alpha_kernel.listed.data,
        there.inside.pilot.density,
    ):
        assert is_elsewhere(tall)
    assert is_elsewhere(there.graph.order.permutation)
    assert is_elsewhere(there.graph.point_set.coordinates)


@pytest.mark.parametrize(
    "name", some_slow(["plane", "space", "curve", "copies", "box"], "plane", "space")
)
def test_kernels_make_the_same_operator(
    name: str, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vbdm.engines.choose, "device_engine", lambda: engine)
    assert_same(cloud(name, 500), period=[1.0, None] if name == "box" else None)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plane", {"method": "paper"}),
        pytest.param("plane", {"method": "paper", "form": "left"}, marks=SLOW),
        pytest.param("plane", {"method": "paper", "form": "right"}, marks=SLOW),
        ("plane", {"n_neighbors": 40}),
        ("plane", {"truncation": None}),
        ("columns", {}),
    ],
)
def test_kernels_on_lists_are_evaluated_in_memory(name: str, options: Any) -> None:
    _, there = assert_same(cloud(name, 400), **options)
    assert not is_elsewhere(there.inside.degrees)
    assert "lists" in there.settings.engine_reason
    with pytest.raises(DeviceError, match="lists of neighbours cannot be had on the GPU"):
        estimate_with(cloud(name, 400), engine="cuda", output="device", **options)


def test_lists_come_out_in_the_caller_s_order() -> None:
    here, there = (
        vbdm.estimate_operator(PLANE, run=vbdm.Run(engine=name)).graph for name in ("scipy", "cuda")
    )
    for name in ("indices", "sqdist"):
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))


def test_curves_of_epsilon_are_the_same() -> None:
    here, there = (
        vbdm.estimate_operator(PLANE, run=vbdm.Run(engine=name)) for name in ("scipy", "cuda")
    )
    # Rounding decides whether a far point counts as the last one of a list.
    assert there.tuning.dim == pytest.approx(here.tuning.dim, rel=1e-3)
    np.testing.assert_allclose(there.tuning.sums, here.tuning.sums, rtol=1e-3)
    np.testing.assert_allclose(there.tuning.curve.quantiles, here.tuning.curve.quantiles, 1e-2)


def test_results_stay_there_if_asked_for(there: Any) -> None:
    op = vbdm.estimate_operator(there.array(PLANE), run=vbdm.Run(output="device"))
    f = there.array(np.sin(PLANE))
    for values in (op.density, op.bandwidth, op @ f, *op.apply(f, True)):
        assert is_elsewhere(values)
    plain = vbdm.estimate_operator(PLANE, run="scipy")
    np.testing.assert_allclose((op @ f).get(), plain @ np.sin(PLANE), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(plain @ f, plain @ np.sin(PLANE), rtol=1e-12)


def test_pairs_are_evaluated_in_large_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = vbdm.estimate_operator(PLANE, run="cuda")
    monkeypatch.setattr(within_reach, "PAIRS_ON_DEVICE", 5000)
    parts = vbdm.estimate_operator(PLANE, run="cuda")
    np.testing.assert_array_equal(parts.inside.degrees.get(), whole.inside.degrees.get())
    tree = whole.graph.point_set.tree
    pointer = whole.kernel.weights.listed.indptr
    found = list(within_reach.large_parts(tree, pointer, None))
    assert len(found) > 5
    assert max(pairs.stop - pairs.start for _, _, pairs in found) < 5000 + 16 * 200
    assert [rows.start for _, rows, _ in found[1:]] == [rows.stop for _, rows, _ in found[:-1]]
    assert found[-1][2].stop == whole.kernel.weights.nnz
    monkeypatch.setattr(within_reach, "FEWEST_PAIRS", 1000)
    for free in (32 * 1000, 0):
        assert len(list(within_reach.large_parts(tree, pointer, free))) > 3 * len(found)
    monkeypatch.setattr(within_reach, "FEWEST_PAIRS", 1 << 16)
    assert len(list(within_reach.large_parts(tree, pointer, 0))) == len(found)


def test_what_does_not_fit_on_the_device_is_refused(
    there: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(there), "free_bytes", lambda self: 1 << 20)
    with pytest.raises(vbdm.errors.OutOfMemoryError, match="would not fit"):
        vbdm.estimate_operator(PLANE, run="cuda")


def test_another_epsilon_and_the_conjugate_are_the_same() -> None:
    here, there = (
        vbdm.estimate_operator(PLANE, run=vbdm.Run(engine=name)) for name in ("scipy", "cuda")
    )
    assert abs(there.symmetric - here.symmetric).max() <= 1e-12 * abs(here.symmetric).max()
    own, other = (with_epsilon(op, 2 * here.epsilon).inside for op in (here, there))
    assert is_elsewhere(other.degrees)
    np.testing.assert_allclose(other.degrees.get(), own.degrees, rtol=1e-12)


def test_doors_that_work_in_memory_take_points_from_a_device(there: Any) -> None:
    away = there.array(PLANE)
    np.testing.assert_array_equal(vbdm.neighbors(away, 9).indices, vbdm.neighbors(PLANE, 9).indices)
    for find in (vbdm.pca, vbdm.tica):
        assert find(away, 1) == find(PLANE, 1)
        np.testing.assert_array_equal(find(away, 1).apply(away), find(PLANE, 1).apply(PLANE))


def test_readings_in_blocks_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = vbdm.estimate_operator(PLANE, run="cuda")
    monkeypatch.setattr(neighbor_graph, "AT_ONCE_ON_DEVICE", 5000)
    blocks = vbdm.estimate_operator(PLANE, run="cuda")
    assert blocks.dim == whole.dim
    np.testing.assert_array_equal(blocks.inside.pilot.rho0.get(), whole.inside.pilot.rho0.get())
    seen = []

    def noted(distances: Any) -> Any:
        seen.append(get_ident())
        return distances.T

    assert blocks.graph.from_distances(noted, slice(1, 3)).shape == (2, len(PLANE))
    # One after the other, by the thread whose device and whose queue of work it is.
    assert len(seen) > 1
    assert set(seen) == {get_ident()}


def test_new_points_come_in_smaller_batches_where_little_memory_is_free(
    there: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    op = vbdm.estimate_operator(PLANE, run="cuda")
    new, f = PLANE[:100] + 0.01, np.sin(PLANE)
    whole = op.extend(f, new)
    assert extension.batch_size(op, there.array(new)) == extension.BATCH_ON_DEVICE
    monkeypatch.setattr(extension, "BATCH", 30)
    monkeypatch.setattr(there, "free_bytes", lambda: 0)
    assert extension.batch_size(op, there.array(new)) == 30
    np.testing.assert_allclose(op.extend(f, new), whole, rtol=1e-12)


@pytest.mark.parametrize(
    "name", some_slow([*CLOUDS, "one place", "ten points"], *list(CLOUDS)[::2], "many_columns")
)
def test_nasty_clouds_have_the_same_operator_or_the_same_error(
    name: str, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vbdm.engines.choose, "device_engine", lambda: engine)
    period = None
    if name in CLOUDS:
        points, _, _, lengths = CLOUDS[name](250)
        period = None if lengths is None else [length or None for length in lengths]
    else:
        points = np.ones((20, 2)) if name == "one place" else PLANE[:10]
    found = []
    for one in ("scipy", "cuda"):
        try:
            op = vbdm.estimate_operator(points, period=period, run=vbdm.Run(engine=one))
            found.append((op.epsilon, op.dim, pairs_of(op)))
        except vbdm.InputError as error:
            found.append(str(error))
    here, there = found
    if isinstance(here, str):
        assert there == here
        return
    assert there[:2] == pytest.approx(here[:2], rel=1e-12)
    np.testing.assert_array_equal(there[2], here[2])
