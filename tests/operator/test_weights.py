"""Weighted points: sampled with one density, asked about another, π = w q."""

import numpy as np
import pytest
from tests.support.estimates import estimate_with
from tests.support.slow import with_slow

import vbdm
from vbdm.operator.weights import Weights

pytestmark = pytest.mark.truth

#: Eigenvalues of f'' - U'f' with U = 8 (x² - 1)², a barrier of 8 kT; by finite differences.
BARRIER = np.array([-4.575e-3, -27.93])


def wells(x):
    """Return U = 8 (x² - 1)², in kT."""
    return 8 * (x**2 - 1) ** 2


def drawn(potential, n, seed):
    """Return points of the line with density exp(-U), (n,), by the inverse of its distribution."""
    x = np.linspace(-3, 3, 200_001)
    cumulated = np.cumsum(np.exp(-potential(x)))
    return np.interp(np.random.default_rng(seed).random(n), cumulated / cumulated[-1], x)


def over_the_barrier(n, heat, seed):
    """Return the spectrum of the double well from points at a higher temperature."""
    x = drawn(lambda x: wells(x) / heat, n, seed)
    weights = np.exp(-(1 - 1 / heat) * wells(x))
    return vbdm.estimate_operator(x[:, None], "generator", weights=weights).spectrum(3)


@pytest.mark.parametrize(
    ("heat", "seed"), with_slow([(4, 4200), (4, 4201), (10, 4200), (10, 4201)], (4, 4201))
)
def test_rate_over_a_barrier_of_8_kT(heat, seed):
    """At its own temperature a sample of this size has no point on the barrier."""
    spectrum = over_the_barrier(10_000, heat, seed)
    assert np.abs(spectrum.eigenvalues[1:] / BARRIER - 1).max() < 0.15
    lower, upper = spectrum.intervals()[1]
    assert lower < BARRIER[0] < upper


def gaussian(n, dim, deviation, seed):
    """Return points of a Gaussian, and the weights that make it the standard one."""
    points = deviation * np.random.default_rng(seed).standard_normal((n, dim))
    return points, np.exp(-(points**2).sum(axis=1) / 2 * (1 - deviation**-2))


@pytest.mark.parametrize(
    ("n", "dim", "most"),
    with_slow([(3000, 1, 0.06), (3000, 2, 0.08), (1500, 3, 0.15)], (1500, 3, 0.15)),
)
def test_a_wide_gaussian_gives_the_narrow_one(n, dim, most):
    points, weights = gaussian(n, dim, 1.5, 4200)
    found = vbdm.estimate_operator(points, "generator", weights=weights)
    errors = found.spectrum(dim + 1).eigenvalues[1:] + 1
    assert np.abs(errors).max() < most
    assert found.settings.weighting.effective_points == pytest.approx(
        weights.sum() ** 2 / (weights**2).sum()
    )


@pytest.mark.parametrize("c1", [0.5, 2.0])
def test_any_c1_refers_to_the_wanted_density(c1):
    """L f = Δf - c1 x·∇f for the standard Gaussian, with the eigenvalue -c1."""
    points, weights = gaussian(2000, 2, 1.3, 4201)
    found = vbdm.estimate_operator(points, c1, weights=weights).spectrum(3)
    np.testing.assert_allclose(found.eigenvalues[1:], -c1, rtol=0.12)


def test_equal_weights_give_the_same_bits():
    points = gaussian(800, 2, 1.0, 4200)[0]
    plain, weighted = (
        vbdm.estimate_operator(points, "generator", weights=w) for w in (None, np.full(800, 0.1))
    )
    first, second = plain.spectrum(4), weighted.spectrum(4)
    np.testing.assert_array_equal(first.eigenvalues, second.eigenvalues)
    np.testing.assert_array_equal(first.eigenfunctions, second.eigenfunctions)
    np.testing.assert_array_equal(first.standard_errors, second.standard_errors)
    assert not weighted.settings.weighting.is_used
    assert repr(plain) == repr(weighted)


@pytest.mark.parametrize("factor", [1e-200, 3.0, 1e200])
def test_a_constant_factor_changes_nothing(factor):
    points, weights = gaussian(800, 2, 1.5, 4200)
    first, second = (
        vbdm.estimate_operator(points, "generator", weights=w).spectrum(4).eigenvalues
        for w in (weights, factor * weights)
    )
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)


