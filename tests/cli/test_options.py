"""One table of options: what the library is called with, and what its messages become."""

import inspect
import shlex

import click
import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

import vbdm
from vbdm.base.parameters import PARAMETERS
from vbdm.cli import commands
from vbdm.cli.options import (
    BY_PARAMETER,
    ESTIMATING,
    FIX,
    FOLDER,
    FORECASTING,
    FROM,
    LABELS,
    LEFT_OUT,
    NAME,
    OUTSIDE,
    PLACING,
    PREDICTING,
    PREPARING,
    READING,
    RHS,
    SCREEN,
    SOLVING,
    TIME_STEP,
    TO,
    TOL,
    WEIGHING,
    WHICH,
    arguments_for,
    in_options,
)
from vbdm.results import write_results
from vbdm.results.answers import check_answer


def everything_about_places(placement, client, n_workers, blocks, scratch, store):
    """Has the parameters that make a placement: its own, and those of the classes."""


def everything_about_estimates(**parameters):
    """Has the parameters of `estimate_operator`, of its method and of its run."""


everything_about_estimates.__signature__ = inspect.Signature(
    [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in PARAMETERS]
)


def everything_about_weights(weights, temperature):
    """Has the parameters that make weights: a column, and the temperature of a bias."""


FUNCTIONS = {
    "read": (vbdm.io.read, READING),
    "prepare": (vbdm.io.prepare, PREPARING),
    "estimate_operator": (everything_about_estimates, ESTIMATING),
    "spectrum": (vbdm.Operator.spectrum, SOLVING),
    "write_results": (write_results, (*FOLDER, *LEFT_OUT)),
    "extend": (vbdm.extend, [OUTSIDE]),
    "eigenfunctions": (vbdm.plot.eigenfunctions, [WHICH]),
    "embedding": (vbdm.plot.embedding, [WHICH]),
    "committor": (vbdm.Operator.committor, [FROM, TO, LABELS, TOL]),
    "solve": (vbdm.Operator.solve, [RHS, FIX, SCREEN]),
    "check_answer": (check_answer, [NAME]),
    "clock": (vbdm.Spectrum.clock, [TIME_STEP]),
    "forecaster": (vbdm.Forecaster, FORECASTING),
    "predict": (vbdm.Forecaster.predict, PREDICTING),
    "weights": (everything_about_weights, WEIGHING),
    "placement": (everything_about_places, PLACING),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_option_stands_for_a_parameter(name):
    function, table = FUNCTIONS[name]
    assert {option.parameter for option in table} <= set(inspect.signature(function).parameters)


def test_no_parameter_has_two_options():
    tables = [option for _, table in FUNCTIONS.values() for option in table]
    assert len({option.typed for option in tables}) == len(BY_PARAMETER)


def parsed(line):
    """Return the options of a command line, as the command gets them."""
    name, *words = shlex.split(line)
    command = commands.get_command(click.Context(commands), name)
    return command.make_context(name, words).params


ARGUMENTS = {
    "fit a.csv": (
        {},
        {"delays": 1, "delay_step": 1, "every": 1, "seed": 0},
        {},
        {},
        {},
    ),
    "fit a.csv --no-header --drop-missing --standardize -k 20 -n 3 --no-report --columns x,y": (
        {"header": False, "columns": "x,y"},
        {"delays": 1, "delay_step": 1, "every": 1, "seed": 0, "standardize": True,
         "missing": "drop"},
        {"n_neighbors": 20},
        {"n": 3},
        {"page": False},
    ),
}  # fmt: skip


@pytest.mark.parametrize("line", ARGUMENTS)
def test_arguments_for_the_library(line):
    options = parsed(line)
    tables = (READING, PREPARING, ESTIMATING, SOLVING, LEFT_OUT)
    assert tuple(arguments_for(table, options) for table in tables) == ARGUMENTS[line]


#: What the library says, and what people read.
MESSAGES = {
    # Names of parameters.
    "Raise `n_neighbors`.": "Raise --neighbors.",
    "`n` must be from 1 to 5.": "--eigenpairs must be from 1 to 5.",
    "Leave `delay_step` out.": "Leave --delay-step out.",
    "Choose another `folder`.": "Choose another --out.",
    "`header` says it.": "--header says it.",
    # Flags: set, switched off, and under another name.
    "Pass standardize=True.": "Pass --standardize.",
    "Use `force=True` to replace them.": "Use --force to replace them.",
    "Read it with header=False.": "Read it with --no-header.",
    "Read it with header=True.": "Read it with --header.",
    "use leave_one_out=False": "use --no-leave-one-out",
    "(missing='drop')": "(--drop-missing)",
    "Leave the page out: page=False.": "Leave the page out: --no-report.",
    # Where the rows live.
    "Pass run='disk', or fewer `blocks`.": "Pass --disk, or fewer --blocks.",
    "Name another folder with `scratch`.": "Name another folder with --scratch.",
    "placement='memory'": "placement='memory'",
    # Values, as a shell takes them.
    "operator='generator'.": "--operator generator.",
    'operator="generator", or': "--operator generator, or",
    "columns='x,y'; columns='0-2'": "--columns x,y; --columns 0-2",
    "columns='a b'": "--columns 'a b'",
    'columns="it\'s"': """--columns 'it'"'"'s'""",
    "selection='name CA or name P'.": "--selection 'name CA or name P'.",
    "key='X_pca', effort=0.5.": "--key X_pca, --effort 0.5.",
    "epsilon=1e-05 or dim=2.": "--epsilon 1e-05 or --dim 2.",
    "period=(360, None)": "--period 360,none",
    "columns=['x', 'y z']": "--columns 'x,y z'",
    # What is no option, or no parameter, stays as it is.
    "See `spectrum.errors.bias` and `shape`.": "See `spectrum.errors.bias` and `shape`.",
    "Ask for form='symmetric'.": "Ask for form='symmetric'.",
    "In one dim the period and the key are words.": "In one dim the period and the key are words.",
    "header='auto', standardize=False, columns=None": (
        "header='auto', standardize=False, columns=None"
    ),
    "missing='error'": "missing='error'",
    "a period=2*np.pi": "a period=2*np.pi",
    "op.dim=2, my_dim=2": "op.dim=2, my_dim=2",
    "Call vbdm.estimate_operator(X, dim=2, period=(1, 2)).": (
        "Call vbdm.estimate_operator(X, dim=2, period=(1, 2))."
    ),
    "Operator(300 points, dim=2.01)": "Operator(300 points, dim=2.01)",
    "Run `pip install vbdm[plot]`.": "Run `pip install vbdm[plot]`.",
}


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_name_options(message):
    assert in_options(message) == MESSAGES[message]


@pytest.mark.parametrize("value", ["x", "x y", "it's", 'a "b"', "µ", "$HOME", "a;b", "-1"])
def test_a_shell_gives_the_value_back(value):
    typed = in_options(f"columns={value!r}")
    assert shlex.split(typed) == ["--columns", value]


def test_long_messages_take_no_time():
    text = "x" * 1_000_000
    assert in_options(text) == text


@pytest.mark.parametrize(
    ("typed", "step"),
    [("0.2ns", (0.2, "ns")), ("2e-3 ps", (2e-3, "ps")), ("5", (5.0, "")), ("1.5 µs", (1.5, "µs"))],
)
def test_a_time_is_a_number_and_its_unit(typed, step):
    assert parsed(f"rates run --from a --to b --time-step '{typed}'")["step"] == step


@pytest.mark.parametrize("typed", ["ns", "", "0.2 ns too", "1-2ns"])
def test_what_is_no_time_is_refused(typed):
    with pytest.raises(click.BadParameter, match="is no time"):
        parsed(f"rates run --from a --to b --time-step '{typed}'")


# --- Words of the command about wrong use: near names, one style of errors, completion ------------


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
