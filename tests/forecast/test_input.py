"""Whatever is passed to a forecaster: a sane forecast, or words, and never a raw exception."""

import datetime
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

import vbdm


def ou(n, seed=0, dim=1):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, dim))
    for i in range(1, n):
        x[i] = 0.9 * x[i - 1] + np.sqrt(1 - 0.81) * x[i]
    return x


SERIES = ou(300, dim=2)
ONE = SERIES[:, :1]


@pytest.fixture(scope="module", params=["neighbours", "modes"])
def model(request):
    return vbdm.Forecaster(request.param, delays=1, horizon=4).fit(SERIES)


@pytest.fixture(scope="module")
def one():
    return vbdm.Forecaster("neighbours", delays=1, horizon=4).fit(ONE)


# --- Series that are none -------------------------------------------------------------------------

A_TABLE = "must be a table of numbers"
BAD_SERIES = {
    "text": ("abc", A_TABLE),
    "nothing": (None, A_TABLE),
    "a number": (5.0, A_TABLE),
    "an empty list": ([], A_TABLE),
    "no columns": (np.empty((40, 0)), A_TABLE),
    "no rows": (np.empty((0, 2)), A_TABLE),
    "three dimensions": (np.ones((40, 2, 2)), A_TABLE),
    "words": ([["a", "b"]] * 40, A_TABLE),
    "complex numbers": (np.full(40, 1j), A_TABLE),
    "dates": (np.arange(40).astype("datetime64[D]"), A_TABLE),
    "a dictionary": ({"x": [1.0]}, A_TABLE),
    "ragged": ([[1.0], [1.0, 2.0]] * 20, A_TABLE),
    "ragged, deeper": ([[[1.0], [1.0, 2.0]]], A_TABLE),
    "huge whole numbers": ([10**400] * 40, A_TABLE),
    "infinity": (np.where(np.arange(40) == 3, np.inf, ou(40)[:, 0]), "infinite values"),
    "too large": (1e200 * ONE, "too large"),
    "a column of NaN": (np.column_stack([ONE, np.full(300, np.nan)]), r"column\(s\) 1"),
    "all NaN": (np.full(300, np.nan), "no values"),
    "constant": (np.full(300, 0.1), "All points are the same"),
    "all rows equal": (np.ones((300, 3)), "All points are the same"),
    "too short": (ONE[:29], "too short.*29 rows"),
    "one row": (ONE[:1], "too short"),
    "a row instead of a column": (ONE.T, "too short.*1 rows"),
    "few complete rows": (np.where(np.arange(300)[:, None] < 20, SERIES, [1, np.nan]), "20 compl"),
    "single rows": (list(SERIES[:, None, :]), "do not follow each other"),
    "every other row": (np.where(np.arange(300)[:, None] % 2, ONE, np.nan), "do not follow"),
    "different columns": ([SERIES, ONE], "same columns.*1, 2"),
    "an empty series": ([SERIES, SERIES[:0]], A_TABLE),
    "a series and a word": ([SERIES, "a"], A_TABLE),
}


@pytest.mark.parametrize("name", BAD_SERIES)
@pytest.mark.parametrize("predictor", ["modes", "auto"])
def test_series_that_are_none_are_refused_in_words(name, predictor):
    series, words = BAD_SERIES[name]
    with pytest.raises(vbdm.InputError, match=f"(?s){words}"):
        vbdm.Forecaster(predictor, delays=1).fit(series)


@pytest.mark.parametrize("times", [np.arange(299), np.ones((300, 2)), [[1], [1, 2]], 5])
def test_times_that_are_not_those_of_the_rows(times):
    with pytest.raises(vbdm.InputError, match=r"must have one entry for each row.*300 rows"):
        vbdm.Forecaster().fit(ONE, times=times)


@pytest.mark.parametrize(
    "lengths", [[100, 100], [300, 0], [310, -10], "ab", [150.0, 150.0], 3, [], [[300]]]
)
def test_lengths_that_do_not_add_up(lengths):
    with pytest.raises(vbdm.InputError, match="must cut the rows into series"):
        vbdm.Forecaster().fit(ONE, lengths=lengths)


