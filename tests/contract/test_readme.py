"""The README's example runs, and its numbers are near the truth it states."""

import re
from pathlib import Path

import numpy as np
import pytest

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning")
def test_example():
    blocks = re.findall(r"```python\n(.*?)```", README.read_text(), flags=re.DOTALL)
    assert len(blocks) == 1
    names = {}
    exec(blocks[0], names)
    truth = [0, -1, -1, -2, -2, -2]
    np.testing.assert_allclose(names["spectrum"].eigenvalues, truth, atol=0.3)


def test_names_in_the_table_exist():
    import vbdm

    text = README.read_text()
    spectrum = set(re.findall(r"`(?:spectrum)?\.(\w+)`", text))
    fields = set(dir(vbdm.Spectrum)) | set(vbdm.Spectrum.__dataclass_fields__)
    assert spectrum <= fields, spectrum - fields
    operator = set(re.findall(r"`op\.(\w+)", text))
    known = set(dir(vbdm.Operator)) | set(vbdm.Operator.__dataclass_fields__)
    assert operator <= known, operator - known
