"""The experiment on c2: the sums are those of the method, the samples those of the density."""

import numpy as np
import pytest

import vbdm
from paper import c2_exponent, local_sums
from paper.local_sums import ALPHAS, Setup, apply_at_first, draw_around
from vbdm import theory


@pytest.mark.parametrize(("dim", "beta"), [(1, -0.5), (2, 0.0), (3, -1 / 3)])
def test_sums_are_those_of_the_method(dim, beta):
    rng = np.random.default_rng(0)
    places = rng.standard_normal((60, dim))
    density = np.exp(-places[:, 0])
    found = apply_at_first(places, density, beta, 0.1)[0]
    for alpha, value in zip(ALPHAS, found, strict=True):
        op = vbdm.estimate_operator(
            places,
            bandwidth=density**beta,
            dim=dim,
            epsilon=0.1,
            method=vbdm.Paper(alpha=alpha, n_neighbors=60),
        )
        assert value == pytest.approx((op @ places[:, 0])[0], rel=1e-9)


def test_true_density_replaces_the_normaliser():
    """Where the density is 1 everywhere, α has no effect if q is known, and one if it is not."""
    places = np.random.default_rng(1).standard_normal((40, 2))
    estimated, known = apply_at_first(places, np.ones(40), -0.5, 0.1)
    assert np.ptp(known) < 1e-12
    assert np.ptp(estimated) > 1e-3
    assert estimated[ALPHAS == 0] == pytest.approx(known[0])


def test_samples_have_the_density():
    """Mean count and mean slope of a thousand draws, against e^{-y} in the ball."""
    setup = Setup.of(2, -0.5)
    rng = np.random.default_rng(2)
    draws = [draw_around(setup, 0.1, rng)[1:] for _ in range(300)]
    radius = local_sums.REACH * np.sqrt(setup.epsilon) * 0.1**-0.5
    expected = setup.n_samples * 0.1 * np.pi * radius**2
    counts = np.array([len(draw) for draw in draws])
    # Poisson: five standard errors of the mean.
    assert counts.mean() == pytest.approx(expected, abs=5 * np.sqrt(expected / 300))
    assert counts.var() == pytest.approx(expected, rel=0.4)
    places = np.vstack(draws)
    assert np.linalg.norm(places, axis=1).max() <= radius
    # Σ over the ball of y_1 against -r²/4, the mean of y_1 under 1 - y_1.
    error = radius / 2 / np.sqrt(len(places))
    assert places[:, 0].mean() == pytest.approx(-(radius**2) / 4, abs=5 * error)


def test_kernel_holds_enough_points_everywhere():
    for setup in local_sums.setups():
        sums = [setup.kernel_sum(q) for q in setup.densities]
        assert min(sums) == pytest.approx(local_sums.FEWEST)
        assert np.ptp(np.log10(setup.densities)) >= 0.99


@pytest.fixture(scope="module")
def numbers():
    """Made-up deviations that follow the derived formula exactly."""
    cases = list(local_sums.setups())
    densities = np.array([setup.densities for setup in cases])
    derived, printed = (
        np.array([[theory.c2(a, s.beta, s.dim, derived=d) for a in ALPHAS] for s in cases])
        for d in (True, False)
    )
    deviations = densities[:, None, None, :] ** -derived[:, None, :, None] * np.ones((1, 2, 1, 1))
    measured, errors = c2_exponent.fitted(densities, deviations, 100)
    return {
        "dims": np.array([s.dim for s in cases]), "betas": np.array([s.beta for s in cases]),
        "alphas": ALPHAS, "densities": densities, "deviations": deviations, "measured": measured,
        "errors": errors, "printed": printed, "derived": derived,
        "predicted_ratio": np.ones((len(cases), len(ALPHAS))),
    }  # fmt: skip


def test_fit_recovers_the_exponent(numbers):
    assert np.allclose(numbers["measured"], numbers["derived"][:, None])
    assert len(c2_exponent.draw(numbers).axes) == 4


def test_verdicts_follow_the_numbers(numbers):
    formula, fixed, variable, normaliser = c2_exponent.claims(numbers)
    assert formula.verdict == "not reproduced"
    assert (fixed.verdict, variable.verdict) == ("reproduced", "reproduced")
    assert normaliser.verdict == "not reproduced"
    as_printed = numbers | {"measured": np.repeat(numbers["printed"][:, None], 2, axis=1)}
    assert c2_exponent.claims(as_printed)[0].verdict == "reproduced"
    swamped = np.asarray(numbers["deviations"]).copy()
    swamped[:, 0] *= 100
    assert c2_exponent.claims(numbers | {"deviations": swamped})[3].verdict == "reproduced"


def exponents(numbers, size):
    """Return exponents so many standard errors above 0."""
    return numbers | {"measured": size * numbers["errors"]}


def ratios(numbers, size):
    swamped = np.asarray(numbers["deviations"]).copy()
    swamped[:, 0] *= size
    return numbers | {"deviations": swamped}


def away(numbers, formula, size):
    """Return exponents so many standard errors away from a formula, beyond what is allowed."""
    middle = np.repeat(numbers[formula][:, None], 2, axis=1)
    return numbers | {"measured": middle + size * numbers["errors"] + c2_exponent.SLACK}


@pytest.mark.parametrize(
    ("claim", "change", "yes", "no"),
    [
        (0, lambda numbers, size: away(numbers, "printed", size), 2.9, 3.1),
        (1, exponents, 3.1, 2.9),
        (2, exponents, -3.1, -2.9),
        (3, ratios, 10.1, 9.9),
    ],
)
def test_numbers_decide_every_claim(numbers, claim, change, yes, no):
    assert c2_exponent.claims(change(numbers, yes))[claim].verdict == "reproduced"
    assert c2_exponent.claims(change(numbers, no))[claim].verdict == "not reproduced"
    assert len(c2_exponent.claims(numbers)) == 4


@pytest.mark.parametrize("formula", ["printed", "derived"])
def test_agreement_ends_at_three_standard_errors(numbers, formula):
    assert c2_exponent.agrees(away(numbers, formula, 2.9), formula).all()
    assert not c2_exponent.agrees(away(numbers, formula, 3.1), formula).any()


def test_measurement_decides():
    """One case where the formulas differ by 2: d = 3, α = 1/2 against α = 0, few samples."""
    setup = Setup.of(3, -1 / 3)
    ends = [0, -1]
    spread = np.array(
        [
            local_sums.repeated(setup, float(setup.densities[i]), 12, [7, abs(i)]).std(axis=0)
            for i in ends
        ]
    )
    decades = np.log(setup.densities[ends[0]] / setup.densities[ends[1]])
    found = np.log(spread[1] / spread[0]) / decades
    wanted = theory.c2(0.5, -1 / 3, 3, derived=True)
    # Twelve samples: each deviation to a fifth, so the slope over three decades to 0.05.
    assert np.allclose(found, wanted, atol=0.2)
