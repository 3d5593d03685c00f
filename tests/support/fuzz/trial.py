"""Run cases in a process of their own, with limits on time and memory, and say what came out.

An outcome is a word. `OK`, `REFUSED` and `OTHER` are allowed; all others say what went wrong.
"""

import multiprocessing
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import vbdm

#: The call answered; vbdm refused it in its own words; it answered with other numbers than before,
#: because a plausible value had been changed.
OK, REFUSED, OTHER = "ok", "refused", "other numbers"
ALLOWED = {OK, REFUSED, OTHER}
#: Errors with vbdm's own words, and those of the operating system about files.
OWN = (
    vbdm.InputError,
    vbdm.errors.SolverError,
    FileNotFoundError,
    IsADirectoryError,
    PermissionError,
)
Case = tuple[Any, ...]
Judge = Callable[[Case], str]


def attempt(call: Callable[[], Any]) -> tuple[str, Any]:
    """Return the outcome of a call, and its result if there is one.

    Warnings of vbdm are words; those of NumPy and others, which name no cause, are not allowed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", vbdm.VbdmWarning)
        try:
            return OK, call()
        except OWN:
            return REFUSED, None
        except Exception as error:
            return f"raw {type(error).__name__}: {error!s:.200}", None


def run(
    judge: Judge, cases: Iterable[Case], *, seconds: float = 60, gigabytes: float = 1
) -> Counter[str]:
    """Judge all cases; fail with those whose outcome is not allowed, else count the outcomes.

    Parameters
    ----------
    judge : callable
        From a case to its outcome; a function of a module, so that the other process finds it.
    cases : iterable of tuple
        What is judged, in turn.
    seconds : float
        After so long a case counts as one that hangs, and its process is killed. Cases take parts
        of a second; but the machine may be busy.
    gigabytes : float
        How much memory the process may take beyond what it has when it starts.
    """
    found = list(outcomes(judge, cases, seconds, gigabytes))
    wrong = [f"{case}: {outcome}" for case, outcome in found if outcome not in ALLOWED]
    assert not wrong, f"{len(wrong)} of {len(found)} cases:\n" + "\n".join(wrong[:50])
    return Counter(outcome for _, outcome in found)


def outcomes(
    judge: Judge, cases: Iterable[Case], seconds: float, gigabytes: float
) -> Iterator[tuple[Case, str]]:
    """Yield every case with its outcome; a process that dies or hangs is followed by another."""
    worker = None
    try:
        for case in cases:
            worker = worker or Worker(judge, gigabytes)
            outcome = worker.ask(case, seconds)
            if not worker.process.is_alive():
                worker = None
            yield case, outcome
    finally:
        if worker is not None:
            worker.stop()


class Worker:
    """A process that judges one case after the other."""

    def __init__(self, judge: Judge, gigabytes: float) -> None:
        # Started afresh: a copy of this process would inherit its memory and its locks.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, judge, gigabytes))
        self.process.start()
        theirs.close()
        # The first word comes when everything is imported.
        self.connection.recv()

    def ask(self, case: Case, seconds: float) -> str:
        """Return the outcome of a case."""
        self.connection.send(case)
        try:
            if self.connection.poll(seconds):
                return str(self.connection.recv())
        except EOFError:
            self.process.join()
            return f"the process died with {self.process.exitcode}"
        self.stop()
        return f"no answer after {seconds} s"

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.join()


def work(connection: Any, judge: Judge, gigabytes: float) -> None:
    """Judge what comes, until nothing does."""
    limit_memory(gigabytes)
    connection.send("ready")
    while True:
        try:
            case = connection.recv()
        except EOFError:
            return
        try:
            connection.send(judge(case))
        except Exception as error:
            connection.send(f"not judged: {error!r:.200}")


def limit_memory(gigabytes: float) -> None:
    """Give this process so much more memory, where the system can (Linux)."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as pages:
            taken = int(pages.read().split()[0]) * resource.getpagesize()
    except (ImportError, OSError):
        return
    most = taken + int(gigabytes * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
