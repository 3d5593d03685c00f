"""The tables of the page, as HTML: eigenvalues, their errors, findings, settings.

All text from outside is escaped here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.versions import __version__, library_versions
from ..base.wording import Style, common_style, counted, percent
from ..operator.sums import pairs_of, quantiles
from ..spectrum.spectrum import Spectrum
from ..trust.error_bars import Group
from ..trust.findings import Finding, label_of, main_sources, shares
from ._glossary import linked
from .facts import ClockEntry, times_in_words
from .tables import text

WORDS = {"green": "good", "amber": "look here", "red": "problem"}
#: Drawings of the lights, which differ by shape as well as colour: a disc with a tick, a triangle
#: with an exclamation mark, an octagon with a cross.
SHAPES = {
    "green": '<circle cx="12" cy="12" r="10"/><path d="M7 12.5l3.4 3.4L17 8.8"/>',
    "amber": '<path class="body" d="M12 2.2L23 21.5H1z"/><path d="M12 9v6M12 18v.4"/>',
    "red": '<path class="body" d="M8 2h8l6 6v8l-6 6H8l-6-6V8z"/>'
    '<path d="M8.5 8.5l7 7M15.5 8.5l-7 7"/>',
}
#: What each part is, for the note below the table; parts that are not here go by their names.
MEANINGS = {
    "sampling": "another sample of as many points",
    "tail": "modes on points too sparse to resolve them",
    "epsilon": "the width of the kernel",
    "noise": "points around the manifold instead of on it",
    "boundary": "an edge of the data",
}
#: Length of the longest bar and height of all bars, in pixels.
LONGEST, HEIGHT = 160.0, 12
#: How weights entered, by their kind.
WEIGHTS = {
    "measure": "a function of the place: they multiply pairs",
    "counts": "multiplicities: a point counts as often as it weighs",
}


def prose(words: str) -> str:
    """Return a message, escaped, with names in `backticks` set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", text(words))


def style_of(spectrum: Spectrum) -> Style:
    """Return the style in which all eigenvalues and their errors are written."""
    errors = [group.total_error for group in spectrum.errors.by_group]
    return common_style(np.real(spectrum.eigenvalues), errors)


def interval(group: Group, style: Style) -> str:
    """Return the 95 % interval of a group's mean as text."""
    return f"{style.show(group.lower)} to {style.show(group.upper)}"


# --- Findings ------------------------------------------------------------------------------------


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


# --- Eigenvalues ---------------------------------------------------------------------------------


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
            doubts = (f'<span class="doubt">{text(flag)}</span>' for flag in flags.get(i, ()))
            cells += (
                f'<td class="time">{text(times[i])}</td><td class="flags">{", ".join(doubts)}</td>'
            )
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
    parts = ", ".join(
        f"{label_of(name)} {style.show_error(size)}"
        for name, size in group.error_parts.items()
        if size > 0 and np.isfinite(size)
    )
    title = f'title="Total error {style.show_error(group.total_error)}: {text(parts)}"'
    if not group.is_several:
        return f'<td class="error" {title}>{spread}</td>'
    span = f'rowspan="{len(group.members)}"'
    return f'<td class="error several" {span} {title}>mean {style.show(group.mean)} {spread}</td>'


def error_table(spectrum: Spectrum) -> str:
    """Return the table of all groups: total error, its parts, and a bar; folded, under one line.

    The length of a bar is the relative total error; its segments are shares of the squared error,
    which add up.
    """
    groups = [group for group in spectrum.errors.by_group if group.total_error > 0]
    if not groups:
        return ""
    names, style = list(groups[0].error_parts), style_of(spectrum)
    largest = main_sources([(group.members, group.error_parts) for group in groups])
    longest = max(relative_error(group) for group in groups)
    # Each with a small square in the colour of the part.
    labels = [
        '<svg class="swatch" width="10" height="10" aria-hidden="true">'
        f'<rect class="part{i}" width="10" height="10"/></svg>{label_of(name)}'
        for i, name in enumerate(names)
    ]
    head = "".join(f'<th scope="col">{label}</th>' for label in labels)
    meanings = "; ".join(
        f'<span class="name">{label}</span>: {MEANINGS.get(name, name)}'
        for label, name in zip(labels, names, strict=True)
    )
    rows = "\n".join(row(group, style, longest) for group in groups)
    return (
        f'<details id="error-parts"><summary>What the errors consist of; largest part: {largest}'
        '</summary><div class="scroll"><table class="parts"><thead><tr><th scope="col">no.</th>'
        f'<th scope="col">total</th><th scope="col" class="share">relative error</th>{head}</tr>'
        f'</thead><tbody>{rows}</tbody></table></div><p class="note">{meanings}. Parts are '
        "standard deviations and add in squares. A bar is as long as the relative error; its "
        "colours are shares of the squared error.</p></details>"
    )


