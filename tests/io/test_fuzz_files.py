"""Files of points with random damage and hostile values: numbers, or words."""

from .budget import budget, some
from .files import all_cases, judge, judge_command
from .trial import REFUSED, run


@budget(few=260, many=1500)
def test_damaged_files(n_cases):
    found = run(judge, all_cases(n_cases))
    assert found[REFUSED] > n_cases / 4


@budget(few=20, many=200)
def test_the_command_on_damaged_files(n_cases):
    run(judge_command, some(all_cases(1500), n_cases))
