"""Times as whole numbers of steps and back, gaps, and the cycle of the seasons."""

import datetime

import numpy as np
import pytest

import vbdm
from vbdm.forecast.reading import on_axis, read
from vbdm.forecast.times import Cycle, TimeAxis, axis_of

FIRST = np.array([0])
pd = pytest.importorskip("pandas")


def dates(first, n, every):
    return pd.date_range(first, periods=n, freq=every).to_numpy()


#: Times, and what they are counted in: kind, step, steps in a year.
AXES = {
    "months": (dates("1990-01-01", 40, "MS"), "months", 1, 12),
    "middles of months": (
        dates("1990-01-01", 40, "MS") + np.timedelta64(15, "D"), "months", 1, 12
    ),
    "seasons": (dates("1990-02-01", 40, "QS-FEB"), "months", 3, 4),
    "years": (np.arange("1900", "1940", dtype="datetime64[Y]"), "months", 12, 1),
    "long ago": (np.arange("1500-01", "1503-05", dtype="datetime64[M]"), "months", 1, 12),
    "days": (dates("1990-01-01", 40, "D"), "dates", 86400, 365.2425),
    "five days": (dates("1990-01-01", 400, "5D"), "dates", 5 * 86400, 73.0485),
    "35 days": (dates("1990-01-01", 40, "35D"), "dates", 35 * 86400, 365.2425 / 35),
    "60 days": (dates("1990-01-01", 40, "60D"), "dates", 60 * 86400, 365.2425 / 60),
    "100 days": (dates("1990-01-01", 40, "100D"), "dates", 100 * 86400, 3.652425),
    "six hours": (dates("1990-01-01", 40, "6h"), "dates", 21600, 1460.97),
    "milliseconds": (dates("1990-01-01", 400, "10ms"), "dates", 0.01, 365.2425 * 8640000),
    "numbers": (np.arange(40) * 0.1 - 3, "numbers", 0.1, None),
    "whole numbers": (np.arange(1950, 1990), "numbers", 1, None),
    "decimal years": (np.round(1950 + (np.arange(300) + 0.5) / 12, 3), "numbers", 1 / 12, None),
}  # fmt: skip


@pytest.mark.parametrize("name", AXES)
def test_times_are_counted_and_come_back(name):
    times, kind, step, year = AXES[name]
    axis, steps = axis_of(times, FIRST)
    assert axis.kind == kind
    assert axis.step == pytest.approx(step, rel=1e-4)
    assert axis.year == (None if year is None else pytest.approx(year, rel=1e-6))
    np.testing.assert_array_equal(steps, np.arange(len(times)))
    np.testing.assert_array_equal(axis.steps(times), steps)
    back = axis.times(steps)
    if kind == "numbers":
        np.testing.assert_allclose(back, times, atol=1e-3)
    else:
        np.testing.assert_array_equal(back.astype(times.dtype), times)
    # Steps that have not been seen come back as well, after and before.
    far = np.array([-7, 1000])
    np.testing.assert_array_equal(axis.steps(axis.times(far)), far)


def test_dates_beyond_nanoseconds_are_right():
    axis, _ = axis_of(dates("1990-01-01", 40, "MS"), FIRST)
    assert axis.times(np.array([12 * 1010])).astype("datetime64[D]")[0] == np.datetime64(
        "3000-01-01"
    )
    assert axis.times(np.array([12])).dtype == "datetime64[ns]"


def test_ends_of_months_are_months():
    axis, steps = axis_of(dates("1990-01-31", 40, "ME"), FIRST)
    assert (axis.kind, axis.step) == ("months", 1)
    np.testing.assert_array_equal(steps, np.arange(40))
    np.testing.assert_array_equal(axis.times(steps), dates("1990-01-31", 40, "ME"))
    np.testing.assert_array_equal(axis.steps(axis.times(steps)), steps)
    # Not so, if one of them is another day.
    some = dates("1991-01-31", 40, "ME").astype("datetime64[D]")
    some[5] -= 1
    assert axis_of(some, FIRST)[0].day == 27


