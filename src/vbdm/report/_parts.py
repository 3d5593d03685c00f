"""The words and tables of the page, as HTML; all text from outside is escaped here."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.arrays import to_host
from ..base.references import Citation
from ..base.wording import Style, counted, minus, with_error
from ..operator.operator import Operator
from ..operator.sums import in_potential, pairs_of, quantiles
from ..plot._clouds import per_volume
from ..spectrum.spectrum import Spectrum
from ..trust.epsilon_scan import EpsilonScan
from ..trust.error_bars import Group
from ..trust.findings import Finding
from ._channels import MOST_COLUMNS
from ._error_parts import parts_in_words
from ._glossary import linked, term
from ._payload import interval, style_of
from .citing import formula, has_delays, operator_in_words, operator_name, short
from .clock_words import ClockEntry, clock_in_words, times_in_words

#: How ε was chosen, in words, by the name of the rule.
RULES = {
    "degree": "chosen so that sparse points have enough neighbours",
    "slope": "chosen where the kernel's sum grows fastest",
    "given": "given",
}
MATCHED = "Modes are matched between values of ε by the similarity of their eigenfunctions."
#: Names of facts that lead to the glossary.
FACTS = {
    "Dimension": term("dimension", "Dimension"),
    "Kernel width": term("kernel width", "Kernel width"),
    "ε": term("ε"),
    "Neighbours": term("reach", "Neighbours"),
}
#: Rows of the table that are visible at once; a longer table scrolls, and a note says so.
ROWS_IN_SIGHT = 11
WORDS = {"green": "good", "amber": "look here", "red": "problem"}
#: Drawings of the lights, which differ by shape as well as colour: a disc with a tick, a triangle
#: with an exclamation mark, an octagon with a cross.
SHAPES = {
    "green": '<circle cx="12" cy="12" r="10"/><path d="M7 12.5l3.4 3.4L17 8.8"/>',
    "amber": '<path class="body" d="M12 2.2L23 21.5H1z"/><path d="M12 9v6M12 18v.4"/>',
    "red": '<path class="body" d="M8 2h8l6 6v8l-6 6H8l-6-6V8z"/>'
    '<path d="M8.5 8.5l7 7M15.5 8.5l-7 7"/>',
}


def text(value: object) -> str:
    """Return a value as text, escaped for an element or a quoted attribute."""
    return html.escape(str(value), quote=True)


def prose(words: str) -> str:
    """Return a message, escaped, with names in `backticks` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(words))


def heading(operator: Operator) -> str:
    """Return the default title of the page: the operator and the number of points."""
    name = operator_name(operator).removeprefix("the ")
    return f"{name[0].upper()}{name[1:]} from {operator.n_points:,} points"


def sentence(spectrum: Spectrum) -> str:
    """Return one sentence on what was estimated, for the top of the page."""
    operator = spectrum.operator
    what = operator_in_words(operator)
    return text(
        f"{what[0].upper()}{what[1:]}: its {len(spectrum.eigenvalues)} eigenvalues nearest to 0, "
        f"estimated from {operator.n_points:,} points by variable bandwidth diffusion kernels."
    )


def summary(spectrum: Spectrum, source: Mapping[str, Any], unit: str = "") -> str:
    """Return the facts at the top: operator, points, dimension, kernel width, ε, neighbours."""
    operator = spectrum.operator
    facts = [
        ("Operator", formula(operator), operator_fact(operator)),
        ("Points", f"{operator.n_points:,}", points_fact(operator, source)),
        ("Dimension", *dimension_fact(operator)),
        ("Kernel width", *width_fact(operator, unit)),
        ("ε", short(operator.epsilon), RULES.get(operator.tuning.rule, operator.tuning.rule)),
        ("Neighbours", f"{operator.n_neighbors}", neighbors_fact(operator)),
    ]
    return fact_list(facts)


def fact_list(facts: Sequence[tuple[str, str, str]]) -> str:
    """Return names, values and notes as the facts at the top of a page."""
    return "\n".join(
        f'<div class="fact"><dt>{FACTS.get(name, name)}</dt><dd><b>{text(value)}</b>'
        f"<span>{text(note)}</span></dd></div>"
        for name, value, note in facts
    )


def operator_fact(operator: Operator) -> str:
    """Return what the operator means, in a few words."""
    if in_potential(operator):
        return "generator of the gradient flow in the given potential U, whatever the sampling"
    c1 = operator.settings.exponents.c1
    if c1 is None:
        return "for a given bandwidth ρ"
    if abs(c1) < 1e-9:
        return "the Laplacian: geometry alone, whatever the sampling"
    density = (
        "weighted sampling density w q"
        if operator.settings.weighting.is_used
        else "sampling density q"
    )
    if abs(c1 - 1) < 1e-9:
        return f"generator of the gradient flow whose equilibrium is the {density}"
    return f"c1 = {minus(c1)}, for the {density}"


