"""Workers: those started on this machine for one run, and what workers keep.

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
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import cache
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..base.checks import a_count
from ..base.files import replacing
from ..base.versions import __version__, library_versions
from ..errors import ClusterError, ClusterWarning
from .cluster import check_dask, reaching
from .place import results_of

Function = TypeVar("Function", bound=Callable[..., Any])

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
    return local_cluster(a_count(1, 2**16)(n_workers, "n_workers"), options)


@contextmanager
def local_cluster(n_workers: int, options: dict[str, Any]) -> Iterator[Any]:
    """Yield the client of workers that end with the block."""
    from dask import config
    from distributed import Client, LocalCluster

    with (
        TemporaryDirectory(prefix="vbdm-workers-", ignore_cleanup_errors=True) as folder,
        config.set({**SETTINGS, "temporary-directory": folder}),
        closing(
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
def closing(cluster: Any) -> Iterator[Any]:
    """Close a cluster at the end of the block, also one that has lost workers and replaced them.

    When all are gone, Dask looks the replaced ones up in a list that may lack them.
    """
    try:
        yield cluster
    finally:
        with suppress(KeyError):
            cluster.close()


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
            with reaching(client):
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
        known = library_versions()
        versions = __version__, known["numpy"], known["scipy"], known.get("numba", "")
        made_of = (function.__module__, function.__qualname__, n_results, versions, args)
        name = hashlib.sha256(pickle.dumps(made_of, protocol=5)).hexdigest()[:40]
        return str(Path(self.folder, f"vbdm-{name}.npz"))


def from_store(path: str, function: Callable[..., Any], n_results: int, *args: Any) -> Any:
    """Return a function's results, arrays, from a file; or call it, and write the file."""
    known = read(path, n_results)
    if known is None:
        known = results_of(function(*args), n_results)
        try:
            with replacing(Path(path)) as stream:
                np.savez(stream, *known)
        except OSError as error:
            tell_once(os.path.dirname(path), error.strerror or str(error))
    return known[0] if n_results == 1 else tuple(known)


def read(path: str, n_results: int) -> list[NDArray[Any]] | None:
    """Return the arrays of a file; None if there is none, or if it is damaged."""
    try:
        with np.load(path, allow_pickle=False) as found:
            return [found[f"arr_{number}"] for number in range(n_results)]
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile):
        return None


@cache
def tell_once(folder: str, why: str) -> None:
    """Tell those who are connected to this worker that a folder does not keep results."""
    from distributed.worker import warn

    warn(
        f"The store {folder!r} could not be written to ({why}), so not all results are kept. The "
        "run goes on; make room there, or leave `store` out.",
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
