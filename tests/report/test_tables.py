"""Results in a notebook and in a text: HTML, Markdown, LaTeX, pandas."""

import re
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import vbdm
from vbdm.report.tables import findings_html, number_in_latex, rows_of
from vbdm.trust.findings import Finding


@pytest.fixture(scope="module")
def spectrum():
    """Eigenvalues 0, -2 three times, -6 five times."""
    return vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points).spectrum(9)


@pytest.fixture(scope="module")
def single():
    """Eigenvalues that stand alone."""
    x = vbdm.datasets.interval(600, random_state=0).points
    return vbdm.estimate_operator(x).spectrum(3)


class Tags(HTMLParser):
    """Which tags a text opens, and which it leaves open."""

    def __init__(self, text):
        super().__init__()
        self.open, self.seen = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_markdown_has_a_row_for_each_eigenvalue(spectrum):
    lines = spectrum.table().splitlines()
    assert lines[0].startswith("| j | eigenvalue |")
    assert len(lines) == 2 + 9
    assert {line.count("|") for line in lines} == {6}
    assert "exact" in lines[2]
    # The members of a group share one error, which stands in their first row.
    assert " to " in lines[3]
    assert "″" in lines[4]


def test_eigenvalues_that_stand_alone_need_no_means(single):
    assert "mean of its group" not in single.table()
    assert [len(row) for row in rows_of(single)] == [4, 4, 4]


def test_latex_holds_the_same_numbers(spectrum):
    text = spectrum.table(format="latex")
    assert text.startswith(r"\begin{tabular}{rrrrr}")
    assert text.endswith(r"\end{tabular}")
    assert text.isascii()
    assert text.count("$") % 2 == 0
    shown = [float(number) for number in re.findall(r"\$(-?[\d.]+)\$", text)]
    for value in spectrum.eigenvalues:
        assert min(abs(number - value) for number in shown) < 0.01


def test_powers_of_ten_become_formulas():
    assert number_in_latex("−3.1·10⁻⁵") == r"$-3.1\cdot 10^{-5}$"


def test_another_format_is_refused(spectrum):
    with pytest.raises(vbdm.InputError, match="'markdown', 'latex'"):
        spectrum.table("html")


def test_the_frame_has_values_errors_and_groups(spectrum):
    pytest.importorskip("pandas")
    frame = spectrum.to_frame()
    assert frame.index.name == "j"
    assert np.array_equal(frame["eigenvalue"], spectrum.eigenvalues)
    assert np.allclose(frame["total_error"][[1, 2, 3]], frame["total_error"][1])
    assert (frame["lower"][1:] < frame["group_mean"][1:]).all()
    assert frame["group"].tolist() == [0, 1, 1, 1, 2, 2, 2, 2, 2]


def test_without_pandas_words_say_what_to_do(spectrum, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        spectrum.to_frame()


def test_forms_without_errors_have_tables_as_well():
    X = vbdm.datasets.circle(200, density="uniform", sampling="random", random_state=0).points
    found = vbdm.estimate_operator(X, method=vbdm.Paper(form="right")).spectrum(3)
    assert len(found.table().splitlines()) == 5
    assert "<table>" in found._repr_html_()
    assert len(found.to_frame()) == 3


def test_notebooks_show_small_tables(spectrum):
    for thing in (spectrum, spectrum.operator, vbdm.diagnose(spectrum)):
        tags = Tags(thing._repr_html_())
        assert not tags.open
        assert tags.seen <= {"table", "caption", "tr", "th", "td", "p"}


def test_words_in_findings_cannot_become_elements():
    found = Finding("<b>name</b>", "red", 'a <script>alert("1")</script> & more')
    assert Tags(findings_html([found])).seen == {"table", "tr", "th", "td"}


def test_findings_are_a_tuple_with_a_readable_text(spectrum):
    findings = vbdm.diagnose(spectrum)
    assert isinstance(findings, tuple)
    assert repr(findings).startswith("green  Connected pieces: ")


def test_settings_are_shown_in_one_short_line(spectrum):
    words = repr(spectrum.settings)
    assert len(words) < 120
    assert words.startswith("Settings('resolved', ")
