"""The finite-sample correction: closed forms, and eigenvalues of uniform boxes."""

import numpy as np
import pytest
from scipy.special import zeta

import vbdm
from vbdm.operator.sample_theory import kernel_waves, ladder, pilot_table, shift, sphere_mean
from vbdm.operator.sums import waves_of
from vbdm.shapes import Gaussian


@pytest.mark.parametrize("dim", [1, 2, 2.5, 3, 5])
@pytest.mark.parametrize("c1", [-1, 0, 1, 2])
def test_a_fixed_gaussian_kernel_has_the_closed_form(dim, c1):
    a, alpha = dim / 2, 1 - c1 / 2
    closed = (
        alpha - alpha**2 / 3 * (2 / 3) ** a - 1
        - 2 ** (a + 1) * (
            (1 - 2 * alpha) * 3 ** -(a + 1)
            + (1 - alpha) ** 2 * (zeta(a + 1) - 1 - 2 ** -(a + 1) - 3 ** -(a + 1))
        )
    )  # fmt: skip
    kernel = kernel_waves(Gaussian(), dim, np.inf)
    assert kernel.spread == pytest.approx(2**-a, rel=1e-9)
    assert shift(kernel, dim, c1, 0.0, 20) / kernel.spread == pytest.approx(closed, abs=2e-6)


@pytest.mark.parametrize("dim", [1, 2, 3.3, 5])
def test_the_transforms_of_a_late_cut_are_those_of_the_gaussian(dim):
    waves = np.linspace(0, 5, 40)
    found = ladder(Gaussian(), dim, 140.0, waves)
    np.testing.assert_allclose(found, np.tile(np.exp(-(waves**2)), (5, 1)), atol=1e-7)


def test_each_transform_is_the_derivative_of_the_last():
    waves, step = np.linspace(0.5, 5, 20), 1e-4
    here = ladder(Gaussian(), 3, 20.0, waves)
    slope = ladder(Gaussian(), 3, 20.0, waves + step) - ladder(Gaussian(), 3, 20.0, waves - step)
    slope /= 2 * step
    np.testing.assert_allclose(here[1:], -slope[:-1] / (2 * waves), atol=1e-7)


def test_sphere_means_are_the_known_ones():
    z = np.linspace(0.01, 30, 100)
    np.testing.assert_allclose(sphere_mean(z, 1), np.cos(z), atol=1e-12)
    np.testing.assert_allclose(sphere_mean(z, 3), np.sin(z) / z, atol=1e-12)


@pytest.mark.parametrize("dim", [1, 2, 3])
@pytest.mark.parametrize("cutoff", [20.0, np.inf])
def test_the_pilot_follows_slow_waves_and_ignores_fast_ones(dim, cutoff):
    z, response = pilot_table(dim, cutoff)
    assert response[0] == pytest.approx(1, abs=1e-9)
    assert np.abs(response[z > 60]).max() < 0.02


def measured_shift(dim, c1, beta, n, seeds, n_points, k0=16):
    """Return (λ̂/λ - 1)/s² of the first group of a uniform periodic box, its error, the theory."""
    found = []
    for seed in seeds:
        points = np.random.default_rng(seed).random((n_points, dim))
        op = vbdm.estimate_operator(
            points,
            float(c1),
            dim=float(dim),
            period=1.0,
            epsilon=(n / n_points) ** (2 / dim) / (4 * np.pi),
            bandwidth=vbdm.rules.PowerOfDensity(beta),
            method=vbdm.Resolved(limiter=False, finite_sample=False, n_density_neighbors=k0),
        )
        rate = -op.spectrum(2 * dim + 1).eigenvalues[1:].mean()
        # What the same kernel gives with infinitely many points.
        kappa = 2 * np.pi * np.sqrt(op.epsilon * op.kernel.bandwidth.squared.mean())
        p = ladder(Gaussian(), dim, op.kernel.cutoff, np.array([kappa]))[0, 0]
        limit = (1 - p) / (op.kernel.moments(dim).m * kappa**2) * (2 * np.pi) ** 2
        spread = op.kernel.relative_variance.mean()
        found.append((rate / limit - 1) / spread)
    waves = waves_of(op)
    end = op.inside.pilot.effective_cutoff(dim)
    theory = shift(waves, dim, c1, beta, waves.spread / spread, k0, end) / waves.spread
    return np.mean(found), np.std(found) / np.sqrt(len(found) - 1), theory


