"""What all tests share."""

import numpy as np
import pytest

import vbdm
from tests.support.slow_cases import SLOW_CASES

try:
    from hypothesis import settings
except ImportError:  # a machine with a GPU, for `make test-cuda`, has little beside CuPy
    pass
else:
    # Examples are numerical and may be slow on a loaded machine: no deadline, fixed examples.
    settings.register_profile("vbdm", deadline=None, derandomize=True, max_examples=25)
    settings.load_profile("vbdm")


def pytest_collection_modifyitems(items):
    """Mark the cases that are listed as slow, before slow ones are left out."""
    for item in items:
        if item.nodeid.removeprefix("tests/") in SLOW_CASES:
            item.add_marker(pytest.mark.slow)


@pytest.fixture(autouse=True)
def _names_for_doctests(doctest_namespace):
    doctest_namespace["vbdm"] = vbdm
    doctest_namespace["np"] = np


@pytest.fixture
def cloud():
    """A small cloud in the plane with an uneven density."""
    return np.random.default_rng(5).standard_normal((120, 2)) * [1.0, 0.6]
