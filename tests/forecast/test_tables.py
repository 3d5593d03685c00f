"""Forecasts and their scores as data sets, frames and words: the same numbers, with their names."""

import re
import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import vbdm
from vbdm.forecast import words
from vbdm.forecast.words import format_of, is_climatology_beaten, skill_in_words, weights_of_leads
from vbdm.report import forecast_page

SERIES = vbdm.datasets.ou_series(500, step=0.3, dim=2, random_state=0).points
MONTHS = np.datetime64("1980-01", "M") + np.arange(500)


@pytest.fixture(scope="module")
def model():
    rows = SERIES[:400] + np.cos(2 * np.pi * np.arange(400) / 12)[:, None]
    return vbdm.Forecaster("neighbours", delays=1).fit(rows, times=MONTHS[:400])


@pytest.fixture(scope="module")
def forecast(model):
    return model.predict(SERIES[400:405], leads=[1, 3], times=MONTHS[400:405])


@pytest.fixture(scope="module")
def skill(model):
    return model.skill(SERIES[400:], leads=[1, 3], times=MONTHS[400:])


def test_the_data_set_has_the_numbers_of_the_forecast(forecast):
    found = forecast.to_xarray(members=7)
    assert dict(found.sizes) == {"init": 5, "lead": 2, "column": 2, "quantile": 5, "member": 7}
    np.testing.assert_array_equal(found["mean"], forecast.mean)
    np.testing.assert_array_equal(found["std"], forecast.std)
    np.testing.assert_array_equal(found["members"], forecast.sample(7))
    median = found["quantiles"].sel(quantile=0.5, column="x1", lead=3)
    np.testing.assert_allclose(median, forecast.quantile(0.5)[:, 1, 1])
    np.testing.assert_array_equal(found["init"].astype("datetime64[M]"), MONTHS[400:405])
    np.testing.assert_array_equal(
        found["valid_time"].sel(lead=3).astype("datetime64[M]"), MONTHS[403:408]
    )
    assert "steps" in found["lead"].attrs["description"]
    assert "members" not in forecast.to_xarray()


def test_members_follow_the_seed(forecast):
    one, other = (forecast.to_xarray(3, random_state=seed)["members"] for seed in (0, 1))
    assert not np.allclose(one, other)
    with pytest.raises(vbdm.InputError, match="members"):
        forecast.to_xarray(members=-1)


def test_the_data_set_survives_a_file(forecast, tmp_path):
    xarray = pytest.importorskip("xarray")
    found = forecast.to_xarray(members=2)
    found.to_netcdf(tmp_path / "forecast.nc")
    with xarray.open_dataset(tmp_path / "forecast.nc") as again:
        np.testing.assert_array_equal(again["mean"], found["mean"])
        np.testing.assert_array_equal(again["valid_time"], found["valid_time"])


def test_times_are_numbers_or_rows_where_there_are_no_dates():
    plain = vbdm.Forecaster("neighbours", delays=1).fit(SERIES[:200])
    assert plain.predict(leads=[2]).to_xarray()["valid_time"].item() == 201
    timed = vbdm.Forecaster("neighbours", delays=1).fit(SERIES[:200], times=0.5 * np.arange(200))
    assert timed.predict(leads=[2]).to_xarray()["valid_time"].item() == 100.5


def test_the_frame_has_a_row_for_each_start_lead_and_column(forecast):
    frame = forecast.to_dataframe()
    assert len(frame) == 5 * 2 * 2
    row = frame[(frame["lead"] == 3) & (frame["column"] == "x1")].iloc[2]
    assert row["mean"] == forecast.mean[2, 1, 1]
    assert row["valid_time"] == forecast.valid_times[2, 1]
    low, high = forecast.interval(0.9)
    assert (row["q05"], row["q95"]) == (low[2, 1, 1], high[2, 1, 1])


def test_scores_in_frames_and_data_sets(skill):
    frame, data = skill.to_dataframe(), skill.to_xarray()
    assert len(frame) == 4 * 2 * 2
    row = frame[(frame.method == "linear") & (frame.lead == 3) & (frame.column == "x0")].iloc[0]
    assert row["crps"] == skill.crps[3, 1, 0]
    assert data["crps"].sel(model="linear", lead=3, column="x0") == skill.crps[3, 1, 0]
    assert data["n_cases"].values.tolist() == skill.n_cases.tolist() == [99, 97]
    np.testing.assert_allclose(data["histogram"].sum("probability"), 1)


