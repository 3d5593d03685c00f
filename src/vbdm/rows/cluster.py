"""A Dask cluster: how it is reached, checked before work, and what its failures mean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from importlib import import_module
from time import monotonic
from typing import Any
from weakref import WeakValueDictionary

from ..base.wording import counted
from ..errors import ClusterError, ClusterWarning, warn_user
from .place import Partition

#: Seconds that a scheduler may take to answer.
PATIENCE = 5.0
#: Clients that were made of addresses: further estimates use them again.
CLIENTS: WeakValueDictionary[str, Any] = WeakValueDictionary()
#: Seconds that all workers may be gone.
ALL_GONE = 60.0
#: Seconds between two looks at the list of workers.
LOOK = 2.0
#: Dask's own setting, which makes C give back every small piece of memory at once.
SLOW_MALLOC = "65536"
#: Share of a worker's memory that blocks may fill; Dask writes to disk from there on.
FILLED = 0.6


def check_dask() -> None:
    """Raise an ImportError that says what to install, if Dask is not there."""
    try:
        import_module("distributed")
    except ImportError as error:
        raise ImportError(
            "Rows on a cluster need Dask, which is not installed. It is an extra: install it with "
            "pip install 'vbdm[cluster]'; or leave `placement` out."
        ) from error


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address such as "tcp://10.0.0.1:8786".

    A client that is connected to it is used again: one is enough, and lasts as long as the process.
    """
    from distributed import Client

    current, known = current_client(), CLIENTS.get(address)
    if is_usable(current) and current.scheduler.address == address:
        return current
    if is_usable(known):
        return known
    try:
        # It becomes the current one: results are arrays of Dask, which compute on that.
        client = CLIENTS[address] = Client(address, timeout=PATIENCE)
        return client
    except (OSError, ValueError, TypeError) as error:
        raise ClusterError(
            f"No scheduler answered within {PATIENCE:g} seconds; received {address!r}. Start one "
            "with `dask scheduler`, and pass the address that it prints."
        ) from error


def is_usable(client: Any) -> bool:
    """Tell whether there is a client, which is connected and waits for results."""
    return client is not None and client.status == "running" and not client.asynchronous


def current_client() -> Any:
    """Return Dask's current client, or None."""
    try:
        return import_module("distributed").get_client()
    except (ImportError, ValueError):
        return None


@contextmanager
def reaching(client: Any) -> Iterator[None]:
    """Say in words that a scheduler cannot be reached any more, or that its client is closed."""
    from distributed.client import ClosedClientError

    if client.status not in ("running", "connecting"):
        raise gone(f"a client that is {client.status}")
    try:
        yield
    except (OSError, RuntimeError, CancelledError, ClosedClientError) as error:
        raise gone(in_short(error)) from error


def gone(received: str) -> ClusterError:
    """Return the error for a cluster that cannot be reached any more."""
    return ClusterError(
        f"The cluster must stay until the work is done; received {received}. See the scheduler's "
        "log, connect again, and start anew."
    )


def in_short(error: BaseException) -> str:
    """Return the name of an error and the beginning of its message."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"


def client_of(given: Any) -> Any:
    """Return a checked client: the one that is given, of an address, or Dask's current one."""
    check_dask()
    given = current_client() if given is None else given
    if given is None:
        raise ClusterError(
            "There must be a cluster to work on; received no client, and Dask has no current "
            "one. Make one with distributed.Client(address), or pass the address."
        )
    client = connect(given) if isinstance(given, str) else given
    check_workers(client)
    return client


