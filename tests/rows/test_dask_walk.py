"""The whole walk on a cluster, of which workers are killed: the numbers are those on disk."""

import dask.array
import numpy as np
import pytest
from tests.support import tasks

import vbdm
from vbdm.graph.order import InCallerOrder
from vbdm.placement import Dask, Disk

pytestmark = pytest.mark.blocks

#: Where a worker is killed: the stage, and how many of its blocks or steps are done.
STAGES = {"density": 1, "kernel": 1, "eigenpairs": 2}


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(0).standard_normal((6000, 2))


def solved(points, placement):
    operator = vbdm.estimate_operator(points, "generator", run=vbdm.Run(placement=placement))
    return operator.spectrum(4)


@pytest.mark.slow
@pytest.mark.parametrize(
    "stages", [["eigenpairs"], ["density"], ["kernel"], list(STAGES)], ids="-".join
)
def test_killed_workers_change_nothing(points, cluster, stages):
    killed = []

    def kill(progress):
        room = progress.room
        if room in stages and STAGES[room] == progress.done and room not in killed:
            killed.append(room)
            cluster.wait_for_workers(2, timeout=30)
            tasks.kill_one(cluster)

    with (
        pytest.warns(vbdm.errors.ClusterWarning, match="A worker was lost"),
        vbdm.progress.listening(kill),
    ):
        found = solved(points, Dask(cluster, blocks=3))
    assert killed == stages
    there, here = solved(points, Disk(blocks=3)), solved(points, "memory")
    assert np.array_equal(found.eigenvalues, there.eigenvalues)
    for name in ("density", "bandwidth"):
        values, others = getattr(found.operator, name), getattr(there.operator, name)
        assert isinstance(values, dask.array.Array)
        assert isinstance(others, InCallerOrder)
        assert np.array_equal(values.compute(), others[:])
        assert np.array_equal(others[:], getattr(here.operator, name))
    assert np.array_equal(found.eigenfunctions.compute(), there.eigenfunctions[:])
    assert np.abs(found.eigenvalues - here.eigenvalues).max() < 1e-9
    assert np.abs(found.eigenfunctions.compute() - here.eigenfunctions).max() < 1e-9
    assert np.array_equal(found.intervals(), there.intervals())
    assert isinstance(found.eigenfunctions, dask.array.Array)
    assert found.operator.settings.placement == "3 blocks on 2 workers"
