"""The figures of the paper, one module each, and the table of its claims.

Every module computes (`compute`, numbers only), draws (`draw`) and judges (`claims`). `FIGURES`
lists them; `vbdm.figures.reproduce` runs them.

>>> from vbdm import figures
>>> figures.load("ou_sensitivity").TITLE
'Ornstein-Uhlenbeck: sensitivity to ε'
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from ..base.checks import check_choice
from .base import Claim, Figure

#: In the order of the paper: name of the figure to name of its module.
FIGURES: dict[str, str] = {
    name: f"{__name__}.{name}"
    for name in (
        "section3",
        "ou_sensitivity",
        "ou_large",
        "ou_outliers",
        "ou_random",
        "ou_plane",
        "circle_sensitivity",
        "sphere_sensitivity",
        "left_right_symmetric",
        "nonuniform_circle",
        "c2_exponent",
    )
}

__all__ = ["FIGURES", "Claim", "Figure", "load"]


def load(name: str) -> Figure:
    """Return the module of a figure."""
    return cast(Figure, import_module(FIGURES[check_choice(name, "name", FIGURES)]))
