"""The page: words and tables from Python, pictures from the scripts in `page_files`."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.checks import a_count, a_path, accepts, all_of, an, numbers, or_none, words
from ..base.files import check_target, replacing
from ..base.row_notes import RowNotes
from ..errors import InputError
from ..spectrum.spectrum import Spectrum
from ..trust.diagnose import diagnose, flags_of
from ..trust.epsilon_scan import EpsilonScan, why_no_scan
from ..trust.findings import Finding
from . import _notes as notes_on
from . import _tables as tables
from ._glossary import GLOSSARY, anchor
from ._payload import AboutRows, as_notes, choose_drawn, left_out, payload
from .answers import Answer, section
from .citing import (
    A_SPECTRUM,
    as_mapping,
    citations,
    has_delays,
    methods_paragraph,
    projection_in_words,
)
from .facts import check_clock, time_heading
from .found import what_was_found
from .tables import text

#: Names of the scripts, in the order in which they are joined into one.
SCRIPTS = (
    "data", "marks", "colour", "raster", "chart", "cloud", "pointer", "curves", "series", "epsilon",
    "page",
)  # fmt: skip
#: Largest number of points that are drawn by default; more would cover each other.
MOST_DRAWN = 20_000
A_MAPPING = an(Mapping, "Pass a dict.")


def check_preparation(value: Any, name: str) -> Any:
    """Return a mapping, or an object that can be made one."""
    if not hasattr(value, "as_dict"):
        an(Mapping, "Pass a dict, or what vbdm.io.prepare gave.")(value, name)
    return value


@accepts(
    spectrum=A_SPECTRUM,
    scan=or_none(an(EpsilonScan, "Call vbdm.scan_epsilon(spectrum).")),
    findings=or_none(all_of(Finding, "Call vbdm.diagnose(spectrum).")),
    names=or_none(words),
    title=an(str, "Pass a text, such as 'My data'."),
    source=or_none(A_MAPPING),
    warnings=words,
    seconds=or_none(A_MAPPING),
    preparation=or_none(check_preparation),
    rows=or_none(numbers),
    settings=or_none(A_MAPPING),
    about_rows=or_none(an((Mapping, RowNotes), "Pass a dict of arrays.")),
    unit=an(str, "Pass a text, such as 'nm'."),
    answers=all_of(Answer, "Pass what vbdm.results.answers.read_answers gave."),
    clock=or_none(check_clock),
)
def page(
    spectrum: Spectrum,
    *,
    scan: EpsilonScan | None = None,
    findings: Sequence[Finding] | None = None,
    names: Sequence[str] | None = None,
    title: str = "",
    source: Mapping[str, Any] | None = None,
    warnings: Sequence[str] = (),
    seconds: Mapping[str, float] | None = None,
    preparation: Any = None,
    n_drawn: int = MOST_DRAWN,
    rows: ArrayLike | None = None,
    settings: Mapping[str, Any] | None = None,
    about_rows: AboutRows | None = None,
    unit: str = "",
    answers: Sequence[Answer] = (),
    clock: Mapping[str, Any] | None = None,
) -> str:
    """Return the page of a result as HTML text.

    Parameters
    ----------
    spectrum : Spectrum
        The result.
    scan : EpsilonScan, optional
        The eigenpairs at other ε, from `vbdm.scan_epsilon`. Without it the page has no slider,
        and says why.
    findings : sequence of Finding, optional
        The findings of `vbdm.diagnose`; computed here if not given.
    names : sequence of str, optional
        Names of the columns.
    title : str
        Heading of the page; by default it says what was estimated.
    source : mapping, optional
        Where the points came from: name, format, size, sha256, n_read …
    warnings : sequence of str
        Messages of the warnings that were given on the way.
    seconds : mapping, optional
        Seconds that each stage of the work took, by name.
    preparation : mapping, or object with `as_dict`, optional
        What was done to the columns before the estimate (`vbdm.io.Preparation`).
    n_drawn : int
        Largest number of points that are drawn; those of the scan are drawn in any case.
    rows : (N,) array of int, optional
        The row of each point in its file; 0, 1, 2, … if not given.
    settings : mapping, optional
        Further settings to list, such as those of a command.
    about_rows : mapping or RowNotes, optional
        What is known about the points beside their coordinates, one array of N values by name:
        text (a label each), numbers, or dates. All can be the colour or an axis of the pictures,
        and dates are the axis of the modes as time series. A field with more than 1,000 different
        labels, such as names of rows, is left out.
    unit : str
        Unit of the coordinates, such as "Å".
    answers : sequence of Answer
        What was asked later, committors for example; each gets a section, and its values on the
        points can be chosen as a colour.
    clock : mapping, optional
        The clock as results.json has it, for times in the user's unit.

    Returns
    -------
    str
        One self-contained file: it loads nothing, and its own policy forbids it to. The same
        arguments give the same text.
    """
    most = a_count(1, 1_000_000)(n_drawn, "n_drawn")
    drawn, choice = choose_drawn(spectrum, scan, most)
    if rows is not None and len(np.asarray(rows)) != spectrum.operator.n_points:
        raise InputError(
            f"`rows` must have one number for each point; received {len(np.asarray(rows))} "
            f"numbers for {spectrum.operator.n_points} points. Pass `cloud.rows`, or leave it out."
        )
    row_numbers = None if rows is None else np.asarray(rows).astype(np.int64)
    about = as_notes(about_rows, spectrum.operator.n_points)
    # Answers on the points are known about the rows, too.
    values = {name: own for answer in answers for name, own in answer.columns.items()}
    notes = replace(about, numbers={**values, **about.numbers})
    found = diagnose(spectrum, scan) if findings is None else findings
    flags = flags_of(found)
    known = dict(source or {})
    works = citations(spectrum)
    prepared = as_mapping(preparation)
    # Words stand in place of the numbers of a projection.
    if projected := " and ".join(projection_in_words(prepared.get("projection"))):
        prepared = {**prepared, "projection": projected}
    counts = {name: f"{value:,}" for name, value in known.items() if type(value) is int}
    # All that is needed to repeat the estimate.
    listed = {
        "Estimate": tables.estimate_settings(spectrum), "Input": {**known, **counts},
        "Preparation": prepared, "Command": settings or {},
    }  # fmt: skip
    style, body = resource("page.css"), "\n".join(resource(f"{name}.js") for name in SCRIPTS)
    # All scripts are one function, so that they add no global names.
    script = f'"use strict";\n(() => {{\n{body}\n}})();'
    fields = {
        "title": text(title or notes_on.heading(spectrum.operator)),
        "policy": policy(style, script),
        "style": style,
        "script": script,
        "found": text(what_was_found(spectrum, preparation)),
        "sentence": notes_on.sentence(spectrum),
        "summary": notes_on.summary(spectrum, known, unit),
        "verdict": tables.verdict(found),
        "eigenvalues": tables.eigenvalue_table(spectrum, flags, clock),
        "table": notes_on.table_note(spectrum, preparation, clock, unit),
        "errors": tables.error_table(spectrum),
        "times": text(time_heading(clock)),
        "links": "".join(
            f'\n    <a href="#answer-{text(own.name)}">{text(own.title)}</a>' for own in answers
        ),
        "answers": "\n".join(map(section, answers)),
        "drawn": text(f"{choice}{left_out(notes)}"),
        "places": notes_on.places_note(spectrum),
        "epsilon": notes_on.epsilon_note(spectrum, scan, why_no_scan(spectrum)),
        "tuning": notes_on.tuning_note(spectrum.operator),
        "density": notes_on.density_note(spectrum.operator),
        "glossary": "".join(
            f'<dt id="{anchor(name)}">{text(name)}</dt><dd>{text(meaning)}</dd>'
            for name, meaning in GLOSSARY.items()
        ),
        "diagnoses": tables.finding_list(found, warnings),
        "methods": text(methods_paragraph(spectrum, known.get("n_read"), preparation)),
        "references": "".join(f"<li>{text(work.text)}</li>" for work in works),
        "bibtex": text("\n\n".join(work.bibtex for work in works)),
        "settings": tables.grouped(listed, seconds),
        "data": payload(
            spectrum, scan, names, drawn, row_numbers, flags, notes, has_delays(preparation)
        ),
    }
    return filled(resource("head.html") + resource("page.html"), fields)


@accepts(path=a_path)
def write_page(path: str | os.PathLike[str], spectrum: Spectrum, **options: Any) -> None:
    """Write the page into a file, which appears only when it is complete; options as in `page`."""
    content = page(spectrum, **options)
    with replacing(check_target(path)) as stream:
        stream.write(content.encode("utf-8"))


def resource(name: str) -> str:
    """Return the text of a file in `page_files`."""
    return files(__package__).joinpath("page_files", name).read_text(encoding="utf-8")


def filled(template: str, fields: Mapping[str, str]) -> str:
    """Return the template with every {{name}} replaced by the field of that name.

    It is one pass, so that braces inside a field are left alone.
    """
    return re.sub(r"\{\{(\w+)\}\}", lambda match: fields[match.group(1)], template)


def policy(style: str, script: str) -> str:
    """Return the Content-Security-Policy: run this script, use this style, load nothing else."""
    return (
        f"default-src 'none'; script-src '{digest(script)}'; style-src '{digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    """Return the hash of a script or style, in the form that a policy names it by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
