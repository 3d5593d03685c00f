"""A known potential: eigenvalues of exp(-U), whatever density the points have."""

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
from vbdm.operator.sums import in_potential
from vbdm.trust.operator_checks import density_tail

pytestmark = pytest.mark.truth


def parabola(points):
    """Return U = |x|²/2, with eigenvalues 0, -1 (d times), -2."""
    return (points**2).sum(axis=1) / 2


def gaussian(n, dim, temperature=1.0, seed=0):
    """Return points with density exp(-|x|²/(2 temperature)), up to a constant."""
    return np.sqrt(temperature) * np.random.default_rng(seed).standard_normal((n, dim))


def relative_errors(points, truth, **settings):
    """Return the relative errors of the eigenvalues of U = |x|²/2."""
    op = estimate_with(points, potential=parabola, **settings)
    return op.spectrum(len(truth) + 1).eigenvalues[1:] / truth - 1


@pytest.mark.parametrize("temperature", [1.0, 2.0])
@pytest.mark.parametrize("seed", [4100, 4101, 4102])
def test_gaussian_in_the_plane(temperature, seed):
    errors = relative_errors(gaussian(3000, 2, temperature, seed), [-1, -1, -2, -2, -2])
    assert np.abs(errors).max() < 0.12
    assert abs(errors.mean()) < 0.06


@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_gaussian_on_the_line(temperature):
    """Wrong by a factor of 1.2 in U, the eigenvalues would be wrong by as much."""
    errors = relative_errors(gaussian(3000, 1, temperature, 4100), [-1, -2])
    assert np.abs(errors).max() < 0.05


def torus(seed, n=2500):
    """Return angles of points of the flat torus, uniform, and the points."""
    angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, (n, 2))
    return angle, np.c_[np.cos(angle), np.sin(angle)]


def generator_of_circle(strength, n=40):
    """Return the eigenvalues of f'' - strength sin θ f', U = -strength cos θ, by Fourier series."""
    k = np.arange(-n, n + 1.0)
    # -sin θ (e^{ikθ})' = -(k/2) (e^{i(k+1)θ} - e^{i(k-1)θ})
    drift = np.diag(k[1:] / 2, 1) - np.diag(k[:-1] / 2, -1)
    matrix = np.diag(-(k**2)) + strength * drift
    return np.sort(np.linalg.eigvals(matrix).real)[::-1]


@pytest.mark.parametrize("seed", [4100, 4101])
def test_uniform_points_of_a_torus(seed):
    """The drift comes from U alone; the density is constant."""
    angle, points = torus(seed)
    one = generator_of_circle(1.0)[:4]
    truth = np.sort((one[:, None] + one).ravel())[::-1][1:5]
    op = vbdm.estimate_operator(points, potential=-np.cos(angle).sum(axis=1))
    errors = op.spectrum(5).eigenvalues[1:] / truth - 1
    assert np.abs(errors).max() < 0.05
    assert op.settings.exponents.c1 == 0


def test_a_constant_changes_nothing():
    points = gaussian(800, 2)
    first, second = (
        vbdm.estimate_operator(points, potential=parabola(points) + shift).spectrum(4)
        for shift in (0.0, 1000.0)
    )
    np.testing.assert_allclose(first.eigenvalues, second.eigenvalues, rtol=1e-9, atol=1e-9)


def test_a_potential_is_no_laplacian_of_an_unbounded_cloud():
    """Its eigenvalues do not end where the data ends: nothing is said of the tail."""
    op = vbdm.estimate_operator(gaussian(1500, 2), potential=parabola)
    assert in_potential(op)
    assert "potential" in repr(op)
    assert density_tail(op) is None
    weighted = vbdm.estimate_operator(gaussian(1500, 2), weights=np.ones(1500))
    assert not in_potential(weighted)


def test_no_potential_at_all_is_the_laplacian():
    points = vbdm.datasets.sphere(800, random_state=0).points
    flat = vbdm.estimate_operator(points, potential=np.full(800, 3.0))
    plain = vbdm.estimate_operator(points)
    assert flat.settings.exponents.beta == plain.settings.exponents.beta
    assert abs(flat.matrix - plain.matrix).max() == 0


def test_density_of_the_invariant_measure():
    """D ε m ρ² over the sampling is exp(-U)/q: means of functions are those of exp(-U)."""
    points = gaussian(3000, 2, temperature=2.0, seed=4100)
    op = vbdm.estimate_operator(points, potential=parabola)
    mass = op.graph.order.to_caller(op.inside.degrees * op.inside.steps)
    assert mass @ parabola(points) / mass.sum() == pytest.approx(1, rel=0.06)


def test_wide_ranges_of_energy():
    """Up to 600 kT the weights are numbers; points of high energy say nothing, and do no harm."""
    points = np.random.default_rng(4100).uniform(-30, 30, (12000, 1))
    op = vbdm.estimate_operator(points, potential=parabola)
    assert np.ptp(op.inside.potential) > 400
    np.testing.assert_allclose(op.spectrum(4).eigenvalues[1:], [-1, -2, -3], rtol=0.05)


def test_again_from_some_of_the_points():
    from vbdm.estimate import estimate_again

    points = gaussian(1500, 2)
    whole = vbdm.estimate_operator(points, potential=parabola)
    rows = np.arange(0, 1500, 2)
    again = estimate_again(whole, rows)
    direct = vbdm.estimate_operator(
        points[rows],
        potential=parabola,
        dim=whole.dim,
        bandwidth=vbdm.rules.PowerOfDensity(whole.settings.exponents.beta),
    )
    assert abs(again.matrix - direct.matrix).max() == 0


def test_extension_needs_the_potential_at_the_data_only():
    points, new = gaussian(3000, 1, seed=4100), np.linspace(-1.5, 1.5, 13)[:, None]
    spectrum = vbdm.estimate_operator(points, potential=parabola(points)).spectrum(2)
    found = spectrum.extend(new).values[:, 1]
    np.testing.assert_allclose(np.abs(found), np.abs(new[:, 0]), atol=0.1)


@pytest.fixture(scope="module")
def ratio():
    """Predicted over seen standard errors, of the two groups of OU in the plane."""
    found = []
    for seed in range(4100, 4148):
        op = vbdm.estimate_operator(gaussian(2000, 2, seed=seed), potential=parabola)
        spectrum = op.spectrum(6)
        groups = ([1, 2], [3, 4, 5])
        means = [spectrum.eigenvalues[group].mean() for group in groups]
        found.append([means, [spectrum.errors.of_group(group) for group in groups]])
    values, errors = np.moveaxis(np.array(found), 1, 0)
    return np.sqrt((errors**2).mean(axis=0)) / values.std(axis=0, ddof=1)


@pytest.mark.slow
def test_error_bars(ratio):
    """Forty-eight samples leave 10 % on each spread; pairs that count twice would make it 1.5."""
    assert (ratio > 0.7).all()
    assert (ratio < 1.4).all()
