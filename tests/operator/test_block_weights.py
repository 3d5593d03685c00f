"""Weighted points in blocks: the numbers are those in memory, to the last bit."""

import numpy as np
import pytest

import vbdm
from vbdm.estimate import estimate_again
from vbdm.placement import Dask, Disk, Memory

pytestmark = pytest.mark.blocks
RNG = np.random.default_rng(4400)
POINTS = 1.5 * RNG.standard_normal((1000, 2))
SMOOTH = np.exp(-(POINTS**2).sum(axis=1) / 2 * (1 - 1.5**-2))
WEIGHTS = {"measure": SMOOTH, "counts": SMOOTH * np.exp(RNG.standard_normal(1000))}


def compare(kind, placement):
    """Compare an estimate in blocks with the one in memory."""
    one, op = (
        vbdm.estimate_operator(POINTS, "generator", weights=WEIGHTS[kind], placement=place)
        for place in ("memory", placement)
    )
    assert op.settings.weighting.kind == one.settings.weighting.kind == kind
    for part in ("degrees", "steps", "measure", "relative_variance", "sums"):
        np.testing.assert_array_equal(getattr(op, part), getattr(one, part))
    ours, theirs = op.at_epsilon(2 * op.epsilon), one.at_epsilon(2 * one.epsilon)
    np.testing.assert_array_equal(ours.degrees, theirs.degrees)
    first, second = op.spectrum(4), one.spectrum(4)
    np.testing.assert_allclose(first.eigenvalues, second.eigenvalues, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(first.standard_errors[1:], second.standard_errors[1:], rtol=1e-6)
    new = POINTS[:9] + 0.05
    np.testing.assert_allclose(first.extend(new).values, second.extend(new).values, atol=1e-6)
    np.testing.assert_array_equal(op.density_at(new), one.density_at(new))
    rows = np.arange(0, 1000, 2)
    again, fresh = estimate_again(op, rows), estimate_again(one, rows)
    np.testing.assert_array_equal(again.degrees, fresh.degrees)
    assert again.settings.weighting.kind == kind


@pytest.mark.parametrize(
    ("kind", "placement"),
    [("measure", Disk(blocks=4)), pytest.param("counts", Memory(3), marks=pytest.mark.slow)],
)
def test_blocks_change_nothing(kind, placement):
    compare(kind, placement)


@pytest.mark.slow
@pytest.mark.parametrize("kind", WEIGHTS)
def test_a_cluster_changes_nothing(kind, cluster):
    compare(kind, Dask(cluster, blocks=4))


@pytest.mark.parametrize("kind", WEIGHTS)
def test_a_sample_of_the_points_keeps_their_weights(kind):
    op = vbdm.estimate_operator(POINTS, "generator", weights=WEIGHTS[kind], dim=2)
    rows = np.arange(0, 1000, 2)
    again = estimate_again(op, rows)
    direct = vbdm.estimate_operator(
        POINTS[rows], "generator", weights=WEIGHTS[kind][rows], weights_as=kind, dim=2
    )
    np.testing.assert_allclose(
        again.spectrum(3).eigenvalues, direct.spectrum(3).eigenvalues, rtol=1e-6, atol=1e-9
    )
