"""Single files that a command writes: checked before the work, written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from ..base.files import check_target
from ..errors import InputError


def check_output(path: Path, suffixes: tuple[str, ...], force: bool) -> Path:
    """Return the path at which a file will be written.

    Raises
    ------
    InputError
        If its suffix is unknown, its folder is missing or not writable, or it exists.
    """
    if path.suffix.lower() not in suffixes:
        raise InputError(
            f"The kind of file to write is told by its name; received {os.fspath(path)!r}. It "
            f"can end with {', '.join(suffixes)}. Write, for example, --out "
            f"{path.stem}{suffixes[0]}."
        )
    # A group of Zarr is a folder; only one of this package is replaced.
    target = path.resolve() if is_results_group(path) else check_target(path)
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


def is_results_group(path: Path) -> bool:
    """Tell whether this is a group of Zarr that this package wrote."""
    from ..io.saved.zarr_group import is_ours

    return path.suffix.lower() == ".zarr" and path.is_dir() and is_ours(path)


def need_matplotlib() -> None:
    """Raise if pictures cannot be drawn; called before anything is computed."""
    from ..results import can_draw

    if not can_draw():
        raise InputError(
            "Pictures need matplotlib; received a Python without it. Install it with: pip "
            "install 'vbdm[plot]'"
        )
