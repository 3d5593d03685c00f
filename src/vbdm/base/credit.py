"""What a strategy says of itself: its name, words for a methods paragraph, and works to cite.

A strategy is an object that a room is handed: a solver, a search, an engine or a rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .references import Citation


@dataclass(frozen=True)
class Credit:
    """Name, words and references of a solver, a search, an engine or a rule.

    Attributes
    ----------
    name : str
        The name by which it is listed.
    words : str
        Noun phrase for a sentence, such as "a multilevel LOBPCG iteration (Knyazev 2001)".
    references : tuple of Citation
        Works to cite where it was used.
    """

    name: str
    words: str
    references: tuple[Citation, ...] = ()


def credit_of(strategy: Any, kind: str) -> Credit:
    """Return the credit that a strategy carries, or one with its class's name if it has none.

    Examples
    --------
    >>> credit_of(object(), "solver").words
    'the solver object'
    """
    found = getattr(strategy, "credit", None)
    if isinstance(found, Credit):
        return found
    name = type(strategy).__name__
    return Credit(name, f"the {kind} {name}")
