"""Errors of a command as a message and an exit code."""

from __future__ import annotations

import errno
import json
import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import click

from .options import in_options
from .signals import Terminated

NUMERICAL, INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143
#: Error numbers of a full disk and of a full quota.
FULL = (errno.ENOSPC, errno.EDQUOT)
KEPT = "Nothing was changed: earlier results are as they were, and nothing unfinished was left."


@dataclass(frozen=True)
class Failure:
    """A message for the user, an exit code, and a traceback for developers, usually empty."""

    message: str
    exit_code: int
    trace: str = ""


def say_written(place: os.PathLike[str]) -> None:
    """Note that what the command writes is complete: errors that follow say so."""
    click.get_current_context().meta["vbdm.written"] = os.fspath(place)


def explain(error: BaseException, written: str = "") -> Failure:
    """Return message and exit code of an error; `written` names what had been written before it.

    Examples
    --------
    >>> explain(FileNotFoundError(2, "No such file or directory", "a.csv")).exit_code
    2
    >>> explain(OSError(28, "No space left on device"), "results").message
    'The results are complete (results), but something failed after that: No space left on device.'
    """
    trace = "".join(traceback.format_exception(error))
    message, code = after_writing(error, written) if written else message_and_code(error)
    return Failure(in_options(message), code, trace if os.environ.get("VBDM_TRACEBACK") else "")


def after_writing(error: BaseException, written: str) -> tuple[str, int]:
    """Return message and exit code of an error after the results were written: they stay."""
    if isinstance(error, KeyboardInterrupt):
        return f"Interrupted. The results are complete ({written}).", code_of(error)
    reason = (getattr(error, "strerror", None) or f"{type(error).__name__}: {error}").rstrip(".")
    return (
        f"The results are complete ({written}), but something failed after that: {reason}.",
        NUMERICAL,
    )


def code_of(error: KeyboardInterrupt) -> int:
    """Return the exit code of an interruption: 128 and the number of the signal."""
    return TERMINATED if isinstance(error, Terminated) else INTERRUPTED


def message_and_code(error: BaseException) -> tuple[str, int]:
    """Return the message and the exit code of an error.

    The code is 2 for what the user can change (input, memory, paths), 1 for numerical failures, a
    failing disk and mistakes in vbdm, 130 for Ctrl-C, 143 if the process was asked to end.
    """
    from ..errors import InputError, SolverError

    if isinstance(error, KeyboardInterrupt):
        return f"Interrupted. {KEPT}", code_of(error)
    if isinstance(error, (InputError, ImportError)):
        return str(error), INPUT
    if isinstance(error, MemoryError):
        return (
            "Memory ran out. Use fewer points (--subsample 100000) or neighbours (--effort 0.5). "
            + KEPT,
            INPUT,
        )
    if isinstance(error, OSError):
        return describe_disk(error)
    if isinstance(error, SolverError):
        return f"The result could not be computed. {error}", NUMERICAL
    return (
        f"Something unexpected happened ({type(error).__name__}: {error}). {KEPT} This is a "
        "mistake in vbdm: please report it, with what VBDM_TRACEBACK=1 in the environment shows.",
        NUMERICAL,
    )


def describe_disk(error: OSError) -> tuple[str, int]:
    """Return the message and the exit code of an error of the file system."""
    where = f" ({error.filename})" if error.filename else ""
    if error.errno in FULL:
        return f"The disk is full{where}. {KEPT} Make room and run the command again.", NUMERICAL
    if error.errno == errno.EIO:
        return f"The disk failed{where}: {error.strerror}. {KEPT}", NUMERICAL
    reason = (error.strerror or str(error)).rstrip(".")
    return f"A file cannot be read or written{where}: {reason}. {KEPT}", INPUT


@contextmanager
def wrong_use_as_error() -> Iterator[None]:
    """Give errors of click, about commands and options, the form of all other errors."""
    try:
        yield
    except click.ClickException as error:
        # click calls this method to show the error; its own writes "Error:".
        error.show = partial(show_wrong_use, error)  # type: ignore[method-assign]
        raise


def show_wrong_use(error: click.ClickException, file: object = None) -> None:
    """Write how the command is used, where click knows it, and then the message."""
    context = getattr(error, "ctx", None)
    if context is not None:
        click.echo(context.get_usage(), err=True)
        click.echo(f"Try '{context.command_path} --help' for help.\n", err=True)
    show_failure(Failure(error.format_message(), error.exit_code), as_json=False)


def show_failure(failure: Failure, as_json: bool) -> None:
    """Write the message to stderr, as text or as one line of JSON."""
    if failure.trace:
        click.echo(failure.trace, err=True)
    if as_json:
        line = {"error": failure.message, "exit_code": failure.exit_code}
        click.echo(json.dumps(line, ensure_ascii=False), err=True)
    else:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {failure.message}", err=True)
