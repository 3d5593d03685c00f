"""What the errors of the eigenvalues consist of, as a table with bars on the page."""

from __future__ import annotations

import numpy as np

from ..base.wording import Style
from ..spectrum.spectrum import Spectrum
from ..trust.error_bars import Group
from ..trust.findings import label_of, main_sources, shares
from ._payload import style_of

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
    head = "".join(f'<th scope="col">{swatch(i)}{label_of(n)}</th>' for i, n in enumerate(names))
    rows = "\n".join(row(group, style, longest) for group in groups)
    return (
        f'<details id="error-parts"><summary>What the errors consist of; largest part: {largest}'
        '</summary><div class="scroll"><table class="parts"><thead><tr><th scope="col">no.</th>'
        f'<th scope="col">total</th><th scope="col" class="share">relative error</th>{head}</tr>'
        f'</thead><tbody>{rows}</tbody></table></div><p class="note">{note(names)}</p></details>'
    )


def note(names: list[str]) -> str:
    """Return what the parts are, each beside its colour, and how the bars are to be read."""
    parts = "; ".join(
        f'<span class="name">{swatch(i)}{label_of(name)}</span>: {MEANINGS.get(name, name)}'
        for i, name in enumerate(names)
    )
    return (
        f"{parts}. Parts are standard deviations and add in squares. A bar is as long as the "
        "relative error; its colours are shares of the squared error."
    )


def members_of(group: Group) -> str:
    """Return the numbers of a group's eigenvalues: "4", or "4 to 8"."""
    first, last = group.members[0], group.members[-1]
    return f"{first} to {last}" if group.is_several else f"{first}"


def row(group: Group, style: Style, longest: float) -> str:
    """Return the row of one group: total error, its parts, its bar."""
    sizes = (style.show_error(size) for size in group.error_parts.values())
    cells = "".join(f"<td>{size}</td>" for size in sizes)
    total = style.show_error(group.total_error)
    drawing = bar(group, LONGEST * relative_error(group) / longest)
    return (
        f'<tr><th scope="row">{members_of(group)}</th><td>{total}</td>'
        f'<td class="share">{drawing}</td>{cells}</tr>'
    )


def bar(group: Group, length: float) -> str:
    """Return the bar of one group as a drawing, its segments titled with their shares."""
    left, segments = 0.0, ""
    for i, (name, share) in enumerate(shares(group.error_parts).items()):
        width = share * length
        if share > 0:
            segments += (
                f'<rect class="part{i}" x="{left:.1f}" width="{width:.1f}" height="{HEIGHT}">'
                f"<title>{label_of(name)}: {share:.0%}</title></rect>"
            )
        left += width
    return f'<svg width="{LONGEST:.0f}" height="{HEIGHT}" aria-hidden="true">{segments}</svg>'


def swatch(number: int) -> str:
    """Return a small square in the colour of a part."""
    return (
        '<svg class="swatch" width="10" height="10" aria-hidden="true">'
        f'<rect class="part{number}" width="10" height="10"/></svg>'
    )


def relative_error(group: Group) -> float:
    """Return the total error of a group's mean over the size of the mean."""
    return group.total_error / abs(group.mean)


def parts_in_words(group: Group, style: Style) -> str:
    """Return the parts of a group's total error that are not 0, in one line."""
    parts = [
        f"{label_of(name)} {style.show_error(size)}"
        for name, size in group.error_parts.items()
        if size > 0 and np.isfinite(size)
    ]
    return f"Total error {style.show_error(group.total_error)}: {', '.join(parts)}"
