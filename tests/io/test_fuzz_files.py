"""Files of points with random damage and hostile values: numbers, or words."""

import pytest
from tests.support.fuzz.budget import budget, some
from tests.support.fuzz.files import all_cases, judge, judge_command
from tests.support.fuzz.trial import REFUSED, run

pytestmark = pytest.mark.fuzz


@budget(few=260, many=1500)
def test_damaged_files(n_cases):
    found = run(judge, all_cases(n_cases))
    assert found[REFUSED] > n_cases / 4


@budget(few=20, many=200)
def test_the_command_on_damaged_files(n_cases):
    run(judge_command, some(all_cases(1500), n_cases))
