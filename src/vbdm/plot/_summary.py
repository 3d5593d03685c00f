"""An overview of a result in one figure."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..operator.operator import Operator
from ..operator.sums import in_potential
from ..spectrum.spectrum import Spectrum
from ._canvas import import_pyplot, operator_of, place
from ._clouds import density, eigenfunctions, embedding, unresolved
from ._curves import spectrum, tuning

#: A function that draws one picture, and the number of dimensions of its axes.
Panel = tuple[Callable[..., Any], int]


def summary(result: Any, truth: Any = None) -> Any:
    """Draw an overview: eigenvalues, choice of ε, density, eigenfunctions, what is in doubt.

    Parameters
    ----------
    result : Spectrum, DiffusionMap or Operator
        The result. Of an operator alone, ε and the density are drawn.
    truth : (n,) array or `vbdm.datasets.Truth`, optional
        Eigenvalues to compare with.

    Returns
    -------
    Figure
        ``figure.savefig("overview.png")`` writes it to a file.
    """
    operator = operator_of(result)
    found = getattr(result, "spectrum_", result)
    has_points = operator.graph.points is not None
    n_dims = place(operator, None).n_dims if has_points else 0
    panels: list[Panel] = []
    if isinstance(found, Spectrum):
        panels.append((partial(spectrum, found, truth), 2))
    if operator.tuning.curve is not None:
        panels.append((partial(tuning, operator), 2))
    if has_points:
        panels.append((partial(density, operator), n_dims))
    if isinstance(found, Spectrum):
        last = len(found.eigenvalues) - 1
        numbers = list(range(1, min(last, 3) + 1))
        if has_points and numbers:
            groups = [numbers] if n_dims == 1 else numbers
            panels += [(partial(eigenfunctions, found, group), n_dims) for group in groups]
            panels.append((partial(unresolved, found), n_dims))
        if last >= 2:
            panels.append((partial(embedding, found), 2))
    n_rows = 1 if len(panels) < 4 else 2
    n_columns = max(1, -(-len(panels) // n_rows))
    wide, high = 4.7 * n_columns, 3.7 * n_rows + 0.4
    figure = import_pyplot().figure(figsize=(wide, high))
    # Fixed margins take half the time of a layout that measures every letter first.
    grid = figure.add_gridspec(
        n_rows, n_columns, left=0.7 / wide, right=1 - 0.35 / wide, bottom=0.55 / high,
        top=1 - 0.85 / high, wspace=0.35, hspace=0.4,
    )  # fmt: skip
    for number, (draw, n_axes) in enumerate(panels):
        projection = "3d" if n_axes == 3 else None
        draw(ax=figure.add_subplot(grid[number], projection=projection))
    figure.suptitle(describe(operator), fontsize="large")
    return figure


def describe(operator: Operator) -> str:
    """Return the title of the overview: what was estimated, and from how many points."""
    names = {0.0: "Laplacian", 1.0: "Generator"}
    c1 = operator.settings.exponents.c1
    known = None if c1 is None else names.get(float(np.round(c1, 12)))
    what = known or ("Operator" if c1 is None else f"Operator with c1 = {c1:g}")
    if in_potential(operator):
        what = "Generator in a given potential"
    average = " on average" if operator.kernel.by_reach else ""
    return (
        f"{what} from {operator.n_points:,} points: dimension {operator.dim:.3g}, "
        f"ε = {operator.epsilon:.3g}, {operator.n_neighbors} neighbours{average}"
    )
