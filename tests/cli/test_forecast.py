"""``vbdm forecast``: a series becomes a folder, which can be opened again, never half-written."""

import csv
import json
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.commands import done, snapshot, vbdm_command, write_csv

import vbdm
from vbdm.cli.series import dates_of, how_to_read, refuse_distances
from vbdm.io import Preparation

#: What makes a run quick.
QUICK = ("--predictor", "neighbours", "--delays", 2, "--horizon", 4, "--no-figures")
N = 200


def series(n=N):
    """Return a wave of 12 rows with noise, and what is left without the wave."""
    rng, x = np.random.default_rng(0), np.zeros(n)
    for i in range(1, n):
        x[i] = 0.8 * x[i - 1] + 0.3 * rng.standard_normal()
    return np.c_[np.cos(2 * np.pi * np.arange(n) / 12) + x, x]


def months(n=N, first="1990-01"):
    return [str(own) for own in np.datetime64(first) + np.arange(n)]


def write_dated(path, rows, names="sst,other", values=None):
    """Write rows with their months; `rows` are their numbers."""
    values = series()[rows] if values is None else values
    lines = [f"date,{names}", *(f"{months()[i]},{v[0]:.17g},{v[1]:.17g}"
                                for i, v in zip(rows, values, strict=True))]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def table(tmp_path):
    write_dated(tmp_path / "sst.csv", np.arange(N))
    return tmp_path / "sst.csv"