def test_months_with_gaps_of_two_and_three():
    months = np.array(["1990-01", "1990-03", "1990-06", "1990-08"], dtype="datetime64[M]")
    axis, steps = axis_of(months, FIRST)
    assert axis.step == 1
    assert steps.tolist() == [0, 2, 5, 7]


def test_no_times_have_no_steps():
    assert TimeAxis("numbers").steps([]).tolist() == []


@pytest.mark.parametrize("missing", [[5], [5, 6, 7], list(range(1, 60, 2)), list(range(2, 90))])
@pytest.mark.parametrize("name", ["months", "days", "numbers"])
def test_missing_rows_are_filled_with_nan(name, missing):
    every = {
        "months": dates("1990-01-01", 100, "MS"),
        "days": dates("1990-01-01", 100, "D"),
        "numbers": np.arange(100) * 0.5,
    }[name]
    kept = np.setdiff1d(np.arange(100), missing)
    whole, axis, steps = on_axis(read(np.arange(100.0)[kept], times=every[kept]))
    np.testing.assert_array_equal(steps, np.arange(100))
    wanted = np.arange(100.0)
    wanted[missing] = np.nan
    np.testing.assert_array_equal(whole.values[:, 0], wanted)
    assert whole.lengths == (100,)
    assert axis.times(steps[-1:])[0] == every[-1]


def test_rows_of_a_forecast_are_those_of_the_series_that_was_passed():
    rng = np.random.default_rng(0)
    series = rng.standard_normal(300).cumsum() / 9
    kept = np.setdiff1d(np.arange(300), [100, 101, 200])
    model = vbdm.Forecaster("neighbours", delays=2, horizon=4).fit(series[kept], times=kept)
    forecast = model.predict(series[kept], leads=1, times=kept)
    assert len(forecast.rows) == 297 - 3
    np.testing.assert_array_equal(kept[forecast.rows], forecast.init)
    np.testing.assert_array_equal(forecast.places, forecast.init)
    two = model.predict([series[:3], series[[5, 6, 8, 9]]], leads=1, times=[0, 1, 2, 5, 6, 8, 9])
    assert two.rows.tolist() == [1, 2, 4, 6]


def test_gaps_of_several_series_are_filled_inside_each():
    times = np.array([0, 1, 3, 10, 11, 14.0])
    whole, _, steps = on_axis(read([np.arange(3.0), np.arange(3, 6.0)], times=times))
    assert whole.lengths == (4, 5)
    np.testing.assert_array_equal(steps, [0, 1, 2, 3, 10, 11, 12, 13, 14])
    np.testing.assert_array_equal(whole.values[:, 0], [0, 1, np.nan, 2, 3, 4, np.nan, np.nan, 5])


def test_winters_as_series_of_their_own_are_months():
    """Dec, Jan, Feb are all 31 days apart, and months nevertheless."""
    first = np.arange("1990-12", "1999-12", 12, dtype="datetime64[M]")
    winters = (first[:, None] + np.arange(3)).ravel()
    axis, steps = axis_of(winters, np.arange(0, 27, 3))
    assert (axis.kind, axis.step) == ("months", 1)
    np.testing.assert_array_equal(steps[:6], [0, 1, 2, 12, 13, 14])


