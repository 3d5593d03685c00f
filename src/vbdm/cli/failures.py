"""How a command ends early: errors and signals become a message and an exit code."""

from __future__ import annotations

import errno
import json
import os
import signal
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import click

from .options import in_options

NUMERICAL, INPUT, INTERRUPTED, TERMINATED = 1, 2, 130, 143
#: Error numbers of a full disk and of a full quota.
FULL = (errno.ENOSPC, errno.EDQUOT)
KEPT = "Nothing was changed: earlier results are as they were, and nothing unfinished was left."


# --- Signals -------------------------------------------------------------------------------------


class Terminated(KeyboardInterrupt):
    """The process was asked to end (SIGTERM), by a scheduler or by `kill`."""


#: Signals that were heard while the command runs, the first one first.
HEARD: list[type[KeyboardInterrupt]] = []


@contextmanager
def heard() -> Iterator[list[type[KeyboardInterrupt]]]:
    """Turn Ctrl-C and SIGTERM into exceptions inside the block; yield the list of those that came.

    Only the main thread may say so, and a signal that is ignored (``nohup``) stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield []
        return

    def interrupt(kind: type[KeyboardInterrupt], *_: Any) -> None:
        HEARD.append(kind)
        raise kind

    before = {
        number: signal.signal(number, partial(interrupt, kind))
        for number, kind in ((signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, Terminated))
        if signal.getsignal(number) is not signal.SIG_IGN
    }
    try:
        yield HEARD
    finally:
        HEARD.clear()
        for number, handler in before.items():
            signal.signal(number, handler)


def stop_if_heard() -> None:
    """Raise again if a signal was heard.

    The first exception can get lost: raised inside a callback of compiled code, as while that is
    loaded, it is printed and forgotten.
    """
    if HEARD:
        raise HEARD[0]


# --- Errors --------------------------------------------------------------------------------------


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
    message, code = message_and_code(error)
    if written and isinstance(error, KeyboardInterrupt):
        message = f"Interrupted. The results are complete ({written})."
    elif written:
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        after = f"but something failed after that: {reason.rstrip('.')}."
        message, code = f"The results are complete ({written}), {after}", NUMERICAL
    trace = "".join(traceback.format_exception(error)) if "VBDM_TRACEBACK" in os.environ else ""
    return Failure(in_options(message), code, trace)


def message_and_code(error: BaseException) -> tuple[str, int]:
    """Return the message and the exit code of an error.

    The code is 2 for what the user can change (input, memory, paths), 1 for numerical failures, a
    failing disk and mistakes in vbdm, 130 for Ctrl-C, 143 if the process was asked to end.
    """
    from ..errors import InputError, SolverError

    if isinstance(error, KeyboardInterrupt):
        code = TERMINATED if isinstance(error, Terminated) else INTERRUPTED
        return f"Interrupted. {KEPT}", code
    if isinstance(error, (InputError, ImportError)):
        return str(error), INPUT
    if isinstance(error, MemoryError):
        hint = "Use fewer points (--subsample 100000) or neighbours (--effort 0.5)."
        return f"Memory ran out. {hint} {KEPT}", INPUT
    if isinstance(error, SolverError):
        return f"The result could not be computed. {error}", NUMERICAL
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        if error.errno in FULL:
            hint = "Make room and run the command again."
            return f"The disk is full{where}. {KEPT} {hint}", NUMERICAL
        if error.errno == errno.EIO:
            return f"The disk failed{where}: {error.strerror}. {KEPT}", NUMERICAL
        reason = (error.strerror or str(error)).rstrip(".")
        return f"A file cannot be read or written{where}: {reason}. {KEPT}", INPUT
    return (
        f"Something unexpected happened ({type(error).__name__}: {error}). {KEPT} This is a "
        "mistake in vbdm: please report it, with what VBDM_TRACEBACK=1 in the environment shows.",
        NUMERICAL,
    )


@contextmanager
def wrong_use_as_error() -> Iterator[None]:
    """Give errors of click, about commands and options, the form of all other errors."""

    def show(error: click.ClickException, file: object = None) -> None:
        context = getattr(error, "ctx", None)
        if context is not None:
            click.echo(context.get_usage(), err=True)
            click.echo(f"Try '{context.command_path} --help' for help.\n", err=True)
        show_failure(Failure(error.format_message(), error.exit_code), as_json=False)

    try:
        yield
    except click.ClickException as error:
        # click calls this method to show the error; its own writes "Error:".
        error.show = partial(show, error)  # type: ignore[method-assign]
        raise


def show_failure(failure: Failure, as_json: bool) -> None:
    """Write the message to stderr, as text or as one line of JSON."""
    if failure.trace:
        click.echo(failure.trace, err=True)
    if as_json:
        line = {"error": failure.message, "exit_code": failure.exit_code}
        click.echo(json.dumps(line, ensure_ascii=False), err=True)
    else:
        click.echo(f"{click.style('error:', fg='red', bold=True)} {failure.message}", err=True)
