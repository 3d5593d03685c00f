"""A folder in which workers keep results that took long: for lost workers, and for later runs.

A file is named after all that its arrays were computed from: function, arguments and versions. So
nothing is ever read that belongs to other data or settings, and a run that was cut short finds
what it had.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.versions import __version__, library_versions
from ..errors import ClusterError, ClusterWarning
from .connection import reached
from .place import results_of

Function = TypeVar("Function", bound=Callable[..., Any])

#: Folders of which this process has told that they cannot be written to.
WARNED: set[str] = set()


def worth_keeping(function: Function) -> Function:
    """Mark a function of blocks that takes long: its results, arrays, may be kept in a store."""
    function.worth_keeping = True  # type: ignore[attr-defined]
    return function


class Store:
    """A folder that all workers can write to.

    Parameters
    ----------
    folder : path
        Where the files are; what is not needed any more may be deleted at any time.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = os.path.abspath(folder)

    def check(self, client: Any) -> None:
        """Raise if a worker cannot write to the folder, or sees another one."""
        mark = Path(self.folder, f"vbdm-{token_hex(8)}.mark")
        try:
            mark.touch()
            with reached(client):
                seen = client.run(sees, str(mark))
        except OSError as error:
            raise no_store(f"{self.folder!r}: {error.strerror or error}") from error
        finally:
            mark.unlink(missing_ok=True)
        blind = [worker for worker, good in seen.items() if not good]
        if blind:
            raise no_store(f"{self.folder!r}, which {blind[0]} does not have, or cannot write to")

    def path(self, function: Callable[..., Any], args: tuple[Any, ...], n_results: int) -> str:
        """Return the file for the results of a function."""
        made_of = (function.__module__, function.__qualname__, n_results, versions(), args)
        name = hashlib.sha256(pickle.dumps(made_of, protocol=5)).hexdigest()[:40]
        return str(Path(self.folder, f"vbdm-{name}.npz"))


def versions() -> tuple[str, ...]:
    """Return the versions that results depend on."""
    known = library_versions()
    return __version__, known["numpy"], known["scipy"], known.get("numba", "")


def from_store(path: str, function: Callable[..., Any], n_results: int, *args: Any) -> Any:
    """Return a function's results, arrays, from a file; or call it, and write the file."""
    known = read(path, n_results)
    if known is None:
        known = results_of(function(*args), n_results)
        try:
            write(path, known)
        except OSError as error:
            warn_once(os.path.dirname(path), error)
    return known[0] if n_results == 1 else tuple(known)


def read(path: str, n_results: int) -> list[NDArray[Any]] | None:
    """Return the arrays of a file; None if there is none, or if it is damaged."""
    try:
        with np.load(path, allow_pickle=False) as found:
            return [found[f"arr_{number}"] for number in range(n_results)]
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None


def write(path: str, values: list[NDArray[Any]]) -> None:
    """Write arrays to a file, which gets its name when it is complete."""
    partial = f"{path}.{token_hex(4)}.part"
    try:
        with open(partial, "xb") as stream:
            np.savez(stream, *values)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(partial, path)
    except BaseException:
        Path(partial).unlink(missing_ok=True)
        raise


def warn_once(folder: str, error: OSError) -> None:
    """Tell those who are connected to this worker that a folder does not keep results."""
    from distributed.worker import warn

    if folder in WARNED:
        return
    WARNED.add(folder)
    warn(
        f"The store {folder!r} could not be written to ({error.strerror or error}), so not all "
        "results are kept. The run goes on; make room there, or leave `store` out.",
        ClusterWarning,
    )


def sees(mark: str) -> bool:
    """Tell whether a file is here, in a folder that can be written to."""
    return os.path.exists(mark) and os.access(os.path.dirname(mark), os.W_OK)


def no_store(received: str) -> ClusterError:
    """Return the error for a store that cannot be used."""
    return ClusterError(
        "`store` must be a folder that this process and all workers can write to; received "
        f"{received}. Make a folder on a disk that all machines share, or leave `store` out."
    )
