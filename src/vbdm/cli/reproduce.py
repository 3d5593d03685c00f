"""``vbdm reproduce``: the figures of the paper, which lie beside the package in a clone."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import click

EXAMPLES = """\b
Examples:
  vbdm reproduce --quick                  all figures, smaller; about three minutes
  vbdm reproduce ou_random --out check    one figure, into the folder check/
"""


@click.command("reproduce", epilog=EXAMPLES, context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def command(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Make the figures of the paper, inside a clone of vbdm's repository.

    They are not part of the installed package. In a clone, "make reproduce" installs what is needed
    and makes them all; this command does the same without installing. ARGUMENTS are those of
    "python -m paper", which lists them, and the names of the figures, with --help.
    """
    from ..errors import InputError

    clone = Path.cwd()
    if not (clone / "paper" / "__main__.py").is_file() or not (clone / "src" / "vbdm").is_dir():
        raise InputError(
            "The figures of the paper are not part of the installed package; received vbdm "
            f"reproduce in {clone}. Clone the repository; inside it, run: make reproduce (or, for "
            'a smaller run of three minutes, make reproduce ARGS="--quick").'
        )
    sys.path.insert(0, str(clone))
    ctx.exit(import_module("paper.__main__").main(arguments))
