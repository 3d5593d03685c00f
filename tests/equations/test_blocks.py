"""Equations whose matrix lives in blocks: the solutions and error bars of one block in memory."""

import numpy as np
import pytest

import vbdm
from vbdm.kernel.block_matrix import BlockMatrix
from vbdm.placement import Dask, Disk, Memory

pytestmark = pytest.mark.blocks

TOL = 1e-10


def cloud(name):
    """Return a cloud with copies, or with a second piece and single points far outside."""
    rng = np.random.default_rng(3)
    points = rng.normal(size=(1200, 2))
    if name == "copies":
        return np.concatenate([points, points[:100], points[:30]])
    return np.concatenate([points, rng.normal(size=(300, 2)) + 4e3, rng.normal(size=(3, 2)) * 9e4])


def answers(points, placement):
    """Return what all equations answer, by name."""
    x, r = points[:, 0], np.hypot(*points.T)
    far = (r > 1.5) & (r < 10)
    op = vbdm.estimate_operator(points, "generator", run=vbdm.Run(placement=placement))
    assert isinstance(op.alpha_kernel, BlockMatrix) == (placement != "memory")
    committor = op.committor(r < 0.5, "x0 > 1", tol=TOL)
    passage = op.mean_first_passage(far, tol=TOL)
    sides = {"left": far & (x < 0), "right": far & (x > 0)}
    screened = op.solve(x, screen=1.0, tol=TOL)
    held = op.solve(1.0, fixed=[(r - 0.5, points[:, 1])], tol=TOL)
    return {
        "committor": committor.values,
        "rates": np.array([committor.flux, committor.rate, committor.rate_back]),
        "passage": passage.values,
        "second moment": passage.second_moment,
        "mean": np.array(passage.mean(over=r < 0.5)),
        "exit": op.equations.exit_time("x0 < 1", tol=TOL).values,
        "hitting": op.equations.hitting_probabilities(sides, tol=TOL).values,
        "screened": screened.values,
        "sum": np.array(screened.functional(x / len(x))),
        "held": held.values,
        "poisson": op.solve(x, tol=TOL).values,
        "measure": op.equations.measure,
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", ["copies", "pieces"])
def test_blocks_in_memory_and_on_disk(name):
    points = cloud(name)
    whole, cut, stored = (
        answers(points, place) for place in ("memory", Memory(blocks=3), Disk(blocks=3))
    )
    for key, expected in whole.items():
        scale = np.nanmax(np.abs(expected))
        np.testing.assert_allclose(cut[key], expected, atol=1e-9 * scale, err_msg=key)
        np.testing.assert_array_equal(stored[key], cut[key], err_msg=key)
        assert np.isfinite(expected).mean() > 0.7, key


def test_blocks_on_a_cluster(cluster):
    points, found = cloud("copies")[-700:], []
    for place in (Memory(blocks=3), Dask(cluster, blocks=3)):
        op = vbdm.estimate_operator(points, "generator", run=vbdm.Run(placement=place))
        committor = op.committor("x0 < -0.5", "x0 > 0.5")
        found.append((committor.values, committor.rate, op.equations.measure))
    for here, there in zip(*found, strict=True):
        np.testing.assert_array_equal(there, here)
