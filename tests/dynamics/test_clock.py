"""The clock: diffusivity and times from time series of processes that are known."""

import pickle
import warnings
from functools import cache
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

import vbdm
from vbdm.dynamics.clock import Timescales, reason
from vbdm.dynamics.diffusivity import Table, sound_modes
from vbdm.dynamics.lagged import check_lags, correlation
from vbdm.errors import ClockWarning, InputError


def ou(n, dim=1, step=0.1, seed=0, diffusivity=1.0):
    """Return a series of the Ornstein-Uhlenbeck process, exact at any step."""
    rng = np.random.default_rng(seed)
    keep = np.exp(-np.broadcast_to(diffusivity, dim) * step)
    rows, noise = np.empty((n, dim)), np.sqrt(1 - keep**2) * rng.standard_normal((n, dim))
    rows[0] = rng.standard_normal(dim)
    for t in range(1, n):
        rows[t] = keep * rows[t - 1] + noise[t]
    return rows


def double_well(seeds, step, n=10_000, diffusivity=0.5, small=0.008):
    """Return series in the potential 2 (x² - 1)², one column for each seed."""
    rngs = [np.random.default_rng(seed) for seed in seeds]
    inner = round(step / min(small, step / 5))
    dt, x = step / inner, np.array([rng.choice([-1.0, 1.0]) for rng in rngs])
    rows, wait = np.empty((n, len(seeds))), round(10 / step)
    for t in range(-wait, n):
        noise = np.stack([rng.standard_normal(inner) for rng in rngs], axis=1)
        for kick in noise * np.sqrt(2 * diffusivity * dt):
            x = x - diffusivity * 8 * x * (x * x - 1) * dt + kick
        if t >= 0:
            rows[t] = x
    return rows


@cache
def modes(dim=1, n=3000, seed=0, **options):
    """Return the spectrum of a series of the Ornstein-Uhlenbeck process."""
    rows = ou(n, dim, seed=seed, **options)
    return vbdm.estimate_operator(rows, "generator", series=True).spectrum(6)


@pytest.mark.parametrize("dim", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_the_diffusivity_of_a_parabolic_well(dim):
    clock = modes(dim).clock(step=0.2, unit="ns")
    assert clock.consistent
    value, error = clock.diffusivity
    assert abs(value - 0.5) < 3 * error
    assert 0 < error < 0.05
    assert abs(clock.timescales[1] - 2.0) < 3 * clock.timescale_errors[1]
    np.testing.assert_allclose(clock.rates[1:] * clock.timescales[1:], 1)
    assert clock.timescales[0] == np.inf
    assert clock.timescale_errors[0] == 0


def test_the_unit_of_time_scales_everything():
    one, other = modes().clock(step=0.1), modes().clock(step=100.0, unit="ps")
    assert other.diffusivity.value == pytest.approx(one.diffusivity.value / 1000)
    assert other.diffusivity.error == pytest.approx(one.diffusivity.error / 1000)
    np.testing.assert_allclose(other.timescales, 1000 * one.timescales)
    assert "ps" in repr(other)
    shown = repr(other).partition("times ")[2].partition(" ps")[0].split(", ")
    assert shown == [f"{time:.3g}" for time in other.timescales[1:5]]


@pytest.mark.parametrize("step", [0.02, pytest.param(0.2, marks=pytest.mark.slow)])
def test_a_double_well(step):
    """Its diffusivity is known to 2 % from 10⁴ rows, and cannot be known better than 1.5 to 2 %."""
    rows = double_well([7], step)
    clock = vbdm.estimate_operator(rows, "generator", series=True).spectrum(10).clock(step=step)
    value, error = clock.diffusivity
    assert clock.consistent
    assert abs(value - 0.5) < min(3 * error, 0.035)
    assert 0.005 < error < 0.02
    assert abs(clock.rates[1] - 0.2273) < 3 * clock.rate_errors[1]


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.02, 0.2])
def test_the_bars_of_the_diffusivity_cover(step):
    """Information theory allows 1.5 and 2.0 %: some 2 % of all series are off by more than 5 %."""
    seeds = range(9100, 9124)
    found, rates = [], []
    for row in double_well(seeds, step).T:
        spectrum = vbdm.estimate_operator(row[:, None], "generator", series=True).spectrum(10)
        clock = spectrum.clock(step=step)
        found.append(clock.diffusivity)
        rates.append((clock.rates[1], clock.rate_errors[1]))
    value, error = np.array(found).T
    assert np.mean(np.abs(value / 0.5 - 1) < 0.05) >= 0.91
    assert np.abs(value / 0.5 - 1).max() < 0.08
    assert abs(value.mean() / 0.5 - 1) < 0.015
    assert 0.75 < error.mean() / value.std() < 1.35
    rate, bar = np.array(rates).T
    assert np.abs((rate - 0.22727) / bar).max() < 3


