"""What is held out is not seen, and what is chosen by it is what the system asks for."""

from dataclasses import replace

import numpy as np
import pytest

import vbdm
from vbdm.forecast.choose import Unseen, errors_of
from vbdm.forecast.ensemble import Climatology, Ensemble
from vbdm.forecast.holdout import HoldOut
from vbdm.forecast.learn import latest, spread_factor
from vbdm.forecast.modes import Basis, bumps
from vbdm.forecast.predictor import ByLead, grid
from vbdm.forecast.record import Record
from vbdm.prepare.delays import Delays


def ou(n, seed, step=0.1, dim=1):
    """Return an exact Ornstein-Uhlenbeck series with unit variance."""
    rng = np.random.default_rng(seed)
    x = np.empty((n, dim))
    x[0] = rng.standard_normal(dim)
    keep = np.exp(-step)
    for i in range(1, n):
        x[i] = keep * x[i - 1] + np.sqrt(1 - keep**2) * rng.standard_normal(dim)
    return x


SERIES = ou(600, 0, dim=2)


@pytest.fixture(scope="module", params=["neighbours", "modes", "direct"])
def model(request):
    who = "neighbours" if request.param == "neighbours" else "modes"
    options = {} if who == "neighbours" else {"n_modes": 8}
    asked = vbdm.Forecaster(who, delays=2, horizon=8, direct=request.param == "direct", **options)
    return asked.fit(SERIES)


def changed(predictor, left_out):
    """Return a predictor with other values, states and modes in some rows; the operator stays."""
    record, states = predictor.record, left_out[predictor.record.rows]
    other = replace(
        record,
        values=np.where(left_out[:, None], 1e6, record.values),
        states=np.where(states[:, None], -7.0, record.states),
    )
    if predictor.name == "neighbours":
        return replace(predictor, record=other)
    functions = predictor.functions
    wild = replace(functions, values=np.where(states[:, None], 1e3, functions.values))
    return replace(predictor, record=other, functions=wild)


@pytest.mark.parametrize("block", [0, 3, 7])
def test_forecasts_do_not_use_what_they_have_not_seen(model, block):
    """Left-out rows may have any value, before as after: the forecasts stay the same."""
    held, plain = model.decided_.chosen.held, model.learned_.predictor
    left_out = held.blocks[block].left_out
    assert 50 < left_out.sum() < 300
    starts = held.points[held.blocks[block].starts]
    for lead in (1, 3, 8, 40):
        found = [
            own.members(own.begin(starts), lead, own.record.values)
            for own in (plain.without(left_out), changed(plain, left_out).without(left_out))
        ]
        seen = plain.members(plain.begin(starts), lead, plain.record.values)
        for before, after, own in zip(*found, seen, strict=True):
            np.testing.assert_array_equal(before.mean, after.mean)
            np.testing.assert_array_equal(before.variance, after.variance)
            np.testing.assert_array_equal(before.values, after.values)
            assert not left_out[before.rows].any()
            # The predictor that has seen them says something else.
            assert np.abs(before.mean - own.mean).max() > 1e-6


