"""The fuzz itself: what goes wrong in a case is seen, and the next case is judged all the same."""

import os
import time
import warnings

import numpy as np
import pytest
from tests.support.fuzz.budget import some
from tests.support.fuzz.trial import OK, OTHER, REFUSED, attempt, outcomes, run

import vbdm

pytestmark = pytest.mark.fuzz


def answer():
    return 1


def refuse():
    vbdm.estimate_operator("nothing")


def stumble():
    return {}["key"]


def warn():
    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


def die():
    os.abort()


def hang():
    time.sleep(60)


def devour():
    return np.ones(10**10)


CASES = {
    "answer": (answer, OK), "refuse": (refuse, REFUSED), "stumble": (stumble, "raw KeyError"),
    "warn": (warn, "raw RuntimeWarning"), "die": (die, "the process died with -6"),
    "devour": (devour, "raw"), "hang": (hang, "no answer after 2 s"),
}  # fmt: skip


def judge(case):
    return attempt(CASES[case[0]][0])[0]


@pytest.mark.skipif(os.name == "nt", reason="limits and signals of POSIX")
def test_every_outcome_is_seen():
    quick = [(name,) for name in CASES if name != "hang"]
    found = [*outcomes(judge, quick, 60, 1), *outcomes(judge, [("hang",)], 2, 1)]
    for (name,), outcome in found:
        assert outcome.startswith(CASES[name][1]), (name, outcome)
    assert len(found) == len(CASES)


def test_what_is_not_allowed_fails_with_its_case():
    with pytest.raises(AssertionError, match=r"1 of 2 cases(.|\n)*stumble"):
        run(judge, [("answer",), ("stumble",)])
    assert run(judge, [("answer",), ("refuse",)]) == {OK: 1, REFUSED: 1}
    assert OTHER not in run(judge, [])


def test_the_same_cases_every_time():
    assert some(range(1000), 5) == some(range(1000), 5) != some(range(1000), 5, seed=1)
    assert sorted(some(range(3), 5)) == [0, 1, 2]
