"""Points of other libraries, those that are on a device already, and results that come back."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
from vbdm.base.arrays import AT_ONCE, copy_to_host, to_user
from vbdm.engines import choose
from vbdm.engines.cuda import availability
from vbdm.prepare.series import read_series

from .emulated import EmulatedDevice
from .strict_array import StrictArray

pytestmark = pytest.mark.usefixtures("fresh_look")
POINTS = np.random.default_rng(0).standard_normal((300, 2))


class FromTorch:
    """An array of another library on the device, as DLPack shows it."""

    def __init__(self, values, place=2, error=None):
        self.values, self.place, self.error = values, place, error
        self.shape = values.shape

    def __dlpack_device__(self):
        return self.place, 0

    def __dlpack__(self, **options):
        raise self.error or NotImplementedError

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


@pytest.fixture
def shared(emulated, monkeypatch):
    """The emulated device takes arrays of other libraries."""
    array = EmulatedDevice.array

    def taken(self, values):
        if isinstance(values, FromTorch):
            if values.error is not None:
                raise values.error
            return StrictArray(values.values)
        return array(self, values)

    monkeypatch.setattr(EmulatedDevice, "array", taken)
    return emulated


def test_where_arrays_live():
    there = StrictArray(POINTS)
    assert choose.is_on_device(there)
    assert choose.is_on_device(FromTorch(POINTS))
    assert choose.is_on_device(FromTorch(POINTS, 13))
    assert choose.is_on_device(SimpleNamespace(__cuda_array_interface__={}))
    for here in (
        POINTS,
        POINTS.tolist(),
        FromTorch(POINTS, 1),
        FromTorch(POINTS, 10),
        None,
        "a.npy",
    ):
        assert not choose.is_on_device(here)
        assert choose.to_engine(here, "auto") is here


def test_arrays_of_other_libraries_arrive(shared):
    there = choose.to_engine(FromTorch(POINTS), "auto")
    assert isinstance(there, StrictArray)
    parts = choose.to_engine([FromTorch(POINTS), FromTorch(POINTS)], "auto")
    assert all(isinstance(part, StrictArray) for part in parts)
    for name in ("scipy", "numba"):
        np.testing.assert_array_equal(choose.to_engine(FromTorch(POINTS), name), POINTS)
        np.testing.assert_array_equal(choose.to_engine(StrictArray(POINTS), name), POINTS)
    gradient = BufferError("Can't export tensors that require gradient, use tensor.detach()")
    with pytest.raises(
        vbdm.errors.DeviceError, match=r"cannot be shared; received FromTorch .*gradient"
    ):
        choose.to_engine(FromTorch(POINTS, error=gradient), "auto")


@pytest.mark.parametrize(
    "other", [POINTS, POINTS.tolist(), POINTS.astype(np.float32), POINTS.astype(object)]
)
@pytest.mark.parametrize("there", [StrictArray, FromTorch])
def test_series_of_which_some_are_there(shared, there, other):
    expected = np.concatenate([POINTS, np.array(other, dtype=np.float64)])
    for series in ([there(POINTS), other], (other, there(POINTS))):
        parts = choose.to_engine(series, "auto")
        assert choose.computes_on_device(parts, "auto")
        table, rows = read_series(parts)
        assert isinstance(table, StrictArray)
        np.testing.assert_allclose(np.sort(table.get(), 0), np.sort(expected, 0), rtol=1e-6)
        assert rows.lengths == (300, 300)
        table, _ = read_series(choose.to_engine(series, "scipy"))
        assert isinstance(table, np.ndarray)


def test_series_of_which_some_are_there_and_some_no_numbers(shared):
    for other, words in ((POINTS.astype(str), "text"), (POINTS * 1j, "complex")):
        with pytest.raises(vbdm.InputError, match=words):
            vbdm.estimate_operator([StrictArray(POINTS), other])
    with pytest.raises(vbdm.InputError, match="masked"):
        vbdm.estimate_operator([StrictArray(POINTS), np.ma.masked_less(POINTS, 0)])


def test_all_arrays_pass_the_device_which_may_be_another_than_theirs(shared, monkeypatch):
    elsewhere, ours = StrictArray(POINTS), StrictArray(POINTS + 1)
    monkeypatch.setattr(
        EmulatedDevice, "array", lambda self, values: ours if values is elsewhere else values
    )
    assert choose.to_engine(elsewhere, "auto") is ours
    assert choose.to_engine([elsewhere, elsewhere], "cuda") == [ours, ours]


def test_an_engine_of_the_processor_gets_a_copy(shared):
    op = vbdm.estimate_operator(FromTorch(POINTS), 1.0, run="scipy")
    assert op.settings.engine.name == "scipy"
    same = vbdm.estimate_operator(POINTS, 1.0, run="scipy")
    assert (op.density == same.density).all()


def test_points_on_a_device_without_cupy(monkeypatch):
    monkeypatch.setattr(availability, "find_spec", lambda name: None)
    with pytest.raises(vbdm.errors.DeviceError, match=r"needs CuPy.*such as X.cpu\(\)"):
        vbdm.estimate_operator(FromTorch(POINTS))


def test_other_functions_take_a_copy_of_points_there():
    there = StrictArray(POINTS)
    np.testing.assert_array_equal(
        vbdm.neighbors(there, 8).indices, vbdm.neighbors(POINTS, 8).indices
    )
    reduced, known = (vbdm.pca(X, 1).apply(POINTS) for X in (there, POINTS))
    np.testing.assert_array_equal(reduced, known)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_points_are_checked_where_they_are(emulated, bad):
    wrong = POINTS.copy()
    wrong[17, 1] = bad
    for X, options in ((wrong, {"engine": "cuda"}), (StrictArray(wrong), {})):
        with pytest.raises(vbdm.InputError, match=r"1 row\(s\) with NaN or infinity.*at row 17"):
            estimate_with(X, **options)
    far = POINTS * 1e200
    with pytest.raises(vbdm.InputError, match="too far apart"):
        vbdm.estimate_operator(StrictArray(far))
    with pytest.raises(vbdm.InputError, match="complex numbers"):
        vbdm.estimate_operator(StrictArray(POINTS * 1j))
    with pytest.raises(vbdm.InputError, match="shape"):
        vbdm.estimate_operator(StrictArray(POINTS[:, 0]))


def test_large_results_come_back_whole():
    values = np.random.default_rng(0).random((1 << 19, 3))
    there = StrictArray(values)
    assert values.size > AT_ONCE
    np.testing.assert_array_equal(copy_to_host(there), values)
    assert not to_user(there).flags.writeable
    assert to_user(there, "device") is there
