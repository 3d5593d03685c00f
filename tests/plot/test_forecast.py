"""Pictures of forecasts: numbers of the forecast, its past, its doubts, on any kind of time."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest

import vbdm
from vbdm import plot

mpl.use("Agg")
import matplotlib.pyplot as plt

pytestmark = [
    pytest.mark.filterwarnings("error"),
    pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning"),
]
SERIES = vbdm.datasets.ou_series(500, step=0.3, dim=2, random_state=0).points
SEASON = np.cos(2 * np.pi * np.arange(500) / 12)[:, None]
MONTHS = np.datetime64("1980-01", "M") + np.arange(500)
TIMES = {
    "rows": None,
    "numbers": 0.5 * np.arange(500),
    "months": MONTHS,
    "dates": np.datetime64("2001-03-01T06") + 6 * np.arange(500),
}


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def models():
    return {kind: fitted(times) for kind, times in TIMES.items()}


def fitted(times):
    """Return a model of the first 400 rows, which have seasons."""
    when = None if times is None else times[:400]
    return vbdm.Forecaster("neighbours", delays=1).fit((SERIES + SEASON)[:400], times=when)


def render(ax):
    """Draw for good: many mistakes show only then."""
    ax.figure.canvas.draw()
    return ax


def line(ax, label):
    (found,) = [one for one in ax.lines if one.get_label() == label]
    return found


def words_in(ax):
    return {text.get_text() for text in ax.get_legend().get_texts()}


@pytest.mark.parametrize("kind", TIMES)
def test_a_fan_opens_at_the_end_of_the_record(kind, models):
    forecast = models[kind].predict(leads=[1, 2, 5])
    ax = render(forecast.plot(column="x1"))
    known, mean = line(ax, "known"), line(ax, "mean")
    np.testing.assert_allclose(known.get_ydata(), (SERIES + SEASON)[400 - 13 : 400, 1])
    np.testing.assert_allclose(mean.get_ydata()[1:], forecast.mean[0, :, 1])
    assert mean.get_ydata()[0] == known.get_ydata()[-1]
    assert mean.get_xdata()[0] == known.get_xdata()[-1] == forecast.init[0]
    assert {"50 % interval", "90 % interval", "median"} <= words_in(ax)
    assert ax.get_ylabel() == "x1"
    assert ax.get_title().startswith("Forecast from ")


def test_a_model_draws_what_comes_next(models):
    own, expected = (each.plot() for each in (models["rows"], models["rows"].predict()))
    assert own.get_title() == expected.get_title()
    assert own.get_xlim() == expected.get_xlim()
    for one, other in zip(own.lines, expected.lines, strict=True):
        np.testing.assert_array_equal(one.get_ydata(), other.get_ydata())


def test_titles_say_the_start_as_people_do(models):
    starts = {kind: models[kind].predict(leads=1).plot().get_title() for kind in TIMES}
    assert starts == {
        "rows": "Forecast from row 399",
        "numbers": "Forecast from 199.5",
        "months": "Forecast from 2013-04",
        "dates": "Forecast from 2001-06-09",
    }


def test_bands_are_the_intervals(models):
    forecast = models["rows"].predict(leads=[1, 2, 3])
    ax = forecast.plot(past=0)
    for band, level in zip(ax.collections[-2:], (0.9, 0.5), strict=True):
        corners = band.get_paths()[0].vertices[:, 1]
        for end in forecast.interval(level)[:, 0, :, 0].ravel():
            assert np.isclose(corners, end).any()


def test_starts_of_a_new_series_are_their_own_past(models):
    new = (SERIES + SEASON)[400:430]
    forecast = models["months"].predict(new, leads=[1, 2], times=MONTHS[400:430])
    known = line(forecast.plot(start=20, past=8), "known")
    np.testing.assert_allclose(known.get_ydata(), new[12:21, 0])
    np.testing.assert_array_equal(known.get_xdata().astype("datetime64[M]"), MONTHS[412:421])


def test_missing_rows_are_gaps_in_the_past(models):
    new = SERIES[400:420].copy()
    new[10] = np.nan
    known = line(models["rows"].predict(new, leads=1).plot(past=15), "known").get_ydata()
    np.testing.assert_allclose(known, new[4:, 0])


def test_a_past_of_your_own(models):
    forecast = models["months"].predict(leads=[1, 2])
    known = line(forecast.plot(past=[1.0, 2.0, 3.0]), "known")
    np.testing.assert_array_equal(known.get_ydata(), [1, 2, 3])
    assert known.get_xdata()[-1] == forecast.init[0]
    assert "known" not in words_in(forecast.plot(past=0))


def test_functions_of_rows_have_a_past_in_the_record_alone(models):
    model = models["rows"]
    square = model.predict(leads=[1, 2], observable=lambda rows: rows[:, 0] ** 2)
    known = line(render(square.plot()), "known").get_ydata()
    assert known[-1] == pytest.approx((SERIES + SEASON)[399, 0] ** 2)
    elsewhere = model.predict(SERIES[400:], leads=[1], observable=lambda rows: rows[:, 0] ** 2)
    assert "known" not in words_in(render(elsewhere.plot()))
    longer = model.predict(SERIES[:450], leads=[1], observable=lambda rows: rows[:, 0] ** 2)
    assert "known" not in words_in(render(longer.plot()))


def test_doubtful_leads_are_shaded(models):
    forecast = models["months"].predict(leads=[1, 2, 3, 4])
    doubtful = replace(forecast, doubtful=np.array([False, True, True, False]))
    ax = render(doubtful.plot())
    assert "no better than climatology" in words_in(ax)
    (shade,) = ax.patches
    left, right = (
        mpl.dates.num2date(x) for x in (shade.get_x(), shade.get_x() + shade.get_width())
    )
    times = forecast.valid_times[0].astype("datetime64[D]").astype(object)
    assert times[0] < left.date() < times[1]
    assert times[2] < right.date() < times[3]
    counted = models["rows"].predict(leads=[1, 2, 3, 4])
    counted = replace(counted, doubtful=np.array([False, True, True, False]))
    (shade,) = counted.plot().patches
    assert (shade.get_x(), shade.get_width()) == (399 + 1.5, 2)
    sure = replace(forecast, doubtful=np.zeros(4, dtype=bool))
    assert "no better than climatology" not in words_in(sure.plot())


def test_starts_unlike_the_record_are_told(models):
    far = models["rows"].predict(SERIES[400:401] + 50, leads=[1, 2])
    assert "unlike" in render(far.plot()).get_title()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"column": 2}, "column"),
        ({"column": "x9"}, "column"),
        ({"start": 1}, "start"),
        ({"past": -1}, "past"),
        ({"past": "all"}, "past"),
        ({"ax": "here"}, "axes"),
    ],
)
def test_wrong_arguments_of_a_fan(arguments, message, models):
    with pytest.raises(vbdm.InputError, match=message):
        models["rows"].predict(leads=1).plot(**arguments)


@pytest.mark.parametrize("column", [None, 1, "x1"])
def test_four_panels_of_skill(column, models):
    skill = models["rows"].skill(SERIES[400:], leads=[1, 2, 4])
    error, correlation, coverage, reliability = skill.plot(column=column)
    render(error)
    own = skill.rmse[0, :, 1] if column else (skill.rmse[0] / skill.rmse[1]).mean(axis=1)
    np.testing.assert_allclose(line(error, "forecast").get_ydata(), own)
    assert words_in(error) == set(skill.methods)
    assert {one.get_label() for one in correlation.lines} >= {"forecast", "persistence", "linear"}
    assert "climatology" not in {one.get_label() for one in correlation.lines}
    inside = skill.coverage90[0, :, 1] if column else skill.coverage90[0].mean(axis=1)
    np.testing.assert_allclose(line(coverage, "90 % interval").get_ydata(), inside)
    assert reliability.get_xlim() == (0, 1)
    for panel in (error, correlation, coverage, reliability):
        assert panel.get_title()
        assert panel.get_xlabel()
        assert panel.get_ylabel()


def test_skill_on_given_axes_makes_no_figure(models):
    skill = models["rows"].skill(SERIES[400:410], leads=[1, 50])
    figure = mpl.figure.Figure()
    given = figure.subplots(2, 2)
    assert skill.plot(axes=given).tolist() == given.ravel().tolist()
    assert plt.get_fignums() == []
    render(given[0, 0])
    with pytest.raises(vbdm.InputError, match="four"):
        skill.plot(axes=given[0])
    with pytest.raises(vbdm.InputError, match="column"):
        skill.plot(column=5)


def test_what_a_filter_knows(models):
    seen = SERIES[400:430, :1] + SEASON[400:430]
    found = models["rows"].filter(seen, 0.3, columns=[0])
    ax = render(found.plot(observations=seen, times=MONTHS[400:430]))
    np.testing.assert_array_equal(line(ax, "mean").get_ydata(), found.mean[:, 0])
    np.testing.assert_array_equal(line(ax, "observed").get_ydata(), seen[:, 0])
    assert "30 observations" in ax.get_title()
    hidden = plot.filtered(found, column=1)
    assert "observed" not in words_in(hidden)
    assert hidden.get_xlabel() == "step"
    marked = replace(found, restarted=np.arange(30) == 7)
    assert line(marked.plot(), "began anew").get_xdata().tolist() == [7]


@pytest.mark.parametrize(
    "arguments",
    [
        {"column": 2},
        {"column": "x0"},
        {"observations": [1.0]},
        {"times": [1, 2]},
        {"times": [[1], [1, 2]]},
    ],
)
def test_wrong_arguments_of_a_filter(arguments, models):
    found = models["rows"].filter(SERIES[400:410], 0.3)
    with pytest.raises(vbdm.InputError, match=r"column|observations|times"):
        found.plot(**arguments)


def test_only_results_are_drawn():
    for draw in (plot.forecast, plot.skill, plot.filtered):
        with pytest.raises(vbdm.InputError, match="Pass model"):
            draw(SERIES)
