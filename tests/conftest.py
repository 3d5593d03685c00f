"""What all tests share."""

import signal
from zlib import crc32

import numpy as np
import pytest

import vbdm

try:
    from hypothesis import settings
except ImportError:  # a machine with a GPU, for `make test-cuda`, has little beside CuPy
    pass
else:
    # Examples are numerical and may be slow on a loaded machine: no deadline, fixed examples.
    settings.register_profile("vbdm", deadline=None, derandomize=True, max_examples=25)
    settings.load_profile("vbdm")


def pytest_addoption(parser):
    parser.addoption("--backwards", action="store_true", help="run the tests in reversed order")
    parser.addoption("--part", metavar="K/N", help="run the K-th of N parts of the tests only")


def pytest_collection_modifyitems(config, items):
    """Leave out other parts than the one that was asked for; reverse the order, if asked.

    A test belongs to a part by its name alone, so that new ones move no other. No test may live on
    what another one has left: the order must not matter.
    """
    if part := config.getoption("--part"):
        k, n = map(int, part.split("/"))
        chosen = [item for item in items if crc32(item.nodeid.encode()) % n == k % n]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen
    if config.getoption("--backwards"):
        items.reverse()


def pytest_configure():
    """Let Ctrl-C end this process and its children, also where the suite runs in the background.

    A shell switches it off for what it starts with `&`, and children inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _names_for_doctests(doctest_namespace):
    doctest_namespace["vbdm"] = vbdm
    doctest_namespace["np"] = np


@pytest.fixture
def cloud():
    """A small cloud in the plane with an uneven density."""
    return np.random.default_rng(5).standard_normal((120, 2)) * [1.0, 0.6]
