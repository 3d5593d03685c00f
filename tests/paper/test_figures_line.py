"""The ways that only a line has must give what the package gives."""

import numpy as np
import pytest

import vbdm
from paper.base import Settings, fixed, variable
from paper.line import band_spectrum, fixed_spectrum, line_sweep, pilot_power
from paper.ou import hermite, line_points
from paper.ou_plane import fixed_plane_spectrum
from paper.sweep import sweep

N = 400


def paper(points, settings: Settings, dim: float, epsilon: float):
    op = vbdm.estimate_operator(
        points,
        dim=dim,
        epsilon=epsilon,
        bandwidth=vbdm.rules.PowerOfDensity(settings.beta),
        method=vbdm.Paper(alpha=settings.alpha, n_neighbors=len(points)),
    )
    return op.spectrum(6, solver="dense")


@pytest.mark.parametrize("alpha", [0.5, 1.0])
@pytest.mark.parametrize("epsilon", [0.003, 0.03, 1.0])
def test_the_fixed_kernel_sees_all_pairs(alpha, epsilon):
    x = line_points(N, seed=1)
    values, functions = fixed_spectrum(x, alpha, epsilon, 6)
    expected = paper(x[:, None], Settings(alpha, 0.0), 1, epsilon)
    np.testing.assert_allclose(values, expected.eigenvalues, atol=1e-7)
    overlap = np.abs(np.mean(functions * expected.eigenfunctions, axis=0))
    np.testing.assert_allclose(overlap, 1, atol=1e-6)


@pytest.mark.parametrize("epsilon", [1e-4, 1e-3])
def test_the_band_is_the_variable_kernel(epsilon):
    x, settings = line_points(N), variable("generator", 1)
    found = band_spectrum(x, pilot_power(x, -0.5), settings.alpha, epsilon, 6)
    expected = paper(x[:, None], settings, 1, epsilon).eigenvalues
    # Pairs below 1e-4 of the peak are left out of the band.
    np.testing.assert_allclose(found[0], expected, rtol=2e-3, atol=1e-9)


def test_a_band_that_is_too_wide_is_said_to_be():
    x = line_points(3000)
    found = line_sweep(x, variable("generator", 1), [1e-6, 1.0], hermite(x), 3)
    assert np.isfinite(found.errors[0])
    assert np.isnan(found.errors[1])
    assert found.saturated.tolist() == [0.0, 1.0]


def test_both_sweeps_agree():
    x = line_points(N)
    graph = vbdm.neighbors(x[:, None], N)
    for settings, epsilons in ((fixed("generator"), [0.01, 0.1]),
                               (variable("generator", 1), [1e-4, 1e-3])):  # fmt: skip
        dense = sweep(graph, settings, 1, epsilons, hermite(x)[:, None], [3], solver="dense")
        fast = line_sweep(x, settings, epsilons, hermite(x), 3)
        np.testing.assert_allclose(fast.errors, dense.errors, rtol=0.05, atol=1e-4)
        assert dense.best == fast.best


def test_a_plane_is_a_product_of_lines():
    points = vbdm.datasets.ou(N, dim=2, random_state=0).points
    values, _ = fixed_plane_spectrum(points, 0.5, 0.2, 6)
    expected = paper(points, fixed("generator"), 2, 0.2).eigenvalues
    np.testing.assert_allclose(values, expected, atol=1e-5)


def test_pieces_are_found_as_the_package_finds_them():
    x = line_points(N)
    graph = vbdm.neighbors(x[:, None], N)
    exact, epsilons = hermite(x), [3e-7, 1e-6]
    dense = sweep(graph, fixed("generator"), 1, epsilons, exact[:, None], [3])
    fast = line_sweep(x, fixed("generator"), epsilons, exact, 3)
    assert np.abs(dense.eigenvalues).max() == np.abs(fast.eigenvalues).max() == 0
    # Which of the single points comes fourth is a matter of order: no function of one point is H3.
    assert min(dense.errors.min(), fast.errors.min()) > 1


def test_a_failed_solve_is_counted(monkeypatch):
    def fail(*_):
        raise vbdm.errors.SolverError("no")

    monkeypatch.setattr("paper.line.one_spectrum", fail)
    x = line_points(50)
    found = line_sweep(x, fixed("generator"), [0.1, 0.2], hermite(x), 3)
    assert found.n_failed == 2
    assert np.isnan(found.errors).all()