def check_workers(client: Any) -> None:
    """Raise if a cluster has no workers, or workers that would compute otherwise."""
    if client.asynchronous:
        raise ClusterError(
            "The client must wait for results; received a client made with asynchronous=True. "
            "Pass Client(address) without `asynchronous`."
        )
    workers = workers_of(client)
    if client.status != "running":
        raise gone(f"a client that is {client.status}, as its scheduler does not answer")
    if not workers:
        raise ClusterError(
            f"The cluster must have workers; received a scheduler at {client.scheduler.address} "
            "without any. Wait with client.wait_for_workers(1), or start some with `dask worker`."
        )
    with reaching(client):
        found = client.run(asking())
    check_versions({worker: versions for worker, (versions, _) in found.items()})
    if any(malloc == SLOW_MALLOC for _, malloc in found.values()):
        warn_user(
            "The workers give every piece of memory back at once, which may take half of their "
            "time. Start them with MALLOC_TRIM_THRESHOLD_=134217728 and "
            "MALLOC_MMAP_THRESHOLD_=33554432, under distributed.nanny.pre-spawn-environ in Dask's "
            "settings; results are the same.",
            ClusterWarning,
        )


def asking() -> Any:
    """Return a function for workers: versions there, and how memory is given back.

    The libraries pack what is sent, or give the numbers, and must be the same here and there.

    It is defined inside this one so that it travels as code: a worker may have no vbdm.
    """

    def ask() -> tuple[dict[str, str], str]:
        import os
        import platform
        from importlib import import_module

        found = {"python": platform.python_version()}
        for name in ("vbdm", "numpy", "scipy", "dask", "distributed", "numba"):
            try:
                found[name] = str(import_module(name).__version__)
            except Exception:
                continue
        return found, os.environ.get("MALLOC_TRIM_THRESHOLD_", "")

    return ask


def check_versions(found: dict[str, dict[str, str]]) -> None:
    """Raise if versions on workers, by address, are not those here."""
    here, _ = asking()()
    for worker, there in found.items():
        different = [
            f"{name} {there.get(name, 'is missing')} (here {here[name]})"
            for name in here
            if minor(name, there.get(name)) != minor(name, here[name])
        ]
        if different:
            raise ClusterError(
                "Workers must have the same libraries as this process; received on the worker "
                f"{worker}: {', '.join(different)}. Install the same versions there, "
                "'vbdm[cluster]' among them; an environment that all machines share is easiest."
            )


def minor(name: str, version: str | None) -> str | None:
    """Return the part of a version that matters: of Python's, 3.12 of 3.12.4."""
    return version.rpartition(".")[0] if version and name == "python" else version


