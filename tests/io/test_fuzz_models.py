"""Saved models with one wrong value: refused in words, or used without harm.

A plausible number with a right checksum cannot be told from the true one; it may change the
numbers that come out, and nothing else.
"""

import pytest
from tests.support.fuzz.budget import budget, some
from tests.support.fuzz.models import FEW, SAVED, all_cases, judge, save_models
from tests.support.fuzz.trial import OK, REFUSED, run

pytestmark = pytest.mark.fuzz


# A minute: a fault in one of two thousand values was found by so many.
@budget(few=100, many=4000)
def test_wrong_values_in_a_model(n_cases, tmp_path):
    files = save_models(tmp_path, FEW if n_cases < 1000 else tuple(SAVED))
    whole = [(str(file), "nothing", "", "") for file in files.values()]
    found = run(judge, [*whole, *some(all_cases(files), n_cases)])
    assert found[OK] >= len(whole)
    assert found[REFUSED] > n_cases / 3
