"""The panels of the sphere's figure."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import DEFAULT, FIXED, VARIABLE, Numbers, draw_errors, number, panels

LOOKS = {"fixed": FIXED, "variable": VARIABLE}


def draw(numbers: Numbers) -> Any:
    """Draw the six panels of the paper, and a column for the default method."""
    canvas, axes = panels(2, 4, width=3.5, height=3.4)
    draw_sensitivity(axes[0, 1], numbers)
    draw_slopes(axes[0, 2], numbers)
    draw_every(axes[0, 3], numbers)
    clouds = {
        (0, 0): ("points", "the points"),
        (1, 0): ("variable_automatic_function", "variable kernel, automatic ε"),
        (1, 1): ("fixed_automatic_function", "fixed kernel, automatic ε"),
        (1, 2): ("fixed_best_function", "fixed kernel, best ε (truth used)"),
        (1, 3): ("default_function", "default method, no truth used"),
    }
    for (row, column), (key, title) in clouds.items():
        axes[row, column].remove()
        axis = canvas.add_subplot(2, 4, 4 * row + column + 1, projection="3d")
        draw_cloud(axis, numbers, key, title)
    return canvas


def draw_cloud(axis: Any, numbers: Numbers, key: str, title: str) -> None:
    """Draw the points, or three eigenfunctions in their place, coloured by the points' height."""
    points = np.asarray(numbers["points"])
    cloud = np.asarray(numbers[key])
    if key != "points":
        # Eigenfunctions have mean square 1; they get that of the coordinates, to look alike.
        cloud = cloud * np.sqrt(np.mean(points**2, axis=0))
    axis.scatter(*cloud.T, c=points[:, 2], s=2, cmap="viridis", linewidths=0)
    axis.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-1, 1))
    axis.set_box_aspect((1, 1, 1))
    axis.set_xticks([-1, 0, 1], labels=[])
    axis.set_yticks([-1, 0, 1], labels=[])
    axis.set_zticks([-1, 0, 1], labels=[])
    axis.set_title(title, fontsize=10)


def draw_sensitivity(axis: Any, numbers: Numbers) -> None:
    """Draw errors against ε with the automatic choices."""
    for name, look in LOOKS.items():
        draw_errors(axis, numbers["epsilons"], numbers[f"{name}_errors"], look)
        chosen, error = numbers[f"{name}_automatic"], numbers[f"{name}_automatic_error"]
        axis.plot(number(chosen), number(error), "o", color=look["color"], markersize=7)
    default = number(numbers["default_epsilon"]), number(numbers["default_error"])
    axis.plot(*default, "D", color=DEFAULT["color"], markersize=7, label=DEFAULT["label"])
    axis.set_ylim(1e-5, 3)
    axis.set_title("error of the second eigenfunction", fontsize=10)
    axis.legend(fontsize=7, frameon=False, loc="lower left")


def draw_slopes(axis: Any, numbers: Numbers) -> None:
    """Draw the slope of log S(ε), whose maximum is the automatic choice."""
    grid = 2.0 ** np.arange(-30, 10)
    for name, look in LOOKS.items():
        slopes = np.asarray(numbers[f"{name}_slopes"])
        axis.semilogx(grid, slopes, color=look["color"], linestyle=look["linestyle"])
        axis.plot(grid[slopes.argmax()], slopes.max(), "o", color=look["color"])
    axis.axhline(1.0, color="0.7", linewidth=0.8)
    axis.set(xlabel="ε", ylabel="slope of log S against log ε", xlim=(1e-7, 1e3))
    axis.set_title("slope; d/2 = 1", fontsize=10)


def draw_every(axis: Any, numbers: Numbers) -> None:
    """Draw the errors without tuning, one column of marks for each covariance."""
    order = np.argsort(numbers["axis_ratios"])
    ratios = np.asarray(numbers["axis_ratios"])[order]
    for name, look in LOOKS.items():
        errors = np.asarray(numbers[f"every_{name}_error"])[order]
        axis.loglog(ratios, errors, "o", color=look["color"], label=f"{name}, automatic ε")
    errors = np.asarray(numbers["every_default_error"])[order]
    axis.loglog(ratios, errors, "D", color=DEFAULT["color"], label="default method")
    axis.set(xlabel="longest over shortest axis", ylabel="mean squared error", ylim=(1e-5, 3))
    axis.set_xticks([3, 10, 30], labels=["3", "10", "30"])
    axis.set_xticks([], minor=True)
    axis.set_title("no tuning, every covariance", fontsize=10)
    axis.legend(fontsize=7, frameon=False, loc="lower right")
