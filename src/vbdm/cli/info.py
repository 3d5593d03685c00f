"""What is here: ``vbdm info``, and ``vbdm reproduce`` in a clone of the repository."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import click

from .options import Command, remember_json, setting
from .terminal import say_json

#: Optional libraries, what they are for, and the extra that installs them.
OPTIONAL = (
    ("numba", "compiled loops", "fast"),
    ("cupy", "computing on an NVIDIA GPU", "cuda"),
    ("matplotlib", "figures", "plot"),
    ("pynndescent", "approximate neighbours", "approximate"),
    ("distributed", "blocks on a cluster", "cluster"),
)
EXAMPLES = """\b
Examples:
  vbdm info             what is installed, and how to install what is missing
  vbdm info --json      the same for a script, or for a bug report
"""


@click.command("info", cls=Command, epilog=EXAMPLES)
@setting("--json", "as_json", is_flag=True, is_eager=True, callback=remember_json,
         help="One JSON document on stdout.")  # fmt: skip
def info(as_json: bool) -> None:
    """Say which versions, engines and file formats are there, and how to get the others."""
    facts = facts_here()
    if as_json:
        say_json(facts)
        return
    for line in describe(facts):
        click.echo(line)


def facts_here() -> dict[str, Any]:
    """Return versions, cores, memory, disk, engines, optional libraries and file formats here."""
    from ..base.memory import available_memory, free_on_disk
    from ..base.threads import n_threads
    from ..base.versions import __version__, library_versions
    from ..engines.choose import engines_here
    from ..io import formats

    return {
        "vbdm": __version__,
        "libraries": library_versions(),
        "system": platform.platform(),
        "threads": n_threads(),
        "cores": os.cpu_count(),
        "memory_free": available_memory(),
        "scratch": {"folder": gettempdir(), "free": free_on_disk()},
        "engines": engines_here(),
        "features": [
            {"name": purpose, "library": name, "installed": find_spec(name) is not None,
             "install": f"pip install 'vbdm[{extra}]'"}
            for name, purpose, extra in OPTIONAL
        ],
        "formats": [
            {"name": kind.name, "suffixes": list(kind.suffixes), "installed": kind.installed,
             "install": kind.install_command}
            for kind in formats()
        ],
    }  # fmt: skip


def describe(facts: dict[str, Any]) -> Iterator[str]:
    """Yield the facts as lines for the terminal."""
    yield click.style(f"vbdm {facts['vbdm']}", bold=True)
    yield "  " + ", ".join(f"{name} {version}" for name, version in facts["libraries"].items())
    memory = facts["memory_free"]
    free = "" if memory is None else f", {memory / 1e9:.1f} GB of memory free"
    yield f"  {facts['system']}, {facts['threads']} of {facts['cores']} cores{free}"
    scratch = facts["scratch"]
    yield f"  blocks on disk: {scratch['folder']}, {scratch['free'] / 1e9:.1f} GB free (TMPDIR)"
    yield ""
    yield "Engines:"
    yield from engine_lines(facts["engines"])
    yield ""
    for entry in facts["features"]:
        yield line_of(f"{entry['name']} ({entry['library']})", entry)
    yield ""
    yield "Files:"
    for entry in facts["formats"]:
        yield line_of(f"{entry['name']:11s}{' '.join(entry['suffixes'])}", entry)


def engine_lines(engines: dict[str, Any]) -> Iterator[str]:
    """Yield who computes: for few points, and for many; and which GPU can be asked for.

    Examples
    --------
    >>> here = {"few_points": "scipy", "many_points": "scipy", "many_from": 20_000,
    ...         "numba": None, "why_not_numba": "numba is not installed",
    ...         "device": {"why_not": "CuPy is not installed"}}
    >>> for line in engine_lines(here):
    ...     print(line)
      scipy computes, whatever the number of points: numba is not installed
      cuda cannot be used: CuPy is not installed
    """
    if engines["why_not_numba"]:
        yield f"  scipy computes, whatever the number of points: {engines['why_not_numba']}"
    else:
        kept = f"compiled code is kept in {engines['folder']}"
        yield f"  scipy below {engines['many_from']:,} points"
        yield f"  numba {engines['numba']} from there on; {kept}"
    device = engines["device"]
    if device["why_not"]:
        yield f"  cuda cannot be used: {device['why_not']}"
        return
    free, whole = device["memory_free"] / 1e9, device["memory"] / 1e9
    yield (
        f"  cuda, if asked for: {device['name']}, {free:.1f} of {whole:.1f} GB free, compute "
        f"capability {device['compute_capability']}, driver for {device['driver']}, CuPy "
        f"{device['cupy']}; compiled code is kept in {device['folder']}"
    )


def line_of(text: str, entry: dict[str, Any]) -> str:
    """Return one line: that something is installed, or how to install it."""
    if entry["installed"]:
        return f"  {click.style('✔', fg='green')} {text}"
    return f"  {click.style('–', dim=True)} {text}   {entry['install']}"


REPRODUCE_EXAMPLES = """\b
Examples:
  vbdm reproduce --quick                  all figures, smaller; about three minutes
  vbdm reproduce ou_random --out check    one figure, into the folder check/
"""


@click.command(
    "reproduce", epilog=REPRODUCE_EXAMPLES, context_settings={"ignore_unknown_options": True}
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def reproduce(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Make the figures of the paper, inside a clone of vbdm's repository.

    They are not part of the installed package. In a clone, "make reproduce" installs what is needed
    and makes them all; this command does the same without installing. ARGUMENTS are those of
    "python -m paper", which lists them, and the names of the figures, with --help.
    """
    from ..errors import InputError

    clone = Path.cwd()
    if not (clone / "paper" / "__main__.py").is_file() or not (clone / "src" / "vbdm").is_dir():
        raise InputError(
            f"The figures of the paper are in a clone of vbdm's repository; received {clone}. "
            'Clone it and run, inside it: make reproduce, or make reproduce ARGS="--quick".'
        )
    sys.path.insert(0, str(clone))
    ctx.exit(import_module("paper.__main__").main(arguments))
