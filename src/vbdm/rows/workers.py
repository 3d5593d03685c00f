"""Workers: those started on this machine for one run, what they have used, and what they keep.

A store is a folder in which workers keep results that took long: for lost workers, and for later
runs. A file is named after all that its arrays were computed from: function, arguments and
versions. So nothing is ever read that belongs to other data or settings, and a run that was cut
short finds what it had.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import platform
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.checks import a_count
from ..base.versions import __version__, library_versions
from ..errors import ClusterError, ClusterWarning
from .cluster import check_dask, reached
from .place import results_of

Function = TypeVar("Function", bound=Callable[..., Any])
#: Folders of which this process has told that they cannot be written to.
WARNED: set[str] = set()

#: Settings of Dask for workers that we start. Blocks stay where they are (no stealing), the C
#: library keeps memory for the next array, and each worker computes on one core. One that ended is
#: started again; Dask would give it up if it ended once more within this time.
SETTINGS = {
    "distributed.scheduler.work-stealing": False,
    "distributed.deploy.lost-worker-timeout": "1 hour",
    "distributed.worker.profile.enabled": False,
    "distributed.nanny.pre-spawn-environ": {
        "MALLOC_TRIM_THRESHOLD_": str(128 << 20),
        "MALLOC_MMAP_THRESHOLD_": str(32 << 20),
        "OMP_NUM_THREADS": "1",
        "MKL_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    },
}


def start_workers(n_workers: int, **options: Any) -> AbstractContextManager[Any]:
    """Start worker processes on this machine, and yield their client; all end with the block.

    Parameters
    ----------
    n_workers : int
        Number of processes, each on one core.
    **options
        Further options of `distributed.LocalCluster`, such as ``memory_limit="4GB"``.

    Returns
    -------
    context manager
        It gives a `distributed.Client`, to be passed as `placement`.

    Notes
    -----
    Processes are started by running the script again, so a script begins its work under
    ``if __name__ == "__main__":``.
    """
    check_dask()
    return started(a_count(1, 2**16)(n_workers, "n_workers"), options)


@contextmanager
def started(n_workers: int, options: dict[str, Any]) -> Iterator[Any]:
    """Yield the client of workers that end with the block."""
    from dask import config
    from distributed import Client, LocalCluster

    with (
        TemporaryDirectory(prefix="vbdm-workers-", ignore_cleanup_errors=True) as folder,
        config.set({**SETTINGS, "temporary-directory": folder}),
        closed_at_last(
            LocalCluster(
                n_workers=n_workers,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",
                local_directory=folder,
                silence_logs=logging.CRITICAL,
                **options,
            )
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def closed_at_last(cluster: Any) -> Iterator[Any]:
    """Close a cluster at the end of the block, also one that has lost workers and replaced them.

    When all are gone, Dask looks the replaced ones up in a list that may lack them.
    """
    try:
        yield cluster
    finally:
        with suppress(KeyError):
            cluster.close()


@dataclass(frozen=True)
class Usage:
    """What a worker has used so far."""

    # Bytes that went to other workers, and to the process that asked for results.
    sent: int
    # Largest memory in use, in bytes.
    peak: int
    # Time of its cores.
    cpu_seconds: float


def usage(client: Any) -> dict[str, Usage]:
    """Return what each worker has used since it started, by address."""
    return dict(client.run(usage_here))


def usage_here(dask_worker: Any) -> Usage:
    """Return what this worker has used; Dask passes the worker, by the name of the argument."""
    sent, used = dask_worker.transfer_outgoing_bytes_total, os.times()
    return Usage(int(sent), peak_here(), used.user + used.system)


def peak_here() -> int:
    """Return the largest memory that this process has had, in bytes."""
    try:
        # Linux lets a process inherit the peak in `getrusage` from the one that started it.
        lines = Path("/proc/self/status").read_text().splitlines()
        (peak,) = (int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))
        return 1024 * peak
    except (OSError, ValueError):
        pass
    try:
        resource: Any = import_module("resource")
    except ImportError:  # on Windows; Dask brings psutil
        return int(import_module("psutil").Process().memory_info().peak_wset)
    unit = 1 if platform.system() == "Darwin" else 1024
    return int(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def worth_keeping(function: Function) -> Function:
    """Mark a function of blocks that takes long: its results, arrays, may be kept in a store."""
    function.worth_keeping = True  # type: ignore[attr-defined]
    return function


class Store:
    """A folder that all workers can write to; files in it may be deleted at any time."""

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
