"""Answers: what was asked of a result after the estimate, for its folder and its page."""

from __future__ import annotations

import base64
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.estimate import Estimate
from ._tables import prose
from .tables import text

#: Pictures that are wider than this many heights stand above their table, others beside it.
WIDE = 1.6


@dataclass(frozen=True)
class Quantity:
    """One number of an answer: what it is, its value with a standard error, and its unit.

    The error is NaN for numbers that are exact, such as counts.
    """

    name: str
    value: float
    error: float = np.nan
    unit: str = ""

    @property
    def shown(self) -> str:
        """The number as text, with its error if it has one."""
        if np.isfinite(self.error):
            return str(Estimate(self.value, self.error))
        return f"{self.value:,.0f}" if float(self.value).is_integer() else f"{self.value:.4g}"


@dataclass(frozen=True, eq=False)
class Answer:
    """One question and what was found."""

    # Name of its files, and of its place on the page, such as "committor".
    name: str
    # Its heading.
    title: str
    # What was asked, in words.
    asked: str
    quantities: Sequence[Quantity] = ()
    # What else the reader must know, such as the unit of times.
    notes: Sequence[str] = ()
    # Values on the points by name, (N,).
    columns: Mapping[str, FloatArray] = field(default_factory=dict)
    # A PNG; empty if there is none.
    picture: bytes = b""
    # What the picture shows.
    caption: str = ""


def section(answer: Answer) -> str:
    """Return an answer as a section: words, table, picture, notes."""
    # The header of a PNG has its size: a wide picture needs the whole page.
    width, height = struct.unpack(">II", answer.picture[16:24] or bytes(8))
    wide = width > WIDE * height
    data = base64.b64encode(answer.picture).decode()
    picture = (
        f'<figure><img src="data:image/png;base64,{data}" alt="{text(answer.title)}, drawn on the '
        f'points"><figcaption>{prose(answer.caption)}</figcaption></figure>'
    )
    rows = "".join(
        f'<tr><th scope="row">{text(own.name)}</th><td>{text(own.shown)}</td>'
        f"<td>{text(own.unit)}</td></tr>"
        for own in answer.quantities
    )
    table = f'<table class="quantities"><tbody>{rows}</tbody></table>' if rows else ""
    parts = [
        f'<section id="answer-{text(answer.name)}" class="answer">',
        f"<h2>{text(answer.title)}</h2>",
        f'<p class="lead">{prose(answer.asked)}</p>',
        '<div class="split">' if answer.picture and not wide else "<div>",
        picture if answer.picture else "",
        f"<div>{table}",
        *(f'<p class="note">{prose(note)}</p>' for note in answer.notes),
        "</div></div></section>",
    ]
    return "\n".join(part for part in parts if part)


def as_entry(answer: Answer) -> dict[str, Any]:
    """Return what equations.json holds of an answer; columns and picture are files."""
    return {
        "name": answer.name,
        "title": answer.title,
        "asked": answer.asked,
        "quantities": [vars(own) for own in answer.quantities],
        "notes": list(answer.notes),
        "columns": list(answer.columns),
        "caption": answer.caption,
    }
