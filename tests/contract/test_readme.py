"""The README's example runs, and its numbers are near the truth it states."""

import re
from pathlib import Path

import numpy as np
import pytest
from tests.support.pages import blocks_of, run_page

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning")
def test_examples_run_one_after_the_other():
    assert sum(block.language == "python" for block in blocks_of(README)) >= 3
    names = run_page(README)
    truth = [0, -1, -1, -2, -2, -2]
    np.testing.assert_allclose(names["spectrum"].eigenvalues, truth, atol=0.3)
    assert names["coordinates"].shape == (10_000, 3)
    # The second operator is that of a circle, by its angle.
    circle = names["op"].spectrum(5).eigenvalues
    np.testing.assert_allclose(circle, [0, -1, -1, -4, -4], rtol=0.05, atol=1e-9)
    # What is said of El Niño: ours, and a linear model.
    said = [[0.83, 0.56], [0.81, 0.48]]
    np.testing.assert_allclose(names["skill"].acc[[0, 3], 1:, 0], said, atol=0.03)
    height = names["test"].points[:, 0] ** 2
    assert np.nanmedian(np.abs(names["heights"] - height)) < 0.05


def test_names_in_the_table_exist():
    import vbdm

    text = README.read_text()
    spectrum = set(re.findall(r"`(?:spectrum)?\.(\w+)`", text))
    fields = set(dir(vbdm.Spectrum)) | set(vbdm.Spectrum.__dataclass_fields__)
    assert spectrum <= fields, spectrum - fields
    operator = set(re.findall(r"`op\.(\w+)", text))
    known = set(dir(vbdm.Operator)) | set(vbdm.Operator.__dataclass_fields__)
    assert operator <= known, operator - known
