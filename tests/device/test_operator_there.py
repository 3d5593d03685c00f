"""From points to the operator with all tall arrays on a device, against the ordinary way."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vbdm
import vbdm.engines.choose
import vbdm.estimate
from vbdm.base.arrays import is_elsewhere

from .strict_engine import StrictEngine


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have engine="cuda" compute on strict arrays."""
    monkeypatch.setattr(vbdm.engines.choose, "device_engine", StrictEngine)
    monkeypatch.setattr(vbdm.estimate, "warn_of", lambda result: None)


def cloud(name: str, n: int = 1500) -> Any:
    """Return points of one of several kinds."""
    rng = np.random.default_rng(5)
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
        return np.stack(np.meshgrid(np.arange(40.0), np.arange(40.0)), -1).reshape(-1, 2)
    return points


def assert_same(points: Any, **options: Any) -> tuple[Any, Any]:
    """Estimate both ways, and compare all that users see."""
    here = vbdm.estimate_operator(points, engine="scipy", **options)
    there = vbdm.estimate_operator(points, engine="cuda", **options)
    assert there.epsilon == pytest.approx(here.epsilon, rel=1e-12)
    assert there.dim == pytest.approx(here.dim, rel=1e-12)
    f = np.stack([points[:, 0], np.sin(points[:, 1])], axis=1)
    seen = (
        lambda op: op.degrees if op is here else op.on_host.degrees,
        lambda op: op.density, lambda op: op.bandwidth, lambda op: op.widths,
        lambda op: op.on_host.relative_variance,
    )  # fmt: skip
    for look in seen:
        own, other = look(here), look(there)
        assert isinstance(other, np.ndarray)
        np.testing.assert_allclose(other, own, rtol=1e-12)
    np.testing.assert_array_equal(there.pairs, here.pairs)
    for own, other in zip(here.apply(f, True), there.apply(f, True), strict=True):
        assert isinstance(other, np.ndarray)
        np.testing.assert_allclose(other, own, rtol=1e-9, atol=1e-9 * np.abs(own).max())
    np.testing.assert_array_equal(there.graph.points, here.graph.points)
    assert abs(there.matrix - here.matrix).max() <= 1e-12 * abs(here.matrix).max()
    return here, there


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plane", {"operator": "generator"}),
        ("space", {}),
        ("curve", {}),
        ("copies", {"operator": "generator"}),
        ("box", {"period": [1.0, None]}),
    ],
)
def test_the_operator_is_the_same(name: str, options: Any) -> None:
    _, there = assert_same(cloud(name), **options)
    for tall in (there.degrees, there.steps, there.weights.listed.data, there.pilot.density):
        assert is_elsewhere(tall)
    assert is_elsewhere(there.order.permutation)
    assert is_elsewhere(there.graph.point_set.coordinates)
