"""Saved models with one wrong value: refused in words, or used without harm.

A plausible number with a right checksum cannot be told from the true one; it may change the
numbers that come out, and nothing else.
"""

import pytest

from .budget import budget, some
from .models import all_cases, judge, save_all
from .trial import OK, REFUSED, run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return save_all(tmp_path_factory.mktemp("models"))


@budget(few=100, many=4000)
def test_wrong_values_in_a_model(files, n_cases):
    whole = [(str(file), "nothing", "", "") for file in files.values()]
    found = run(judge, [*whole, *some(all_cases(files), n_cases)])
    assert found[OK] >= len(whole)
    assert found[REFUSED] > n_cases / 3
