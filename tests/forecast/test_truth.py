"""Forecasts and filters of systems whose conditional distributions are known exactly."""

import numpy as np
import pytest
from sklearn.base import clone

import vbdm

pytestmark = pytest.mark.truth
STEP, N = 0.25, 3000
KEEP = np.exp(-STEP)
#: Standard error of means and correlations of the record: it is as long as N·STEP/2 independent
#: values, because ∫ e^{-|t|} dt = 2.
ERROR = np.sqrt(2 / (N * STEP))
#: Leads, and the times 0.5, 1 and 2 that they are for.
LEADS = [2, 4, 8]


def ou(n, seed, scale=(1.0,)):
    """Return the exact series x' = e^{-s} x + √(1 - e^{-2s}) ξ, columns with their own scales."""
    rng = np.random.default_rng(seed)
    x = np.empty((n, len(scale)))
    x[0] = rng.standard_normal(len(scale))
    for i in range(1, n):
        x[i] = KEEP * x[i - 1] + np.sqrt(1 - KEEP**2) * rng.standard_normal(len(scale))
    return x * scale


@pytest.fixture(scope="module", params=["modes", "neighbours"])
def model(request):
    return vbdm.Forecaster(request.param, delays=1, horizon=8).fit(ou(N, 0))


@pytest.fixture(scope="module")
def plane():
    return vbdm.Forecaster("modes", delays=1, horizon=8).fit(ou(N, 1, (1.0, 30.0)))


def compare(model, new, scale):
    forecast = model.predict(new, leads=LEADS)
    for k, lead in enumerate(LEADS):
        t = lead * STEP
        wrong = (forecast.mean[:, k] - np.exp(-t) * new[forecast.rows]) / scale
        # Climatology would be wrong by e^{-t}: .61, .37 and .14.
        assert (np.sqrt((wrong**2).mean(axis=0)) < 3 * ERROR).all()
        variance = np.median(forecast.variance[:, k], axis=0) / np.square(scale)
        # The variance of a record has the error √(2/(N s)), and the spread one of its own.
        np.testing.assert_allclose(variance, 1 - np.exp(-2 * t), atol=4 * ERROR)


def test_conditional_moments_on_the_line(model):
    compare(model, ou(400, 10), [1.0])


@pytest.mark.slow
def test_conditional_moments_in_the_plane(plane):
    compare(plane, ou(400, 11, (1.0, 30.0)), [1.0, 30.0])


def test_modes_are_the_regression_of_the_record():
    """With 1, x and x² alone, one step is least squares: its error is that of the record."""
    x = ou(N, 2)
    model = vbdm.Forecaster("modes", delays=1, horizon=4, n_modes=3).fit(x)
    now, late = x[:-1, 0] - x.mean(), x[1:, 0] - x.mean()
    slope = (now * late).sum() / (now**2).sum()
    new = np.linspace(-2, 2, 9)
    found = model.predict(new, leads=[1, 4]).mean[..., 0]
    for k, lead in enumerate((1, 4)):
        wanted = x.mean() + slope**lead * (new - x.mean())
        # x² has a coefficient that is 0 but for the error √((1 - e^{-2s})/N) of a regression.
        np.testing.assert_allclose(found[:, k], wanted, atol=0.15)
        middle = np.abs(new) <= 1
        np.testing.assert_allclose(found[middle, k], wanted[middle], atol=0.05)


def test_intervals_hold_what_comes(model):
    new = ou(1000, 12)
    forecast = model.predict(new, leads=LEADS)
    ends = forecast.quantile([0.05, 0.25, 0.75, 0.95])
    for level, each, low, high in ((0.5, 0.5, *ends[1:3]), (0.9, 0.3, *ends[[0, 3]])):
        for k, lead in enumerate(LEADS):
            came = new[lead:, 0]
            inside = (low[: len(came), k, 0] <= came) & (came <= high[: len(came), k, 0])
            # What is foreseen is alike over a lead or a memory of 4 steps: so many are independent,
            # in this series as in the one that the spread is from.
            error = each * np.sqrt(2 * max(lead, 4) / len(came))
            assert inside.mean() == pytest.approx(level, abs=3 * np.sqrt(2) * error)


