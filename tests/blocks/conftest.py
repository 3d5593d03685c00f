"""One cluster for all tests that need a real one: two processes on this machine."""

import pytest

from vbdm.placement import start_workers


@pytest.fixture(scope="session")
def started():
    with start_workers(2) as client:
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
