"""Pictures of curves: how ε was chosen, and the eigenvalues."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..bandwidth.curves import DegreeCurve, KeptCurve, SlopeCurve
from ..bandwidth.tuning import Tuning
from ..base.arrays import BoolArray, FloatArray
from ..base.errors import bad_input
from ..spectrum.spectrum import Spectrum
from ..trust.diagnose import doubtful_modes
from ._canvas import BLUE, INK, VERMILION, new_axes, operator_of, spectrum_of

#: Share of the height that is added above the curves, for their legend.
LEGEND_ROOM = 0.35
#: By what ε was chosen, in words.
RULES = {
    "degree": "enough neighbours for sparse points",
    "slope": "where S is steepest",
    "given": "given",
}


def tuning(result: Any, ax: Any = None) -> Any:
    """Draw what ε was chosen by: how many points the kernel averages, and the dimension it sees.

    Parameters
    ----------
    result : Operator, Spectrum, DiffusionMap or Tuning
        Whose ε.
    ax : Axes, optional
        Where to draw; a second vertical axis is added at its right.

    Returns
    -------
    Axes
        Left, black: quantiles over the points of the degree, the number of others inside the
        kernel (resolved), or S(ε), the mean of the kernel over all pairs (paper). Right, blue:
        2 d log S/d log ε, which is the dimension where ε is well chosen.
    """
    choice = result if isinstance(result, Tuning) else operator_of(result).tuning
    curve = choice.curve
    if curve is None:
        raise bad_input(
            "There is no curve to draw.",
            received=repr(choice),
            because="Whoever chose this ε looked at no other.",
            hint="Leave `epsilon` out, or draw vbdm.tune(vbdm.neighbors(X)).",
        )
    ax = new_axes(ax)
    right = ax.twinx()
    if isinstance(curve, SlopeCurve):
        draw_sums(ax, curve)
        # Each slope belongs to the step between two grid points.
        right.stairs(2 * curve.slopes, curve.epsilons, baseline=None, color=BLUE)
    else:
        draw_degrees(ax, curve, choice)
        right.plot(curve.epsilons, 2 * curve.slopes, color=BLUE)
    ax.axvline(choice.epsilon, color=VERMILION, lw=1.2)
    ax.set_xscale("log")
    ax.set_xlabel("bandwidth parameter ε")
    # In the title, where it covers no curve.
    ax.set_title(
        f"ε = {choice.epsilon:.3g}, {RULES.get(choice.rule, choice.rule)}", fontsize="medium"
    )
    right.set_ylabel("dimension seen at ε", color=BLUE)
    right.tick_params(axis="y", colors=BLUE)
    right.set_ylim(0, (1.05 + LEGEND_ROOM) * 2 * float(curve.slopes.max()))
    return ax


def draw_degrees(ax: Any, curve: DegreeCurve | KeptCurve, choice: Tuning) -> None:
    """Draw quantiles of the degrees, and what the lowest was set to."""
    for level, degrees, style in zip(
        curve.levels, curve.quantiles, (":", "-.", "-", "--"), strict=True
    ):
        name = "median" if level == 0.5 else f"{level:.0%} quantile"
        ax.plot(curve.epsilons, np.maximum(degrees, 1e-12), style, color=INK, lw=1.2, label=name)
    highest = float(curve.quantiles.max())
    ax.set_yscale("log")
    # Below a hundredth of a neighbour there is nothing to see; above, there is room for the legend.
    ax.set_ylim(1e-2, highest * (100 * highest) ** LEGEND_ROOM)
    ax.set_ylabel("degree (points inside the kernel)")
    if choice.target is not None:
        label = f"target {choice.target:.3g}"
        ax.plot(choice.epsilon, choice.target, "o", color=VERMILION, ms=6, label=label)
    ax.legend(
        frameon=False,
        fontsize="small",
        loc="upper center",
        ncols=2,
        columnspacing=1,
        handlelength=1.6,
    )


def draw_sums(ax: Any, curve: SlopeCurve) -> None:
    """Draw S(ε)."""
    ax.plot(curve.epsilons, curve.sums, ".-", color=INK, ms=4, lw=1.2)
    ax.set_yscale("log")
    ax.set_ylabel("S(ε), mean of the kernel over all pairs")


def spectrum(result: Any, truth: Any = None, ax: Any = None, *, errors: bool = True) -> Any:
    """Draw the eigenvalues with their errors.

    Parameters
    ----------
    result : Spectrum or DiffusionMap
        Whose eigenvalues.
    truth : (n,) array or `vbdm.datasets.Truth`, optional
        Eigenvalues to compare with, 0 first.
    ax : Axes, optional
        Where to draw.
    errors : bool
        Whether to draw standard errors.

    Returns
    -------
    Axes
        Bars are two standard errors to either side, sampling alone. Eigenvalues too close to be
        told apart share a band, the mean of the group and its two standard errors: single members
        scatter about it. Hollow circles rest on unresolved points or on a thin link: trust them
        less.
    """
    found = spectrum_of(result)
    ax = new_axes(ax)
    values = np.real(found.eigenvalues)
    index = np.arange(len(values), dtype=np.float64)
    if truth is not None:
        known = np.real(np.asarray(getattr(truth, "eigenvalues", truth)))[: len(values)]
        ax.plot(index[: len(known)], known, "_", color="0.45", ms=15, mew=2, label="truth")
    # The errors of the unsymmetric forms are not known.
    if errors and found.operator.kernel.bandwidth.is_symmetric:
        draw_errors(ax, index, values, found)
    doubtful = doubts(found)
    ax.plot(index[~doubtful], values[~doubtful], "o", color=BLUE, ms=5, label="estimate")
    if doubtful.any():
        ax.plot(index[doubtful], values[doubtful], "o", color=BLUE, mfc="white", ms=5,
                label="estimate in doubt: sparse points")  # fmt: skip
    ax.set_xlabel("number of the eigenvalue")
    ax.set_ylabel("eigenvalue λ (1 / length²)")
    ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set_title("Spectrum", fontsize="medium")
    # Eigenvalues fill the diagonal: in a small picture only room below is free.
    low, high = ax.get_ylim()
    ax.set_ylim(low - LEGEND_ROOM * (high - low), high)
    ax.legend(fontsize="small", loc="lower left", framealpha=0.8, edgecolor="none")
    return ax


def draw_errors(ax: Any, index: FloatArray, values: FloatArray, found: Spectrum) -> None:
    """Draw bars of two standard errors, and bands for the means of groups."""
    spread = 2 * np.nan_to_num(found.standard_errors)
    alone = np.array([group[0] for group in found.groups if len(group) == 1], dtype=np.intp)
    ax.errorbar(index[alone], values[alone], spread[alone], fmt="none", color=BLUE, capsize=3,
                lw=1.2, label="± 2 standard errors")  # fmt: skip
    label = "mean of a group ± 2 standard errors"
    for group in found.groups:
        if len(group) > 1:
            mean, reach = values[group].mean(), spread[group[0]]
            ax.fill_between([index[group[0]] - 0.4, index[group[-1]] + 0.4], mean - reach,
                            mean + reach, color=BLUE, alpha=0.25, lw=0, label=label)  # fmt: skip
            label = ""


def doubts(found: Spectrum) -> BoolArray:
    """Tell which modes are doubtful: those on unresolved points or on a thin link."""
    return np.isin(np.arange(len(found.eigenvalues)), list(doubtful_modes(found)))
