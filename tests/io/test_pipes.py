"""Pipes are read to their end, within bounds; nothing is waited for without an end."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from tests.support.waiting import until

from vbdm.errors import InputError, OutOfMemoryError
from vbdm.io import prepare, read

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "p.csv"
    os.mkfifo(path)
    return path


def written(path, content):
    """Write into a pipe as another program would, once somebody reads."""

    def write():
        with open(path, "wb") as stream:
            stream.write(content)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def test_a_pipe_is_read_to_its_end(pipe):
    rows = np.arange(30_000.0).reshape(-1, 2) ** 2
    text = "x,y\n" + "".join(f"{x:.0f},{y:.0f}\n" for x, y in rows)
    thread = written(pipe, text.encode())
    table = read(pipe)
    thread.join()
    np.testing.assert_array_equal(table.values, rows)
    assert (table.source.name, table.source.size) == ("p.csv", len(text))
    assert len(prepare(table)[0].points) == len(rows)


def test_a_mapped_array_outlives_the_pipe(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(50))
    os.mkfifo(tmp_path / "p.npy")
    thread = written(tmp_path / "p.npy", (tmp_path / "a.npy").read_bytes())
    table = read(tmp_path / "p.npy")
    thread.join()
    np.testing.assert_array_equal(table.values, np.eye(50))


def test_nothing_comes(pipe):
    written(pipe, b"")
    with pytest.raises(InputError, match="Nothing comes out of the pipe"):
        read(pipe)


def test_no_more_than_the_memory(pipe, monkeypatch):
    monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: 10_000)
    written(pipe, b"1,2\n" * 5000)
    with pytest.raises(OutOfMemoryError, match="through the pipe"):
        read(pipe)


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/null"])
def test_devices_are_refused(device):
    with pytest.raises(InputError, match="A file is needed, or a pipe"):
        read(device, format="text")


def test_a_topology_is_no_pipe(pipe, tmp_path):
    (tmp_path / "a.xtc").write_bytes(b"x")
    with pytest.raises(InputError, match="The topology must be a file"):
        read(tmp_path / "a.xtc", topology=pipe)


def test_an_interruption_is_heard(pipe):
    code = "import sys, vbdm.io; print(1, flush=True); vbdm.io.read(sys.argv[1])"
    waits = subprocess.Popen(
        [sys.executable, "-c", code, pipe], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert waits.stdout.readline().strip() == b"1"
    end = until(lambda: opened_by_a_reader(pipe))
    waits.send_signal(signal.SIGINT)
    _, error = waits.communicate(timeout=60)
    os.close(end)
    assert b"KeyboardInterrupt" in error


def opened_by_a_reader(pipe):
    """Return the other end of a pipe that somebody reads; None if nobody does."""
    try:
        return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return None