def neighbors_fact(operator: Operator) -> str:
    """Return what the number of neighbours counts."""
    if not operator.kernel.by_reach:
        return "per point, itself included"
    low, _, high = quantiles(pairs_of(operator))
    return f"on average, all within reach; {low:.0f} to {high:.0f} for 90 % of the points"


def points_fact(operator: Operator, source: Mapping[str, Any]) -> str:
    """Return the number of columns, the file's name, and how many rows were read."""
    graph = operator.graph
    n = 0 if graph.points is None else graph.points.shape[1]
    columns = counted(n, "column") if n else "distances given"
    name = source.get("name")
    read = source.get("n_read")
    rows = f", {read:,} rows read" if isinstance(read, int) and read != operator.n_points else ""
    return f"{columns}, from {name}{rows}" if name else f"{columns}{rows}"


def dimension_fact(operator: Operator) -> tuple[str, str]:
    """Return the dimension with its error, and how it was found."""
    found = operator.dimension
    if np.isfinite(found.standard_error):
        size = with_error(found.value, found.standard_error)
        return size, "estimated from neighbour distances"
    return with_error(found.value, None), found.credit.words


def width_fact(operator: Operator, unit: str) -> tuple[str, str]:
    """Return the median width of the kernel in the data's unit, and its range."""
    low, middle, high = quantiles(operator.widths)
    what = unit or "units of the data"
    return f"{middle:.3g}", f"median, in {what}; {low:.3g} to {high:.3g} for 90 %"


def icon(light: str) -> str:
    """Return the drawing of a light (green, amber or red)."""
    return (
        f'<svg class="light {light}" viewBox="0 0 24 24" aria-hidden="true">{SHAPES[light]}</svg>'
    )


def verdict(findings: Sequence[Finding]) -> str:
    """Return the worst light, and how many checks have which light, in one line."""
    worst = next((x for x in ("red", "amber") if any(f.light == x for f in findings)), "green")
    number = {light: sum(f.light == light for f in findings) for light in WORDS}
    words = {
        "green": f"{number['green']} good",
        "amber": f"{number['amber']} to look at",
        "red": counted(number["red"], "problem"),
    }
    told = ", ".join(words[light] for light in WORDS if number[light])
    return f"{icon(worst)}<span>{counted(len(findings), 'check')}: {told}</span>"


def finding_list(findings: Sequence[Finding], warnings: Sequence[str]) -> str:
    """Return the findings with their lights and words, worst first, then the warnings."""
    order = sorted(findings, key=lambda f: ("red", "amber", "green").index(f.light))
    words = linked(prose(f.words) for f in order)
    items = "\n".join(
        f'<li class="{f.light}">{icon(f.light)}<div><h3>{text(f.name)} '
        f'<span class="word">{WORDS[f.light]}</span></h3><p>{said}</p></div></li>'
        for f, said in zip(order, words, strict=True)
    )
    notes = "".join(f"<li>{prose(warning)}</li>" for warning in dict.fromkeys(warnings))
    said = f'<details class="notes"><summary>Notes of the run</summary><ul>{notes}</ul></details>'
    return f'<ul class="diagnoses">{items}</ul>{said if notes else ""}'


def eigenvalue_table(
    spectrum: Spectrum, flags: Mapping[int, Sequence[str]], clock: ClockEntry | None = None
) -> str:
    """Return one row per eigenvalue; those of a group share one cell for their error."""
    values, style = np.real(spectrum.eigenvalues), style_of(spectrum)
    times = times_in_words(spectrum, clock)
    rows = []
    for group in spectrum.errors.by_group:
        for i in group.members:
            cells = f'<td class="value">{style.show(values[i])}</td>'
            if i == group.members[0]:
                cells += error_cell(group, style)
            notes = doubts(flags.get(i, ()))
            cells += f'<td class="time">{text(times[i])}</td><td class="flags">{notes}</td>'
            rows.append(
                f'<tr data-mode="{i}"><th scope="row"><button type="button" aria-pressed="false">'
                f"{i}</button></th>{cells}</tr>"
            )
    return "\n".join(rows)


def error_cell(group: Group, style: Style) -> str:
    """Return the cell with total error and interval of one eigenvalue, or of the mean of a group.

    Its title, which browsers show beside the pointer, says what the error consists of.
    """
    if group.mean == 0:
        return '<td class="error">exact</td>'
    if not np.isfinite(group.total_error):
        return '<td class="error">—</td>'
    spread = f"± {style.show_error(group.total_error)}<span>{interval(group, style)}</span>"
    title = f'title="{text(parts_in_words(group, style))}"'
    if not group.is_several:
        return f'<td class="error" {title}>{spread}</td>'
    span = f'rowspan="{len(group.members)}"'
    return f'<td class="error several" {span} {title}>mean {style.show(group.mean)} {spread}</td>'