def test_a_new_series_reads_the_clock_of_known_modes():
    points = vbdm.datasets.ou(4000, dim=1, random_state=5).points
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(6)
    clock = spectrum.clock(ou(4000, seed=3), step=0.2)
    assert clock.consistent
    assert abs(clock.diffusivity.value - 0.5) < 3 * clock.diffusivity.error
    several = spectrum.clock([ou(2000, seed=4), ou(2000, seed=5)], step=0.2)
    assert abs(several.diffusivity.value - 0.5) < 3 * several.diffusivity.error


def test_no_pair_of_rows_crosses_a_joint():
    """Series of ten rows each, in random order: only rows inside them are alike."""
    rows, rng = ou(4000, seed=1), np.random.default_rng(2)
    pairs = rows.reshape(-1, 10)[rng.permutation(400)].reshape(-1, 1)
    spectrum = vbdm.estimate_operator(pairs, "generator", lengths=[10] * 400).spectrum(4)
    clock = spectrum.clock(step=0.2)
    assert abs(clock.diffusivity.value - 0.5) < 3 * clock.diffusivity.error
    assert clock.lags.max() == 2
    assert not abs(spectrum.clock(step=0.2, lengths=[4000]).diffusivity.value - 0.5) < 0.03


@cache
def short(n, seed):
    """Return the spectrum of a short series in a double well with diffusivity 0.5, step 0.2."""
    rows = vbdm.datasets.double_well_series(n, step=0.2, diffusivity=0.5, random_state=seed)
    return vbdm.estimate_operator(rows.points, "generator", series=True).spectrum(6)


@pytest.mark.parametrize("lag", [4, 8])
def test_modes_that_are_forgotten_do_not_come_back_by_chance(lag):
    """After 4 rows all modes but one are, however large their correlations come out later."""
    clock = short(1500, seed=0).clock(step=0.2, lags=[lag])
    assert [one.mode for one in clock.by_mode] == [1]
    assert clock.consistent
    assert abs(clock.diffusivity.value - 0.5) < 3 * clock.diffusivity.error
    assert clock.lags.tolist() == [lag]


@pytest.mark.parametrize("seed", [15, 16, 21])
def test_chance_is_no_disagreement(seed):
    """Series in which the fourth or fifth mode, nearly forgotten, is alike by chance."""
    clock = short(2000, seed).clock(step=0.2)
    assert clock.consistent
    assert abs(clock.diffusivity.value - 0.5) < 3 * clock.diffusivity.error


@pytest.mark.slow
def test_false_alarms_are_few():
    clocks = [short(2000, seed).clock(step=0.2) for seed in range(9000, 9040)]
    assert sum(not clock.consistent for clock in clocks) <= 3
    pulls = [(one.diffusivity.value - 0.5) / one.diffusivity.error for one in clocks]
    assert 0.7 < np.sqrt(np.mean(np.square(pulls))) < 1.3


def test_two_diffusivities_are_noticed():
    spectrum = modes(2, diffusivity=(1.0, 2.5))
    with pytest.warns(ClockWarning, match="same in all directions"):
        clock = spectrum.clock(step=0.1)
    assert not clock.consistent
    assert clock.disagreement > 3
    # Single modes still have their times: 1 in the first direction, 0.4 in the second.
    first = [one.implied_time for one in clock.by_mode[:2]]
    assert abs(max(first).value - 1.0) < 4 * max(first).error
    assert abs(min(first).value - 0.4) < 4 * min(first).error


