"""The options of the `vbdm` command that stand for parameters of the library, in one table.

It gives the options of the commands (``params=[*READING]``), the arguments that the library is
called with (`arguments_for`), and the words of messages, where the library names parameters and a
terminal needs options (`in_options`). Those of an estimate come from `vbdm.base.parameters`.
"""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from math import pi
from pathlib import Path
from typing import Any

import click

from ..base.parameters import PARAMETERS, Parameter
from ..base.versions import ENGINE_NAMES

#: Headings under which a help text lists its options.
IN, HOW, BEFORE, AFTER = "Reading the file", "The estimate", "Before the estimate", "Results"
WHERE, ASKED = "More points than fit into memory", "The question"
LEARNING = "What is learned"


class Setting(click.Option):
    """An option of the command, with its heading in the help text and its parameter in the library.

    `parameter` is by default the name of the option. `stands_for` is the library's argument for a
    flag without a ``--no-`` form: ``--drop-missing`` stands for ``missing='drop'``.
    """

    def __init__(
        self,
        names: list[str],
        section: str = "Options",
        parameter: str = "",
        stands_for: Any = True,
        **settings: Any,
    ) -> None:
        super().__init__(names, **settings)
        self.section = section
        self.parameter = parameter or str(self.name)
        self.stands_for = stands_for

    @property
    def typed(self) -> str:
        """The long form of the option, as it is typed: "--neighbors"."""
        return next(name for name in self.opts if name.startswith("--"))

    @property
    def is_one_way(self) -> bool:
        """Whether it is a flag without a ``--no-`` form."""
        return self.is_flag and not self.secondary_opts

    def argument(self, value: Any) -> Any:
        """Return the library's argument for a value of the option; None for a flag not set."""
        flag = self.stands_for if value else None
        return flag if self.is_one_way else value

    def typed_for(self, argument: Any) -> str | None:
        """Return what to type for an argument of the library; None if no option gives it."""
        if self.is_one_way:
            return self.typed if argument == self.stands_for else None
        if self.is_flag:
            return {True: self.typed, False: self.secondary_opts[0]}.get(argument)
        if argument is None or isinstance(argument, bool):
            return None
        return f"{self.typed} {shlex.quote(as_text(argument))}"


class Command(click.Command):
    """A command whose help lists its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, section by section."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if isinstance(option, click.Option) and record is not None:
                sections.setdefault(getattr(option, "section", "Help"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def setting(*names: str, **settings: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that adds an option to its command; it stands for no parameter."""
    return click.option(*names, cls=Setting, **settings)


def reader(read: Callable[[str], Any], expected: str = "") -> Callable[..., Any]:
    """Return a callback that reads a text; `expected` is what a wrong one is not, and what is."""

    def callback(_: click.Context, __: click.Parameter, value: str | None) -> Any:
        try:
            return None if value is None else read(value)
        except ValueError:
            raise click.BadParameter(f"{value!r} is no {expected}") from None

    return callback


def read_operator(text: str) -> str | float:
    """Return the operator as a number, or its name as text, which the library checks."""
    try:
        return float(text)
    except ValueError:
        return text.lower()


def read_period(text: str) -> Any:
    """Return one period for all columns, or one for each, with None where there is no period."""
    periods: list[float | None] = []
    for part in map(str.strip, text.lower().split(",")):
        if part in ("", "none", "-"):
            periods.append(None)
        elif part.endswith("pi"):
            periods.append(pi * float(part[:-2] or 1))
        else:
            periods.append(float(part))
    return periods[0] if len(periods) == 1 else periods


def read_step(text: str) -> tuple[float, str]:
    """Return a number and its unit: 0.2ns is 0.2 and "ns"."""
    found = re.fullmatch(r"\s*(?P<number>[-+.\deE]*\d)\s*(?P<unit>[^\d\s]\S*)?\s*", text)
    return float(found["number"] if found else text), (found and found["unit"]) or ""


def count_or(least: int, *words: str) -> Callable[..., Any]:
    """Return a callback that reads a whole number from a least one on, or one of a few words."""

    def read(text: str) -> int | str:
        word = text.strip().lower()
        if word in words:
            return word
        if not word.isdecimal() or int(word) < least:
            raise ValueError
        return int(word)

    known = "".join(f" or {own}" for own in words)
    return reader(read, f"whole number from {least} on{known}.")


#: Numbers of rows of several series.
parse_lengths = reader(
    lambda text: [int(part) for part in text.split(",")],
    "list of whole numbers. Write 5000,3000 for two series.",
)


