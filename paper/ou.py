"""What the Ornstein-Uhlenbeck figures share: points, truth, the default method, parts of panels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbdm import datasets

from .base import FIXED, TRUTH, VARIABLE, FloatArray, Numbers, fixed, variable
from .sweep import default_function, unit

#: Number of the eigenfunction H3 = (x³ - 3x)/√6, counted from 0; its eigenvalue is -3.
H3 = 3
#: Mean squared errors below which curves in a plot agree, and above which they do not at all.
GOOD, REASONABLE = 0.01, 0.1
#: The reason why the fixed kernel finds the function at ε where its eigenvalues are wrong.
COINCIDENCE = (
    "A Gaussian kernel on Gaussian data has nearly Hermite polynomials as eigenfunctions at any ε, "
    "so that large ε, which links the sparse points, costs only the eigenvalues: a coincidence of "
    "this example."
)
KERNELS = {"fixed": fixed("generator"), "variable": variable("generator", 1)}
LOOKS = {"fixed": FIXED, "variable": VARIABLE}


def line_points(n: int, seed: int | None = None) -> FloatArray:
    """Return sorted points of a standard normal: quantiles i/(N+1), or random with a seed."""
    sampling = "grid" if seed is None else "random"
    sample = datasets.ou(n, sampling=sampling, random_state=seed)
    return np.sort(sample.points[:, 0])


def hermite(x: FloatArray) -> FloatArray:
    """Return H3 at the points, scaled to mean square 1 on them."""
    return np.asarray(unit((x**3 - 3 * x)[:, None])[:, 0])


def default_on_line(
    x: FloatArray, where: NDArray[np.bool_] | None = None, **settings: Any
) -> Numbers:
    """Return what the default method finds for H3, with its error over the points in `where`."""
    exact = hermite(x)
    function, eigenvalues, epsilon = default_function(
        x[:, None], "generator", exact, [H3], **settings
    )
    squares = (function - exact) ** 2
    return {
        "function": function,
        "eigenvalues": eigenvalues,
        "epsilon": epsilon,
        "error": float(np.mean(squares if where is None else squares[where])),
    }


def prefixed(prefix: str, numbers: Numbers) -> Numbers:
    """Return the numbers with a prefix before all names."""
    return {f"{prefix}_{name}": value for name, value in numbers.items()}


def draw_truth(axis: Any, x: FloatArray) -> None:
    """Draw H3 as a broad grey line."""
    axis.plot(x, hermite(x), **TRUTH)
    axis.set_xlabel("x")
    axis.set_ylabel("fourth eigenfunction")
    axis.set_ylim(*(1.15 * np.array([-1, 1]) * np.abs(hermite(x)).max()))


def room_below(axis: Any) -> None:
    """Make space below the error curves and put their legend there."""
    low, high = axis.get_ylim()
    axis.set_ylim(low * (low / high) ** 0.45, high)
    axis.legend(fontsize=6.5, loc="lower left")
