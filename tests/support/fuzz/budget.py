"""How many cases a fuzz runs: few by default, many under the marker `slow` (make test-slow).

The environment variable VBDM_FUZZ multiplies both numbers, for a longer search by hand:
``VBDM_FUZZ=20 pytest -m fuzz``.
"""

import os
import random
from collections.abc import Iterable
from typing import Any

import pytest

TIMES = float(os.environ.get("VBDM_FUZZ", "1"))


def budget(few: int, many: int) -> Any:
    """Return the decorator of a test that takes its number of cases as `n_cases`."""
    numbers = [
        pytest.param(round(TIMES * few), id="few"),
        pytest.param(round(TIMES * many), id="many", marks=pytest.mark.slow),
    ]
    return pytest.mark.parametrize("n_cases", numbers)


def some(cases: Iterable[Any], n_cases: int, seed: int = 4100) -> list[Any]:
    """Return so many of the cases, chosen at random by the seed; all of them if there are fewer."""
    pool = list(cases)
    return random.Random(seed).sample(pool, min(n_cases, len(pool)))
