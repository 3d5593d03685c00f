"""The page as text: every number in its place, nothing from outside that runs."""

import base64
import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.support.estimates import estimate_with
from tests.support.findings import knowing

import vbdm
from vbdm.base.wording import with_error
from vbdm.report import page, write_page
from vbdm.report._glossary import GLOSSARY
from vbdm.report._notes import table_note
from vbdm.report._payload import MISSING, STEPS, quantised
from vbdm.report._tables import style_of, verdict
from vbdm.trust.epsilon_scan import EpsilonScan
from vbdm.trust.findings import Finding


@pytest.fixture(scope="module")
def sphere():
    return vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points).spectrum(9)


@pytest.fixture(scope="module")
def moved(sphere):
    return vbdm.scan_epsilon(sphere, (0.5, 1, 2), n_drawn=400)


@pytest.fixture(scope="module")
def large():
    points = vbdm.datasets.ou(21_000, dim=2, random_state=0).points
    return vbdm.estimate_operator(points, "generator", effort=0.5).spectrum(10)


def data_of(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))


def test_same_input_same_bytes(sphere, moved):
    text = page(sphere, scan=moved)
    assert text == page(sphere, scan=moved)
    assert not re.search(r"\{\{\w+\}\}", text)


def test_values_survive_the_page(sphere, moved):
    data = data_of(page(sphere, scan=moved))
    channel = next(c for c in data["channels"] if c["label"] == "eigenfunction 3")
    whole = np.frombuffer(base64.b64decode(channel["data"]), "<u2").astype(float)
    values = channel["low"] + (channel["high"] - channel["low"]) * whole / STEPS
    np.testing.assert_allclose(values, sphere.eigenfunctions[:, 3], atol=1e-4)
    places = np.frombuffer(base64.b64decode(data["sensitivity"]["places"]), "<u4")
    rows = np.frombuffer(base64.b64decode(data["rows"]), "<u4")
    np.testing.assert_array_equal(rows[places], moved.rows)


def test_errors_of_eigenfunctions_are_those_of_modes_or_of_spans(sphere):
    shown = [mode["functionError"] for mode in data_of(page(sphere))["modes"]]
    first, second = (
        sphere.errors.function_of_group(group) for group in ([1, 2, 3], [4, 5, 6, 7, 8])
    )
    np.testing.assert_allclose(shown, [0] + 3 * [first] + 5 * [second])
    line = vbdm.estimate_operator(vbdm.datasets.interval(300, random_state=0).points).spectrum(3)
    shown = [mode["functionError"] for mode in data_of(page(line))["modes"]]
    np.testing.assert_allclose(shown, line.errors.functions)


def test_places_are_among_the_drawn_points(sphere, moved):
    """With fewer points drawn than there are, a place is no longer the number of a row."""
    data = data_of(page(sphere, scan=moved, n_drawn=300))
    rows, places = (
        np.frombuffer(base64.b64decode(text), "<u4")
        for text in (data["rows"], data["sensitivity"]["places"])
    )
    assert len(rows) < 600
    np.testing.assert_array_equal(rows[places], moved.rows)


def test_missing_values_have_a_place():
    whole = np.frombuffer(base64.b64decode(quantised(np.array([0, np.nan, 1.0]), 0, 1)), "<u2")
    assert whole.tolist() == [0, MISSING, STEPS]


def test_the_table_has_every_eigenvalue(sphere):
    text = page(sphere)
    assert text.count("<tr data-mode=") == 9
    style = style_of(sphere)
    for value in sphere.eigenvalues[1:]:
        assert f'<td class="value">{style.show(value)}</td>' in text
    assert "residual</th>" not in text


def test_an_error_stands_once_beside_the_mean_that_it_belongs_to(sphere):
    text = page(sphere)
    several = [group for group in sphere.errors.by_group if group.is_several]
    assert [group.members for group in several] == [(1, 2, 3), (4, 5, 6, 7, 8)]
    style = style_of(sphere)
    for group in several:
        start = f'<td class="error several" rowspan="{len(group.members)}" title="Total error '
        end = (
            f">mean {style.show(group.mean)} ± {style.show_error(group.total_error)}"
            f"<span>{style.show(group.lower)} to {style.show(group.upper)}</span></td>"
        )
        assert text.count(start) == text.count(end) == 1
    # One cell for each group, none beside single members.
    assert len(re.findall(r'<td class="error', text)) == len(sphere.errors.by_group) == 3
    modes = data_of(text)["modes"]
    assert modes[5]["mean"] == pytest.approx(sphere.eigenvalues[4:9].mean())
    assert modes[5]["value"] == sphere.eigenvalues[5]
    assert modes[5]["group"] == [4, 5, 6, 7, 8]


