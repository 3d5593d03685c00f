"""Saved models with a wrong array, or a wrong word, in turn: each is refused, none crashes."""

import copy
import json
import time
import zipfile

import numpy as np
import pytest
from tests.support.archives import as_array, as_bytes, write_members
from tests.support.saved_models import MODELS, arrays_of, members_by_name, places_of

import vbdm
from vbdm.io.saved.archive import HEADER

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.fixture(scope="module", params=MODELS)
def members(request):
    return members_by_name(request.param)


#: Arrays that may hold NaN, or negative numbers, or be of any length.
MAY_BE_NAN = {
    "spectrum/eigenvalues.npy", "spectrum/left_out.npy", "log/residuals.npy",
    "log/pencil_eigenvalues.npy", "log/set_aside.npy", "tuning/curve/slopes.npy",
}  # fmt: skip
MAY_BE_NEGATIVE = {
    "graph/points.npy", "spectrum/eigenvalues.npy", "spectrum/eigenfunctions.npy",
    "spectrum/left_out.npy", "log/pencil_eigenvalues.npy", "tuning/curve/slopes.npy",
    "settings/method/bandwidth/potential.npy", "operator/potential.npy", "index/rotation.npy",
    "index/basis.npy", "index/centre.npy",
}  # fmt: skip
MAY_BE_INFINITE = {"pilot/density.npy", "spectrum/extent.npy", "log/residuals.npy"}
MAY_BE_LARGE = {"dimension/scales.npy"}
MAY_BE_LONGER = {"dimension/by_scale.npy", "spectrum/left_out.npy", "log/set_aside.npy"}


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
        if name not in MAY_BE_LARGE:
            yield "above the range", with_last(array, 2**31 - 1)
    if array.size and array.dtype.kind == "f":
        if name not in MAY_BE_NAN:
            yield "NaN", with_last(array, np.nan)
        if name not in MAY_BE_NEGATIVE:
            yield "negative", with_last(array, -1.0)
        if name not in MAY_BE_INFINITE:
            yield "infinite", with_last(array, np.inf)


def test_every_wrong_array_is_refused(members, tmp_path):
    """Even by a forger, who writes a right checksum."""
    path = tmp_path / "model"
    for name in arrays_of(members):
        for wrong, array in wrong_versions(name, as_array(members[name])):
            write_members(path, {**members, name: as_bytes(array)})
            with pytest.raises(vbdm.InputError, match="damaged"):
                pytest.fail(f"{wrong} {name}: {vbdm.load(path)}")


def test_every_change_is_noticed(tmp_path):
    """Of an array or of the text, and what is missing, twice, or new."""
    path = tmp_path / "model"
    MODELS["plain"]().save(path)
    with zipfile.ZipFile(path) as archive:
        seal, entries = archive.comment, members_by_name("plain")
    for name, content in entries.items():
        changed = bytearray(content)
        changed[-1] ^= 1
        missing = {k: v for k, v in entries.items() if k != name}
        for wrong in ({**entries, name: bytes(changed)}, missing, {**entries, "more": b""}):
            write_members(path, wrong, seal=seal)
            with pytest.raises(vbdm.InputError, match="not a result saved by vbdm"):
                pytest.fail(f"{name}: {vbdm.load(path)}")


def loaded(path):
    """Return what a forged file holds; None if it is refused in words."""
    try:
        return vbdm.load(path)
    except vbdm.InputError:
        return None


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


ODD = [None, True, -1, 0, 1.5, 10**30, 2**31 - 1, "nan", "word", []]


def test_what_is_missing_or_of_another_kind_does_not_crash(members, tmp_path):
    path, head = tmp_path / "model", json.loads(members[HEADER])
    for name in arrays_of(members):
        write_members(path, {k: v for k, v in members.items() if k != name})
        loaded(path)
    for place in places_of(members):
        for wrong in (changed(head, place, {"x": 1}), changed(head, place, drop=True)):
            write_members(path, {**members, HEADER: json.dumps(wrong)})
            loaded(path)


@pytest.mark.slow  # the fuzz tests have some of these cases every time
def test_no_value_crashes(members, tmp_path):
    """Whatever stands in the text, it is refused in words, or harmless, and soon."""
    path, head = tmp_path / "model", json.loads(members[HEADER])
    for place in places_of(members):
        for value in ODD:
            write_members(path, {**members, HEADER: json.dumps(changed(head, place, value))})
            started = time.monotonic()
            loaded(path)
            assert time.monotonic() - started < 10, (place, value)
