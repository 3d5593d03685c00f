"""The figures of the paper, one module each, and the table of its claims.

T. Berry and J. Harlim, *Variable bandwidth diffusion kernels* (2016), reproduced with `vbdm`. This
is evidence, not library: it lives beside the package and uses it as anybody would (`borrowed` lists
the exceptions). The module of each figure has three functions: `compute` returns numbers, `draw`
makes the picture from them, and `claims` judges what the paper says. ``python -m paper`` makes all
figures.

>>> import paper
>>> paper.load("ou_sensitivity").TITLE
'Ornstein-Uhlenbeck: sensitivity to ε'
"""

from __future__ import annotations

from importlib import import_module
from typing import cast

from .base import Claim, Figure

#: Names of the figures, which are modules of this package, in the order of the paper.
FIGURES = (
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

__all__ = ["FIGURES", "Claim", "Figure", "load"]


def load(name: str) -> Figure:
    """Return the module of a figure."""
    return cast(Figure, import_module(f".{name}", __name__))