def test_probabilities_are_uniform(model):
    new = ou(1000, 13)
    found = model.skill(new, leads=[2])
    error = 0.3 * np.sqrt(2 * 4 / 1000)
    np.testing.assert_allclose(found.histogram[0, 0], 0.1, atol=4 * np.sqrt(2) * error)
    # No forecast is better than the true one, whose CRPS is σ/√π.
    best = np.sqrt((1 - np.exp(-1.0)) / np.pi)
    assert 0.93 * best < found.crps[0, 0, 0] < 1.07 * best
    assert found.beaten.all()
    # The linear model is the true one here: nothing is much better than it.
    assert found.crps[0, 0, 0] > 0.97 * found.crps[3, 0, 0]


def test_long_leads_are_climatology(model):
    found = model.predict(np.array([-2.0, 0.0, 2.0]), leads=[200, 10**6])
    record = ou(N, 0)
    # Some hundred neighbours, or 500 rows, stand for all of the record.
    np.testing.assert_allclose(found.mean[:, 0, 0], record.mean(), atol=0.3)
    np.testing.assert_allclose(found.mean[:, 1, 0], record.mean(), atol=3 / np.sqrt(500))
    np.testing.assert_allclose(found.variance[:, 0, 0], record.var(), rtol=0.6)
    np.testing.assert_allclose(found.variance[:, 1, 0], record.var(), rtol=4 * np.sqrt(2 / 500))


@pytest.mark.parametrize("options", [{"n_modes": 3}, {"n_modes": 3, "direct": True}])
def test_a_rotation_is_foreseen_by_modes(options):
    """Coordinates are modes of a rotation: it is linear in them, and keeps its amplitude."""
    angle = 0.37 * np.arange(600)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    model = vbdm.Forecaster("modes", delays=1, horizon=10, **options).fit(circle[:500])
    leads = [1, 10, 30]
    forecast = model.predict(circle[500:560], leads=leads)
    for k, lead in enumerate(leads):
        # Pairs are one fewer than states for each step: a share of lead/500 may be wrong.
        came = circle[500 + lead : 560 + lead]
        np.testing.assert_allclose(forecast.mean[:, k], came, atol=(lead + 3) / 500)


def test_a_rotation_is_foreseen_by_neighbours_at_any_lead():
    """What is alike stays alike: errors are those of the nearest states, and do not grow."""
    angle = 0.37 * np.arange(600)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    model = vbdm.Forecaster("neighbours", delays=1, horizon=10).fit(circle[:500])
    forecast = model.predict(circle[500:530], leads=[1, 10, 60])
    for k, lead in enumerate((1, 10, 60)):
        came = circle[500 + lead : 530 + lead]
        np.testing.assert_allclose(forecast.mean[:, k], came, atol=0.06)


def test_one_column_of_a_rotation_asks_for_delays():
    """cos alone does not say whether it rises or falls: two rows do, one does not."""
    series = np.cos(0.37 * np.arange(700))
    wrong = {}
    for delays in (1, 2):
        model = vbdm.Forecaster("neighbours", delays=delays, horizon=4).fit(series[:600])
        forecast = model.predict(series[600:690], leads=3)
        wrong[delays] = np.abs(forecast.mean[:, 0, 0] - series[forecast.rows + 603]).max()
    assert wrong[2] < 0.1
    # Without the sine the best forecast is cos(x) cos(3·0.37), wrong by up to sin(3·0.37) = 0.9.
    assert wrong[1] > 0.7


# --- Filter ---------------------------------------------------------------------------------------


def kalman(observations, noise):
    """Return the exact means, variances and evidence; NaN is no observation."""
    mean, variance, found = 0.0, 1.0, []
    for t, y in enumerate(observations):
        if t:
            mean, variance = KEEP * mean, KEEP**2 * variance + 1 - KEEP**2
        told = 0.0
        if np.isfinite(y):
            total = variance + noise**2
            told = -0.5 * ((y - mean) ** 2 / total + np.log(2 * np.pi * total))
            gain = variance / total
            mean, variance = mean + gain * (y - mean), (1 - gain) * variance
        found.append((mean, variance, told))
    return np.array(found).T


@pytest.fixture(scope="module")
def observed():
    truth = ou(600, 20)[:, 0]
    seen = truth + 0.5 * np.random.default_rng(21).standard_normal(600)
    seen[100:120] = seen[::7] = np.nan
    return truth, seen