def row(group: Group, style: Style, longest: float) -> str:
    """Return the row of one group: total error, its parts, and a bar titled with their shares."""
    sizes = (style.show_error(size) for size in group.error_parts.values())
    cells = "".join(f"<td>{size}</td>" for size in sizes)
    length, left, segments = LONGEST * relative_error(group) / longest, 0.0, ""
    for i, (name, share) in enumerate(shares(group.error_parts).items()):
        width = share * length
        if share > 0:
            segments += (
                f'<rect class="part{i}" x="{left:.1f}" width="{width:.1f}" height="{HEIGHT}">'
                f"<title>{label_of(name)}: {share:.0%}</title></rect>"
            )
        left += width
    first, last = group.members[0], group.members[-1]
    return (
        f'<tr><th scope="row">{f"{first} to {last}" if group.is_several else first}</th>'
        f'<td>{style.show_error(group.total_error)}</td><td class="share">'
        f'<svg width="{LONGEST:.0f}" height="{HEIGHT}" aria-hidden="true">{segments}</svg></td>'
        f"{cells}</tr>"
    )


def relative_error(group: Group) -> float:
    """Return the total error of a group's mean over the size of the mean."""
    return group.total_error / abs(group.mean)


# --- Settings ------------------------------------------------------------------------------------


def grouped(groups: Mapping[str, Mapping[str, Any]], seconds: Mapping[str, float] | None) -> str:
    """Return groups of settings as a table, with the time that was needed and versions."""
    times = {name: f"{value:.2f}" for name, value in (seconds or {}).items()}
    versions = {"vbdm": __version__, **library_versions()}
    lines = []
    for title, group in {**groups, "Seconds": times, "Versions": versions}.items():
        rows = "".join(
            f"<tr><th scope='row'>{text(name)}</th><td>{text(shown(value))}</td></tr>"
            for name, value in group.items()
        )
        head = f'<tr><th colspan="2" scope="rowgroup">{text(title)}</th></tr>'
        lines += [f"<tbody>{head}{rows}</tbody>"] if group else []
    return "\n".join(lines)


def shown(value: Any) -> str:
    """Return the value of a setting as short text; long lists are cut after 12 entries."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {shown(part)}" for name, part in value.items()) or "none"
    if isinstance(value, (list, tuple, np.ndarray)):
        parts = [shown(part) for part in list(value)[:12]]
        return ", ".join(parts) + (", …" if len(value) > 12 else "") or "none"
    if value is None or isinstance(value, (bool, np.bool_)):
        return "none" if value is None else ("yes" if value else "no")
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def estimate_settings(spectrum: Spectrum) -> dict[str, Any]:
    """Return the numbers and choices behind the estimate, by the names that the page shows."""
    operator, graph, settings = spectrum.operator, spectrum.operator.graph, spectrum.settings
    metric = graph.metric if isinstance(graph.metric, str) else "a function"
    decided, found, U = settings.as_dict(), settings.weighting, operator.inside.potential
    inside: dict[str, Any] = {}
    if found.is_used:
        inside = {
            "weights": WEIGHTS[found.kind],
            "largest weight over the smallest": float(np.exp(found.log_range)),
            "effective points": found.effective_points,
        }
    elif U is not None:
        inside = {"potential U, in kT": f"{U.min():.4g} to {U.max():.4g}"}
    if operator.kernel.by_reach:
        low, middle, high = quantiles(pairs_of(operator))
        pairs = {
            "neighbours": settings.neighbors_from,
            "neighbours of a point, mean": operator.n_neighbors,
            "neighbours of a point, quantiles": (
                f"{low:.0f} (5 %), {middle:.0f} (median), {high:.0f} (95 %)"
            ),
        }
    else:
        pairs = {
            "neighbours k": operator.n_neighbors,
            "what decided k": settings.neighbors_from,
            "lists that end inside the kernel": percent(operator.kernel.saturated),
        }
    return {
        "method": settings.method.name,
        "arguments given": settings.given,
        "effort": settings.method.lists.effort,
        "c1": operator.settings.exponents.c1,
        "α": operator.settings.exponents.alpha,
        "β": operator.settings.exponents.beta,
        **inside,
        "dimension d": operator.dim,
        "rule for d": decided["dimension_rule"],
        "ε": operator.epsilon,
        "rule for ε": decided["epsilon_rule"],
        "rule for the bandwidth": decided["bandwidth_rule"],
        **pairs,
        "neighbours of the density k0": settings.n_density_neighbors,
        "search": settings.search.name,
        "why this search": settings.search_reason,
        "engine": settings.engine.words,
        "why this engine": settings.engine_reason,
        "precision of stored kernel values": settings.precision,
        "where the rows lived": settings.placement,
        "form of the kernel": operator.settings.form,
        "shape of the kernel": type(operator.kernel.shape).__name__,
        "kernel cut at this share of its peak": settings.truncation,
        "a point left out of its own sums": operator.kernel.leave_one_out,
        "limiter": decided["limiter"],
        "finite-sample correction": settings.method.finite_sample,
        "metric": metric if graph.period is None else f"{metric}, periodic",
        "copies merged": operator.n_points - graph.n_points,
        "solver": spectrum.log.solver,
        "why this solver": spectrum.log.reason or "chosen by you",
        "steps, products": f"{spectrum.log.iterations}, {spectrum.log.products}",
        "estimated error of the solver": spectrum.log.error_estimate,
    }
