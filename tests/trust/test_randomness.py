"""Time series are not independent, and grids are not random: both are seen in the points."""

import numpy as np
import pytest
from scipy.signal import lfilter
from tests.support.findings import found_in, light_of

import vbdm
from vbdm.graph.lists import ReleasedLists
from vbdm.trust.series import LONG, NOISE, autocorrelation_time, regularity


def in_series(memory, n=1500, seed=0):
    """Steps of a process on the line whose memory of the last step is this."""
    generator = np.random.default_rng(seed)
    noise = generator.standard_normal(n) * np.sqrt(1 - memory**2)
    noise[0] = generator.standard_normal()
    return lfilter([1], [1, -memory], noise)[:, None]


def test_independent_rows_are_green():
    for seed in range(200):
        generator = np.random.default_rng(seed)
        n = int(generator.integers(30, 3000))
        functions = generator.standard_normal((5, n)) ** generator.choice([1, 3], (5, 1))
        longest = max(autocorrelation_time(values) for values in functions)
        assert longest <= LONG + NOISE / np.sqrt(n)


def test_a_time_series_is_not_independent():
    points = in_series(0.97)
    found = found_in(vbdm.estimate_operator(points, "generator").spectrum(4), "Independence")
    assert found.light == "amber"
    # (1 + a)/(1 - a) is the truth for the slowest mode.
    assert found.value == pytest.approx(1.97 / 0.03, rel=0.4)
    assert "time series" in found.words
    shuffled = np.random.default_rng(0).permutation(points)
    mixed = found_in(vbdm.estimate_operator(shuffled, "generator").spectrum(4), "Independence")
    assert mixed.light == "green"
    assert mixed.value < 2


def test_sorted_thinned_and_repeated_rows():
    points = in_series(0.9)
    thin = vbdm.estimate_operator(points[::50], "generator").spectrum(3)
    assert light_of(thin, "Independence") == "green"
    ordered = vbdm.estimate_operator(np.sort(points, axis=0), "generator").spectrum(3)
    assert "merely sorted" in found_in(ordered, "Independence").words
    twice = np.repeat(vbdm.datasets.circle(200, random_state=0).points, 8, axis=0)
    assert light_of(vbdm.estimate_operator(twice).spectrum(3), "Independence") == "amber"
    mixed = np.repeat(np.random.default_rng(0).permutation(twice[::8]), 8, axis=0)
    equal = found_in(vbdm.estimate_operator(mixed).spectrum(3), "Independence")
    assert equal.light == "amber"
    assert "because they are equal" in equal.words
    assert autocorrelation_time(np.ones(50)) == 1
    assert autocorrelation_time([1.0, np.nan, -1.0, 1.0, -1.0]) >= 1


def grid(n=24):
    return np.stack(np.meshgrid(np.arange(n), np.arange(n)), axis=-1).reshape(-1, 2).astype(float)


@pytest.mark.parametrize(
    "points",
    [
        grid(),
        grid() * np.array([1, 1.7]),
        np.linspace(0, 1, 300)[:, None] ** 2,
        np.stack([np.cos(np.arange(200) * np.pi / 100), np.sin(np.arange(200) * np.pi / 100)], 1),
    ],
    ids=["square", "oblong", "stretched", "circle"],
)
def test_regular_spacing(points):
    regular = found_in(vbdm.estimate_operator(points).spectrum(3), "Spacing")
    assert regular.light == "amber"
    assert "pass method=vbdm.Resolved(leave_one_out=False)" in regular.words
    assert "give `dim`" in regular.words
    # Who has done so is left in peace.
    done = vbdm.estimate_operator(
        points, dim=2, method=vbdm.Resolved(leave_one_out=False)
    ).spectrum(3)
    assert light_of(done, "Spacing") == "green"


def test_the_autocorrelation_of_a_trend_is_that_of_the_sums():
    """A trend correlates the first rows with the last, if the transform is not long enough."""
    values = np.linspace(-1, 1, 100)
    sums = np.array([values[k:] @ values[: 100 - k] for k in range(100)]) / (values @ values)
    cut = int(np.argmax(sums <= 0))
    assert autocorrelation_time(values) == pytest.approx(1 + 2 * sums[1:cut].sum())


def test_random_points_of_a_plane_have_a_regularity_of_one_half():
    points = np.random.default_rng(0).random((2000, 2))
    assert regularity(vbdm.neighbors(points)) == pytest.approx(0.5, abs=0.03)


def test_random_points_are_not_regular():
    noise = 0.02 * np.random.default_rng(0).standard_normal((600, 10))
    clouds = [vbdm.datasets.closed_curve(600, random_state=0).points + noise]
    for seed in range(20):
        clouds.append(vbdm.datasets.ou(400, dim=1 + seed % 3, random_state=seed).points)
    for points in clouds:
        assert regularity(vbdm.neighbors(points)) < 0.75


def test_spacing_of_loaded_models_and_tiny_clouds(tmp_path):
    points = vbdm.datasets.circle(150, random_state=0).points
    spectrum = vbdm.estimate_operator(points).spectrum(3)
    vbdm.save(spectrum, tmp_path / "model.vbdm", kernel=False)
    loaded = vbdm.load(tmp_path / "model.vbdm")
    assert found_in(loaded, "Spacing").value == found_in(spectrum, "Spacing").value
    assert regularity(vbdm.neighbors(points[:5], 5)) is None
    assert regularity(vbdm.neighbors(points[:19], 10)) is None
    assert regularity(vbdm.neighbors(points[:20], 10)) is not None
    # The corners of a simplex are all equally far apart: nothing is more even.
    assert regularity(vbdm.neighbors(np.eye(30), 10)) == 1
    # A large graph gives up its table: some points are searched for again.
    graph = vbdm.neighbors(points, 20)
    assert isinstance(graph.released().lists, ReleasedLists)
    assert regularity(graph.released()) == regularity(graph)