def test_a_potential_is_weights_over_the_sampling_density():
    """exp(-U) wanted from points with density q: w = exp(-U)/q gives the same pairs."""
    points, _ = gaussian(2000, 2, 1.5, 4202)
    U = (points**2).sum(axis=1) / 2
    by_potential = vbdm.estimate_operator(points, potential=U).spectrum(3).eigenvalues
    q = np.exp(-(points**2).sum(axis=1) / 2 / 1.5**2)
    by_weights = vbdm.estimate_operator(points, "generator", weights=np.exp(-U) / q)
    np.testing.assert_allclose(by_weights.spectrum(3).eigenvalues[1:], by_potential[1:], rtol=0.1)


def test_density_is_that_of_the_sample():
    points, weights = gaussian(1000, 2, 1.5, 4203)
    plain, weighted = (
        vbdm.estimate_operator(points, "generator", weights=w) for w in (None, weights)
    )
    np.testing.assert_array_equal(plain.density, weighted.density)
    np.testing.assert_array_equal(
        plain.density_at(points[:5] + 0.1), weighted.density_at(points[:5] + 0.1)
    )


def test_the_laplacian_does_not_depend_on_them():
    sample = vbdm.datasets.sphere(800, random_state=0).points
    with pytest.warns(vbdm.errors.WeightsWarning, match="does not depend on the density"):
        weighted = vbdm.estimate_operator(sample, weights=np.exp(sample[:, 0]))
    plain = vbdm.estimate_operator(sample)
    np.testing.assert_array_equal(plain.spectrum(3).eigenvalues, weighted.spectrum(3).eigenvalues)


def jumping(points, rng):
    """Return weights of 1 or 10 whose mean at each place is 1: heavy ones are rare on the right."""
    share = 1 / (1 + np.exp(2 * points[:, 0]))
    heavy = rng.random(len(points)) < 1 - share
    return np.where(heavy, 10.0, 1.0) / (share + 10 * (1 - share))


@pytest.mark.parametrize(("dim", "seed"), with_slow([(1, 4205), (2, 4206)], (2, 4206)))
def test_weights_that_jump_count_as_multiplicities(dim, seed):
    """Their roots have another mean than they: as a measure they are 5 to 10 % wrong."""
    points, weights = gaussian(3000, dim, 1.5, seed)
    weights = weights * jumping(points, np.random.default_rng(seed))
    op = vbdm.estimate_operator(points, "generator", weights=weights)
    assert op.settings.weighting.kind == "counts"
    found = op.spectrum(dim + 1).eigenvalues[1:]
    np.testing.assert_allclose(found, -1, rtol=0.13)
    assert abs(found.mean() + 1) < 0.08
    np.testing.assert_allclose(op.equations.measure @ points**2, 1, rtol=0.15)


@pytest.mark.parametrize("dim", [1, 2])
def test_numbers_of_resampled_points_are_weights(dim):
    """As in a bootstrap: points of a wide Gaussian, drawn again for the narrow one."""
    points, weights = gaussian(4000, dim, 1.5, 4207)
    counts = np.random.default_rng(4207).multinomial(4000, weights / weights.sum())
    drawn = counts > 0
    op = vbdm.estimate_operator(points[drawn], "generator", weights=counts[drawn])
    assert op.settings.weighting.kind == "counts"
    np.testing.assert_allclose(op.spectrum(dim + 1).eigenvalues[1:], -1, rtol=0.1)


def test_multiplicities_of_equal_points_are_summed():
    """Copies that share a weight count as one point of that weight."""
    rng = np.random.default_rng(4208)
    points, weights = rng.standard_normal((600, 2)), rng.integers(2, 9, 600) * 1.0
    part = rng.random(600) < 0.5
    once = vbdm.estimate_operator(
        points, "generator", weights=weights, method=vbdm.Resolved(weights_as="counts")
    )
    rows = np.r_[points, points[part]]
    shared = np.r_[np.where(part, weights / 2, weights), weights[part] / 2]
    twice = vbdm.estimate_operator(
        rows, "generator", weights=shared, series=False, method=vbdm.Resolved(weights_as="counts")
    )
    np.testing.assert_allclose(
        once.equations.measure[part], 2 * twice.equations.measure[:600][part], rtol=0.2
    )
    np.testing.assert_allclose(
        once.spectrum(3).eigenvalues, twice.spectrum(3).eigenvalues, rtol=0.1
    )


