"""Draw the pictures of the pages about the method into docs/images/method.

Usage: python docs/make_pictures.py [NAME ...]      (some 30 seconds for all of them)
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import vbdm

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent / "images" / "method"
#: Colours that people with any colour vision tell apart (Okabe and Ito).
INK, BLUE, VERMILION, GREEN, GREY = "#333333", "#0072B2", "#D55E00", "#009E73", "0.75"
PICTURES: dict[str, Callable[[], Any]] = {}


def picture(draw: Callable[[], Any]) -> Callable[[], Any]:
    """Register a function that returns a figure; its name is the file's."""
    PICTURES[draw.__name__] = draw
    return draw


def panels(n: int, width: float = 4.4, height: float = 3.5, **options: Any) -> tuple[Any, Any]:
    """Return a figure with n panels side by side."""
    return plt.subplots(1, n, figsize=(n * width, height), layout="constrained", **options)


def draw_circles(ax: Any, centres: Any, radii: Any, color: str) -> None:
    """Draw circles around some points."""
    for centre, radius in zip(centres, radii, strict=True):
        ax.add_patch(plt.Circle(centre, radius, fill=False, color=color, lw=1.3))
        ax.plot(*centre, ".", color=color, ms=6)


def some_rows(points: Any) -> Any:
    """Return a few rows from the middle of the cloud to its edge."""
    distance = np.linalg.norm(points, axis=1)
    places = [(0, 0), (1.3, 0.4), (-1.4, -1.2), (0.3, 2.2), (-2.4, 0.6), (2.5, -1.4)]
    nearest = [int(np.argmin(np.linalg.norm(points - place, axis=1))) for place in places]
    return [*nearest, int(np.argmax(distance))]


@picture
def graph() -> Any:
    """Draw neighbours: far where points are few, and around the edge of a period."""
    figure, (left, right) = panels(2)
    points = vbdm.datasets.ou(1500, dim=2, random_state=1).points
    found = vbdm.neighbors(points, 32)
    rows = some_rows(points)
    left.plot(*points.T, ".", color=GREY, ms=3)
    draw_circles(left, points[rows], np.sqrt(found.sqdist[rows, -1]), BLUE)
    left.set(title="31 nearest neighbours of seven points", aspect="equal")
    angles = np.random.default_rng(0).uniform(0, 360, (250, 2))
    box = vbdm.neighbors(angles, 20, period=360)
    right.plot(*angles.T, ".", color=GREY, ms=4)
    for row, color in ((np.argmax(angles[:, 0]), VERMILION), (40, BLUE)):
        right.plot(*angles[box.indices[row, 1:]].T, ".", color=color, ms=6)
        right.plot(*angles[row], "*", color=color, ms=13)
    right.set(title="two angles, period=360", xlabel="degrees", ylabel="degrees", aspect="equal")
    right.set(xlim=(0, 360), ylim=(0, 360), xticks=[0, 180, 360], yticks=[0, 180, 360])
    return figure


@picture
def dimension() -> Any:
    """Draw the estimate against the number of neighbours that it looks at."""
    from vbdm.kernel.dimension import ByRatios

    figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
    sets = vbdm.datasets
    samples = (
        ("3-sphere", sets.sphere(4000, dim=3, random_state=0), BLUE, 3),
        ("torus", sets.torus(4000, random_state=0), GREEN, 2),
        ("ellipse", sets.ellipse(4000, random_state=0), INK, 1),
        (
            "circle with noise .01 in 10 columns",
            sets.noisy_circle(4000, random_state=0),
            VERMILION,
            0,
        ),
    )
    scales = [4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192]
    for name, sample, color, truth in samples:
        found = vbdm.neighbors(sample.points, 200)
        read = [ByRatios(k).estimate(found, np.empty(0)).value for k in scales]
        ax.plot(scales, read, ".-", color=color, label=name)
        if truth:
            ax.axhline(truth, color=color, lw=0.8, ls=":")
    ax.axvline(32, color=GREY, lw=1)
    ax.set(xscale="log", xlabel="neighbours looked at (32 in use)", ylabel="dimension read")
    ax.set_xticks([4, 8, 16, 32, 64, 128], ["4", "8", "16", "32", "64", "128"])
    ax.legend(frameon=False, fontsize="small")
    return figure


