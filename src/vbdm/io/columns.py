"""The choice of columns: by name, by number, or as another file had them."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ..errors import InputError
from .table import listed

#: Up to this many columns are suggested by name in messages; more are suggested by number.
SPELT_OUT = 12


def choose(columns: Any, names: Sequence[str], made_up: bool = False) -> list[int]:
    """Return the positions of the wanted columns, in the order in which they were asked for.

    Parameters
    ----------
    columns : str, list of str and int, Preparation, or None
        "x,y" by name, "0,2" by number (from 0), "0-3" for a range with both ends; a name that
        looks like a number wins over the number. None takes all columns. A `vbdm.io.Preparation`
        finds its columns itself.
    names : sequence of str
        Names of all columns.
    made_up : bool
        Whether the file has no names, so that these are "x0", "x1", …; a preparation then goes
        by position.

    Examples
    --------
    >>> from vbdm.io.columns import choose
    >>> choose("y,x", ["t", "x", "y"]), choose("0,2", "txy"), choose("1-2", "txy")
    ([2, 1], [0, 2], [1, 2])
    """
    if columns is None:
        return list(range(len(names)))
    if hasattr(columns, "find") and not isinstance(columns, (str, bytes)):
        return list(columns.find(names, made_up))
    pieces = pieces_of(columns)
    place = {name: position for position, name in enumerate(names)}
    found = [position for piece in pieces for position in positions(piece, place)]
    if not found or len(set(found)) < len(found):
        raise InputError(
            "The choice of columns must name each column once, and at least one; received "
            f"{columns!r}. The columns are: {listed(list(names))}."
        )
    return found


def pieces_of(columns: Any) -> list[Any]:
    """Return the parts of a choice as a list: names, numbers and ranges."""
    if isinstance(columns, str):
        return columns.split(",")
    several = isinstance(columns, Iterable) and getattr(columns, "ndim", 1) > 0
    return list(columns) if several else [columns]


def positions(piece: Any, place: dict[str, int]) -> list[int]:
    """Return the positions of the columns that one part of a choice means."""
    n = len(place)
    if isinstance(piece, int) and not isinstance(piece, bool) and 0 <= piece < n:
        return [piece]
    word = str(piece).strip()
    if word in place:
        return [place[word]]
    span = re.fullmatch(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?", word)
    if span:
        first = int(span[1])
        last = first if span[2] is None else int(span[2])
        if first <= last < n:
            return list(range(first, last + 1))
    close = difflib.get_close_matches(word, list(place)[:10_000], n=3)
    advice = (
        f"Did you mean {' or '.join(repr(name) for name in close)}?"
        if close
        else "Choose by name ('x,y') or by number from 0 ('0,2' or '0-3')."
    )
    raise InputError(
        f"The file has no such column; received {piece!r}. It has {n} column(s): "
        f"{listed(list(place))}. {advice}"
    )


def as_choice(taken: Sequence[int], names: Sequence[str]) -> str:
    """Return the text with which `choose` gives these positions, to be suggested in a message.

    >>> from vbdm.io.columns import as_choice
    >>> as_choice([1, 2], ["t", "x", "y"]), as_choice([0, 1, 3], ["a,b", "c", "t", "u"])
    ('x,y', '0-1,3-3')
    """
    words = [names[position] for position in taken]
    if len(words) <= SPELT_OUT and not any("," in word for word in words):
        return ",".join(words)
    # A single number is written as a range, too, "3-3": a column may have the name "3".
    breaks = [place for place in range(1, len(taken)) if taken[place] != taken[place - 1] + 1]
    ends = zip([0, *breaks], [*breaks, len(taken)], strict=True)
    return ",".join(f"{taken[first]}-{taken[last - 1]}" for first, last in ends)


def as_slice(positions: list[int]) -> slice | list[int]:
    """Return adjacent columns as a slice, so that a memory map is not copied."""
    first = positions[0]
    if positions == list(range(first, first + len(positions))):
        return slice(first, first + len(positions))
    return positions
