"""Error bars of time series: the lagged sums, their limits, and what a spectrum makes of them."""

import numpy as np
import pytest
from scipy.signal import lfilter
from tests.support.estimates import estimate_with
from tests.support.findings import found_in

import vbdm
from vbdm.trust.influences import influences, less_noise, pair_noise
from vbdm.trust.series import (
    autocorrelation_time,
    block_sums,
    by_rows,
    in_series,
    lagged_sums,
    series_covariance,
    variance_by_lags,
)


def walk(n, memory, dim=1, seed=0):
    """Steps of a process at equilibrium, of variance 1, whose memory of the last step is this."""
    noise = np.random.default_rng(seed).standard_normal((n, dim))
    noise[1:] *= np.sqrt(1 - memory**2)
    return lfilter([1], [1, -memory], noise, axis=0)


def test_no_lagged_sum_reaches_into_another_series():
    values = np.random.default_rng(0).standard_normal(60)
    for lengths in ([60], [20, 40], [1, 30, 29], [3] * 20, [7, 7, 7, 39]):
        parts = np.split(values, np.cumsum(lengths)[:-1])
        expected = [
            sum(part[k:] @ part[: len(part) - k] for part in parts if k < len(part))
            for k in range(max(lengths))
        ]
        np.testing.assert_allclose(lagged_sums(values, lengths), expected, atol=1e-12)


def test_memory_is_that_inside_the_series():
    """Two series, each of one value: the jump between them is none of their steps."""
    steps = np.repeat(np.random.default_rng(0).standard_normal(400), 5)
    assert autocorrelation_time(steps, [5] * 400) == pytest.approx(5, rel=0.02)
    assert autocorrelation_time(steps, [1] * 2000) == 1


@pytest.mark.parametrize(("n", "memory"), [(5000, 0.8), (1000, 0.9), (5000, 0.95)])
def test_the_variance_of_a_sum_of_steps(n, memory):
    """The truth is N (1 + a)/(1 - a), less what is missing at the ends."""
    truth = (n * (1 + memory) - 2 * memory * (1 - memory**n) / (1 - memory)) / (1 - memory)
    ratios = []
    for seed in range(4000, 4100):
        values = walk(n, memory, seed=seed)[:, 0]
        ratios.append(variance_by_lags(values - values.mean(), [n]) / truth)
    # Single series are known to 16 %, 39 % and 32 %; their mean to a tenth of that.
    assert np.mean(ratios) == pytest.approx(1, abs=0.08)


def test_series_that_are_all_alike_are_so_many_points():
    """Each series repeats one number: the variance is that of as many independent sums."""
    numbers = np.random.default_rng(1).standard_normal(12)
    rows = np.repeat(numbers, 30)
    assert variance_by_lags(rows, [30] * 12) == pytest.approx(((30 * numbers) ** 2).sum())
    # With 31 rows the last distance has no partner.
    rows = np.repeat(numbers, 31)
    assert variance_by_lags(rows, [31] * 12) == pytest.approx(((31 * numbers) ** 2).sum())


def test_lags_end_where_pairs_of_them_are_positive_no_more():
    values = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
    # Γ = 6, 3, 0, -3, -2, -1: the pairs are 9, -3, -3.
    assert variance_by_lags(values, [6]) == pytest.approx(2 * 9 - 6)
    # Γ = 18, -9, 2, 8, -6, 4: the pairs are 9, 10, -2, and the second may not exceed the first.
    values = np.array([2.0, -1.0, 1.0, 2.0, -2.0, 2.0])
    assert variance_by_lags(values, [6]) == pytest.approx(2 * (9 + 9) - 18)


def test_rounding_errors_alone_have_blocks_as_independent_rows_have():
    """No column sets the length of blocks: there is a finite covariance all the same."""
    rows = 1e-17 * np.random.default_rng(0).standard_normal((400, 2))
    rows -= rows.mean(axis=0)
    covariance, _ = series_covariance(rows, [400], varying=np.zeros(2, bool))
    alike, _ = series_covariance(rows, [400], varying=np.ones(2, bool))
    np.testing.assert_allclose(covariance, alike, rtol=0.5, atol=1e-33)
    assert (np.diag(covariance) > 0).all()


def test_steps_that_go_back_and_forth_are_not_worth_more_than_independent_ones():
    values = walk(2000, -0.6)[:, 0]
    values -= values.mean()
    assert variance_by_lags(values, [2000]) == pytest.approx(values @ values)


def test_block_sums_are_lagged_sums_with_falling_weights():
    rows = np.random.default_rng(2).standard_normal((50, 2))
    lengths, block = [30, 20], 4
    expected = np.zeros((2, 2))
    for part in (rows[:30], rows[30:]):
        for k in range(-block + 1, block):
            product = part[abs(k) :].T @ part[: len(part) - abs(k)]
            expected += (1 - abs(k) / block) * (product if k >= 0 else product.T)
    np.testing.assert_allclose(block_sums(rows, lengths, block), expected)


def test_the_covariance_of_series():
    """Slow parts move together, fast ones do not: in the long run only the slow ones count."""
    found = []
    for seed in range(4000, 4010):
        slow, fast = walk(6000, 0.9, seed=seed), walk(6000, 0.0, dim=2, seed=seed + 100)
        rows = slow * [1.0, -2.0] + fast
        covariance, times = series_covariance(rows - rows.mean(axis=0), [2000, 4000])
        assert np.linalg.eigvalsh(covariance).min() >= 0
        alone = (rows - rows.mean(axis=0)) ** 2
        np.testing.assert_allclose(np.diag(covariance), times * alone.sum(axis=0))
        found.append(covariance / 6000)
    # Of a sum over N steps, N times the sum of all correlations: 19 times 1, 4 and -2.
    expected = np.array([[19 + 1, -38], [-38, 76 + 1]])
    np.testing.assert_allclose(np.mean(found, axis=0), expected, rtol=0.12)


