"""The results folder: where results may be written, and what of the user's own is kept there."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..base.checks import a_path
from ..base.files import PathLike, beside, put_back, replacing_path
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
        hint = "Name a folder inside the current one, or run the command from the folder above."
        raise refusal(path, "You are inside it, and it will be replaced as a whole.", hint)
    if target.is_dir() and not is_empty(target):
        if not is_results_folder(target) and not is_forecast_folder(target):
            because = "It holds files and is not a results folder of vbdm: it will not be replaced."
            raise refusal(path, because, "Give another name as `folder`.")
        if not force:
            hint = "Pass force=True to replace them, or give another name as `folder`."
            raise refusal(path, "It holds earlier results.", hint)
    probe = beside(target, "probe")
    try:
        probe.mkdir()
        probe.rmdir()
    except PermissionError as error:
        because = f"Nothing can be written there ({error.strerror})."
        raise refusal(path, because, "Give a folder of your own as `folder`.") from None
    return target


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


@contextmanager
def replacing_folder(target: Path, force: bool = True) -> Iterator[Path]:
    """Yield a new folder that takes the target's place once it is complete and on the disk.

    If the block raises, the target stays as it was. Files that the user has put into old results
    are copied into the new folder. Without `force`, results that another run has put there
    meanwhile stay.
    """
    with replacing_path(target) as partial:
        partial.mkdir()
        yield partial
        if not force and target.is_dir() and not is_empty(target):
            hint = "Give another name as `folder`, or pass force=True to replace them."
            raise refusal(target, "Another run has written its results there meanwhile.", hint)
        keep_what_others_wrote(target, partial)


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
