"""Total errors and intervals: what they consist of, and when they hold the truth."""

from dataclasses import fields, replace

import numpy as np
import pytest
from scipy.special import ndtri
from tests.support.findings import knowing, with_errors

import vbdm
from vbdm.trust.error_bars import (
    NOISE_DRIFT,
    NOISE_ERROR,
    TAIL_WEIGHT,
    ErrorParts,
    epsilon_weight,
)
from vbdm.trust.findings import (
    ADVICE,
    CAUSES,
    largest_part,
    main_sources,
    shares,
    source_in_words,
)

NAMES = [field.name for field in fields(ErrorParts)]


@pytest.fixture(scope="module")
def sphere():
    return vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points).spectrum(9)


@pytest.fixture(scope="module")
def pieces():
    points = [vbdm.datasets.circle(250, random_state=i).points + 30 * i for i in (0, 1)]
    return vbdm.estimate_operator(np.concatenate(points)).spectrum(6)


def test_the_sampling_part_is_each_eigenvalues_own_not_its_groups(sphere):
    own = np.sqrt(np.diag(sphere.errors.covariance))
    np.testing.assert_allclose(sphere.errors.parts.sampling[1:], own[1:])
    assert [4, 5, 6, 7, 8] in [group.tolist() for group in sphere.errors.groups]
    # Members of a group scatter more than their mean.
    assert (sphere.errors.parts.sampling[4:9] > 1.3 * sphere.standard_errors[4:9]).all()


def test_the_parts_add_in_squares(sphere):
    parts = with_errors(sphere, sampling=0.01, tail=0.02, epsilon=0.03, noise=0.04, boundary=0.05)
    rates = -sphere.eigenvalues
    np.testing.assert_allclose(parts.total_errors, np.sqrt(55) / 100 * rates)
    np.testing.assert_allclose(parts.errors.parts.systematic, np.sqrt(54) / 100 * rates)
    for name in NAMES:
        alone = with_errors(sphere, **{name: 0.1})
        np.testing.assert_allclose(alone.total_errors, 0.1 * rates)


@pytest.mark.parametrize("level", [0.5, 0.6827, 0.95, 0.99])
def test_the_level_is_that_of_a_normal_distribution(sphere, level):
    lower, upper = sphere.intervals(level).T
    half = ndtri((1 + level) / 2) * sphere.total_errors[1:]
    np.testing.assert_allclose(lower[1:], sphere.eigenvalues[1:] - half)
    np.testing.assert_allclose(upper[1:], sphere.eigenvalues[1:] + half)
    assert sphere.errors.interval_of_group([1, 2, 3], level) == pytest.approx(
        sphere.eigenvalues[1:4].mean()
        + ndtri((1 + level) / 2) * sphere.errors.total_of_group([1, 2, 3]) * np.array([-1, 1])
    )


def test_the_default_level_is_95_percent(sphere):
    np.testing.assert_array_equal(sphere.intervals(), sphere.intervals(0.95))
    assert sphere.errors.interval_of_group([1, 2, 3]) == sphere.errors.interval_of_group(
        [1, 2, 3], 0.95
    )
    width = np.diff(sphere.intervals()[1:], axis=1)[:, 0]
    np.testing.assert_allclose(width, 2 * 1.959964 * sphere.total_errors[1:], rtol=1e-6)


@pytest.mark.parametrize("level", [0, 1, -0.1, 95, "95%", None, np.nan])
def test_a_level_is_a_share(sphere, level):
    with pytest.raises(vbdm.InputError, match="level"):
        sphere.intervals(level)
    with pytest.raises(vbdm.InputError, match="level"):
        sphere.errors.interval_of_group([1, 2], level)


def test_a_fast_mode_is_no_better_than_a_slow_one_on_unresolved_points(sphere):
    """The share on unresolved points is a running maximum over the modes, zeros left out."""
    unresolved = np.abs(sphere.eigenfunctions[:, 2]) > 1.6
    held = replace(sphere, unresolved=unresolved)
    share = held.errors.unresolved_share
    assert share[2] > 10 * share[3:6].max()
    expected = TAIL_WEIGHT * np.maximum.accumulate([0, *share[1:]]) * -sphere.eigenvalues
    np.testing.assert_allclose(held.errors.parts.tail, expected)
    np.testing.assert_allclose(
        held.errors.parts.tail[3:6], TAIL_WEIGHT * share[2] * -sphere.eigenvalues[3:6]
    )
    assert not sphere.errors.parts.tail.any()


def test_epsilon_and_noise(sphere):
    np.testing.assert_allclose(
        sphere.errors.parts.epsilon,
        epsilon_weight(sphere.operator.dim) * np.abs(sphere.errors.bias),
    )
    assert not sphere.errors.parts.noise.any()
    for drift, share in ((1.01 * NOISE_DRIFT, NOISE_ERROR), (0.99 * NOISE_DRIFT, 0.0)):
        readings = 2.0 * np.array([1 + drift, 1.0])
        dimension = replace(sphere.operator.dimension, by_scale=readings)
        assert dimension.drift == pytest.approx(drift)
        noisy = replace(sphere, operator=replace(sphere.operator, dimension=dimension))
        np.testing.assert_allclose(noisy.errors.parts.noise, share * -sphere.eigenvalues)


def test_intervals_end_at_zero(sphere):
    """No operator here has a positive eigenvalue."""
    wide = with_errors(sphere, epsilon=2.0)
    lower, upper = wide.intervals().T
    assert (upper == 0).all()
    np.testing.assert_allclose(lower, sphere.eigenvalues * (1 + 2 * 1.959964), rtol=1e-6)
    assert wide.errors.interval_of_group([1, 2, 3])[1] == 0


