"""Workers on this machine, started for one run and ended with it; and what workers have used."""

from __future__ import annotations

import logging
import os
import platform
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ..base.checks import a_count
from .connection import check_dask

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
    """What a worker has used so far.

    Attributes
    ----------
    sent : int
        Bytes that went to other workers, and to the process that asked for results.
    peak : int
        Largest memory in use, in bytes.
    cpu_seconds : float
        Time of its cores.
    """

    sent: int
    peak: int
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
