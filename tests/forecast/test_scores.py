"""Scores against integrals and brute force; references against systems that they know exactly."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.sparse import csr_array
from scipy.special import ndtr, ndtri

import vbdm
from vbdm.forecast.ensemble import Climatology, Ensemble
from vbdm.forecast.holdout import HoldOut, judge, judge_alone, mean_in_time, mean_known
from vbdm.forecast.record import Record
from vbdm.forecast.references import Empirical, Normal, References, gaussian_crps
from vbdm.forecast.skill import METHODS, Case, skill_of
from vbdm.prepare.delays import Delays

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(("mean", "deviation", "y"), [(0, 1, 0), (1, 2, -3), (-2, 0.1, -1.9)])
def test_crps_of_a_normal_distribution_is_the_integral(mean, deviation, y):
    below, _ = quad(lambda x: ndtr((x - mean) / deviation) ** 2, mean - 12 * deviation, y)
    above, _ = quad(lambda x: ndtr((mean - x) / deviation) ** 2, y, mean + 12 * deviation)
    found = gaussian_crps(np.array(mean), np.array(deviation), np.array(y))
    assert found == pytest.approx(below + above, rel=1e-6)


# --- Climatology ----------------------------------------------------------------------------------

TABLE = RNG.standard_normal((60, 2)) * [1, 5] + [0, 100]
TABLE[RNG.random(TABLE.shape) < 0.2] = np.nan
KNOWN = [column[np.isfinite(column)] for column in TABLE.T]


@pytest.mark.parametrize("j", [0, 1])
def test_climatology_against_brute_force(j):
    climatology, own = Climatology.of(TABLE), KNOWN[j]
    y = np.concatenate([own[:5], RNG.normal(own.mean(), 3 * own.std(), 20)])
    distance = np.abs(own[:, None] - y).mean(axis=0)
    spread = np.abs(own[:, None] - own).mean()
    np.testing.assert_allclose(climatology.distance(j, y), distance, rtol=1e-11)
    assert climatology.spread(j) == pytest.approx(spread, rel=1e-11)
    np.testing.assert_allclose(climatology.crps(j, y), distance - spread / 2, rtol=1e-10)
    assert np.isnan(climatology.crps(j, np.array([np.nan]))).all()


# --- A share of climatology -----------------------------------------------------------------------

SERIES = np.cumsum(RNG.standard_normal((160, 2)), axis=0)
RECORD = Record.of(SERIES, [160], Delays(1))
HELD = HoldOut.of(RECORD, 40)


def some_weights():
    """Return weights of random rows outside each block; the third start has none."""
    weights = np.zeros((len(HELD.states), 160))
    for block in HELD.blocks:
        for i in block.starts:
            rows = RNG.choice(np.flatnonzero(~block.left_out), 9, replace=False)
            weights[i, rows] = RNG.random(9)
    weights[2] = 0
    return weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("lead", [1, 7])
def test_the_score_of_a_share_is_that_of_the_mixture(share, lead):
    weights = some_weights()
    judged = judge(HELD, csr_array(weights), lead)
    found = judged.constant + share * judged.linear + share**2 * judged.square
    truths = HELD.truths(lead)
    for block in HELD.blocks:
        climate = ~block.left_out / (~block.left_out).sum()
        for i in block.starts:
            own = climate if not weights[i].any() else weights[i]
            mixed = csr_array(((1 - share) * own + share * climate)[None])
            for j in range(2):
                wanted = Ensemble.of(mixed, SERIES[:, j]).crps(truths[[i], j])[0]
                np.testing.assert_allclose(found[i, j], wanted, rtol=1e-9, equal_nan=True)


def test_the_best_share_is_the_least_score_but_for_chance():
    """Forecasts that are nothing but noise are given up for climatology, those of truth are not."""
    noise = judge(HELD, csr_array(some_weights()), 1)
    assert noise.share > 0.3
    exact = np.zeros((len(HELD.states), 160))
    ahead = RECORD.later(1)[HELD.states]
    exact[np.arange(len(exact)), ahead] = 1
    judged = judge(HELD, csr_array(exact), 1)
    assert judged.share == 0
    assert judged.score == pytest.approx(0, abs=1e-12)


def test_scores_without_a_share_are_those_of_the_members():
    weights = csr_array(some_weights())
    members = [Ensemble.of(weights, column) for column in SERIES.T]
    alone, both = judge_alone(HELD, members, 3), judge(HELD, weights, 3)
    full = np.arange(len(HELD.states)) != 2
    np.testing.assert_allclose(alone.constant[full], both.constant[full], rtol=1e-9)
    np.testing.assert_allclose(
        (alone.constant + alone.linear)[full],
        (both.constant + both.linear + both.square)[full],
        rtol=1e-9,
    )


def test_columns_that_do_not_change_do_not_count():
    values = np.column_stack([SERIES[:, 0], np.full(160, 0.1)])
    held = HoldOut.of(Record.of(values, [160], Delays(1)), 40)
    weights = csr_array(some_weights())
    found = judge(held, weights, 2)
    alone = judge(HoldOut.of(Record.of(values[:, :1], [160], Delays(1)), 40), weights, 2)
    assert found.score == pytest.approx(alone.score, rel=1e-12)
    assert found.share == pytest.approx(alone.share, rel=1e-12)


def test_the_error_of_a_mean_in_time_knows_about_memory():
    n, rng = 4000, np.random.default_rng(3)
    slow = np.repeat(rng.standard_normal(n // 50), 50)
    mean, error = mean_in_time(slow)
    assert mean == pytest.approx(slow.mean())
    # The error is that of 80 numbers, told from 8 parts: to a factor of 2.
    assert 0.5 < error / np.sqrt(50 / n) < 2
    assert mean_in_time(np.full(10, 3.0)) == (0.0, np.inf)
    with_holes = np.where(rng.random(n) < 0.5, slow, np.nan)
    assert np.isfinite(mean_in_time(with_holes)).all()


def test_the_mean_of_what_is_known():
    table = np.array([[1.0, np.nan], [3.0, np.nan]])
    np.testing.assert_array_equal(mean_known(table, axis=0), [2, np.nan])
    assert mean_known(table) == 2
    assert np.isnan(mean_known(np.array([])))


# --- Skill ----------------------------------------------------------------------------------------


def hand_made(members, truths, references=None):
    """Return the skill of one column and lead, with members (n, k) of equal weights."""
    n, k = members.shape
    ordered = np.sort(members, axis=1)
    part = Ensemble(
        np.arange(0, n * k + 1, k), ordered.ravel(), np.full(n * k, 1 / k), np.zeros(n * k, int)
    )
    told = references or Normal(np.zeros((n, 1)), np.ones((n, 1)))
    every = dict.fromkeys(METHODS[1:], told)
    return skill_of([Case(3, [part], every, truths[:, None])], ("x",))


def test_measures_of_members_made_by_hand():
    came = RNG.standard_normal(400)
    came[7] = np.nan
    known = np.isfinite(came)
    offset = RNG.standard_normal(400) * 0.3
    quantiles = ndtri((np.arange(99) + 0.5) / 99)
    members = (came + offset)[:, None] + 0.5 * quantiles
    members[7] = quantiles
    found = hand_made(members, came)
    assert found.n_cases.tolist() == [399]
    assert found.rmse[0, 0, 0] == pytest.approx(np.sqrt((offset[known] ** 2).mean()))
    wanted = np.corrcoef((came + offset)[known], came[known])[0, 1]
    assert found.acc[0, 0, 0] == pytest.approx(wanted)
    closed = gaussian_crps(offset[known], np.full(399, 0.5), np.zeros(399)).mean()
    assert found.crps[0, 0, 0] == pytest.approx(closed, rel=1e-3)
    for level, name in ((0.6745, "coverage50"), (1.645, "coverage90")):
        inside = np.abs(offset[known]) <= 0.5 * level
        # A few may lie between the quantiles of 99 members and those of the normal distribution.
        assert getattr(found, name)[0, 0, 0] == pytest.approx(inside.mean(), abs=0.02)
    bits = np.log2(0.5 * np.sqrt(2 * np.pi)) + ((offset[known] / 0.5) ** 2).mean() / 2 / np.log(2)
    assert found.ignorance[0, 0, 0] == pytest.approx(bits, abs=0.1)
    assert found.histogram[0, 0].sum() == pytest.approx(1)


def test_the_reference_is_measured_as_the_normal_distribution_that_it_is():
    came = RNG.standard_normal(2000)
    found = hand_made(np.zeros((2000, 3)), came)
    assert found.rmse[1, 0, 0] == pytest.approx(np.sqrt((came**2).mean()))
    assert np.isnan(found.acc[1, 0, 0])
    # 1/√π, the mean CRPS of N(0, 1) under itself; its standard deviation is .4.
    assert found.crps[1, 0, 0] == pytest.approx(1 / np.sqrt(np.pi), abs=5 * 0.4 / np.sqrt(2000))
    assert found.coverage90[1, 0, 0] == pytest.approx(0.9, abs=5 * 0.3 / np.sqrt(2000))
    assert found.ignorance[1, 0, 0] == pytest.approx(2.047, abs=0.1)


def test_reliable_members_fill_all_classes_alike():
    came = RNG.standard_normal(5000)
    found = hand_made(np.broadcast_to(ndtri((np.arange(199) + 0.5) / 199), (5000, 199)), came)
    np.testing.assert_allclose(found.histogram[0, 0], 0.1, atol=5 * 0.3 / np.sqrt(5000))
    assert found.crpss[0, 0] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_measures_have_the_unit_of_the_column_or_none(unit):
    came = np.random.default_rng(5).standard_normal(100)
    members = came[:, None] + np.random.default_rng(6).standard_normal((100, 9))
    plain = hand_made(members, came)
    told = Normal(np.zeros((100, 1)), np.full((100, 1), unit))
    found = hand_made(unit * members, unit * came, told)
    for name in ("rmse", "crps"):
        np.testing.assert_allclose(getattr(found, name), unit * getattr(plain, name), rtol=1e-9)
    for name in ("acc", "coverage50", "coverage90", "crpss", "histogram"):
        np.testing.assert_allclose(getattr(found, name), getattr(plain, name), rtol=1e-9)
    np.testing.assert_allclose(found.ignorance, plain.ignorance + np.log2(unit), rtol=1e-9)


def test_nothing_came_and_nothing_is_said():
    found = hand_made(RNG.standard_normal((5, 3)), np.full(5, np.nan))
    assert np.isnan(found.crps).all()
    assert found.n_cases.tolist() == [0]
    assert found.not_beaten.tolist() == []


# --- References -----------------------------------------------------------------------------------

TURN = np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
CIRCLE = np.array([np.linalg.matrix_power(TURN, k) @ [1.0, 0.0] for k in range(200)])
ALL = np.zeros(200, dtype=bool)


@pytest.mark.parametrize("lead", [1, 5, 12])
def test_a_linear_system_is_foreseen_exactly_by_the_linear_model(lead):
    record = Record.of(CIRCLE, [200], Delays(1))
    told = References(record, ALL).linear(record.states[:50], lead)
    np.testing.assert_allclose(told.mean, CIRCLE[lead : 50 + lead], atol=1e-10)
    assert told.deviation.max() < 1e-10
    # With one column, two rows make the state of the same system.
    one = Record.of(CIRCLE[:, :1], [200], Delays(2))
    told = References(one, ALL).linear(one.states[:50], lead)
    np.testing.assert_allclose(told.mean[:, 0], CIRCLE[1 + lead : 51 + lead, 0], atol=1e-9)


def test_persistence_has_the_spread_of_changes():
    record = Record.of(CIRCLE, [200], Delays(1))
    told = References(record, ALL).persistence(CIRCLE[:3], 4)
    np.testing.assert_array_equal(told.mean, CIRCLE[:3])
    wanted = np.sqrt(np.square(CIRCLE[4:] - CIRCLE[:-4]).mean(axis=0))
    np.testing.assert_allclose(told.deviation, np.broadcast_to(wanted, (3, 2)))


def test_persistence_without_changes_to_learn_from_has_the_spread_of_the_values():
    record = Record.of(CIRCLE, [200], Delays(1))
    told = References(record, ALL).persistence(CIRCLE[:2], 199)
    np.testing.assert_allclose(told.deviation, np.tile(CIRCLE.std(axis=0), (2, 1)))


def test_references_do_not_use_what_is_left_out_nor_joints():
    values = np.vstack([CIRCLE, CIRCLE[::-1]])
    left_out = np.zeros(400, dtype=bool)
    left_out[150:260] = True
    wild = np.where(left_out[:, None], 1e5, values)
    record = Record.of(values, [200, 200], Delays(1))
    other = replace(record, values=wild)
    for lead in (1, 6):
        plain, changed = (References(own, left_out) for own in (record, other))
        for name, arguments in (
            ("persistence", (CIRCLE[:3], lead)),
            ("linear", (record.states[:3], lead)),
        ):
            mine, theirs = getattr(plain, name)(*arguments), getattr(changed, name)(*arguments)
            np.testing.assert_array_equal(mine.mean, theirs.mean)
            np.testing.assert_array_equal(mine.deviation, theirs.deviation)
        for one, two in zip(plain.climatology().values, changed.climatology().values, strict=True):
            np.testing.assert_array_equal(one, two)
    before, after = References(record, np.zeros(400, dtype=bool)).pairs(1)
    assert len(before) == 398
    np.testing.assert_allclose(np.linalg.norm(after - before, axis=1), 2 * np.sin(0.15), rtol=1e-9)


def test_a_linear_model_with_too_many_columns_is_climatology():
    values = RNG.standard_normal((60, 20))
    record = Record.of(values, [60], Delays(1))
    references = References(record, np.zeros(60, dtype=bool))
    told = references.linear(record.states[:4], 1)
    np.testing.assert_allclose(told.mean, np.tile(values.mean(axis=0), (4, 1)))
    np.testing.assert_allclose(told.deviation[0], values.std(axis=0))


def test_climatology_has_the_record_s_own_distribution():
    """Skewed noise beats a normal distribution, but not its own values."""
    values = RNG.standard_exponential((1000, 1)) ** 2
    y = RNG.standard_exponential(500) ** 2
    record = Record.of(values, [1000], Delays(1))
    known = References(record, np.zeros(1000, dtype=bool)).climatology()
    told = Empirical((known,), np.zeros(500, dtype=int)).marginal(0, y)
    brute = np.abs(values - y).mean(axis=0) - np.abs(values - values.T).mean() / 2
    np.testing.assert_allclose(told.crps, brute)
    np.testing.assert_allclose(told.ends[0], np.quantile(values, [0.05, 0.25, 0.75, 0.95]))
    assert told.mean[0] == pytest.approx(values.mean())
    grid = np.linspace(-5, 60, 4001)
    dense = Empirical((known,), np.zeros(4001, dtype=int)).marginal(0, grid).density
    assert abs(dense.sum() * (grid[1] - grid[0]) - 1) < 0.05


def test_noise_is_no_skill():
    values = np.random.default_rng(3).standard_exponential(400) ** 2
    model = vbdm.Forecaster("neighbours", delays=1, horizon=4).fit(values)
    assert model.skill_.crpss.max() < 0.03
    assert len(model.skill_.not_beaten) > 0


def test_skill_on_new_rows_is_that_of_forecasts_made_by_hand():
    rng = np.random.default_rng(8)
    x = np.zeros(500)
    for i in range(1, 500):
        x[i] = 0.9 * x[i - 1] + rng.standard_normal()
    model = vbdm.Forecaster("neighbours", delays=2, horizon=6).fit(x[:400])
    new = x[400:]
    found = model.skill(new, leads=[1, 4])
    forecast = model.predict(new, leads=[1, 4])
    for k, lead in enumerate((1, 4)):
        use = forecast.rows + lead < 100
        came = new[forecast.rows[use] + lead]
        wrong = forecast.mean[use, k, 0] - came
        assert found.rmse[0, k, 0] == pytest.approx(np.sqrt((wrong**2).mean()))
        last = new[forecast.rows[use]] - came
        assert found.rmse[2, k, 0] == pytest.approx(np.sqrt((last**2).mean()))
        assert found.n_cases[k] == use.sum() == 99 - lead
        low, high = forecast.interval(0.9)[:, use, k, 0]
        assert found.coverage90[0, k, 0] == pytest.approx(((low <= came) & (came <= high)).mean())
    leads = model.learned_.score.leads.astype(int)
    assert model.score(new) == pytest.approx(model.skill(new, leads).crpss.mean())
