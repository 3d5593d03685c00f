"""Factors that only a direct look notices: a missing -1, a threshold, a weight."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.findings import knowing

import vbdm
from vbdm.shapes import Gaussian
from vbdm.trust import error_bars


@pytest.fixture(scope="module")
def few():
    return np.random.default_rng(0).standard_normal((40, 2))


@pytest.mark.parametrize("leave_one_out", [True, False])
def test_a_point_left_out_of_its_own_density_leaves_one_point_less(few, leave_one_out):
    """Of both densities, the pilot's and the kernel's, against sums over all pairs."""
    op = vbdm.estimate_operator(few, dim=2.0, method=vbdm.Resolved(leave_one_out=leave_one_out))
    n = len(few) - leave_one_out
    t = ((few[:, None] - few) ** 2).sum(axis=-1)
    order = op.graph.order
    for density, rho, epsilon, cut in (
        (
            order.to_caller(op.inside.pilot.density),
            order.to_caller(op.inside.pilot.rho0),
            0.5,
            op.inside.pilot.cutoff,
        ),
        (op.density, op.bandwidth, op.epsilon, op.kernel.cutoff),
    ):
        s = t / (epsilon * rho[:, None] * rho)
        values = np.where(s < cut, np.exp(-s / 4), 0.0)
        if leave_one_out:
            np.fill_diagonal(values, 0.0)
        volume = Gaussian().moments(2.0, cut).m0 * epsilon * rho**2
        sums = np.maximum(values.sum(axis=1), 1.0) if epsilon == 0.5 else values.sum(axis=1)
        np.testing.assert_allclose(density, sums / (n * volume), rtol=1e-6)


@pytest.mark.parametrize(("gap", "together"), [(1.9, True), (2.1, False), (2.7, False)])
def test_eigenvalues_further_apart_than_two_errors_are_no_group(few, gap, together):
    spectrum = vbdm.estimate_operator(few).spectrum(3)
    apart = replace(spectrum, eigenvalues=np.array([0.0, -1.0, -1.0 - 0.1 * gap]))
    knowing(apart, covariance=np.diag([0.0, 0.01, 0.0004]))
    assert (len(apart.errors.groups) == 2) == together


def test_the_weights_of_the_total_error():
    """They were chosen once, on twenty problems; whoever changes them has to judge them again."""
    assert error_bars.TAIL_WEIGHT == 2 / 3
    weights = [error_bars.epsilon_weight(dim) for dim in (1, 2, 3, 4, 6)]
    assert weights == [0.5, 0.75, 1, 1, 1]
    assert (error_bars.NOISE_DRIFT, error_bars.NOISE_ERROR) == (0.15, 0.02)