def rms(values):
    return np.sqrt(np.mean(np.square(values)))


def test_the_filter_is_nearly_that_of_kalman(model, observed):
    truth, seen = observed
    mean, variance, told = kalman(seen, 0.5)
    found = model.filter(seen, 0.5)
    assert rms(found.mean[:, 0] - truth) < 1.02 * rms(mean - truth)
    # The model is the record's: its mean and its memory are wrong by an ERROR of 5 %.
    assert rms(found.mean[:, 0] - mean) < 2 * ERROR
    np.testing.assert_allclose(np.median(found.variance[:, 0] / variance), 1, atol=3 * ERROR)
    missing = np.isnan(seen)
    np.testing.assert_array_equal(found.observed, ~missing)
    assert (found.evidence[missing] == 0).all()
    assert not found.restarted.any()
    # Two parameters of the process, each wrong by an error or two, cost a few units of 500.
    assert found.log_likelihood == pytest.approx(told.sum(), abs=5)
    assert rms(found.evidence - told) < 0.15


def test_the_evidence_finds_the_size_of_errors(model, observed):
    _, seen = observed
    told = {noise: model.filter(seen, noise).log_likelihood for noise in (0.25, 0.5, 1.0)}
    assert max(told, key=told.get) == 0.5
    # By as much as Kalman's filter says; the record's own errors are larger for small noise.
    for noise in (0.25, 1.0):
        wanted = kalman(seen, noise)[2].sum() - kalman(seen, 0.5)[2].sum()
        assert told[noise] - told[0.5] == pytest.approx(wanted, rel=0.5)


def test_a_likelihood_may_be_any_function(model, observed):
    _, seen = observed
    written = model.filter(seen[:50], lambda y, rows: np.exp(-0.5 * ((rows[:, 0] - y) / 0.5) ** 2))
    plain = model.filter(seen[:50], 0.5)
    np.testing.assert_allclose(written.mean, plain.mean, atol=1e-9)
    number = plain.observed.sum()
    missing_factor = number * np.log(0.5 * np.sqrt(2 * np.pi))
    assert written.log_likelihood - plain.log_likelihood == pytest.approx(missing_factor)


def test_the_filter_finds_a_column_that_is_not_observed():
    """cos is seen with errors, sin is not: both are known after a turn."""
    angle = 0.37 * np.arange(1100)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    model = vbdm.Forecaster("neighbours", delays=1, horizon=4).fit(circle[:1000])
    seen = circle[1000:, 0] + 0.2 * np.random.default_rng(3).standard_normal(100)
    for columns in ([0], ["x0"]):
        found = model.filter(seen, 0.2, columns=columns)
        assert rms((found.mean - circle[1000:])[30:]) < 0.15
        outside = np.abs(found.mean - circle[1000:])[30:] > 4 * np.sqrt(found.variance[30:])
        assert outside.mean() < 0.05


# --- Invariances ----------------------------------------------------------------------------------

SHORT = ou(500, 30, (1.0, 2.0))
STARTS = ou(40, 31, (1.0, 2.0))


@pytest.fixture(scope="module", params=["neighbours", "modes"])
def short(request):
    # With 1, four coordinates and their squares: fewer would depend on the order of columns.
    options = {"n_modes": 9} if request.param == "modes" else {}
    model = vbdm.Forecaster(request.param, delays=2, horizon=4, **options).fit(SHORT)
    return model, model.predict(STARTS, leads=[1, 3])


def same(found, wanted, scale=1.0, shift=0.0, columns=slice(None), rtol=1e-6):
    mean = wanted.mean[..., columns] * scale + shift
    spread = np.sqrt(wanted.variance)[..., columns] * scale
    assert np.abs((found.mean - mean) / spread).max() < rtol
    np.testing.assert_allclose(found.std, spread, rtol=rtol)
    low = wanted.quantile(0.1)[..., columns] * scale + shift
    assert np.abs((found.quantile(0.1) - low) / spread).max() < rtol