def doubts(flags: Sequence[str]) -> str:
    """Return the flags of one doubtful eigenvalue; empty if there are none."""
    return ", ".join(f'<span class="doubt">{text(flag)}</span>' for flag in flags)


def table_note(
    spectrum: Spectrum, preparation: Any = None, clock: ClockEntry | None = None, unit: str = ""
) -> str:
    """Return notes below the table: scrolling, shared means, the unit of relaxation times.

    The space of delays has lengths of its own, so eigenvalues there are no rates of the process.
    """
    notes = []
    n = len(spectrum.eigenvalues)
    if n > ROWS_IN_SIGHT:
        notes.append(f'<span class="scrolls">{n} rows: scroll to see all.</span>')
    if any(group.is_several for group in spectrum.errors.by_group):
        notes.append(
            "Eigenvalues that share a mean cannot be told apart: they are probably one multiple "
            "eigenvalue, split by sampling, and the mean is what to quote."
        )
    c1, known = spectrum.operator.settings.exponents.c1, in_potential(spectrum.operator)
    is_generator = known or (c1 is not None and abs(c1 - 1) < 1e-9)
    if clock is not None:
        notes.append(f"Times are those in which modes decay. {text(clock_in_words(clock, unit))}")
    elif is_generator and has_delays(preparation):
        notes.append(
            "The points are made of delays. −1/λ orders the modes, but it is no relaxation time "
            "of the process, because the space of delays has lengths of its own."
        )
    elif is_generator:
        notes.append(
            "−1/λ is a relaxation time in units where the diffusion coefficient is 1; snapshots "
            "alone cannot tell it. Ratios hold."
        )
    return " ".join(notes)


def places_note(spectrum: Spectrum) -> str:
    """Return a note on the axes, where they are not the columns of the data."""
    points = spectrum.operator.graph.points
    if points is None:
        return (
            "The input was distances, so the points have no coordinates of their own: "
            "eigenfunctions serve as axes."
        )
    n = points.shape[1]
    if n <= 3:
        return ""
    note = f"The points have {n} columns and are shown along their principal axes."
    shown = f" The first {MOST_COLUMNS} columns can be chosen as axes." if n > MOST_COLUMNS else ""
    return note + shown


def epsilon_note(spectrum: Spectrum, scan: EpsilonScan | None, why: str) -> str:
    """Return a note on what the slider over ε shows, or on why there is none."""
    if scan is None:
        return text(why or "The eigenpairs at other ε were not computed for this page.")
    n, used = spectrum.operator.n_points, scan.n_points
    drawn = f"; {len(scan.rows):,} of them are drawn" if len(scan.rows) < used else ""
    if used == n:
        return f"Solved again at each ε on all {n:,} points{drawn}. {MATCHED}"
    return (
        f"Estimated again on {used:,} of the {n:,} points, drawn at random, around the ε that "
        "suits so many: it is larger, and error bars are wider, than those of the full result. "
        f"{MATCHED}"
    )


def tuning_note(operator: Operator) -> str:
    """Return a note on how ε was chosen, and on how to read the two curves."""
    choice = operator.tuning
    how = "given" if choice.rule == "given" else f"chosen by the rule {choice.rule}"
    if choice.curve is None:
        return text(f"ε was {how}, and no other was looked at: there is no curve to show.")
    if choice.rule == "degree":
        return (
            f"ε is such that points in the sparsest 1 % still have {choice.target or 0:.3g} "
            "neighbours inside the kernel (left, the dot). Twice the slope of the kernel's sum is "
            "the dimension seen at that scale (right); a flat stretch around ε is a good sign."
        )
    if choice.rule == "slope":
        return (
            "ε lies where the kernel's sum S(ε) grows fastest (left); twice its slope is the "
            "dimension seen at that scale (right)."
        )
    if choice.words:
        how = f"chosen {choice.words}"
    return text(f"ε was {how}. The curves show what other choices would have meant.")


def density_note(operator: Operator) -> str:
    """Return a note on the density: median, range, and points without one."""
    density = np.asarray(to_host(operator.density))
    known = density[density > 0]
    low, middle, high = np.quantile(known, [0.01, 0.5, 0.99])
    none = len(density) - len(known)
    alone = (
        f" {counted(none, 'point')} outside the reach of every kernel: no density." if none else ""
    )
    return text(
        f"Median {middle:.3g} {per_volume(operator)}; 98 % of the points lie between {low:.3g} "
        f"and {high:.3g}, a factor of {high / low:.3g}.{alone}"
    )


def references(works: Sequence[Citation]) -> str:
    """Return the references as list items."""
    return "".join(f"<li>{text(work.text)}</li>" for work in works)