def check_memory(client: Any, bytes_per_block: int, n_blocks: int) -> None:
    """Raise before work if the blocks of a worker would not fit into its memory."""
    workers = workers_of(client)
    limit = least_memory(workers)
    needed = -(-n_blocks // max(1, len(workers))) * bytes_per_block
    if limit is None or needed <= FILLED * limit:
        return
    raise ClusterError(
        "The blocks must fit into the memory of the workers; received "
        f"{counted(n_blocks, 'block')} for {counted(len(workers), 'worker')}: about "
        f"{needed / 1e9:.1f} GB each, where a worker may take {FILLED:.0%} of {limit / 1e9:.1f} "
        "GB. Start more workers, or workers with more memory; or pass a smaller `effort`, or "
        "run='disk'."
    )


def workers_of(client: Any) -> dict[str, Any]:
    """Return what the scheduler knows of its workers, by address."""
    with reaching(client):
        return dict(client.scheduler_info(n_workers=-1).get("workers", {}))


def least_memory(workers: dict[str, Any]) -> int | None:
    """Return the smallest memory limit of some workers, in bytes; None without a limit."""
    limits = [int(worker["memory_limit"]) for worker in workers.values() if worker["memory_limit"]]
    return min(limits, default=None)


class Homes:
    """On which worker each block lives.

    Blocks are numbered along the tree, so consecutive blocks, which need each other's rows, share a
    worker. The list of workers is read again every few seconds: blocks of a lost worker go to one
    that took its place, or to all others.
    """

    def __init__(self, client: Any, partition: Partition) -> None:
        self.client, self.partition = client, partition
        # What is known of the workers that are there, by address, and how many there were at first.
        self.workers = workers_of(client)
        self.n_workers = len(self.workers)
        self.looked = self.last_seen = monotonic()
        self.addresses = divide(partition.n_blocks, sorted(self.workers), [])
        self.warned = False

    def of(self, block: int) -> str:
        """Return the address of a block's worker."""
        if monotonic() - self.looked > LOOK:
            self.look()
        return self.addresses[block]

    def look(self) -> None:
        """Read the list of workers; warn once if some were lost, and raise if all are."""
        found = workers_of(self.client)
        self.looked = monotonic()
        if not found:
            if self.looked - self.last_seen > ALL_GONE:
                raise ClusterError(
                    "The cluster must keep some workers until the work is done; received none of "
                    f"{counted(len(self.workers), 'worker')} left for {ALL_GONE:g} seconds. Start "
                    "workers and run anew; pass `store` to keep what long runs have done."
                )
            return
        self.last_seen = self.looked
        if found.keys() == self.workers.keys():
            return
        lost, self.workers = self.workers.keys() - found.keys(), found
        self.addresses = divide(self.partition.n_blocks, sorted(found), self.addresses)
        with suppress(Exception):  # a scheduler may refuse functions, and can do without
            self.client.run_on_scheduler(letting_go())
        if lost and not self.warned:
            self.warned = True
            warn_user(
                f"A worker was lost ({', '.join(sorted(lost))}). Others compute again what it "
                "kept: the result will be the same, later.",
                ClusterWarning,
            )


def letting_go() -> Any:
    """Return a function for the scheduler: tasks whose home is gone may run elsewhere.

    Dask keeps to this by itself, but for tasks that met a moment without any worker: these wait
    for a worker with the old address. The function travels as code, see `asking`.
    """

    def let_go(dask_scheduler: Any) -> None:
        for task in dask_scheduler.unrunnable:
            if task.loose_restrictions:
                task.worker_restrictions = set()
        worker = next(iter(dask_scheduler.workers.values()))
        ready = dask_scheduler.bulk_schedule_unrunnable_after_adding_worker(worker)
        dask_scheduler.transitions(ready, "vbdm-let-go")

    return let_go


def divide(n_blocks: int, workers: list[str], before: list[str]) -> list[str]:
    """Return a worker for each block: consecutive ones together, and none moved without need.

    Examples
    --------
    >>> divide(4, ["a", "b"], [])
    ['a', 'a', 'b', 'b']
    >>> divide(4, ["b", "c"], ["a", "a", "b", "b"])
    ['c', 'c', 'b', 'b']
    """
    if not before:
        return [workers[block * len(workers) // n_blocks] for block in range(n_blocks)]
    most = -(-n_blocks // len(workers))
    n_kept: Counter[str] = Counter()
    stays = []
    for home in before:
        stays.append(home in workers and n_kept[home] < most)
        n_kept[home] += stays[-1]
    result = []
    for home, stay in zip(before, stays, strict=True):
        result.append(home if stay else min(workers, key=lambda worker: n_kept[worker]))
        n_kept[result[-1]] += not stay
    return result


def failure_in_words(error: BaseException, homes: Homes) -> ClusterError | None:
    """Return a failure of the cluster in words; None for an error of another kind."""
    from distributed.client import ClosedClientError
    from distributed.comm import CommClosedError
    from distributed.scheduler import KilledWorker

    if isinstance(error, CancelledError | CommClosedError | ClosedClientError):
        return gone(in_short(error))
    if not isinstance(error, KilledWorker | MemoryError):
        return None
    partition, limit = homes.partition, least_memory(homes.workers)
    memory = "no limit of memory" if limit is None else f"{limit / 1e9:.2g} GB of memory each"
    ended = "no memory left" if isinstance(error, MemoryError) else "several workers ended by it"
    return ClusterError(
        f"Workers must have room for their blocks; received {ended}: "
        f"{counted(partition.n_blocks, 'block')} of about "
        f"{counted(partition.n_rows // partition.n_blocks, 'row')}, on "
        f"{counted(len(homes.workers), 'worker')} with {memory}. Pass more `blocks`, or start more "
        "workers, or workers with more memory."
    )
