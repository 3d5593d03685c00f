"""Checks of an operator. Each looks at one thing and returns a finding; None: it does not apply."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import theory
from ..base.arrays import BoolArray, FloatArray, to_host
from ..base.wording import listed, minus, percent, with_error
from ..errors import (
    DensityTailWarning,
    NoiseWarning,
    SaturatedNeighborsWarning,
    ScaleWarning,
    UnboundedErrorWarning,
    WeightsWarning,
)
from ..graph.build import LOW_RECALL, recall_in_words
from ..kernel.scaled import MOST_NEIGHBORS
from ..operator.operator import Operator
from ..operator.sums import in_potential
from .edge import edge_of
from .findings import Finding, Light
from .series import regularity

#: Share of points whose lists end inside the kernel up to which the light is green, and amber.
SATURATED, MOST_SATURATED = 0.05, 0.3
#: Ratio of the largest to the smallest density above which growing errors matter.
WIDE_SPAN = 1000.0
#: A dimension that changes by more than this share with the scale is doubtful.
DRIFT = 0.25
#: Regularity (see `regularity`) above which points are not random: grids have 0.94 to 1, random
#: points 0.4 to 0.6, noise in ten columns around a curve up to 0.72.
EVEN = 0.85
#: Operators with a c1 up to this count as Laplacians.
NEARLY_LAPLACIAN = 0.05
#: A density bounded away from 0 has its lowest quantiles close together; one that falls towards 0
#: has them far apart: for Gaussians, those at 5 % and 0.2 % differ by a factor of 4 to 30,
#: on compact manifolds, densities that vary by a factor of 7 among them, of at most 2.8. The
#: light is red from TAIL_RATIO on; fewer points than TAIL_POINTS cannot tell.
TAIL_RATIO, TAIL_QUANTILES, TAIL_POINTS = 4.0, (0.05, 0.002), 200

#: Weights that leave fewer effective points than this, or than this share, are doubtful.
FEW_EFFECTIVE, SMALL_SHARE = 100.0, 0.01


def neighbor_lists(operator: Operator) -> Finding:
    """Judge whether the lists of neighbours reach as far as the kernel."""
    share, k, name = operator.kernel.saturated, operator.n_neighbors, "Neighbour lists"
    if operator.kernel.by_reach:
        words = (
            "There are no lists: the kernel has all pairs within its reach, "
            f"{k} per point on average, so nothing can end inside it."
        )
        return Finding(name, "green", words, share, SATURATED)
    if share <= SATURATED:
        words = f"{k} neighbours per point hold the kernel at {percent(1 - share)} of the points."
        return Finding(name, "green", words, share, SATURATED)
    light: Light = "red" if share > MOST_SATURATED else "amber"
    words = (
        f"At {percent(share)} of the points the {k} nearest neighbours end before the kernel has "
        f"decayed, so the operator is too small there. {remedy(operator)}"
    )
    return Finding(name, light, words, share, SATURATED, SaturatedNeighborsWarning)


def remedy(operator: Operator) -> str:
    """Say what helps against lists that end too early: who set their length decides."""
    k, points = operator.n_neighbors, operator.graph.point_set.coordinates
    asked = "n_neighbors" in operator.settings.given
    if points is None and operator.graph.longest <= k and not asked:
        return (
            f"Of each point only {k - 1} distances were given: eigenvalues may come out too small "
            "by a large factor. Give more distances per point, the whole matrix, or the points."
        )
    if k <= MOST_NEIGHBORS or asked or points is None:
        return "Raise `n_neighbors`, or lower `epsilon`."
    return (
        f"These are the longest lists that are made: in {operator.dim:.0f} dimensions none would "
        "do. Reduce the columns to those that matter (`pca`, or `tica` for a series), or lower "
        "`epsilon`."
    )


def search_recall(operator: Operator) -> Finding | None:
    """Judge an approximate search, which has warned already when the graph was built."""
    recall = operator.graph.recall
    if recall is None:
        return None
    light: Light = "green" if recall >= LOW_RECALL else "amber" if recall >= 0.8 else "red"
    return Finding("Neighbour search", light, recall_in_words(recall), recall, LOW_RECALL)


def error_exponents(operator: Operator) -> Finding | None:
    """Judge by the theory whether the sampling error stays bounded where data is sparse."""
    if operator.settings.exponents.beta is None:
        return None
    name, beta, d = "Error exponents", operator.settings.exponents.beta, operator.dim
    exponent = theory.c2(operator.settings.exponents.alpha, beta, d)
    if theory.bounded(operator.settings.exponents.alpha, beta, d):
        words = (
            f"With β = {minus(beta)} in dimension {d:.2g} the sampling error stays bounded where "
            f"the density q is sparse: there it goes like q to the power {minus(-exponent)}."
        )
        return Finding(name, "green", words, exponent, 0.0)
    pilot = operator.inside.pilot.density
    span = float(pilot.max() / pilot.min())
    words = (
        f"With β = {minus(beta)} in dimension {d:.2g} the sampling error grows without bound where "
        f"the data is sparse, and the density varies {span:,.0f} fold. Use the default "
        "`bandwidth`, or a negative β."
    )
    if span <= WIDE_SPAN:
        return Finding(name, "amber", words, exponent, 0.0)
    return Finding(name, "red", words, exponent, 0.0, UnboundedErrorWarning)


def columns(operator: Operator) -> Finding | None:
    """Judge whether a few columns, by their units, hide all others."""
    found, name = scales_of(operator), "Columns"
    if found is None:
        return None
    if not found.hide_others:
        words = "No column hides the others by its scale."
        return Finding(name, "green", words, found.share, NEARLY_ALL)
    wide = found.wide
    which = f"column {wide[0]} has" if len(wide) == 1 else f"columns {listed(wide)} have"
    share = "more than 99.9 %" if found.share > 0.999 else f"{100 * found.share:.1f} %"
    words = (
        f"Of {found.n_columns} columns, {which} {share} of all squared distances (the first column "
        "is number 0). The others vary less than the kernel is wide, and hardly count. If the "
        "columns have different units, bring them to one scale: X / X.std(axis=0), or "
        "`standardize` where a file is read."
    )
    return Finding(name, "amber", words, found.share, NEARLY_ALL, ScaleWarning)


def dimension(operator: Operator) -> Finding:
    """Judge the dimension; one that grows towards small scales is a sign of noise."""
    found, name = operator.dimension, "Dimension"
    size = with_error(found.value, found.standard_error)
    readings = found.by_scale
    if readings is None:
        words = f"The dimension in use is {size}; it was not checked at other scales."
        return Finding(name, "green", words, found.value)
    if found.drift < DRIFT:
        words = f"The dimension is {size} and depends little on the scale."
        return Finding(name, "green", words, found.drift, DRIFT)
    if readings[0] < readings[-1]:
        words = (
            f"The dimension depends on the scale: {readings.min():.1f} to {readings.max():.1f}. If "
            "you know it, give `dim`."
        )
        return Finding(name, "amber", words, found.drift, DRIFT)
    words = (
        f"The dimension depends on the scale: {readings[0]:.1f} from the nearest neighbours, "
        f"{readings[-1]:.1f} from more of them, {operator.tuning.dim:.1f} at the kernel's own "
        "scale. Noise around a manifold does this. If you know the dimension, give `dim`."
    )
    return Finding(name, "amber", words, found.drift, DRIFT, NoiseWarning)


def spacing(operator: Operator) -> Finding | None:
    """Judge whether the points are random, or spaced regularly as on a grid."""
    evenness, name = regularity(operator.graph), "Spacing"
    if evenness is None:
        return None
    if evenness <= EVEN:
        words = "The points are spaced irregularly, as random points are."
        return Finding(name, "green", words, evenness, EVEN)
    advice = []
    if operator.kernel.leave_one_out:
        advice.append("pass method=vbdm.Resolved(leave_one_out=False)")
    if operator.dimension.by_scale is not None:
        advice.append("give `dim`")
    found = "The points are spaced regularly"
    if not advice:
        words = f"{found}. The error bars are for random points, and say nothing here."
        return Finding(name, "green", words, evenness, EVEN)
    words = f"{found}. Error bars and leave-one-out are for random points: {' and '.join(advice)}."
    return Finding(name, "amber", words, evenness, EVEN)


def weights(operator: Operator) -> Finding | None:
    """Judge how many of the points weights leave, and whether they matter at all."""
    weighting, name, n = operator.settings.weighting, "Weights", operator.n_points
    left, c1 = weighting.effective_points, operator.settings.exponents.c1
    if left is None:
        return None
    limit = max(FEW_EFFECTIVE, SMALL_SHARE * n)
    jump = weighting.kind == "counts"
    how = (
        "The weights jump from point to point, and each point counts as often as it weighs"
        if jump
        else "The weights are a function of the place, and multiply pairs"
    )
    if c1 is not None and abs(c1) < NEARLY_LAPLACIAN:
        words = (
            f"{how}. The Laplacian does not depend on the density: in its limit weights change "
            "nothing. Ask for the generator, operator='generator', if the process of the weighted "
            "density is wanted."
        )
        return Finding(name, "amber", words, left, limit, WeightsWarning)
    words = f"{how}; they are worth {left:,.0f} of {n:,} points of equal weight."
    if left >= limit:
        return Finding(name, "green", words, left, limit)
    words += (
        " That is few: where the wanted density is large there is hardly a sample. Error bars are "
        "wide for it, and may be too short. Sample nearer to the wanted density."
    )
    return Finding(name, "amber", words, left, limit, WeightsWarning)


def density_tail(operator: Operator) -> Finding | None:
    """Judge whether a Laplacian makes sense: on the whole space it has no discrete spectrum."""
    c1 = operator.settings.exponents.c1
    if c1 is None or c1 > NEARLY_LAPLACIAN or in_potential(operator):
        return None
    name, pilot = "Density at the edge", operator.inside.pilot.density
    low, lowest = to_host(np.quantile(pilot, TAIL_QUANTILES))
    ratio = float(low / lowest)
    if len(pilot) < TAIL_POINTS or ratio < TAIL_RATIO:
        words = (
            "The density shows no sign of falling towards 0, so the Laplacian has a discrete "
            "spectrum here."
        )
        return Finding(name, "green", words, ratio, TAIL_RATIO)
    words = (
        "The density falls towards 0 at the edge of the data, so this looks like a sample of an "
        f"unbounded space (the sparsest points are {ratio:.0f} times sparser than the sparsest "
        "5 %). There the Laplacian (c1 = 0) has no discrete spectrum: its eigenvalues here only "
        "reflect where the data ends. Ask for the generator, operator='generator', instead."
    )
    return Finding(name, "red", words, ratio, TAIL_RATIO, DensityTailWarning)


def boundary(operator: Operator) -> Finding | None:
    """Judge whether the data ends at an edge, where the operator reflects."""
    edge, name = edge_of(operator), "Boundary"
    if edge is None:
        return None
    if not edge.found:
        words = "No edge was found: the data closes in itself, or thins out towards its end."
        return Finding(name, "green", words, 0.0, 0.0)
    squared = to_host(operator.kernel.bandwidth.squared[edge.rows])
    widths = np.sqrt(4 * operator.epsilon * squared)
    share = edge.share_within(widths)
    words = (
        f"The data ends at an edge, and {percent(share)} of the points lie within a kernel's width "
        "of it. The operator reflects there (Neumann conditions), and `op @ f` is wrong there. "
        "Eigenvalues move in proportion to the width, those of a Laplacian most; their intervals "
        "are wider because of it."
    )
    return Finding(name, "amber", words, share, 0.0)


#: Share of the squared distances from which on the other columns do not count.
NEARLY_ALL = 0.99
#: Rows and columns that are looked at, at most.
MOST_ROWS, MOST_COLUMNS = 5000, 300
#: Correlation of two columns up to which they count as uncorrelated: that of columns which were
#: made so, and, in units of 1/√N, that of independent columns, the largest among many pairs.
MADE_SO, BY_CHANCE = 1e-3, 5.0
#: Ratio of the largest to the smallest deviation up to which columns of noise are alike.
ALIKE = 1.5
#: Fewest columns whose falling order is no accident, and the correlation of their ranks with it.
IN_ORDER, FALLING = 5, 0.95


@dataclass(frozen=True, eq=False)
class Scales:
    """Which columns count, by their scale."""

    n_columns: int
    #: Numbers of the columns that are wider than the kernel, and their share of squared distances.
    wide: NDArray[np.intp]
    share: float
    #: Whether they hide all other columns.
    hide_others: bool


def scales_of(operator: Operator) -> Scales | None:
    """Compare the columns with the kernel's width; None if distances do not add up columns.

    Distances add up columns, whatever their units. A column in grams beside one in metres is
    the whole distance, and the estimate is one of that column alone, without any sign of
    trouble. But columns of one space may differ in scale, too: principal components do by
    construction, a long thin shape does, and noise around a manifold is smaller than the
    manifold. So columns count as hidden only if

    * all together they vary less than the kernel is wide, so that no neighbourhood can tell their
      values apart (with enough points, a kernel resolves even a thin column);
    * they are half of the columns or more, and the others have nearly all of the squared distances;
    * they are neither principal components nor noise: principal components are uncorrelated, or at
      least in falling order; noise is uncorrelated, and alike in all its columns.
    """
    graph = operator.graph
    points = graph.point_set.coordinates
    if points is None or points.shape[1] < 2 or graph.metric != "euclidean":
        return None
    if graph.period is not None and np.any(graph.period):
        return None
    rows = to_host(points[:: -(-len(points) // MOST_ROWS)])
    widths = operator.graph.order.to_caller(operator.kernel.widths)
    variance = rows.var(axis=0)
    # The narrowest columns, which all together vary less than the kernel is wide.
    order = np.argsort(variance, kind="stable")
    narrow = np.zeros(len(variance), dtype=np.bool_)
    narrow[order] = np.cumsum(variance[order]) < float(np.median(widths)) ** 2
    share = float(variance[~narrow].sum() / variance.sum())
    hidden = share >= NEARLY_ALL and narrow.sum() >= len(narrow) / 2 and not is_noise(rows, narrow)
    return Scales(len(narrow), np.flatnonzero(~narrow), share, hidden)


def is_noise(rows: FloatArray, narrow: BoolArray) -> bool:
    """Tell whether narrow columns are noise, or the last principal components."""
    deviations = rows.std(axis=0)
    columns = rows[:, np.flatnonzero(deviations > 0)[:MOST_COLUMNS]]
    centred = columns - columns.mean(axis=0)
    scaled = centred / np.linalg.norm(centred, axis=0)
    correlations = np.abs(scaled.T @ scaled)
    np.fill_diagonal(correlations, 0.0)
    largest, n = float(correlations.max()), len(deviations)
    # Principal components vary less and less, those of a part of the data, too.
    ranks = np.argsort(np.argsort(-deviations, kind="stable"))
    falling = n >= IN_ORDER and np.corrcoef(ranks, np.arange(n))[0, 1] > FALLING
    if largest < MADE_SO or falling:
        return True
    small = deviations[narrow & (deviations > 0)]
    # One column of noise cannot be told from a coordinate.
    alike = len(small) > 1 and small.max() < ALIKE * small.min()
    return not small.size or bool(alike and largest < BY_CHANCE / np.sqrt(len(rows)))
