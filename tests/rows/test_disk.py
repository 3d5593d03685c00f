"""The scratch file: places are used again, a full disk is told in words, nothing is left behind."""

import errno
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import vbdm
from vbdm.rows.block_array import Rows, mapped, total
from vbdm.rows.disk import PAGE, OnDisk, Scratch
from vbdm.rows.place import Partition

pytestmark = pytest.mark.blocks

PARTITION = Partition.into(4000, 4)
X = np.random.default_rng(0).standard_normal((4000, 50))


def doubled(values):
    return 2 * values


def sums(values):
    return values.sum(axis=0)


def large_sums(values):
    return np.full((200, 100), values.sum())


def test_places_are_given_up_joined_and_used_again(tmp_path):
    scratch = Scratch(tmp_path)
    sizes = [1, 2, 3, 1]
    a, b, c, d = (scratch.store(np.full(size * PAGE, size, dtype=np.uint8)) for size in sizes)
    assert scratch.size == 7 * PAGE
    del b
    gc.collect()
    assert scratch.gaps == [(PAGE, 2 * PAGE)]
    e = scratch.store(np.full(PAGE - 5, 9, dtype=np.uint8))
    assert e.offset == PAGE
    assert scratch.gaps == [(2 * PAGE, PAGE)]
    del c
    gc.collect()
    assert scratch.gaps == [(2 * PAGE, 4 * PAGE)]
    assert (d.mapped() == 1).all()
    assert (e.mapped() == 9).all()
    del d
    gc.collect()
    assert scratch.size == os.fstat(scratch.file.fileno()).st_size == 2 * PAGE
    del a, e
    gc.collect()
    assert (scratch.size, scratch.gaps, scratch.largest) == (0, [], 7 * PAGE)


def test_an_array_without_rows_takes_no_room(tmp_path):
    scratch = Scratch(tmp_path)
    assert scratch.append(np.empty((0, 3)), 0) == 0
    assert os.fstat(scratch.file.fileno()).st_size == 0
    assert scratch.append(np.ones((2, 3)), 0) == 48


def test_random_places_never_overlap(tmp_path):
    rng, scratch, kept = np.random.default_rng(1), Scratch(tmp_path), {}
    for number in range(300):
        if kept and rng.random() < 0.45:
            del kept[rng.choice(list(kept))]
        else:
            kept[number] = scratch.store(np.full(rng.integers(1, 5 * PAGE), number % 251, np.uint8))
        assert scratch.size >= sum(size for _, size in scratch.gaps)
    for number, stored in kept.items():
        assert (stored.mapped() == number % 251).all()
    del stored
    kept.clear()
    gc.collect()
    assert scratch.size == 0


def test_a_map_outlives_the_array_that_it_was_made_of(tmp_path):
    scratch = Scratch(tmp_path)
    part = scratch.store(np.ones(PAGE)).mapped()[100:200]
    gc.collect()
    scratch.store(np.zeros(PAGE))
    assert (part == 1).all()
    rows = Rows(Partition.into(4000, 1), OnDisk(tmp_path))
    found = total(large_sums, rows.spread(X))
    rows.spread(0 * X)
    assert (found == X.sum()).all()


def test_too_little_room_is_told_beforehand(tmp_path):
    scratch = Scratch(tmp_path)
    scratch.check_space(10**6)
    with pytest.raises(
        vbdm.errors.ScratchError, match=r"GB free in .* where about 1e\+09 GB are needed"
    ):
        scratch.check_space(10**18)


def test_a_disk_that_gets_full_is_told_in_words(tmp_path, monkeypatch):
    rows = Rows(PARTITION, OnDisk(tmp_path))
    x, real, written = rows.spread(X), os.pwrite, []

    def full(file, data, offset):
        written.append(len(data))
        if len(written) > 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(file, data, offset)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(
        vbdm.errors.ScratchError, match=r"full after .* GB of ours.*Pass another one"
    ):
        mapped(doubled, x)
    monkeypatch.undo()
    gc.collect()
    assert np.array_equal(x, X)  # what was there is still there
    assert np.array_equal(mapped(doubled, x), 2 * X)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "pwrite"), reason="only where places can be written to at once")
def test_without_pwrite_it_is_the_same(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "pwrite")
    assert np.array_equal(mapped(doubled, Rows(PARTITION, OnDisk(tmp_path)).spread(X)), 2 * X)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only where processes are copied")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_copy_of_the_process_leaves_the_file_alone(tmp_path):
    rows = Rows(PARTITION, OnDisk(tmp_path))
    x, y = rows.spread(X), rows.spread(2 * X)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with pytest.raises(vbdm.InputError, match="Work in another process cannot be had"):
                np.asarray(x)
            with pytest.raises(vbdm.InputError, match="made by fork"):
                rows.place.keep(0, X)
            del x, y
            gc.collect()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert np.array_equal(x, X)
    assert np.array_equal(y, 2 * X)
    assert np.array_equal(mapped(doubled, x), 2 * X)


def test_a_folder_that_cannot_be_used(tmp_path):
    with pytest.raises(vbdm.errors.ScratchError, match=r"missing.*No such file or directory"):
        OnDisk(tmp_path / "missing")


LIMITED = r"""
import re, resource, sys
from pathlib import Path
import numpy as np
from vbdm.rows.block_array import BlockArray, Rows, mapped, total
from vbdm.rows.disk import OnDisk
from vbdm.rows.place import Partition
from tests.rows.test_disk import doubled, sums

rows = Rows(Partition.into(400_000, 40), OnDisk(sys.argv[1]))
sizes = np.diff(rows.partition.starts)
block = np.ones((sizes.max(), 300))  # 24 MB; forty of them, and as many doubled ones: 1.9 GB
resource.setrlimit(resource.RLIMIT_AS, (10**9, 10**9))
resource.setrlimit(resource.RLIMIT_DATA, (10**9, 10**9))
x = BlockArray(rows, [rows.place.keep(number, block[:size]) for number, size in enumerate(sizes)])
print(int(total(sums, mapped(doubled, x))[0]), rows.place.scratch.largest > 1.9e9)
# ru_maxrss would remember the process that started this one.
print(int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) / 1e6)
"""


@pytest.mark.slow
def test_two_gigabytes_of_blocks_in_one_of_memory(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path)], env=environment, capture_output=True,
        text=True, check=True,
    )  # fmt: skip
    words = done.stdout.split()
    assert words[:2] == ["800000", "True"]
    assert float(words[2]) < 0.4
