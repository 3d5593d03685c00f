"""The written format of saved models: a file of version 2 is read, and the page says everything."""

import json
import re
import shutil

import numpy as np
import pytest
from tests.support.archives import edit_header, members_of
from tests.support.saved_models import MODELS, ROOT, SPHERE, members_by_name, places_in

import vbdm
from vbdm.io.saved.archive import HEADER

pytestmark = pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning", "ignore::RuntimeWarning")


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
    text = (ROOT / "docs" / "file-format.md").read_text()
    assert set(re.findall(r"`([\w/]+/\w+\.npy)`", text)) <= found
