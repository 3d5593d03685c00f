"""What to think of a result: each doubt as a traffic light and a sentence in plain words.

Mathematics and words only; `vbdm.report` draws them.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ..base.checks import FloatArray
from ..base.wording import (
    counted,
    minus,
    one_of,
    percent,
    power_of_ten,
    rounded,
    subscript,
    with_error,
)
from ..graph.graph import LOW_RECALL
from ..operator import theory
from ..operator.operator import Operator
from ..spectrum.modes import THIN
from ..spectrum.spectrum import HEAVY, Spectrum
from .doubts import drifting_dimension, laplacian_of_a_tail
from .groups import groups_of
from .lights import FIRST, Diagnosis, Light, eigenvalues, nonzero_modes
from .plateau import EpsilonTable, plateau
from .randomness import autocorrelation_time, regularity

#: How many times the density may vary before growing errors matter (as in `vbdm.trust.doubts`).
WIDE_SPAN = 1000.0
#: Autocorrelation times above this plus NOISE/√N are not chance: of 1,000 independent samples of
#: 30 to 2,000 points none came near.
LONG, NOISE = 2.0, 40.0
#: Regularity (see `vbdm.trust.randomness`) above which points are not random: grids have 0.94 to 1, random
#: points 0.4 to 0.6, noise in ten columns around a curve up to 0.72.
EVEN = 0.85


def diagnose(spectrum: Spectrum, sensitivity: EpsilonTable | None = None) -> tuple[Diagnosis, ...]:
    """Judge a result.

    Parameters
    ----------
    spectrum : Spectrum
        What was computed.
    sensitivity : Sensitivity, optional
        From `vbdm.report.sensitivity`; without it nothing is said about the plateau over ε.

    Returns
    -------
    tuple of Diagnosis
        Always in the same order; what does not apply is left out.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points)
    >>> first = diagnose(op.spectrum(4))[0]
    >>> first.light, first.words
    ('green', 'All 600 points are connected.')
    """
    return tuple(_found(spectrum, sensitivity))


def _found(spectrum: Spectrum, sensitivity: EpsilonTable | None) -> Iterator[Diagnosis]:
    operator = spectrum.operator
    symmetric = operator.kernel.bandwidth.is_symmetric
    if symmetric:
        yield connected_pieces(spectrum)
        yield unresolved_points(spectrum)
    yield neighbor_lists(operator)
    if operator.weights.graph.recall is not None:
        yield search_recall(operator.weights.graph.recall)
    yield solver_residuals(spectrum)
    if sensitivity is not None:
        yield plateau(spectrum, sensitivity)
    if symmetric:
        yield error_bars(spectrum)
        yield independence(spectrum)
        if len(spectrum.extent) == len(spectrum.eigenvalues):
            yield weak_links(spectrum)
    if operator.beta is not None:
        yield error_exponents(operator)
    yield dimension(operator)
    evenness = regularity(operator.weights.graph)
    if evenness is not None:
        yield spacing(operator, evenness)
    if operator.c1 is not None and operator.c1 <= 0.05:
        yield density_tail(operator)


def connected_pieces(spectrum: Spectrum) -> Diagnosis:
    """Judge whether all points communicate."""
    n, name = len(spectrum.components), "Connected pieces"
    aside = int(left_aside(spectrum).sum())
    strays = int((spectrum.components >= spectrum.n_solved).sum()) - aside
    if spectrum.n_components == 1:
        return Diagnosis(name, "green", f"All {n:,} points are connected.", 1.0)
    found = (
        f"The kernel splits the points into {spectrum.n_components} pieces that do not communicate"
    )
    if spectrum.n_solved > 1:
        found += f"; the eigenvalue 0 appears {spectrum.n_solved} times, once for each large piece"
    if aside:
        found += f"; only the largest was solved, and {counted(aside, 'point')} of others left out"
    if strays:
        found += f"; {counted(strays, 'point')} in small pieces get no modes"
    todo = "If the data should be connected, raise ε; otherwise analyse the pieces apart."
    light: Light = "red" if strays > 0.05 * n else "amber"
    return Diagnosis(name, light, f"{found}. {todo}", float(spectrum.n_components))


def left_aside(spectrum: Spectrum) -> NDArray[np.bool_]:
    """Return the points of pieces that are large enough to be solved, but were not asked for."""
    size = np.bincount(spectrum.components)[spectrum.components]
    large = size >= spectrum.operator.smallest_piece
    return np.asarray((spectrum.components >= spectrum.n_solved) & large)


def unresolved_points(spectrum: Spectrum) -> Diagnosis:
    """Judge whether sparse points carry modes."""
    name, n = "Unresolved points", len(spectrum.unresolved)
    count = int((spectrum.unresolved & ~left_aside(spectrum)).sum())
    share = count / n
    heavy = np.flatnonzero(spectrum.unresolved_share > HEAVY)
    missing = np.flatnonzero(np.isnan(np.real(spectrum.eigenvalues)))
    found = (
        f"{counted(count, 'point')} ({percent(share)}) {'is' if count == 1 else 'are'} too sparse "
        "to resolve the first modes"
    )
    if missing.size:
        words = (
            f"{eigenvalues(missing)} could not be given: such modes decay within one step of "
            "the kernel. Ask for fewer eigenvalues, or give more data."
        )
        return Diagnosis(name, "red", words, share)
    if heavy.size:
        light: Light = "red" if heavy.min() <= 1 else "amber"
        words = (
            f"{found}, and so much of the weight of some modes lies there that "
            f"{eigenvalues(heavy).lower()} may be wrong. Trust {one_of(heavy, 'it', 'them')} less, "
            "ask for fewer, or give more data."
        )
        return Diagnosis(name, light, words, share)
    if spectrum.left_out.size:
        words = (
            f"{counted(spectrum.left_out.size, 'mode')} sat on a handful of outlying points and "
            f"{one_of(spectrum.left_out, 'was', 'were')} left out. Look at these points: are they "
            "part of the data?"
        )
        return Diagnosis(name, "amber", words, share)
    if count == 0:
        return Diagnosis(name, "green", "All points resolve the first modes.", 0.0)
    return Diagnosis(name, "green", f"{found}; no eigenvalue rests there.", share)


def neighbor_lists(operator: Operator) -> Diagnosis:
    """Judge whether the lists of neighbours hold the kernel."""
    share, k = operator.kernel.saturated, operator.n_neighbors
    if share <= 0.05:
        words = f"{k} neighbours per point hold the kernel at {percent(1 - share)} of the points."
        return Diagnosis("Neighbour lists", "green", words, share)
    words = (
        f"At {percent(share)} of the points the {k} nearest neighbours end before the kernel has "
        "decayed, so the operator is too small there. Raise the number of neighbours, or lower ε."
    )
    return Diagnosis("Neighbour lists", "red" if share > 0.3 else "amber", words, share)


def search_recall(recall: float) -> Diagnosis:
    """Judge an approximate search."""
    words = f"The approximate search found {percent(recall)} of the true neighbours."
    if recall >= LOW_RECALL:
        return Diagnosis("Neighbour search", "green", words, recall)
    light: Light = "amber" if recall >= 0.8 else "red"
    return Diagnosis("Neighbour search", light, f"{words} Use an exact search.", recall)


def solver_residuals(spectrum: Spectrum) -> Diagnosis:
    """Judge whether the solver did its work."""
    error, name = float(spectrum.error_estimate), "Solver"
    size = "to rounding error" if error < 1e-9 else f"to about {power_of_ten(error)} of its size"
    if spectrum.converged and error <= 1e-3:
        words = f"Each eigenvalue of the matrix is known {size}, far below the sampling error."
        return Diagnosis(name, "green", words, error)
    light: Light = "amber" if spectrum.converged and error <= 1e-2 else "red"
    reached = "reached" if spectrum.converged else "did not reach"
    words = (
        f"The solver {reached} its tolerance; its eigenvalues are known {size}. "
        "Lower the tolerance, or choose another solver."
    )
    return Diagnosis(name, light, words, error)


def error_bars(spectrum: Spectrum) -> Diagnosis:
    """Judge the sampling errors of the first eigenvalues."""
    first = nonzero_modes(spectrum.eigenvalues)[:FIRST]
    if not first.size:
        return Diagnosis("Error bars", "amber", "There is no nonzero eigenvalue to judge.")
    relative = spectrum.standard_errors[first] / np.abs(spectrum.eigenvalues[first])
    worst = float(np.nan_to_num(relative, nan=np.inf).max())
    number = int(first[np.argmax(np.nan_to_num(relative, nan=np.inf))])
    group = next(group.members for group in groups_of(spectrum) if number in group.members)
    whose = f"λ{subscript(number)}"
    if len(group) > 1:
        whose = f"the mean of λ{subscript(group[0])} to λ{subscript(group[-1])}"
    among = f"Among the first {len(first)} nonzero eigenvalues the largest"
    words = f"{'The' if len(first) == 1 else among} standard error is {percent(worst)}, of {whose}."
    if worst <= 0.1:
        return Diagnosis("Error bars", "green", words, worst)
    light: Light = "amber" if worst <= 0.3 else "red"
    return Diagnosis("Error bars", light, f"{words} More data would make it smaller.", worst)


def independence(spectrum: Spectrum) -> Diagnosis:
    """Judge whether consecutive rows are alike, as the steps of a time series are.

    The lights cannot tell a series from a sorted file, so none is red.
    """
    name, n = "Independence", len(spectrum.eigenfunctions)
    first = nonzero_modes(spectrum.eigenvalues)[:FIRST]
    functions = np.real(spectrum.eigenfunctions[:, first]).T
    time = max((autocorrelation_time(values) for values in functions), default=1.0)
    if time <= LONG + NOISE / np.sqrt(n):
        words = "Consecutive rows are not alike: nothing speaks against independent points."
        return Diagnosis(name, "green", words, time)
    alone = max(round(n / time), 1)
    words = (
        f"Consecutive rows are alike over about {rounded(time)} rows. If the rows are steps of a "
        f"time series, they tell only as much as about {counted(alone, 'independent point')}, "
        f"and the error bars are too small by a factor of up to about "
        f"{rounded(np.sqrt(time))}. If the file is merely sorted, ignore this."
    )
    return Diagnosis(name, "amber", words, time)


def weak_links(spectrum: Spectrum) -> Diagnosis:
    """Judge whether a few points decide an eigenvalue."""
    thin = np.flatnonzero(spectrum.extent < THIN)
    if not thin.size:
        words = "No eigenvalue hangs on a few points."
        return Diagnosis("Weak links", "green", words, 0.0)
    words = (
        f"{eigenvalues(thin)} {one_of(thin, 'hangs', 'hang')} on "
        f"{counted(int(spectrum.weak_links.sum()), 'point')}: a sparse tail, or a bridge between "
        f"clusters. Look there before you trust {one_of(thin, 'it', 'them')}."
    )
    light: Light = "amber" if thin.size <= len(spectrum.eigenvalues) / 2 else "red"
    return Diagnosis("Weak links", light, words, float(thin.size))


def error_exponents(operator: Operator) -> Diagnosis:
    """Judge by the theory whether the sampling error stays bounded where data is sparse."""
    beta, d = float(operator.beta or 0.0), operator.dim
    exponent = theory.c2(operator.alpha, beta, d)
    if theory.bounded(operator.alpha, beta, d):
        words = (
            f"With β = {minus(beta)} in dimension {d:.2g} the sampling error stays bounded where "
            f"the density q is sparse: there it goes like q to the power {minus(-exponent)}."
        )
        return Diagnosis("Error exponents", "green", words, exponent)
    span = float(np.divide(*np.quantile(pilot_density(operator), [1.0, 0.0])))
    words = (
        f"With β = {minus(beta)} in dimension {d:.2g} the sampling error grows without bound where "
        f"the data is sparse, and the density varies {span:,.0f} fold. "
        "Use a negative β, such as the default."
    )
    return Diagnosis("Error exponents", "red" if span > WIDE_SPAN else "amber", words, exponent)


def dimension(operator: Operator) -> Diagnosis:
    """Judge the dimension."""
    found, name = operator.dimension, "Dimension"
    noise = drifting_dimension(operator)
    if noise:
        words = noise.replace("`dim`", "it")
        return Diagnosis(name, "amber", words, found.drift)
    if found.by_scale is None:
        size = with_error(found.value, found.standard_error)
        words = f"The dimension in use is {size}; it was not checked at other scales."
        return Diagnosis(name, "green", words, found.value)
    size = with_error(found.value, found.standard_error)
    words = f"The dimension is {size} and depends little on the scale."
    if found.drift >= 0.25:
        words = (
            f"The dimension depends on the scale: {found.by_scale.min():.1f} to "
            f"{found.by_scale.max():.1f}. If you know it, give it."
        )
    return Diagnosis(name, "amber" if found.drift >= 0.25 else "green", words, found.drift)


def spacing(operator: Operator, evenness: float) -> Diagnosis:
    """Judge whether the points are random, or spaced regularly as on a grid."""
    name = "Spacing"
    if evenness <= EVEN:
        words = "The points are spaced irregularly, as random points are."
        return Diagnosis(name, "green", words, evenness)
    advice = []
    if operator.kernel.leave_one_out:
        advice.append("use --no-leave-one-out (leave_one_out=False in Python)")
    if operator.dimension.by_scale is not None:
        advice.append("give the dimension with --dim")
    found = "The points are spaced regularly"
    if not advice:
        words = f"{found}. The error bars are for random points, and say nothing here."
        return Diagnosis(name, "green", words, evenness)
    words = f"{found}. Error bars and leave-one-out are for random points: {' and '.join(advice)}."
    return Diagnosis(name, "amber", words, evenness)


def density_tail(operator: Operator) -> Diagnosis:
    """Judge whether a Laplacian makes sense on this cloud."""
    name, message = "Density at the edge", laplacian_of_a_tail(operator, pilot_density(operator))
    if message:
        words = message.replace("operator='generator'", "the generator")
        return Diagnosis(name, "red", words)
    words = (
        "The density shows no sign of falling towards 0, so the Laplacian has a discrete spectrum "
        "here."
    )
    return Diagnosis(name, "green", words)


def pilot_density(operator: Operator) -> FloatArray:
    """Return the first density estimate, which the bandwidth ρ = q^β remembers."""
    if operator.beta and isinstance(operator.bandwidth, np.ndarray):
        return np.asarray(operator.bandwidth ** (1 / operator.beta))
    density = operator.density
    return np.asarray(density[density > 0])
