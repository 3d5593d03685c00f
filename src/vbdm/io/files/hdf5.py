"""HDF5: one dataset of several, by its path inside the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .formats import need
from .npz import choose_key
from .table import REAL, Content, Options, as_rows, check_real_numbers, wrong_axes


def read(path: Path, options: Options) -> Content:
    """Read a dataset: the one that is asked for, or the only table of numbers."""
    h5py = need("h5py", path, "hdf5")
    with h5py.File(path, "r") as file:
        found: dict[str, tuple[int, str]] = {}

        def note(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                found[name] = (item.ndim, item.dtype.kind)

        file.visititems(note)
        key = key_of_table(options.key, found)
        dataset = file[key]
        check_dataset(dataset, key)
        return Content(as_rows(dataset[()], f"The dataset {key!r}"), selection={"key": key})


def key_of_table(wanted: str | None, found: dict[str, tuple[int, str]]) -> str:
    """Return the dataset that is meant, given the axes and the kind of numbers of each.

    Without a wish: the only table of real numbers, or else the only list of them.

    >>> from vbdm.io.files.hdf5 import key_of_table
    >>> key_of_table(None, {"time": (1, "f"), "run/points": (2, "f"), "labels": (1, "S")})
    'run/points'
    """
    if wanted is not None:
        return choose_key(wanted.strip("/"), list(found), "dataset")
    real = {name: axes for name, (axes, kind) in found.items() if kind in REAL}
    tables = [name for name, axes in real.items() if axes == 2]
    lists = [name for name, axes in real.items() if axes == 1]
    return choose_key(None, tables or lists or list(found), "dataset")


def check_dataset(dataset: Any, key: str) -> None:
    """Refuse by type and shape before anything large is read."""
    check_real_numbers(dataset.dtype, f"The dataset {key!r}")
    if dataset.ndim not in (1, 2):
        raise wrong_axes(dataset.shape, f"The dataset {key!r}")