def test_delays_beyond_the_series():
    for options in ({"delays": 290}, {"delays": 10**30}, {"delays": 2, "delay_step": 10**30}):
        with pytest.raises(vbdm.InputError, match="too short to learn a forecast"):
            vbdm.Forecaster(**options).fit(ONE)


# --- Awkward series that are some -----------------------------------------------------------------

STEPS = np.arange(300)
AWKWARD = {
    "three numbers": np.random.default_rng(1).integers(0, 3, 300),
    "a cycle of four": STEPS % 4,
    "a constant column": np.column_stack([ONE, np.full(300, 0.1)]),
    "a column of zeros": np.column_stack([np.zeros(300), ONE]),
    "copies of rows": np.repeat(SERIES[:100], 3, axis=0),
    "masked": np.ma.masked_array(SERIES, mask=np.random.default_rng(2).random((300, 2)) < 0.05),
    "NaN": np.where(np.random.default_rng(3).random((300, 2)) < 0.05, np.nan, SERIES),
    "every third row": np.where(STEPS[:, None] % 3, SERIES, np.nan),
    "a column known early": np.where((STEPS[:, None] < 60) | [True, False], SERIES, np.nan),
    "a column known in one place": np.where((STEPS[:, None] < 35) | [True, False], SERIES, np.nan),
    "short series": [SERIES[i : i + 3] for i in range(0, 300, 3)],
    "pairs": [SERIES[i : i + 2] for i in range(0, 300, 2)],
    "a row alone": [SERIES[:150], SERIES[150:151], SERIES[151:]],
    "a row alone at the end": [SERIES[:150], SERIES[150:299], SERIES[299:]],
    "a hole in a short series": [SERIES[:150], SERIES[150:], np.array([[1.0, np.nan]])],
    "the fewest rows": SERIES[:30],
    "more columns than rows": ou(40, dim=50),
    "far from zero": SERIES + 1e9,
    "small": SERIES * 1e-12,
    "a trend": np.arange(300.0),
    "growth": np.exp(STEPS / 20),
    "lists": SERIES.tolist(),
    "one list": ONE[:, 0].tolist(),
    "float32": SERIES.astype(np.float32),
    "Fortran order": np.asfortranarray(SERIES),
    "objects": SERIES.astype(object),
}  # fmt: skip


def rows_of(series):
    """Return all rows as one table of floats."""
    several = isinstance(series, list) and isinstance(series[0], np.ndarray)
    table = (
        np.concatenate(series) if several else np.ma.filled(np.ma.asarray(series, float), np.nan)
    )
    return table.reshape(len(table), -1).astype(float)


@pytest.mark.parametrize("name", AWKWARD)
@pytest.mark.parametrize("options", [{"predictor": "neighbours"}, {"predictor": "modes"}])
def test_awkward_series_have_sane_forecasts(name, options):
    """No NaN, and means inside what the record has seen."""
    series = AWKWARD[name]
    model = vbdm.Forecaster(delays=1, horizon=4, **options).fit(series)
    forecast = model.predict(leads=[1, 4, 50])
    table = rows_of(series)
    low, high = np.nanmin(table, axis=0), np.nanmax(table, axis=0)
    assert np.isfinite(forecast.mean).all()
    assert np.isfinite(forecast.variance).all()
    room = 1e-9 * (1 + np.abs(high))
    assert (forecast.mean >= low - room).all()
    assert (forecast.mean <= high + room).all()
    # No distribution has more than half of its range for a standard deviation; the spread that is
    # set by what is held out is at most 5.
    assert (forecast.std <= 2.5 * (high - low) + room).all()
    assert model.skill_.crps.shape == (4, len(model.skill_.leads), table.shape[1])


def test_a_short_series_chooses_without_delays_that_do_not_fit():
    model = vbdm.Forecaster().fit(ou(35))
    assert np.isfinite(model.predict(leads=1).mean).all()


def test_the_end_of_series_is_counted_in_the_series_that_has_it():
    """The last series is too short for a state: forecasts start at the end of the one before it."""
    parts, times = [ONE[:100], ONE[100:200], ONE[:1]], [*range(100), *range(500, 600), 900]
    model = vbdm.Forecaster("neighbours", delays=2, horizon=4).fit(parts, times=times)
    assert model.predict(leads=1).init.tolist() == [599]


