"""The results folder: whole or not at all, and never at the cost of what was there."""

import json
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import done, snapshot

import vbdm
from vbdm.base.files import STALE, plain
from vbdm.io.saved.persistence import read_notes
from vbdm.results import Origin, check_folder, load_results, write_arrays, write_results

CLOUD = np.random.default_rng(2).standard_normal((150, 2))


@pytest.fixture(scope="module")
def spectrum():
    return vbdm.estimate_operator(CLOUD, "generator").spectrum(3)


def write(folder, spectrum, **settings):
    return write_results(folder, spectrum, figures=False, page=False, **settings)


def test_what_is_written_is_read(spectrum, tmp_path):
    origin = Origin(names=("x", "y"), rows=np.arange(150) * 2, settings={"n": 3},
                    warnings=[("TuningWarning", "Look at ε.")])  # fmt: skip
    written = write_results(tmp_path / "r", spectrum, origin, figures=False, page=False)
    read = load_results(tmp_path / "r")
    assert read.summary == written.summary
    np.testing.assert_array_equal(read.rows, np.arange(150) * 2)
    np.testing.assert_array_equal(read.spectrum.eigenfunctions, spectrum.eigenfunctions)
    assert read.origin.warnings == [("TuningWarning", "Look at ε.")]
    assert read.scan is None
    assert "eigenvalues=[0, " in repr(read)
    with pytest.raises(ValueError, match="read-only"):
        read.eigenvalues[0] = 1


def test_total_errors_are_written_with_their_parts(spectrum, tmp_path):
    written = write(tmp_path / "r", spectrum)
    read = load_results(tmp_path / "r")
    np.testing.assert_array_equal(read.total_errors, spectrum.total_errors)
    np.testing.assert_array_equal(read.standard_errors, spectrum.standard_errors)
    np.testing.assert_array_equal(read.intervals, spectrum.intervals())
    np.testing.assert_array_equal(read.arrays["total_errors"], spectrum.total_errors)
    names = ["sampling", "tail", "epsilon", "noise", "boundary"]
    for row in written.summary["eigenvalues"]:
        j = row["index"]
        assert row["total_error"] == spectrum.total_errors[j]
        assert [row["lower"], row["upper"]] == spectrum.intervals()[j].tolist()
        assert row["standard_error"] == spectrum.standard_errors[j]
        assert list(row["error_parts"]) == names
        for name in names:
            assert row["error_parts"][name] == getattr(spectrum.errors.parts, name)[j]
    for group in written.summary["groups"]:
        lower, upper = spectrum.errors.interval_of_group(group["members"])
        assert (group["lower"], group["upper"]) == (lower, upper)
        assert list(group["error_parts"]) == names
        size = np.linalg.norm(list(group["error_parts"].values()))
        assert size == pytest.approx(group["total_error"], rel=0.05)


def test_a_folder_from_before_total_errors_is_read(spectrum, tmp_path):
    folder = tmp_path / "r"
    summary = write(folder, spectrum, scan=vbdm.scan_epsilon(spectrum, (1, 2))).summary
    new = {"total_error", "lower", "upper", "error_parts"}
    for part in ("eigenvalues", "groups"):
        summary[part] = [{k: v for k, v in row.items() if k not in new} for row in summary[part]]
    (folder / "results.json").write_text(json.dumps(summary), "utf-8")
    arrays = dict(np.load(folder / "results.npz"))
    for name in ("total_errors", "intervals", "scan_total_errors"):
        del arrays[name]
    write_arrays(folder / "results.npz", arrays)
    read = load_results(folder)
    # The model knows what the arrays do not.
    np.testing.assert_allclose(read.total_errors, spectrum.total_errors)
    np.testing.assert_allclose(read.intervals, spectrum.intervals())
    assert read.scan is None
    done("report", folder)
    assert "95 % interval" in (folder / "report.html").read_text("utf-8")


def test_json_is_strict(tmp_path):
    """A tail of four points has infinite timescales and no dimension error: null, not NaN."""
    far = vbdm.estimate_operator(CLOUD[:40], "generator", dim=2).spectrum(3)
    write(tmp_path / "r", far)
    text = (tmp_path / "r" / "results.json").read_text("utf-8")
    summary = json.loads(text, parse_constant=pytest.fail)
    assert summary["eigenvalues"][0]["timescale"] is None
    assert summary["dimension"]["standard_error"] is None


def test_errors_of_eigenfunctions_are_written(tmp_path):
    sphere = vbdm.datasets.sphere(300, random_state=0).points
    found = vbdm.estimate_operator(sphere).spectrum(4)
    write(tmp_path / "r", found)
    summary = json.loads((tmp_path / "r" / "results.json").read_text("utf-8"))
    assert summary["eigenfunction_errors"] == [0, None, None, None]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32(2.5), 2.5),
        (float("inf"), None),
        (np.bool_(True), True),
        (np.array([[1, 2]]), [[1, 2]]),
        ({1: (None, "a")}, {"1": [None, "a"]}),
        ({"a\udce9": Path("b\udce9")}, {"a\ufffd": "b\ufffd"}),
    ],
)
def test_plain(value, expected):
    assert plain(value) == expected
    assert type(plain(value)) is type(expected)


