"""`vbdm fit` with rows elsewhere than in memory: options, files, results."""

import json
from contextlib import contextmanager

import click
import numpy as np
import pytest
from tests.support.commands import FAST, done, vbdm_command

import vbdm
from vbdm.cli.places import placing
from vbdm.cli.steps import scratch_of
from vbdm.cli.terminal import choices
from vbdm.errors import OutOfMemoryError
from vbdm.placement import Dask, Disk, Memory

pytestmark = pytest.mark.blocks

zarr = pytest.importorskip("zarr")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
h5py = pytest.importorskip("h5py")


@pytest.fixture(scope="module")
def points():
    return vbdm.datasets.ou(400, dim=2, random_state=0).points


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, "auto"),
        ({"disk": True}, Disk()),
        ({"disk": True, "blocks": 4}, Disk(blocks=4)),
        ({"scratch": "/tmp"}, Disk("/tmp")),
        ({"cluster": "tcp://node7:8786"}, Dask("tcp://node7:8786")),
        ({"cluster": "a:1", "store": "s", "blocks": 9}, Dask("a:1", 9, "s")),
        ({"blocks": 3}, Memory(blocks=3)),
    ],
)
def test_options_name_a_place(options, expected):
    with placing(options) as placement:
        assert placement == expected


def test_the_scratch_folder_is_where_disk_or_cluster_have_theirs(tmp_path):
    assert scratch_of("auto") is scratch_of(Memory(blocks=3)) is None
    assert scratch_of(Disk(tmp_path)) == tmp_path
    assert scratch_of(Dask("tcp://node7:8786")).is_dir()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--disk", "--cluster", "tcp://a:1"], "--disk and --cluster are different places"),
        (["--scratch", ".", "--workers", "2"], "--scratch and --workers are different places"),
        (["--cluster", "node7"], "'node7' is no address of a scheduler"),
        (["--scratch", "missing"], "--scratch must be a folder"),
        (["--blocks", "0"], "--blocks"),
        (["--store", "."], "--store is for workers"),
    ],
)
def test_places_that_are_none_are_refused(options, words, points, tmp_path):
    np.save(tmp_path / "x.npy", points)
    result = vbdm_command("fit", tmp_path / "x.npy", "--out", tmp_path / "out", *options)
    assert result.exit_code == 2
    assert words in result.output.replace("\n", " ")
    assert not (tmp_path / "out").exists()


def test_workers_are_started_for_the_run_and_end_with_it(monkeypatch):
    seen = []

    @contextmanager
    def start_workers(n_workers):
        seen.append(n_workers)
        yield "inproc://here"
        seen.append("ended")

    monkeypatch.setattr("vbdm.rows.workers.start_workers", start_workers)
    monkeypatch.setattr("vbdm.cli.places.find_spec", lambda name: True)
    with placing({"workers": 3, "blocks": 5, "store": "s"}) as placement:
        assert placement == Dask("inproc://here", 5, "s")
        assert seen == [3]
    assert seen == [3, "ended"]


def test_without_dask_it_is_said(monkeypatch):
    monkeypatch.setattr("vbdm.cli.places.find_spec", lambda name: None)
    with pytest.raises(click.UsageError, match=r"vbdm\[cluster"), placing({"workers": 2}):
        pass


def write(kind, path, points):
    if kind == "zarr":
        zarr.create_array(path, data=points, chunks=(100, 2))
    elif kind == "hdf5":
        with h5py.File(path, "w") as file:
            file["points"] = points
    else:
        names = ["a"] * len(points)
        pq.write_table(pa.table({"x": points[:, 0], "y": points[:, 1], "who": names}), path)


@pytest.mark.parametrize("kind", ["zarr", "hdf5", "parquet"])
def test_files_are_read_into_the_scratch_file(kind, points, tmp_path):
    path = tmp_path / f"x.{kind}"
    write(kind, path, points)
    table = vbdm.io.read(path, scratch=tmp_path)
    assert isinstance(table.values, np.memmap)
    np.testing.assert_array_equal(table.values, points)
    assert vbdm.io.prepare(table)[0].points.base is not None
    assert sorted(tmp_path.iterdir()) == [path]
    assert (kind == "parquet") == any("who" in note for note in table.notes)


