"""A page made again from its folder: labels, dates and units are those of the first one."""

import json

import numpy as np
import pytest
from tests.support.commands import done

import vbdm

N = 120


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("page")
    points = vbdm.datasets.ou(N, dim=2, random_state=4100).points
    lines = ["day,x,y,kind"]
    for i, (x, y) in enumerate(points):
        lines.append(f"{np.datetime64('2020-01-01') + i},{x},{y},{'ab'[i % 2]}")
    (place / "cloud.csv").write_text("\n".join(lines) + "\n")
    out = place / "out"
    done("fit", place / "cloud.csv", "-o", out, "-n", 4, "--no-figures", "--no-sensitivity",
         "--unit", "µm")  # fmt: skip
    return out


def test_labels_and_dates_are_on_both_pages(folder):
    first = (folder / "report.html").read_text("utf-8")
    for told in ('"names":["a","b"]', '"label":"day"', '"date":true', '"series":"time"', "in µm;"):
        assert told in first
    done("report", folder, "-q")
    again = (folder / "report.html").read_text("utf-8")
    assert again.split('id="data">')[1] == first.split('id="data">')[1]
    assert "in µm;" in again


def test_the_words_are_in_the_summary(folder):
    summary = json.loads((folder / "results.json").read_text("utf-8"))
    assert summary["input"]["unit"] == "µm"
    assert summary["found"] in (folder / "report.html").read_text("utf-8")


def test_standardised_columns_are_in_standard_deviations(folder, tmp_path):
    told = done("fit", folder.parent / "cloud.csv", "-o", tmp_path / "out", "-n", 3, "--no-figures",
                "--no-sensitivity", "--standardize", "--unit", "µm")  # fmt: skip
    assert "in standard deviations (" in told.stdout
    assert "µm" not in told.stdout
    assert "median, in standard deviations;" in (tmp_path / "out/report.html").read_text("utf-8")


def test_many_fields_are_cut_and_strange_ones_refused():
    spectrum = vbdm.estimate_operator(vbdm.datasets.circle(100, random_state=0).points).spectrum(3)
    fields = {f"field {i}": ["a", "b"] * 50 for i in range(14)}
    assert "The first 12 of 14 fields of labels can be chosen." in vbdm.report.page(
        spectrum, about_rows=fields
    )
    for strange in (["a"] * 100, {"kind": ["a"] * 99}, vbdm.io.RowNotes(times=np.arange(3.0))):
        with pytest.raises(vbdm.InputError, match="`about_rows` must"):
            vbdm.report.page(spectrum, about_rows=strange)