def test_the_page_draws_total_errors_with_sampling_alone_inside(sphere):
    scan = vbdm.scan_epsilon(sphere, (1, 2), n_drawn=50)
    data = data_of(page(sphere, scan=scan))
    for group in sphere.errors.by_group:
        for mode in (data["modes"][i] for i in group.members):
            assert (mode["lower"], mode["upper"]) == sphere.errors.interval_of_group(group.members)
            assert mode["error"] == group.total_error
            assert mode["sampling"] == pytest.approx(1.959964 * group.standard_error, rel=1e-6)
    halves = np.array(data["sensitivity"]["halves"])
    np.testing.assert_allclose(halves, 1.959964 * scan.total_errors, rtol=1e-6)


def test_the_parts_of_every_error_are_on_the_page(sphere):
    text = page(sphere)
    table = re.search(r'<details id="error-parts">.*?</details>', text, re.DOTALL)[0]
    style, groups = style_of(sphere), sphere.errors.by_group[1:]
    for group in groups:
        sizes = "".join(f"<td>{style.show_error(x)}</td>" for x in group.error_parts.values())
        assert table.count(f"</svg></td>{sizes}</tr>") == 1
    assert table.count("<tbody><tr>") + table.count("\n<tr>") == len(groups) == 2
    # The longest bar belongs to the largest relative error, and the others are in proportion.
    bars = re.findall(r"<svg width.*?</svg>", table)
    lengths = [sum(map(float, re.findall(r' width="([\d.]+)" height="12">', bar))) for bar in bars]
    relative = [group.total_error / -group.mean for group in groups]
    np.testing.assert_allclose(lengths, 160 * np.array(relative) / max(relative), atol=0.3)


def test_results_without_errors_have_no_table_of_parts():
    points = vbdm.datasets.circle(150, random_state=0).points
    left = vbdm.estimate_operator(points, method=vbdm.Paper(form="left")).spectrum(3)
    text = page(left)
    assert 'id="error-parts"' not in text
    assert '<td class="error">—</td>' in text


def test_single_eigenvalues_keep_their_errors():
    points = vbdm.datasets.double_well(500, random_state=0).points
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(3)
    assert not any(group.is_several for group in spectrum.errors.by_group)
    text = page(spectrum)
    style = style_of(spectrum)
    for error, (lower, upper) in zip(
        spectrum.total_errors[1:], spectrum.intervals()[1:], strict=True
    ):
        ends = f"{style.show(lower)} to {style.show(upper)}"
        assert f">± {style.show_error(error)}<span>{ends}</span></td>" in text
    assert '<td class="error">exact</td>' in text
    assert "share a mean" not in text


def test_times_are_explained_for_the_generator_only(sphere, large):
    assert "diffusion coefficient" not in page(sphere)
    assert "units where the diffusion coefficient is 1" in page(large)
    assert "scroll to see all" not in page(sphere)


def test_delays_have_no_relaxation_times(large):
    assert "no relaxation time of the process" in table_note(large, {"delays": 24})
    assert "Ratios hold" not in table_note(large, {"delays": 24})
    assert "Ratios hold" in table_note(large, {"delays": 1})


def test_the_verdict_counts_in_plain_english():
    def told(lights):
        return verdict([Finding("Anything", light, "") for light in lights])

    assert "4 checks: 1 good, 1 to look at, 2 problems<" in told(["green", "amber", "red", "red"])
    assert "1 check: 1 problem<" in told(["red"])


@pytest.mark.parametrize("unit", [1, 1e-4, 3000])
def test_numbers_of_a_column_are_written_alike(unit):
    points = unit * vbdm.datasets.sphere(600, random_state=0).points
    text = page(vbdm.estimate_operator(points).spectrum(6))
    for name in ("value", "time"):
        cells = re.findall(rf'<td class="{name}">(.*?)</td>', text)[1:]
        digits, powers = zip(
            *(re.fullmatch(r"−?\d+(?:\.(\d+))?(.*)", cell).groups() for cell in cells), strict=True
        )
        assert len(set(powers)) == 1
        assert len({len(part or "") for part in digits}) == 1
        assert max(map(len, cells)) < 16


