"""The connection to a Dask cluster: one for each address, and told in words when it breaks."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from importlib import import_module
from typing import Any
from weakref import WeakValueDictionary

from ..errors import ClusterError

#: Seconds that a scheduler may take to answer.
PATIENCE = 5.0
#: Clients that were made of addresses: further estimates use them again.
CLIENTS: WeakValueDictionary[str, Any] = WeakValueDictionary()


def check_dask() -> None:
    """Raise an ImportError that says what to install, if Dask is not there."""
    try:
        import_module("distributed")
    except ImportError as error:
        raise ImportError(
            "Rows on a cluster need Dask, which is not installed. It is an extra: install it with "
            "pip install 'vbdm[cluster]'; or leave `placement` out."
        ) from error


def connected(address: str) -> Any:
    """Return a client of the scheduler at an address such as "tcp://10.0.0.1:8786".

    A client that is connected to it is used again: one is enough, and lasts as long as the process.

    Raises
    ------
    ClusterError
        If nothing answers there within some seconds.
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
            f"The scheduler of the cluster must be up and reachable; received {address!r}, where "
            f"none answered within {PATIENCE:g} seconds. Start one with `dask scheduler`, and "
            "pass the address that it prints."
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
def reached(client: Any) -> Iterator[None]:
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
        f"The cluster must stay until the work is done; received {received}. The scheduler ended "
        "or was restarted, the connection broke, or the client was closed. See the scheduler's "
        "log, connect again, and start anew."
    )


def in_short(error: BaseException) -> str:
    """Return the name of an error and the beginning of its message."""
    return f"{type(error).__name__}: {' '.join(str(error).split())[:150]}"
