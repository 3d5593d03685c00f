"""The first use of a device compiles: that is said, once."""

from __future__ import annotations

import sys
from threading import Thread

import pytest

from vbdm.engines.cuda.device import FirstUse
from vbdm.engines.engine import at_work, surround
from vbdm.progress import announce, listening

pytestmark = pytest.mark.usefixtures("fresh_look")


def test_the_first_use_is_said_once(tmp_path, capsys):
    def used(work="the operator"):
        first = FirstUse("NVIDIA H200", tmp_path / "cache", "0.1-cupy-14")
        with first.of(work):
            first.launched()
            with first.of("a part of it"):
                first.launched()
        return capsys.readouterr().err

    said = "vbdm: compiling for NVIDIA H200, first use only: up to a minute (the operator)\n"
    assert used() == said
    assert used() == ""
    assert "(the spectrum)" in used("the spectrum")
    assert used("the spectrum") == ""


def test_nothing_is_said_of_work_elsewhere_or_that_failed(tmp_path, capsys):
    first = FirstUse("NVIDIA H200", tmp_path, "0.1")
    with first.of("the operator"):
        pass
    first.launched()

    def fails():
        first.launched()
        raise KeyError

    with pytest.raises(KeyError), first.of("the operator"):
        fails()
    assert "first use only" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_each_thread_of_the_user_has_its_own_first_use(tmp_path, capsys):
    first = FirstUse("NVIDIA H200", tmp_path, "0.1")

    def in_another_thread():
        with first.of("the spectrum"):
            first.launched()

    with first.of("the operator"):
        other = Thread(target=in_another_thread)
        other.start()
        other.join()
        first.launched()
    said = capsys.readouterr().err
    assert "(the spectrum)" in said
    assert "(the operator)" in said
    assert len(list(tmp_path.iterdir())) == 2


def test_who_listens_is_told_of_the_first_use(tmp_path, capsys):
    heard = []
    listener = type(
        "Listener", (), {"__call__": heard.append, "tell": lambda _, text: heard.append(text)}
    )()
    first = FirstUse("NVIDIA H200", tmp_path, "0.1")
    with listening(listener), first.of("the operator"):
        first.launched()
    assert heard == ["compiling for NVIDIA H200, first use only: up to a minute (the operator)"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("options", "said"), [
    ({}, "compiling for a GPU\n"),
    ({"lines": sys.stderr}, '{"note": "compiling for a GPU", "kind": "Note"}\n'),
    ({"quiet": True}, ""),
])  # fmt: skip
def test_the_command_says_that_it_compiles(options, said, capsys):
    ledger = pytest.importorskip("vbdm.cli.steps").Ledger(**options)
    with listening(ledger):
        announce("compiling for a GPU")
    assert capsys.readouterr().err == said


def test_the_first_estimate_is_surrounded_though_it_finds_the_device(monkeypatch, capsys):
    seen = []

    class Block:
        def __init__(self, work):
            self.work = work

        def __enter__(self):
            seen.append(f"begin {self.work}")

        def __exit__(self, *error):
            seen.append(f"end {self.work}")

    @at_work("work")
    def work():
        surround(Block)
        seen.append("work")

    work()
    work()
    assert seen == ["begin work", "work", "end work"] * 2
