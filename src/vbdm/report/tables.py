"""The eigenvalues as a table: for a text (Markdown, LaTeX), a notebook, or pandas."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..base.checks import check_choice
from ..base.wording import common_style
from ..operator.operator import Operator
from ..spectrum.spectrum import Spectrum
from ..trust.diagnose import doubtful_modes
from ..trust.findings import Finding
from .facts import formula, operator_name

HEAD = ("j", "eigenvalue", "± total error", "95 % interval", "mean of its group")
#: Colours of lights that can be read on light and dark pages.
COLOURS = {"green": "#2e8b57", "amber": "#c77700", "red": "#d0342c"}
Rows = list[tuple[str, ...]]


def table(spectrum: Spectrum, format: str = "markdown") -> str:
    """Return the eigenvalues with total errors and intervals, as Markdown or LaTeX.

    Eigenvalues that cannot be told apart share the error and the interval of their mean, which
    stand in the first row of the group.
    """
    check_choice(format, "format", ("markdown", "latex"))
    rows = rows_of(spectrum)
    n = len(rows[0])
    if format == "markdown":
        return "\n".join(f"| {' | '.join(line)} |" for line in [HEAD[:n], ("---:",) * n, *rows])
    # A ``tabular`` needs no package.
    names = ("$j$", r"$\lambda_j$", r"$\pm$ total error", r"95\,\% interval", "mean of its group")
    cells = [names[:n], *([in_latex(cell) for cell in row] for row in rows)]
    head, *body = (" & ".join(line) + r" \\" for line in cells)
    begin = rf"\begin{{tabular}}{{{'r' * n}}}"
    return "\n".join([begin, r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"])


def rows_of(spectrum: Spectrum) -> Rows:
    """Return one row of texts per eigenvalue: number, value, error, interval, mean of the group."""
    groups = spectrum.errors.by_group
    values = np.real(spectrum.eigenvalues)
    style = common_style(values, [group.total_error for group in groups])
    rows: Rows = []
    for group in groups:
        for i in group.members:
            first, known = i == group.members[0], np.isfinite(group.total_error)
            error = interval = mean = ""
            if group.mean == 0:
                error = "exact"
            elif known and first:
                error = style.show_error(group.total_error)
                interval = f"{style.show(group.lower)} to {style.show(group.upper)}"
                mean = style.show(group.mean) if group.is_several else ""
            elif known:
                error = interval = mean = "″"
            rows.append((str(i), style.show(values[i]), error, interval, mean))
    # Where each eigenvalue stands alone, there are no means to show.
    return rows if any(row[-1] for row in rows) else [row[:-1] for row in rows]


def in_latex(cell: str) -> str:
    r"""Return a cell in LaTeX: numbers as formulas, words as they are.

    Examples
    --------
    >>> in_latex("−2.04 to −1.92"), in_latex("3.1·10⁻⁵"), in_latex("exact")
    ('$-2.04$ to $-1.92$', '$3.1\\cdot 10^{-5}$', 'exact')
    """
    return " ".join(map(number_in_latex, cell.split())) if cell else ""


def number_in_latex(word: str) -> str:
    """Return a word in LaTeX: as a formula, if it is a number."""
    if not any(letter.isdigit() for letter in word):
        return {"″": r"\textquotedbl", "—": "---"}.get(word, word)
    head, times, power = word.partition("·10")
    exponent = power.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    tail = rf"\cdot 10^{{{exponent}}}" if times else ""
    return f"${head.replace('−', '-')}{tail}$"


def to_frame(spectrum: Spectrum) -> Any:
    """Return the eigenvalues as a pandas DataFrame, one row each; see `Spectrum.to_frame`."""
    try:
        from pandas import DataFrame, Index
    except ImportError as error:
        raise ImportError(
            "A table needs pandas, which is not installed. Install it with pip install pandas, or "
            "use spectrum.table(), which gives text."
        ) from error
    groups = spectrum.errors.by_group

    def of_group(name: str) -> list[float]:
        return [getattr(group, name) for group in groups for _ in group.members]

    doubts = doubtful_modes(spectrum)
    n = len(spectrum.eigenvalues)
    columns = {
        "eigenvalue": np.real(spectrum.eigenvalues),
        "group": [number for number, group in enumerate(groups) for _ in group.members],
        "group_mean": of_group("mean"),
        "standard_error": of_group("standard_error"),
        "total_error": of_group("total_error"),
        "lower": of_group("lower"),
        "upper": of_group("upper"),
        "in_doubt": [", ".join(doubts.get(i, ())) for i in range(n)],
    }
    return DataFrame(columns, index=Index(range(n), name="j"))


def operator_html(operator: Operator) -> str:
    """Return an operator as a small table for notebooks."""
    name = operator_name(operator).removeprefix("the ")
    facts = {
        "points": f"{operator.n_points:,}",
        "dimension": f"{operator.dim:.3g}",
        "ε": f"{operator.epsilon:.4g}",
        "neighbours": f"{operator.n_neighbors:,}",
    }
    rows = "".join(f"<tr><th>{text(k)}</th><td>{text(v)}</td></tr>" for k, v in facts.items())
    title = f"{name[:1].upper()}{name[1:]}, {formula(operator)}"
    return f"<table><caption>{text(title)}</caption>{rows}</table>"


def spectrum_html(spectrum: Spectrum) -> str:
    """Return the eigenvalues as a table for notebooks; doubtful ones are named below it."""
    rows = rows_of(spectrum)
    head = "".join(f"<th>{text(name)}</th>" for name in HEAD[: len(rows[0])])
    body = "".join(f"<tr>{''.join(f'<td>{text(c)}</td>' for c in row)}</tr>" for row in rows)
    doubts = doubtful_modes(spectrum)
    notes = "; ".join(f"{i}: {', '.join(words)}" for i, words in sorted(doubts.items()))
    below = f"<p>In doubt: {text(notes)}.</p>" if notes else ""
    n = spectrum.operator.n_points
    caption = f"<caption>{len(rows)} eigenvalues from {n:,} points</caption>"
    return f"<table>{caption}<tr>{head}</tr>{body}</table>{below}"


def findings_html(findings: Sequence[Finding]) -> str:
    """Return findings as a table for notebooks: light, subject, words."""
    rows = "".join(
        f'<tr><td style="color:{COLOURS[finding.light]}">{text(finding.light)}</td>'
        f'<th style="text-align:left">{text(finding.name)}</th>'
        f'<td style="text-align:left">{text(finding.words)}</td></tr>'
        for finding in findings
    )
    return f"<table>{rows}</table>"


def text(value: object) -> str:
    """Return a value as text that cannot become an element."""
    return html.escape(str(value), quote=True)
