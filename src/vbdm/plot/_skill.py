"""A picture of how good forecasts are: errors, correlation, coverage, and reliability."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import accepts, an
from ..errors import InputError
from ..forecast.record import column_of
from ..forecast.skill import Skill
from ..forecast.words import independent, mean_over_columns, weights_of_leads
from ._canvas import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    PURPLE,
    VERMILION,
    check_axes,
    import_pyplot,
    set_title,
)
from ._clouds import listed

#: Colours and lines of the methods, in the order of `skill.methods`.
STYLES = ((BLUE, "o-"), (INK, "--"), (VERMILION, "s-"), (GREEN, "^-"))
#: Coverage that is asked for, its name, and its colour.
NOMINAL = ((0.9, "coverage90", BLUE), (0.5, "coverage50", PURPLE))
#: Standard deviations on both sides that hold 95 % of what chance does.
CHANCE = 1.96


@accepts(skill=an(Skill, "Pass model.skill(series), or model.skill_."))
def skill(skill: Any, *, column: int | str | None = None, axes: Any = None) -> Any:
    """Draw scores against the lead, and how reliable probabilities are.

    Parameters
    ----------
    skill : Skill
        From `model.skill(series)`, or `model.skill_`.
    column : int or str, optional
        Number or name of a column; by default the mean over all.
    axes : sequence of four Axes, optional
        Where to draw.

    Returns
    -------
    (4,) array of Axes
        Errors and correlation of the forecast and of the references; of several columns, errors
        over those of climatology. Shares of what came inside intervals of 50 and 90 %, with the
        band that chance explains. Shares of what came in each tenth of the forecast: level, if
        probabilities are right; high at both ends, if intervals are too narrow.

    Notes
    -----
    Forecasts whose leads overlap are not independent: at lead ℓ, n of them count as n/ℓ.
    """
    own = slice(None)
    if column is not None:
        j = column_of(column, skill.names)
        own = slice(j, j + 1)
    names = skill.names[own]
    if axes is None:
        new = import_pyplot().subplots(2, 2, figsize=(9.2, 6.8), layout="constrained")[1]
        panels = list(new.flat)
    else:
        panels = [check_axes(panel, "axes") for panel in listed(axes)]
    if len(panels) != 4:
        raise InputError(
            f"`axes` must be four axes; received {len(panels)}. Pass plt.subplots(2, 2)[1]."
        )
    draw_scores(panels[0], skill, "rmse", own)
    unit = f" of {names[0]}, in its unit" if len(names) == 1 else " over that of climatology"
    panels[0].set_ylabel(f"RMSE{unit}")
    panels[0].set_ylim(bottom=0)
    set_title(panels[0], "Error of the mean")
    panels[0].legend(fontsize="small", framealpha=0.8, edgecolor="none")
    draw_scores(panels[1], skill, "acc", own)
    panels[1].axhline(0, color=FAINT, lw=0.8, zorder=0)
    panels[1].set_ylabel("anomaly correlation")
    set_title(panels[1], "Correlation with what came")
    draw_coverage(panels[2], skill, own)
    draw_histogram(panels[3], skill, own)
    for panel in panels[:3]:
        panel.set_xlabel("lead (steps)")
        panel.xaxis.get_major_locator().set_params(integer=True)
    return np.array(panels)


def draw_scores(ax: Any, skill: Skill, measure: str, own: slice) -> None:
    """Draw one measure of all methods against the lead."""
    table = mean_over_columns(skill, measure, own)
    for name, (color, style), values in zip(skill.methods, STYLES, table, strict=True):
        if np.isfinite(values).any():
            wide = 1.8 if name == "forecast" else 1.1
            ax.plot(skill.leads, values, style, color=color, lw=wide, ms=4, label=name)


def draw_coverage(ax: Any, skill: Skill, own: slice) -> None:
    """Draw shares of what came inside intervals, beside those that were asked for."""
    for nominal, measure, color in NOMINAL:
        half = CHANCE * chance(skill, nominal)
        low, high = (np.clip(nominal + sign * half, 0.0, 1.0) for sign in (-1, 1))
        ax.fill_between(skill.leads, low, high, color=color, alpha=0.15, lw=0)
        ax.axhline(nominal, color=color, lw=0.9, ls="--")
        values = mean_over_columns(skill, measure, own)[0]
        label = f"{100 * nominal:.0f} % interval"
        ax.plot(skill.leads, values, "o-", color=color, lw=1.8, ms=4, label=label)
    ax.set_ylim(0, 1.05)
    ax.set_ylabel("share of what came inside")
    set_title(ax, "Coverage of intervals; bands: 95 % by chance")
    ax.legend(fontsize="small", framealpha=0.8, edgecolor="none", loc="lower left")


def draw_histogram(ax: Any, skill: Skill, own: slice) -> None:
    """Draw shares of what came in each tenth of the forecast, in the mean over leads.

    A lead counts for as much as it knows: by its number of independent forecasts. The band is one
    for leads that depend on each other entirely, so it is rather too wide.
    """
    weights = weights_of_leads(skill)
    shares = weights @ skill.histogram[:, own].mean(axis=1)
    classes = len(shares)
    level = 1 / classes
    half = CHANCE * float(weights @ chance(skill, level))
    edges = np.linspace(0, 1, classes + 1)
    ax.axhspan(max(0.0, level - half), level + half, color=INK, alpha=0.12, lw=0, zorder=0)
    ax.axhline(level, color=INK, lw=0.9, ls="--", zorder=0)
    ax.stairs(shares, edges, fill=True, color=BLUE, alpha=0.3)
    ax.stairs(shares, edges, color=BLUE, lw=1.4)
    ax.set_xlim(0, 1)
    ax.set_ylim(0, max(2 * level, 1.15 * float(shares.max())))
    ax.set_xlabel("probability below what came, F(y)")
    ax.set_ylabel("share of forecasts")
    set_title(ax, "Reliability over all leads; level is best")


def chance(skill: Skill, share: float) -> FloatArray:
    """Return the standard deviation of a share at each lead, (L,), as far as it is by chance."""
    return np.asarray(np.sqrt(share * (1 - share) / independent(skill)))