def test_the_dimension_is_the_same_everywhere(sphere):
    dim = sphere.operator.dimension
    size = with_error(dim.value, dim.standard_error)
    text = page(sphere)
    assert f"<b>{size}</b>" in text
    assert f"d = {size} was" in text
    assert f"The dimension is {size} and" in text


def test_counts_of_the_input_are_shown(sphere):
    text = page(sphere, source={"name": "x", "n_read": 3000, "size": 1234567})
    assert "<td>3,000</td>" in text
    assert "<td>1,234,567</td>" in text


def test_thinning_keeps_unresolved_points_and_says_so(large):
    text = page(large, n_drawn=3000)
    assert "3,000 of 21,000 points are drawn" in text
    data = data_of(text)
    rows = np.frombuffer(base64.b64decode(data["rows"]), "<u4")
    assert len(rows) == len(set(rows)) == data["drawn"] == 3000
    unresolved = np.flatnonzero(large.unresolved)
    assert 0 < len(unresolved) < 750
    assert set(unresolved) <= set(rows)
    assert sum(data["density"]["counts"]) == 21_000


def full_scan(spectrum):
    """As large as it gets: seven ε, 5,000 points."""
    rows = np.arange(0, 20_000, 4)
    n = len(spectrum.eigenvalues)
    steps = np.repeat(spectrum.eigenfunctions[None, rows].astype(np.float32), 7, axis=0)
    table = np.tile(spectrum.eigenvalues, (7, 1))
    errors = np.ones((7, n))
    return EpsilonScan(2.0 ** np.arange(7), table, errors, errors, rows, steps, 20_000, 3)


def test_the_page_is_small(large):
    """What is drawn does not grow with the cloud: a million points make the same page."""
    text = page(large, scan=full_scan(large))
    assert 1e6 < len(text.encode()) < 2.7e6


def test_even_many_eigenfunctions_fit(large):
    many = 60
    repeated = np.resize(np.arange(1, 10), many)
    wide = replace(
        large,
        eigenvalues=-np.linspace(0, 9, many),
        eigenfunctions=large.eigenfunctions[:, repeated],
        log=replace(large.log, residuals=np.zeros(many)),
        extent=np.full(many, 100.0),
    )
    one, groups = np.full(many, 0.1), tuple(np.arange(many)[:, None])
    knowing(wide, covariance=0.01 * np.eye(many), bias=one, functions=one, groups=groups)
    text = page(wide, scan=full_scan(wide))
    assert len(text.encode()) < 8e6
    assert "60 rows: scroll to see all" in text


def test_text_from_outside_cannot_leave_its_place(sphere):
    evil = "</script><script>alert(1)</script>\"'<img src=x onerror=alert(2)>"
    text = page(
        sphere, names=[evil, evil, evil], title=evil, source={"name": evil}, warnings=[evil],
        settings={evil: {evil: [evil]}}, seconds={evil: 1.0},
    )  # fmt: skip
    assert "<img" not in text
    assert "alert(1)</script>" not in text
    assert text.count("</script>") == 2


def test_the_policy_names_the_script_and_nothing_else(sphere):
    text = page(sphere)
    policy = re.search(r'Content-Security-Policy" content="(.*?)"', text).group(1)
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"https?://", text)