def test_no_pickle_inside(spectrum, tmp_path):
    write(tmp_path / "r", spectrum)
    with np.load(tmp_path / "r" / "results.npz", allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "bif" for name in arrays.files)


def test_the_kernel_is_left_out_of_large_models(spectrum, tmp_path, monkeypatch):
    write(tmp_path / "with", spectrum)
    monkeypatch.setattr("vbdm.results.writing.MOST_WITH_KERNEL", 100)
    write(tmp_path / "without", spectrum)
    sizes = [(tmp_path / name / "model.vbdm").stat().st_size for name in ("with", "without")]
    assert sizes[1] < sizes[0]
    again = load_results(tmp_path / "without").spectrum
    np.testing.assert_array_equal(again.operator @ CLOUD, spectrum.operator @ CLOUD)


# --- Places --------------------------------------------------------------------------------------


def test_new_and_empty_folders_are_fine(spectrum, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "dusty").mkdir()
    (tmp_path / "dusty" / ".DS_Store").write_text("")
    for name in ("new", "empty", "dusty"):
        write(tmp_path / name, spectrum)
        load_results(tmp_path / name)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dusty", "empty", "new"]


def test_earlier_results_need_force_and_files_of_yours_are_kept(spectrum, tmp_path):
    place = tmp_path / "r"
    write(place, spectrum, extras=lambda folder: (folder / "ours.csv").write_text("1"))
    (place / "notes").mkdir()
    (place / "notes" / "mine.txt").write_text("look at mode 2")
    with pytest.raises(vbdm.InputError, match="force=True"):
        write(place, spectrum)
    write(place, spectrum, force=True)
    assert (place / "notes" / "mine.txt").read_text() == "look at mode 2"
    # What an earlier run wrote and this one did not is gone: it would be out of date.
    assert not (place / "ours.csv").exists()


@pytest.mark.skipif(os.name == "nt", reason="links of POSIX")
def test_of_two_runs_without_force_the_second_is_refused(spectrum, tmp_path):
    """Both found the place free; while one draws its figures, the other has finished."""
    folder = tmp_path / "r"
    with pytest.raises(vbdm.InputError, match="Another run has written its results there"):
        write(folder, spectrum, extras=lambda _: write(folder, spectrum, origin=Origin(n_read=7)))
    assert load_results(folder).summary["input"]["n_read"] == 7
    assert os.listdir(tmp_path) == ["r"]


def test_a_link_stays_a_link(spectrum, tmp_path):
    write(tmp_path / "real", spectrum)
    (tmp_path / "latest").symlink_to(tmp_path / "real")
    write(tmp_path / "latest", spectrum, force=True)
    assert (tmp_path / "latest").is_symlink()
    load_results(tmp_path / "real")


def test_a_probe_leaves_nothing(tmp_path):
    check_folder(tmp_path / "r")
    assert list(tmp_path.iterdir()) == []


# --- Crashes -------------------------------------------------------------------------------------

KILLED = """
import os, sys, numpy as np, vbdm
from pathlib import Path
from vbdm.results import load_results, write_results
place = Path(sys.argv[1])
spectrum = load_results(place).spectrum
count = [0]
rename = os.rename
def die(*names):
    count[0] += 1
    if count[0] == int(sys.argv[2]):
        os._exit(9)
    rename(*names)
os.rename = die
write_results(place, spectrum, force=True, figures=False, page=False)
"""


@pytest.mark.parametrize("moment", [1, 2])
def test_a_killed_process_loses_nothing(moment, spectrum, tmp_path):
    """Killed before the first renaming, and between the two: the next run finds all it needs."""
    place = tmp_path / "r"
    write(place, spectrum)
    before = snapshot(place)
    command = [sys.executable, "-c", KILLED, str(place), str(moment)]
    assert subprocess.run(command, check=False).returncode == 9
    check_folder(place, force=True)
    assert snapshot(place) == before
    left = [path.name for path in tmp_path.iterdir() if path != place]
    assert all(name.startswith(".r.vbdm-") and name.endswith(".partial") for name in left)
    assert len(left) == 1


def test_leftovers_are_removed_when_they_are_old(spectrum, tmp_path):
    place = tmp_path / "r"
    old, young = tmp_path / ".r.vbdm-00000000.partial", tmp_path / ".r.vbdm-11111111.partial"
    other = tmp_path / ".other.vbdm-00000000.partial"
    for folder in (old, young, other):
        folder.mkdir()
    past = time.time() - 2 * STALE
    os.utime(old, (past, past))
    os.utime(other, (past, past))
    write(place, spectrum)
    assert not old.exists()
    assert young.exists()
    assert other.exists()


