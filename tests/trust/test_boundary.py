"""How far an edge moves eigenvalues, against the first order of the theory and against truth."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf

import vbdm
from vbdm.trust.boundary import boundary_shifts, mass_exponents, overhang

D = vbdm.datasets


def share(z):
    return 0.5 * (1 + erf(z))


def excess(of_kernel, of_pilot=0.0, ratio=1.0, end=np.inf):
    def weight(z):
        return share(z) ** of_kernel * share(ratio * z) ** of_pilot - 1

    return quad(weight, 0, end)[0]


@pytest.mark.parametrize("powers", [(1.0, -2.0, 1.0), (1.0, -2.0, 2.0), (2.0, -2.0, 0.5)])
@pytest.mark.parametrize("depth", [0.1, 1.0, 3.0, 30.0])
def test_the_part_of_the_kernel_that_hangs_over(powers, depth):
    whole = excess(*powers, end=20.0)
    expected = whole / (depth + excess(*powers, end=min(depth, 20.0)))
    assert overhang(np.array([depth]), *powers) == pytest.approx(expected, rel=0.01)
    if powers[1:] == (-2.0, 1.0):
        assert whole == pytest.approx(0.41, abs=0.005)  # the Laplacian, of the page


def test_a_measure_that_is_right_at_an_edge():
    points = np.random.default_rng(4100).random((800, 2))
    for name, c1 in (("laplacian", 0), ("generator", 1)):
        powers = mass_exponents(vbdm.estimate_operator(points, name))
        assert sum(powers) == pytest.approx(c1 - 1)
    assert overhang(np.ones(3), 2.0, -2.0, 1.0) == pytest.approx(0)
    given = vbdm.estimate_operator(points, bandwidth=np.full(800, 0.1), alpha=0.3)
    assert mass_exponents(given) == pytest.approx((0.4, 0.0))


@pytest.mark.parametrize(("side", "dim"), [(6000, 1), (50, 2)])
def test_the_first_order_on_a_lattice(side, dim):
    """For cos πx the ends x = 0, 1 give δλ/λ = -4 h I; faces along x give nothing."""
    points = D.lattice(side, dim=dim).points
    operator = vbdm.estimate_operator(points, dim=dim, leave_one_out=False)
    spectrum = operator.spectrum(dim + 1)
    rows = operator.edge.rows
    width = np.median(operator.widths[operator.order.caller_rows[rows]])
    ratio = width / (np.sqrt(2) * np.median(operator.pilot.rho0[rows]))
    powers = 1 - 2 * operator.alpha, operator.beta * (operator.dim + 2)
    expected = -4 * width * excess(*powers, ratio, end=20.0) * spectrum.eigenvalues[1:]
    assert boundary_shifts(spectrum)[1:] == pytest.approx(expected, rel=0.12)


def test_the_laplacian_of_a_square():
    """The estimate agrees with the mean error, and intervals hold the truth because of it."""
    truth, seen, estimated, without, within = np.pi**2 * np.array([1, 1, 2]), [], [], [], []
    for seed in (4100, 4101, 4102):
        points = np.random.default_rng(seed).random((2500, 2))
        spectrum = vbdm.estimate_operator(points).spectrum(4)
        errors, parts = truth + spectrum.eigenvalues[1:], spectrum.errors.parts
        seen.append(errors)
        estimated.append(boundary_shifts(spectrum)[1:])
        assert (parts.boundary == np.abs(boundary_shifts(spectrum))).all()
        without.append(np.abs(errors) < 1.96 * np.sqrt(parts.total**2 - parts.boundary**2)[1:])
        within.append(np.abs(errors) < 1.96 * parts.total[1:])
    # Errors that have nothing to do with the edge are among those seen.
    assert np.mean(estimated) == pytest.approx(np.mean(seen), rel=0.25)
    assert np.mean(without) < 0.5
    assert np.all(within)
