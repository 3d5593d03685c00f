"""Answers in a results folder: equations.json, and a table and a picture for each.

A later question adds to the folder and changes nothing else in it but the page. All new files are
complete before the first of them takes its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..base.files import plain, replacing, replacing_path
from ..errors import InputError
from ..report.answers import Answer, Quantity, as_entry
from .folder import EQUATIONS, PAGE, answer_files
from .reading import Results, damaged

FORMAT, VERSION = "vbdm equations", 1
#: What an answer may be called: it is a name of files.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")


def check_answer(folder: Path, name: str, force: bool) -> None:
    """Raise if an answer cannot get this name; called before the work."""
    if not NAME.fullmatch(name):
        raise InputError(
            f"`name` must be made of letters, digits, - and _; received {name!r}. Choose, for "
            "example, 'folding'."
        )
    if not force and name in {entry["name"] for entry in read_entries(folder)}:
        raise InputError(
            f"There is an answer of this name; received {name!r} in {str(folder)!r}. Pass "
            "force=True to replace it, or choose another `name`."
        )
    known = {file for entry in read_entries(folder) for file in answer_files(entry)}
    for file in answer_files({"name": name}):
        if (folder / file).exists() and file not in known:
            raise InputError(
                f"A file has the name that the answer would get; received {str(folder / file)!r}, "
                "which is no answer. Rename it, or choose another `name`."
            )


def read_entries(folder: Path) -> list[dict[str, Any]]:
    """Return what equations.json tells of each answer; nothing if there is none."""
    try:
        found = json.loads((folder / EQUATIONS).read_text("utf-8"))
    except FileNotFoundError:
        return []
    except (ValueError, RecursionError) as error:
        raise damaged(folder, f"{EQUATIONS} cannot be read ({error})") from error
    entries = found.get("answers") if isinstance(found, dict) else None
    if not isinstance(entries, list) or not all(map(is_entry, entries)):
        raise damaged(folder, f"{EQUATIONS} was written by another program")
    return entries


def is_entry(entry: Any) -> bool:
    """Tell whether this has what an answer needs."""
    texts = ("name", "title", "asked", "caption")
    lists = ("quantities", "notes", "columns")
    return (
        isinstance(entry, dict)
        and all(isinstance(entry.get(key), str) for key in texts)
        and NAME.fullmatch(entry["name"]) is not None
        and all(isinstance(entry.get(key), list) for key in lists)
        and all(isinstance(own, dict) for own in entry["quantities"])
    )


def read_answers(folder: Path) -> list[Answer]:
    """Return the answers of a results folder; without values or picture where a file is gone."""
    return [
        Answer(
            entry["name"], entry["title"], entry["asked"],
            [quantity_of(own) for own in entry["quantities"]], entry["notes"],
            read_columns(folder, entry), read_picture(folder, entry), entry["caption"],
        )
        for entry in read_entries(folder)
    ]  # fmt: skip


def quantity_of(entry: Mapping[str, Any]) -> Quantity:
    """Return a number as equations.json has it, where None stands for NaN."""
    value, error = (np.nan if entry.get(key) is None else entry[key] for key in ("value", "error"))
    return Quantity(str(entry.get("name")), value, error, str(entry.get("unit", "")))


def read_columns(folder: Path, entry: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the values of an answer on the points."""
    table, _ = answer_files(entry)
    names = entry["columns"]
    if not names or not (folder / table).is_file():
        return {}
    try:
        values = np.loadtxt(folder / table, delimiter=",", skiprows=1, ndmin=2)
    except ValueError as error:
        raise damaged(folder, f"{table} cannot be read ({error})") from error
    if values.shape[1] != len(names) + 1:
        raise damaged(folder, f"{table} has other columns than {EQUATIONS} says")
    return dict(zip(names, values.T[1:], strict=True))


def read_picture(folder: Path, entry: Mapping[str, Any]) -> bytes:
    """Return the picture of an answer; empty if there is none."""
    _, picture = answer_files(entry)
    found = (folder / picture).read_bytes() if (folder / picture).is_file() else b""
    return found if found.startswith(b"\x89PNG") and len(found) > 24 else b""


def add_answer(results: Results, answer: Answer, title: str = "") -> list[Path]:
    """Write an answer into the folder of its results, and a section into its page, if it has one.

    An earlier answer of its name is replaced. Returns the files that were written.
    """
    from .writing import write_report

    folder = results.folder
    # An answer that is replaced keeps its place.
    answers = {own.name: own for own in read_answers(folder)} | {answer.name: answer}
    entries = {own["name"]: own for own in read_entries(folder)}
    entries[answer.name] = plain(as_entry(answer))
    table, picture = (folder / name for name in answer_files({"name": answer.name}))
    written = [table, folder / EQUATIONS]
    with ExitStack() as stack:
        # The last one entered takes its place first: the page is the last.
        if (folder / PAGE).exists():
            page = stack.enter_context(replacing_path(folder / PAGE))
            summary = results.summary
            heading = title or summary["input"].get("name") or ""
            write_report(page, results.spectrum, results.origin, results.scan, heading,
                         summary["seconds"], answers=list(answers.values()),
                         clock=summary.get("clock"))  # fmt: skip
            written.append(folder / PAGE)
        stream = stack.enter_context(replacing(folder / EQUATIONS))
        whole = {"format": FORMAT, "version": VERSION, "answers": list(entries.values())}
        text = json.dumps(whole, indent=1, allow_nan=False, ensure_ascii=False)
        stream.write((text + "\n").encode())
        write_table(stack.enter_context(replacing(table)), answer, results.rows)
        if answer.picture:
            picture.parent.mkdir(exist_ok=True)
            stack.enter_context(replacing(picture)).write(answer.picture)
            written.append(picture)
    return written


def write_table(stream: IO[bytes], answer: Answer, rows: NDArray[np.intp]) -> None:
    """Write the values on the points, by rows of the file; without any, the numbers themselves."""
    if answer.columns:
        names = ["row", *answer.columns]
        stream.write((",".join(names) + "\n").encode())
        kinds = ["%d", *["%.17g"] * len(answer.columns)]
        np.savetxt(stream, np.column_stack([rows, *answer.columns.values()]), kinds, ",")
        return
    stream.write(b"quantity,value,standard_error,unit\n")
    for own in answer.quantities:
        name = own.name.replace('"', '""')
        stream.write(f'"{name}",{own.value:.17g},{own.error:.17g},"{own.unit}"\n'.encode())
