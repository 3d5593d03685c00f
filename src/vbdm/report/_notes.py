"""The words of the page, as HTML: what was estimated, and notes on tables and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..base.arrays import to_host
from ..base.wording import counted, minus, with_error
from ..operator.operator import Operator
from ..operator.sums import in_potential
from ..plot._clouds import per_volume
from ..plot._curves import RULES
from ..spectrum.spectrum import Spectrum
from ..trust.epsilon_scan import EpsilonScan
from ._glossary import term
from ._payload import MOST_COLUMNS
from .citing import has_delays
from .facts import (
    ClockEntry,
    clock_in_words,
    facts_of,
    formula,
    is_generator,
    operator_in_words,
    operator_name,
    short,
)
from .tables import text

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
    known, points, dim = facts_of(operator), operator.graph.points, operator.dimension
    columns = "distances given" if points is None else counted(points.shape[1], "column")
    name, read = source.get("name"), source.get("n_read")
    from_file = f", from {name}" if name else ""
    if isinstance(read, int) and read != operator.n_points:
        from_file += f", {read:,} rows read"
    size, how = with_error(dim.value, None), dim.credit.words
    if np.isfinite(dim.standard_error):
        size = with_error(dim.value, dim.standard_error)
        how = "estimated from neighbour distances"
    low, middle, high = known["widths"].values()
    wide = f"median, in {unit or 'units of the data'}; {low:.3g} to {high:.3g} for 90 %"
    rule, neighbours = operator.tuning.rule, "per point, itself included"
    if operator.kernel.by_reach:
        few, _, many = known["pairs"].values()
        neighbours = f"on average, all within reach; {few:.0f} to {many:.0f} for 90 % of the points"
    return fact_list([
        ("Operator", formula(operator), operator_fact(operator)),
        ("Points", f"{operator.n_points:,}", f"{columns}{from_file}"),
        ("Dimension", size, how),
        ("Kernel width", f"{middle:.3g}", wide),
        ("ε", short(operator.epsilon), RULES.get(rule, rule)),
        ("Neighbours", f"{operator.n_neighbors}", neighbours),
    ])  # fmt: skip


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
    weighted = operator.settings.weighting.is_used
    density = "weighted sampling density w q" if weighted else "sampling density q"
    if abs(c1 - 1) < 1e-9:
        return f"generator of the gradient flow whose equilibrium is the {density}"
    return f"c1 = {minus(c1)}, for the {density}"


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
    if clock is not None:
        notes.append(f"Times are those in which modes decay. {text(clock_in_words(clock, unit))}")
    elif is_generator(spectrum.operator) and has_delays(preparation):
        notes.append(
            "The points are made of delays. −1/λ orders the modes, but it is no relaxation time "
            "of the process, because the space of delays has lengths of its own."
        )
    elif is_generator(spectrum.operator):
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
