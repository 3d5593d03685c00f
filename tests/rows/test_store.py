"""A folder in which workers keep what took long: found again, and never wrong."""

import os
import warnings

import numpy as np
import pytest
from tests.support import tasks

import vbdm
from vbdm.placement import Dask
from vbdm.rows.block_array import PerBlock, Rows
from vbdm.rows.dask import OnDask
from vbdm.rows.place import Partition
from vbdm.rows.workers import Store, from_store

pytestmark = pytest.mark.blocks

PARTITION = Partition.into(100, 2)
VALUES = [np.arange(3.0), np.arange(4.0)]


def runs(rows, seed, count):
    """Return what two blocks give; each call adds a line to a file."""
    found = rows.run(tasks.slowly_drawn, PerBlock(VALUES), seed, str(count), n_results=2)
    values = [np.concatenate(list(rows.place.read(handles))) for handles in found]
    return values, len(count.read_text().splitlines())


def test_results_are_found_again_and_damaged_ones_made_anew(cluster, tmp_path):
    folder, count = tmp_path / "store", tmp_path / "count"
    folder.mkdir()
    rows = Rows(PARTITION, OnDask(cluster, PARTITION, Store(folder)))
    first, n_calls = runs(rows, 1, count)
    assert n_calls == len(list(folder.iterdir())) == 2
    again, n_calls = runs(rows, 1, count)
    assert n_calls == 2
    assert all(map(np.array_equal, first, again))
    other, n_calls = runs(rows, 2, count)
    assert n_calls == 4
    assert not np.array_equal(first[0], other[0])
    for file in folder.iterdir():
        file.write_bytes(file.read_bytes()[:-30])
    again, n_calls = runs(rows, 1, count)
    assert n_calls == 6
    assert all(map(np.array_equal, first, again))


def test_a_file_is_written_whole_or_not_at_all_and_a_full_disk_ends_nothing(tmp_path, monkeypatch):
    def fail(file):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    args = (tasks.doubled, 1, np.ones(3))
    with pytest.warns(vbdm.errors.ClusterWarning, match="No space.*not all results are kept"):
        found = from_store(str(tmp_path / "x.npz"), *args)
    assert (found == 2).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it is told once
        assert (from_store(str(tmp_path / "x.npz"), *args) == 2).all()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    assert (from_store(str(tmp_path / "x.npz"), *args) == 2).all()


def test_an_estimate_begun_again_reads_its_kernel(cluster, tmp_path):
    points = np.random.default_rng(0).standard_normal((2000, 2))
    placement = Dask(cluster, blocks=2, store=tmp_path)
    first = vbdm.estimate_operator(points, "generator", run=vbdm.Run(placement=placement))
    written = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert len(written) >= 4  # distances and kernel, of two blocks each
    again = vbdm.estimate_operator(points, "generator", run=vbdm.Run(placement=placement))
    assert {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()} == written
    assert np.array_equal(np.asarray(first.density), np.asarray(again.density))


def test_a_folder_that_workers_do_not_have(cluster, tmp_path):
    with pytest.raises(vbdm.errors.ClusterError, match="No such file or directory"):
        Store(tmp_path / "missing").check(cluster)
    assert list(tmp_path.iterdir()) == []