# --- predict --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "leads",
    [0, -1, 1.5, "a", "3", [], [[1, 2]], [1, 0], [1, None], {}, np.nan, np.inf, 10**7, 2**63,
     1e308, 10**400, slice(None), datetime.date(2000, 1, 1)],
)  # fmt: skip
def test_leads_that_are_none(one, leads):
    for use in (lambda: one.predict(leads=leads), lambda: one.skill(ONE, leads=leads)):
        with pytest.raises(vbdm.InputError, match="`leads` must be whole numbers"):
            use()


def test_leads_are_ascending_and_each_is_there_once(one):
    assert one.predict(leads=[5, 1, 5, 2.0]).leads.tolist() == [1, 2, 5]
    assert one.predict(leads=3).shape == (1, 1, 1)
    assert one.predict().leads.tolist() == [1, 2, 3, 4]
    assert one.predict(leads=range(1, 4)).shape == (1, 3, 1)


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (SERIES, "columns of the training series"),
        ("abc", A_TABLE),
        (1.0, A_TABLE),
        ([np.inf], "infinite"),
        ([1e200], "too large"),
        ([[1.0, 2.0]], "columns of the training series"),
        (np.array([np.nan]), "no values|No row of the series can be a start"),
    ],
)
def test_starts_that_are_none(one, start, words):
    for use in (one.predict, one.skill):
        with pytest.raises(vbdm.InputError, match=words):
            use(start)


def test_no_row_can_be_a_start():
    model = vbdm.Forecaster("neighbours", delays=3, horizon=4).fit(ONE)
    with pytest.raises(vbdm.InputError, match=r"No row .* can be a start.*3 row\(s\) in all"):
        model.predict(ONE[:2])
    with pytest.raises(vbdm.InputError, match="No row"):
        model.predict([1.0, np.nan, 1.0, 2.0])
    assert model.predict([np.nan, 1.0, 0.5, 0.2, 0.1], leads=1).rows.tolist() == [3, 4]


@pytest.mark.filterwarnings("default::vbdm.errors.OutsideWarning")
@pytest.mark.parametrize("far", [30.0, 1e6, 1e99])
def test_starts_far_outside_are_those_of_the_nearest_state(model, far):
    with pytest.warns(vbdm.errors.OutsideWarning, match="1 of 2 starts"):
        found = model.predict([[far, far], [0.0, 0.0]], leads=[1, 3])
    assert found.outside.tolist() == [True, False]
    low, high = SERIES.min(axis=0), SERIES.max(axis=0)
    assert ((found.mean > 1.5 * low) & (found.mean < 1.5 * high)).all()