@pytest.mark.parametrize(
    ("dim", "c1", "beta", "n", "n_points", "room"),
    [
        (1, 0, -0.5, 30, 3000, 0.2),
        (1, 1, -0.5, 50, 3000, 0.35),
        (1, 2, -0.5, 30, 3000, 0.9),
        (2, 0, -0.5, 17, 6000, 0.2),
        pytest.param(2, 1, -0.5, 17, 6000, 0.35, marks=pytest.mark.slow),
        pytest.param(2, 0, 0.0, 25, 6000, 0.2, marks=pytest.mark.slow),
    ],
)
def test_eigenvalues_of_boxes_shift_as_derived(dim, c1, beta, n, n_points, room):
    measured, error, theory = measured_shift(dim, c1, beta, n, range(3), n_points)
    assert abs(measured - theory) < room + 2 * error


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dim", "c1", "beta", "n", "n_points"),
    [
        (1, 0, -0.5, 52, 8000), (1, 1, -0.5, 52, 8000), (2, 0, -0.5, 17, 8000),
        (2, 0, -0.5, 53, 16_000), (2, 1, -0.5, 53, 16_000), (3, 0, -1 / 3, 17, 30_000),
        (3, 1, -1 / 3, 17, 30_000), (3, 0, 0.0, 17, 30_000),
    ],
)  # fmt: skip
def test_eigenvalues_of_larger_boxes_shift_as_derived(dim, c1, beta, n, n_points):
    measured, error, theory = measured_shift(dim, c1, beta, n, range(10, 16), n_points)
    # In d = 3 the mode's own wavelength counts: -3 to -5 times ελ.
    assert abs(measured - theory) < 0.15 + (0.15 if dim == 3 else 0) + 2 * error


def test_a_narrow_pilot_is_integrated_as_a_whole():
    """With n far above k0 the noise of the pilot stays: C/n tends to a constant."""
    kernel = kernel_waves(Gaussian(), 1, np.inf)
    shares = [shift(kernel, 1, 0, -0.5, n) / n for n in (100, 300, 1000)]
    assert shares == sorted(shares, reverse=True)
    assert shares[2] / shares[1] < 1.2


@pytest.mark.parametrize(
    ("dim", "c1", "beta", "n", "expected"),
    [
        (1, 0, -1 / 2, 17, 0.494), (1, 1, -1 / 2, 50, -2.730), (2, 0, -1 / 2, 17, 0.273),
        (2, 1, -1 / 2, 50, -2.448), (3, 0, -1 / 3, 17, 0.386), (3, 1, -1 / 3, 50, -1.119),
    ],
)  # fmt: skip
def test_the_integral_with_an_estimated_bandwidth(dim, c1, beta, n, expected):
    """Numbers from an earlier program for the Gaussian alone, by another rule of integration."""
    kernel = kernel_waves(Gaussian(), dim, np.inf)
    assert shift(kernel, dim, c1, beta, n) / kernel.spread == pytest.approx(expected, abs=0.006)


def test_eigenvalues_are_divided_by_what_is_derived():
    """On a uniform circle s² is nearly constant, and so is the correction."""
    op = vbdm.estimate_operator(vbdm.datasets.circle(800, random_state=0).points, 1.0)
    waves, spread = waves_of(op), op.kernel.relative_variance.mean()
    n, end = waves.spread / spread, op.inside.pilot.effective_cutoff(op.dim)
    derived = (
        shift(
            waves,
            op.dim,
            1.0,
            op.settings.exponents.beta,
            n,
            op.inside.pilot.n_density_neighbors,
            end,
        )
        / n
    )
    assert op.spectrum(3).correction[1] - 1 == pytest.approx(derived, rel=0.05)
