"""What all tests share."""

import signal
from contextlib import suppress
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

#: Folders whose tests are all of one kind; other kinds stand in the files, as `pytestmark`.
KINDS = {"tests/engines/cuda/": "device", "tests/report/page/": "page"}


def pytest_addoption(parser):
    parser.addoption("--backwards", action="store_true", help="run the tests in reversed order")
    parser.addoption("--part", metavar="K/N", help="run the K-th of N parts of the tests only")


def pytest_collection_modifyitems(config, items):
    """Mark kinds; leave out other parts than the one that was asked for; reverse, if asked.

    A test belongs to a part by its name alone, so that new ones move no other. No test may live on
    what another one has left: the order must not matter.
    """
    for item in items:
        for folder, kind in KINDS.items():
            if item.nodeid.startswith(folder):
                item.add_marker(kind)
    if part := config.getoption("--part"):
        k, n = map(int, part.split("/"))
        chosen = [item for item in items if crc32(item.nodeid.encode()) % n == k % n]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
        items[:] = chosen
    if config.getoption("--backwards"):
        items.reverse()


def pytest_configure(config):
    """Ignore doubts about the data, unless a test listens. Let Ctrl-C end this and its children.

    A shell switches Ctrl-C off for what it starts with `&`, and children inherit that.
    """
    config.addinivalue_line("filterwarnings", "ignore::vbdm.VbdmWarning")
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _names_for_doctests(doctest_namespace):
    doctest_namespace["vbdm"] = vbdm
    doctest_namespace["np"] = np


@pytest.fixture
def cloud():
    """A small cloud in the plane with an uneven density."""
    return np.random.default_rng(5).standard_normal((120, 2)) * [1.0, 0.6]


@pytest.fixture(scope="session")
def started():
    """One cluster for all tests that need a real one: two processes on this machine."""
    from vbdm.placement import start_workers

    # At the end of a session with many other tests, Dask's loop may have ended before this does.
    with suppress(RuntimeError), start_workers(2) as client:
        yield client


@pytest.fixture
def cluster(started, monkeypatch):
    """A client of two workers, also after a test that killed one."""
    monkeypatch.setattr("vbdm.rows.cluster.LOOK", 0.3)
    monkeypatch.setattr("vbdm.rows.dask.LOOK", 0.3)
    monkeypatch.setattr("vbdm.rows.dask.PATIENCE", 2.0)
    try:
        started.wait_for_workers(2, timeout=30)
    except TimeoutError:
        # A worker that was killed as it started is not started again.
        started.cluster.scale(0)
        started.cluster.scale(2)
        started.wait_for_workers(2, timeout=60)
    return started