def test_a_file_that_does_not_fit_is_read_into_a_scratch_file(monkeypatch, points, tmp_path):
    from vbdm.cli.steps import read_table

    write("zarr", tmp_path / "x.zarr", points)
    monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: 1000)
    assert isinstance(read_table(tmp_path / "x.zarr", {}, "auto").values, np.memmap)
    with pytest.raises(OutOfMemoryError):
        read_table(tmp_path / "x.zarr", {}, Memory())


def test_fit_on_disk_gives_what_memory_gives(points, tmp_path):
    write("zarr", tmp_path / "x.zarr", points)
    given = ("fit", tmp_path / "x.zarr", "-O", "generator", "-n", "3", *FAST, "--json")
    plain = json.loads(done(*given, "--out", tmp_path / "plain").stdout)
    place = ("--scratch", tmp_path, "--blocks", "3")
    found = json.loads(done(*given, "--out", tmp_path / "blocks", *place).stdout)
    values = [[row["value"] for row in each["eigenvalues"]] for each in (plain, found)]
    np.testing.assert_allclose(*values, rtol=1e-6, atol=1e-12)
    assert plain["decided"]["placement"] == "in memory"
    assert found["decided"]["placement"] == "3 blocks on disk"
    assert "results.zarr" in found["files"]
    kept = vbdm.results.load_results(tmp_path / "blocks")
    np.testing.assert_array_equal(kept.eigenvalues, [row["value"] for row in found["eigenvalues"]])
    assert kept.eigenfunctions.shape == (400, 3)
    words = "\n".join(choices(found))
    assert "rows         3 blocks on disk" in words
    # Again, in memory: the group is gone, and a file of the user's own is not.
    (tmp_path / "blocks" / "mine.txt").write_text("x")
    done(*given, "--out", tmp_path / "blocks", "--force")
    names = sorted(path.name for path in (tmp_path / "blocks").iterdir())
    assert names == ["mine.txt", "model.vbdm", "results.json", "results.npz"]


def test_new_points_are_written_part_by_part(points, tmp_path, monkeypatch):
    np.save(tmp_path / "x.npy", points)
    done("fit", tmp_path / "x.npy", "-O", "generator", "-n", "3", *FAST, "--out", tmp_path / "m")
    new = np.concatenate([points[:70] + 0.01, [[90.0, 90.0]]])
    write("zarr", tmp_path / "new.zarr", new)
    given = ("transform", tmp_path / "m", tmp_path / "new.zarr", "--out")
    done(*given, tmp_path / "whole.npz")
    monkeypatch.setattr("vbdm.cli.new_values.AT_A_TIME", 32)
    told = [
        done(*given, tmp_path / f"parts{suffix}", "--scratch", tmp_path)
        for suffix in (".npz", ".npy", ".csv", ".zarr")
    ]
    assert all("1 of 71 new points" in each.stderr for each in told)
    with np.load(tmp_path / "whole.npz") as whole, np.load(tmp_path / "parts.npz") as parts:
        assert whole.files == parts.files
        for name in whole.files:
            np.testing.assert_array_equal(whole[name], parts[name])
        values = whole["eigenfunctions"]
    np.testing.assert_array_equal(np.load(tmp_path / "parts.npy"), values)
    table = np.loadtxt(tmp_path / "parts.csv", delimiter=",", skiprows=1)
    np.testing.assert_array_equal(table[:, 1:4], values)
    group = zarr.open(tmp_path / "parts.zarr", mode="r")
    np.testing.assert_array_equal(group["eigenfunctions"][:], values)
    assert group["outside"][:].sum() == 1
    assert "The file exists" in vbdm_command(*given, tmp_path / "parts.zarr").output
    done(*given, tmp_path / "parts.zarr", "--force")
    assert vbdm_command(*given, tmp_path / "new.zarr", "--force").exit_code == 2
