"""What all figures of the paper share: the kernels they compare, claims, colours and panels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
#: Named arrays and numbers that a figure computes, ready for one .npz file.
Numbers = dict[str, Any]
Verdict = Literal["reproduced", "not reproduced", "depends"]
VERDICTS: tuple[Verdict, ...] = ("reproduced", "not reproduced", "depends")


@dataclass(frozen=True)
class Claim:
    """One statement of the paper that numbers can settle, and what we found.

    Attributes
    ----------
    where : str
        Section or figure of the paper.
    statement : str
        The claim, in our words.
    printed : str
        The number or word that the paper prints.
    found : str
        The number or word that we find.
    verdict : {"reproduced", "not reproduced", "depends"}
        The verdict, computed from the numbers, never written down beforehand.
    why : str
        The reason for the verdict, and what it depends on.
    """

    where: str
    statement: str
    printed: str
    found: str
    verdict: Verdict
    why: str


class Figure(Protocol):
    """The names that the module of every figure has."""

    TITLE: str
    CAPTION: str
    compute: Callable[..., Numbers]
    draw: Callable[[Numbers], Any]
    claims: Callable[[Numbers], tuple[Claim, ...]]


@dataclass(frozen=True)
class Settings:
    """A kernel of the paper: the exponents α and β for one operator in dimension d.

    Examples
    --------
    >>> variable("generator", 1), fixed("generator")
    (Settings(alpha=-0.25, beta=-0.5), Settings(alpha=0.5, beta=0.0))
    """

    alpha: float
    beta: float


def variable(operator: str, dim: float) -> Settings:
    """Return the variable kernel of the examples: β = -1/2, α = (1 - c1)/2 - d/4."""
    return Settings(0.5 * (operator == "laplacian") - dim / 4, -0.5)


def fixed(operator: str) -> Settings:
    """Return the fixed kernel of the examples: β = 0, α = 1 - c1/2."""
    return Settings(1.0 if operator == "laplacian" else 0.5, 0.0)


def verdict(holds: bool, depends: bool = False) -> Verdict:
    """Return the verdict on a claim; one that holds in some cases only "depends"."""
    if depends:
        return "depends"
    return "reproduced" if holds else "not reproduced"


# Looks of the curves: colours that people with any colour vision tell apart (Okabe and Ito), and
# line styles that survive a grey print.
VARIABLE = {"color": "#D55E00", "linestyle": "--", "label": "variable kernel (paper)"}
FIXED = {"color": "#0072B2", "linestyle": "-", "label": "fixed kernel (paper)"}
DEFAULT = {"color": "#009E73", "linestyle": "-.", "label": "default method, no truth used"}
TRUTH = {"color": "0.6", "linestyle": "-", "linewidth": 3.0, "label": "truth"}


def panels(rows: int, columns: int, width: float = 3.6, height: float = 3.0) -> tuple[Any, Any]:
    """Return a figure and its axes, an array of shape (rows, columns).

    The figure is made without pyplot, so that it has no window and need not be closed.
    """
    from matplotlib.figure import Figure as Canvas

    canvas = Canvas(figsize=(width * columns, height * rows), layout="constrained")
    axes = canvas.subplots(rows, columns, squeeze=False)
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
    return canvas, axes


def draw_errors(axis: Any, epsilons: NDArray[Any], errors: NDArray[Any], look: Any) -> None:
    """Draw the mean squared error against ε, both on logarithmic scales."""
    axis.loglog(epsilons, errors, **look)
    axis.set_xlabel("ε")
    axis.set_ylabel("mean squared error")


def number(value: Any) -> float:
    """Return a number, or an array with one entry from a file, as a plain float."""
    return float(np.asarray(value))
