"""Saved models made by an enemy: nothing is run, read from foreign memory, or waited for."""

import json
import os
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.support.archives import as_array, as_bytes, edit_header, members_of, write_members
from tests.support.saved_models import CLOUD, MODELS, released, save_sphere, turned

import vbdm
from vbdm.io.saved.archive import HEADER
from vbdm.io.saved.model import ascending


@pytest.fixture
def sphere(tmp_path):
    path = tmp_path / "model"
    save_sphere(path)
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


def swapped_columns(members):
    members["kernel/listed/indices.npy"][[0, 1]] = members["kernel/listed/indices.npy"][[1, 0]]


def pair_twice(members):
    members["kernel/listed/indices.npy"][1] = members["kernel/listed/indices.npy"][0]


def last_pair_twice(members):
    members["kernel/listed/indices.npy"][-1] = members["kernel/listed/indices.npy"][-2]


def double(members):
    members["kernel/listed/data.npy"] = members["kernel/listed/data.npy"].astype(float)


@pytest.mark.parametrize("wrong", [swapped_columns, pair_twice, last_pair_twice, double])
def test_pairs_within_reach_must_be_as_they_are_said_to_be(wrong, sphere):
    members = members_of(sphere)
    arrays = {name: as_array(content) for name, content in members.items() if name != HEADER}
    wrong(arrays)
    changed = {name: as_bytes(array) for name, array in arrays.items()}
    write_members(sphere, {**members, **changed})
    with pytest.raises(vbdm.InputError, match=r"damaged.*kernel/listed"):
        vbdm.load(sphere)


@pytest.mark.parametrize(
    ("section", "change"),
    [
        ("kernel", {"precision": "double"}),
        ("kernel", {"precision": "half"}),
        ("kernel", {"by_reach": False}),
        ("kernel", {"cutoff": "inf"}),
        ("kernel", {"one_way_share": 0.5}),
        ("bandwidth", {"form": "left"}),
        ("graph", {"tree": False}),
        ("graph", {"metric": "manhattan"}),
    ],
    ids=str,
)
@pytest.mark.parametrize("stored", [True, False])
def test_pairs_within_reach_fit_the_points_and_the_form(section, change, stored, sphere):
    head = json.loads(members_of(sphere)[HEADER])
    if not stored:
        head["kernel"]["listed"] = None
        if change in ({"precision": "double"}, {"by_reach": False}):
            change = {"by_reach": False, "precision": "single"}
    head[section] = {**head[section], **change}
    edit_header(sphere, **head)
    with pytest.raises(vbdm.InputError, match="damaged"):
        vbdm.load(sphere)


def test_rows_without_pairs_are_no_harm():
    """The first and the last row may be empty: then no column is there to be out of order."""
    rows = np.array([[0, 0, 0], [1, 0, 1], [0, 0, 0]])
    assert ascending(csr_array(rows))
    assert ascending(csr_array(np.zeros((3, 3))))


def test_a_tree_has_not_too_many_columns(sphere):
    members = members_of(sphere)
    points = as_array(members["graph/points.npy"])
    members["graph/points.npy"] = as_bytes(np.hstack([points, np.zeros((60, 62))]))
    write_members(sphere, members)
    with pytest.raises(vbdm.InputError, match=r"damaged.*graph/tree"):
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
    members[HEADER] = json.dumps({**json.loads(members[HEADER]), "index": nested(12)})
    for depth in range(12):
        members["index/" + "inner/" * depth + "rotation.npy"] = as_bytes(np.eye(12))
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


@pytest.mark.parametrize("make", [released, MODELS["plain"]], ids=["lists", "reach"])
def test_what_would_not_fit_into_memory_is_refused(make, tmp_path, monkeypatch):
    make().save(tmp_path / "model", kernel=False)
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


WRONG_MODELS = [
    5, [], {}, "word", {"parameters": 3}, {"parameters": {"no such": 1}},
    {"n_features_in": 3}, {"n_features_in": None}, {"feature_names_in": ["a"]},
    {"feature_names_in": [1, 2]}, {"parameters": {"outside": "elsewhere"}},
    {"parameters": {"n_components": -1}},
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


def test_a_wide_reach_is_refused_before_its_pairs_are_counted(tmp_path, monkeypatch):
    rng = np.random.default_rng(4100)
    op = vbdm.estimate_operator(rng.standard_normal((2000, 2)))
    path = tmp_path / "model"
    vbdm.save(op, path, kernel=False)
    head = json.loads(members_of(path)[HEADER])
    edit_header(path, kernel={**head["kernel"], "epsilon": 1e6})
    monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: 45_000_000)
    monkeypatch.setattr("vbdm.io.saved.model.kernel_within_reach", pytest.fail)
    with pytest.raises(vbdm.errors.OutOfMemoryError, match="2000 points with 2000 neighbours"):
        vbdm.load(path)


def test_a_file_with_holes_is_not_read_into_memory(sphere, monkeypatch):
    monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: 100)
    monkeypatch.setattr("vbdm.io.saved.archive.read_array", pytest.fail)
    with pytest.raises(
        vbdm.errors.OutOfMemoryError, match="The saved model does not fit into memory"
    ):
        vbdm.load(sphere)


def test_a_text_that_is_too_long(sphere, monkeypatch):
    monkeypatch.setattr("vbdm.io.saved.archive.LONGEST_HEADER", 100)
    with pytest.raises(vbdm.InputError, match="too long"):
        vbdm.load(sphere)


@pytest.mark.parametrize("path", ["a\0b", 3, None, b"bytes"], ids=repr)
def test_what_is_no_path(path, sphere):
    result = vbdm.load(sphere)
    for call in (vbdm.load, result.save, lambda path: vbdm.results.write_results(path, result)):
        with pytest.raises(vbdm.InputError, match="must be the path of a file or folder"):
            call(path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes of POSIX")
def test_a_pipe_is_no_model(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(vbdm.InputError, match="no plain file"):
        vbdm.load(tmp_path / "pipe")