def rows_of(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


def column_of(path, name):
    return np.array([float(row[name]) for row in rows_of(path)])


def test_everything_is_in_the_folder(table, tmp_path):
    result = done("forecast", "sst.csv", "--lead", 6, *QUICK[:-1])
    folder = tmp_path / "sst-forecast"
    assert {path.name for path in folder.iterdir()} == {
        "fan.png", "forecast.csv", "forecast.json", "model.vbdm", "report.html", "skill.csv",
        "skill.png",
    }  # fmt: skip
    rows = rows_of(folder / "forecast.csv")
    assert " ".join(rows[0]) == (
        "init lead valid_time column mean std q05 q25 q50 q75 q95 outside doubtful"
    )
    assert [row["lead"] for row in rows[::2]] == ["1", "2", "3", "4", "5", "6"]
    assert (rows[0]["init"], rows[0]["valid_time"], rows[1]["column"]) == (
        "2006-08-01", "2006-09-01", "other",
    )  # fmt: skip
    for line in ("Neighbours predict, as asked", "A cycle of 12 steps", "90 % interval"):
        assert line in result.stdout
    assert "sst-forecast/report.html" in result.stdout


def test_numbers_are_those_of_the_library(table, tmp_path):
    done("forecast", "sst.csv", "--lead", 3, *QUICK)
    model = vbdm.Forecaster("neighbours", delays=2, horizon=4)
    model.fit(series(), times=np.array(months(), dtype="M8[M]"))
    forecast = model.predict(leads=[1, 2, 3])
    folder = tmp_path / "sst-forecast"
    assert np.array_equal(column_of(folder / "forecast.csv", "mean"), forecast.mean.ravel())
    assert np.array_equal(
        column_of(folder / "forecast.csv", "q95"), forecast.quantile(0.95).ravel()
    )
    assert np.array_equal(column_of(folder / "skill.csv", "crps"), model.skill_.crps.ravel())
    loaded = vbdm.load(folder / "model.vbdm")
    assert loaded.names_ == ("sst", "other")
    assert np.array_equal(loaded.predict(leads=[1, 2, 3]).mean, forecast.mean)


def test_the_summary_tells_what_was_decided(table, tmp_path):
    result = done("forecast", "sst.csv", "--lead", 2, "--json", *QUICK)
    summary = json.loads(result.stdout)
    assert summary["decided"]["predictor"] == "neighbours"
    assert summary["decided"]["season"] == 12
    assert summary["input"]["name"] == "sst.csv"
    assert [row["lead"] for row in summary["forecast"]] == [1, 1, 2, 2]
    stored = json.loads((tmp_path / "sst-forecast" / "forecast.json").read_text())
    assert stored == {name: own for name, own in summary.items() if name != "folder"}
    assert set(stored["files"]) == {path.name for path in (tmp_path / "sst-forecast").iterdir()}


def test_the_page_says_it_in_words_and_loads_nothing(table, tmp_path):
    done("forecast", "sst.csv", "--lead", 8, *QUICK[:-1])
    text = (tmp_path / "sst-forecast" / "report.html").read_text()
    for words in ("Neighbours predict", "climatology", "persistence", "Fan chart of sst"):
        assert words in text
    assert "default-src 'none'" in text
    assert "{{" not in text
    assert set(re.findall('src="([^,]*),', text)) == {"data:image/svg+xml;base64"}
    assert "http://" not in text
    assert "https://" not in text


def test_names_in_files_are_no_html(tmp_path):
    write_dated(tmp_path / "a.csv", np.arange(N), names="<b>x</b>,y&z")
    done("forecast", "a.csv", "--lead", 1, *QUICK)
    text = (tmp_path / "a-forecast" / "report.html").read_text()
    assert "<b>x</b>" not in text
    assert "&lt;b&gt;x&lt;/b&gt;" in text


def test_nothing_is_replaced_without_being_asked(table, tmp_path):
    done("forecast", "sst.csv", "--lead", 1, "-q", *QUICK)
    (tmp_path / "sst-forecast" / "mine.txt").write_text("mine")
    before = snapshot(tmp_path)
    result = vbdm_command("forecast", "sst.csv", "--lead", 2, *QUICK)
    assert result.exit_code == 2
    assert "--force" in result.stderr
    assert snapshot(tmp_path) == before
    done("forecast", "sst.csv", "--lead", 2, "--force", "--no-report", *QUICK)
    after = snapshot(tmp_path / "sst-forecast")
    assert after["mine.txt"] == b"mine"
    assert "report.html" not in after
    assert len(rows_of(tmp_path / "sst-forecast" / "forecast.csv")) == 4


def test_other_folders_are_never_replaced(table, tmp_path):
    (tmp_path / "sst-forecast").mkdir()
    (tmp_path / "sst-forecast" / "thesis.tex").write_text("years of work")
    result = vbdm_command("forecast", "sst.csv", "--force", *QUICK)
    assert result.exit_code == 2
    assert "will not be replaced" in result.stderr
    assert list((tmp_path / "sst-forecast").iterdir()) == [tmp_path / "sst-forecast" / "thesis.tex"]


def test_an_interruption_leaves_nothing_behind(table, tmp_path, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("vbdm.results.forecasts.save_forecaster", interrupted)
    before = snapshot(tmp_path)
    result = vbdm_command("forecast", "sst.csv", *QUICK)
    assert result.exit_code == 130
    assert "Interrupted." in result.stderr
    assert snapshot(tmp_path) == before


def test_a_run_is_opened_and_goes_on(table, tmp_path):
    done("forecast", "sst.csv", "--lead", 2, *QUICK)
    before = snapshot(tmp_path / "sst-forecast")
    done("forecast", "sst-forecast", "--lead", 5, "--no-figures")
    assert snapshot(tmp_path / "sst-forecast") == before
    long, short = (
        column_of(tmp_path / name / "forecast.csv", "mean")
        for name in ("sst-forecast-5", "sst-forecast")
    )
    assert np.array_equal(long[:4], short)
    assert len(long) == 10
    done("forecast", "sst-forecast/model.vbdm", "--lead", 2, "--out", "again", "--no-figures")
    assert np.array_equal(column_of(tmp_path / "again" / "forecast.csv", "mean"), short)


def test_forecasts_start_from_the_newest_row_of_another_file(table, tmp_path):
    """Columns are found by name; missing rows are no starts, and cut what is before them."""
    write_dated(tmp_path / "old.csv", np.arange(150))
    done("forecast", "old.csv", "--lead", 2, *QUICK)
    rows = np.array([160, 161, 162, 170, 171, 172])
    swapped = series()[rows][:, ::-1]
    write_dated(tmp_path / "new.csv", rows, names="other,sst", values=swapped)
    done("forecast", "old-forecast", "--from", "new.csv", "--lead", 2, "--no-figures")
    found = rows_of(tmp_path / "new-forecast" / "forecast.csv")
    assert {row["init"] for row in found} == {"2004-05-01"}
    model = vbdm.load(tmp_path / "old-forecast" / "model.vbdm")
    times = np.array(months(), dtype="M8[M]")[rows]
    truth = model.predict(series()[rows], [1, 2], times=times)
    means = np.array([float(row["mean"]) for row in found])
    assert np.array_equal(means, truth.mean[-1].ravel())
    done("forecast", "old-forecast", "--from", "new.csv", "--starts", "all", "--lead", 2,
         "--out", "all", "--no-figures")  # fmt: skip
    assert np.array_equal(column_of(tmp_path / "all" / "forecast.csv", "mean"), truth.mean.ravel())


def test_skill_on_another_file(tmp_path):
    np.save("old.npy", series()[:140])
    np.save("later.npy", series()[140:])
    result = done("forecast", "old.npy", "--lead", 2, "--test", "later.npy", *QUICK)
    model = vbdm.Forecaster("neighbours", delays=2, horizon=4).fit(series()[:140])
    there = model.skill(series()[140:], [1, 2, 3, 4])
    found = column_of(tmp_path / "old-forecast" / "skill.csv", "rmse")
    assert np.array_equal(found, there.rmse.ravel())
    assert "On later.npy, forecasts" in " ".join(result.stdout.split())


def test_times_that_are_numbers_are_no_column(tmp_path):
    write_csv("t.csv", np.c_[np.arange(N) / 4, series()], "time,x,y")
    result = done("forecast", "t.csv", "--lead", 1, *QUICK)
    assert "Taken as the time of the rows: time" in result.stderr
    rows = rows_of(tmp_path / "t-forecast" / "forecast.csv")
    assert (rows[0]["init"], rows[0]["valid_time"]) == ("49.75", "50.0")
    assert [row["column"] for row in rows] == ["x", "y"]
    done("forecast", "t.csv", "--columns", "y", "--time", "none", "--out", "b", "--lead", 1, *QUICK)
    rows = rows_of(tmp_path / "b" / "forecast.csv")
    assert [(row["column"], row["valid_time"]) for row in rows] == [("y", "200")]


def test_times_that_are_numbers_have_all_their_digits(tmp_path):
    times = 1.7e9 + 0.25 * np.arange(N)
    write_csv("t.csv", np.c_[times, series()], "time,u,v")
    done("forecast", "t.csv", "--lead", 3, *QUICK)
    found = [row["valid_time"] for row in rows_of(tmp_path / "t-forecast/forecast.csv")][::2]
    assert found == ["1700000050.0", "1700000050.25", "1700000050.5"]


@pytest.mark.parametrize(
    ("line", "columns", "last"),
    [
        ("--columns y", {"y"}, "49.75"),  # a column beside those chosen, by its name
        ("--columns y --time even", {"y"}, "398.0"),
        ("--columns y,even", {"y", "even"}, "49.75"),
        ("--time even", {"time", "y"}, "398.0"),
    ],
)
def test_times_are_any_column_that_is_named_or_looks_like_times(line, columns, last, tmp_path):
    rows = np.arange(N)
    write_csv("t.csv", np.c_[rows / 4, series()[:, 0], 2 * rows], "time,y,even")
    done("forecast", "t.csv", *line.split(), "--lead", 1, *QUICK, "--no-report")
    rows = rows_of(tmp_path / "t-forecast" / "forecast.csv")
    assert {row["column"] for row in rows} == columns
    assert rows[0]["init"] == last


def test_rows_are_counted_where_columns_were_chosen_without_times(tmp_path):
    write_csv("t.csv", np.c_[np.arange(N) / 4, series()], "clock,x,y")
    done("forecast", "t.csv", "--columns", "x,y", "--lead", 1, *QUICK, "--no-report")
    assert rows_of(tmp_path / "t-forecast" / "forecast.csv")[0]["init"] == "199"


def test_what_is_odd_in_a_series_is_said(tmp_path):
    header = "#! FIELDS phi x\n#! SET min_phi -pi\n#! SET max_phi pi\n"
    values = series() / 10
    values[[30, 31, 90, 91], 1] = -999
    (tmp_path / "COLVAR").write_text(header + "".join(f"{a} {b}\n" for a, b in values.tolist()))
    text = done("forecast", "COLVAR", "--lead", 1, *QUICK, "--no-report").stderr
    assert "Periodic columns are forecast as plain numbers: phi." in text
    assert "4 rows hold exactly -999 in x: a code for missing values?" in text


def test_distances_are_no_series():
    table = SimpleNamespace(metric="precomputed")
    with pytest.raises(vbdm.InputError, match=r"A series is needed.*'cells\.h5ad'.*--key"):
        refuse_distances(table, Path("cells.h5ad"))


def test_frames_of_another_trajectory_are_superposed_as_those_of_the_model():
    atoms = (("CA", 0.0, 0.0, 0.0),)
    known = Preparation(("x", "y"), ("y",), reference=atoms)
    notes = {"preparation": known.as_dict(), "reading": {"columns": "y"}}
    found, reading = how_to_read(Path("new.xtc"), {}, notes)
    assert found == reading["columns"] == known
    plain = {**notes, "preparation": Preparation(("x", "y"), ("y",)).as_dict()}
    assert how_to_read(Path("new.csv"), {}, plain)[1]["columns"] == "y"


@pytest.mark.parametrize(("year", "month"), [(1990.5, 1), (0, 1), (10_000, 1), (1990, 0)])
def test_numbers_that_are_no_dates(year, month):
    assert dates_of([np.array([year, year]), np.array([month, month + 1.0])], ()) is None
    assert dates_of([np.array([1990.0, 1990]), np.array([1.0, 2])], ()) is not None


def in_parts(names, month=lambda i: i % 12 + 1):
    """Return the series as a table whose dates are columns of their own."""
    dates = [[1990 + i // 12, month(i), 15][: names.count(",") + 1] for i in range(N)]
    rows = [",".join(map(str, (*d, *v))) for d, v in zip(dates, series(), strict=True)]
    return "\n".join([f"{names},sst,other", *rows]) + "\n"


@pytest.mark.parametrize(("names", "last"), [("Year,MON", "01"), ("year,month,day", "15")])
def test_years_and_months_are_dates_and_no_values(names, last, tmp_path):
    (tmp_path / "sst.csv").write_text(in_parts(names))
    result = done("forecast", "sst.csv", "--lead", 2, *QUICK)
    rows = rows_of(tmp_path / "sst-forecast/forecast.csv")
    assert {row["column"] for row in rows} == {"sst", "other"}
    assert rows[0]["init"] == f"2006-08-{last}"
    assert rows[-1]["valid_time"] == f"2006-10-{last}"
    assert f"time of the rows: {names.replace(',', ', ')}" in result.stderr
    # Another file is read alike.
    line = ("--from", "sst.csv", "--lead", 2, "--no-figures", "--out", "again")
    done("forecast", "sst-forecast", *line)
    assert rows_of(tmp_path / "again/forecast.csv")[0]["init"] == rows[0]["init"]


def test_years_and_months_that_are_no_dates_are_told(tmp_path):
    (tmp_path / "sst.csv").write_text(in_parts("year,month", month=lambda i: i % 12))
    result = done("forecast", "sst.csv", "--lead", 2, *QUICK)
    assert "No ascending dates can be made of the columns year, month" in result.stderr


def test_gaps_stay_gaps(tmp_path):
    values = series()
    values[[30, 90], 0] = np.nan
    np.save("gaps.npy", values)
    done("forecast", "gaps.npy", "--lead", 2, "--season", "none", *QUICK)
    model = vbdm.Forecaster("neighbours", delays=2, horizon=4).fit(values)
    found = column_of(tmp_path / "gaps-forecast" / "forecast.csv", "mean")
    assert np.array_equal(found, model.predict(leads=[1, 2]).mean.ravel())


def test_without_matplotlib_there_are_no_pictures(table, tmp_path, monkeypatch):
    for place in ("forecasts", "writing"):
        monkeypatch.setattr(f"vbdm.results.{place}.can_draw", lambda: False)
    monkeypatch.setattr("vbdm.results.can_draw", lambda: False)
    result = done("forecast", "sst.csv", "--lead", 1, *QUICK[:-1])
    assert "matplotlib is missing" in result.stderr
    assert not list((tmp_path / "sst-forecast").glob("*.png"))
    text = (tmp_path / "sst-forecast" / "report.html").read_text()
    assert "<img" not in text
    assert "CRPS of sst" in text


WRONG = {
    "nowhere.csv": "does not exist",
    "sst.csv --delays 0": "no whole number from 1 on or auto",
    "sst.csv --season 1": "no whole number from 2 on or auto or none",
    "sst.csv --lead 0": "no whole number from 1 on",
    "sst.csv --starts 3": "--starts goes with --from",
    "sst.csv --time when": "There is no such column of times",
    "sst.csv --delays 190": "too short to learn a forecast from",
    "sst.csv --lengths 3,4": "--lengths",
    "sst.csv --delays 2 --from other.csv": "does not have the columns",
    "run-forecast --delays 3": "has been learned before",
    "sphere.vbdm": "holds no forecaster",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_is_said_in_words(line, table, tmp_path):
    write_dated(tmp_path / "other.csv", np.arange(60), names="a,b")
    if line.startswith("run"):
        done("forecast", "sst.csv", "-o", "run-forecast", *QUICK)
    if line.startswith("sphere"):
        vbdm.save(vbdm.neighbors(series(), 9), "sphere.vbdm")
    before = snapshot(tmp_path)
    result = vbdm_command("forecast", *line.split())
    assert result.exit_code == 2, result.output
    assert WRONG[line] in result.stderr
    assert "unexpected" not in result.stderr
    assert snapshot(tmp_path) == before
