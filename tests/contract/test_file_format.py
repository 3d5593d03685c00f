"""The written format of saved models: an old file is still read, a wrong one never crashes."""

import copy
import json
import re
import shutil
import time
import zipfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from tests.support.archives import as_array, as_bytes, edit_header, members_of, write_members

import vbdm
from vbdm.base.credit import Credit
from vbdm.base.references import Citation
from vbdm.io.saved.archive import HEADER

pytestmark = pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning", "ignore::RuntimeWarning")
ROOT = Path(__file__).parents[2]
SPHERE = ROOT / "tests" / "data" / "sphere-v2.vbdm"
RNG = np.random.default_rng(0)
CLOUD = RNG.standard_normal((80, 2))
TURN = RNG.uniform(0, 2 * np.pi, (80, 1))
CURVE = np.c_[np.cos(TURN), np.sin(TURN), 0.01 * RNG.standard_normal((80, 30))]


# --- A file of version 2, made once ---------------------------------------------------------------


def test_a_file_of_version_2_is_read():
    spectrum = vbdm.load(SPHERE)
    np.testing.assert_allclose(
        spectrum.eigenvalues, [0.0, -1.275895848863818, -1.5549698314016451], rtol=1e-14
    )
    np.testing.assert_allclose(
        spectrum.eigenfunctions[[0, 17, 59]],
        [
            [1.0, 0.5268301112172635, -1.245994553048776],
            [1.0, -0.9869050466964986, -1.0559538691697863],
            [1.0, 0.05613465695743804, 0.11732532650351485],
        ],
        rtol=1e-14,
    )
    assert spectrum.operator.n_points == 60
    assert spectrum.operator.n_neighbors == 30
    assert spectrum.operator.epsilon == 0.009309650340016977
    assert vbdm.io.saved.persistence.read_notes(SPHERE) == {
        "made by": "tests/data/make_sphere_v2.py"
    }


def test_a_file_of_version_2_says_what_was_decided():
    spectrum = vbdm.load(SPHERE)
    found = spectrum.settings.as_dict()
    assert found.pop("versions")["vbdm"] == "0.1.0.dev0"
    assert found == {
        "method": "resolved",
        "given": ["operator"],
        "effort": 1.0,
        "alpha": 0.04318617893461196,
        "beta": -0.5,
        "c1": 0.0,
        "dim": 1.8272552842615524,
        "bandwidth_rule": "PowerOfDensity(beta=-0.5)",
        "dimension_rule": "ByRatios(n_neighbors=32)",
        "epsilon_rule": "ByDegree()",
        "form": "symmetric",
        "shape": "Gaussian()",
        "truncation": 0.001,
        "leave_one_out": True,
        "limiter": "Limiter(kappa=2.0, cap=0.02, n_reference=9, passes=1)",
        "finite_sample": True,
        "n_density_neighbors": 16,
        "neighbors_from": "given",
        "one_way_share": 1.0,
        "copies_merged": True,
        "smallest_piece": 16,
        "search": "KDTree",
        "search_reason": "3 columns: the k-d tree wins",
    }
    assert spectrum.solver == "Dense"
    assert spectrum.operator.dimension.credit.references[0].key == "LevinaBickel2004"


