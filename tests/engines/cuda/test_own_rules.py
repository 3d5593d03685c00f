"""Rules and shapes of the user's own: NumPy arrays go in, and kernels never read another type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
import vbdm.engines.choose
from vbdm.base.arrays import is_elsewhere
from vbdm.engines.choose import chosen_engine
from vbdm.engines.cuda import device
from vbdm.graph import on_host
from vbdm.kernel.bandwidth import PowerOfDensity
from vbdm.kernel.dimension import ByRatios
from vbdm.shapes import Gaussian

from .emulated import needs_device

SPACE = np.random.default_rng(5).standard_normal((500, 3))


class ShortNumbers:
    """A bandwidth rule that answers in single precision."""

    beta = None

    def settled(self, graph: Any, dim: float) -> Any:
        return self

    def on_data(self, graph: Any, pilot: Any) -> Any:
        return self.at(None, pilot)

    def at(self, points: Any, pilot: Any) -> Any:
        return (pilot**-0.3).astype(np.float32)


class NumpyPower(PowerOfDensity):
    def settled(self, graph: Any, dim: float) -> Any:
        return NumpyPower(super().settled(graph, dim).beta)

    def at(self, points: Any, pilot: Any) -> Any:
        assert isinstance(pilot, np.ndarray)
        return super().at(points, pilot)


class NumpyRatios(ByRatios):
    def estimate(self, graph: Any, rho0: Any) -> Any:
        assert isinstance(rho0, np.ndarray)
        return super().estimate(graph, rho0)


class NumpyDegree(vbdm.rules.ByDegree):
    def choose(self, pairs: Any) -> Any:
        assert isinstance(pairs.bandwidth.row, np.ndarray)
        return super().choose(pairs)


class NumpyShape(Gaussian):
    def __call__(self, s: Any) -> Any:
        assert isinstance(s, np.ndarray)
        return super().__call__(s)


@needs_device
@pytest.mark.parametrize(
    "options",
    [
        {"bandwidth": ShortNumbers()},
        {"bandwidth": NumpyPower()},
        {"dim": NumpyRatios(), "epsilon": NumpyDegree(17), "shape": NumpyShape()},
    ],
)
def test_rules_get_arrays_of_numpy(
    options: Any, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vbdm.engines.choose, "device_engine", lambda: engine)
    here, there = (estimate_with(SPACE, engine=name, **options) for name in ("scipy", "cuda"))
    assert is_elsewhere(there.inside.degrees)
    # The last bit of a short number hangs on rounding.
    bound = 1e-6 if "bandwidth" in options else 1e-12
    assert there.epsilon == pytest.approx(here.epsilon, rel=bound)
    np.testing.assert_allclose(there.density, here.density, rtol=bound)
    new = SPACE[::9] + 0.03
    np.testing.assert_allclose(there.density_at(new), here.density_at(new), rtol=10 * bound)


@needs_device
def test_the_engine_beside_a_rule_suits_the_number_of_points(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vbdm.engines.choose, "device_engine", lambda: engine)
    seen = []

    def noted(name: str, n_points: int) -> Any:
        seen.append(n_points)
        return chosen_engine(name, n_points)

    monkeypatch.setattr(on_host, "chosen_engine", noted)
    vbdm.estimate_operator(SPACE, epsilon=NumpyDegree(17), run="cuda")
    assert set(seen) == {len(SPACE)}


def test_the_parameters_of_all_kernels_are_known() -> None:
    for name in ("order", "rows", "walks"):
        found = device.parameters(name, 32)
        assert len(found) == device.source_of(name).count("\nKERNEL(")
    names = {part.name: part.type for part in device.parameters("rows", 32)["multiply"]}
    assert (names["values"], names["x"], names["m"]) == (np.float32, np.float64, np.int32)
    assert device.parameters("rows", 64)["multiply"][3].type == np.float64
    assert not device.parameters("walks", 3)["nearest"][0].is_array


@pytest.mark.parametrize(
    ("which", "value", "words"),
    [
        (1, np.zeros(3, np.float32), "float64 as values, not float32"),
        (2, np.zeros(3, np.int64), "uint64 as keys, not int64"),
        (0, np.int32(3), "int64 as n, not int32"),
        (0, 3.0, "int64 as n, not float"),
    ],
)
def test_kernels_refuse_other_types(which: int, value: Any, words: str) -> None:
    args = [3, np.zeros(3), np.zeros(3, np.uint64)]
    device.check_arguments("order", 0, "ordered_keys", tuple(args))
    with pytest.raises(ValueError, match="zip"):
        device.check_arguments("order", 0, "ordered_keys", tuple(args[:2]))
    args[which] = value
    with pytest.raises(TypeError, match=f"kernel ordered_keys takes {words}"):
        device.check_arguments("order", 0, "ordered_keys", tuple(args))