def test_the_file_appears_whole_or_not_at_all(sphere, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    write_page(path, sphere, title="one")
    first = path.read_bytes()
    assert b"<h1>one</h1>" in first
    module = sys.modules["vbdm.report._page"]

    def broken(*_):
        raise OSError("no space left")

    monkeypatch.setattr(module.os, "fsync", broken)
    with pytest.raises(OSError, match="no space"):
        write_page(path, sphere, title="two")
    assert path.read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(vbdm.InputError):
        write_page(tmp_path / "nowhere" / "x.html", sphere)


def test_columns_and_rows_are_named(sphere):
    rows = np.arange(600) + 70_000
    data = data_of(page(sphere, names=["a", "b", "c"], rows=rows))
    assert [c["label"] for c in data["channels"] if c["kind"] == "column"] == ["a", "b", "c"]
    assert np.frombuffer(base64.b64decode(data["rows"]), "<u4")[0] == 70_000
    # A wrong number of names cannot be trusted.
    data = data_of(page(sphere, names=["a"]))
    assert data["channels"][0]["label"] == "column 0"


def test_copies_and_loaded_models(tmp_path):
    points = vbdm.datasets.circle(150, random_state=0).points
    spectrum = vbdm.estimate_operator(np.r_[points, points[:20]]).spectrum(4)
    found = vbdm.scan_epsilon(spectrum, (0.5, 1))
    assert found.eigenfunctions.shape == (2, 170, 4)
    path = tmp_path / "model.vbdm"
    vbdm.save(spectrum, path, kernel=False)
    loaded = vbdm.load(path)
    again = vbdm.scan_epsilon(loaded, (0.5, 1))
    np.testing.assert_allclose(again.eigenvalues, found.eigenvalues, atol=1e-8)
    assert data_of(page(loaded, scan=again))["drawn"] == 170


def test_what_is_known_about_rows_is_on_the_page(sphere):
    kinds = ["a", "b", ""] * 200
    days = np.datetime64("2020-01-01") + np.arange(600)
    data = data_of(page(sphere, about_rows={"kind": kinds, "mass": np.arange(600), "day": days}))
    found = {channel["label"]: channel for channel in data["channels"]}
    assert found["kind"]["names"] == ["a", "b"]
    codes = np.frombuffer(base64.b64decode(found["kind"]["data"]), "<u2")
    assert codes[:3].tolist() == [0, 1, MISSING]
    assert (found["mass"]["low"], found["mass"]["high"]) == (0, 599)
    assert found["day"]["date"]
    assert found["day"]["low"] == days[0].astype("datetime64[ms]").astype(int)
    assert data["series"] == "time"
    with pytest.raises(vbdm.InputError, match="one value for each of the 600 points"):
        page(sphere, about_rows={"kind": ["a"]})
    with pytest.raises(vbdm.InputError, match="599 numbers for 600 points"):
        page(sphere, rows=np.arange(599))


def test_times_of_the_library_may_be_numbers(sphere):
    data = data_of(page(sphere, about_rows=vbdm.io.RowNotes(times=np.arange(600) / 4)))
    (times,) = (channel for channel in data["channels"] if channel["kind"] == "time")
    assert (times["label"], times["low"], times["high"]) == ("time", 0, 149.75)
    assert "date" not in times


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"bandwidth": np.linspace(1, 1.2, 100)}, "<span>for a given bandwidth ρ</span>"),
        ({"operator": 0.5}, "<span>c1 = 0.5, for the sampling density q</span>"),
        ({"potential": np.linspace(0, 1, 100)}, "gradient flow in the given potential U, whatever"),
        (
            {"operator": "generator", "weights": np.linspace(1, 2, 100)},
            "<th scope='row'>largest weight over the smallest</th><td>2</td>",
        ),
    ],
)
def test_the_page_says_what_the_operator_means(arguments, words):
    points = vbdm.datasets.circle(100, random_state=0).points
    assert words in page(estimate_with(points, **arguments).spectrum(3))


def test_the_unit_is_said(sphere):
    assert "median, in Å;" in page(sphere, unit="Å")
    assert "median, in units of the data;" in page(sphere)


def test_words_of_the_page_are_those_of_the_glossary(pytestconfig):
    """A word that the documentation explains has an entry of the same name there."""
    told = (pytestconfig.rootpath / "docs" / "glossary.md").read_text("utf-8")
    names = set(re.findall(r"^(\S[^\n]*)\n: ", told, re.M))
    shared = {"boundary", "copies", "group", "interval", "limiter", "mode", "piece", "reach",
              "total error", "unresolved", "weak link", "ε"}  # fmt: skip
    assert shared - {"boundary"} <= names
    assert shared <= set(GLOSSARY)


def test_each_word_is_linked_once(sphere):
    text = page(sphere)
    found = re.search(r'<ul class="diagnoses">.*?</ul>', text, re.S).group(0)
    terms = re.findall(r'href="#(term-[^"]+)"', found)
    assert len(terms) == len(set(terms)) > 3
    assert all(f'id="{term}"' in text for term in terms)