def test_the_zeros_of_pieces_are_exact(pieces):
    assert (pieces.eigenvalues[:2] == 0).all()
    np.testing.assert_array_equal(pieces.total_errors[:2], 0)
    np.testing.assert_array_equal(pieces.intervals()[:2], 0)
    assert pieces.errors.interval_of_group([0, 1]) == (0.0, 0.0)
    assert pieces.errors.total_of_group([0, 1]) == 0
    assert not any(pieces.errors.parts_of_group([0, 1]).values())
    assert (pieces.total_errors[2:] > 0).all()


def test_a_groups_mean_has_its_own_sampling_error_and_the_mean_of_what_is_systematic(sphere):
    members = [4, 5, 6, 7, 8]
    sampling = np.sqrt(sphere.errors.covariance[np.ix_(members, members)].mean())
    systematic = sphere.errors.parts.systematic[members].mean()
    expected = np.hypot(sampling, systematic)
    assert sphere.errors.total_of_group(members) == pytest.approx(expected)
    group = sphere.errors.by_group[-1]
    assert list(group.members) == members
    assert group.total_error == pytest.approx(expected)
    assert (group.lower, group.upper) == sphere.errors.interval_of_group(members)
    assert group.error_parts["sampling"] == pytest.approx(sampling) == group.standard_error
    assert group.error_parts["epsilon"] == pytest.approx(sphere.errors.parts.epsilon[4])
    # What is systematic does not cancel in the mean, sampling does.
    assert group.total_error < sphere.total_errors[members].min()


def test_the_unsymmetric_forms_have_no_intervals():
    points = vbdm.datasets.circle(150, random_state=0).points
    left = vbdm.estimate_operator(points, method=vbdm.Paper(form="left")).spectrum(4)
    for ask in (
        lambda: left.total_errors,
        left.intervals,
        lambda: left.errors.interval_of_group([1, 2]),
    ):
        with pytest.raises(vbdm.InputError, match="Error bars need"):
            ask()
    for group in left.errors.by_group:
        assert np.isnan([group.total_error, group.lower, group.upper]).all()
        assert group.error_parts == {}


def test_an_eigenvalue_that_could_not_be_given_has_no_interval(sphere):
    values = sphere.eigenvalues.copy()
    values[8] = np.nan
    broken = replace(sphere, eigenvalues=values)
    knowing(broken, covariance=sphere.errors.covariance, bias=sphere.errors.bias)
    assert np.isnan(broken.total_errors[8])
    assert np.isnan(broken.intervals()[8]).all()
    assert np.isfinite(broken.intervals()[:8]).all()


def test_arrays_are_read_only(sphere):
    for array in (sphere.intervals(), sphere.errors.parts.sampling, sphere.errors.parts.tail):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("sample", "operator", "truth"),
    [
        (lambda seed: vbdm.datasets.sphere(700, random_state=seed), "laplacian", [-2, -6]),
        (lambda seed: vbdm.datasets.ou(700, dim=2, random_state=seed), "generator", [-1, -2]),
    ],
)
def test_intervals_hold_the_truth(sample, operator, truth):
    """First two groups, five samples each; bars of sampling alone miss several of them."""
    groups = ([1, 2, 3], [4, 5, 6, 7, 8]) if operator == "laplacian" else ([1, 2], [3, 4, 5])
    inside = []
    for seed in range(4100, 4105):
        found = vbdm.estimate_operator(sample(seed).points, operator).spectrum(9)
        for members, value in zip(groups, truth, strict=True):
            lower, upper = found.errors.interval_of_group(members)
            inside.append(lower < value < upper)
    assert sum(inside) >= 9


# --- what they come from, in words ---------------------------------------------------------------


def test_every_part_has_a_cause_and_advice():
    assert set(NAMES) == set(CAUSES) == set(ADVICE)


def test_parts_by_eigenvalue(sphere):
    parts = sphere.errors.parts.of(4)
    assert list(parts) == NAMES
    assert np.linalg.norm(list(parts.values())) == pytest.approx(sphere.total_errors[4])
    assert parts["sampling"] == sphere.errors.parts.sampling[4]


def test_shares_add_up_to_one():
    assert shares({"sampling": 1.0, "tail": 2.0, "epsilon": 2.0}) == pytest.approx(
        {"sampling": 1 / 9, "tail": 4 / 9, "epsilon": 4 / 9}
    )
    assert shares({"sampling": 0.0, "tail": 0.0}) == {"sampling": 0.0, "tail": 0.0}


def test_a_part_that_a_later_version_adds_goes_by_its_name():
    parts = {"sampling": 0.1, "weather": 0.3}
    assert largest_part(parts) == "weather"
    assert source_in_words(parts) == ("most of it from weather", "")
    assert main_sources([([1, 2], parts), ([3], {"sampling": 0.1})]) == (
        "weather (1 to 2), sampling (3)"
    )


def test_unknown_errors_have_no_source():
    assert source_in_words({"sampling": np.nan, "tail": 0.1}) == ("", "")
    assert source_in_words({"sampling": 0.0, "tail": 0.0}) == ("", "")
    assert main_sources([([0], {"sampling": 0.0})]) == ""


def test_the_tail_counts_for_slow_modes_as_for_fast_ones():
    """In another unit of length all rates are others; shares on unresolved points are not."""
    points = vbdm.datasets.ou(1500, dim=2, random_state=3).points
    parts = []
    for unit in (1.0, 8.0):
        spectrum = vbdm.estimate_operator(points * unit, "generator").spectrum(6)
        parts.append(unit**2 * spectrum.errors.parts.tail)
    assert parts[0][1:].all()
    np.testing.assert_allclose(parts[1], parts[0], rtol=1e-3)
