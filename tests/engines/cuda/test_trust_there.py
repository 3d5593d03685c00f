"""Error bars, checks and new points of a spectrum that lives on a device, against the ordinary."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
import vbdm.engines.choose
from vbdm.base.arrays import is_elsewhere
from vbdm.spectrum.vectors import vectors_of
from vbdm.trust.diagnose import diagnose

from .emulated import needs_device, some_slow
from .there import there

pytestmark = needs_device

CLOUDS = (
    "plane", "curve", "copies", "pieces", "series", "runs", "periodic", "edge", "weights",
)  # fmt: skip


def points_of(cloud: str) -> Any:
    """Return the points of one of several clouds, and options of its estimate."""
    rng = np.random.default_rng(4)
    points, options = rng.standard_normal((600, 2)), dict[str, Any](operator="generator")
    if cloud == "curve":
        turn = np.sort(rng.random(500)) * 2 * np.pi
        waves = np.outer(turn, [1, 2])
        points, options = np.hstack([np.cos(waves), np.sin(waves)]), {"series": False}
    if cloud == "copies":
        points = np.concatenate([points, points[:150], points[:30]])
    if cloud == "pieces":
        away, strays = points[:400] + np.array([40.0, 0.0]), [[90.0, 90.0], [90.1, 90.0]]
        points = np.concatenate([points, away, strays])
    if cloud in ("series", "runs"):
        for t in range(1, len(points)):
            points[t] = 0.9 * points[t - 1] + np.sqrt(0.19) * points[t]
    if cloud == "runs":
        options["lengths"] = [200, 100, 300]
    if cloud == "periodic":
        points, options = rng.random((500, 2)) * [1.0, 3.0] - 0.2, {"period": [1.0, 3.0]}
    if cloud == "edge":
        points, options = rng.random((800, 3)) ** [1.0, 1.0, 0.5], {}
    if cloud == "weights":
        options["weights"] = rng.random(len(points)) + 0.1
    return points, options


@cache
def result(cloud: str) -> Any:
    """Return the ordinary spectrum of a cloud."""
    points, options = points_of(cloud)
    return estimate_with(points, engine="scipy", **options).spectrum(7)


def test_the_clouds_are_what_they_are_for() -> None:
    assert result("edge").errors.parts.boundary.any()
    assert result("plane").errors.parts.tail.any()
    assert result("pieces").pieces.n_solved == 2
    assert result("pieces").pieces.strays.any()
    assert result("copies").operator.graph.order.copies is not None
    for cloud in ("series", "runs"):
        assert result(cloud).errors.effective_points.min() < 300


def close(found: Any, known: Any, scale: float = 1.0) -> None:
    """Compare two arrays, both in memory."""
    assert isinstance(found, np.ndarray)
    np.testing.assert_allclose(found, known, rtol=1e-8, atol=1e-10 * scale)


@pytest.mark.parametrize("cloud", CLOUDS)
def test_error_bars_are_those_of_the_processor(cloud: str) -> None:
    here, away = result(cloud), there(result(cloud))
    assert is_elsewhere(vectors_of(away))
    size = np.abs(here.errors.covariance).max()
    close(away.errors.covariance, here.errors.covariance, size)
    close(away.errors.effective_points, here.errors.effective_points)
    close(away.standard_errors, here.standard_errors, np.sqrt(size))
    close(away.errors.bias, here.errors.bias, np.abs(here.errors.bias).max())
    close(away.intervals(), here.intervals(), np.abs(here.eigenvalues).max())
    for part in ("sampling", "tail", "epsilon", "noise", "boundary"):
        close(getattr(away.errors.parts, part), getattr(here.errors.parts, part))


@pytest.mark.parametrize("cloud", ["plane", "copies", "pieces", "runs"])
def test_eigenfunction_errors_are_those_of_the_processor(cloud: str) -> None:
    here, away = result(cloud), there(result(cloud))
    close(away.errors.functions, here.errors.functions)
    close(away.errors.pointwise(1), here.errors.pointwise(1))
    for found, known in zip(away.errors.mixing, here.errors.mixing, strict=True):
        close(found, known, np.abs(known).max())


@pytest.mark.parametrize("cloud", CLOUDS)
def test_findings_are_those_of_the_processor(cloud: str) -> None:
    here, away = diagnose(result(cloud)), diagnose(there(result(cloud)))
    assert [found.words for found in away] == [found.words for found in here]
    assert [found.light for found in away] == [found.light for found in here]


@pytest.mark.parametrize("cloud", CLOUDS)
def test_new_points_have_the_values_of_the_processor(cloud: str) -> None:
    here, away = result(cloud), there(result(cloud))
    points, rng = here.operator.graph.points, np.random.default_rng(8)
    new = points[::7] + 0.05 * rng.standard_normal(points[::7].shape) * points.std(axis=0)
    new = np.concatenate([new, points[:9], points[:9] + 1e-5, points[:1] + 1e4])
    for outside in ("nan", "nearest"):
        found, known = (one.extend(new, outside=outside) for one in (away, here))
        close(found.values, known.values)
        close(found.density, known.density, known.density.max())
        for name in ("outside", "undefined", "training"):
            np.testing.assert_array_equal(getattr(found, name), getattr(known, name))
    close(away.operator.density_at(new), here.operator.density_at(new), known.density.max())
    f = np.stack([points[:, 0], np.sin(points[:, 1])], axis=1)
    found, known = (one.operator.extend(f, new, outside="nearest") for one in (away, here))
    close(found, known)


@pytest.mark.parametrize(
    "cloud",
    some_slow(
        ["copies", "curve", "pieces", "runs", "periodic", "edge"],
        *("curve", "runs", "periodic", "edge"),
    ),
)
@pytest.mark.filterwarnings("ignore")
def test_from_points_by_the_kernels_themselves(
    cloud: str, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vbdm.engines.choose, "device_engine", lambda: engine)
    points, options = points_of(cloud)
    here, away = result(cloud), estimate_with(points, engine="cuda", **options).spectrum(7)
    assert is_elsewhere(vectors_of(away))
    np.testing.assert_allclose(away.intervals(), here.intervals(), rtol=1e-7, atol=1e-9)
    assert [one.words for one in diagnose(away)] == [one.words for one in diagnose(here)]
    new = points[::9] + 0.02 * points.std(axis=0)
    found, known = (one.extend(new, outside="nearest") for one in (away, here))
    np.testing.assert_allclose(found.density, known.density, rtol=1e-9)
    np.testing.assert_allclose(found.values, known.values, atol=1e-6)
    np.testing.assert_array_equal(found.training, known.training)