def test_a_file_of_version_2_is_extended_to_new_points():
    extension = vbdm.load(SPHERE).extend([[0.6, 0.0, 0.8], [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(
        extension.values[0], [1.0, 0.990754063388109, -0.7475608213045204], rtol=1e-9
    )
    np.testing.assert_allclose(extension.density, [0.11212998362664725, 0.0], rtol=1e-9)
    assert extension.outside.tolist() == [False, True]


def test_a_file_of_version_2_is_written_as_it_was_read(tmp_path):
    """Entries and keys stay where they are; only who wrote it may change."""
    notes = vbdm.io.saved.persistence.read_notes(SPHERE)
    vbdm.save(vbdm.load(SPHERE), tmp_path / "again", notes=notes)
    before, after = members_of(SPHERE), members_of(tmp_path / "again")
    assert list(after) == list(before)
    heads = [json.loads(members.pop(HEADER)) for members in (before, after)]
    assert heads[0].pop("vbdm")
    assert heads[1].pop("vbdm") == vbdm.__version__
    assert heads[0] == heads[1]
    assert before == after


@pytest.mark.parametrize(
    ("version", "words"),
    [(1, "before its first release"), (3, "newer version"), (99, "newer version")],
)
def test_other_versions_are_refused_with_words(version, words, tmp_path):
    path = tmp_path / "model"
    shutil.copy(SPHERE, path)
    edit_header(path, version=version)
    for read in (vbdm.load, vbdm.io.saved.persistence.read_notes):
        with pytest.raises(vbdm.InputError, match=words) as caught:
            read(path)
        assert f"format version {version} from vbdm" in str(caught.value)


# --- Every array and every key --------------------------------------------------------------------


def spectrum_of(X, operator="laplacian", **settings):
    return vbdm.estimate_operator(X, operator, **settings).spectrum(3)


def flow():
    return vbdm.estimate_operator(CLOUD, potential=(CLOUD**2).sum(axis=1) / 2).spectrum(3)


def two_sided():
    rho = 1 + 0.1 * RNG.random(80)
    return spectrum_of(CLOUD, method="paper", form="two-sided", bandwidth=(rho, rho))


def released():
    """A graph that has given up its lists, as those of more than 10,000 points do."""
    op = vbdm.estimate_operator(CLOUD)
    return op.with_kernel(op.kernel.without_lists()).spectrum(3)


def turned():
    return spectrum_of(np.c_[CLOUD, np.zeros((80, 10))])


#: Models that together have everything that a file may hold.
MODELS = {
    "plain": lambda: vbdm.load(SPHERE),
    "copies": lambda: spectrum_of(np.vstack([CLOUD, CLOUD[:30]])),
    "paper": lambda: spectrum_of(CLOUD, method="paper", shape="compact"),
    "left": lambda: spectrum_of(CLOUD, method="paper", form="left"),
    "two-sided": two_sided,
    "potential": flow,
    "bandwidth": lambda: spectrum_of(CLOUD, bandwidth=1 + 0.1 * CLOUD[:, 0] ** 2),
    "released": released,
    "turned": turned,
    "projected": lambda: spectrum_of(vbdm.neighbors(CURVE, 40, search="projected")),
    "brute": lambda: spectrum_of(vbdm.neighbors(CLOUD, 40, search="brute")),
    "periodic": lambda: spectrum_of(vbdm.neighbors(TURN, 40, period=2 * np.pi)),
    "metric": lambda: spectrum_of(vbdm.neighbors(CLOUD, 40, metric="manhattan")),
    "given": lambda: spectrum_of(
        CLOUD, epsilon=0.01, dim=2.0, truncation=0.01, limiter=False, effort=2
    ),
}


@pytest.fixture(scope="module", params=MODELS)
def members(request, tmp_path_factory):
    if request.param == "plain":
        return members_of(SPHERE)
    path = tmp_path_factory.mktemp("model") / "model"
    MODELS[request.param]().save(path)
    return members_of(path)


def arrays_of(members):
    """Return the names of the arrays in a file that the first of the models has not, or is."""
    first = members_of(SPHERE)
    return sorted(set(members) - {HEADER} - (set() if members == first else set(first)))


def places_of(members):
    """Return the way to every value of a text that the first of the models has not, or is."""
    first = members_of(SPHERE)
    seen = set() if members == first else set(places_in(json.loads(first[HEADER])))
    return [place for place in places_in(json.loads(members[HEADER])) if place not in seen]


def places_in(head, place=()):
    """Yield the way to every value of a JSON text: a tuple of keys."""
    for key, value in head.items():
        if isinstance(value, dict):
            yield from places_in(value, (*place, key))
        yield (*place, key)


#: Arrays that may hold NaN, or negative numbers, or be of any length.
MAY_BE_NAN = {
    "spectrum/eigenvalues.npy", "spectrum/left_out.npy", "solve/residuals.npy",
    "solve/pencil_eigenvalues.npy", "solve/set_aside.npy", "tuning/curve/slopes.npy",
}  # fmt: skip
MAY_BE_NEGATIVE = {
    "graph/points.npy", "spectrum/eigenvalues.npy", "spectrum/eigenfunctions.npy",
    "spectrum/left_out.npy", "solve/pencil_eigenvalues.npy", "tuning/curve/slopes.npy",
    "settings/method/bandwidth/potential.npy", "index/rotation.npy", "index/basis.npy",
    "index/centre.npy",
}  # fmt: skip
MAY_BE_INFINITE = {"pilot/density.npy", "spectrum/extent.npy", "solve/residuals.npy"}
MAY_BE_LONGER = {"dimension/by_scale.npy", "spectrum/left_out.npy", "solve/set_aside.npy"}


def with_last(array, value):
    changed = array.copy()
    changed.flat[-1] = value
    return changed


def wrong_versions(name, array):
    """Yield arrays that must not be accepted in place of this one, and what is wrong with them."""
    other = np.int64 if array.dtype.kind in "fc" else np.float64
    with np.errstate(invalid="ignore"):
        yield "kind", array.real.astype(other)
    yield "precision", array.astype({"f": "f4", "c": "c8", "i": "i2", "b": "u1"}[array.dtype.kind])
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


def test_every_name_is_in_the_documentation(members):
    text, head = (ROOT / "docs" / "file-format.md").read_text(), json.loads(members[HEADER])
    for name in members:
        if name != HEADER and not name.startswith("index/inner/"):
            assert f"`{name}`" in text, name
    for place in places_in(head):
        if place[-2:-1] not in (("versions",), ("notes",)):
            assert f"`{place[-1]}`" in text, place
    rules = [rule["name"] for rule in head["settings"]["method"].values() if has_name(rule)]
    names = [head["kernel"]["shape"]["name"], head["bandwidth"]["form"], head["kind"], *rules]
    for name in (*names, *re.findall(r'"kind": "(\w+)"', members[HEADER].decode())):
        assert f'`"{name}"`' in text, name


def has_name(rule):
    return isinstance(rule, dict) and "name" in rule


def test_the_models_have_everything_that_is_documented(tmp_path):
    """No array of the page is missing from the models above, which the other tests look at."""
    found = set()
    for make in MODELS.values():
        make().save(tmp_path / "model")
        found |= set(members_of(tmp_path / "model"))
    text = (ROOT / "docs" / "file-format.md").read_text()
    assert set(re.findall(r"`([\w/]+/\w+\.npy)`", text)) <= found


# --- Attacks --------------------------------------------------------------------------------------


@pytest.fixture
def sphere(tmp_path):
    path = tmp_path / "model"
    shutil.copy(SPHERE, path)
    return path


def test_rows_of_the_kernel_must_be_in_order(sphere):
    """Pointers that go back, or beyond the end, would read foreign memory."""
    members = members_of(sphere)
    name = "kernel/listed/pointer.npy"
    pointer = as_array(members[name])
    swapped = pointer.copy()
    swapped[[3, 4]] = pointer[[4, 3]]
    for wrong in (swapped, pointer + 1, np.minimum(pointer, 7), pointer[::-1].copy()):
        write_members(sphere, {**members, name: as_bytes(wrong)})
        with pytest.raises(vbdm.InputError, match="damaged"):
            vbdm.load(sphere)


def test_a_permutation_must_be_one(sphere):
    members = members_of(sphere)
    twice = as_array(members["graph/permutation.npy"])
    twice[0] = twice[1]
    write_members(sphere, {**members, "graph/permutation.npy": as_bytes(twice)})
    with pytest.raises(vbdm.InputError, match="no permutation"):
        vbdm.load(sphere)


@pytest.mark.parametrize("depth", [100, 100_000])
def test_deep_nesting(depth, sphere):
    members = members_of(sphere)
    text = members[HEADER].decode().rstrip().removesuffix("}")
    deep = ', "index": ' + '{"kind": "rotated", "inner": ' * depth + "0" + "}" * depth + "}"
    write_members(sphere, {**members, HEADER: text + deep})
    with pytest.raises(vbdm.InputError, match="damaged"):
        vbdm.load(sphere)


def test_engines_may_sit_inside_each_other_only_so_deep(tmp_path):
    turned().save(tmp_path / "model")
    members = members_of(tmp_path / "model")
    head = json.loads(members[HEADER])
    head["index"]["inner"] = head["index"]
    del head["index"]
    members[HEADER] = json.dumps({**head, "index": nested(12)})
    square = np.eye(12)
    for depth in range(12):
        members["index/" + "inner/" * depth + "rotation.npy"] = as_bytes(square)
    write_members(tmp_path / "model", members)
    with pytest.raises(vbdm.InputError, match="damaged"):
        vbdm.load(tmp_path / "model")


def nested(depth, path="index"):
    """Return an engine inside an engine inside an engine."""
    if depth == 0:
        return {"kind": "tree", "leafsize": 16}
    inner = nested(depth - 1, f"{path}/inner")
    return {"kind": "rotated", "rotation": f"{path}/rotation.npy", "inner": inner}


def header_of(shape, kind="<f8"):
    """Return how an array of this shape begins, without its numbers."""
    text = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()


HUGE = {
    "numbers": header_of("(100000000000,)"),
    "rows": header_of("(60, 10000000000)"),
    "digits": header_of("(" + "9" * 80 + ",)"),
    "negative": header_of("(-60,)"),
    "objects": header_of("(60,)", "|O") + bytes(480),
    "records": header_of("(60,)", "|V8") + bytes(480),
    "code": header_of("(__import__('os').mkdir('attacked'),)"),
    "brackets": header_of("(" * 60),
    "tildes": b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"~" * 9000,
    "another version": b"\x93NUMPY\x02\x00" + header_of("(60,)")[8:] + bytes(480),
    "nothing": b"",
}


@pytest.mark.parametrize("name", HUGE)
def test_arrays_that_lie_about_themselves(name, sphere, monkeypatch):
    monkeypatch.chdir(sphere.parent)
    members = members_of(sphere)
    for array in ("graph/points.npy", "graph/permutation.npy", "pilot/density.npy"):
        write_members(sphere, {**members, array: HUGE[name]})
        with pytest.raises(vbdm.InputError, match="damaged"):
            vbdm.load(sphere)
    assert list(sphere.parent.iterdir()) == [sphere]


def test_huge_counts_take_no_memory(tmp_path):
    """Lists to be searched for again may not be longer than they were."""
    released().save(tmp_path / "model", kernel=False)
    members = members_of(tmp_path / "model")
    head = json.loads(members[HEADER])
    for k in (2**31 - 1, 80, 79, 1):
        head["graph"]["n_neighbors"] = k
        write_members(tmp_path / "model", {**members, HEADER: json.dumps(head)})
        with pytest.raises(vbdm.InputError, match="damaged"):
            vbdm.load(tmp_path / "model")


def test_what_would_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    released().save(tmp_path / "model", kernel=False)
    vbdm.load(tmp_path / "model")
    monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: 1000)
    with pytest.raises(vbdm.errors.OutOfMemoryError):
        vbdm.load(tmp_path / "model")


def test_packed_entries_are_refused(sphere):
    """What is compressed may be a thousand times longer than the file."""
    members = members_of(sphere)
    members["pilot/density.npy"] = header_of("(60,)") + bytes(480)
    with zipfile.ZipFile(sphere, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(vbdm.InputError, match="damaged"):
        vbdm.load(sphere)


def test_a_file_cut_off_anywhere_is_refused(sphere):
    content = sphere.read_bytes()
    for length in np.linspace(0, len(content) - 1, 60).astype(int):
        sphere.write_bytes(content[:length])
        with pytest.raises(vbdm.InputError, match="not a result saved by vbdm"):
            vbdm.load(sphere)


def test_entries_that_overlap_or_repeat(sphere):
    """Two entries of one name: the last one counts, and is checked like any other."""
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(sphere, "a") as archive:
        archive.writestr("pilot/density.npy", as_bytes(np.full(60, -1.0)))
    with pytest.raises(vbdm.InputError, match="damaged"):
        vbdm.load(sphere)


# --- Estimators -----------------------------------------------------------------------------------


WRONG_MODELS = [
    5, [], {}, "word", {"parameters": 3}, {"parameters": {"no such": 1}},
    {"n_features_in": 3}, {"n_features_in": None}, {"feature_names_in": ["a"]},
    {"feature_names_in": [1, 2]}, {"parameters": {"outside": "elsewhere"}},
    {"parameters": {"n_components": {"number": "nan"}}},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG_MODELS, ids=repr)
def test_wrong_settings_of_an_estimator(wrong, tmp_path):
    path = tmp_path / "model"
    vbdm.DiffusionMap(n_components=2).fit(CLOUD).save(path)
    model = json.loads(members_of(path)[HEADER])["model"]
    whole = {**model, **wrong} if isinstance(wrong, dict) and wrong else wrong
    edit_header(path, model=whole)
    with pytest.raises(vbdm.InputError, match="damaged"):
        vbdm.load(path)


def test_settings_of_an_estimator_come_back(tmp_path):
    model = vbdm.DiffusionMap(n_components=2, period=[np.inf, 9.0], outside="nan", effort=2.0)
    model.fit(CLOUD).save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert loaded.n_features_in_ == 2


# --- What the user brought along ------------------------------------------------------------------


@dataclass(frozen=True)
class Twice:
    """A rule for ε: twice what the degrees say."""

    factor: float = 2.0

    def choose(self, pairs):
        found = vbdm.rules.ByDegree().choose(pairs)
        return vbdm.Tuning(self.factor * found.epsilon, rule="twice", words="by doubling")


class Flat:
    """A rule for the dimension that is no dataclass."""

    def estimate(self, graph, rho0):
        return vbdm.rules.Dimension(2.0)


@dataclass(frozen=True)
class Own(vbdm.solvers.Dense):
    """A solver with a credit of its own."""

    credit = Credit("mine", "a solver of mine", (Citation("Me2026", "@misc{}", "Me."),))


def test_rules_of_the_user_are_remembered_in_words(tmp_path):
    spectrum = spectrum_of(CLOUD, epsilon=Twice(3.0), dim=Flat())
    for path in (tmp_path / "model", tmp_path / "again"):
        spectrum.save(path)
        loaded = vbdm.load(path)
        assert loaded.settings.as_dict() == spectrum.settings.as_dict()
        assert loaded.settings.as_dict()["epsilon_rule"] == "Twice(factor=3.0)"
        assert loaded.settings.as_dict()["dimension_rule"] == "Flat"
        assert (loaded.operator.tuning.rule, loaded.operator.tuning.words) == (
            "twice",
            "by doubling",
        )
        np.testing.assert_array_equal(loaded.eigenvalues, spectrum.eigenvalues)
        spectrum = copy.deepcopy(loaded)
    with pytest.raises(vbdm.InputError, match="A rule of your own") as caught:
        vbdm.estimate_operator(CLOUD, epsilon=loaded.settings.method.epsilon)
    assert "Twice(factor=3.0)" in str(caught.value)
    with pytest.raises(vbdm.InputError, match="Received Flat"):
        vbdm.estimate_operator(CLOUD, dim=loaded.settings.method.dimension)


def test_credits_of_the_user_come_back(tmp_path):
    spectrum = vbdm.estimate_operator(CLOUD).spectrum(3, solver=Own())
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert loaded.solve.solvers == spectrum.solve.solvers
    assert loaded.settings.given == spectrum.settings.given
    assert dict(loaded.settings.versions) == dict(spectrum.settings.versions)


def test_a_bandwidth_rule_of_the_user_is_refused(tmp_path):
    class Wide(vbdm.rules.GivenBandwidth):
        pass

    spectrum = spectrum_of(CLOUD, bandwidth=Wide(np.ones(80)))
    with pytest.raises(vbdm.InputError, match="`bandwidth` cannot be saved"):
        spectrum.save(tmp_path / "model")


@pytest.mark.parametrize("wrong", [np.nan, 0.0, -1.0, np.inf])
def test_what_could_not_be_read_is_not_saved(wrong, tmp_path):
    spectrum = vbdm.load(SPHERE)
    steps = replace(spectrum.operator, steps=np.full(60, wrong))
    tuning = replace(spectrum.operator, tuning=vbdm.Tuning(wrong))
    for broken, path in ((steps, "operator/steps"), (tuning, "tuning/epsilon")):
        with pytest.raises(vbdm.InputError, match=f"broken.*{path}"):
            vbdm.save(broken, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_any_kind_are_saved(tmp_path):
    """Lists, integers and NumPy's numbers are what they were."""
    rho = (1 + np.arange(80) % 3).tolist()
    spectrum = spectrum_of(CLOUD, bandwidth=rho, epsilon=vbdm.rules.ByDegree(30))
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert loaded.settings.as_dict() == spectrum.settings.as_dict()
    assert loaded.settings.method.bandwidth.values.tolist() == rho
