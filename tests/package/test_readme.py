"""The README's example runs, its numbers are near the truth it states, and its names exist."""

import re
from pathlib import Path

import numpy as np
from tests.support.pages import blocks_of, run_page

import vbdm

README = Path(__file__).parents[2] / "README.md"


def test_examples_run_one_after_the_other():
    assert sum(block.language == "python" for block in blocks_of(README)) >= 1
    spectrum = run_page(README)["spectrum"]
    truth = np.array([0, -1, -1, -2, -2, -2])
    np.testing.assert_allclose(spectrum.eigenvalues, truth, atol=0.3)
    lower, upper = spectrum.intervals()[1:].T
    assert ((lower < truth[1:]) & (truth[1:] < upper)).all()


def test_names_in_the_table_exist():
    text = README.read_text()
    spectrum = set(re.findall(r"`(?:spectrum)?\.(\w+)`", text))
    fields = set(dir(vbdm.Spectrum)) | set(vbdm.Spectrum.__dataclass_fields__)
    assert spectrum <= fields, spectrum - fields
    operator = set(re.findall(r"`op\.(\w+)", text))
    known = set(dir(vbdm.Operator)) | set(vbdm.Operator.__dataclass_fields__)
    assert operator <= known, operator - known


def test_it_is_short_and_its_links_lead_somewhere():
    text = README.read_text()
    assert len(text.split()) <= 900
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (README.parent / target).is_file(), target
