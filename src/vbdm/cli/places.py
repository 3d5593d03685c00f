"""Where a command's rows live while it computes, and where the file that it writes goes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from ..errors import InputError


@contextmanager
def placing(options: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the `placement` that the options ask for; workers end with the block.

    Examples
    --------
    >>> with placing({"disk": True, "blocks": 4}) as placement:
    ...     placement
    Disk(scratch=None, blocks=4)
    """
    from ..placement import ADDRESS, Dask, Disk, Memory

    address, workers, scratch = (options.get(name) for name in ("cluster", "workers", "scratch"))
    on_disk = "--disk" if options.get("disk") else "--scratch" if scratch else ""
    places = [on_disk, "--cluster" if address else "", "--workers" if workers else ""]
    named = [place for place in places if place]
    if options.get("store") and not (address or workers):
        raise click.UsageError("--store is for workers: give --cluster or --workers as well.")
    if len(named) > 1:
        raise click.UsageError(f"{' and '.join(named)} are different places: name one of them.")
    if (address or workers) and find_spec("distributed") is None:
        raise click.UsageError(
            "Workers need Dask, which is not installed here: pip install 'vbdm[cluster]'"
        )
    if address and not ADDRESS.fullmatch(address):
        raise click.UsageError(
            f"{address!r} is no address of a scheduler. Write --cluster tcp://node7:8786, as "
            "`dask scheduler` prints it."
        )
    blocks: Any = options.get("blocks") or "auto"
    if address:
        yield Dask(address, blocks, options.get("store"))
    elif workers:
        from ..rows.workers import start_workers

        with start_workers(workers) as client:
            yield Dask(client, blocks, options.get("store"))
    elif on_disk:
        yield Disk(scratch, blocks)
    else:
        yield "auto" if blocks == "auto" else Memory(blocks)


def check_output(path: Path, suffixes: tuple[str, ...], force: bool) -> Path:
    """Return the path of a single file to write; it must be writable, and new unless `force`."""
    from ..base.files import check_target
    from ..io.saved.zarr_group import is_ours

    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"The file's name must end with {', '.join(suffixes)}; received {os.fspath(path)!r}. "
            f"Write, for example, --out {path.stem}{suffixes[0]}."
        )
    # A group of Zarr is a folder; only one of this package is replaced.
    is_group = path.suffix.lower() == ".zarr" and path.is_dir() and is_ours(path)
    target = path.resolve() if is_group else check_target(path)
    if target.exists() and not force:
        raise InputError(
            f"The file exists; received {os.fspath(path)!r}. Pass --force to replace it, or "
            "choose another name with --out."
        )
    if not os.access(target.parent, os.W_OK):
        raise InputError(
            f"Nothing can be written to this folder; received {os.fspath(path.parent)!r}. "
            "Choose another folder with --out."
        )
    return target


def need_matplotlib() -> None:
    """Raise if pictures cannot be drawn; called before anything is computed."""
    from ..results import can_draw

    if not can_draw():
        raise InputError(
            "Pictures need matplotlib, which is not here. Run: pip install 'vbdm[plot]'"
        )
