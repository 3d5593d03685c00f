"""Run the figures: numbers, pictures, and the table of claims, into one folder."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from io import BytesIO
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from vbdm import errors, progress

from . import FIGURES, load
from .base import VERDICTS, Claim

#: Name under which the numbers of a figure store whether they are from a quick run.
SIZE = "quick"


@dataclass(frozen=True)
class Reproduction:
    """The outcome of a run: files, claims and failures.

    Attributes
    ----------
    folder : Path
        The folder of all files.
    files : tuple of Path
        The files that were written.
    claims : tuple of (str, Claim)
        Names of figures, and claims about them.
    seconds : dict
        Seconds that each figure took, by name.
    failures : dict
        Reasons why figures could not be made, by name; nothing is left out silently.
    """

    folder: Path
    files: tuple[Path, ...]
    claims: tuple[tuple[str, Claim], ...]
    seconds: dict[str, float]
    failures: dict[str, str]

    def count(self, verdict: str) -> int:
        """Return how many claims have this verdict."""
        return sum(claim.verdict == verdict for _, claim in self.claims)


def reproduce(
    names: Sequence[str] | None = None, out: str | Path = "reproduction", quick: bool = False
) -> Reproduction:
    """Compute, draw and judge figures of the paper, and write them into a folder.

    Parameters
    ----------
    names : sequence of str, optional
        Names from `paper.FIGURES`; all by default.
    out : path
        The folder: NAME.npz and NAME.png for each figure, claims.md and claims.json for all.
    quick : bool
        Fewer ε and smaller sets: three minutes instead of forty on two cores. The claims say which
        sizes they were judged on.

    Returns
    -------
    Reproduction

    Notes
    -----
    A figure that fails is named in the result, in claims.md and in claims.json; the others are
    made all the same. Every file appears whole or not at all. The table of claims also covers the
    figures that an earlier run of the same size has left in the folder: making one of them again
    keeps the others.
    """
    wanted = checked(names)
    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    seconds: dict[str, float] = {}
    failures: dict[str, str] = {}
    for done, name in enumerate(wanted):
        progress.report("figures", done, len(wanted), note=name)
        start = perf_counter()
        try:
            files += write_figure(folder, name, quick)
        except Exception as error:  # one broken figure must not cost the others
            failures[name] = f"{type(error).__name__}: {error}"
        seconds[name] = perf_counter() - start
    progress.report("figures", len(wanted), len(wanted))
    claims: list[tuple[str, Claim]] = []
    for name in FIGURES:
        try:
            claims += [] if name in failures else judged(folder, name, quick)
        except Exception as error:  # numbers of an older version, or a damaged file
            failures[name] = f"{type(error).__name__}: {error}"
    made = Reproduction(folder, tuple(files), tuple(claims), seconds, failures)
    return replace(made, files=(*made.files, *write_tables(made, quick)))


def checked(names: Sequence[str] | None) -> list[str]:
    """Return the names in the order of the paper, each once."""
    unknown = [name for name in names or () if name not in FIGURES]
    if unknown:
        raise errors.InputError(
            f"There is no figure of this name; received {', '.join(map(repr, unknown))}. Choose "
            f"among: {', '.join(FIGURES)}."
        )
    return [name for name in FIGURES if names is None or name in names]


def judged(folder: Path, name: str, quick: bool) -> list[tuple[str, Claim]]:
    """Return the claims of a figure, if it was made in this size, now or earlier."""
    table = folder / f"{name}.npz"
    if not table.is_file():
        return []
    with np.load(table) as archive:
        numbers = dict(archive)
    same_size = bool(numbers.pop(SIZE)) == quick
    return [(name, claim) for claim in load(name).claims(numbers)] if same_size else []


def write_figure(folder: Path, name: str, quick: bool) -> list[Path]:
    """Compute and draw one figure; write its numbers, and then its picture."""
    figure = load(name)
    numbers = figure.compute(quick=quick)
    arrays: dict[str, Any] = {key: np.asarray(value) for key, value in numbers.items()}
    arrays[SIZE] = np.asarray(quick)
    table, picture = BytesIO(), BytesIO()
    np.savez_compressed(table, **arrays)
    files = [write_whole(folder / f"{name}.npz", table.getvalue())]
    figure.draw(numbers).savefig(picture, format="png", dpi=150)
    return [*files, write_whole(folder / f"{name}.png", picture.getvalue())]


def write_tables(made: Reproduction, quick: bool) -> list[Path]:
    """Write the table of claims, for people and for programs."""
    data = json.dumps(as_plain(made, quick), indent=1, ensure_ascii=False)
    return [
        write_whole(made.folder / "claims.md", as_markdown(made, quick).encode()),
        write_whole(made.folder / "claims.json", data.encode()),
    ]


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file, which replaces an earlier one only when it is complete."""
    unfinished = path.with_name(f".{path.name}.part")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path


def as_markdown(made: Reproduction, quick: bool) -> str:
    """Return the claims as Markdown, one table for each figure."""
    size = "quick run: smaller sets and fewer ε" if quick else "full run"
    counts = ", ".join(f"{made.count(kind)} {kind}" for kind in VERDICTS)
    lines = [
        "# Claims of the paper, and what we find",
        "",
        f"{len(made.claims)} claims ({size}): {counts}.",
    ]
    for name in dict.fromkeys(name for name, _ in made.claims):
        lines += ["", f"## {load(name).TITLE}", "", "| claim | printed | we find | verdict |"]
        lines.append("|---|---|---|---|")
        lines += [as_row(claim) for figure, claim in made.claims if figure == name]
    if made.failures:
        lines += ["", "Could not be made:", ""]
        lines += [f"- {name}: {reason}" for name, reason in made.failures.items()]
    return "\n".join(lines) + "\n"


def as_row(claim: Claim) -> str:
    """Return one line of the table."""
    cells = (
        f"{claim.statement} ({claim.where})",
        claim.printed,
        f"{claim.found}. {claim.why}",
        f"**{claim.verdict}**",
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def as_plain(made: Reproduction, quick: bool) -> dict[str, Any]:
    """Return the table of claims as plain data."""
    return {
        "quick": quick,
        "claims": [{"figure": name, **asdict(claim)} for name, claim in made.claims],
        "seconds": {name: round(value, 1) for name, value in made.seconds.items()},
        "failures": made.failures,
    }