def renaming(monkeypatch, second):
    """Call `second` in place of the second renaming of `os.rename`; it may rename, or raise."""
    calls, rename = [], os.rename

    def replaced(*names):
        calls.append(names)
        (second if len(calls) == 2 else rename)(*names)

    monkeypatch.setattr(os, "rename", replaced)
    return rename


def test_a_failed_renaming_is_undone(spectrum, tmp_path, monkeypatch):
    place = tmp_path / "r"
    write(place, spectrum)
    before = snapshot(tmp_path)

    def refuse(*names):
        raise PermissionError("in use")

    renaming(monkeypatch, refuse)
    with pytest.raises(PermissionError):
        write(place, spectrum, force=True)
    assert snapshot(tmp_path) == before


def test_every_file_is_brought_to_the_disk(spectrum, tmp_path, monkeypatch):
    synced, sync = set(), os.fsync

    def record(number):
        synced.add(os.fstat(number).st_ino)
        sync(number)

    monkeypatch.setattr(os, "fsync", record)
    write(tmp_path / "r", spectrum, extras=lambda folder: (folder / "more.csv").write_text("1"))
    assert {path.stat().st_ino for path in (tmp_path / "r").iterdir()} <= synced


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_read_only_files_of_yours_are_kept(spectrum, tmp_path, monkeypatch):
    place = tmp_path / "r"
    write(place, spectrum)
    (place / "mine.txt").write_text("look at mode 2")
    (place / "mine.txt").chmod(0o444)

    def careful(path, mode):
        # The rights of files do not stop every user, such as root.
        if "+" in mode and not path.stat().st_mode & 0o200:
            raise PermissionError(13, "Permission denied", str(path))
        return open(path, mode)

    monkeypatch.setattr("vbdm.base.files.open", careful, raising=False)
    write(place, spectrum, force=True)
    assert (place / "mine.txt").read_text() == "look at mode 2"


def test_a_page_that_was_made_later_is_not_yours(spectrum, tmp_path):
    """`vbdm report` adds the page to a folder that does not list it."""
    place = tmp_path / "r"
    write(place, spectrum)
    (place / "report.html").write_text("of these results")
    write(place, spectrum, force=True)
    assert not (place / "report.html").exists()


@pytest.mark.parametrize(
    ("part", "value"), [("input", None), ("seconds", None), ("warnings", {}), ("settings", 3)]
)
def test_a_summary_that_lost_a_part(part, value, spectrum, tmp_path):
    write(tmp_path / "r", spectrum)
    path = tmp_path / "r" / "results.json"
    summary = json.loads(path.read_text("utf-8"))
    for changed in ({**summary, part: value}, {k: v for k, v in summary.items() if k != part}):
        path.write_text(json.dumps(changed), "utf-8")
        with pytest.raises(vbdm.InputError, match=f"damaged.*does not tell: {part}"):
            load_results(tmp_path / "r")


# --- Notes in a model ----------------------------------------------------------------------------


def test_notes_travel_with_the_model(spectrum, tmp_path):
    notes = {"unit": "nm", "scale": [1.5, 2.0], "nested": {"a": None}}
    vbdm.save(spectrum, tmp_path / "m", notes=notes)
    assert read_notes(tmp_path / "m") == notes
    same = vbdm.load(tmp_path / "m")
    np.testing.assert_array_equal(same.eigenvalues, spectrum.eigenvalues)


def test_files_without_notes_have_none_and_stay_as_they_were(spectrum, tmp_path):
    vbdm.save(spectrum, tmp_path / "m")
    assert read_notes(tmp_path / "m") == {}
    with zipfile.ZipFile(tmp_path / "m") as archive:
        assert json.loads(archive.read("model.json"))["notes"] is None


@pytest.mark.parametrize("notes", [{"a": np.ones(2)}, {"a": float("nan")}, {"a": object()}])
def test_notes_must_be_plain(notes, spectrum, tmp_path):
    with pytest.raises(vbdm.InputError, match="plain"):
        vbdm.save(spectrum, tmp_path / "m", notes=notes)
    assert list(tmp_path.iterdir()) == []


def test_notes_of_an_estimator_are_refused(tmp_path):
    model = vbdm.DiffusionMap("generator").fit(CLOUD)
    with pytest.raises(vbdm.InputError, match="spectrum_"):
        vbdm.save(model, tmp_path / "m", notes={})


@pytest.mark.parametrize("content", [b"", b"text", b"PK\x03\x04" + bytes(50)])
def test_notes_of_other_files(content, tmp_path):
    (tmp_path / "m").write_bytes(content)
    with pytest.raises(vbdm.InputError, match="not a result saved by vbdm"):
        read_notes(tmp_path / "m")
