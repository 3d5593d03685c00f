"""Whom to cite, and the paragraph on methods."""

import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.estimates import estimate_with
from tests.support.stand_ins import fake_pynndescent

import vbdm
from vbdm.base import references
from vbdm.base.references import Credit
from vbdm.base.wording import with_error
from vbdm.report.citing import citations, methods_paragraph, software
from vbdm.rules import PowerOfDensity
from vbdm.solvers import Dense, EigenPairs
from vbdm.solvers.pencil import Unprepared

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def circle():
    return vbdm.datasets.circle(300, random_state=0).points


def keys(spectrum):
    return [citation.key for citation in citations(spectrum)]


def test_only_what_was_used_is_cited(circle):
    plain = vbdm.estimate_operator(circle).spectrum(3)
    assert keys(plain) == ["BerryHarlim2016", "vbdm", "LevinaBickel2004"]
    fixed = vbdm.estimate_operator(circle, dim=1, bandwidth=vbdm.rules.PowerOfDensity(0)).spectrum(
        3
    )
    assert keys(fixed) == ["BerryHarlim2016", "vbdm", "CoifmanLafon2006"]
    assert PowerOfDensity(0.5).credit.references == ()
    solved = vbdm.estimate_operator(circle, dim=1)
    assert "Knyazev2001" in keys(solved.spectrum(3, solver="multilevel"))
    assert "LehoucqSorensenYang1998" in keys(solved.spectrum(3, solver="shift-invert"))


def test_approximate_search_is_cited(circle, monkeypatch):
    monkeypatch.setitem(sys.modules, "pynndescent", fake_pynndescent(miss=0))
    spectrum = vbdm.estimate_operator(circle, run=vbdm.Run(search="pynndescent")).spectrum(3)
    assert keys(spectrum).count("DongCharikarLi2011") == 1


def test_entries_are_balanced_and_name_themselves():
    known = [value for value in vars(references).values() if isinstance(value, references.Citation)]
    assert len(known) == 10
    for entry in (*known, software()):
        assert entry.bibtex.count("{") == entry.bibtex.count("}")
        assert re.match(r"@\w+\{(\w+),", entry.bibtex).group(1) == entry.key
        # The year and the pages of the entry stand in the text, too.
        for field in re.findall(r"(?:year|doi)\s*= \{(.+?)\}", entry.bibtex):
            assert field in entry.text


def test_the_paper_is_cited_as_in_the_citation_file():
    known = (ROOT / "CITATION.cff").read_text()
    paper = citations()[0].bibtex
    for name in ("volume", "issue", "start", "end", "year"):
        number = re.search(rf"^  {name}: (\d+)", known, re.M).group(1)
        assert number in paper
    assert citations()[1].bibtex.count(vbdm.__version__) == 1


def test_the_paragraph_says_what_was_done(circle):
    spectrum = vbdm.estimate_operator(circle, "generator").spectrum(4)
    text = methods_paragraph(spectrum, n_read=1000)
    op = spectrum.operator
    dim = with_error(op.dim, op.dimension.standard_error)
    for words in (
        "generator of the gradient flow", "∇f·∇q/q", "N = 300", "of 1,000 rows", "4 eigenvalues",
        vbdm.__version__, "Berry and Harlim 2016", "Levina and Bickel 2004",
        f"{op.n_neighbors} per point on average", "NumPy and SciPy", f"d = {dim} was",
        "total errors",
    ):  # fmt: skip
        assert words in text
    assert "Beforehand" not in text


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"method": "paper"}, "grows fastest"),
        ({"epsilon": 0.01}, "was given"),
        ({"operator": -0.5}, "L f = Δf − 0.5 ∇f·∇q/q"),
        ({"beta": 0}, "Coifman and Lafon 2006"),
        ({"dim": 1}, "dimension d = 1 was given."),
        ({"method": "paper", "potential": lambda x: x[:, 0] ** 2}, "ρ being given"),
        ({"potential": lambda x: x[:, 0] ** 2}, "in a given potential U, L f = Δf − ∇U·∇f, from"),
        (
            {"operator": "generator", "weights": np.linspace(1, 2, 300)},
            "L f = Δf + ∇f·∇π/π, π being the sampling density times the weights, from",
        ),
        (
            {"operator": "generator", "weights": np.linspace(1, 2, 300)},
            "span a factor of 2 and are",
        ),
        ({"potential": lambda x: x[:, 0] ** 2}, "spans 1 kT, weights each pair by exp(−U(x)/2)"),
        ({"method": "paper", "form": "left"}, "(ε ρ(x))"),
        ({"period": 20.0}, "periodic"),
        ({"metric": "manhattan"}, "manhattan"),
    ],
)
def test_the_paragraph_follows_the_settings(circle, settings, words):
    assert words in methods_paragraph(estimate_with(circle, **settings).spectrum(3))


