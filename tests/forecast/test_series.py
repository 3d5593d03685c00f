"""Series, their columns, rows and ends, as a forecaster takes them: the right ones, or words."""

import numpy as np
import pytest
from sklearn.base import clone

import vbdm
from vbdm.forecast.learn import latest

RNG = np.random.default_rng(0)
SERIES = np.zeros((300, 2))
for i in range(1, 300):
    SERIES[i] = 0.9 * SERIES[i - 1] + RNG.standard_normal(2)
ONE = SERIES[:, 0]


@pytest.fixture(scope="module")
def model():
    return vbdm.Forecaster("neighbours", delays=1, horizon=4).fit(SERIES)


def test_columns_in_another_order_are_refused(model):
    pd = pytest.importorskip("pandas")
    xr = pytest.importorskip("xarray")
    frame = pd.DataFrame(SERIES, columns=["u", "v"])
    named = clone(model).fit(frame)
    data = xr.Dataset({"v": ("time", SERIES[:, 1]), "u": ("time", SERIES[:, 0])})
    for other in (frame[["v", "u"]], frame.rename(columns={"v": "w"}), data):
        for use in (named.predict, named.skill):
            with pytest.raises(vbdm.InputError, match=r"those of the training series.*should be"):
                use(other)
    with pytest.raises(vbdm.InputError, match=r"those of the first series.*'v' where 'u'"):
        clone(model).fit([frame, frame[["v", "u"]]])
    # Columns without names of their own are told by their places.
    wanted = model.predict(SERIES[:5]).mean
    for start in (SERIES[:5], pd.DataFrame(SERIES[:5]), frame[:5], data[["u", "v"]].head(time=5)):
        np.testing.assert_array_equal(named.predict(start).mean, wanted)
    np.testing.assert_array_equal(model.predict(frame[["v", "u"]][:5]).shape, wanted.shape)


def test_data_sets_of_xarray_may_be_several_series(model):
    xr = pytest.importorskip("xarray")
    sets = [
        xr.Dataset({"u": ("time", part[:, 0]), "v": ("time", part[:, 1])})
        for part in (SERIES[:100], SERIES[100:])
    ]
    several = clone(model).fit(sets)
    assert several.names_ == ("u", "v")
    wanted = clone(model).fit([SERIES[:100], SERIES[100:]]).predict().mean
    np.testing.assert_array_equal(several.predict().mean, wanted)
    for wrong in ([xr.Dataset()], [sets[0], SERIES], [xr.Dataset(), 1.0]):
        with pytest.raises(vbdm.InputError, match="must be a table of numbers"):
            clone(model).fit(wrong)


def test_a_row_without_values_is_no_start(model):
    with pytest.raises(vbdm.InputError, match=r"No row of the series can be a start"):
        model.predict([[np.nan, 1.0]])


def test_a_series_of_two_numbers_needs_delays():
    coins = np.random.default_rng(3).integers(0, 2, 300)
    with pytest.raises(vbdm.InputError, match=r"too few different states.*2 different.*delays"):
        vbdm.Forecaster("neighbours", horizon=4).fit(coins)
    delayed = vbdm.Forecaster("neighbours", delays=8, horizon=4).fit(coins)
    assert np.isfinite(delayed.predict().mean).all()


def test_delays_are_chosen_where_all_columns_are_known():
    values = np.zeros((40, 2))
    values[25:, 1] = np.nan
    part, lengths = latest(values, [10, 20, 10], 18)
    assert part.shape == (18, 2)
    assert np.isfinite(part).all()
    assert lengths == (3, 15)


# --- Leads and starts -----------------------------------------------------------------------------


@pytest.mark.filterwarnings("default::vbdm.VbdmWarning")
def test_leads_beyond_the_horizon_are_doubtful(model):
    with pytest.warns(vbdm.errors.SkillWarning, match=r"Leads of 5, 50 steps were not tried.*to 4"):
        forecast = model.predict(leads=[50, 1, 5])
    assert forecast.doubtful.tolist() == [False, True, True]


@pytest.mark.filterwarnings("default::vbdm.VbdmWarning")
def test_a_start_before_the_end_is_told(model, recwarn):
    model.predict(leads=1)
    assert not recwarn
    ragged = SERIES.copy()
    ragged[-3:, 1] = np.nan
    other = clone(model).fit(ragged)
    with pytest.warns(vbdm.errors.SkillWarning, match=r"The last 3 row\(s\).*at 296"):
        assert other.predict(leads=1).init.tolist() == [296]


def test_ends_of_months_are_kept_in_a_file(model, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(SERIES, index=pd.date_range("1990-01-31", periods=300, freq="ME"))
    monthly = clone(model).set_params(season=None).fit(frame)
    monthly.save(tmp_path / "model.vbdm")
    for one in (monthly, vbdm.load(tmp_path / "model.vbdm")):
        days = one.predict(leads=[1, 2, 3]).valid_times[0].astype("datetime64[D]").astype(str)
        assert days.tolist() == ["2015-01-31", "2015-02-28", "2015-03-31"]