def test_the_order_of_the_series_does_not_matter():
    rows = walk(300, 0.7, dim=2)
    rows -= rows.mean(axis=0)
    first, times = series_covariance(rows, [100, 200])
    second, _ = series_covariance(np.roll(rows, 200, axis=0), [200, 100])
    np.testing.assert_allclose(first, second)
    # As one series, it is another one.
    assert not np.allclose(times, series_covariance(rows, [300])[1])


def test_copies_share_the_influence_of_their_point():
    points = walk(300, 0.8, dim=2)
    op = vbdm.estimate_operator(np.repeat(points, 3, axis=0), "generator", series=True)
    spectrum = op.spectrum(4)
    found = influences(spectrum)
    rows = by_rows(found, op.graph.order)
    assert rows.shape == (900, 4)
    np.testing.assert_allclose(rows.sum(axis=0), found.sum(axis=0), atol=1e-12)
    np.testing.assert_allclose(3 * rows[::3], op.graph.order.to_caller(found)[::3])


@pytest.mark.slow
def test_bars_of_independent_points_stay_as_they_are():
    for seed in range(4000, 4004):
        points = np.random.default_rng(seed).standard_normal((1000, 2))
        spectrum = vbdm.estimate_operator(points, "generator").spectrum(5)
        found = influences(spectrum)
        alone = less_noise(found.T @ found, pair_noise(spectrum))
        np.testing.assert_array_equal(spectrum.errors.covariance, alone)
        assert (spectrum.errors.effective_points == 1000).all()
        told = vbdm.estimate_operator(points, "generator", series=True).spectrum(5)
        ratio = np.diag(told.errors.covariance)[1:] / np.diag(spectrum.errors.covariance)[1:]
        assert (ratio > 0.999).all()
        assert (ratio < 1.4).all()


@pytest.mark.slow
def test_bars_of_a_series_are_its_spread():
    """Ten series leave 22 % on the spread; bars of independent rows are three times too small.

    The two first modes of the plane are one group, and its mean is the right unit.
    """
    values, bars, alone = [], [], []
    for seed in range(4000, 4010):
        points = walk(1000, np.exp(-0.1), dim=2, seed=seed)
        spectrum = vbdm.estimate_operator(points, "generator").spectrum(4)
        values.append(spectrum.eigenvalues[1:3].mean())
        bars.append(spectrum.errors.of_group([1, 2]))
        found = influences(spectrum)[:, 1:3].mean(axis=1)
        alone.append(np.sqrt(found @ found))
        assert (spectrum.errors.effective_points[1:3] < 0.5 * 1000).all()
        variance = np.diag(spectrum.errors.covariance) * spectrum.errors.effective_points / 1000
        np.testing.assert_allclose(variance[1:], (influences(spectrum)[:, 1:] ** 2).sum(axis=0))
    seen = np.std(values, ddof=1)
    assert 0.65 < np.mean(bars) / seen < 1.5
    assert np.mean(alone) / seen < 0.6


def test_what_is_said_about_a_series():
    points = walk(1200, 0.95)
    for given, light, phrase in (
        ({}, "amber", "merely sorted"),
        ({"series": True}, "green", "counts as about"),
        ({"lengths": [700, 500]}, "green", "counts as about"),
        ({"series": False}, "amber", "too small by a factor"),
    ):
        spectrum = estimate_with(points, "generator", **given).spectrum(4)
        finding = found_in(spectrum, "Independence")
        assert finding.light == light
        assert phrase in finding.words
        assert "path" not in finding.words
        if "counts" in finding.words:
            count = round(spectrum.errors.effective_points[1:4].min())
            assert f"{count:,} independent points" in finding.words


def test_a_path_is_no_cloud():
    """With tiny steps the nearest neighbours are the rows before and after."""
    points = walk(1500, np.exp(-0.001), dim=3)
    spectrum = vbdm.estimate_operator(points, "generator", series=True).spectrum(3)
    finding = found_in(spectrum, "Independence")
    assert finding.light == "amber"
    assert "the path, not the cloud" in finding.words


def test_rounding_errors_of_a_known_eigenvalue_set_no_length():
    rng = np.random.default_rng(0)
    rows = np.cumsum(rng.standard_normal((2000, 2)), axis=0)[::20] + rng.standard_normal((100, 2))
    alone, _ = series_covariance(rows, [100])
    for slow in (1e-17 * np.arange(100.0), 1e-17 * rng.standard_normal(100)):
        both = np.column_stack([slow, rows])
        beside, _ = series_covariance(both, [100], np.array([False, True, True]))
        np.testing.assert_allclose(beside[1:, 1:], alone, rtol=1e-12)


@pytest.mark.parametrize("memory", [0.0, 0.98])
def test_a_walk_with_copies_is_a_series_and_shuffled_copies_are_none(memory):
    noise = np.random.default_rng(3).standard_normal((3000, 2))
    points = lfilter([np.sqrt(1 - memory**2)], [1, -memory], noise, axis=0).round(1)
    spectrum = vbdm.estimate_operator(points).spectrum(4)
    assert spectrum.operator.graph.order.copies is not None
    assert in_series(spectrum) == (memory > 0)