def test_dates_of_python_and_of_other_calendars():
    cftime = pytest.importorskip("cftime")
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(days=i) for i in range(40)]
    axis, steps = axis_of(days, FIRST)
    assert axis.times(steps)[-1] == np.datetime64("2000-02-09")
    months = [cftime.DatetimeNoLeap(2000 + i // 12, i % 12 + 1, 15) for i in range(40)]
    axis, steps = axis_of(np.array(months), FIRST)
    assert (axis.kind, axis.year) == ("months", 12)
    assert axis.times(steps)[-1] == np.datetime64("2003-04-15")
    months = [cftime.Datetime360Day(2000 + i // 12, i % 12 + 1, 30) for i in range(12)]
    with pytest.raises(vbdm.InputError, match=r"no dates of the common calendar.*`season`"):
        axis_of(np.array(months), FIRST)


@pytest.mark.parametrize(
    ("times", "words"),
    [
        (np.arange(40)[::-1], "must ascend"),
        (np.repeat(np.arange(20), 2), "must ascend"),
        (np.r_[np.arange(39), 5], "must ascend"),
        (np.arange(40) ** 1.5, "a constant step apart"),
        (np.r_[np.arange(39.0), 1e9], "cut at long gaps"),
        (np.r_[np.arange(39.0), 1e19], "a constant step apart"),
        (np.r_[np.arange(39.0), np.nan], "one number or one date"),
        (np.array(["NaT"] * 40, dtype="datetime64[D]"), "one number or one date"),
        (["a"] * 40, "one number or one date"),
        ([None] * 40, "one number or one date"),
        (np.arange(39), "one entry for each row"),
        (np.ones((40, 1)), "one entry for each row"),
        ("abc", "one entry for each row"),
        (dates("1990", 40, "D")[::-1], "must ascend"),
        ([datetime.date(2000, 1, 1)] * 39 + [None], "no dates"),
    ],
)
def test_times_that_are_none_are_refused_in_words(times, words):
    with pytest.raises(vbdm.InputError, match=words):
        on_axis(read(np.arange(40.0), times=times))


def test_times_of_another_kind_are_refused():
    for mine, theirs in (("months", "numbers"), ("numbers", "days")):
        axis, _ = axis_of(AXES[mine][0], FIRST)
        with pytest.raises(vbdm.InputError, match="of another kind"):
            axis.steps(AXES[theirs][0])
    axis, _ = axis_of(AXES["days"][0], FIRST)
    with pytest.raises(vbdm.InputError, match="a constant step apart"):
        axis.steps(np.array(["1990-01-01T12:00"], dtype="datetime64[m]"))


def test_rows_are_counted_without_times():
    axis = TimeAxis()
    np.testing.assert_array_equal(axis.times(np.array([3, 4])), [3, 4])
    np.testing.assert_array_equal(axis.steps([3, 4]), [3, 4])
    assert axis.year is None


# --- The cycle ------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", [2, 3, 4, 7, 12, 13])
def test_any_short_cycle_is_taken_off_exactly(period):
    """Up to 13 steps, the waves make every function of the season."""
    rng = np.random.default_rng(period)
    steps = np.arange(20 * period)
    values = rng.standard_normal((period, 2))[steps % period] + 7
    known = values.copy()
    known[rng.random(values.shape) < 0.2] = np.nan
    cycle = Cycle.of(known, steps, period)
    np.testing.assert_allclose(cycle.at(steps), values, atol=1e-10)
    # At any step, and in any shape.
    far = np.array([[-1, 10**6], [5, 17]])
    np.testing.assert_allclose(cycle.at(far), values[far % period], atol=1e-4 * 1e-3)


def test_a_long_cycle_is_smooth_and_not_a_whole_number():
    steps = np.arange(3 * 366)
    angle = 2 * np.pi * steps / 365.2425
    values = (3 + np.cos(angle) - 0.5 * np.sin(3 * angle))[:, None]
    np.testing.assert_allclose(Cycle.of(values, steps, 365.2425).at(steps), values, atol=1e-10)


def test_no_cycle_takes_nothing_off():
    assert (Cycle.none(3).at(np.arange(5)) == 0).all()
    assert Cycle.none(3).at(np.zeros((2, 4), dtype=int)).shape == (2, 4, 3)


@pytest.mark.parametrize(("n", "period"), [(20, 12), (39, 40), (300, 1000), (300, 2**53)])
def test_a_series_that_is_too_short_for_its_cycle_is_refused(n, period):
    with pytest.raises(vbdm.InputError, match=r"too short for its cycle|shorter than its cycle"):
        Cycle.of(np.zeros((n, 1)), np.arange(n), float(period))


def test_a_season_without_values_is_refused():
    steps = np.arange(240)
    values = np.random.default_rng(0).standard_normal((240, 2))
    values[steps % 12 == 7, 1] = np.nan
    with pytest.raises(vbdm.InputError, match=r"A season .* no values.*column 1.*11 of the 12"):
        Cycle.of(values, steps, 12.0)
    values[7, 1] = 0.0
    assert np.isfinite(Cycle.of(values, steps, 12.0).waves).all()


@pytest.fixture(scope="module")
def seasonal():
    """A series with a cycle of twelve months, from April 1960, and the model of it."""
    rng = np.random.default_rng(4)
    noise = np.zeros(480)
    for i in range(1, 480):
        noise[i] = 0.8 * noise[i - 1] + 0.1 * rng.standard_normal()
    means = np.array([5, 1, 0, 2, 9, 9, 8, 3, 3, 4, 4, 7.0])
    times = np.arange("1960-04", "2000-04", dtype="datetime64[M]")
    values = noise + means[times.astype(int) % 12]
    frame = pd.DataFrame({"sst": values}, index=times.astype("datetime64[ns]"))
    return means, frame, vbdm.Forecaster("neighbours", delays=1, horizon=4).fit(frame)


def test_the_cycle_comes_back_at_the_times_that_forecasts_are_for(seasonal):
    means, _, model = seasonal
    assert (model.season_, model.names_) == (12, ("sst",))
    forecast = model.predict(leads=range(1, 13))
    when = forecast.valid_times[0].astype("datetime64[M]")
    assert when[0] == np.datetime64("2000-04")
    # Anomalies have a standard deviation of 0.17, and means of the record an error of 0.05.
    assert np.abs(forecast.mean[0, :, 0] - means[when.astype(int) % 12]).max() < 0.6
    low, high = forecast.interval(0.9)
    assert ((low < forecast.mean) & (forecast.mean < high)).all()
    assert np.abs(forecast.quantile(0.5) - forecast.mean).max() < 0.3
    drawn = forecast.sample(200)
    assert np.abs(drawn.mean(axis=0) - forecast.mean).max() < 0.1


def test_the_season_of_a_start_is_told_by_its_time_alone(seasonal):
    means, frame, model = seasonal
    row = frame.iloc[[-1]]
    for year in ("2000", "2030"):
        times = np.array([f"{year}-03"], dtype="datetime64[M]")
        found = model.predict(row.to_numpy(), leads=1, times=times)
        np.testing.assert_allclose(found.mean, model.predict(leads=1).mean, atol=1e-9)
        assert found.init[0].astype("datetime64[M]") == times[0]
    # Half a year later the same value is another anomaly.
    other = model.predict(
        row.to_numpy() - means[2] + means[8], leads=1, times=np.array(["2030-09"], "datetime64[M]")
    )
    change = other.mean - model.predict(leads=1).mean
    assert change[0, 0, 0] == pytest.approx(means[9] - means[3], abs=0.15)


def test_without_times_the_season_is_not_known(seasonal):
    _, frame, model = seasonal
    for use in (model.predict, model.skill, lambda rows: model.filter(rows[:, 0], 0.1)):
        with pytest.raises(vbdm.InputError, match=r"Times of the .* are needed"):
            use(frame.to_numpy()[:40])


def test_a_cycle_of_rows_is_told_by_numbers_of_rows(seasonal):
    _, frame, _ = seasonal
    model = vbdm.Forecaster("neighbours", delays=1, horizon=4, season=12).fit(frame.to_numpy())
    found = model.predict(frame.to_numpy()[-1:], leads=1, times=[479])
    np.testing.assert_allclose(found.mean, model.predict(leads=1).mean, atol=1e-9)
    with pytest.raises(vbdm.InputError, match=r"Times of the rows are needed.*numbers of rows"):
        model.predict(frame.to_numpy()[-1:])


def test_the_filter_knows_the_season(seasonal):
    _, frame, model = seasonal
    seen = frame.to_numpy()[-24:, 0]
    times = frame.index.to_numpy()[-24:]
    found = model.filter(seen, 0.05, times=times)
    assert np.sqrt(((found.mean[:, 0] - seen) ** 2).mean()) < 0.06
    assert ((found.quantile(0.0) <= found.mean) & (found.mean <= found.quantile(1.0))).all()
    for wrong in (times[:-1], times[::2].repeat(2), np.delete(times, 3)):
        with pytest.raises(vbdm.InputError, match=r"one step apart|ascend"):
            model.filter(seen[: len(wrong)] if len(wrong) == 24 else seen, 0.05, times=wrong)
