"""Options that several commands share, in sections, so that a long help text can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]
#: Names of the options that go to `vbdm.io.read`, and to the estimate.
READING = (
    "format", "key", "columns", "header", "variable", "sample_dims", "topology", "selection",
    "features", "stride",
)  # fmt: skip
ESTIMATING = (
    "operator", "method", "beta", "dim", "epsilon", "n_neighbors", "n_density_neighbors", "effort",
    "metric", "period", "search", "leave_one_out",
)  # fmt: skip


class Setting(click.Option):
    """An option that knows under which heading it stands."""

    def __init__(self, *names: Any, section: str = "Options", **settings: Any) -> None:
        super().__init__(*names, **settings)
        self.section = section


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


def setting(*names: str, **settings: Any) -> Decorator:
    """Declare one option."""
    return click.option(*names, cls=Setting, **settings)


def together(*decorators: Decorator) -> Decorator:
    """Make one decorator of several."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def parse_operator(_: click.Context, __: click.Parameter, value: str) -> str | float:
    """Return a number if it is one; names are checked where they are known."""
    try:
        return float(value)
    except ValueError:
        return value.lower()


def parse_period(_: click.Context, __: click.Parameter, value: str | None) -> Any:
    """Return one period, or one for each column, None where there is none."""
    if value is None:
        return None
    parts = [part.strip().lower() for part in value.split(",")]
    try:
        periods = [None if part in ("", "none", "-") else number_of(part) for part in parts]
    except ValueError:
        raise click.BadParameter(
            f"{value!r} is no list of numbers. Write 360 for all columns, or 2pi,none,10 for "
            "three of them."
        ) from None
    return periods[0] if len(periods) == 1 else periods


def number_of(text: str) -> float:
    """Return a number that may be a multiple of π."""
    if text.endswith("pi"):
        return 3.141592653589793 * float(text[:-2] or 1)
    return float(text)


def remember_json(ctx: click.Context, _: click.Parameter, value: bool) -> bool:
    """Let errors know that JSON was asked for."""
    ctx.meta["vbdm.json"] = value
    return value


IN, HOW, BEFORE, AFTER = "Reading the file", "The estimate", "Before the estimate", "Results"

reading_options = together(
    setting("--columns", section=IN, help="Columns by name or number: x,y or 0,2 or 0-3."),
    setting("--key", section=IN, help="Which array of an .npz, HDF5, Zarr or AnnData file."),
    setting("--header/--no-header", default=None, section=IN,
            help="Whether the first line of a text file holds names. [default: look]"),
    setting("--variable", section=IN, help="Which variable of a NetCDF file."),
    setting("--sample-dims", section=IN, help="NetCDF dimensions that become rows. [time]"),
    setting("--topology", type=click.Path(path_type=Path), section=IN,
            help="The file that names the atoms of a trajectory."),
    setting("--selection", section=IN, help="Which atoms of a trajectory."),
    setting("--features", type=click.Choice(["coordinates", "dihedrals"]), section=IN,
            help="What to take from a trajectory: aligned coordinates, or angles."),
    setting("--stride", type=int, section=IN, help="Take every n-th frame of a trajectory."),
    setting("--format", section=IN, help="What kind of file, if its name does not tell."),
)  # fmt: skip

preparing_options = together(
    setting("--standardize", is_flag=True, section=BEFORE,
            help="Give every column mean 0 and standard deviation 1."),
    setting("--delays", type=int, default=1, section=BEFORE,
            help="Join n consecutive rows into one point (time-delay embedding)."),
    setting("--delay-step", type=int, default=1, section=BEFORE, help="Rows between delays."),
    setting("--every", type=int, default=1, section=BEFORE, help="Keep every n-th row."),
    setting("--subsample", type=int, section=BEFORE, help="Draw n points at random."),
    setting("--seed", type=int, default=0, section=BEFORE, help="Seed of that draw. [0]"),
    setting("--drop-missing", is_flag=True, section=BEFORE,
            help="Leave out rows with missing values instead of refusing them."),
)  # fmt: skip

estimating_options = together(
    setting("--operator", "-O", default="laplacian", callback=parse_operator, section=HOW,
            metavar="NAME|NUMBER",
            help="laplacian (geometry alone), generator (dynamics), or a number c1. [laplacian]"),
    setting("--method", default="resolved", type=click.Choice(["resolved", "paper"]), section=HOW,
            help="resolved: right without tuning; paper: Berry and Harlim to the letter."),
    setting("--epsilon", type=float, section=HOW, help="Bandwidth ε. [automatic]"),
    setting("--dim", type=float, section=HOW, help="Dimension of the manifold. [estimated]"),
    setting("--beta", type=float, section=HOW, help="Exponent of the bandwidth. [automatic]"),
    setting("--neighbors", "-k", "n_neighbors", type=int, section=HOW,
            help="Neighbours of each point, itself included. [as many as ε needs]"),
    setting("--density-neighbors", "n_density_neighbors", type=int, section=HOW,
            help="Neighbours for the first guess of the density. [16]"),
    setting("--effort", type=float, default=1.0, section=HOW,
            help="From fast (0.5) to accurate (4): multiplies neighbours, time and memory. [1]"),
    setting("--metric", section=HOW,
            help="Any metric of scikit-learn, or precomputed. [euclidean]"),
    setting("--period", callback=parse_period, section=HOW,
            help="Periods of the columns, such as 360 or 2pi,none."),
    setting("--leave-one-out/--no-leave-one-out", default=None, section=HOW,
            help="Whether a point is left out of its own sums; not on regular grids. [yes]"),
    setting("--search", section=HOW,
            help="Who finds neighbours: auto, kd-tree, brute, projected, pynndescent."),
)  # fmt: skip

output_options = together(
    setting("-q", "--quiet", is_flag=True, section=AFTER, help="Only notes and errors."),
    setting("--json", "as_json", is_flag=True, is_eager=True, callback=remember_json,
            section=AFTER,
            help="One JSON document on stdout; stages, notes and errors as JSON lines on stderr."),
)  # fmt: skip
