"""Results as a group of Zarr: what is in it, and what is never overwritten."""

import os
import sys

import numpy as np
import pytest

import vbdm
from vbdm.errors import InputError
from vbdm.io.saved.zarr_group import chunks_for, read_group, write_group

pytestmark = pytest.mark.blocks

zarr = pytest.importorskip("zarr")


@pytest.fixture(scope="module")
def spectrum():
    points = vbdm.datasets.ou(300, dim=2, random_state=0).points
    return vbdm.estimate_operator(points, "generator").spectrum(3)


def test_everything_is_there_by_name(spectrum, tmp_path):
    spectrum.save(tmp_path / "out.zarr")
    group = zarr.open(tmp_path / "out.zarr", mode="r")
    np.testing.assert_array_equal(group["eigenvalues"][:], spectrum.eigenvalues)
    np.testing.assert_array_equal(group["eigenfunctions"][:], spectrum.eigenfunctions)
    np.testing.assert_array_equal(group["intervals"][:], spectrum.intervals())
    np.testing.assert_array_equal(group["standard_errors"][:], spectrum.standard_errors)
    np.testing.assert_array_equal(group["density"][:], spectrum.operator.density)
    np.testing.assert_array_equal(group["bandwidth"][:], spectrum.operator.bandwidth)
    said = dict(group.attrs)
    assert (said["format"], said["version"], said["vbdm"]) == (
        "vbdm spectrum", 1, vbdm.__version__,
    )  # fmt: skip
    assert said["epsilon"] == spectrum.operator.epsilon
    assert said["dimension"]["value"] == spectrum.operator.dim
    assert said["settings"]["placement"] == "in memory"
    assert {finding["name"] for finding in said["findings"]}


def test_results_are_replaced_and_nothing_else_is(spectrum, tmp_path):
    path = tmp_path / "out.zarr"
    spectrum.save(path)
    spectrum.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.zarr"]
    zarr.create_array(tmp_path / "points.zarr", data=np.ones((9, 2)))
    (tmp_path / "file.zarr").write_text("mine")
    for name in ("points.zarr", "file.zarr"):
        with pytest.raises(InputError, match="Something else has this name"):
            spectrum.save(tmp_path / name)
    with pytest.raises(InputError, match="inside one that exists"):
        spectrum.save(tmp_path / "missing" / "out.zarr")


def test_a_failure_leaves_what_was_there(spectrum, tmp_path, monkeypatch):
    path = tmp_path / "out.zarr"
    spectrum.save(path)

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr("vbdm.io.saved.zarr_group.fill", fail)
    with pytest.raises(OSError, match="no space left"):
        spectrum.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.zarr"]
    assert zarr.open(path, mode="r")["eigenvalues"].shape == (3,)


@pytest.mark.parametrize("failing", ["old", "new"])
def test_a_failing_rename_leaves_what_was_there(spectrum, tmp_path, monkeypatch, failing):
    path = tmp_path / "out.zarr"
    spectrum.save(path)
    rename = os.rename

    def fail(source, target):
        if (target if failing == "old" else source).suffix == {"old": ".old", "new": ".partial"}[
            failing
        ]:
            raise OSError("no such luck")
        rename(source, target)

    monkeypatch.setattr("vbdm.io.saved.zarr_group.os.rename", fail)
    with pytest.raises(OSError, match="no such luck"):
        spectrum.save(path)
    assert [entry.name for entry in tmp_path.iterdir()] == ["out.zarr"]
    assert zarr.open(path, mode="r")["eigenvalues"].shape == (3,)


def test_only_a_spectrum_becomes_a_group(spectrum, tmp_path):
    with pytest.raises(InputError, match="Only a spectrum is written as a group of Zarr"):
        vbdm.save(spectrum.operator, tmp_path / "c.zarr")
    assert not list(tmp_path.iterdir())


def test_without_zarr_nothing_is_begun(spectrum, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr", None)
    monkeypatch.setattr("vbdm.io.saved.zarr_group.arrays_of", pytest.fail)
    with pytest.raises(InputError, match=r"Writing 'a\.zarr' needs the library zarr"):
        spectrum.save(tmp_path / "a.zarr")


def test_arrays_in_blocks_are_written_a_chunk_of_rows_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("vbdm.io.saved.zarr_group.ROWS_PER_CHUNK", 4)
    values = np.arange(12.0).reshape(6, 2)

    class Far:
        shape, dtype, ndim = values.shape, values.dtype, 2

        def __getitem__(self, key):
            assert key.stop - key.start <= 4
            return values[key]

    words, many, number = np.array(["a", "bc"]), np.ones((2, 3, 4)), np.array(5)
    write_group(
        tmp_path / "x.zarr", {"far": Far(), "words": words, "many": many, "number": number}, {}
    )
    found = read_group(tmp_path / "x.zarr")
    np.testing.assert_array_equal(found["far"], values)
    assert found["words"].tolist() == ["a", "bc"]
    assert found["number"] == 5
    assert found["many"].shape == (2, 3, 4)
    assert chunks_for((0, 3)) == (1, 1)
    assert chunks_for((7, 5000, 5)) == (7, 5000, 5)


def test_large_tables_are_not_read(tmp_path, monkeypatch):
    monkeypatch.setattr("vbdm.io.saved.zarr_group.ROWS_PER_CHUNK", 4)
    write_group(tmp_path / "x.zarr", {"far": np.ones((6, 2)), "near": np.ones(6)}, {})
    found = read_group(tmp_path / "x.zarr")
    assert isinstance(found["near"], np.ndarray)
    assert isinstance(found["far"], zarr.Array)


def test_strangers_groups_are_read_with_suspicion(tmp_path):
    write_group(tmp_path / "x.zarr", {"a": np.ones(3)}, {})
    (tmp_path / "x.zarr" / "more").symlink_to("/etc")
    with pytest.raises(InputError, match="leads to another file"):
        read_group(tmp_path / "x.zarr")
    (tmp_path / "y.zarr").mkdir()
    with pytest.raises(InputError, match="cannot be read as zarr"):
        read_group(tmp_path / "y.zarr")
    group = zarr.open_group(tmp_path / "z.zarr", mode="w")
    group.create_array("a", shape=(10**14,), chunks=(1000,), dtype=float)
    with pytest.raises(InputError, match="would not fit into memory"):
        read_group(tmp_path / "z.zarr")


def test_without_zarr_a_results_folder_has_plain_arrays(tmp_path, monkeypatch):
    monkeypatch.setattr("vbdm.results.writing.find_spec", lambda name: None)
    points = vbdm.datasets.ou(300, dim=2, random_state=0).points
    operator = vbdm.estimate_operator(
        points, "generator", run=vbdm.Run(placement=vbdm.placement.Disk(blocks=2))
    )
    folder = tmp_path / "out"
    vbdm.results.write_results(folder, operator.spectrum(3), figures=False, page=False)
    assert not (folder / "results.zarr").exists()
    assert vbdm.results.load_results(folder).eigenfunctions.shape == (300, 3)
