"""Errors of eigenfunctions against analytic truth, in one, two and three dimensions."""

from functools import cache

import numpy as np
import pytest

import vbdm

pytestmark = pytest.mark.truth
D = vbdm.datasets


def box(n, seed, sides):
    """Return a uniform box; its truth is a product of cosines."""
    from vbdm.datasets._flat import _box_sample

    x = np.random.default_rng(seed).random((n, len(sides))) * sides
    return _box_sample("box", x, x, sides)


#: Data set, c1, and the modes to look at, by name.
CASES = {
    "Gaussian, d = 1": (lambda n, s: D.ou(n, random_state=s), 1, (1, 2)),
    "two wells, d = 1": (lambda n, s: D.double_well(n, random_state=s), 1, (1, 2, 3)),
    "Gaussian, d = 2": (lambda n, s: D.ou(n, dim=2, covariance=[1, 0.4], random_state=s), 1, (1,)),
    "box, d = 2": (lambda n, s: box(n, s, (1.0, 0.62)), 0, (1, 2, 5)),
    "Gaussian, d = 3": (
        lambda n, s: D.ou(n, dim=3, covariance=[1, 0.45, 0.3], random_state=s), 1, (1,),
    ),
    "box, d = 3": (lambda n, s: box(n, s, (1.0, 0.7, 0.45)), 0, (1, 2)),
}  # fmt: skip
#: Degenerate groups.
SPANS = {
    "circle": (
        lambda n, s: D.circle(n, density="exponential", sampling="random", random_state=s),
        1, [[1, 2], [3, 4]],
    ),
    "sphere": (lambda n, s: D.sphere(n, random_state=s), 0, [[1, 2, 3], [4, 5, 6, 7, 8]]),
    "sphere in R⁴": (lambda n, s: D.sphere(n, dim=3, random_state=s), 0, [[1, 2, 3, 4]]),
}  # fmt: skip


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def estimated(make, c1, seed, n_points, n):
    """Return a spectrum and the true eigenfunctions at its points, of mean square 1."""
    sample = make(n_points, seed)
    truth = sample.truth(n, c1).eigenfunctions(sample.parameters)
    spectrum = vbdm.estimate_operator(sample.points, c1).spectrum(n)
    return spectrum, truth / np.sqrt(np.mean(truth**2, axis=0))


@cache
def measured(case, first_seed=4050, n_sets=4):
    """Return three arrays, (sets, modes), NaN for modes that are not isolated.

    They are the true error, the predicted one, and the share of points in the band of ± 2.
    """
    make, c1, modes = CASES[case]
    result = np.full((3, n_sets, len(modes)), np.nan)
    for row in range(n_sets):
        spectrum, truth = estimated(make, c1, first_seed + row, 1000, 10)
        for column, j in enumerate(modes):
            u, v = spectrum.eigenfunctions[:, j], truth[:, j]
            gap = u - np.sign(u @ v) * v
            if np.isfinite(predicted := spectrum.errors.functions[j]):
                inside = np.mean(np.abs(gap) <= 2 * spectrum.errors.pointwise(j))
                result[:, row, column] = rms(gap), predicted, inside
    return result


@pytest.mark.parametrize("case", CASES)
def test_errors_have_the_right_size(case):
    found, predicted, _ = measured(case)
    known = np.isfinite(predicted)
    assert known[:, 0].all()
    assert known.mean() > 0.6
    assert 0.6 < rms(found[known]) / rms(predicted[known]) < 1.6
    assert np.nanmax(found / predicted) < 2.5


@pytest.mark.parametrize("case", CASES)
def test_bands_hold_the_truth(case):
    """About nine in ten points lie within two standard deviations."""
    shares = measured(case)[2]
    assert np.nanmean(shares) > 0.85
    assert np.nanmin(shares) > 0.4


@pytest.mark.slow
def test_errors_are_right_on_average():
    """Forty sets of each: a factor of 1.2 would show."""
    ratios = {}
    for case in CASES:
        found, predicted, _ = measured(case, 4000, 40)
        known = np.isfinite(predicted)
        ratios[case] = rms(found[known]) / rms(predicted[known])
    assert np.exp(np.mean(np.log(list(ratios.values())))) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("case", SPANS)
def test_spans_of_equal_eigenvalues(case):
    make, c1, groups = SPANS[case]
    found, predicted = [], []
    for seed in range(4050, 4052):
        spectrum, truth = estimated(make, c1, seed, 1500, 17)
        u = spectrum.eigenfunctions
        assert np.isnan(spectrum.errors.functions[groups[0]]).all()
        found.append([rms(truth[:, g] - vbdm.align(u[:, g], truth[:, g])) for g in groups])
        predicted.append([spectrum.errors.function_of_group(g) for g in groups])
    ratio = np.sqrt(np.mean(np.square(found), axis=0) / np.mean(np.square(predicted), axis=0))
    assert ratio.min() > 0.6
    assert ratio.max() < 1.6
