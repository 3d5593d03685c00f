"""Series for forecasts: the process of which everything is known, and one that was measured."""

from importlib.resources import files

import numpy as np
import pytest

from vbdm.datasets import Measured, Trajectory, nino34, ou_series


@pytest.mark.parametrize("step", [0.05, 1.0])
def test_the_process_is_exact_at_any_step(step):
    """What is left of x' - e⁻ˢ x is normal noise of the right size, of which x knows nothing."""
    x = ou_series(40_000, step=step, dim=2, random_state=0).points
    left = (x[1:] - np.exp(-step) * x[:-1]) / np.sqrt(1 - np.exp(-2 * step))
    np.testing.assert_allclose(np.cov(left.T), np.eye(2), atol=0.03)
    assert np.abs(left.mean(axis=0)).max() < 0.02
    assert np.abs((left[:, :, None] * x[:-1, None, :]).mean(axis=0)).max() < 0.03
    assert (left**4).mean() == pytest.approx(3, abs=0.15)


def test_the_first_state_is_drawn_from_equilibrium():
    first = ou_series(1, dim=20_000, random_state=0).points[0]
    assert first.std() == pytest.approx(1, abs=0.02)


def test_the_process_repeats_and_is_frozen():
    one, again = (ou_series(50, random_state=3) for _ in range(2))
    assert isinstance(one, Trajectory)
    assert one.name == "ou"
    np.testing.assert_array_equal(one.points, again.points)
    np.testing.assert_allclose(np.diff(one.times), 0.1)
    assert not one.points.flags.writeable


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ou_series(0), "n_samples"),
        (lambda: ou_series(10, dim=0), "dim"),
        (lambda: ou_series(10, step=0.0), "step"),
        (lambda: ou_series(10, random_state="seed"), "random_state"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_months_of_the_sea():
    nino = nino34()
    assert isinstance(nino, Measured)
    assert (nino.name, nino.unit) == ("nino34", "°C")
    assert "ERSSTv5" in nino.source
    assert nino.points.shape == (1816, 1)
    assert np.isfinite(nino.points).all()
    assert 23 < nino.points.min() < nino.points.max() < 30
    assert nino.times.dtype == "datetime64[M]"
    assert (np.diff(nino.times).astype(int) == 1).all()
    assert not nino.points.flags.writeable
    assert not nino.times.flags.writeable


def test_known_winters():
    """Published months: La Niña of January 1950, El Niño of 1997, and the warmest, 2015."""
    nino = nino34()
    value = dict(zip(nino.times.astype(str), nino.points[:, 0], strict=True))
    assert value["1950-01"] == 24.56
    assert value["1997-11"] == 29.11
    assert max(value, key=value.get) == "2015-11"


def test_the_seasons_are_left_in():
    nino = nino34()
    month = nino.times.astype(int) % 12
    mean = np.array([nino.points[month == m].mean() for m in range(12)])
    assert mean.argmax() in (3, 4)  # April and May
    assert 1.0 < np.ptp(mean) < 2.0


def test_the_file_says_where_it_is_from():
    text = (files("vbdm.datasets") / "data" / "nino34.txt").read_text(encoding="utf-8")
    for word in ("ERSSTv5", "public domain", "°C", "170°W"):
        assert word in text
