"""The command as a process: its help, its signals, its terminal, and the time of its stages."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from pathlib import Path

import click
import numpy as np
import pytest
from click.shell_completion import ShellComplete
from tests.support.commands import FAST, done, snapshot, vbdm_command, write_csv
from tests.support.waiting import until

import vbdm
from vbdm.cli.command_list import COMMANDS, commands
from vbdm.cli.failures import Terminated, explain
from vbdm.cli.steps import Ledger, working
from vbdm.progress import Bar, Progress, announce, listening, report

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
                words = shlex.split(line.strip().split("   ")[0])
                files = [at for at, word in enumerate(words) if word in (">", ">>")]
                command.make_context(name, words[2 : files[0] if files else None])
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
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        # A line is written when its stage is done: the estimate has begun.
        assert json.loads(process.stderr.readline())["room"] == "reading"
        process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=120)
    assert process.returncode == 130
    assert out == b""
    assert "Interrupted" in json.loads(error.splitlines()[-1])["error"]
    assert snapshot(Path("out")) == before
    assert sorted(os.listdir()) == ["data.csv", "large.npy", "out"]


IMPORTING = """
import os, signal, sys
import vbdm.__main__ as begin

class Interrupt:
    def find_spec(self, name, *_):
        if name == "vbdm.cli":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupt())
begin.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_control_c_while_modules_are_imported():
    command = [sys.executable, "-c", IMPORTING]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (130, "", "")


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["Ctrl-C", "kill"]
)
@pytest.mark.parametrize("lost", [False, True])
def test_signals_while_results_are_written(number, code, lost, monkeypatch):
    """Nothing unfinished is left, even if the first exception was swallowed somewhere."""
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]

    def interrupted(*_):
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt:
            if not lost:
                raise

    monkeypatch.setattr("vbdm.results.writing.write_model", interrupted)
    result = vbdm_command("fit", "data.csv", "-o", "out", "-n", 3, *FAST)
    assert result.exit_code == code
    assert "Interrupted. Nothing was changed" in result.stderr
    assert os.listdir() == ["data.csv"]
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_interruption_that_became_another_error(monkeypatch):
    def turned(*_):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise SystemError("returned a result with an exception set") from None

    monkeypatch.setattr("vbdm.results.writing.write_model", turned)
    result = vbdm_command("fit", "data.csv", "-o", "out", "-n", 3, *FAST)
    assert (result.exit_code, result.stderr.startswith("error: Interrupted.")) == (130, True)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a full device of Linux")
def test_what_is_said_after_the_results_were_written():
    command = f"{sys.executable} -m vbdm fit data.csv -o out -n 3 {' '.join(FAST)} > /dev/full"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "The results are complete (out), but something failed after that: No space left" in (
        result.stderr
    )
    assert "Nothing was changed" not in result.stderr
    assert vbdm.results.load_results("out").summary["n_points"] == 300


@pytest.mark.skipif(os.name == "nt", reason="a shell of POSIX")
def test_results_are_written_though_nobody_listens():
    command = f"{sys.executable} -m vbdm fit data.csv -o out -n 3 {' '.join(FAST)} >&- 2>&- <&-"
    assert subprocess.run(command, shell=True, check=False).returncode == 0
    assert vbdm.results.load_results("out").summary["n_points"] == 300


def test_an_interruption_after_the_writing_is_told_with_its_code():
    for error, code in ((KeyboardInterrupt(), 130), (Terminated(), 143)):
        found = explain(error, "out")
        assert found.message == "Interrupted. The results are complete (out)."
        assert found.exit_code == code


def test_a_command_runs_in_a_thread_where_signals_cannot_be_heard():
    with ThreadPoolExecutor(1) as pool:
        assert "Berry" in pool.submit(done, "cite").result().stdout


def test_a_shell_that_completes_a_wrong_name_is_answered():
    shell = ShellComplete(commands, {}, "vbdm", "_VBDM_COMPLETE")
    assert [item.value for item in shell.get_completions([], "fi")] == ["fit"]
    assert shell.get_completions(["guess"], "fi") is not None
    assert commands.get_command(click.Context(commands), "guess") is None


@pytest.mark.filterwarnings("default")
def test_warnings_for_developers_are_no_notes():
    with working(quiet=True) as work:
        warnings.warn("old", DeprecationWarning, stacklevel=1)
        warnings.warn("odd", RuntimeWarning, stacklevel=1)
    assert work.notes == [("RuntimeWarning", "RuntimeWarning: odd")]


# --- Stages --------------------------------------------------------------------------------------


class Clock:
    """A clock that stands still until it is told otherwise."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("vbdm.cli.steps.perf_counter", clock)
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


def test_long_stages_are_drawn_and_short_ones_are_not():
    stream = StringIO()
    ledger = Ledger(Bar(patience=0.2, stream=stream))
    with listening(ledger):
        with ledger.stage("reading"):
            pass
        with ledger.stage("eigenpairs"):
            ledger(Progress("eigenpairs", 1, 4))
            time.sleep(0.25)
    text = stream.getvalue()
    assert "reading" not in text
    assert "eigenpairs" in text
    assert " 25%" in text
    assert text.endswith("\n")


def test_the_seconds_of_a_silent_stage_are_drawn_by_a_thread(monkeypatch):
    """On a terminal; what is told meanwhile has a line of its own."""
    monkeypatch.setenv("TERM", "xterm")
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)
    ledger = Ledger(Bar(patience=0.05))
    with listening(ledger), ledger.stage("reading"):
        until(lambda: re.search(r"reading .* 0\.1 s", stream.getvalue()))
        announce("Waiting for a file.")
    assert "Waiting for a file.\n" in stream.getvalue().replace("\r", "")


class Terminal(StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True