def test_every_start_is_held_out_once_with_a_margin(model):
    held = model.decided_.chosen.held
    starts = np.concatenate([block.starts for block in held.blocks])
    np.testing.assert_array_equal(starts, np.arange(len(held.states)))
    for block in held.blocks:
        rows = held.rows[block.starts]
        around = [*range(rows[0] - 2, rows[0]), *range(rows[-1] + 1, rows[-1] + 3)]
        assert all(block.left_out[row] for row in around if 0 <= row < 600)
        assert block.left_out[rows].all()
        outside = Climatology.of(held.record.values[~block.left_out])
        for mine, theirs in zip(block.climatology.values, outside.values, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_what_came_is_the_row_so_many_steps_later():
    record = Record.of(SERIES, [250, 350], Delays(3))
    held = HoldOut.of(record, 97)
    for lead in (1, 5):
        for row, truth in zip(held.rows, held.truths(lead), strict=True):
            inside = (row < 250) == (row + lead < 250) and row + lead < 600
            wanted = SERIES[row + lead] if inside else [np.nan, np.nan]
            np.testing.assert_array_equal(truth, wanted)


def test_starts_are_the_same_rows_whatever_the_delays():
    rows = [set(HoldOut.of(Record.of(SERIES, [600], Delays(k)), 97).rows) for k in (1, 4)]
    assert {row for row in rows[0] if row >= 3} <= rows[1]


def test_fewer_starts_are_some_of_them():
    held = HoldOut.of(Record.of(SERIES, [600], Delays(1)))
    fewer = held.thinned(50)
    assert len(fewer.states) == 50
    assert set(fewer.states) <= set(held.states)
    assert sum(len(block.starts) for block in fewer.blocks) == 50
    for block in fewer.blocks:
        assert block.left_out[fewer.rows[block.starts]].all()


def test_blocks_follow_the_states_where_much_is_missing():
    """Half of the record has no state: the other half is cut into as many blocks."""
    values = SERIES.copy()
    values[:300, 1] = np.nan
    held = HoldOut.of(Record.of(values, [600], Delays(1)))
    assert len(held.blocks) == 8
    for block in held.blocks:
        assert (~block.left_out[300:]).sum() > 150


@pytest.mark.slow
def test_chaos_asks_for_neighbours_and_noise_for_modes():
    lorenz = vbdm.datasets.lorenz63(1200, random_state=0).points
    chaos = vbdm.Forecaster(delays=1, horizon=16).fit(lorenz)
    assert chaos.predictor_ == "neighbours"
    assert chaos.n_modes_ is None
    assert chaos.scores_["neighbours"] < 0.9 * chaos.scores_["modes"]
    noise = vbdm.Forecaster(delays=1, horizon=16).fit(ou(1200, 1))
    assert noise.predictor_ == "modes"
    assert noise.scores_["modes"] < 1.01 * noise.scores_["neighbours"]
    # A few functions are all that an Ornstein-Uhlenbeck process needs.
    assert noise.n_modes_ <= 12


def test_one_column_of_three_asks_for_delays_and_a_markov_series_does_not():
    lorenz = vbdm.datasets.lorenz63(1000, random_state=1).points[:, :1]
    seen = vbdm.Forecaster("neighbours", horizon=8).fit(lorenz)
    assert seen.delays_ > 1
    assert seen.delay_scores_[seen.delays_] < 0.8 * seen.delay_scores_[1]
    markov = vbdm.Forecaster("modes", horizon=8).fit(ou(800, 2))
    assert markov.delays_ == 1
    assert min(markov.delay_scores_.values()) > 0.97 * markov.delay_scores_[1]


def test_a_short_series_tries_only_the_delays_that_it_has_rows_for():
    model = vbdm.Forecaster(delay_step=3).fit(ou(40, 3))
    assert max(model.delay_scores_) <= 4
    assert np.isfinite(model.predict(leads=1).mean).all()


def test_numbers_by_lead_are_linear_in_its_logarithm_and_constant_beyond():
    table = ByLead(np.array([1, 4, 16]), np.array([[0.0, 1.0], [2.0, 1.0], [6.0, 5.0]]))
    np.testing.assert_allclose(table.at(1), [0, 1])
    np.testing.assert_allclose(table.at(2), [1, 1])
    np.testing.assert_allclose(table.at(8), [4, 3])
    np.testing.assert_allclose(table.at(16), [6, 5])
    np.testing.assert_allclose(table.at(10**6), [6, 5])


@pytest.mark.parametrize("horizon", [1, 2, 3, 5, 7, 20, 100, 128])
def test_leads_that_are_tried_go_from_one_to_the_horizon(horizon):
    leads = grid(horizon)
    assert leads[0] == 1
    assert leads[-1] == horizon
    assert list(leads) == sorted(set(leads))
    # No lead is further from the one before it than by half, or a single step.
    early, late = np.array(leads[:-1]), np.array(leads[1:])
    assert (late <= np.maximum(1.5 * early, early + 1)).all()


def test_the_latest_rows_of_several_series():
    values = np.arange(12.0)[:, None]
    part, lengths = latest(values, [4, 3, 5], 6)
    np.testing.assert_array_equal(part[:, 0], np.arange(6, 12))
    assert lengths == (1, 5)
    part, lengths = latest(values, [4, 3, 5], 100)
    assert (len(part), lengths) == (12, (4, 3, 5))


# --- The spread -----------------------------------------------------------------------------------


def normal_members(n, spread, seed=0):
    """Return n starts with the same members, normal with a standard deviation."""
    from scipy.special import ndtri

    values = spread * ndtri((np.arange(200) + 0.5) / 200)
    part = Ensemble(
        np.arange(0, 200 * n + 1, 200), np.tile(values, n), np.full(200 * n, 1 / 200),
        np.tile(np.arange(200), n),
    )  # fmt: skip
    return part, np.random.default_rng(seed).standard_normal(n)


@pytest.mark.parametrize("spread", [0.4, 0.7, 1.6])
def test_the_spread_makes_up_for_what_is_wrong(spread):
    members, came = normal_members(1000, spread)
    factor = spread_factor(members, came)
    # 5 standard errors of the quantile of |z| at 90 % from 1000 starts: σ = √(.9·.1/n)/(2φ(1.645)).
    assert factor == pytest.approx(1 / spread, rel=5 * np.sqrt(0.09 / 1000) / 0.206 / 1.645)
    low, high = members.spread(factor).quantile(np.array([0.05, 0.95])).T
    assert ((low <= came) & (came <= high)).mean() == pytest.approx(0.9, abs=0.01)


def test_a_spread_that_is_right_stays_nearly_as_it_is():
    factors = [spread_factor(*normal_members(300, 1.0, seed)) for seed in range(20)]
    assert np.mean([factor == 1 for factor in factors]) > 0.4
    assert np.abs(np.log(factors)).max() < 0.15


def test_a_spread_from_few_starts_or_one_member_is_not_touched():
    members, came = normal_members(19, 0.3)
    assert spread_factor(members, came) == 1
    alone = Ensemble(np.arange(101), np.zeros(100), np.ones(100), np.arange(100))
    assert spread_factor(alone, np.zeros(100)) <= 1
    assert np.isfinite(spread_factor(alone, np.ones(100)))


def test_matrices_of_each_lead_and_powers_of_one_step_foresee_alike():
    """Where the matrix of two steps is the square of that of one, errors are the same."""
    rng = np.random.default_rng(0)
    step = np.eye(3) + 0.1 * rng.standard_normal((3, 3))
    begun = np.hstack([np.ones((5, 1)), 0.1 * rng.standard_normal((5, 2))])
    came = {1: rng.random((5, 4)).round(), 2: rng.random((5, 4)).round()}
    own = Unseen(np.arange(5), begun, 0.3 * rng.random((3, 4)), {1: step, 2: step @ step})
    by_power, by_lead = (errors_of(own, came, 3, direct) for direct in (False, True))
    np.testing.assert_allclose(by_lead, by_power, rtol=1e-12)
    other = own._replace(matrices={1: step, 2: np.eye(3)})
    np.testing.assert_array_equal(errors_of(other, came, 3, False), by_power)
    assert abs(errors_of(other, came, 3, True) - by_power)[0, 1] > 1e-3
    # Without one of one step, each lead has its own anyway.
    alone = own._replace(matrices={2: step @ step})
    np.testing.assert_allclose(errors_of(alone, {2: came[2]}, 3, False)[:, 0], by_power[:, 1])


def test_large_bases_end_with_kernels_around_points():
    points = np.random.default_rng(0).standard_normal((300, 2))
    op = vbdm.estimate_operator(points, "generator")
    steps = op.alpha_kernel @ np.eye(300) / op.inside.degrees[:, None]
    marks = [0, 100, 199, 299]  # evenly, in the order inside
    found = bumps(op, 4)
    np.testing.assert_allclose(
        op.graph.order.to_inside(found), (steps @ steps)[:, marks], atol=1e-14
    )
    basis = Basis.of(op, points, 90)
    assert basis.learned.shape == (300, 85)
    products = basis.values.T @ basis.values / 300
    np.testing.assert_allclose(products, np.eye(len(products)), atol=1e-8)
    np.testing.assert_allclose(basis.at(points[:9]), basis.values[:9], atol=1e-6)


def test_states_that_nothing_follows_leave_all_that_are_known_alike():
    neighbours = vbdm.Forecaster("neighbours", delays=1, horizon=2).fit(SERIES).learned_.predictor
    last = np.zeros(600)
    last[599] = 1.0
    weights, lost = neighbours.stepped(last)
    np.testing.assert_array_equal(weights, np.full(600, 1 / 600))
    assert lost == 0
    first = np.roll(last, 1)
    assert neighbours.stepped(first)[0].max() > 10 / 600
