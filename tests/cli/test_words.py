"""Words of the command about wrong use: near names, one style of errors, completion."""

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from vbdm.cli import commands


def refused(*arguments):
    """Run the command, which must refuse; return what it wrote to stderr."""
    done = CliRunner().invoke(commands, arguments, prog_name="vbdm")
    assert done.exit_code == 2
    return done.stderr


@pytest.mark.parametrize(("typed", "meant"), [("fti", "fit"), ("trasnform", "transform")])
def test_a_command_with_a_slip_is_answered_with_the_right_one(typed, meant):
    words = refused(typed, "points.csv")
    assert f"There is no command {typed!r}. Did you mean {meant!r}?" in words


def test_a_name_like_no_other_is_said_to_be_unknown():
    assert "There is no command 'xyzzy'." in refused("xyzzy")
    assert "Did you mean" not in refused("xyzzy")


@pytest.mark.parametrize(
    "arguments",
    [
        ["fti"],
        ["--nonsense"],
        ["fit"],
        ["fit", "a.csv", "--nonsense"],
        ["fit", "a.csv", "-n", "x"],
        ["fit", "there-is-no-such-file.csv"],
    ],
)
def test_all_errors_have_one_form(arguments):
    """Those of click, about options and commands, as well as those of vbdm, about the data."""
    words = refused(*arguments)
    assert [line for line in words.splitlines() if line.startswith("error: ")]
    assert "Error:" not in words


def completions(*typed):
    """Return what the shell proposes for the last word."""
    shell = ShellComplete(commands, {}, "vbdm", "_VBDM_COMPLETE")
    return [item.value for item in shell.get_completions(list(typed[:-1]), typed[-1])]


def test_the_shell_completes_commands_options_and_choices():
    assert completions("tra") == ["transform"]
    assert "--standardize" in completions("fit", "--st")
    assert completions("fit", "points.csv", "--method", "pa") == ["paper"]


def test_the_page_on_the_command_line_says_how_to_switch_completion_on(monkeypatch):
    monkeypatch.setenv("_VBDM_COMPLETE", "bash_source")
    done = CliRunner().invoke(commands, [], prog_name="vbdm")
    assert "_VBDM_COMPLETE=bash_complete" in done.output