def remember_json(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    """Store in the context that JSON is wanted, so that errors are written as JSON, too."""
    ctx.meta["vbdm.json"] = value
    return value


def setting_of(row: Parameter, section: str = HOW, **settings: Any) -> Setting:
    """Return the option for a row of the table of parameters."""
    typed, *others = (row.option or f"--{row.name}").split()
    types = [kind.typed for kind in row.kinds]
    if bool in types:
        typed, settings["default"] = f"{typed}/--no-{typed[2:]}", None
    elif "callback" not in settings:
        choice = [word for kind in types if isinstance(kind, tuple) for word in kind]
        numeric = next((kind for kind in types if kind in (int, float)), None)
        settings["type"] = numeric or (click.Choice(choice) if choice else str)
    return Setting([typed, *others, row.name], section, help=row.help, **settings)


FILE = click.Argument(["file"], type=click.Path(path_type=Path))
#: Parameters of `vbdm.io.read`.
READING = (
    Setting(["--columns"], IN, help="Columns by name or number: x,y or 0,2 or 0-3."),
    Setting(["--key"], IN, help="Which array of an .npz, HDF5, Zarr or AnnData file."),
    Setting(["--header/--no-header"], IN, default=None,
            help="Whether the first line of a text file holds names. [default: look]"),
    Setting(["--variable"], IN, help="Which variable of a NetCDF file."),
    Setting(["--sample-dims"], IN, help="NetCDF dimensions that become rows. [time]"),
    Setting(["--topology"], IN, type=click.Path(path_type=Path),
            help="The file that names the atoms of a trajectory."),
    Setting(["--selection"], IN, help="Which atoms of a trajectory."),
    Setting(["--features"], IN, type=click.Choice(["coordinates", "dihedrals"]),
            help="What to take from a trajectory: aligned coordinates, or angles."),
    Setting(["--stride"], IN, type=int, help="Take every n-th frame of a trajectory."),
    Setting(["--format"], IN, help="What kind of file, if its name does not tell."),
)  # fmt: skip

SHARE = reader(lambda text: int(text) if text.strip().isdigit() else float(text),
               "number. Write 3 for three directions, 0.95 for 95 %.")  # fmt: skip
#: Parameters of `vbdm.io.prepare`, besides the periods.
PREPARING = (
    Setting(["--standardize"], BEFORE, is_flag=True,
            help="Give every column mean 0 and standard deviation 1."),
    Setting(["--delays"], BEFORE, type=int, default=1,
            help="Join n consecutive rows into one point (time-delay embedding)."),
    Setting(["--delay-step"], BEFORE, type=int, default=1, help="Rows between delays."),
    Setting(["--every"], BEFORE, type=int, default=1, help="Keep every n-th row."),
    Setting(["--subsample"], BEFORE, type=int, help="Draw n points at random."),
    Setting(["--seed"], BEFORE, type=int, default=0, help="Seed of that draw. [0]"),
    Setting(["--lengths"], BEFORE, callback=parse_lengths, metavar="NUMBERS",
            help="Rows of several time series that follow each other: 5000,3000."),
    Setting(["--pca"], BEFORE, callback=SHARE, metavar="NUMBER",
            help="Replace the columns by n principal directions; 0.95: by 95 % of the variance."),
    Setting(["--tica"], BEFORE, type=int,
            help="Replace the columns of a series by its n slowest directions."),
    Setting(["--lag"], BEFORE, type=int, help="Points between those that TICA compares. [1]"),
    Setting(["--drop-missing"], IN, parameter="missing", stands_for="drop", is_flag=True,
            help="Leave out rows with missing values instead of refusing them."),
)  # fmt: skip

#: Parameters of `vbdm.estimate_operator` and of its method and run, from their table.
READ_BY: dict[str, dict[str, Any]] = {
    "operator": {"callback": reader(read_operator), "metavar": "NAME|NUMBER"},
    "period": {
        "callback": reader(
            read_period,
            "list of numbers. Write 360 for all columns, or 2pi,none,10 for three of them.",
        )
    },
}
ESTIMATING = tuple(
    setting_of(row, **READ_BY.get(row.name, {})) for row in PARAMETERS.values() if row.option
)

#: Where `weights` of `vbdm.estimate_operator` come from.
WEIGHING = (
    Setting(["--weights"], HOW, metavar="[FILE:]COLUMN",
            help="Weights of the points, from a column of FILE, or of another file."),
    Setting(["--temperature"], HOW, type=click.FloatRange(0, min_open=True), metavar="KELVIN",
            help="The weights are exp(column/kT) of a bias in kJ/mol, as PLUMED writes it."),
)  # fmt: skip

#: What makes a `placement` of `vbdm.estimate_operator`: fields of the classes in `vbdm.placement`.
PLACING = (
    Setting(["--scratch"], WHERE, type=click.Path(path_type=Path), metavar="FOLDER",
            help="Keep what is large in a scratch file without a name, in this folder."),
    Setting(["--disk"], WHERE, parameter="placement", stands_for="disk", is_flag=True,
            help="The same in the folder TMPDIR. [if memory is too small]"),
    Setting(["--cluster"], WHERE, parameter="client", metavar="ADDRESS",
            help="Work on a Dask cluster, by the address of its scheduler: tcp://node7:8786."),
    Setting(["--workers"], WHERE, parameter="n_workers", type=click.IntRange(1), metavar="N",
            help="Start n workers of Dask on this machine, for this run."),
    Setting(["--store"], WHERE, type=click.Path(path_type=Path), metavar="FOLDER",
            help="With workers: keep distances and kernel in a folder that all can reach."),
    Setting(["--blocks"], WHERE, type=click.IntRange(1), metavar="N",
            help="Into how many blocks the rows are cut. [as many as suits them]"),
)  # fmt: skip

#: Parameters of `Operator.spectrum`.
SOLVING = (
    Setting(["--eigenpairs", "-n"], HOW, parameter="n", type=int,
            help="How many eigenpairs, the constant included. [10]"),
    setting_of(PARAMETERS["components"]),
)  # fmt: skip

#: Parameters of `vbdm.Forecaster`.
FORECASTING = (
    Setting(["--predictor"], LEARNING, type=click.Choice(["auto", "modes", "neighbours"]),
            help="Who predicts. [the better one on what is held out]"),
    Setting(["--delays"], LEARNING, callback=count_or(1, "auto"), metavar="N",
            help="Rows that make a state: the newest and those before it. [auto]"),
    Setting(["--delay-step"], LEARNING, callback=count_or(1), metavar="N",
            help="Rows from one of them to the next. [1]"),
    Setting(["--n-modes"], LEARNING, callback=count_or(2, "auto"), metavar="N",
            help="Number of modes. [auto]"),
    Setting(["--direct"], LEARNING, is_flag=True, default=None,
            help="Modes learn a matrix for each lead."),
    Setting(["--season"], LEARNING, callback=count_or(2, "auto", "none"), metavar="N",
            help="Rows in a cycle that is taken off, or none. [auto: a year, by dates]"),
    Setting(["--horizon"], LEARNING, callback=count_or(1, "auto"), metavar="N",
            help="Largest lead that is tried on what is held out. [auto]"),
)  # fmt: skip
#: Parameters of `vbdm.Forecaster.predict`.
PREDICTING = (
    Setting(["--lead"], ASKED, parameter="leads", callback=count_or(1), metavar="N",
            help="How many steps ahead: leads 1 to N. [12]"),
    Setting(["--time"], IN, parameter="times", metavar="COLUMN",
            help="The column with the times of the rows, or none. [dates, or what counts evenly]"),
)  # fmt: skip

#: Parameters of `vbdm.results.write_results`: where the results go, and what is left out.
FOLDER = (
    Setting(["--out", "-o"], AFTER, parameter="folder", type=click.Path(path_type=Path),
            help="Results folder. [FILE's name with -vbdm, in the current folder]"),
    Setting(["--force"], AFTER, is_flag=True, help="Replace earlier results."),
)  # fmt: skip
LEFT_OUT = (
    Setting(["--no-report"], AFTER, parameter="page", stands_for=False, is_flag=True,
            help="Leave out report.html."),
    Setting(["--no-figures"], AFTER, parameter="figures", stands_for=False, is_flag=True,
            help="Leave out figures/."),
)  # fmt: skip

#: Parameters of `Operator.committor` and `Operator.solve`, and of other questions to a run.
FROM = Setting(["--from", "start"], ASKED, parameter="A", required=True, metavar="SET",
               help="Where transitions start: 'phi < -1.2 and psi > 0', or a label.")  # fmt: skip
TO = Setting(["--to", "end"], ASKED, parameter="B", required=True, metavar="SET",
             help="Where they end.")  # fmt: skip
LABELS = Setting(["--labels"], ASKED, metavar="COLUMN",
                 help="Which column has the labels. [the one in which they occur]")  # fmt: skip
TOL = Setting(["--tol"], ASKED, type=float, help="Relative accuracy of the solver. [1e-6]")
RHS = Setting(["--rhs"], ASKED, parameter="f", default="0", metavar="COLUMN|NUMBER",
              help="Right-hand side f of κu - Lu = f. [0]")  # fmt: skip
FIX = Setting(["--fix", "fixed"], ASKED, multiple=True, metavar="SET=VALUE",
              help="Where u is known: 'x < -1=0'. May be given several times.")  # fmt: skip
SCREEN = Setting(["--screen"], ASKED, type=float, default=0.0, help="κ, not negative. [0]")
#: Parameters of `vbdm.results.answers.check_answer`, `Spectrum.clock` and `vbdm.extend`.
NAME = Setting(["--name"], AFTER, metavar="NAME",
               help="Name of the answer, its files and its section. [the command's]")  # fmt: skip
TIME_STEP = Setting(["--time-step", "step"], AFTER, metavar="TIME",
                    callback=reader(read_step, "time. Write a number and its unit, such as 0.2ns."),
                    help="Time from one row of the file to the next, such as 0.2ns: rates and "
                    "times are given in this unit.")  # fmt: skip
OUTSIDE = setting_of(PARAMETERS["outside"], AFTER, default="nan")
#: A parameter of `vbdm.plot.eigenfunctions` and `vbdm.plot.embedding`.
WHICH = Setting(
    ["--which"], metavar="NUMBERS",
    help="Which eigenfunctions, counted from 0, the constant: 1,2. ",
)  # fmt: skip
#: How much the command prints, and as what; these stand for no parameter of the library.
SPEAKING = (
    Setting(["-q", "--quiet"], AFTER, is_flag=True, help="Only notes and errors."),
    Setting(["--json", "as_json"], AFTER, is_flag=True, is_eager=True, callback=remember_json,
            help="One JSON document on stdout; stages, notes and errors as JSON lines on stderr."),
)  # fmt: skip

#: Options that other commands have, too.
SCRATCH, DROP_MISSING = PLACING[0], PREPARING[-1]
TABLES = (READING, PREPARING, ESTIMATING, WEIGHING, PLACING, SOLVING, FORECASTING)
ASKING = (OUTSIDE, WHICH, FROM, TO, LABELS, TOL, RHS, FIX, SCREEN, NAME, TIME_STEP)
BY_PARAMETER = {
    option.parameter: option for table in (*TABLES, PREDICTING, FOLDER, LEFT_OUT, ASKING)
    for option in table
}  # fmt: skip


def arguments_for(table: Iterable[Setting], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the library's arguments for those options of a table that were given."""
    found = {option.parameter: option.argument(options.get(str(option.name))) for option in table}
    return {parameter: argument for parameter, argument in found.items() if argument is not None}


# A parameter's name is neither part of a longer word nor behind a dot. Calls in Python, such as
# `vbdm.rules.tune(…)`, match first as a whole and stay as they are.
START = r"(?<![\w.])"
CALL = rf"{START}[\w.]+\((?:[^()]|\([^()]*\))*\)"
TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w*/])"
VALUE = rf"{TEXT}|{NUMBER}|True\b|False\b|None\b|\([^()]*\)|\[[^\[\]]*\]"
#: What the library writes in objects are options by themselves.
GROUPED = re.compile(r"\b(?:method|run|bandwidth)=vbdm\.[\w.]+\(([^()]*)\)")
NAMED = re.compile(rf"{CALL}|(?P<tick>`?){START}(?P<name>\w+)(?:=(?P<value>{VALUE}))?(?P=tick)")


