"""Ctrl-C and termination while rows live elsewhere: no process and no file is left."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from tests.support.waiting import until

pytestmark = pytest.mark.blocks

pytest.importorskip("distributed")


def processes_below(parent):
    """Return the numbers of all processes that come from one, as Linux lists them."""
    parents = {}
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as stat:
                parents[int(entry)] = int(stat.read().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, new = set(), {parent}
    while new:
        new = {child for child, above in parents.items() if above in new} - found
        found |= new
    return found


def is_alive(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are listed there")
@pytest.mark.parametrize("place", ["--disk", pytest.param("--workers", marks=pytest.mark.slow)])
def test_nothing_is_left_after_ctrl_c(place, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((40_000, 2)))
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    options = ["--workers", "2"] if place == "--workers" else ["--disk"]
    command = ["fit", "x.npy", "--json", "--engine", "scipy", "--blocks", "8", *options]
    process = subprocess.Popen(
        [sys.executable, "-m", "vbdm", *command], cwd=tmp_path, stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(scratch)}, text=True, start_new_session=True,
    )  # fmt: skip
    # The first line is that of a stage that is done: the next one is at work.
    line = process.stderr.readline()
    assert "room" in line, line
    if place == "--workers":
        until(lambda: len(processes_below(process.pid)) >= 2)
    below = processes_below(process.pid)
    # A terminal sends it to all processes of the session.
    os.killpg(process.pid, signal.SIGINT)
    _, words = process.communicate(timeout=120)
    assert process.returncode == 130, words
    until(lambda: not any(map(is_alive, below)))
    assert list(scratch.iterdir()) == []
    assert [path.name for path in tmp_path.iterdir() if path.name not in ("x.npy", "scratch")] == []
