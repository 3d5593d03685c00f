"""The written format of saved models: one version is read, the page says everything."""

import json
import re

import pytest
from tests.support.archives import edit_header
from tests.support.saved_models import MODELS, ROOT, members_by_name, places_in, save_sphere

import vbdm
from vbdm.io.saved.archive import HEADER


@pytest.mark.parametrize("version", [0, 2, -1, 99, 2.5, "1", None])
def test_other_versions_are_refused_with_words(version, tmp_path):
    path = tmp_path / "model"
    save_sphere(path)
    edit_header(path, version=version)
    for read in (vbdm.load, vbdm.io.saved.persistence.read_notes):
        with pytest.raises(vbdm.InputError, match="another format") as caught:
            read(path)
        assert f"format version {version!r} from vbdm" in str(caught.value)


@pytest.fixture(scope="module", params=MODELS)
def members(request):
    return members_by_name(request.param)


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


def test_the_models_have_everything_that_is_documented():
    """No array of the page is missing from the models above, which the other tests look at."""
    found = {name for model in MODELS for name in members_by_name(model)}
    # Those of forecasters are looked at in test_saved_forecasts.py.
    text = (ROOT / "docs" / "file-format.md").read_text().partition("## Forecasters")[0]
    assert set(re.findall(r"`([\w/]+/\w+\.npy)`", text)) <= found