@picture
def bandwidth() -> Any:
    """Draw one width for all points, and one for each."""
    figure, axes = panels(2, sharex=True, sharey=True)
    points = vbdm.datasets.ou(1500, dim=2, random_state=1).points
    for ax, beta, name in zip(axes, (0, None), ("β = 0: one width", "β = -1/2"), strict=True):
        op = vbdm.estimate_operator(points, "generator", bandwidth=vbdm.rules.PowerOfDensity(beta))
        rows = some_rows(points)
        ax.plot(*points.T, ".", color=GREY, ms=3)
        draw_circles(ax, points[rows], op.widths[rows], BLUE)
        ax.set(title=name, aspect="equal")
    return figure


@picture
def tuning() -> Any:
    """Draw why this ε: degrees, and the slope of S."""
    figure, (left, right) = panels(2, width=5.2, height=3.9)
    points = vbdm.datasets.ou(3000, dim=2, random_state=0).points
    vbdm.plot.tuning(vbdm.estimate_operator(points, "generator"), ax=left)
    vbdm.plot.tuning(vbdm.estimate_operator(points, "generator", method="paper"), ax=right)
    left.text(0.02, 0.02, "default", transform=left.transAxes)
    right.text(0.02, 0.02, 'method="paper"', transform=right.transAxes)
    return figure


@picture
def kernel() -> Any:
    """Draw shapes, and the density that the kernel measures."""
    figure, (left, right) = panels(2)
    s = np.linspace(0, 36, 400)
    for (name, shape), color in zip(
        vbdm.shapes.SHAPES.items(), (INK, BLUE, VERMILION), strict=True
    ):
        left.plot(np.sqrt(s), shape(s), color=color, label=name)
    left.axvline(np.sqrt(4 * np.log(1000)), color=GREY, lw=1)
    left.text(np.sqrt(4 * np.log(1000)) + 0.05, 0.6, "cut", color="0.4", rotation=90)
    left.set(xlabel="distance over √(ε ρ(x) ρ(y))", ylabel="h", title="shape functions")
    left.legend(frameon=False)
    sample = vbdm.datasets.ou(4000, dim=3, random_state=0)
    op = vbdm.estimate_operator(sample.points, "generator")
    right.loglog(sample.density, op.density, ".", ms=2, color=BLUE)
    ends = [sample.density.min(), sample.density.max()]
    right.loglog(ends, ends, color=INK, lw=1)
    right.set(xlabel="true density", ylabel="estimate", title="normal in space, 4,000 points")
    return figure


@picture
def operator() -> Any:
    """Draw the operator applied to a function, beside the truth, at two ε."""
    figure, axes = panels(2, sharey=True)
    sample = vbdm.datasets.circle(3000, sampling="random", random_state=0)
    angle = sample.parameters[:, 0]
    t = np.linspace(0, 2 * np.pi, 400)
    truth = -np.sin(t) - np.cos(t) * np.sin(t) / (2 + np.cos(t))
    narrow = vbdm.estimate_operator(sample.points, "generator")
    wide = vbdm.estimate_operator(sample.points, "generator", epsilon=64 * narrow.epsilon)
    for ax, op, name in zip(axes, (narrow, wide), ("automatic ε", "64 times that"), strict=True):
        values, deviation = op.apply(np.sin(angle), return_std=True)
        ax.plot(angle, values, ".", ms=2, color=BLUE, label="op @ np.sin(angle)")
        ax.plot(t, truth, color=VERMILION, label="truth")
        typical = np.median(deviation)
        ax.set(xlabel="angle", title=f"{name}: typical return_std {typical:.2f}", ylim=(-3, 3))
    axes[0].legend(frameon=False, markerscale=4, loc="lower right", fontsize="small")
    axes[0].set_ylabel("L f")
    return figure


