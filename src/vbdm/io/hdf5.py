"""HDF5 files: nothing outside the file is read, whatever the file says."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..base.files import need
from ..rows.sources import leads_out

#: First bytes of a heap of texts, its length, and the header of an object in it: its number, and
#: its size.
HEAP, LENGTH, OBJECT = b"GCOL\1\0\0\0", struct.Struct("<Q"), struct.Struct("<H6xQ")


def datasets_inside(file: Any, path: Path) -> dict[str, Any]:
    """Return all datasets of an open file by name; raise if any leads out of the file."""
    h5py = need("h5py", path, "hdf5")
    check_heaps(path)
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


def check_heaps(path: Path) -> None:
    """Raise if a heap of texts in the file is damaged: the HDF5 library would never come back.

    A heap is a list of objects, each of which says where the next one begins; an empty one leads
    the library in a circle, in which it does not hear Ctrl-C either.
    """
    with (
        open(path, "rb") as stream,
        mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as content,
    ):
        place = content.find(HEAP)
        while place >= 0:
            if not is_whole(content, place):
                raise ValueError(f"the heap of texts at byte {place} is damaged")
            place = content.find(HEAP, place + len(HEAP))


def is_whole(content: mmap.mmap, start: int) -> bool:
    """Tell whether the objects of a heap follow each other up to its end."""
    if start + 16 > len(content):
        return False
    end = start + LENGTH.unpack_from(content, start + 8)[0]
    if end > len(content):
        return False
    place = start + 16
    while place + 16 <= end:
        number, size = OBJECT.unpack_from(content, place)
        # The size of free space, which has the number 0, includes its own header.
        step = size if number == 0 else 16 + -(-size // 8) * 8
        if step < 16 or place + step > end:
            return False
        place += step
    return True
