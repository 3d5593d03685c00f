"""OU in the plane, 10,000 random points: the eigenfunction xy.

Settings of the paper: a standard normal in R² (our seed 0), variable kernel α = -1/2, β = -1/2 and
fixed kernel α = 1/2, β = 0, ε by the smallest error. xy shares its eigenvalue -2 with two others:
modes 4 to 6 are mapped onto the three by the best orthogonal map, as Section 3 says.

Each point has as many neighbours as the kernel reaches, at most 1500 (`saturated` tells where that
cuts the kernel). At large ε, where the fixed kernel reaches more, all pairs are taken as products
of narrower Gaussians (`paper.line`). `quick` has 3000 points.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from vbdm import align, datasets, neighbors, progress
from vbdm.errors import SolverError

from .base import (
    DEFAULT,
    FIXED,
    VARIABLE,
    Claim,
    FloatArray,
    Numbers,
    draw_errors,
    fixed,
    number,
    panels,
    verdict,
)
from .base import variable as variable_kernel
from .borrowed import Search
from .line import TOLERANCE, narrow_factors, scaled
from .ou import COINCIDENCE, REASONABLE, room_below
from .sweep import default_function, mean_squared_error, sweep, unit

NAME = "ou_plane"
TITLE = "Ornstein-Uhlenbeck in the plane"
CAPTION = (
    "The eigenfunction xy on 10,000 random points: truth, variable and fixed kernel at their best "
    "ε, and the default method. Last: mean squared error against ε; thin: the fixed kernel where "
    "its neighbour lists are cut."
)
#: Numbers of the modes with eigenvalue -2, counted from 0, and the place of xy among the true ones.
MODES, XY = [3, 4, 5], 0
#: Smallest ε at which the fixed kernel takes all pairs.
LARGE = 0.02


def compute(quick: bool = False, n_points: int | None = None) -> Numbers:
    """Sweep ε for both kernels, and run the default method."""
    n = n_points or (3000 if quick else 10_000)
    points = datasets.ou(n, dim=2, random_state=0).points
    exact = quadratics(points)
    graph = neighbors(points, min(n, 800 if quick else 1500))
    step = 1 if quick else 2
    numbers: Numbers = {"points": points, "exact": unit(exact)[:, XY]}
    ranges = {"variable": np.geomspace(1e-6, 1e-2, 8 * step + 1),
              "cut": np.geomspace(1e-4, 1e-1, 6 * step + 1)}  # fmt: skip
    kernels = {"variable": variable_kernel("generator", 2), "cut": fixed("generator")}
    for name, epsilons in ranges.items():
        found = sweep(graph, kernels[name], 2, epsilons, exact, MODES, wanted=XY,
                      name=NAME)  # fmt: skip
        numbers |= found.numbers(name)
    numbers |= all_pairs(points, exact, np.geomspace(LARGE, 1, 4 * step + 1))
    function, eigenvalues, epsilon = default_function(points, "generator", exact, MODES)
    error = mean_squared_error(function, unit(exact), XY)
    return numbers | {"default_function": function, "default_eigenvalues": eigenvalues,
                      "default_epsilon": epsilon, "default_error": error}  # fmt: skip


def quadratics(points: FloatArray) -> FloatArray:
    """Return xy and the two other eigenfunctions with eigenvalue -2."""
    x, y = points.T
    return np.column_stack([x * y, (x**2 - 1) / np.sqrt(2), (y**2 - 1) / np.sqrt(2)])


def all_pairs(points: FloatArray, exact: FloatArray, epsilons: FloatArray) -> Numbers:
    """Return errors and eigenvalues of the fixed kernel on all pairs, at large ε."""
    target = unit(exact)
    errors, rates = np.full(len(epsilons), np.nan), np.full((len(epsilons), 7), np.nan)
    best, failed = np.full_like(target, np.nan), 0
    for i, epsilon in enumerate(epsilons):
        try:
            rates[i], functions = fixed_plane_spectrum(points, 0.5, epsilon, 7)
        except SolverError:
            failed += 1
            continue
        found = align(functions[:, MODES], target, "orthogonal")
        errors[i] = mean_squared_error(found, target, XY)
        if errors[i] == np.nanmin(errors):
            best = found
        progress.report(NAME, i + 1, len(epsilons))
    return {"fixed_epsilons": epsilons, "fixed_errors": errors, "fixed_eigenvalues": rates,
            "fixed_function": best, "fixed_failed": failed}  # fmt: skip


def fixed_plane_spectrum(
    points: FloatArray, alpha: float, epsilon: float, n: int
) -> tuple[FloatArray, FloatArray]:
    """Return the first n eigenpairs of the fixed kernel on all pairs of points of a plane.

    The kernel is a product over the coordinates, and so are its factors (see
    `paper.line.fixed_spectrum`). Nothing is factorised, so it is meant for ε above 0.01.
    """
    across, along = (narrow_factors(column, epsilon, 6.5) for column in points.T)
    F = rows_multiplied(across, along)
    weight = (F @ (F.T @ np.ones(len(points)))) ** -alpha
    degrees = weight * (F @ (F.T @ weight))
    half = csr_array(F.multiply((weight / np.sqrt(degrees))[:, None]))
    transposed = csr_array(half.T)
    known = np.sqrt(degrees / degrees.sum())[:, None]
    search = Search("Plane", lambda v: half @ (transposed @ v), known, TOLERANCE, 300)
    values, vectors, _ = search.all_copies(n - 1)
    functions = np.hstack([known, vectors]) / np.sqrt(degrees)[:, None]
    return np.concatenate([[0.0], (values - 1) / epsilon]), scaled(functions)


def rows_multiplied(first: Any, second: Any) -> Any:
    """Return the matrix whose rows are the outer products of the rows of two (N, ·) matrices."""
    n = first.shape[0]
    a, b = (matrix.data.reshape(n, -1) for matrix in (first, second))
    i, j = (matrix.indices.reshape(n, -1) for matrix in (first, second))
    values = a[:, :, None] * b[:, None, :]
    columns = i[:, :, None].astype(np.int64) * second.shape[1] + j[:, None, :]
    used, short = np.unique(columns, return_inverse=True)
    pointer = np.arange(n + 1) * values[0].size
    return csr_array((values.ravel(), short.ravel(), pointer), shape=(n, len(used)))


def best_fixed(numbers: Numbers) -> tuple[float, float, FloatArray, FloatArray]:
    """Return error, ε, function and eigenvalues of the fixed kernel at its best ε.

    Results are from all pairs, or from neighbour lists where these do not cut the kernel.
    """
    whole = np.where(numbers["cut_saturated"] <= 0.05, numbers["cut_errors"], np.nan)
    from_lists = np.nanmin(whole, initial=np.inf)
    if from_lists < np.nanmin(numbers["fixed_errors"]) and np.isclose(
        from_lists, np.nanmin(numbers["cut_errors"])
    ):
        name, errors = "cut", whole
    else:
        name, errors = "fixed", numbers["fixed_errors"]
    i = int(np.nanargmin(errors))
    return (
        number(errors[i]),
        number(numbers[f"{name}_epsilons"][i]),
        numbers[f"{name}_function"],
        numbers[f"{name}_eigenvalues"][i],
    )


def draw(numbers: Numbers) -> Any:
    """Draw the four functions as coloured points, and the errors."""
    figure, grid = panels(2, 3, width=3.6, height=3.2)
    axes = grid.ravel()
    axes[5].remove()
    x, y = numbers["points"].T
    shown = {
        "truth: xy": numbers["exact"],
        "variable kernel (paper)": numbers["variable_function"][:, XY],
        "fixed kernel (paper)": best_fixed(numbers)[2][:, XY],
        "default, no truth used": numbers["default_function"][:, XY],
    }
    for axis, (title, values) in zip(axes, shown.items(), strict=False):
        dots = axis.scatter(x, y, c=values, s=2, cmap="coolwarm", vmin=-3, vmax=3, rasterized=True)
        axis.set_title(title)
        axis.set_aspect("equal")
        axis.set_xlabel("x")
    axes[0].set_ylabel("y")
    figure.colorbar(dots, ax=axes[2], shrink=0.8)
    last = axes[4]
    draw_errors(last, numbers["variable_epsilons"], numbers["variable_errors"], VARIABLE)
    draw_errors(last, numbers["fixed_epsilons"], numbers["fixed_errors"], FIXED)
    thin = FIXED | {"linewidth": 0.8, "label": "fixed kernel, nearest neighbours"}
    draw_errors(last, numbers["cut_epsilons"], numbers["cut_errors"], thin)
    last.plot(numbers["default_epsilon"], numbers["default_error"], "D", color=DEFAULT["color"],
              label=DEFAULT["label"])  # fmt: skip
    room_below(last)
    return figure


def claims(numbers: Numbers) -> tuple[Claim, ...]:
    """Judge what Section 4 says about the plane."""
    return judge_variable(numbers), judge_fixed(numbers)


def where(numbers: Numbers) -> str:
    """Return the place in the paper, with our number of points."""
    return f"Section 4, plane figure ({len(numbers['points'])} points)"


def judge_variable(numbers: Numbers) -> Claim:
    """Judge how close the variable kernel comes at its best ε."""
    i = int(np.nanargmin(numbers["variable_errors"]))
    error, epsilon = (number(numbers[f"variable_{key}"][i]) for key in ("errors", "epsilons"))
    rates = numbers["variable_eigenvalues"][i]
    return Claim(
        where(numbers),
        "The variable kernel's estimate of xy is close to the truth.",
        "reasonably close",
        f"MSE {error:.2g} at ε = {epsilon:.1e}; eigenvalues {listed(rates[1:6])}, truth -1, -1, "
        "-2, -2, -2",
        verdict(error < REASONABLE),
        "Modes on single outliers come between; default method, no truth used: MSE "
        f"{number(numbers['default_error']):.2g}.",
    )


def judge_fixed(numbers: Numbers) -> Claim:
    """Judge whether the fixed kernel fails at every ε, with all pairs and with cut lists."""
    error, epsilon, _, rates = best_fixed(numbers)
    cut = number(np.nanmin(numbers["cut_errors"]))
    poor = [error > REASONABLE, cut > REASONABLE]
    return Claim(
        where(numbers),
        "No ε makes the fixed kernel's estimate accurate.",
        "not accurate at all",
        f"best MSE {error:.2g} at ε = {epsilon:.2g} (eigenvalues {listed(rates[1:6])}); with cut "
        f"neighbour lists {cut:.2g}",
        verdict(all(poor), depends=any(poor) and not all(poor)),
        f"It depends on the pairs kept: lists of nearest neighbours lose the shape. {COINCIDENCE}",
    )


def listed(values: Any) -> str:
    """Return numbers as text, with two digits each."""
    return ", ".join(f"{value:.2f}" for value in values)
