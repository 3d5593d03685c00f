"""The command as a process: its help, its signals, its terminal, and the time of its stages."""

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import numpy as np
import pytest
from tests.support.commands import FAST, done, snapshot, write_csv

import vbdm
from vbdm.cli.command_list import COMMANDS, commands
from vbdm.cli.timing import Ledger, Screen
from vbdm.progress import Progress, listening, report

pytestmark = pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning")
RNG = np.random.default_rng(1)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_csv("data.csv", RNG.standard_normal((300, 2)), "x,y")


# --- Help, entry points, signals -----------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_help_teaches_by_examples(name):
    text = done(name, "--help").stdout
    assert text.count(f"vbdm {name}") >= 3
    assert "Examples:" in text


def test_every_example_has_options_that_exist():
    """The command lines in the help are parsed (not run) by the commands that they name."""
    checked = 0
    for name in COMMANDS:
        context = click.Context(commands)
        command = commands.get_command(context, name)
        for line in (command.epilog or "").splitlines():
            if line.startswith(f"  vbdm {name}"):
                # What follows after a wide gap is an explanation.
                words = shlex.split(line.strip().split("   ")[0].split(">")[0])
                command.make_context(name, words[2:])
                checked += 1
    assert checked >= 20


def run(*arguments, **settings):
    command = [sys.executable, "-m", "vbdm", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **settings)


def test_as_a_process():
    assert run("--version").stdout == f"vbdm {vbdm.__version__}\n"
    result = run("fit", "nowhere.csv")
    assert result.returncode == 2
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_loads_nothing_heavy(name):
    code = (
        "import sys\nfrom vbdm.cli import commands\n"
        f"commands({[*name.split(), '--help']}, standalone_mode=False)\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'matplotlib', 'h5py', 'xarray', 'vbdm.io',"
        " 'vbdm.report'}\n"
        "sys.exit(str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_a_terminal_without_greek_letters():
    result = run("tune", "data.csv", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0, result.stderr
    assert "Suggestion" in result.stdout


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m vbdm info | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "Traceback" not in result.stderr
    assert "BrokenPipe" not in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_control_c_in_the_middle():
    """A real signal during the estimate: the earlier results stay, and nothing else does."""
    done("fit", "data.csv", "-o", "out", "-n", 3, *FAST)
    before = snapshot(Path("out"))
    np.save("large.npy", RNG.standard_normal((400_000, 3)))
    command = [sys.executable, "-m", "vbdm", "fit", "large.npy", "-o", "out", "--force", "--json"]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # A suite that runs in the background has Ctrl-C switched off, and hands that on.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as process:
        assert json.loads(process.stderr.readline())["room"] == "reading"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == b""
    assert "Interrupted" in json.loads(error.splitlines()[-1])["error"]
    assert snapshot(Path("out")) == before
    assert sorted(os.listdir()) == ["data.csv", "large.npy", "out"]


# --- Stages --------------------------------------------------------------------------------------


class Clock:
    """A clock that stands still until it is told otherwise."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("vbdm.cli.timing.perf_counter", clock)
    return clock


def test_seconds_belong_to_the_stage_that_reports(clock):
    ledger = Ledger()
    with listening(ledger), ledger.stage("neighbours", "kernel"):
        clock.now = 1.0
        report("neighbours", 1, 2)
        clock.now = 3.0
        report("kernel", 1, 1)
        clock.now = 3.5
    with listening(ledger), ledger.stage("sensitivity"):
        clock.now = 5.5
        report("eigenpairs", 1)
    assert ledger.seconds == {"neighbours": 1.0, "kernel": 2.5, "sensitivity": 2.0}


def test_long_stages_are_drawn_and_short_ones_are_not(clock, tmp_path):
    with open(tmp_path / "terminal", "w+", encoding="utf-8") as stream:
        screen = Screen(stream)
        ledger = Ledger(screen)
        with listening(ledger), ledger.stage("reading"):
            clock.now = 1.0
            screen.look()
        with listening(ledger), ledger.stage("eigenpairs"):
            ledger(Progress("eigenpairs", 1, 4))
            clock.now = 4.0
            screen.look()
        stream.seek(0)
        text = stream.read()
    assert "reading" not in text
    assert "eigenpairs" in text
    assert "25%" in text
    assert text.endswith("\n")
