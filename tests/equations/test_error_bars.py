"""Standard errors of fluxes, rates, times and sums against their spread over independent data."""

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm

pytestmark = pytest.mark.truth
D = vbdm.datasets


def on_a_line(op, x):
    """Return estimates of a double well: flux, rates, a time, means and sums."""
    committor, screened = op.committor(x <= -1, x >= 1), op.solve(x, screen=1.0)
    return [
        committor.flux, committor.rate, committor.rate_back,
        op.mean_first_passage(x >= 1).mean(over=x <= -1),
        screened.mean(over=x > 0),
        screened.functional(np.sin(x) / len(x), sampled=True),
        op.solve(x).functional(x / len(x), sampled=True),
    ]  # fmt: skip


def double_well(n, seed):
    X = D.double_well(n, random_state=seed).points
    return on_a_line(vbdm.estimate_operator(X, "generator"), X[:, 0])


def steps_in_time(n, seed):
    X = D.double_well_series(n, step=0.1, random_state=seed).points
    return on_a_line(vbdm.estimate_operator(X, "generator"), X[:, 0])


def given_places(n, seed):
    X = np.concatenate([[[-0.3], [0.1], [0.6]], D.double_well(n, random_state=seed).points])
    x, op = X[:, 0], vbdm.estimate_operator(X, "generator")
    found = op.committor(x <= -1, x >= 1), op.mean_first_passage(x >= 1), op.solve(x, screen=1.0)
    return [one.functional(np.arange(len(x)) == place) for one in found for place in range(3)]


def biased(n, seed):
    x = np.random.default_rng(seed).uniform(-1.6, 1.6, n)
    weights = np.exp(-8 * (x**2 - 1) ** 2)
    op = vbdm.estimate_operator(x[:, None], "generator", weights=weights)
    found = op.committor(x <= -1, x >= 1)
    return [found.flux, found.rate, op.mean_first_passage(x >= 1).mean(over=x <= -1)]


def plane(n, seed):
    X = np.random.default_rng(seed).standard_normal((n, 2))
    x, r = X[:, 0], np.hypot(*X.T)
    op = vbdm.estimate_operator(X, "generator")
    found = op.committor(r < 0.5, r > 2)
    return [
        found.flux, found.rate, found.rate_back,
        op.mean_first_passage(r < 0.5).mean(over=r > 1.5),
        op.equations.exit_time(r < 2).mean(over=r < 1),
        op.solve(x, screen=1.0).functional(x / n, sampled=True),
    ]  # fmt: skip


def sphere(n, seed):
    X = D.sphere(n, random_state=seed).points
    angle = np.arccos(X[:, 2])
    op = vbdm.estimate_operator(X)
    found = op.committor(angle < 0.7, angle > 2.2)
    exits = op.equations.exit_time(angle < 1.0)
    return [found.flux, found.rate, exits.mean(over=angle < 0.5), exits.mean(over=angle < 1.0)]


def under_another_measure(n, seed):
    """Means under a measure that responds to the sample: of a potential, and of c1 = 2."""
    x = D.double_well(n, beta_sampling=0.5, random_state=seed).points[:, 0]
    well = (x**2 - 1) ** 2
    found = [
        estimate_with(x[:, None], **named).solve(np.tanh(2 * x), screen=0.5)
        for named in ({"potential": 2 * well}, {"operator": 2.0, "weights": np.exp(-well)})
    ]
    return [one.mean(over) for one in found for over in (None, x < 0.5)]


CASES = [double_well, steps_in_time, given_places, biased, plane, sphere]


def ratios(case, n_points, seeds):
    found = np.array([case(n_points, seed) for seed in seeds])
    # Some samples have far points, whose errors are large, and are told to be: the median.
    return np.median(found[..., 1], axis=0) / np.std(found[..., 0], axis=0, ddof=1)


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_errors_against_the_spread_over_forty_sets(case):
    """Forty sets leave 11 % on each observed spread."""
    ratio = ratios(case, 2000, range(7000, 7040))
    assert 0.75 <= np.median(ratio) <= 1.35
    assert ratio.min() >= 0.6
    assert ratio.max() <= 1.7


@pytest.mark.parametrize("case", [double_well, steps_in_time])
def test_errors_against_the_spread_over_a_few_sets(case):
    """Twelve sets leave 21 % on each observed spread; two of these on top of the bounds."""
    ratio = ratios(case, 500, range(7100, 7112))
    assert 0.75 * 0.7 <= np.median(ratio) <= 1.35 * 1.4
    assert ratio.min() >= 0.4
    assert ratio.max() <= 2.7


def test_errors_of_means_under_a_measure_that_responds():
    """With a potential, what a point adds is nearly what its neighbours lose: noise remains."""
    of_potential, of_weights = ratios(under_another_measure, 500, range(7100, 7112)).reshape(2, 2)
    assert of_potential.max() <= 3
    assert of_potential.min() >= 0.6
    assert of_weights.max() <= 1.35 * 1.4
    assert of_weights.min() >= 0.8
