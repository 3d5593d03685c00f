"""Files of points and saved models, damaged at random or by an enemy: numbers, or words.

Whoever forges a number with its checksum gets what follows from it, or none; but nothing hangs,
dies, or takes more memory than there is.
"""

import pytest
from tests.support.fuzz import files, models
from tests.support.fuzz.budget import budget, some
from tests.support.fuzz.trial import OK, REFUSED, run

pytestmark = pytest.mark.fuzz


@budget(few=260, many=1500)
def test_damaged_files(n_cases):
    found = run(files.judge, files.all_cases(n_cases))
    assert found[REFUSED] > n_cases / 4


@budget(few=20, many=200)
def test_the_command_on_damaged_files(n_cases):
    run(files.judge_command, some(files.all_cases(1500), n_cases))


# A minute: a fault in one of two thousand values was found by so many.
@budget(few=100, many=4000)
def test_wrong_values_in_a_model(n_cases, tmp_path):
    saved = models.FEW if n_cases < 1000 else tuple(models.SAVED)
    paths = models.save_models(tmp_path, saved)
    whole = [(str(file), "nothing", "", "") for file in paths.values()]
    found = run(models.judge, [*whole, *some(models.all_cases(paths), n_cases)])
    assert found[OK] >= len(whole)
    assert found[REFUSED] > n_cases / 3