def test_groups_are_told_by_their_means():
    spectrum = vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points).spectrum(5)
    text = methods_paragraph(spectrum)
    assert "one multiple eigenvalue, split by sampling" in text
    mean = spectrum.eigenvalues[1:4].mean()
    found = re.search(r"λ₁ to λ₃, −([\d.]+) ± ([\d.]+)\.$", text)
    assert float(found[1]) == pytest.approx(-mean, abs=0.006)
    assert float(found[2]) == pytest.approx(spectrum.errors.by_group[1].total_error, rel=0.1)
    assert "for independent points" in text


def test_every_solver_of_a_cloud_in_pieces_is_told_and_cited_once():
    large = vbdm.datasets.sphere(1800, random_state=0).points
    small = vbdm.datasets.sphere(200, random_state=1).points + 50
    spectrum = vbdm.estimate_operator(np.concatenate([large, small])).spectrum(6)
    assert spectrum.log.solver == "Multilevel, Dense"
    told = methods_paragraph(spectrum)
    assert "a multilevel preconditioned LOBPCG iteration (Knyazev 2001) and a dense solver" in told
    assert keys(spectrum).count("Knyazev2001") == 1
    assert "LehoucqSorensenYang1998" not in keys(spectrum)
    # Three pieces, two of them by the same solver: it is named once.
    three = np.concatenate([large, small, small + 50])
    again = vbdm.estimate_operator(three).spectrum(6)
    assert methods_paragraph(again).count("a dense solver") == 1


@dataclass(frozen=True)
class Mine:
    """A solver of the user's own."""

    def solve(self, pencil, n, tol):
        pairs = Dense().solve(pencil, n, tol)
        return EigenPairs(pairs.values, pairs.vectors, "Mine")

    def prepare(self, pencil, n):
        return Unprepared(self, pencil)


def test_a_solver_of_ones_own_is_told_by_its_name_and_cites_nobody(circle):
    spectrum = vbdm.estimate_operator(circle, dim=1).spectrum(3, solver=Mine())
    assert spectrum.log.solver == "Mine"
    told = methods_paragraph(spectrum)
    assert "were computed by the solver Mine to an" in told
    assert "dense" not in told
    assert keys(spectrum) == ["BerryHarlim2016", "vbdm"]


def test_a_solver_of_ones_own_may_bring_words_and_references(circle):
    work = references.Citation("Me2026", "@misc{Me2026}", "Me. My solver. 2026.")
    credit = Credit("Mine", "a solver of our own (Me 2026)", (work,))

    class Credited(Mine):
        def solve(self, pencil, n, tol):
            return replace(super().solve(pencil, n, tol), solver=credit)

    spectrum = vbdm.estimate_operator(circle, dim=1).spectrum(3, solver=Credited())
    assert "computed by a solver of our own (Me 2026) to an" in methods_paragraph(spectrum)
    assert keys(spectrum) == ["BerryHarlim2016", "vbdm", "Me2026"]


def test_nothing_is_told_of_a_solver_where_only_zeros_were_wanted(circle):
    spectrum = vbdm.estimate_operator(circle).spectrum(1)
    assert spectrum.log.solver == "known zeros"
    assert "computed by" not in methods_paragraph(spectrum)


def test_preparation_is_told(circle):
    spectrum = vbdm.estimate_operator(circle).spectrum(3)
    told = methods_paragraph(spectrum, preparation={"scale": [1.0], "delays": 3, "delay_step": 2})
    assert "centred and scaled" in told
    assert "3 delays, 2 rows apart" in told
    for lag, words in ((1, "a lag of 1 point."), (5, "a lag of 5 points.")):
        projection = {"kind": "tica", "axes": [[1.0], [0.0]], "lag": lag}
        told = methods_paragraph(spectrum, preparation={"projection": projection})
        assert f"reduced to 2 by TICA with {words}" in told
