"""Saved models with a wrong array, or a wrong word, in turn: each is refused, none crashes."""

import copy
import json
import time

import numpy as np
import pytest
from tests.support.archives import as_array, as_bytes, write_members
from tests.support.saved_models import MODELS, arrays_of, members_by_name, places_of

import vbdm
from vbdm.io.saved.archive import HEADER

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.fixture(scope="module", params=MODELS)
def members(request, tmp_path_factory):
    return members_by_name(request.param, tmp_path_factory.mktemp("model"))


#: Arrays that may hold NaN, or negative numbers, or be of any length.
MAY_BE_NAN = {
    "spectrum/eigenvalues.npy", "spectrum/left_out.npy", "solve/residuals.npy",
    "solve/pencil_eigenvalues.npy", "solve/set_aside.npy", "tuning/curve/slopes.npy",
}  # fmt: skip
MAY_BE_NEGATIVE = {
    "graph/points.npy", "spectrum/eigenvalues.npy", "spectrum/eigenfunctions.npy",
    "spectrum/left_out.npy", "solve/pencil_eigenvalues.npy", "tuning/curve/slopes.npy",
    "settings/method/bandwidth/potential.npy", "potential.npy", "index/rotation.npy",
    "index/basis.npy", "index/centre.npy",
}  # fmt: skip
MAY_BE_INFINITE = {"pilot/density.npy", "spectrum/extent.npy", "solve/residuals.npy"}
MAY_BE_LONGER = {"dimension/by_scale.npy", "spectrum/left_out.npy", "solve/set_aside.npy"}


OTHER_PRECISION = {
    "f8": "f4", "f4": "f8", "c16": "c8", "i4": "i2", "i8": "i2", "b1": "u1",
}  # fmt: skip


def with_last(array, value):
    changed = array.copy()
    changed.flat[-1] = value
    return changed


def wrong_versions(name, array):
    """Yield arrays that must not be accepted in place of this one, and what is wrong with them."""
    other = np.int64 if array.dtype.kind in "fc" else np.float64
    with np.errstate(invalid="ignore"):
        yield "kind", array.real.astype(other)
    yield "precision", array.astype(OTHER_PRECISION[array.dtype.str[1:]])
    yield "dates", np.zeros(array.shape, "M8[s]")
    yield "axes", array[..., None]
    yield "no axis", np.float64(1.0).reshape(())
    if name not in MAY_BE_LONGER:
        last = array[-1:] if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)
        yield "longer", np.concatenate([array, last])
    if array.size and name not in MAY_BE_LONGER:
        yield "shorter", array[:-1]
    if array.size and array.dtype.kind == "i":
        yield "below the range", with_last(array, -1)
        yield "above the range", with_last(array, 2**31 - 1)
    if array.size and array.dtype.kind == "f":
        if name not in MAY_BE_NAN:
            yield "NaN", with_last(array, np.nan)
        if name not in MAY_BE_NEGATIVE:
            yield "negative", with_last(array, -1.0)
        if name not in MAY_BE_INFINITE:
            yield "infinite", with_last(array, np.inf)


def test_every_wrong_array_is_refused(members, tmp_path):
    path = tmp_path / "model"
    for name in arrays_of(members):
        for wrong, array in wrong_versions(name, as_array(members[name])):
            write_members(path, {**members, name: as_bytes(array)})
            with pytest.raises(vbdm.InputError, match="damaged"):
                pytest.fail(f"{wrong} {name}: {vbdm.load(path)}")


def test_every_array_that_is_missing_is_refused(members, tmp_path):
    for name in arrays_of(members):
        write_members(tmp_path / "model", {k: v for k, v in members.items() if k != name})
        with pytest.raises(vbdm.InputError, match="damaged"):
            pytest.fail(f"{name}: {vbdm.load(tmp_path / 'model')}")


def changed(head, place, value=None, drop=False):
    """Return the text with another value at one place."""
    result = copy.deepcopy(head)
    part = result
    for key in place[:-1]:
        part = part[key]
    if drop:
        del part[place[-1]]
    else:
        part[place[-1]] = value
    return result


#: What a reader of models does not look at.
FREE = {("vbdm",), ("notes",)}


def test_every_key_is_looked_at(members, tmp_path):
    """An object in place of anything else is refused, and so is a key that is missing."""
    path, head = tmp_path / "model", json.loads(members[HEADER])
    for place in places_of(members):
        if place[:1] in FREE or place[-2:-1] == ("versions",):
            continue
        for wrong in (changed(head, place, {"x": 1}), changed(head, place, drop=True)):
            if place == ("settings", "versions") and "versions" in wrong["settings"]:
                continue
            write_members(path, {**members, HEADER: json.dumps(wrong)})
            with pytest.raises(vbdm.InputError):
                pytest.fail(f"{place}: {vbdm.load(path)}")


ODD = [None, True, -1, 0, 1.5, 10**30, 2**31 - 1, "nan", "word", []]


@pytest.mark.slow  # test_fuzz.py has some of these every time
def test_no_value_crashes(members, tmp_path):
    """Whatever stands in the text, it is refused in words, or harmless, and soon."""
    path, head = tmp_path / "model", json.loads(members[HEADER])
    for place in places_of(members):
        for value in ODD:
            write_members(path, {**members, HEADER: json.dumps(changed(head, place, value))})
            started = time.monotonic()
            try:
                loaded = vbdm.load(path)
            except vbdm.InputError:
                continue
            assert isinstance(loaded, vbdm.Spectrum | vbdm.Operator | vbdm.NeighborGraph)
            assert time.monotonic() - started < 10, (place, value)
