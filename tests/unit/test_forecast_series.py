"""Series, their columns, rows and ends, as a forecaster takes them: the right ones, or words."""

import numpy as np
import pytest
from sklearn.base import clone

import vbdm

pytestmark = pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning")
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
