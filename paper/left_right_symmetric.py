"""Left, right and symmetric kernels on uniform grids, appendix A: three operators, two limits.

Settings of the paper: ρ(θ) = exp(cos θ) given, f = sin θ, ε = 0.1, 0.01 and 0.001, on a uniform
grid of 3000 points of the unit circle (all pairs) and on one of 62,500 points of the flat torus in
R⁴ with the 500 nearest neighbours of each point. α = 0: the sampling is uniform. Nothing is
changed. On the torus the picture shows one point for each θ; the errors are over all points.

`quick` takes 1500 points of the circle, and 22,500 of the torus with 180 neighbours: the same share
of the points, on a grid that is coarse for the narrowest kernels. The default method has no left or
right kernel and finds its own bandwidth: its curve is the Laplacian of sin θ on the same points,
without ρ, and with ``leave_one_out=False``, as is right for a grid.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from vbdm import (
    NeighborGraph,
    Paper,
    Resolved,
    VbdmWarning,
    datasets,
    estimate_operator,
    neighbors,
    progress,
)

from .base import DEFAULT, TRUTH, Claim, FloatArray, Numbers, panels, verdict

NAME = "left_right_symmetric"
TITLE = "Left, right and symmetric kernels"
CAPTION = (
    "L f for f = sin θ and ρ = exp(cos θ) by the left (top), right (middle) and symmetric (bottom) "
    "kernel on a circle (left) and a torus (right), against the limits (grey). In the top row also "
    "the default method, which is not told ρ and estimates the Laplacian."
)
FORMS = ("left", "right", "symmetric")
EPSILONS = (0.1, 0.01, 0.001)
PLACES = {"circle": 1, "torus": 2}
COLOURS = ("#0072B2", "#009E73", "#D55E00")


def compute(
    quick: bool = False, n_circle: int | None = None, n_torus: int | None = None
) -> Numbers:
    """Apply the three operators at three ε on both grids."""
    circle = datasets.circle(
        n_circle or (1500 if quick else 3000), density="uniform", offset="periodic"
    )
    torus = datasets.torus(n_torus or (22_500 if quick else 62_500), sampling="grid")
    samples = {"circle": circle, "torus": torus}
    numbers: Numbers = {}
    for done, (place, dim) in enumerate(PLACES.items()):
        sample = samples[place]
        n = len(sample.points)
        k = n if place == "circle" else round(500 * n / 62_500)
        numbers |= measure(place, neighbors(sample.points, k), sample.parameters[:, 0], dim)
        numbers[f"{place}_neighbors"] = k
        progress.report(NAME, done + 1, len(PLACES))
    return numbers


def measure(place: str, graph: NeighborGraph, angle: FloatArray, dim: int) -> Numbers:
    """Return L f for every form and ε, at one point for each angle, and the largest errors."""
    # On the torus many points share an angle: the first stands for all of them in the picture.
    _, chosen = np.unique(angle, return_index=True)
    applied = np.empty((len(FORMS), len(EPSILONS), len(chosen)))
    errors, medians, cut = (np.empty(applied.shape[:2]) for _ in range(3))
    with warnings.catch_warnings():
        # Lists that end inside the kernel are part of the paper's picture; `cut` counts them.
        warnings.simplefilter("ignore", VbdmWarning)
        for i, form in enumerate(FORMS):
            for j, epsilon in enumerate(EPSILONS):
                op = estimate_operator(
                    graph,
                    bandwidth=np.exp(np.cos(angle)),
                    dim=dim,
                    epsilon=epsilon,
                    method=Paper(alpha=0, form=form),
                )
                values = op @ np.sin(angle)
                applied[i, j] = values[chosen]
                distances = np.abs(values - limit(angle, form, dim))
                errors[i, j], medians[i, j] = distances.max(), np.median(distances)
                cut[i, j] = op.kernel.saturated
        points = np.asarray(graph.points)
        default = estimate_operator(
            points, "laplacian", method=Resolved(leave_one_out=False)
        ) @ np.sin(angle)
    return {
        f"{place}_angles": angle[chosen],
        f"{place}_applied": applied,
        f"{place}_errors": errors,
        f"{place}_medians": medians,
        f"{place}_saturated": cut,
        f"{place}_default": default[chosen],
        f"{place}_default_error": float(np.abs(default + np.sin(angle)).max()),
    }


def limit(angle: FloatArray, form: str, dim: int) -> FloatArray:
    """Return the limit: Δf for the left kernel, Δf + (d+2) ∇f·∇ρ/ρ for the other two."""
    drift = 0.0 if form == "left" else -(dim + 2) * np.sin(angle) * np.cos(angle)
    return np.asarray(-np.sin(angle) + drift)


def draw(numbers: Numbers) -> Any:
    """Draw the six panels of the paper."""
    canvas, axes = panels(3, 2, width=4.8, height=2.6)
    for column, (place, dim) in enumerate(PLACES.items()):
        angle = np.asarray(numbers[f"{place}_angles"])
        for row, form in enumerate(FORMS):
            axis = axes[row, column]
            axis.plot(angle, limit(angle, form, dim), **TRUTH)
            for j, (epsilon, colour) in enumerate(zip(EPSILONS, COLOURS, strict=True)):
                values = numbers[f"{place}_applied"][row, j]
                axis.plot(angle, values, color=colour, linewidth=1.2, label=f"ε = {epsilon:g}")
            if form == "left":
                axis.plot(angle, numbers[f"{place}_default"], **(DEFAULT | {"color": "black"}))
            axis.set_title(f"{form} kernel, {place}", fontsize=10)
            axis.set(xlabel="θ" if row == 2 else "", ylabel="L f")
    axes[0, 0].legend(fontsize=7, frameon=False, loc="upper left")
    return canvas


def claims(numbers: Numbers) -> tuple[Claim, ...]:
    """Judge the limits, and what the cut of the neighbour lists does."""
    return (
        *(judge_limit(numbers, place, form) for place in PLACES for form in FORMS),
        judge_cut(numbers),
    )


def judge_limit(numbers: Numbers, place: str, form: str) -> Claim:
    """Judge whether the error falls with ε, ending small against the limit itself."""
    dim, row = PLACES[place], FORMS.index(form)
    errors = np.asarray(numbers[f"{place}_errors"])[row]
    median = float(np.asarray(numbers[f"{place}_medians"])[row, -1])
    cut = float(np.asarray(numbers[f"{place}_saturated"])[row, -1])
    largest = float(np.abs(limit(np.linspace(0, 2 * np.pi, 721), form, dim)).max())
    falls = bool((np.diff(errors) < 0).all())
    everywhere, mostly = bool(errors[-1] < 0.1 * largest), bool(median < 0.1 * largest)
    drift = "" if form == "left" else f" + {dim + 2} ∇f·∇ρ/ρ"
    return Claim(
        f"Appendix A, figure of the three kernels, {place}",
        f"The operator of the {form} kernel tends to Δf{drift}.",
        "error of order ε",
        f"largest error at ε = 0.1, 0.01, 0.001: {errors[0]:.2g}, {errors[1]:.2g}, {errors[2]:.2g} "
        f"(the limit reaches {largest:.2g}), of order {np.log10(errors[1] / errors[2]):.2f} over "
        f"the last step; median at 0.001: {median:.2g}",
        verdict(falls and everywhere, depends=falls and mostly and not everywhere),
        "The error falls with ε everywhere."
        if cut == 0
        else f"At ε = 0.001 the lists of neighbours still end inside the kernel at {cut:.0%} of "
        "the points, where ρ is largest.",
    )


def judge_cut(numbers: Numbers) -> Claim:
    """Judge at which ε the neighbour lists of the torus cut the kernel."""
    cut = np.asarray(numbers["torus_saturated"])
    ours, whole = (float(np.max(np.asarray(numbers[f"{p}_errors"])[:, 0])) for p in PLACES)
    spoiled, harmless = cut[:, 0].min() > 0.5, cut[:, -1] < 0.01
    words = "; ".join(
        f"{form} " + ", ".join(f"{share:.0%}" for share in row)
        for form, row in zip(FORMS, cut, strict=True)
    )
    return Claim(
        "Appendix A, figure of the three kernels, torus",
        "Keeping 500 neighbours spoils the result for large ε and does nothing for small ε.",
        "degrades at large ε, no effect as ε becomes small",
        f"share of points whose list ends inside the kernel at ε = 0.1, 0.01, 0.001: {words}; "
        f"largest error at 0.1: torus {whole:.2g}, circle with all pairs {ours:.2g}",
        verdict(bool(spoiled and harmless.all()), depends=bool(spoiled and not harmless.all())),
        "Inside the kernel means above a thousandth of its peak, at the k-th neighbour. The "
        "symmetric kernel is the widest where ρ is large, and would need a smaller ε there.",
    )
