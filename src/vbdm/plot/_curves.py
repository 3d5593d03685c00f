"""Pictures of numbers: how ε was chosen, and the eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import a_switch, accepts, numbers
from ..errors import InputError
from ..kernel.tuning import SlopeCurve, Tuning
from ..spectrum.spectrum import Spectrum
from ..trust.diagnose import doubtful_modes
from ..trust.error_bars import Group, width_of
from ._canvas import (
    BLUE,
    INK,
    VERMILION,
    check_axes,
    log_ticks,
    new_axes,
    operator_of,
    set_title,
    spectrum_of,
)

#: Share of the height that is added for the legend, above or below the curves.
LEGEND_ROOM = 0.35
#: How ε was chosen, in words, by the name of the rule.
RULES = {
    "degree": "enough neighbours for sparse points",
    "slope": "where the kernel's sum is steepest",
    "given": "given",
}


@accepts(ax=check_axes)
def tuning(result: Any, ax: Any = None) -> Any:
    """Draw the curves behind the choice of ε: degrees, or S(ε), and the dimension seen at each ε.

    Parameters
    ----------
    result : Operator, Spectrum, DiffusionMap or Tuning
        The result whose ε it is.
    ax : Axes, optional
        Where to draw; a second vertical axis is added at its right.

    Returns
    -------
    Axes
        Left axis, black: quantiles over the points of the degree, the number of other points
        inside the kernel (method "resolved"), or S(ε), the mean of the kernel over all pairs
        (method "paper"). Right axis, blue: 2 d log S/d log ε, the dimension seen at ε.
    """
    choice = result if isinstance(result, Tuning) else operator_of(result).tuning
    curve = choice.curve
    if curve is None:
        raise InputError(
            f"There is no curve to draw; received {choice!r}. Leave `epsilon` out, or draw "
            "vbdm.rules.tune(vbdm.neighbors(X))."
        )
    ax = new_axes(ax)
    right = ax.twinx()
    if isinstance(curve, SlopeCurve):
        ax.plot(curve.epsilons, curve.sums, ".-", color=INK, ms=4, lw=1.2)
        ax.set_yscale("log")
        ax.set_ylabel("S(ε), mean of the kernel over all pairs")
        # Each slope belongs to the interval between two grid points.
        right.stairs(2 * curve.slopes, curve.epsilons, baseline=None, color=BLUE)
    else:
        for level, degrees, style in zip(
            curve.levels, curve.quantiles, (":", "-.", "-", "--"), strict=True
        ):
            name = "median" if level == 0.5 else f"{level:.0%} quantile"
            seen = np.maximum(degrees, 1e-12)
            ax.plot(curve.epsilons, seen, style, color=INK, lw=1.2, label=name)
        highest = float(curve.quantiles.max())
        ax.set_yscale("log")
        # Degrees below a hundredth tell nothing; space above the curves is for the legend.
        ax.set_ylim(1e-2, highest * (100 * highest) ** LEGEND_ROOM)
        ax.set_ylabel("degree (points inside the kernel)")
        if choice.target is not None:
            label = f"target {choice.target:.3g}"
            ax.plot(choice.epsilon, choice.target, "o", color=VERMILION, ms=6, label=label)
        ax.legend(frameon=False, fontsize="small", loc="upper center", ncols=2, columnspacing=1,
                  handlelength=1.6)  # fmt: skip
        right.plot(curve.epsilons, 2 * curve.slopes, color=BLUE)
    ax.axvline(choice.epsilon, color=VERMILION, lw=1.2)
    ax.set_xscale("log")
    log_ticks(ax.xaxis)
    log_ticks(right.xaxis)
    log_ticks(ax.yaxis)
    ax.set_xlabel("bandwidth parameter ε")
    # ε stands in the title, where it covers no curve.
    set_title(ax, f"ε = {choice.epsilon:.3g}, {RULES.get(choice.rule, choice.rule)}")
    right.set_ylabel("dimension seen at ε", color=BLUE)
    right.tick_params(axis="y", colors=BLUE)
    right.set_ylim(0, (1.05 + LEGEND_ROOM) * 2 * float(curve.slopes.max()))
    return ax


def eigenvalues_of(truth: Any, name: str) -> FloatArray:
    """Return the eigenvalues of a truth, or those that were given, (n,)."""
    found: FloatArray = numbers(getattr(truth, "eigenvalues", truth), name)
    return found


@accepts(truth=eigenvalues_of, ax=check_axes, errors=a_switch)
def spectrum(result: Any, truth: Any = None, ax: Any = None, *, errors: bool = True) -> Any:
    """Draw the eigenvalues with their errors.

    Parameters
    ----------
    result : Spectrum or DiffusionMap
        The result that has them.
    truth : (n,) array or `vbdm.datasets.Truth`, optional
        Eigenvalues to compare with, from 0 downwards.
    ax : Axes, optional
        Where to draw.
    errors : bool
        Whether to draw intervals.

    Returns
    -------
    Axes
        Thin bars are 95 % intervals, from total errors; thick ones inside are what sampling alone
        would give. Eigenvalues too close to be told apart share a light band, the interval of the
        mean of the group, and a dark one inside, for sampling alone. Single members scatter about
        it. Hollow circles are modes on unresolved points or on a weak link: trust them less.
    """
    found = spectrum_of(result)
    ax = new_axes(ax)
    values = np.real(found.eigenvalues)
    index = np.arange(len(values), dtype=np.float64)
    if truth is not None:
        known = truth[: len(values)]
        ax.plot(index[: len(known)], known, "_", color="0.45", ms=15, mew=2, label="truth")
    # Errors are known for symmetric kernels only.
    if errors and found.operator.kernel.bandwidth.is_symmetric:
        draw_errors(ax, index, found)
    doubtful = np.isin(np.arange(len(values)), list(doubtful_modes(found)))
    ax.plot(index[~doubtful], values[~doubtful], "o", color=BLUE, ms=5, label="estimate")
    if doubtful.any():
        ax.plot(index[doubtful], values[doubtful], "o", color=BLUE, mfc="white", ms=5,
                label="estimate in doubt: sparse points")  # fmt: skip
    ax.set_xlabel("number of the eigenvalue")
    ax.set_ylabel("eigenvalue λ (1 / length²)")
    ax.xaxis.get_major_locator().set_params(integer=True)
    set_title(ax, "Spectrum")
    # The eigenvalues fill the diagonal; in a small picture the legend needs extra space below.
    low, high = ax.get_ylim()
    ax.set_ylim(low - LEGEND_ROOM * (high - low), high)
    ax.legend(fontsize="small", loc="lower left", framealpha=0.8, edgecolor="none")
    return ax


def draw_errors(ax: Any, index: FloatArray, found: Spectrum) -> None:
    """Draw 95 % intervals as bars, as bands for the means of groups, and sampling alone inside."""
    groups = [group for group in found.errors.by_group if np.isfinite(group.total_error)]
    alone = [group for group in groups if not group.is_several and group.mean != 0]
    label, inner = "95 % interval", "sampling alone"
    if alone:
        place = index[[group.members[0] for group in alone]]
        ax.vlines(place, *ends(alone), color=BLUE, lw=1.2, label=label)
        for end in ends(alone):
            ax.plot(place, end, "_", color=BLUE, ms=7, mew=1.2)
        ax.vlines(place, *sampling_ends(alone), color=BLUE, lw=3.5, label=inner)
    label, inner = "95 % interval of a group's mean", "" if alone else inner
    for group in groups:
        if group.is_several:
            place = index[[group.members[0], group.members[-1]]] + [-0.4, 0.4]
            bands = (ends, 0.25, label), (sampling_ends, 0.4, inner)
            for limits, alpha, name in bands:
                ax.fill_between(place, *limits([group]), color=BLUE, alpha=alpha, lw=0, label=name)
            label = inner = ""


def ends(groups: list[Group]) -> tuple[list[float], list[float]]:
    """Return the lower and the upper ends of the intervals of groups."""
    return [group.lower for group in groups], [group.upper for group in groups]


def sampling_ends(groups: list[Group]) -> tuple[list[float], list[float]]:
    """Return the ends of the 95 % intervals that groups would have from sampling alone."""
    half = [width_of(0.95) * group.standard_error for group in groups]
    lower = [group.mean - size for group, size in zip(groups, half, strict=True)]
    return lower, [group.mean + size for group, size in zip(groups, half, strict=True)]
