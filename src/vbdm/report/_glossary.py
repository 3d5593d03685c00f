"""The words of the page, explained; a term in the text leads to its entry."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

#: Each word with its meaning, in the sense of docs/glossary.md, for readers who know no formula.
GLOSSARY = {
    "boundary": "A part of the total error: an edge of the data, beyond which there are no points.",
    "copies": "Rows of the data that are equal. They are merged into one point with a weight.",
    "dimension": "The number of directions in which the points spread at the scale of the kernel. "
    "It may be a fraction.",
    "eigenfunction": "One number for each point, which changes slowly where points are dense. The "
    "first ones show the shape of the data: clusters, curves, slow motions.",
    "eigenvalue": "A number λ that says how fast an eigenfunction decays under diffusion. "
    "The nearer to 0, the slower.",
    "ε": "The global scale of the kernel: its squared width is 4ε times a factor for each point. "
    "The larger it is, the smoother the estimate, and the more is averaged away.",
    "generator": "The operator of a random motion in a landscape, at equilibrium with the density "
    "of the points. Its eigenvalues are rates.",
    "group": "Eigenvalues too close to be told apart. They are probably one, split by sampling: "
    "the mean is what to quote.",
    "interval": "The two ends between which the true eigenvalue lies in 95 % of the cases, "
    "computed from the total error.",
    "kernel": "The weight of a pair of points: near 1 for close ones, 0 beyond its reach.",
    "kernel width": "How far the kernel looks at a point. It is wider where points are sparse.",
    "Laplacian": "The operator of diffusion on the shape that the points fill, whatever the "
    "density of the points on it.",
    "limiter": "The rule that keeps points too sparse to resolve a mode from carrying one.",
    "mode": "An eigenvalue with its eigenfunction.",
    "noise": "A part of the total error: points around the manifold instead of on it.",
    "piece": "Points that the kernel joins, directly or through others. Between two pieces nothing "
    "is known: each has an eigenvalue 0 of its own.",
    "plateau": "A stretch of ε over which the eigenvalues do not move: there they can be trusted.",
    "principal axis": "A direction in which the points spread most, of those across the earlier "
    "ones.",
    "reach": "How far the kernel goes. Two points within reach of each other are neighbours.",
    "sampling": "A part of the total error: another sample of as many points would give other "
    "values. Alone, it is the standard error.",
    "tail": "Sparse points far from most others; a part of the total error comes from them.",
    "total error": "One standard deviation for everything that can be seen to be wrong, added in "
    "squares: sampling, tail, ε, noise and boundary.",
    "unresolved": "Of a point: its surroundings are too sparse for the first modes. Of a mode: it "
    "rests on such points.",
    "weak link": "The few points on which a mode hangs: a thin tail, or a bridge between clusters.",
}
#: Spellings in the text that lead to an entry, if they are not the entry's name or its plural.
SPELLINGS = {"thin link": "weak link", "connected pieces": "piece", "standard error": "sampling"}


def anchor(name: str) -> str:
    """Return the identifier of an entry.

    >>> anchor("weak link"), anchor("ε")
    ('term-weak-link', 'term-epsilon')
    """
    return "term-" + name.replace("ε", "epsilon").replace(" ", "-")


def term(name: str, shown: str = "") -> str:
    """Return a link to the entry of a word; its text is the word, or what is `shown`."""
    return f'<a class="term" href="#{anchor(name)}">{html.escape(shown or name)}</a>'


def linked(texts: Iterable[str]) -> list[str]:
    """Return texts, escaped already, in which each word's first place leads to its entry.

    >>> linked(["Two pieces and a piece.", "A piece."])
    ['Two <a class="term" href="#term-piece">pieces</a> and a piece.', 'A piece.']
    """
    seen: set[str] = set()

    def link(found: re.Match[str]) -> str:
        word = found.group(0)
        name = WORDS[word.lower()]
        if name in seen:
            return word
        seen.add(name)
        return term(name, word)

    return [PATTERN.sub(link, text) for text in texts]


#: Entries by all spellings in which the text has them.
WORDS = {
    spelling.lower(): name
    for name, spellings in [
        *((name, (name, f"{name}s")) for name in GLOSSARY),
        *((name, (spelling, f"{spelling}s")) for spelling, name in SPELLINGS.items()),
    ]
    for spelling in spellings
}
#: Whole words outside of tags and code; longer spellings first.
PATTERN = re.compile(
    r"(?<![\w<&/.`])(?:"
    + "|".join(sorted(map(re.escape, WORDS), key=len, reverse=True))
    + r")(?![\w>=;])(?![^<]*</code>)",
    re.IGNORECASE,
)