@picture
def spectrum() -> Any:
    """Draw eigenvalues with and without the limiter."""
    figure, (left, right) = panels(2)
    sample = vbdm.datasets.ou(10_000, dim=2, random_state=0)
    truth = sample.truth(10).eigenvalues
    on = vbdm.estimate_operator(sample.points, "generator").spectrum(10)
    off = vbdm.estimate_operator(
        sample.points, "generator", method=vbdm.Resolved(limiter=False)
    ).spectrum(10)
    paper = vbdm.estimate_operator(sample.points, "generator", method="paper").spectrum(10)
    number = np.arange(10)
    left.plot(number, truth, "_", color="0.5", ms=16, mew=2, label="truth")
    left.plot(number, paper.eigenvalues, "x", color=VERMILION, label="paper's settings")
    left.plot(number, off.eigenvalues, "s", color=GREEN, ms=4, label="default without limiter")
    left.plot(number, on.eigenvalues, "o", color=BLUE, ms=4, label="default")
    left.set(xlabel="number", ylabel="eigenvalue", title="OU in the plane, 10,000 points")
    left.legend(frameon=False, fontsize="small")
    mode = np.abs(paper.eigenfunctions[:, 1]) > 3
    right.plot(*sample.points.T, ".", color=GREY, ms=1.5)
    right.plot(*sample.points[on.unresolved].T, ".", color=BLUE, ms=5, label="unresolved points")
    right.plot(
        *sample.points[mode].T, "x", color=VERMILION, ms=7, label="paper's first mode lives here"
    )
    right.set(title="where it goes wrong", aspect="equal", ylim=(-5.2, 6.5))
    right.legend(frameon=False, fontsize="small", loc="upper left")
    return figure


@picture
def error_bars() -> Any:
    """Draw what the error bars predict, and what fresh samples do."""
    figure, axes = panels(2)
    cases = (
        (
            "OU in the plane, generator",
            lambda seed: vbdm.datasets.ou(1500, dim=2, random_state=seed),
            6,
        ),
        (
            "uneven sphere, Laplacian",
            lambda seed: vbdm.datasets.sphere(1500, axes=(1, 0.6, 0.4), random_state=seed),
            9,
        ),
    )
    for ax, (title, draw, n) in zip(axes, cases, strict=True):
        values, errors, totals, truth = spread(draw, n)
        number = np.arange(n)
        for row in values:
            ax.plot(number - 0.16, row, ".", color=GREY, ms=4)
        middle = values.mean(axis=0)
        ax.errorbar(number + 0.1, middle, totals, fmt="none", capsize=3, lw=1, color=BLUE,
                    label="their mean, 95 % interval of one sample")  # fmt: skip
        ax.errorbar(number + 0.1, middle, 1.96 * errors, fmt="o", ms=4, lw=3, color=BLUE,
                    label="sampling alone")  # fmt: skip
        ax.plot(number, truth, "_", color=INK, ms=18, mew=1.5, label="truth")
        ax.plot([], [], ".", color=GREY, label="24 samples of 1,500 points")
        ax.set(title=title, xlabel="number", ylabel="eigenvalue (mean of its group)")
        ax.legend(frameon=False, fontsize="small")
    return figure


def spread(draw: Callable[[int], Any], n: int) -> tuple[Any, Any, Any, Any]:
    """Return eigenvalues over 24 samples, sampling errors, half-widths of intervals, and the truth.

    Errors and half-widths are root mean squares over the samples.
    """
    truth = draw(0).truth(n)
    values, errors, halves = [], [], []
    for seed in range(24):
        sample = draw(seed)
        found = vbdm.estimate_operator(sample.points, sample.operator).spectrum(n)
        row, error, half = found.eigenvalues.copy(), np.zeros(n), np.zeros(n)
        for group in truth.groups:
            row[group] = row[group].mean()
            if group[0] > 0:
                error[group] = found.errors.of_group(group)
                half[group] = row[group[0]] - found.errors.interval_of_group(group)[0]
        values.append(row)
        errors.append(error)
        halves.append(half)
    sizes = (np.sqrt(np.mean(np.square(table), axis=0)) for table in (errors, halves))
    return np.array(values), *sizes, truth.eigenvalues


