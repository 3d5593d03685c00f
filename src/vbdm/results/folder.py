"""A folder that appears whole or not at all, and never at the cost of what was there before.

It is built under another name beside its place, written to the disk, and renamed. Three things need
more than that: a run that was killed between two renamings (`put_back`), a run that left its
unfinished folder behind (`clean_up`), and files that the user has put into earlier results
(`keep_what_others_wrote`).
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..base.checks import a_path
from ..base.files import PathLike, sync_folder
from ..errors import InputError

#: The format and the version that results.json names.
FORMAT, VERSION = "vbdm results", 1
SUMMARY, MODEL, ARRAYS, PAGE = "results.json", "model.vbdm", "results.npz", "report.html"
#: A group of Zarr in place of `ARRAYS`, where rows live in blocks.
STORE = "results.zarr"
#: The summary of a forecast's folder, and the format that it names.
FORECAST, FORECAST_FORMAT = "forecast.json", "vbdm forecast"
#: What was asked later, by `vbdm committor` and the like.
EQUATIONS = "equations.json"
#: Seconds after which an unfinished folder is removed; a younger one may belong to a running run.
STALE = 3600
#: How many folders of other runs are set aside before giving up.
MOST_RIVALS = 100
#: Files that file managers leave in a folder.
DUST = {".DS_Store", "Thumbs.db", "desktop.ini"}


def check_folder(path: PathLike, force: bool = False) -> Path:
    """Return the path of the results folder; called before anything is computed.

    Parameters
    ----------
    path : path
        A folder inside one that exists. It is new, or empty, or holds earlier results.
    force : bool
        Whether earlier results may be replaced. Folders with anything else never are.

    Raises
    ------
    InputError
        If something would be lost, or if nothing can be written there.
    """
    target = Path(os.path.realpath(a_path(path, "path")))
    put_back(target)
    if not target.parent.is_dir():
        raise refusal(path, "Its parent is no folder that exists.", "Create that folder first.")
    if target.exists() and not target.is_dir():
        raise refusal(path, "It is a file.", "Give another name as `folder`.")
    if Path.cwd().is_relative_to(target):
        raise refusal(
            path,
            "You are inside it, and it will be replaced as a whole.",
            "Name a folder inside the current one, or run the command from the folder above.",
        )
    if target.is_dir() and not is_empty(target):
        refuse_to_lose(path, target, force)
    try_to_write(path, target)
    return target


def refuse_to_lose(path: PathLike, target: Path, force: bool) -> None:
    """Raise if the folder holds anything that may not be replaced."""
    if not is_results_folder(target) and not is_forecast_folder(target):
        raise refusal(
            path,
            "It holds files, and is not a results folder of vbdm: it will not be replaced.",
            "Give another name as `folder`.",
        )
    if not force:
        raise refusal(
            path,
            "It holds earlier results.",
            "Pass force=True to replace them, or give another name as `folder`.",
        )


def try_to_write(path: PathLike, target: Path) -> None:
    """Raise if a folder cannot be made beside the target."""
    probe = beside(target, "partial")
    try:
        probe.mkdir()
        probe.rmdir()
    except PermissionError as error:
        raise refusal(
            path,
            f"Nothing can be written there ({error.strerror}).",
            "Give a folder of your own as `folder`.",
        ) from None


def refusal(path: PathLike, because: str, hint: str) -> InputError:
    """Return the error for a place where results cannot go."""
    what = "The results cannot be written to this folder."
    return InputError(f"{what}; received {os.fspath(path)!r}. {because} {hint}")


def is_empty(folder: Path) -> bool:
    """Tell whether a folder holds nothing but files of file managers."""
    return all(entry.name in DUST for entry in folder.iterdir())


def is_results_folder(folder: PathLike) -> bool:
    """Tell whether a folder was written by `write_results`."""
    return bool(format_in(folder, SUMMARY) == FORMAT)


def is_forecast_folder(folder: PathLike) -> bool:
    """Tell whether a folder was written by `vbdm forecast`."""
    return bool(format_in(folder, FORECAST) == FORECAST_FORMAT)


def format_in(folder: PathLike, name: str) -> Any:
    """Return the format that a summary in a folder names; None if there is none."""
    try:
        head = json.loads(Path(a_path(folder, "folder"), name).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return head.get("format") if isinstance(head, dict) else None


def beside(target: Path, kind: str) -> Path:
    """Return a new path next to the target, named after it and its kind: "partial" or "old"."""
    return target.with_name(f".{target.name}.vbdm-{secrets.token_hex(4)}.{kind}")


def leftovers(target: Path, kind: str) -> list[Path]:
    """Return the folders of one kind that runs have left beside the target, sorted."""
    start, end = f".{target.name}.vbdm-", f".{kind}"
    names = (entry for entry in target.parent.iterdir() if entry.is_dir())
    return sorted(e for e in names if e.name.startswith(start) and e.name.endswith(end))


def put_back(target: Path) -> None:
    """Give earlier results their name back, if a run was killed between the two renamings."""
    if target.parent.is_dir() and not target.exists():
        for old in leftovers(target, "old")[-1:]:
            os.rename(old, target)


@contextmanager
def replacing_folder(target: Path, force: bool = True) -> Iterator[Path]:
    """Yield a new folder that takes the target's place once it is complete and on the disk.

    If the block raises, the target stays as it was and the new folder is removed. Files that the
    user has put into old results are copied into the new folder. Unless `force` is set, there are
    none, and results that another run has put there meanwhile stay: then the new ones are refused.
    """
    partial = beside(target, "partial")
    try:
        partial.mkdir()
        yield partial
        keep_what_others_wrote(target, partial)
        sync_tree(partial)
        if force:
            swap(partial, target)
        else:
            claim(partial, target)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise
    sync_folder(target.parent)
    clean_up(target)


def keep_what_others_wrote(old: Path, new: Path) -> None:
    """Copy those files of old results that vbdm did not write."""
    if not old.is_dir():
        return
    written = set()
    if is_results_folder(old):
        # The page is left behind even if it is not listed: `vbdm report` may have added it later,
        # and it would be out of date.
        listed = json.loads((old / SUMMARY).read_text("utf-8")).get("files", [])
        # Answers belong to the model that was asked.
        written = {SUMMARY, MODEL, ARRAYS, STORE, PAGE, EQUATIONS, *listed, *all_answer_files(old)}
    elif is_forecast_folder(old):
        listed = json.loads((old / FORECAST).read_text("utf-8")).get("files", [])
        written = {FORECAST, MODEL, PAGE, *listed}
    for path in sorted(old.rglob("*")):
        name = path.relative_to(old).as_posix()
        copy = new / name
        if path.is_dir() and not path.is_symlink():
            continue
        # Of a group of Zarr, the folder is what is listed.
        if name in written or name.partition("/")[0] in written or copy.exists():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy, follow_symlinks=False)


def answer_files(entry: Mapping[str, Any]) -> tuple[str, str]:
    """Return the names of the table and of the picture of an answer."""
    return f"{entry['name']}.csv", f"figures/{entry['name']}.png"


def all_answer_files(folder: Path) -> list[str]:
    """Return the files of all answers in a folder; none if they cannot be told."""
    try:
        entries = json.loads((folder / EQUATIONS).read_text("utf-8"))["answers"]
        return [name for entry in entries for name in answer_files(entry)]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return []


def sync_tree(folder: Path) -> None:
    """Write all files of a folder to the disk (fsync)."""
    # Windows syncs only files open for writing; elsewhere, read-only files must be synced as well.
    mode = "r+b" if os.name == "nt" else "rb"
    for path in folder.rglob("*"):
        if path.is_dir():
            sync_folder(path)
        elif not path.is_symlink():
            with open(path, mode) as stream:
                os.fsync(stream.fileno())
    sync_folder(folder)


def claim(new: Path, target: Path) -> None:
    """Rename the new folder to the target, if nothing is there: of two runs the second is refused.

    The renaming itself decides: it fails if the target holds anything.
    """
    if target.is_dir() and is_empty(target):
        for dust in target.iterdir():  # copied into the new folder before
            dust.unlink(missing_ok=True)
        if os.name == "nt":  # where an empty folder is in the way as well
            target.rmdir()
    try:
        os.rename(new, target)
    except OSError as error:
        if not is_occupied(error, target):
            raise
        raise refusal(
            target,
            "Another run has written its results there meanwhile.",
            "Run it again with another name as `folder`, or with force=True to replace them.",
        ) from None


def is_occupied(error: OSError, target: Path) -> bool:
    """Tell whether a renaming failed because something has the name."""
    return error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR) or (
        isinstance(error, PermissionError) and target.exists()
    )


def swap(new: Path, target: Path) -> None:
    """Rename the new folder to the target; the old one is removed after that.

    Another run may put its own folder there between the two renamings: it is the old one then.
    """
    old: list[Path] = []
    try:
        while True:
            set_aside(target, old)
            try:
                os.rename(new, target)
                break
            except OSError as error:
                if not is_occupied(error, target) or len(old) == MOST_RIVALS:
                    raise
    except BaseException:
        if old and not target.exists():
            os.rename(old[-1], target)
        raise
    for folder in old:
        shutil.rmtree(folder, ignore_errors=True)


def set_aside(target: Path, old: list[Path]) -> None:
    """Rename the target, if it is there, and note its new name."""
    place = beside(target, "old")
    # Another run may have renamed it first.
    with suppress(FileNotFoundError):
        os.rename(target, place)
        old.append(place)
        # The folder may be years old, but was renamed now: other runs must not find it stale.
        with suppress(OSError):
            os.utime(place)


def clean_up(target: Path) -> None:
    """Remove folders that killed runs have left beside the target, if they are old enough."""
    for path in leftovers(target, "partial") + leftovers(target, "old"):
        # Another run may be cleaning up as well.
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > STALE:
                shutil.rmtree(path, ignore_errors=True)