@pytest.mark.parametrize(("n_starts", "times_each"), [(250, 1), (2001, 5)])
def test_what_a_forecast_begins_with_is_kept_unless_it_is_much(one, n_starts, times_each):
    """All questions ask the same starts; of very many, nothing may stay in memory."""
    plain, begun = type(one.learned_.predictor).begin, []
    starts = np.resize(ONE, (n_starts, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            type(one.learned_.predictor), "begin",
            lambda self, states: begun.append(len(states)) or plain(self, states),
        )  # fmt: skip
        forecast = one.predict(starts, leads=[1, 2])
        forecast.mean, forecast.quantile(0.5), forecast.sample(2), forecast.density([0.0])
    assert sum(begun) == times_each * n_starts
    assert max(begun) <= 200
    np.testing.assert_array_equal(forecast[7:9].mean, one.predict(starts[7:9], leads=[1, 2]).mean)


@pytest.mark.parametrize(
    "observable",
    ["a", 3, lambda: 1, lambda rows: "x", lambda rows: rows[:3], lambda rows: 1.0,
     lambda rows: rows[:, :, None], lambda rows: np.full(len(rows), np.nan),
     lambda rows: np.full(len(rows), -np.inf), lambda rows: None],
)  # fmt: skip
def test_observables_that_are_none(one, observable):
    with pytest.raises(vbdm.InputError, match="`observable`"):
        one.predict(observable=observable)


def test_answers_to_wrong_questions(one):
    forecast = one.predict(leads=[1, 2])
    for p in (-0.1, 1.1, "a", np.nan, [[0.1]], [0.5, 2], None):
        with pytest.raises(vbdm.InputError, match="`p` must be probabilities"):
            forecast.quantile(p)
    for level in (-0.1, 1.1, "a", np.nan, None):
        with pytest.raises(vbdm.InputError, match="`level`"):
            forecast.interval(level)
    for n in (0, -1, 1.5, "a", None, 10**9):
        with pytest.raises(vbdm.InputError, match="`n`"):
            forecast.sample(n)
    for values in ("a", [np.nan], [[1.0]], None):
        with pytest.raises(vbdm.InputError, match="`values`"):
            forecast.density(values)
    for column in ("b", 1, -1, 1.5, None, [0]):
        with pytest.raises(vbdm.InputError, match="no such column"):
            forecast.density([0.0], column)


# --- filter ---------------------------------------------------------------------------------------

SEEN = SERIES[:9]


@pytest.mark.parametrize(
    "observations",
    ["abc", 1.0, None, [], {}, {1.0}, iter([1.0]), object(), [1.0, "a"], [[1.0, "a"]], [1j],
     [object()], np.array(3.0)],
)  # fmt: skip
def test_observations_that_are_none(one, observations):
    with pytest.raises(vbdm.InputError, match=r"`observations` must be a list|An observation must"):
        one.filter(observations, 0.5)


@pytest.mark.parametrize(
    ("observations", "deviation", "columns"),
    [
        ([1.0, 2.0], 0.5, None),
        ([[1.0, 2.0, 3.0]], 0.5, None),
        ([[1.0, 2.0], [1.0]], 0.5, None),
        (np.ones((3, 2, 1)), 0.5, None),
        (SEEN, [0.1, 0.2, 0.3], None),
        (SEEN, 0.5, [0]),
        (SEEN[:, 0], [0.5, 0.5], [0]),
    ],
)
def test_observations_that_do_not_fit(model, observations, deviation, columns):
    with pytest.raises(vbdm.InputError, match="do not fit the columns"):
        model.filter(observations, deviation, columns=columns)


@pytest.mark.parametrize(
    "likelihood",
    [0, -1, "a", np.nan, np.inf, None, [[0.5]], [0.5, -1], lambda y: 1, lambda y, rows: None,
     lambda y, rows: 1.0, lambda y, rows: np.ones((len(rows), 1)), lambda y, rows: -rows[:, 0] ** 2,
     lambda y, rows: np.full(len(rows), np.nan), lambda y, rows: np.full(len(rows), np.inf)],
)  # fmt: skip
def test_likelihoods_that_are_none(model, likelihood):
    with pytest.raises(vbdm.InputError, match="`likelihood`"):
        model.filter(SEEN, likelihood)


@pytest.mark.parametrize("columns", [["z"], [2], [-1], [], 1.5, [1.0], [None], "", {}, [[0]]])
def test_columns_that_are_none(model, columns):
    with pytest.raises(vbdm.InputError, match=r"no such column|names no column"):
        model.filter(SEEN[:, 0], 0.5, columns=columns)


@pytest.mark.parametrize("columns", [0, "x0", [0], ["x0"], (0,), np.array([0]), np.int64(0)])
def test_columns_by_number_and_name(model, columns):
    found = model.filter(SEEN[:, 0], 0.5, columns=columns)
    np.testing.assert_array_equal(found.mean, model.filter(SEEN[:, :1], 0.5, columns=[0]).mean)


@pytest.mark.parametrize("unit", [1e-308, 1e-200, 1.0, 1e300])
def test_the_unit_of_a_likelihood_does_not_matter(model, unit):
    plain = model.filter(SEEN, 0.5)
    found = model.filter(
        SEEN, lambda y, rows: unit * np.exp(-2 * ((rows - y) ** 2).sum(axis=1)).clip(1e-4)
    )
    assert np.isfinite(found.evidence).all()
    np.testing.assert_allclose(found.mean, plain.mean, atol=0.1)


def test_observations_may_be_missing_in_any_way(model):
    wanted = SEEN.copy()
    wanted[0] = wanted[4] = np.nan
    wanted[2, 1] = np.nan
    plain = model.filter(wanted, 0.5)
    listed = [None if i in (0, 4) else row.tolist() for i, row in enumerate(wanted)]
    masked = np.ma.masked_invalid(wanted)
    for seen in (listed, masked):
        np.testing.assert_array_equal(model.filter(seen, 0.5).mean, plain.mean)
    assert plain.observed.tolist() == [False, True, True, True, False, True, True, True, True]


@pytest.mark.parametrize("deviation", [1e-3, 1e-6])
def test_observations_far_away_are_told_from_each_other(model, deviation):
    # Likelihoods are too small to be numbers: their logarithms are not.
    far = SEEN + 50.0
    found = model.filter(far, deviation)
    rows = model.learned_.record.values[model.learned_.record.rows]
    away = ((rows[None] - far[:, None]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(found.mean, rows[away.argmin(axis=1)])
    assert found.restarted.all()
    # Evidence falls with the squares of distances, but for what unexpected states cost.
    np.testing.assert_allclose(found.evidence, -0.5 * away.min(axis=1) / deviation**2, rtol=1e-3)


def test_likelihoods_that_are_all_0_leave_the_record(model):
    found = model.filter(SEEN, lambda y, rows: np.zeros(len(rows)))
    rows = model.learned_.record.values[model.learned_.record.rows]
    np.testing.assert_allclose(found.mean, np.broadcast_to(rows.mean(axis=0), found.mean.shape))
    np.testing.assert_allclose(found.evidence, np.log(np.finfo(float).tiny))


def test_units_of_likelihoods_do_not_matter(model):
    given = [
        model.filter(SEEN, lambda y, rows, size=size: size * np.exp(-2 * ((rows - y) ** 2).sum(1)))
        for size in (1.0, 1e-200)
    ]
    np.testing.assert_allclose(given[0].mean, given[1].mean)
    np.testing.assert_allclose(given[0].evidence + np.log(1e-200), given[1].evidence)


def test_impossible_observations_restart_the_filter(model):
    for far in (1e3, 1e308):
        seen = SEEN.copy()
        seen[4] = far
        found = model.filter(seen, 0.5)
        # The state most like it may be so odd that what comes next is not expected either.
        assert found.restarted[:5].tolist() == [i == 4 for i in range(5)]
        assert not found.restarted[-1]
        assert np.isfinite(found.mean).all()
        # What comes after it is believed again.
        assert np.abs(found.mean[-1] - model.filter(SEEN, 0.5).mean[-1]).max() < 0.5


# --- Frames ---------------------------------------------------------------------------------------


def test_frames_of_pandas_have_names_and_dates():
    pd = pytest.importorskip("pandas")
    days = pd.date_range("2000-01-01", periods=300, freq="D")
    frame = pd.DataFrame({"u": SERIES[:, 0], "v": SERIES[:, 1]}, index=days)
    plain = vbdm.Forecaster("neighbours", delays=1, horizon=4).fit(SERIES)
    for other in (frame, frame.tz_localize("UTC"), frame.to_period("D")):
        model = clone(plain).fit(other)
        forecast = model.predict(leads=[1, 2])
        assert forecast.names == ("u", "v")
        assert forecast.valid_times[0, 1] == np.datetime64("2000-10-28")
        np.testing.assert_array_equal(forecast.mean, plain.predict(leads=[1, 2]).mean)
    # Rows without a date of their own are counted.
    assert model.predict(SERIES[:2], leads=1).init.tolist() == [0, 1]
    gone = frame.drop(frame.index[100:103])
    assert clone(plain).fit(gone).learned_.record.n_rows == 300
    found = model.filter(frame["u"].iloc[:9], 0.5, columns="u")
    np.testing.assert_array_equal(found.mean, plain.filter(SEEN[:, 0], 0.5, columns=[0]).mean)
    found = model.filter(frame.iloc[:9], 0.5)
    np.testing.assert_array_equal(found.mean, plain.filter(SEEN, 0.5).mean)
    with pytest.raises(vbdm.InputError, match=A_TABLE):
        clone(plain).fit(frame.assign(name="x"))
    one = clone(plain).fit(frame["u"])
    assert one.names_ == ("u",)


def test_arrays_of_xarray_have_names_and_dates():
    xr = pytest.importorskip("xarray")
    time = np.arange("2000-01-01", "2000-10-27", dtype="datetime64[D]").astype("datetime64[ns]")
    array = xr.DataArray(SERIES, dims=("time", "place"), coords={"time": time}, name="sst")
    plain = vbdm.Forecaster("neighbours", delays=1, horizon=4).fit(SERIES)
    data = xr.Dataset(
        {"sst": array, "mask": ("place", [1.0, 0.0]), "crs": ((), 1), "bounds": ("time", time)}
    )
    # A single dimension is time whatever its name; an array without name has columns without names.
    single = clone(plain).fit(xr.DataArray(SERIES[:, 0], dims="step"))
    np.testing.assert_array_equal(
        single.predict(leads=2).mean, clone(plain).fit(SERIES[:, 0]).predict(leads=2).mean
    )
    assert single.names_ == clone(plain).fit(SERIES[:, 0]).names_
    for other in (array, array.T, data):
        model = clone(plain).fit(other)
        assert model.names_ == ("sst0", "sst1")
        forecast = model.predict(leads=[1, 2])
        assert forecast.init[0] == np.datetime64("2000-10-26")
        np.testing.assert_array_equal(forecast.mean, plain.predict(leads=[1, 2]).mean)
    bare = xr.Dataset({"bounds": ("time", time)})
    for wrong in (
        xr.DataArray(np.ones((40, 2)), dims=("x", "y")),
        xr.DataArray(1.0),
        xr.Dataset(),
        bare,
    ):
        with pytest.raises(vbdm.InputError, match="No dimension of the array is time"):
            vbdm.Forecaster().fit(wrong)


# --- The estimator --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{"predictor": "lorenz"}, {"predictor": None}, {"delays": 0}, {"delays": 1.0}, {"delays": "2"},
     {"delay_step": 0}, {"n_modes": 1}, {"n_modes": np.nan}, {"direct": "yes"}, {"season": 1},
     {"season": True}, {"season": 12.5}, {"horizon": 0}, {"horizon": [4]}, {"verbose": "loud"}],
)  # fmt: skip
def test_absurd_parameters_are_refused_by_scikit_learn(options):
    with pytest.raises(InvalidParameterError, match=f"'{next(iter(options))}' parameter"):
        vbdm.Forecaster(**options).fit(ONE)


@pytest.mark.parametrize("season", [301, 10**10, 10**400])
def test_a_cycle_longer_than_the_series(season):
    with pytest.raises(vbdm.InputError, match="shorter than its cycle"):
        vbdm.Forecaster(season=season).fit(ONE)


def test_large_numbers_are_cut_to_what_there_is():
    for options in ({"n_modes": 10**30}, {"horizon": 10**30}):
        model = vbdm.Forecaster("modes", delays=1, **{"horizon": 4, **options}).fit(ONE[:60])
        assert np.isfinite(model.predict(leads=1).mean).all()
        assert model.horizon_ <= 30
        assert model.n_modes_ <= 30


def test_nothing_is_known_before_the_fit():
    model = vbdm.Forecaster()
    for use in (
        model.predict, lambda: model.skill(ONE), lambda: model.filter(ONE, 1.0),
        lambda: model.score(ONE), lambda: model.skill_,
    ):  # fmt: skip
        with pytest.raises(NotFittedError):
            use()


def test_parameters_are_those_of_scikit_learn():
    model = vbdm.Forecaster("modes", delays=3, delay_step=2, n_modes=7, direct=True, season=None)
    other = clone(model)
    assert other.get_params() == model.get_params()
    assert set(model.get_params()) == {
        "predictor", "delays", "delay_step", "n_modes", "direct", "season", "horizon", "verbose",
    }  # fmt: skip
    assert other.set_params(delays=1).delays == 1
    assert repr(model).startswith("Forecaster(")
    with pytest.raises(ValueError, match="Invalid parameter"):
        model.set_params(delay=1)


def test_a_pickled_model_gives_the_same_forecasts(model):
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict().mean, model.predict().mean)
    np.testing.assert_array_equal(again.skill_.crps, model.skill_.crps)
    # With what has been computed on the way.
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.skill_.crps, model.skill_.crps)
    np.testing.assert_array_equal(again.filter(SEEN, 0.5).mean, model.filter(SEEN, 0.5).mean)


def test_a_second_fit_forgets_the_first():
    model = vbdm.Forecaster("neighbours", delays=1, horizon=4).fit(SERIES)
    first = model.skill_
    model.fit(ONE[:100])
    assert model.n_features_in_ == 1
    assert model.skill_ is not first
    assert model.skill_.crps.shape[-1] == 1
