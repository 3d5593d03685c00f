"""The written format of saved models: files of all versions are read, the page says everything."""

import json
import re
import shutil

import numpy as np
import pytest
from tests.support.archives import as_array, as_bytes, edit_header, members_of, write_members
from tests.support.saved_models import MODELS, ROOT, SPHERE, SPHERE_2, members_by_name, places_in

import vbdm
from vbdm.io.saved.archive import HEADER


def test_a_file_of_version_2_is_read():
    spectrum = vbdm.load(SPHERE_2)
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
    assert vbdm.io.saved.persistence.read_notes(SPHERE_2) == {
        "made by": "tests/data/make_sphere_v2.py"
    }


def test_a_file_of_version_2_says_what_was_decided():
    spectrum = vbdm.load(SPHERE_2)
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
        "engine": "scipy",
        "engine_reason": "",
        "precision": "double",
        "placement": "in memory",
        "series": None,
        "lengths": [],
        "weights": "none",
        "effective_points": None,
    }
    assert spectrum.solver == "Dense"
    assert spectrum.operator.dimension.credit.references[0].key == "LevinaBickel2004"


def test_a_file_of_version_2_is_extended_to_new_points():
    extension = vbdm.load(SPHERE_2).extend([[0.6, 0.0, 0.8], [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(
        extension.values[0], [1.0, 0.990754063388109, -0.7475608213045204], rtol=1e-9
    )
    np.testing.assert_allclose(extension.density, [0.11212998362664725, 0.0], rtol=1e-9)
    assert extension.outside.tolist() == [False, True]


def test_a_file_of_version_2_is_written_in_version_4(tmp_path):
    """Arrays stay as they are, and so does all that can be asked of the model."""
    vbdm.save(vbdm.load(SPHERE_2), tmp_path / "again")
    before, after = members_of(SPHERE_2), members_of(tmp_path / "again")
    assert list(after) == list(before)
    head = json.loads(after[HEADER])
    assert head["version"] == 4
    assert head["graph"]["tree"]
    assert head["graph"]["search"]["name"] == "KDTree"
    assert not {"engine", "engine_reason", "by_columns"} & set(head["graph"])
    assert (head["kernel"]["by_reach"], head["kernel"]["precision"]) == (False, "double")
    assert all(after[name] == before[name] for name in before if name != HEADER)


def test_a_file_of_version_2_without_its_kernel_gives_the_same(tmp_path):
    """The lists that it keeps are evaluated again."""
    spectrum = vbdm.load(SPHERE_2)
    shutil.copy(SPHERE_2, tmp_path / "model")
    head = json.loads(members_of(SPHERE_2)[HEADER])
    edit_header(tmp_path / "model", kernel={**head["kernel"], "listed": None, "one_way": None})
    again = vbdm.load(tmp_path / "model").operator.kernel.weights
    np.testing.assert_allclose(
        again.merged().toarray(), spectrum.operator.kernel.weights.merged().toarray(), rtol=1e-14
    )


@pytest.mark.parametrize(
    ("section", "key"),
    [("graph", "engine"), ("graph", "engine_reason"), ("graph", "by_columns"), ("kernel", "power")],
)
def test_what_is_wrong_in_version_2_is_refused(section, key, tmp_path):
    head = json.loads(members_of(SPHERE_2)[HEADER])
    rest = {name: value for name, value in head[section].items() if name != key}
    for wrong in (rest, {**rest, key: 5.5}, {**rest, key: {"x": 1}}, None, 3, []):
        shutil.copy(SPHERE_2, tmp_path / "model")
        edit_header(tmp_path / "model", **{section: wrong})
        with pytest.raises(vbdm.InputError, match="damaged"):
            vbdm.load(tmp_path / "model")


def test_a_file_of_version_3_is_read():
    spectrum = vbdm.load(SPHERE)
    np.testing.assert_allclose(
        spectrum.eigenvalues, [0.0, -1.3505087348279958, -1.6403193449565427], rtol=1e-14
    )
    np.testing.assert_allclose(
        spectrum.eigenfunctions[[0, 17, 59]],
        [
            [1.0, 0.5098000308022059, -1.2503109236086236],
            [1.0, -1.032315312764999, -1.0427178239603518],
            [1.0, 0.08844686774307155, 0.13374398324380257],
        ],
        rtol=1e-14,
    )
    op = spectrum.operator
    assert (op.n_points, op.n_neighbors, op.epsilon) == (60, 44, 0.009309650340016977)
    assert (op.kernel.by_reach, op.kernel.precision) == (True, "single")
    assert op.kernel.weights.returned is None
    assert op.graph.n_neighbors == 60
    notes = vbdm.io.saved.persistence.read_notes(SPHERE)
    assert notes == {"made by": "tests/data/make_sphere_v3.py"}


def test_a_file_of_version_3_says_what_was_decided():
    settings = vbdm.load(SPHERE).settings
    assert settings.neighbors_from == "all pairs within the kernel's reach"
    assert settings.search.name == "KDTree"
    assert settings.engine.name == "scipy"
    assert settings.engine_reason == "60 points: too few for compiled loops to pay"
    assert (settings.precision, settings.truncation) == ("single", 0.001)
    assert settings.versions["vbdm"] == "0.1.0.dev0"


def test_a_file_of_version_3_is_extended_to_new_points():
    extension = vbdm.load(SPHERE).extend([[0.6, 0.0, 0.8], [5.0, 5.0, 5.0]])
    np.testing.assert_allclose(
        extension.values[0], [1.0, 0.9814440557328623, -0.78066193590901], rtol=1e-9
    )
    np.testing.assert_allclose(extension.density, [0.1140478766424382, 0.0], rtol=1e-9)
    assert extension.outside.tolist() == [False, True]


@pytest.mark.parametrize("order", ["as it was", "any"])
def test_the_kernel_of_version_3_can_be_evaluated_again(order, tmp_path):
    """It has the same pairs, in the order of the file: that of a tree, or any other."""
    members = members_of(SPHERE)
    head = json.loads(members[HEADER])
    head["kernel"]["listed"] = None
    places = np.arange(60) if order == "as it was" else np.random.default_rng(0).permutation(60)
    for name, content in members.items():
        if name != HEADER and len(as_array(content)) == 60 and not name.startswith("spectrum"):
            members[name] = as_bytes(as_array(content)[places])
    write_members(tmp_path / "model", {**members, HEADER: json.dumps(head)})
    again = vbdm.load(tmp_path / "model").operator.kernel.weights.merged().toarray()
    kept = vbdm.load(SPHERE).operator.kernel.weights.merged().toarray()[places][:, places]
    np.testing.assert_array_equal(again > 0, kept > 0)
    np.testing.assert_allclose(again, kept, rtol=2e-7)


def test_a_file_of_version_3_has_one_limit_for_all_modes():
    spectrum = vbdm.load(SPHERE)
    assert spectrum.limits == (spectrum.limit,) * 3
    assert spectrum.limit.kappa == spectrum.settings.method.limiter.kappa == 2.0
    assert spectrum.log.shared_eigenvalues.size == 0


def test_a_file_of_version_3_is_written_in_version_4(tmp_path):
    """Entries and keys stay where they are; limits are said more precisely."""
    notes = vbdm.io.saved.persistence.read_notes(SPHERE)
    vbdm.save(vbdm.load(SPHERE), tmp_path / "again", notes=notes)
    before, after = members_of(SPHERE), members_of(tmp_path / "again")
    assert list(after) == list(before)
    heads = [json.loads(members.pop(HEADER)) for members in (before, after)]
    assert heads[0].pop("vbdm")
    assert heads[1].pop("vbdm") == vbdm.__version__
    assert heads[0].pop("version") == heads[1].pop("version") - 1 == 3
    assert heads[1]["spectrum"].pop("limits") is None
    assert heads[1]["spectrum"]["limit"].pop("kappa") == 2.0
    assert heads[1]["solve"].pop("shared_eigenvalues") is None
    assert heads[1]["pilot"].pop("cutoff") == "inf"
    assert heads[0] == heads[1]
    assert before == after


@pytest.mark.parametrize(
    ("version", "words"),
    [(1, "before its first release"), (5, "newer version"), (99, "newer version")],
)
def test_other_versions_are_refused_with_words(version, words, tmp_path):
    path = tmp_path / "model"
    shutil.copy(SPHERE, path)
    edit_header(path, version=version)
    for read in (vbdm.load, vbdm.io.saved.persistence.read_notes):
        with pytest.raises(vbdm.InputError, match=words) as caught:
            read(path)
        assert f"format version {version} from vbdm" in str(caught.value)


@pytest.fixture(scope="module", params=MODELS)
def members(request, tmp_path_factory):
    return members_by_name(request.param, tmp_path_factory.mktemp("model"))


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
    # Those of forecasters are looked at in test_saved_forecasts.py.
    text = (ROOT / "docs" / "file-format.md").read_text().partition("## Forecasters")[0]
    assert set(re.findall(r"`([\w/]+/\w+\.npy)`", text)) <= found