def test_without_xarray_words_say_what_to_do(forecast, skill, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    for result in (forecast, skill):
        with pytest.raises(vbdm.InputError, match=r"need the library xarray.*pip install"):
            result.to_xarray()


def test_one_column_is_told_in_its_own_unit(skill):
    one = only(skill, 0)
    lines = str(one).splitlines()
    assert lines[0] == "Scores of x0, of 97 to 99 forecasts at each lead."
    assert [line.split()[0] for line in lines[3:5]] == ["1", "3"]
    numbers = lines[3].split()[1:]
    assert len(numbers) == 15
    np.testing.assert_allclose(np.array(numbers[:4], float), one.rmse[:, 0, 0], atol=0.006)
    assert numbers[11] == f"{one.coverage50[0, 0, 0]:.0%}"
    assert len({len(line) for line in lines[2:5]}) == 1


@pytest.mark.parametrize(
    ("largest", "measure", "shown"),
    [
        (0.0123, "crps", "0.0123"),
        (12.3, "rmse", "12.3"),
        (1.23e-7, "crps", "1.23e-07"),
        (1.23e9, "rmse", "1.23e+09"),
        (0.123, "acc", "0.12"),
        (0.123, "coverage90", "12%"),
    ],
)
def test_numbers_have_three_digits_whatever_their_size(largest, measure, shown):
    table = np.array([[largest / 2, np.nan], [-largest, 0.0]])
    assert f"{largest:{format_of(table, measure)}}" == shown


def test_the_score_of_what_came_is_that_of_its_members(forecast):
    came = np.stack([SERIES[401 + np.arange(5)], SERIES[403 + np.arange(5)]], axis=1)
    came[4, 1, 0] = np.nan
    found = forecast.crps(came)
    assert found.shape == (5, 2, 2)
    assert np.isnan(found[4, 1, 0])
    # Another formula: twice the mean loss of the quantiles.
    levels = (np.arange(2000) + 0.5) / 2000
    gap = came[None] - forecast.quantile(levels)
    share = levels[:, None, None, None]
    loss = 2 * np.maximum(share * gap, (share - 1) * gap).mean(axis=0)
    np.testing.assert_allclose(found, loss, rtol=0.02, atol=1e-3)
    for wrong in (came[:4], came[..., 0], "abc"):
        with pytest.raises(vbdm.InputError, match="5 starts, 2 leads and 2 columns"):
            forecast.crps(wrong)


def test_several_columns_are_told_over_climatology(skill):
    text = str(replace(skill, rmse=skill.rmse * [1, 1000], crps=skill.crps * [1, 1000]))
    assert "mean over 2 columns" in text
    assert text == str(skill)  # whatever the unit of a column


def test_the_last_sentence_says_where_climatology_is_not_beaten(skill):
    worse = skill.crps.copy()
    worse[0, 1] = 2 * worse[1, 1]
    better = skill.crps.copy()
    better[0] = better[1] / 2
    for crps, said in [
        (better, "Forecasts beat climatology at every lead, 1 to 3 steps."),
        (np.where([[[False], [True]]], worse, better), "beat climatology, but not at lead 3:"),
        (np.ones_like(better), "Forecasts do not beat climatology at any lead:"),
    ]:
        assert said in skill_in_words(replace(skill, crps=crps)).splitlines()[-1]


def test_terminal_and_page_judge_alike(skill):
    # A gain that is next to nothing is none, whoever says so.
    crps = np.ones_like(skill.crps)
    crps[0] = [[0.5], [0.999]]
    nearly = replace(skill, crps=crps)
    assert nearly.not_beaten.tolist() == [3]
    assert is_climatology_beaten(nearly) in skill_in_words(nearly)
    assert "but not at lead 3:" in is_climatology_beaten(nearly)
    worthless = replace(skill, crps=np.ones_like(crps))
    assert "do not beat climatology at any lead:" in is_climatology_beaten(worthless)
    still = replace(skill, crps=np.zeros_like(crps))
    assert "nothing changes there" in is_climatology_beaten(still)


def test_leads_count_in_histograms_as_much_as_they_know(skill):
    np.testing.assert_allclose(weights_of_leads(skill), np.array([99, 97 / 3]) / (99 + 97 / 3))
    empty = replace(skill, n_cases=np.array([99, 0]))
    np.testing.assert_allclose(weights_of_leads(empty), [1, 0])


def test_leads_without_cases_have_dashes(model):
    far = model.skill(SERIES[400:410], leads=[1, 50], times=MONTHS[400:410])
    lines = str(far).splitlines()
    assert set(lines[4].split()[1:]) == {"—"}
    assert "50" not in lines[-1]
    nothing = model.skill(SERIES[400:410], leads=50, times=MONTHS[400:410])
    assert str(nothing).endswith("Nothing is known of the skill: it is too short.")


def test_the_page_leaves_out_scores_of_which_nothing_is_known(model, skill):
    nothing = model.skill(SERIES[400:410], leads=50, times=MONTHS[400:410])
    assert words.how_reliable(nothing) == words.is_anything_better(nothing) == ""
    assert words.how_reliable(skill) != ""
    run = forecast_page.ForecastRun(model, model.predict(leads=1), nothing, 9)
    page = forecast_page.forecast_page(run)
    assert "CRPS of x0" not in page
    assert "Errors and correlation" not in page


def test_the_page_says_who_was_chosen_and_by_how_much():
    def told(**scores):
        return words.who_predicts(SimpleNamespace(predictor_="modes", scores_=scores))

    clear, close = told(modes=0.4, neighbours=0.6), told(modes=0.61, neighbours=0.6)
    assert clear.startswith("Modes predict: ")
    assert "scored 0.40 of climatology" in clear
    assert clear.endswith(", neighbours 0.60 (below 1 is better).")
    assert close.endswith(", neighbours 0.60, which is not clearly better (below 1 is better).")


def test_the_page_says_what_a_state_is_and_who_chose_it(model):
    assert words.what_a_state_is(model) == "A state is one row, as asked."
    assert "<b>1 row</b><span>the newest alone</span>" in forecast_page.facts(model, {})
    chosen = SimpleNamespace(delays_=1, delay_scores_={1: 0.5, 2: 0.625})
    assert words.what_a_state_is(chosen).endswith("held out (1: 0.50, 2: 0.62).")


def test_the_page_doubts_a_start_unlike_the_record(model, forecast):
    far = model.predict(SERIES[400:401] + 50, leads=[1], times=MONTHS[400:401])
    assert "do not trust this" in forecast_page.doubt(far)
    assert "do not trust this" not in forecast_page.doubt(forecast)


def test_times_of_a_day_are_told_to_the_second_or_as_they_are():
    hours = np.array(["2001-03-01T06", "2001-03-01T12"], "M8[h]")
    assert words.times_in_words(hours)[0] == "2001-03-01T06:00:00"
    fine = np.array(["2001-03-01T06:00:00.25"], "M8[ms]")
    assert words.times_in_words(fine) == ["2001-03-01T06:00:00.250"]


def test_a_series_without_spread_is_told_all_the_same():
    assert words.decimals(0.0) == words.decimals(np.nan) == 3


def test_the_page_draws_with_matplotlib_and_tells_without(model, skill):
    run = forecast_page.ForecastRun(model, model.predict(leads=[1, 3]), skill, SERIES[380:400])
    drawn, again, plain = (
        forecast_page.forecast_page(run, figures=figures) for figures in (True, True, False)
    )
    assert drawn == again
    assert re.findall('alt="([^"]*)"', drawn) == [
        "Fan chart of x0", "Fan chart of x1", "Errors and correlation against the lead",
        "Coverage of intervals, and reliability",
    ]  # fmt: skip
    assert "<img" not in plain
    for page in (drawn, plain):
        assert page.count("<table") == 4
        assert "{{" not in page


def only(skill, column):
    """Return the scores of one column."""
    own = {name: getattr(skill, name)[:, :, [column]] for name in (
        "rmse", "acc", "crps", "coverage50", "coverage90", "ignorance")}  # fmt: skip
    return replace(
        skill, names=(skill.names[column],), histogram=skill.histogram[:, [column]], **own
    )
