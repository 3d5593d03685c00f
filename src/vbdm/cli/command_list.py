"""The list of commands, and the one place where errors become messages."""

from __future__ import annotations

import os
import sys
from difflib import get_close_matches
from importlib import import_module
from typing import Any

import click

from .failures import explain, heard, show_failure, wrong_use_as_error

#: Names of the commands, each with its module and a sentence on what it does. A new one is a
#: function of its name in a module of this package, and a line here.
COMMANDS = {
    "fit": ("fit", "Estimate an operator from a file of points."),
    "forecast": ("forecast", "Forecast a time series, with its skill."),
    "transform": ("transform", "Evaluate its eigenfunctions at new points."),
    "committor": ("questions", "Compute the chance to reach one set before another."),
    "rates": ("questions", "Compute rates and mean times between two sets."),
    "states": ("questions", "Find regions that the process leaves seldom."),
    "solve": ("questions", "Solve an equation with the operator."),
    "tune": ("tune", "Choose ε, dimension and neighbours, no more."),
    "report": ("show", "Make the page of earlier results again."),
    "plot": ("show", "Draw one picture of earlier results."),
    "cite": ("show", "Say what to cite."),
    "info": ("info", "Say which versions, engines and formats are here."),
    "demo": ("demo", "Learn a sphere from bundled points."),
    "reproduce": ("info", "Compute the figures of the paper again."),
}


class Commands(click.Group):
    """A group of commands, each imported when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names, in the order in which people need them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command of that name; None if there is none."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f".{COMMANDS[cmd_name][0]}", __package__)
        command: click.Command = getattr(module, cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a name that is not known is answered with names that are like it."""
        if args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            near = [repr(name) for name in get_close_matches(args[0], COMMANDS)]
            meant = f" Did you mean {' or '.join(near)}?" if near else ""
            ctx.fail(f"There is no command {args[0]!r}.{meant}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in COMMANDS.items()])

    def make_context(self, *args: Any, **kwargs: Any) -> click.Context:
        """Read the options before the command; wrong ones are told like all other errors."""
        with wrong_use_as_error():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; any error becomes a message and an exit code."""
        with heard() as signals:
            try:
                with wrong_use_as_error():
                    return super().invoke(ctx)
            except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
                raise
            except (Exception, KeyboardInterrupt) as error:
                # Libraries may turn an interruption into an error of their own.
                cause = signals[0]() if signals else error
                failure = explain(cause, ctx.meta.get("vbdm.written", ""))
                show_failure(failure, as_json=bool(ctx.meta.get("vbdm.json")))
                ctx.exit(failure.exit_code)


def show_version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    """Print the version and exit, if it is wanted."""
    if wanted:
        from ..base.versions import __version__

        click.echo(f"vbdm {__version__}")
        ctx.exit()


EXAMPLES = """\b
Examples:
  vbdm demo                                 learn a sphere, see what results look like
  vbdm fit points.csv                       the Laplacian; results in points-vbdm/
  vbdm fit walk.npy -O generator -n 6       slow modes of a process at equilibrium
  vbdm transform points-vbdm new.csv        the same eigenfunctions at new points
  vbdm committor walk-vbdm --from "x < -1" --to "x > 1"
                                            the chance to reach one set before another, and rates
  vbdm forecast sst.csv --lead 12           what comes next in a time series, and how sure
  vbdm info                                 which files can be read here
  vbdm reproduce --quick                    the paper's figures and claims

Each command explains itself: vbdm fit --help
"""


@click.group(
    "vbdm", cls=Commands, epilog=EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=show_version,
    help="Say the version and stop.",
)  # fmt: skip
def commands() -> None:
    """Learn differential operators from points.

    Given points sampled from an unknown density q on an unknown manifold, vbdm estimates
    L f = Δf + c1 ∇f·∇q/q with its eigenvalues, eigenfunctions and error bars, without tuning.
    """


def main() -> None:
    """Run the command that this process was called with."""
    # Else the next file that is opened would get the number of a stream that is closed (``>&-``),
    # and whatever is printed.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # On a terminal without Greek letters, print question marks instead of failing.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    commands(prog_name="vbdm")
