"""What went wrong, in words and as an exit code."""

from __future__ import annotations

import errno
import json
import os
import traceback
from dataclasses import dataclass

import click

from .options import in_options

NUMERICAL, INPUT, INTERRUPTED = 1, 2, 130
#: What a full disk, or a full share of it, says.
FULL = (errno.ENOSPC, errno.EDQUOT)
KEPT = "Nothing was changed: earlier results are as they were, and nothing unfinished was left."


@dataclass(frozen=True)
class Failure:
    """A message and an exit code; `trace` is for developers."""

    message: str
    exit_code: int
    trace: str = ""


def say_kept(sentence: str) -> None:
    """Let errors of this command say what is left of its work, if that is not `KEPT`."""
    click.get_current_context().meta["vbdm.kept"] = sentence


def explain(error: BaseException, kept: str = KEPT) -> Failure:
    """Return what to say about an error, and about the state in which it leaves the disk.

    Examples
    --------
    >>> explain(FileNotFoundError(2, "No such file or directory", "a.csv")).exit_code
    2
    """
    trace = "".join(traceback.format_exception(error))
    message, code = message_and_code(error, kept)
    return Failure(in_options(message), code, trace if os.environ.get("VBDM_TRACEBACK") else "")


def message_and_code(error: BaseException, kept: str) -> tuple[str, int]:
    """Sort errors by who can do something about them."""
    from ..base.errors import InputError, SolverError

    if isinstance(error, KeyboardInterrupt):
        return f"Interrupted. {kept}", INTERRUPTED
    if isinstance(error, (InputError, ImportError)):
        return str(error), INPUT
    if isinstance(error, MemoryError):
        return (
            "Memory ran out. Use fewer points (--subsample 100000) or neighbours (--effort 0.5). "
            + kept,
            INPUT,
        )
    if isinstance(error, OSError):
        return describe_disk(error, kept)
    if isinstance(error, SolverError):
        return f"The eigenvalues could not be computed. {error}", NUMERICAL
    return (
        f"Something unexpected happened ({type(error).__name__}: {error}). {kept} This is a "
        "mistake in vbdm: please report it, with what VBDM_TRACEBACK=1 in the environment shows.",
        NUMERICAL,
    )


def describe_disk(error: OSError, kept: str) -> tuple[str, int]:
    """Return what to say about an error of the file system."""
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in FULL:
        return f"The disk is full{where}. {kept} Make room and run the command again.", NUMERICAL
    if error.errno == errno.EIO:
        return f"The disk failed{where}: {error.strerror}. {kept}", NUMERICAL
    reason = (error.strerror or str(error)).rstrip(".")
    return f"A file cannot be read or written{where}: {reason}. {kept}", INPUT


def show_failure(failure: Failure, as_json: bool) -> None:
    """Write the message to stderr, as text or as one line of JSON."""
    if failure.trace:
        click.echo(failure.trace, err=True)
    if as_json:
        line = {"error": failure.message, "exit_code": failure.exit_code}
        click.echo(json.dumps(line, ensure_ascii=False), err=True)
    else:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {failure.message}", err=True)