def test_equal_multiplicities_change_nothing():
    points = gaussian(800, 2, 1.0, 4200)[0]
    plain = vbdm.estimate_operator(points, "generator").spectrum(4)
    nearly = 1 + 1e-13 * np.arange(800)
    counted = vbdm.estimate_operator(
        points, "generator", weights=nearly, method=vbdm.Resolved(weights_as="counts")
    )
    np.testing.assert_allclose(counted.spectrum(4).eigenvalues, plain.eigenvalues, atol=1e-9)
    np.testing.assert_allclose(
        counted.spectrum(4).standard_errors[1:], plain.standard_errors[1:], rtol=1e-6
    )


@pytest.mark.parametrize(("n", "dim"), [(500, 1), (500, 2), (500, 3), (3000, 1), (3000, 6)])
def test_functions_of_the_place_are_told_from_noise(n, dim):
    points, weights = gaussian(n, dim, 1.5, 4209)
    noise, graph = np.exp(np.random.default_rng(1).standard_normal(n)), vbdm.neighbors(points, 32)
    kinds = [Weights(w).settled(graph).kind for w in (weights, weights * noise, noise)]
    assert kinds == ["measure", "counts", "counts"]


def test_weights_of_several_series_are_a_list_of_arrays():
    points, weights = gaussian(600, 2, 1.5, 4210)
    whole = vbdm.estimate_operator(points, "generator", weights=weights, lengths=[200, 400])
    parts = vbdm.estimate_operator(
        [points[:200], points[200:]], "generator", weights=[weights[:200], weights[200:]]
    )
    np.testing.assert_array_equal(whole.inside.degrees, parts.inside.degrees)


@pytest.mark.parametrize("kind", ["measure", "counts"])
def test_weights_beside_distances_and_a_graph(kind):
    points, weights = gaussian(500, 2, 1.5, 4211)
    apart = np.linalg.norm(points[:, None] - points, axis=2)
    options = {"weights": weights, "weights_as": kind}
    by_points = estimate_with(points, "generator", **options).spectrum(3).eigenvalues
    for given in ({"X": apart, "metric": "precomputed"}, {"X": vbdm.neighbors(points, 200)}):
        op = estimate_with(operator="generator", **given, **options)
        np.testing.assert_allclose(op.spectrum(3).eigenvalues, by_points, rtol=0.02, atol=1e-9)


def test_few_effective_points_are_named():
    points = np.random.default_rng(4204).uniform(-1, 1, (2000, 2))
    with pytest.warns(vbdm.errors.WeightsWarning, match="worth .* of 2,000 points"):
        vbdm.estimate_operator(points, "generator", weights=np.exp(-60 * (points**2).sum(axis=1)))


@pytest.mark.slow
@pytest.mark.parametrize("heat", [4, 10])
def test_error_bars_over_a_barrier(heat):
    """Predicted over seen deviations of 24 samples, and how often intervals hold the truth."""
    found = [over_the_barrier(2000, heat, seed) for seed in range(4300, 4324)]
    seen = np.std([spectrum.eigenvalues[1:] for spectrum in found], axis=0, ddof=1)
    predicted = np.mean([spectrum.standard_errors[1:] for spectrum in found], axis=0)
    ratio = predicted / seen
    assert (ratio > 0.7).all()
    assert (ratio < 1.5).all()
    held = [low < BARRIER[0] < high for low, high in (part.intervals()[1] for part in found)]
    assert np.mean(held) > 0.85


@pytest.mark.slow
def test_error_bars_of_multiplicities():
    means, predicted = [], []
    for seed in range(4330, 4354):
        points, weights = gaussian(1500, 2, 1.5, seed)
        weights = weights * np.random.default_rng(seed + 1).exponential(size=1500)
        spectrum = vbdm.estimate_operator(points, "generator", weights=weights).spectrum(3)
        means.append(spectrum.eigenvalues[1:].mean())
        predicted.append(np.sqrt(spectrum.errors.covariance[1:, 1:].sum()) / 2)
    assert abs(np.mean(means) + 1) < 0.08
    assert 0.7 < np.mean(predicted) / np.std(means, ddof=1) < 1.5
