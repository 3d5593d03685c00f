"""Where the rows of a command's estimate live: memory, disk, a cluster, or workers started here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import click


@contextmanager
def placing(options: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the `placement` that the options ask for; workers end with the block.

    Examples
    --------
    >>> with placing({"disk": True, "blocks": 4}) as placement:
    ...     placement
    Disk(scratch=None, blocks=4)
    """
    from ..placement import Dask, Disk, Memory

    refuse_two_places(options)
    if options.get("cluster") or options.get("workers"):
        need_dask()
    blocks: Any = options.get("blocks") or "auto"
    if options.get("cluster"):
        yield Dask(address_of(options["cluster"]), blocks, options.get("store"))
    elif options.get("workers"):
        from ..rows.workers import start_workers

        with start_workers(options["workers"]) as client:
            yield Dask(client, blocks, options.get("store"))
    elif options.get("disk") or options.get("scratch"):
        yield Disk(options.get("scratch"), blocks)
    else:
        yield "auto" if blocks == "auto" else Memory(blocks)


def need_dask() -> None:
    """Refuse a cluster if Dask is not installed."""
    if find_spec("distributed") is None:
        raise click.UsageError(
            "Workers need Dask, which is not installed here: pip install 'vbdm[cluster]'"
        )


def address_of(text: str) -> str:
    """Return the address of a scheduler, or refuse a text that is none."""
    from ..placement import ADDRESS

    if not ADDRESS.fullmatch(text):
        raise click.UsageError(
            f"{text!r} is no address of a scheduler. Write --cluster tcp://node7:8786, as `dask "
            "scheduler` prints it."
        )
    return text


def refuse_two_places(options: Mapping[str, Any]) -> None:
    """Refuse options that name more than one place."""
    on_disk = "--disk" if options.get("disk") else "--scratch" if options.get("scratch") else ""
    places = [on_disk, *(f"--{name}" for name in ("cluster", "workers") if options.get(name))]
    named = [place for place in places if place]
    if options.get("store") and not (options.get("cluster") or options.get("workers")):
        raise click.UsageError("--store is for workers: give --cluster or --workers as well.")
    if len(named) > 1:
        raise click.UsageError(f"{' and '.join(named)} are different places: name one of them.")


def scratch_of(placement: Any) -> Path | None:
    """Return the folder for what does not stay in memory; None if everything does."""
    from ..placement import Dask, Disk

    if not isinstance(placement, Disk | Dask):
        return None
    return Path(getattr(placement, "scratch", None) or gettempdir())
