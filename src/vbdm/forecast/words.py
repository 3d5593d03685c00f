"""How good forecasts are, in words: a table for the terminal and a sentence below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.wording import counted, listed, one_of
from .holdout import mean_known

if TYPE_CHECKING:
    from .skill import Skill

#: What stands in place of a number that is not known.
UNKNOWN = "—"
#: Methods as the heads of columns.
ALL = {"ours": "forecast", "clim": "climatology", "pers": "persistence", "linear": "linear"}
#: Blocks of the table, and of each column its head, the measure, and whose; climatology has no
#: correlation.
BLOCKS = {
    "RMSE": [(head, "rmse", method) for head, method in ALL.items()],
    "ACC": [(head, "acc", method) for head, method in ALL.items() if head != "clim"],
    "CRPS": [(head, "crps", method) for head, method in ALL.items()],
    "within": [("50 %", "coverage50", "forecast"), ("90 %", "coverage90", "forecast")],
    "ignorance": [(head, "ignorance", ALL[head]) for head in ("ours", "clim")],
}
#: Numbers outside are written with a power of ten.
SMALLEST, LARGEST = 1e-4, 1e6


def skill_in_words(skill: Skill) -> str:
    """Return a table with a row for each lead, and at which leads climatology is not beaten."""
    blocks = [("", [("lead", [str(lead) for lead in skill.leads])])]
    for title, columns in BLOCKS.items():
        tables = [
            mean_over_columns(skill, name)[skill.methods.index(method)]
            for _, name, method in columns
        ]
        form = format_of(np.array(tables), columns[0][1])
        texts = [[written(value, form) for value in table] for table in tables]
        heads = [head for head, _, _ in columns]
        blocks.append((title, list(zip(heads, texts, strict=True))))
    return "\n".join([heading(skill), *laid_out(blocks, len(skill.leads)), verdict(skill)])


def mean_over_columns(skill: Skill, measure: str, columns: slice = slice(None)) -> FloatArray:
    """Return a measure of all methods, (methods, leads), in the mean over some columns.

    Errors of several columns, whose units may differ, are divided by those of climatology before.
    """
    table = getattr(skill, measure)[..., columns]
    if table.shape[-1] > 1 and measure in ("rmse", "crps"):
        reference = table[skill.methods.index("climatology")]
        table = table / np.where(reference > 0, reference, np.nan)
    return np.asarray(mean_known(table, axis=-1))


def judged_leads(skill: Skill) -> NDArray[np.intp]:
    """Return the leads at which forecasts can be compared with climatology."""
    return np.asarray(skill.leads[np.isfinite(skill.crpss).any(axis=1)])


def independent(skill: Skill) -> FloatArray:
    """Return the number of independent forecasts at each lead, (L,), 1 or more."""
    return np.asarray(np.maximum(skill.n_cases / skill.leads, 1.0))


def weights_of_leads(skill: Skill) -> FloatArray:
    """Return how much each lead counts in means over leads, (L,): as much as it knows."""
    known = np.where(skill.n_cases > 0, independent(skill), 0.0)
    return np.asarray(known / max(known.sum(), 1.0))


def written(value: float, form: str) -> str:
    """Return a number as text; -0.00 is 0.00."""
    return f"{value:z{form}}" if np.isfinite(value) else UNKNOWN


def format_of(table: FloatArray, measure: str) -> str:
    """Return the format of a measure: of errors, three digits of the largest number."""
    if measure.startswith("coverage"):
        return ".0%"
    if measure in ("acc", "ignorance"):
        return ".2f"
    largest = float(np.abs(table[np.isfinite(table)]).max(initial=0.0)) or 1.0
    if not SMALLEST <= largest < LARGEST:
        return ".2e"
    return f".{max(0, 2 - int(np.floor(np.log10(largest))))}f"


def laid_out(blocks: list[tuple[str, list[tuple[str, list[str]]]]], n_rows: int) -> list[str]:
    """Return the lines of a table: titles of blocks, heads of columns, rows."""
    lines = [""] * (n_rows + 2)
    for title, columns in blocks:
        widths = [max(len(text) for text in (head, *texts)) for head, texts in columns]
        short = len(title) - sum(widths) - 2 * (len(widths) - 1)
        widths[0] += max(0, short)
        rows = [[head for head, _ in columns], *zip(*(texts for _, texts in columns), strict=True)]
        texts = [
            "  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True))
            for row in rows
        ]
        own = [title.center(len(texts[0])), *texts]
        lines = [
            f"{line}   {text}" if line else text for line, text in zip(lines, own, strict=True)
        ]
    return [line.rstrip() for line in lines]


def heading(skill: Skill) -> str:
    """Return what is compared, and how often."""
    low, high = int(skill.n_cases.min()), int(skill.n_cases.max())
    cases = counted(high, "forecast") if low == high else f"{low:,} to {high:,} forecasts"
    if len(skill.names) == 1:
        return f"Scores of {skill.names[0]}, of {cases} at each lead."
    return (
        f"Scores of {cases} at each lead, in the mean over {len(skill.names)} columns; RMSE and "
        "CRPS over those of climatology."
    )


def verdict(skill: Skill) -> str:
    """Return at which leads climatology is not beaten."""
    judged, lost = judged_leads(skill), skill.not_beaten
    if not skill.n_cases.any():
        return "Nothing came to compare forecasts with."
    if not len(judged):
        return "What came does not change: nothing is better than climatology."
    if not len(lost):
        return "Climatology is beaten at all leads."
    if len(lost) == len(judged):
        return "Climatology is not beaten at any lead."
    return f"Climatology is not beaten at {one_of(lost, 'lead', 'leads')} {listed(lost, most=12)}."