def in_options(message: str) -> str:
    """Return a message of the library with options in place of its parameters.

    Examples
    --------
    >>> in_options("Raise `n_neighbors`, or ask for operator='generator'. See `spectrum.limits`.")
    'Raise --neighbors, or ask for --operator generator. See `spectrum.limits`.'
    >>> in_options("Pass run='numba', or method=vbdm.Resolved(leave_one_out=False).")
    'Pass --engine numba, or --no-leave-one-out.'
    >>> in_options("Leave rows out with missing='drop', or choose columns='x,wind speed'.")
    "Leave rows out with --drop-missing, or choose --columns 'x,wind speed'."
    """
    from ..errors import printable

    message = GROUPED.sub(r"\1", message)
    # Values are written anew as they are typed; what a file names may steer the terminal.
    return printable(NAMED.sub(option_for, message))


def option_for(found: re.Match[str]) -> str:
    """Return the option for one parameter in a message; words that are none stay as they are."""
    option = BY_PARAMETER.get(found["name"] or "")
    if found["name"] == "run" and found["value"]:
        # A run by its name is an engine or a place.
        option = BY_PARAMETER["engine" if found["value"][1:-1] in ENGINE_NAMES else "placement"]
    if option is None:
        return found[0]
    if found["value"] is None:
        # Without an argument, a name is a parameter in backticks only; elsewhere it is a word.
        return option.typed if found["tick"] else found[0]
    try:
        return option.typed_for(ast.literal_eval(found["value"])) or found[0]
    except (SyntaxError, ValueError):
        return found[0]


def as_text(argument: Any) -> str:
    """Return an argument as it is typed; several values are separated by commas."""
    if isinstance(argument, (list, tuple)):
        return ",".join(map(as_text, argument))
    return "none" if argument is None else str(argument)
