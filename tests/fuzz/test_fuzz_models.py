"""Saved models with one wrong value: refused in words, or used without harm.

A plausible number with a right checksum cannot be told from the true one; it may change the
numbers that come out, and nothing else.
"""

import pytest

from .budget import budget, some
from .models import all_cases, expected, judge, save_all
from .trial import OK, REFUSED, run


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return save_all(tmp_path_factory.mktemp("models"))


@budget(few=200, many=4000)
def test_wrong_values_in_a_model(files, n_cases):
    found = run(judge, some(all_cases(files), n_cases))
    assert found[REFUSED] > n_cases / 3


def test_models_without_a_fault(files):
    """Each use is an answer or a refusal, before anything is changed."""
    for file in files.values():
        wrong = {n: o for n, (o, _) in expected(str(file)).items() if o not in (OK, REFUSED)}
        assert not wrong, file.stem
