"""HDF5 files: nothing outside the file is read, whatever the file says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .formats import need
from .source import leads_out


def datasets_inside(file: Any, path: Path) -> dict[str, Any]:
    """Return all datasets of an open file by name; raise if any leads out of the file."""
    h5py = need("h5py", path, "hdf5")
    found = {}
    for name, item in nodes_of(h5py, file):
        if isinstance(item, h5py.Dataset):
            check_storage(name, item)
            found[name] = item
    return found


def refuse_other_files(path: Path, extra: str) -> None:
    """Raise if a file is HDF5 and leads out of itself; other files are not looked at."""
    with open(path, "rb") as stream:
        # NetCDF's own format begins like this, and is not HDF5.
        if stream.read(3) == b"CDF":
            return
    h5py = need("h5py", path, extra)
    if h5py.is_hdf5(path):
        with h5py.File(path, "r") as file:
            datasets_inside(file, path)


def nodes_of(
    h5py: Any, group: Any, prefix: str = "", seen: Any = None
) -> Iterator[tuple[str, Any]]:
    """Yield the names and objects below a group, each object once; raise at a link to a file."""
    seen = set() if seen is None else seen
    for name in group:
        link, place = group.get(name, getlink=True), f"{prefix}{name}"
        if isinstance(link, h5py.ExternalLink):
            raise leads_out(place, f"a link to {link.filename!r}")
        if not isinstance(link, h5py.HardLink):
            continue
        item = group[name]
        info = h5py.h5o.get_info(item.id)
        if (info.fileno, info.addr) in seen:
            continue
        seen.add((info.fileno, info.addr))
        yield place, item
        if isinstance(item, h5py.Group):
            yield from nodes_of(h5py, item, f"{place}/", seen)


def check_storage(name: str, dataset: Any) -> None:
    """Raise if the numbers of a dataset lie in another file."""
    others = [place[0] for place in dataset.external or ()]
    if dataset.is_virtual:
        others += [source.file_name for source in dataset.virtual_sources()]
    outside = [str(other) for other in others if str(other) != "."]
    if outside:
        raise leads_out(name, f"numbers stored in {outside[0]!r}")
