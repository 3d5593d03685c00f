"""Weighted members: every answer against brute force, a closed form, or NumPy."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from vbdm.forecast.ensemble import Ensemble
from vbdm.forecast.predictor import draw_rows, normalize_rows

RNG = np.random.default_rng(0)
COLUMN = RNG.standard_normal(40).round(1)  # with ties
WEIGHTS = RNG.random((6, 40)) * (RNG.random((6, 40)) < 0.4)
WEIGHTS[2] = 0  # a start without members
WEIGHTS /= np.maximum(WEIGHTS.sum(axis=1, keepdims=True), 1e-300)
SOME = Ensemble.of(csr_array(WEIGHTS), COLUMN)
FULL = [0, 1, 3, 4, 5]


def plain(values):
    """Return an ensemble of one start with equal weights."""
    return Ensemble.of(csr_array(np.full((1, len(values)), 1 / len(values))), np.asarray(values))


def test_moments_are_weighted_sums():
    mean = WEIGHTS[FULL] @ COLUMN
    np.testing.assert_allclose(SOME.mean[FULL], mean, rtol=1e-13)
    np.testing.assert_allclose(SOME.variance[FULL], WEIGHTS[FULL] @ COLUMN**2 - mean**2, rtol=1e-12)
    np.testing.assert_allclose(SOME.effective[FULL], 1 / (WEIGHTS[FULL] ** 2).sum(axis=1))
    np.testing.assert_allclose(SOME.expectation(SOME.values**3)[FULL], WEIGHTS[FULL] @ COLUMN**3)


def test_members_are_in_order_and_know_their_rows():
    for i in range(SOME.n_starts):
        own = slice(SOME.pointer[i], SOME.pointer[i + 1])
        assert (np.diff(SOME.values[own]) >= 0).all()
        assert set(SOME.rows[own]) == set(np.flatnonzero(WEIGHTS[i]))
        np.testing.assert_array_equal(COLUMN[SOME.rows[own]], SOME.values[own])
        np.testing.assert_allclose(WEIGHTS[i, SOME.rows[own]], SOME.weights[own])


def test_a_start_without_members_has_no_answers():
    assert SOME.empty.tolist() == [False, False, True, False, False, False]
    y = np.zeros((6, 1))
    for answer in (
        SOME.mean, SOME.variance, SOME.effective, SOME.crps(y[:, 0]), SOME.quantile([0.5]),
        SOME.probability_below(y[:, 0]), SOME.density(y),
        SOME.spread(2.0).mean, SOME.matched(y[:, 0], y[:, 0] + 1).mean,
    ):  # fmt: skip
        assert np.isnan(answer[2]).all()
        assert np.isfinite(answer[FULL]).all()


def test_no_members_at_all():
    none = Ensemble.of(csr_array((3, 5)), np.arange(5.0))
    assert np.isnan(none.mean).all()
    assert np.isnan(none.quantile(np.array([0.1, 0.9]))).all()
    assert none.quantile(np.array([0.1, 0.9])).shape == (3, 2)
    assert np.isnan(none.density(np.zeros((3, 2)))).all()


def test_unknown_values_are_left_out_and_the_others_count_for_more():
    column = COLUMN.copy()
    column[::3] = np.nan
    known = np.isfinite(column)
    found = Ensemble.of(csr_array(WEIGHTS), column)
    share = WEIGHTS[:, known] / np.maximum(WEIGHTS[:, known].sum(axis=1, keepdims=True), 1e-300)
    np.testing.assert_allclose(found.mean[FULL], (share @ column[known])[FULL])
    assert np.isfinite(found.values).all()
    sums = np.bincount(found.start, found.weights, minlength=6)
    np.testing.assert_allclose(sums[FULL], 1)


def test_quantiles_of_equal_weights_are_those_of_hazen():
    values = RNG.standard_normal(31)
    p = np.linspace(0, 1, 41)
    np.testing.assert_allclose(
        plain(values).quantile(p)[0], np.quantile(values, p, method="hazen"), atol=1e-9
    )


def test_weights_are_numbers_of_copies_in_the_limit():
    """A member of twice the weight is two members, to moments, CRPS and F."""
    twice = Ensemble.of(csr_array([[0.5, 0.25, 0.25]]), np.array([1.0, 2.0, 4.0]))
    four = plain([1.0, 1.0, 2.0, 4.0])
    for y in (-1.0, 1.0, 1.7, 5.0):
        at = np.array([y])
        assert twice.crps(at) == pytest.approx(four.crps(at))
        assert twice.probability_below(at) == pytest.approx(four.probability_below(at))
    assert twice.variance == pytest.approx(four.variance)


def test_quantiles_ascend_and_stay_inside():
    table = SOME.quantile(np.linspace(0, 1, 21))
    assert (np.diff(table[FULL], axis=1) >= 0).all()
    for i in FULL:
        own = SOME.values[SOME.pointer[i] : SOME.pointer[i + 1]]
        assert table[i, 0] == own[0]
        assert table[i, -1] == own[-1]


@pytest.mark.parametrize("y", [-9.0, -0.3, 0.1, 9.0])
def test_crps_is_the_integral_of_the_squared_difference(y):
    edges = np.union1d(np.append(COLUMN, y), [-10.0, 10.0])
    middle, length = (edges[1:] + edges[:-1]) / 2, np.diff(edges)
    for i in FULL:
        F = np.array([WEIGHTS[i, x >= COLUMN].sum() for x in middle])
        wanted = ((F - (middle >= y)) ** 2 * length).sum()
        found = SOME.crps(np.full(6, y))[i]
        assert found == pytest.approx(wanted, rel=1e-10)


def test_crps_of_many_normal_members_is_the_closed_form():
    from scipy.special import ndtri

    members = plain(ndtri((np.arange(4000) + 0.5) / 4000))
    # 2 φ(0) - 1/√π, Gneiting and Raftery (2007).
    assert members.crps(np.array([0.0]))[0] == pytest.approx(0.2336949, abs=1e-5)
    assert members.crps(np.array([np.nan]))[0] != members.crps(np.array([np.nan]))[0]


def test_probability_below_counts_half_of_ties():
    members = plain([1.0, 2.0, 2.0, 3.0])
    for y, wanted in ((0.0, 0.0), (1.0, 0.125), (1.5, 0.25), (2.0, 0.5), (3.0, 0.875), (4.0, 1.0)):
        assert members.probability_below(np.array([y]))[0] == pytest.approx(wanted)
    assert np.isnan(members.probability_below(np.array([np.nan]))[0])


def test_densities_are_never_negative_and_integrate_to_one():
    places = np.broadcast_to(np.linspace(-12, 12, 4001), (6, 4001))
    found = SOME.density(places)
    assert (found[FULL] >= 0).all()
    np.testing.assert_allclose(found[FULL].sum(axis=1) * 24 / 4000, 1, rtol=1e-6)
    mean = (found * places).sum(axis=1) * 24 / 4000
    np.testing.assert_allclose(mean[FULL], SOME.mean[FULL], atol=1e-6)


def test_rows_are_drawn_as_often_as_their_weights():
    n = 20000
    level = np.random.default_rng(1).random((len(WEIGHTS), n))
    known = np.isfinite(COLUMN)
    rows = draw_rows(csr_array(WEIGHTS), known, level)
    assert (rows[2] == -1).all()
    for i in FULL:
        for row in range(len(COLUMN)):
            p = WEIGHTS[i, row] * known[row] / WEIGHTS[i, known].sum()
            assert abs((rows[i] == row).mean() - p) <= 5 * np.sqrt(p * (1 - p) / n)


def test_spread_keeps_the_mean_and_multiplies_deviations():
    factor = np.linspace(0.5, 2, 6)
    found = SOME.spread(factor)
    np.testing.assert_allclose(found.mean[FULL], SOME.mean[FULL], atol=1e-13)
    np.testing.assert_allclose(found.variance[FULL], (factor**2 * SOME.variance)[FULL])
    np.testing.assert_allclose(SOME.spread(3.0).variance[FULL], 9 * SOME.variance[FULL])


def test_matched_members_have_the_moments_that_are_asked_for():
    mean, variance = np.arange(6.0), np.linspace(0.5, 2, 6)
    found = SOME.matched(mean, variance)
    np.testing.assert_allclose(found.mean[FULL], mean[FULL], atol=1e-12)
    np.testing.assert_allclose(found.variance[FULL], variance[FULL])


@pytest.mark.parametrize("bad", [-1.0, 0.0, 1e-6])
def test_a_variance_that_is_none_is_not_believed(bad):
    found = SOME.matched(SOME.mean, np.full(6, bad))
    np.testing.assert_allclose(found.variance[FULL], SOME.variance[FULL])


def test_joined_ensembles_are_those_of_all_starts():
    parts = [Ensemble.of(csr_array(WEIGHTS[rows]), COLUMN) for rows in ([0, 1], [2], [3, 4, 5])]
    found = Ensemble.joined(parts)
    np.testing.assert_array_equal(found.pointer, SOME.pointer)
    np.testing.assert_array_equal(found.values, SOME.values)
    np.testing.assert_array_equal(found.rows, SOME.rows)
    np.testing.assert_allclose(found.quantile([0.3]), SOME.quantile([0.3]))


def test_drawn_rows_follow_the_weights_and_leave_out_what_is_not_known():
    n, known = 20000, np.arange(40) % 4 > 0
    level = np.broadcast_to(np.random.default_rng(2).random(n), (6, n))
    rows = draw_rows(csr_array(WEIGHTS), known, level)
    assert (rows[2] == -1).all()
    for i in FULL:
        share = WEIGHTS[i] * known / (WEIGHTS[i] * known).sum()
        count = np.bincount(rows[i], minlength=40) / n
        assert (np.abs(count - share) <= 5 * np.sqrt(share * (1 - share) / n)).all()


def test_where_nothing_is_known_no_row_is_drawn():
    level = np.full((6, 3), 0.5)
    assert (draw_rows(csr_array(WEIGHTS), np.zeros(40, dtype=bool), level) == -1).all()
    assert (draw_rows(csr_array((6, 40)), np.ones(40, dtype=bool), level) == -1).all()


def test_normalised_rows_have_the_sum_one_or_none():
    found = normalize_rows(csr_array(WEIGHTS * np.arange(1, 7)[:, None]))
    np.testing.assert_allclose(found.sum(axis=1), [1, 1, 0, 1, 1, 1])
