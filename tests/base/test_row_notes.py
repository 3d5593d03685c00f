"""What is known about rows beside their coordinates: it stays with the rows that become points."""

from pathlib import Path

import numpy as np
from tests.support.commands import FAST, done

import vbdm
from vbdm.io import Labels, RowNotes, Source, Table, prepare
from vbdm.results import Origin, load_results, write_results

ROWS = np.arange(40)


def noted_table():
    values = np.random.default_rng(0).standard_normal((40, 2))
    notes = RowNotes(
        {"kind": Labels.of([f"k{row % 3}" for row in ROWS])},
        {"row": ROWS.astype(float)},
        np.datetime64("2000-01-01") + ROWS,
        "date",
    )
    return Table(values, ("x", "y"), Source("a.csv", "text", 0, ""), about_rows=notes, unit="m")


def test_notes_follow_gaps_delays_and_thinning():
    table = noted_table()
    table.values[7, 0] = np.nan
    cloud, _ = prepare(table, delays=3, every=2, subsample=10, missing="drop")
    assert len(cloud.rows) == 10
    notes = cloud.about_rows
    assert notes.numbers["row"].tolist() == cloud.rows.tolist()
    assert notes.labels["kind"].values.tolist() == [f"k{row % 3}" for row in cloud.rows]
    assert (notes.times == np.datetime64("2000-01-01") + cloud.rows).all()


def test_units_are_those_of_the_points():
    table = noted_table()
    assert prepare(table)[0].unit == "m"
    cloud, preparation = prepare(table, standardize=True)
    assert cloud.unit == preparation.apply(table).unit == "standard deviations"


def test_identifiers_are_no_labels_and_long_labels_are_cut():
    assert Labels.of([str(row) for row in range(1001)]) is None
    assert len(Labels.of(["x" * 500]).names[0]) == 80


def test_notes_are_kept_in_the_results_folder(tmp_path):
    points = vbdm.datasets.circle(60, sampling="random", random_state=0).points
    notes = RowNotes(
        {"a/b": Labels.of(["", "x"] * 30)}, {"n": np.arange(60.0)}, np.arange(60.0), "time (ps)"
    )
    spectrum = vbdm.estimate_operator(points).spectrum(3)
    origin = Origin(about_rows=notes, unit="Å")
    write_results(tmp_path / "r", spectrum, origin, figures=False, page=False)
    again = load_results(tmp_path / "r").origin
    assert again.unit == "Å"
    assert again.about_rows.labels["a/b"].values.tolist() == ["", "x"] * 30
    assert (again.about_rows.numbers["n"] == np.arange(60.0)).all()
    assert (again.about_rows.times == np.arange(60.0)).all()
    assert again.about_rows.time_name == "time (ps)"


def test_labels_and_dates_of_a_file_reach_the_results(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    points = vbdm.datasets.circle(80, sampling="random", random_state=0).points
    days = np.datetime64("1990-01-01") + np.arange(80)
    rows = [f"{days[i]},{x},{'ab'[i % 2]},{y}" for i, (x, y) in enumerate(points)]
    Path("a.csv").write_text("day,x,kind,y\n" + "\n".join(rows))
    told = done("fit", "a.csv", "--delays", 2, "--standardize", *FAST).output
    assert "Set aside as labels, not coordinates: kind." in told
    assert "in standard deviations" in told
    found = load_results("a-vbdm").origin
    assert found.unit == "standard deviations"
    assert found.about_rows.labels["kind"].values.tolist() == ["ab"[row % 2] for row in found.rows]
    assert (found.about_rows.times == days[found.rows]).all()