@picture
def extension() -> Any:
    """Draw an eigenfunction at new points, and how far the data reaches."""
    figure, axes = panels(2, sharex=True, sharey=True)
    points = vbdm.datasets.ou(3000, dim=2, covariance=[[1, 0.6], [0.6, 1]], random_state=0).points
    op = vbdm.estimate_operator(points, "generator")
    found = op.spectrum(3)
    side = np.linspace(-5, 5, 161)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    new = vbdm.extend(found, grid)
    options = {"cmap": "coolwarm", "vmin": -2.5, "vmax": 2.5}
    axes[0].scatter(*points.T, c=found.eigenfunctions[:, 1], s=3, **options)
    axes[0].set(title="first eigenfunction on 3,000 points", aspect="equal")
    axes[1].imshow(
        new.values[:, 1].reshape(161, 161), origin="lower", extent=(-5, 5, -5, 5), **options
    )
    lowest = np.quantile(op.density, 0.01)
    axes[1].contour(side, side, new.density.reshape(161, 161), [lowest], colors=INK, linewidths=1)
    axes[1].set(title="at new points; line: density of the sparsest 1 %", aspect="equal")
    return figure


@picture
def operators() -> Any:
    """Draw the same points under two operators."""
    figure, (left, right) = panels(2)

    def two_lumps(t: Any) -> Any:
        return np.exp(1.6 * np.cos(2 * t))

    sample = vbdm.datasets.circle(3000, density=two_lumps, sampling="random", random_state=0)
    angle = sample.parameters[:, 0]
    left.hist(angle, bins=60, color=GREY)
    left.set(title="where the points are on the circle", xlabel="angle", ylabel="points")
    for name, color in (("laplacian", BLUE), ("generator", VERMILION)):
        found = vbdm.estimate_operator(sample.points, name).spectrum(3)
        values = found.eigenfunctions[:, 1]
        label = f"{name}: λ = {found.eigenvalues[1]:.2f}, {found.eigenvalues[2]:.2f}"
        right.plot(
            angle, values * np.sign(values @ np.cos(angle)), ".", ms=2, color=color, label=label
        )
    right.set(xlabel="angle", title="first eigenfunction", ylim=(-1.9, 2.4))
    right.legend(frameon=False, markerscale=5, fontsize="small", loc="upper center")
    return figure


@picture
def opinions() -> Any:
    """Draw eigenvalues against ε, with error bars."""
    figure, axes = panels(2)
    cases = (
        (
            "uneven sphere, 3,000 points",
            vbdm.datasets.sphere(3000, axes=(1, 0.6, 0.4), random_state=0),
        ),
        ("OU in the plane, 3,000 points", vbdm.datasets.ou(3000, dim=2, random_state=0)),
    )
    for ax, (title, sample) in zip(axes, cases, strict=True):
        op = vbdm.estimate_operator(sample.points, sample.operator)
        found = vbdm.second_opinion(op, n=6)
        for j in range(5):
            ax.errorbar(
                found.epsilons,
                found.eigenvalues[:, j],
                2 * found.standard_errors[:, j],
                fmt=".-",
                ms=4,
                capsize=2,
                lw=1,
                color=BLUE,
            )
        for value in sample.truth(6).eigenvalues[1:]:
            ax.axhline(value, color=INK, lw=0.7, ls=":")
        # A little apart, so that equal choices do not cover each other.
        ax.axvline(found.epsilon, color=VERMILION, label="in use")
        ax.axvline(1.03 * found.stationary, color=GREEN, label="steadiest")
        ax.axvline(0.97 * found.balanced, color=GREY, label="balanced")
        ax.set(xscale="log", title=title, xlabel="ε", ylabel="eigenvalues (dotted: truth)")
        ax.legend(frameon=False, fontsize="small")
    return figure


def main(names: list[str]) -> None:
    """Draw the pictures with these names, or all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore", vbdm.VbdmWarning)
    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False, "font.size": 10})
    for name in names or PICTURES:
        figure = PICTURES[name]()
        figure.savefig(FOLDER / f"{name}.png", dpi=110)
        plt.close(figure)


if __name__ == "__main__":
    main(sys.argv[1:])
