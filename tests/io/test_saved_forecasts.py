"""Saved forecasters: the same forecasts again, and hostile files refused in words."""

import copy
import json
from contextlib import suppress

import numpy as np
import pytest
from tests.support.archives import as_array, as_bytes, members_of, write_members
from tests.support.saved_models import ROOT, places_in

import vbdm
from vbdm.io.saved.archive import HEADER
from vbdm.io.saved.forecasts import save_forecaster
from vbdm.io.saved.persistence import read_notes

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def noisy_waves(n):
    """Return two columns with a wave of 12 rows, noise, and gaps."""
    rng = np.random.default_rng(0)
    t = np.arange(n)
    found = np.c_[np.sin(2 * np.pi * t / 12), np.cos(t / 5)] + 0.1 * rng.standard_normal((n, 2))
    found[[20, 33], 0] = np.nan
    return found


SERIES = noisy_waves(240)
MONTHS = np.datetime64("1990-01") + np.arange(240)
CASES = {
    "neighbours": (vbdm.Forecaster("neighbours", delays=2), {}),
    "modes": (vbdm.Forecaster("modes", delays=1, n_modes=12), {}),
    "each lead": (vbdm.Forecaster("modes", delays=2, n_modes=6, direct=True), {}),
    "months": (vbdm.Forecaster("neighbours", delays=2), {"times": MONTHS}),
    "two series": (vbdm.Forecaster("neighbours", delays=3), {"lengths": [100, 140]}),
    "chosen": (vbdm.Forecaster(horizon=4, season=12), {"times": np.arange(240) / 4}),
}


@pytest.fixture(scope="module", params=CASES)
def both(request, tmp_path_factory):
    """A model, and what was loaded of it."""
    model, given = CASES[request.param]
    model.fit(SERIES, **given)
    path = tmp_path_factory.mktemp("saved") / "model.vbdm"
    model.save(path)
    return model, vbdm.load(path)


def test_forecasts_are_equal_bit_by_bit(both):
    there, here = (model.predict(leads=[1, 3, 30]) for model in both)
    assert np.array_equal(there.mean, here.mean)
    assert np.array_equal(there.quantile([0.05, 0.5]), here.quantile([0.05, 0.5]))
    assert np.array_equal(there.valid_times, here.valid_times)
    assert there.names == here.names


def test_what_was_decided_is_there_again(both):
    saved, loaded = both
    assert loaded.get_params() == saved.get_params()
    known = "predictor_ delays_ n_modes_ season_ horizon_ scores_ delay_scores_ n_features_in_"
    for name in known.split():
        assert getattr(loaded, name) == getattr(saved, name), name
    assert np.array_equal(loaded.operator_.inside.degrees, saved.operator_.inside.degrees)


def test_scores_on_what_was_held_out_are_the_same(both):
    saved, loaded = (model.skill_ for model in both)
    for name in ("leads", "n_cases", "rmse", "acc", "crps", "coverage90", "ignorance", "histogram"):
        assert np.array_equal(getattr(saved, name), getattr(loaded, name), equal_nan=True), name


