"""OU on the line, N = 20,000: the error against ε, and each kernel at its best.

Settings of the paper: the quantile grid with 20,000 points, fixed kernel α = 1/2, β = 0 and
variable kernel α = -1/4, β = -1/2, ε chosen by the smallest error against the truth.

What the paper leaves open: how many neighbours it kept. Here the fixed kernel sees all pairs, at
any ε, and, as a thin line, only the nearest `FEW` points, because that decides what it gives at
large ε. The variable kernel sees all pairs that it reaches, up to where it reaches more than 1300
points to one side; beyond, its error only grows (see the sensitivity figure, all pairs). `quick`
has 5000 points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vbdm import neighbors

from .automatic import decades_below
from .base import DEFAULT, FIXED, Claim, Numbers, draw_errors, number, panels, verdict
from .line import line_sweep
from .ou import (
    COINCIDENCE,
    GOOD,
    H3,
    KERNELS,
    LOOKS,
    REASONABLE,
    default_on_line,
    draw_truth,
    hermite,
    line_points,
    prefixed,
    room_below,
)
from .sweep import sweep

NAME = "ou_large"
TITLE = "Ornstein-Uhlenbeck: many points"
CAPTION = (
    "Left: mean squared error of the fourth eigenfunction against ε on a grid of 20,000 points; "
    "thin line: the fixed kernel on the 200 nearest neighbours only. Middle: both kernels at their "
    "best ε. Right: the default method, which does not know the truth."
)
#: Number of neighbours in the truncated variant of the fixed kernel.
FEW = 200
FEWER_POINTS = 2000


def compute(quick: bool = False, n_points: int | None = None) -> Numbers:
    """Sweep ε for both kernels, with all pairs and, for the fixed one, with few neighbours."""
    n = n_points or (5000 if quick else 20_000)
    x = line_points(n)
    exact = hermite(x)
    wide = np.geomspace(1e-6, 1, 13 if quick else 61)
    ranges = {"fixed": wide, "variable": np.geomspace(1e-8, 1e-4, 9 if quick else 41)}
    numbers: Numbers = {"x": x}
    for kernel, settings in KERNELS.items():
        numbers |= line_sweep(x, settings, ranges[kernel], exact, H3, name=NAME).numbers(kernel)
    graph = neighbors(x[:, None], min(FEW, n))
    few = wide[:: 2 if quick else 3]
    found = sweep(graph, KERNELS["fixed"], 1, few, exact[:, None], [H3], name=NAME)
    numbers |= found.numbers("few")
    small = line_points(FEWER_POINTS)
    found = line_sweep(small, KERNELS["fixed"], wide, hermite(small), H3)
    numbers["fewer_points_errors"] = found.errors
    return numbers | prefixed("default", default_on_line(x))


def draw(numbers: Numbers) -> Any:
    """Draw errors, best eigenfunctions and the default method."""
    figure, axes = panels(1, 3, width=4.2)
    x, (left, middle, right) = numbers["x"], axes[0]
    for kernel, look in LOOKS.items():
        draw_errors(left, numbers[f"{kernel}_epsilons"], numbers[f"{kernel}_errors"], look)
    thin = FIXED | {"linewidth": 0.8, "label": f"fixed kernel, {FEW} neighbours"}
    draw_errors(left, numbers["few_epsilons"], numbers["few_errors"], thin)
    left.plot(numbers["default_epsilon"], numbers["default_error"], "D",
              color=DEFAULT["color"], label=DEFAULT["label"])  # fmt: skip
    room_below(left)
    draw_truth(middle, x)
    for kernel, look in LOOKS.items():
        middle.plot(x, numbers[f"{kernel}_function"], **look)
    middle.set_title("each kernel at its best ε")
    middle.legend(fontsize=7)
    draw_truth(right, x)
    right.plot(x, numbers["default_function"], **DEFAULT)
    right.set_title("default method, no truth used")
    return figure


def claims(numbers: Numbers) -> tuple[Claim, ...]:
    """Judge what Section 4 says about N = 20,000."""
    return judge_fixed(numbers), judge_variable(numbers), judge_more_data(numbers)


def where(numbers: Numbers) -> str:
    """Return the place in the paper, with our number of points."""
    return f"Section 4, figure for N = 20,000 (here {len(numbers['x'])})"


def best_of(numbers: Numbers, name: str) -> tuple[int, float, float]:
    """Return the index of the smallest error in a sweep, the error, and its ε."""
    i = int(np.nanargmin(numbers[f"{name}_errors"]))
    return i, number(numbers[f"{name}_errors"][i]), number(numbers[f"{name}_epsilons"][i])


def judge_fixed(numbers: Numbers) -> Claim:
    """Judge whether the fixed kernel fails at every ε, with all pairs and with few neighbours."""
    i, error, epsilon = best_of(numbers, "fixed")
    few = best_of(numbers, "few")[1]
    rate = number(numbers["fixed_eigenvalues"][i, H3])
    hopeless = [error > REASONABLE, few > REASONABLE]
    return Claim(
        where(numbers),
        "No ε gives a reasonable fourth eigenfunction with the fixed kernel.",
        "no value of ε",
        f"best MSE {error:.2g} at ε = {epsilon:.2g} with all pairs (eigenvalue there {rate:.2f}, "
        f"truth -3); {few:.2g} with {FEW} neighbours",
        verdict(all(hopeless), depends=any(hopeless) and not all(hopeless)),
        f"Reasonable taken as a mean squared error below {REASONABLE:g}. All pairs link the sparse "
        "points once ε is large; a list of the nearest neighbours cuts those links. "
        f"{COINCIDENCE}",
    )


def judge_variable(numbers: Numbers) -> Claim:
    """Judge over how wide a range of ε the variable kernel is excellent."""
    _, error, epsilon = best_of(numbers, "variable")
    wide = decades_below(numbers["variable_epsilons"], numbers["variable_errors"], GOOD)
    return Claim(
        where(numbers),
        "The variable kernel is excellent over a wide range of ε.",
        "excellent and stable",
        f"MSE {error:.2g} at ε = {epsilon:.1e}; below {GOOD:g} over {wide:.1f} decades",
        verdict(error < GOOD and wide >= 1),
        "A wide range taken as a decade or more.",
    )


def judge_more_data(numbers: Numbers) -> Claim:
    """Compare the fixed kernel's smallest errors at two numbers of points."""
    error = best_of(numbers, "fixed")[1]
    fewer = number(np.nanmin(numbers["fewer_points_errors"]))
    return Claim(
        where(numbers),
        "The fixed kernel does worse with more data.",
        "worse at 20,000 than at 2000",
        f"best MSE {fewer:.2g} at N = {FEWER_POINTS}, {error:.2g} at N = {len(numbers['x'])}",
        verdict(error > fewer),
        "All pairs, each at its own best ε.",
    )