def test_the_operator_that_a_process_needs_is_named_where_it_was_not_asked_for():
    one = SimpleNamespace(mode=1, diffusivity="1.0 ± 0.1")
    told = [reason((one, one), steady=True, agree=False, c1=c1) for c1 in (None, 1.0, 0.0)]
    assert ['operator="generator"' in words for words in told] == [False, False, True]
    assert all("mode 1: 1.0 ± 0.1; mode 1" in words for words in told)


def test_without_sound_eigenvalues_the_slowest_mode_is_believed():
    known = {"eigenvalues": -np.arange(4.0), "standard_errors": np.full(4, 0.1)}
    sound = sound_modes(SimpleNamespace(**known, total_errors=np.full(4, 0.1)))
    assert sound[0].tolist() == [1, 2, 3]
    numbers, systematic = sound_modes(SimpleNamespace(**known, total_errors=np.full(4, np.nan)))
    assert numbers.tolist() == [1]
    assert systematic.tolist() == [0.0]


def test_what_is_never_seen_twice_is_forgotten():
    series = np.zeros(4, dtype=int)
    for values in (np.zeros(4), np.array([1.0, np.nan, 1.0, np.nan]), np.array([1.0, 0, 0, 1])):
        found = correlation(values, series, 1)
        assert found.value == 0
        np.testing.assert_array_equal(found.influence, 0)


def test_inertia_is_noticed():
    """A particle with little friction in a parabolic well turns back before it forgets."""
    rng, x, v, rows = np.random.default_rng(0), 0.0, 0.0, []
    for kick in rng.standard_normal(4000 * 10):
        v += -0.02 * x - 0.02 * 0.5 * v + np.sqrt(2 * 0.5 * 0.02) * kick
        x += 0.02 * v
        rows.append(x)
    rows = np.array(rows)[::10, None]
    spectrum = vbdm.estimate_operator(rows, "generator", series=True).spectrum(6)
    with pytest.warns(ClockWarning):
        clock = spectrum.clock(step=0.2)
    assert not clock.consistent


@pytest.mark.slow
def test_noise_of_the_measurement_moves_the_lag():
    noisy = ou(4000, step=0.02) + 0.08 * np.random.default_rng(1).standard_normal((4000, 1))
    spectrum = vbdm.estimate_operator(noisy, "generator", series=True).spectrum(4)
    assert spectrum.clock(step=0.02).lagtime > 2


def test_times_are_an_array_that_can_be_called():
    clock = modes().clock(step=0.1)
    assert isinstance(clock.timescales, np.ndarray)
    assert isinstance(clock.timescales, Timescales)
    np.testing.assert_allclose(clock.timescales[1:] * clock.rates[1:], 1)
    kept = pickle.loads(pickle.dumps(clock.timescales))
    np.testing.assert_array_equal(kept, clock.timescales)
    np.testing.assert_array_equal(kept(), clock.timescales())
    assert (clock.timescales[1:] > 0).all()
    assert not clock.timescales.flags.writeable


def test_a_package_for_markov_models_can_draw_it():
    """Its plot asks models for `timescales(k=)` and `lagtime`, and draws both in rows.

    The modes of this process decay with the rates 1, 2, 3, and a row is a time of 0.1.
    """
    clocks = [modes().clock(step=0.1, lags=[lag]) for lag in (1, 2, 4, 12)]
    assert all(callable(getattr(model, "timescales", None)) for model in clocks)
    assert [model.lagtime for model in clocks] == [1, 2, 4, 12]
    times = np.array([model.timescales(k=3) for model in clocks])
    np.testing.assert_allclose(times[:3, 0], 10.0, rtol=0.15)
    np.testing.assert_allclose(times[:3, 1], 5.0, rtol=0.15)
    assert np.isnan(times[3, 2])
    for clock, own in zip(clocks[:3], times, strict=False):
        for one in clock.by_mode[:3]:
            assert own[one.mode - 1] == pytest.approx(one.implied_time.value / 0.1)
    # Each mode says its own time: they are not one diffusivity over eigenvalues at every lag.
    ratios = times[:3, 1] / times[:3, 0]
    assert np.ptp(ratios) > 1e-3
    # In another unit of time a row is still a row.
    other = modes().clock(step=7.0, lags=[2])
    np.testing.assert_allclose(other.timescales(k=3), times[1])


