"""What total errors come from, in words: the parts of a group's error, the largest, and advice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

#: What each part of a total error is called where results are shown; others go by their names.
LABELS = {"epsilon": "ε"}
#: Where each part comes from, as the end of the phrase "most of it from …".
CAUSES = {
    "sampling": "sampling",
    "tail": "points too sparse to resolve the modes",
    "epsilon": "the width of the kernel",
    "noise": "noise around the manifold",
    "boundary": "an edge of the data",
}
#: What makes each part smaller.
ADVICE = {
    "sampling": "More data would make it smaller.",
    "tail": "More data, or fewer eigenvalues, would help; see whether these points "
    "(`spectrum.unresolved`) belong to the data.",
    "epsilon": "Eigenvalues move with ε, which can be smaller with more data.",
    "noise": "Remove noise before the estimate, by fewer principal axes or averages of rows, say.",
    "boundary": "If the manifold goes on where the data ends, add data there; otherwise the "
    "operator has Neumann conditions at the edge, and this error stays.",
}
#: Share of the squared total error from which on a part is named as its source.
MOST = 0.5


def label_of(part: str) -> str:
    """Return what a part is called where results are shown.

    Examples
    --------
    >>> label_of("epsilon"), label_of("tail")
    ('ε', 'tail')
    """
    return LABELS.get(part, part)


def largest_part(parts: Mapping[str, float | None]) -> str | None:
    """Return the name of the largest part; None if there is no error, or an unknown one.

    Examples
    --------
    >>> largest_part({"sampling": 0.01, "tail": 0.0, "epsilon": 0.03})
    'epsilon'
    >>> largest_part({"sampling": 0.0, "tail": None}) is None
    True
    """
    known = {name: size for name, size in parts.items() if size is not None and size > 0}
    return max(known, key=lambda name: known[name]) if known else None


def main_sources(groups: Sequence[tuple[Sequence[int], Mapping[str, float | None]]]) -> str:
    """Return which parts are the largest of some error, with the eigenvalues' numbers if several.

    Parameters
    ----------
    groups : sequence of pairs
        Numbers of eigenvalues, and the parts of the error of their mean.

    Examples
    --------
    >>> parts = {"sampling": 0.1, "epsilon": 0.2}, {"sampling": 0.3, "epsilon": 0.2}
    >>> main_sources([([1, 2, 3], parts[0]), ([4, 5], parts[1]), ([6], parts[0])])
    'ε (1 to 3, 6), sampling (4 to 5)'
    >>> main_sources([([1], parts[0])])
    'ε'
    """
    found: dict[str, list[int]] = {}
    for members, parts in groups:
        part = largest_part(parts)
        if part is not None:
            found.setdefault(label_of(part), []).extend(members)
    if len(found) == 1:
        return next(iter(found))
    return ", ".join(f"{label} ({runs(numbers)})" for label, numbers in found.items())


def runs(numbers: Sequence[int]) -> str:
    """Return whole numbers in increasing order in short, consecutive ones as "first to last"."""
    ends: list[list[int]] = []
    for number in numbers:
        if ends and number == ends[-1][-1] + 1:
            ends[-1] = [ends[-1][0], number]
        else:
            ends.append([number])
    return ", ".join(" to ".join(str(end) for end in run) for run in ends)


def shares(parts: Mapping[str, float]) -> dict[str, float]:
    """Return the share of each part in the squared total error: these add up to 1.

    Examples
    --------
    >>> shares({"sampling": 3.0, "epsilon": 4.0})
    {'sampling': 0.36, 'epsilon': 0.64}
    """
    squares = {name: size**2 for name, size in parts.items()}
    whole = sum(squares.values())
    return {name: float(square / whole) if whole > 0 else 0.0 for name, square in squares.items()}


def source_in_words(parts: Mapping[str, float]) -> tuple[str, str]:
    """Return where most of an error comes from, as the end of a sentence, and what to do about it.

    Both are empty if the error is not known; where no part is half of the squared total, the two
    largest are named.
    """
    if not all(np.isfinite(size) for size in parts.values()):
        return "", ""
    share = shares(parts)
    first, second = sorted(share, key=lambda name: share[name], reverse=True)[:2]
    if not share[first]:
        return "", ""
    if share[first] >= MOST:
        return f"most of it from {CAUSES.get(first, first)}", ADVICE.get(first, "")
    both = " and ".join(CAUSES.get(name, name) for name in (first, second))
    return f"most of it from {both}", f"{ADVICE.get(first, '')} {ADVICE.get(second, '')}".strip()