def test_a_loaded_model_is_saved_as_the_same_file(both, tmp_path):
    for name, model in zip("ab", both, strict=True):
        vbdm.save(model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("n_modes", ["auto", 12])
def test_what_was_fitted_is_saved_and_not_what_was_set_since(n_modes, tmp_path):
    model = vbdm.Forecaster("modes", delays=2, horizon=4, n_modes=n_modes).fit(SERIES)
    wanted = model.predict(leads=[1, 3]).mean
    model.set_params(direct=True, n_modes=5, delay_step=3)
    model.save(tmp_path / "model.vbdm")
    assert np.array_equal(vbdm.load(tmp_path / "model.vbdm").predict(leads=[1, 3]).mean, wanted)


@pytest.fixture(scope="module")
def small():
    """A model of each kind, quick to make again."""
    series = noisy_waves(120)
    kinds = ("neighbours", "modes")
    return {kind: vbdm.Forecaster(kind, delays=1, horizon=3).fit(series) for kind in kinds}


def test_notes_travel_along(small, tmp_path):
    save_forecaster(small["neighbours"], tmp_path / "model", notes={"unit": "K"})
    assert read_notes(tmp_path / "model") == {"unit": "K"}
    assert vbdm.load(tmp_path / "model").predictor_ == "neighbours"


def test_files_are_replaced_and_folders_are_not(small, tmp_path):
    model = small["neighbours"]
    (tmp_path / "model").write_text("something else")
    model.save(tmp_path / "model")
    assert vbdm.load(tmp_path / "model").delays_ == 1
    for place in (tmp_path, tmp_path / "none" / "model"):
        with pytest.raises(vbdm.InputError, match="must name a file"):
            model.save(place)


def test_a_forecaster_that_is_not_fitted_is_refused(tmp_path):
    with pytest.raises(Exception, match="not fitted"):
        vbdm.Forecaster().save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


@pytest.fixture(params=["neighbours", "modes"])
def members(request, small, tmp_path):
    """The entries of a file."""
    small[request.param].save(tmp_path / "whole")
    return members_of(tmp_path / "whole")


def refused(path, what, match="damaged"):
    """Load a file, which must be refused."""
    with pytest.raises(vbdm.InputError, match=match):
        pytest.fail(f"{what}: {vbdm.load(path)}")


def wrong_arrays(name, array):
    """Yield arrays that must not be accepted in place of this one."""
    yield array.astype(np.int64 if array.dtype.kind == "f" else np.float64)
    yield array[..., None]
    yield array[:-1]
    yield np.concatenate([array, array[-1:]])
    wrong = array.copy()
    wrong.flat[-1] = np.inf if array.dtype.kind == "f" else -1
    if name != "decided/score.npy":
        yield wrong
    if name == "series/values.npy":
        yield np.zeros_like(array[:, :1])
        yield np.full_like(array, np.nan)
        yield np.full_like(array, 1e300)


def test_every_wrong_array_is_refused(members, tmp_path):
    path = tmp_path / "model"
    for name in set(members) - {HEADER}:
        write_members(path, {k: v for k, v in members.items() if k != name})
        refused(path, f"no {name}")
        for wrong in wrong_arrays(name, as_array(members[name])):
            write_members(path, {**members, name: as_bytes(wrong)})
            refused(path, f"{name} {wrong.dtype} {wrong.shape}")


def changed(head, place, *value):
    """Return the text with another value at one place, or with none."""
    result = copy.deepcopy(head)
    part = result
    for key in place[:-1]:
        part = part[key]
    if value:
        part[place[-1]] = value[0]
    else:
        del part[place[-1]]
    return result


def test_no_key_that_is_wrong_crashes(members, tmp_path):
    path, head = tmp_path / "model", json.loads(members[HEADER])
    for place in set(places_in(head)) - {("vbdm",), ("notes",)}:
        # What is missing may have a default.
        for wrong in (changed(head, place, {"x": 1}), changed(head, place)):
            write_members(path, {**members, HEADER: json.dumps(wrong)})
            with suppress(vbdm.InputError):
                vbdm.load(path)


WRONG = {
    ("decided", "delays"): [0, 10**6, 2**31 - 1],
    ("decided", "delay_step"): [0, -1],
    ("decided", "n_starts"): [0, 10**6],
    ("decided", "predictor"): ["oracle", "Modes"],
    ("cycle", "period"): [1, 1e-300, 12.0, -3.0, "nan"],
    ("axis", "kind"): ["moons", 3],
    ("axis", "step"): [0.0, -1.0, "inf", "nan"],
    ("axis", "origin"): ["inf", 1e300],
    ("series", "last_step"): [1e300, 2**62, "x"],
    ("series", "names"): [[], ["x"], ["x", 3], "xy"],
    ("parameters",): [{"delays": -1}, {"wrong": 1}, {"predictor": "oracle"}, 3],
}


def test_numbers_that_do_not_fit_are_refused(members, tmp_path):
    path, head = tmp_path / "model", json.loads(members[HEADER])
    for place, values in WRONG.items():
        for value in values:
            write_members(path, {**members, HEADER: json.dumps(changed(head, place, value))})
            refused(path, (place, value))


def test_more_modes_than_there_are_are_refused(small, tmp_path):
    path = tmp_path / "model"
    small["modes"].save(path)
    members = members_of(path)
    head = json.loads(members[HEADER])
    for value in (0, 10**6, None):
        wrong = changed(head, ("decided", "n_modes"), value)
        write_members(path, {**members, HEADER: json.dumps(wrong)})
        refused(path, value)


def test_fewer_starts_than_there_are_are_taken_evenly(members, small, tmp_path):
    head = changed(json.loads(members[HEADER]), ("decided", "n_starts"), 10)
    write_members(tmp_path / "model", {**members, HEADER: json.dumps(head)})
    loaded = vbdm.load(tmp_path / "model")
    every = small[loaded.predictor_].decided_.chosen.held.states
    kept = loaded.decided_.chosen.held.states
    assert len(kept) == 10 < len(every)
    assert (kept[0], kept[-1]) == (every[0], every[-1])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (vbdm.errors.OutOfMemoryError("It would not fit."), "^It would not fit"),
        (vbdm.errors.SolverError("No solver."), "series/values make no states"),
    ],
)
def test_a_series_that_is_not_learned_again(error, words, small, tmp_path, monkeypatch):
    def fail(*_):
        raise error

    small["neighbours"].save(tmp_path / "model")
    monkeypatch.setattr("vbdm.io.saved.forecasts.predictor_of", fail)
    refused(tmp_path / "model", error, words)


def test_the_page_on_the_format_says_everything(members):
    text = (ROOT / "docs" / "file-format.md").read_text()
    told = text[text.index("## Forecasters") :]
    assert all(f"`{name}`" in told for name in set(members) - {HEADER})
    for place in places_in(json.loads(members[HEADER])):
        if place[0] not in ("vbdm", "format", "version", "notes") and "parameters" not in place:
            assert f"`{place[-1]}`" in told, place