def test_the_picture():
    clock = modes().clock(step=0.2, unit="ns")
    ax = clock.plot()
    assert "ns" in ax.get_xlabel()
    assert len(ax.get_lines()) >= 2 * len(clock.by_mode)
    assert clock.implied_times.shape == (len(clock.lags), len(clock.by_mode))
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"step": 0}, "`step`.*greater than 0"),
        ({"step": "0.2ns"}, "`step`"),
        ({"step": 0.1, "unit": 3}, "`unit`"),
        ({"step": 0.1, "lags": [0, 1]}, "`lags`"),
        ({"step": 0.1, "lags": [1.5]}, "`lags`"),
        ({"step": 0.1, "lags": [5000]}, "`lags`"),
        ({"step": 0.1, "lengths": [3, 4]}, "`lengths`.*add up"),
        ({"step": 0.1, "lengths": [1] * 3000}, "too short"),
        ({"step": 0.1, "series": np.ones((5, 3))}, "column"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_words(options, words):
    with pytest.raises(InputError, match=words):
        modes().clock(**options)


def test_points_in_no_order_have_no_clock():
    points = np.random.default_rng(0).standard_normal((1000, 1))
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(4)
    with pytest.raises(InputError, match=r"independent.*shorter `step`, or shorter `lags`"):
        spectrum.clock(step=0.1)
    # Of few points some correlation comes out large, 0.08 here: that is chance, and no slow mode.
    few = vbdm.estimate_operator(points[:200], "generator").spectrum(4)
    with pytest.raises(InputError, match=r"0\.079\. .*independent"):
        few.clock(step=0.1)
    known = vbdm.estimate_operator(points, "generator", series=False).spectrum(4)
    with pytest.raises(InputError, match="follow each other"):
        known.clock(step=0.1)


def test_a_series_that_does_not_come_back_has_no_clock():
    ramp = np.linspace(0, 1, 400)[:, None]
    spectrum = vbdm.estimate_operator(ramp, "generator", series=True).spectrum(4)
    with pytest.raises(InputError, match=r"of 1\. .*change too little.*pass a longer one"):
        spectrum.clock(step=0.1, lags=[1, 2, 390])


def test_points_with_weights_have_the_clock_of_a_series_alone():
    """Points of a wider well, weighted to stand for the narrower one of the series."""
    points = np.sqrt(2) * np.random.default_rng(4).standard_normal((2000, 1))
    weights = np.exp(-(points[:, 0] ** 2) / 4)
    operator = vbdm.estimate_operator(points, "generator", weights=weights)
    spectrum = operator.spectrum(5)
    with pytest.raises(InputError, match="no steps of the process"):
        spectrum.clock(step=0.1)
    clock = spectrum.clock(ou(3000, seed=6), step=0.2)
    assert abs(clock.diffusivity.value - 0.5) < 3 * clock.diffusivity.error


def test_a_spectrum_without_a_mode_that_decays_has_no_clock():
    constant = modes().operator.spectrum(1)
    with pytest.raises(InputError, match=r"without a mode that decays.*op\.spectrum\(6\)"):
        constant.clock(step=0.1)


def test_nothing_is_said_of_a_sound_clock():
    spectrum = modes()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ClockWarning)
        spectrum.clock(step=0.1)


def test_lags_are_one_number_or_a_row_of_them():
    assert check_lags(3, 100).tolist() == [3]
    assert check_lags([5, 2, 2], 100).tolist() == [2, 5]
    assert check_lags(None, 3).tolist() == [1]
    with pytest.raises(InputError, match="too short for a clock"):
        check_lags(None, 2)
    for lags in ([], [[1, 2]], np.zeros((0, 2))):
        with pytest.raises(InputError, match="whole numbers of rows"):
            check_lags(lags, 100)


def test_two_lags_agree_within_what_their_rows_say_and_two_percent():
    seen = {
        0: SimpleNamespace(value=2.0, influence=0.0),
        1: SimpleNamespace(value=1.9, influence=0.0),
    }
    table = SimpleNamespace(mode_at=lambda at, column: seen[at], variance=lambda influence: 0.0)
    assert Table.change(table, 0, 1, 0) == pytest.approx((0.1 / (0.02 * 2.0)) ** 2)