def test_units_and_origins_do_not_matter(short):
    model, forecast = short
    scale, shift = np.array([1e-6, 250.0]), np.array([273.15, -1e5])
    other = clone(model).fit(SHORT * scale + shift)
    assert (other.predictor_, other.n_modes_) == (model.predictor_, model.n_modes_)
    # 273.15 + 1e-6 x has lost eleven digits of x: five are left.
    same(other.predict(STARTS * scale + shift, leads=[1, 3]), forecast, scale, shift, rtol=1e-3)


def test_the_order_of_columns_does_not_matter(short):
    model, forecast = short
    other = clone(model).fit(SHORT[:, ::-1])
    same(other.predict(STARTS[:, ::-1], leads=[1, 3]), forecast, columns=slice(None, None, -1))


def test_a_constant_column_does_not_matter(short):
    model, forecast = short

    def more(x):
        return np.column_stack([x, np.full(len(x), 0.1)])

    other = clone(model).fit(more(SHORT))
    found = other.predict(more(STARTS), leads=[1, 3])
    np.testing.assert_allclose(found.mean[..., :2], forecast.mean, atol=1e-6)
    np.testing.assert_allclose(found.mean[..., 2], 0.1, atol=1e-12)
    assert found.std[..., 2].max() < 1e-6


def test_the_same_fit_gives_the_same_bits(short):
    model, forecast = short
    series = SHORT.copy()
    again = clone(model).fit(series)
    starts = STARTS.copy()
    found = again.predict(starts, leads=[1, 3])
    np.testing.assert_array_equal(found.mean, forecast.mean)
    np.testing.assert_array_equal(found.sample(5), forecast.sample(5))
    np.testing.assert_array_equal(found.sample(5, 1), forecast.sample(5, 1))
    assert (found.sample(5) != found.sample(5, 1)).any()
    # Nothing that was passed has changed.
    np.testing.assert_array_equal(series, SHORT)
    np.testing.assert_array_equal(starts, STARTS)
    assert series.flags.writeable
    assert starts.flags.writeable


def test_forecasts_of_a_start_do_not_depend_on_other_starts(short):
    model, forecast = short
    alone = model.predict(STARTS[10:12], leads=3)
    np.testing.assert_allclose(alone.mean[0, 0], forecast.mean[10, 1], rtol=1e-9)
    assert alone.rows.tolist() == [1]


def test_the_end_of_the_series_is_where_forecasts_start(short):
    model, _ = short
    end, last = model.predict(leads=[1, 2]), model.predict(SHORT[-2:], leads=[1, 2])
    np.testing.assert_allclose(end.mean, last.mean, atol=1e-9)
    assert end.rows.tolist() == [499]


def test_samples_have_the_moments_of_the_forecast(short):
    model, _ = short
    forecast = model.predict(STARTS[:4], leads=[1, 3])
    drawn = forecast.sample(4000)
    error = forecast.std / np.sqrt(4000)
    assert (np.abs(drawn.mean(axis=0) - forecast.mean) < 5 * error).all()
    np.testing.assert_allclose(drawn.std(axis=0), forecast.std, rtol=0.12)


def test_an_observable_is_forecast_as_itself(short):
    model, _ = short
    forecast = model.predict(STARTS, leads=[1, 3], observable=lambda rows: rows)
    plain = model.learned_.predictor
    begun = plain.begin(forecast.states)
    for k, lead in enumerate((1, 3)):
        for j, own in enumerate(plain.members(begun, lead, SHORT)):
            np.testing.assert_allclose(forecast.mean[:, k, j], own.mean, rtol=1e-9)
    # E x² = var + mean².
    square = model.predict(STARTS, leads=3, observable=lambda rows: rows[:, 0] ** 2)
    wanted = forecast.mean[:, 1, 0] ** 2 + forecast.variance[:, 1, 0]
    np.testing.assert_allclose(square.mean[:, 0, 0], wanted, atol=0.15)


def test_densities_of_forecasts_integrate_to_one(short):
    model, _ = short
    forecast = model.predict(STARTS[:3], leads=[1, 3])
    places = np.linspace(-12, 12, 1201)
    density = forecast.density(places, column="x1")
    np.testing.assert_allclose(density.sum(axis=-1) * 0.02, 1, rtol=1e-3)
    mean = (density * places).sum(axis=-1) * 0.02
    np.testing.assert_allclose(mean, forecast.mean[..., 1], atol=1e-2)
