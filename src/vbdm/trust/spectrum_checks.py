"""Checks of a spectrum. Each looks at one thing and returns a finding; None: it does not apply."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.wording import counted, listed, one_of, percent, power_of_ten, rounded, subscript
from ..errors import DisconnectedWarning, UnresolvedWarning, WeakLinkWarning
from ..kernel.dimension import many_dimensions
from ..spectrum.modes import THIN
from ..spectrum.spectrum import Spectrum
from .epsilon_scan import EpsilonScan
from .error_bars import Group, width_of
from .findings import FIRST, Finding, Light, eigenvalues, nonzero_modes, source_in_words
from .series import by_chance, in_series, mode_at_rows, row_memory, time_neighbors

#: Share of a mode's weight on unresolved points above which the mode is doubtful.
HEAVY = 0.3
#: Share of a mode, or of a slower one, on the points held for it, and on its largest points, above
#: which it rests on the tail. The largest points are the ten largest, or 1 % of fewer than 1,000.
HELD, LARGEST, COUNT = 0.25, 0.12, 10
#: Share of strays, points in pieces too small for modes, above which the light is red.
MANY_STRAYS = 0.05
#: Relative error of the solver up to which the light is green, and amber.
ACCURATE, ROUGH = 1e-3, 1e-2
#: Relative total error up to which the light is green, and amber.
SMALL_ERROR, LARGE_ERROR = 0.1, 0.3
#: Share of a point's nearest neighbours that are its neighbours in time, too, above which the
#: points are those of a path rather than of a cloud.
MOSTLY_IN_TIME = 0.5


def connected_pieces(spectrum: Spectrum) -> Finding | None:
    """Judge whether the kernel joins all points."""
    if not spectrum.operator.kernel.is_symmetric:
        return None
    labels, name, n_solved = spectrum.components, "Connected pieces", spectrum.pieces.n_solved
    n, n_pieces = len(labels), spectrum.pieces.n_pieces
    if n_pieces == 1:
        return Finding(name, "green", f"All {n:,} points are connected.", 1.0, 1.0)
    aside = int(left_aside(spectrum).sum())
    strays = int(spectrum.pieces.strays.sum()) - aside
    size = np.bincount(labels)
    largest = ", ".join(str(count) for count in size[:5]) + (", …" if n_pieces > 5 else "")
    found = (
        f"The kernel splits the points into {n_pieces} pieces that do not communicate (sizes "
        f"{largest}; point {int(np.argmax(labels == 1))} is the first outside the largest)"
    )
    if n_solved > 1:
        found += f"; the eigenvalue 0 appears {n_solved} times, once for each large piece"
    if aside:
        found += f"; only the largest was solved, and {counted(aside, 'point')} of others left out"
    if strays:
        found += f"; {counted(strays, 'stray point')} in small pieces get no modes"
    # Pairs within reach follow from ε; lists may be too short as well.
    by_reach = spectrum.operator.kernel.by_reach
    wider = "`epsilon`" if by_reach else "`epsilon` or `n_neighbors`"
    todo = (
        f"If the data should be connected, raise {wider}; otherwise analyse the pieces apart "
        "(see `spectrum.components`)."
    )
    light: Light = "red" if strays > MANY_STRAYS * n else "amber"
    return Finding(name, light, f"{found}. {todo}", float(n_pieces), 1.0, DisconnectedWarning)


def left_aside(spectrum: Spectrum) -> NDArray[np.bool_]:
    """Mark the points, (N,), of pieces large enough to be solved, but not asked for."""
    strays = spectrum.pieces.strays
    if not strays.any():
        return strays
    size = np.bincount(spectrum.components)[spectrum.components]
    return np.asarray(strays & (size >= spectrum.settings.smallest_piece))


def unresolved_points(spectrum: Spectrum) -> Finding | None:
    """Judge whether sparse points carry modes, and name the modes that were lost to them."""
    if not spectrum.operator.kernel.is_symmetric:
        return None
    name, n = "Unresolved points", len(spectrum.unresolved)
    count = int((spectrum.unresolved & ~left_aside(spectrum)).sum())
    share = count / n
    missing = np.flatnonzero(np.isnan(spectrum.eigenvalues))
    heavy = np.flatnonzero((spectrum.errors.unresolved_share > HEAVY) & (spectrum.eigenvalues != 0))
    many = many_dimensions(spectrum.operator.dim) > 0
    found = (
        f"{counted(count, 'point')} ({percent(share)}) {'is' if count == 1 else 'are'} too sparse "
        "to resolve the first modes"
    )
    doubts = []
    if missing.size:
        doubts.append(
            f"{eigenvalues(missing)} could not be given (NaN): such modes decay within one step of "
            "the kernel. Ask for fewer eigenvalues, or give more data."
        )
    if heavy.size and many:
        doubts.append(
            f"In {spectrum.operator.dim:.1f} dimensions {n:,} points are few: {percent(share)} of "
            f"them are too sparse to resolve the first modes. Read eigenfunctions as smooth "
            f"coordinates of the data; {eigenvalues(heavy).lower()} are rough. Fewer columns, such "
            "as fewer principal components, or more data help (see `spectrum.unresolved`)."
        )
    elif heavy.size:
        doubts.append(
            f"{found}, and so much of the weight of some modes lies there that "
            f"{eigenvalues(heavy).lower()} may be wrong. Trust {one_of(heavy, 'it', 'them')} less, "
            "ask for fewer, or give more data (see `spectrum.unresolved`)."
        )
    if spectrum.left_out.size:
        values = ", ".join(f"{value:.3g}" for value in spectrum.left_out)
        doubts.append(
            f"{counted(spectrum.left_out.size, 'mode')}, at {values}, sat on a handful of outlying "
            f"points and {one_of(spectrum.left_out, 'was', 'were')} left out (see "
            "`spectrum.left_out`). Look at these points: are they part of the data?"
        )
    if not doubts:
        words = "All points resolve the first modes."
        words = words if count == 0 else f"{found}; no eigenvalue rests there."
        return Finding(name, "green", words, share)
    flags = {int(j): "rests on unresolved points" for j in heavy}
    flags |= {int(j): "too fast for the data" for j in missing}
    wrong = missing.size or (heavy.size and heavy.min() <= 1 and not many)
    light: Light = "red" if wrong else "amber"
    return Finding(name, light, " ".join(doubts), share, None, UnresolvedWarning, flags)


def tail(spectrum: Spectrum) -> Finding | None:
    """Judge whether modes rest on the tail of the data: on held points, or on a handful.

    Random tails are not resolved, whatever the method: the sample itself decides where they end.
    """
    if not spectrum.operator.kernel.is_symmetric:
        return None
    known, on_few = spectrum.eigenvalues != 0, []
    for j in range(len(known)):
        square = np.abs(mode_at_rows(spectrum, j)) ** 2
        count = min(COUNT, -(-len(square) // 100))
        on_few.append(float(np.partition(square, -count)[-count:].sum() / square.sum()))
    # A mode that is faster than a bad one is orthogonal to something wrong: running maxima.
    both = np.where(known, [spectrum.errors.unresolved_share, np.array(on_few)], 0.0)
    name, (held, largest) = "Tail", np.maximum.accumulate(both, axis=1)
    # In many dimensions most points may be held: they are no tail then.
    held = held * (many_dimensions(spectrum.operator.dim) == 0)
    resting = np.flatnonzero((held > HELD) | (largest > LARGEST))
    if not resting.size:
        words = "No eigenvalue rests on the tail of the data."
        return Finding(name, "green", words, float(largest.max()), LARGEST)
    sparse, few = percent(held[resting].max()), percent(largest[resting].max())
    on = f"up to {few} of a mode lies on a handful of points"
    if held[resting].any():
        on = f"up to {sparse} of a mode lies on points too sparse to resolve it, up to {few} on a "
        on += "handful of points"
    words = (
        f"{eigenvalues(resting)} {one_of(resting, 'rests', 'rest')} on the tail of the data: {on}. "
        f"Read {one_of(resting, 'its interval', 'their intervals')} (`spectrum.intervals()`), or "
        "give more data."
    )
    light: Light = "red" if resting.min() <= 1 else "amber"
    flags = {int(j): "rests on the tail" for j in resting}
    return Finding(name, light, words, float(largest.max()), LARGEST, flags=flags)


def solver_residuals(spectrum: Spectrum) -> Finding:
    """Judge whether the solver was accurate, by its own estimate."""
    log, name = spectrum.log, "Solver"
    error = float(log.error_estimate)
    size = "to rounding error"
    if error >= 1e-9:
        size = f"to about {power_of_ten(error)} of its size" if error < np.inf else "to no digit"
    flags = {}
    if np.iscomplexobj(spectrum.eigenvalues):
        flags = dict.fromkeys(range(len(spectrum.eigenvalues)), "real part of a complex value")
    if log.converged and error <= ACCURATE:
        words = f"Each eigenvalue of the matrix is known {size}, far below the sampling error."
        return Finding(name, "green", words, error, ACCURATE, flags=flags)
    light: Light = "amber" if log.converged and error <= ROUGH else "red"
    reached = "reached" if log.converged else "did not reach"
    words = (
        f"The solver {reached} its tolerance; its eigenvalues are known {size}. "
        "Lower the tolerance, or choose another solver."
    )
    return Finding(name, light, words, error, ACCURATE, flags=flags)


def error_bars(spectrum: Spectrum) -> Finding | None:
    """Judge the total errors of the first eigenvalues, and say where the largest comes from."""
    if not spectrum.operator.kernel.is_symmetric:
        return None
    name, first = "Error bars", nonzero_modes(spectrum.eigenvalues)[:FIRST]
    if not first.size:
        return Finding(name, "amber", "There is no nonzero eigenvalue to judge.")
    group = max(
        (g for g in spectrum.errors.by_group if set(g.members) & set(first)), key=relative_error
    )
    worst, whose = relative_error(group), f"λ{subscript(group.members[0])}"
    if group.is_several:
        whose = f"the mean of {whose} to λ{subscript(group.members[-1])}"
    among = f"Among the first {len(first)} nonzero eigenvalues the largest"
    found = f"{'The' if len(first) == 1 else among} total error is {percent(worst)}, of {whose}"
    source, todo = source_in_words(group.error_parts)
    words = f"{found}; {source}." if source else f"{found}."
    if worst <= SMALL_ERROR:
        return Finding(name, "green", words, worst, SMALL_ERROR)
    light: Light = "amber" if worst <= LARGE_ERROR else "red"
    return Finding(name, light, f"{words} {todo}".strip(), worst, SMALL_ERROR)


def relative_error(group: Group) -> float:
    """Return the total error of a group's mean over its size; infinity if it is not known."""
    return float(np.nan_to_num(group.total_error / abs(group.mean), nan=np.inf))


def independence(spectrum: Spectrum) -> Finding | None:
    """Judge whether consecutive rows are alike, as the steps of a time series are.

    A series cannot be told from a sorted file, so the light is never red; and it is green where the
    user said that the rows are a series, unless neighbours in space are mostly neighbours in time.
    """
    if not spectrum.operator.kernel.is_symmetric:
        return None
    name, n, known = "Independence", spectrum.operator.n_points, spectrum.settings.series.known
    time, limit, as_series = row_memory(spectrum), by_chance(n), in_series(spectrum)
    if not as_series and time <= limit:
        words = "Consecutive rows are not alike: nothing speaks against independent points."
        return Finding(name, "green", words, time, limit)
    alike = f"alike over about {rounded(time)} rows"
    if not as_series and known is None:
        words = f"Rows are {alike} because they are equal. Equal rows count as one point."
        return Finding(name, "amber", words, time, limit)
    if not as_series:
        words = (
            f"Consecutive rows are {alike}. If they are steps of a time series, error bars are too "
            f"small by a factor of up to about {rounded(np.sqrt(time))}: leave `series` at its "
            "default. If the file is merely sorted, ignore this."
        )
        return Finding(name, "amber", words, time, limit)
    first = nonzero_modes(spectrum.eigenvalues)[:FIRST]
    alone = max(round(float(spectrum.errors.effective_points[first].min(initial=n))), 1)
    words = (
        f"The rows are a time series, {alike}: counts as about "
        f"{counted(alone, 'independent point')}. Error bars take this into account."
    )
    light: Light = "green"
    if known is None:
        light = "amber"
        words += " If the file is merely sorted, they are too wide: pass series=False."
    if time_neighbors(spectrum.operator, time) > MOSTLY_IN_TIME:
        light = "amber"
        words += (
            " At most points the nearest neighbours are the rows just before and after: they show "
            "the path, not the cloud. Take every n-th row, or a longer series."
        )
    return Finding(name, light, words, time, limit)


def weak_links(spectrum: Spectrum) -> Finding | None:
    """Judge whether a few points decide an eigenvalue."""
    if len(spectrum.extent) != len(spectrum.eigenvalues):
        return None
    name, thin = "Weak links", np.flatnonzero(spectrum.extent < THIN)
    if not thin.size:
        return Finding(name, "green", "No eigenvalue hangs on a few points.", 0.0, 0.0)
    points = np.flatnonzero(spectrum.errors.weak_links)
    words = (
        f"{eigenvalues(thin)} {one_of(thin, 'hangs', 'hang')} on "
        f"{counted(points.size, 'point')} ({listed(points)}): a sparse tail, or a bridge between "
        f"clusters. Look there before you trust {one_of(thin, 'it', 'them')} (see "
        "`spectrum.errors.weak_links`)."
    )
    light: Light = "amber" if thin.size <= len(spectrum.eigenvalues) / 2 else "red"
    flags = {int(j): "hangs on a few points" for j in thin}
    return Finding(name, light, words, float(thin.size), 0.0, WeakLinkWarning, flags)


#: Relative movement of eigenvalues, when ε is doubled or halved, that is little, and that is much.
LITTLE, MUCH = 0.05, 0.2


def plateau(spectrum: Spectrum, scan: EpsilonScan) -> Finding:
    """Judge how much the first eigenvalues move when ε is doubled or halved."""
    name, here = "Plateau over ε", scan.chosen
    values = np.abs(np.asarray(scan.eigenvalues))
    first = nonzero_modes(np.asarray(scan.eigenvalues)[here])[:FIRST]
    beside, how = rows_to_compare(np.asarray(scan.epsilons), here)
    if not first.size or not beside:
        return Finding(name, "amber", "There are no eigenvalues to compare over ε.")
    moves = np.array([np.abs(values[row, first] - values[here, first]) for row in beside])
    lost = first[~np.isfinite(moves).all(axis=0)]
    if lost.size:
        words = (
            f"{eigenvalues(lost)} cannot be followed when ε is {how}: no mode there is "
            f"like {one_of(lost, 'it', 'them')}. Trust only those before, or give more data."
        )
        return Finding(name, "red" if lost[0] == first[0] else "amber", words)
    base, *others = means_of_groups(spectrum, values[[here, *beside]])[:, first]
    moves = np.abs(np.array(others) - base)
    relative = float(np.median(moves / base, axis=1).max())
    which = f"The first {len(first)} nonzero eigenvalues move"
    if len(first) == 1:
        which = "The first nonzero eigenvalue moves"
    found = f"{which} by {percent(relative)} (median) when ε is {how}"
    part = scan.n_points < spectrum.operator.n_points
    if part:
        found += f", on {scan.n_points:,} drawn points"
    if (moves <= 2 * np.asarray(scan.standard_errors)[here, first]).all():
        return Finding(name, "green", f"{found}: less than the sampling errors.", relative, LITTLE)
    half = width_of(0.95) * np.asarray(scan.total_errors)[here, first]
    beyond = "" if np.isnan(half).all() else ", which is more than the 95 % intervals allow for"
    words = f"{found}. Count it as a systematic error of {percent(relative)}{beyond}."
    if (moves <= half).all():
        words = f"{found}. The 95 % intervals allow for it."
    if relative <= LITTLE:
        return Finding(name, "green", words, relative, LITTLE)
    todo = "More data widens the plateau."
    if part:
        todo = "With all points the plateau is wider; compare with a larger part if it matters."
    light: Light = "amber" if part or relative <= MUCH else "red"
    return Finding(name, light, f"{words} {todo}", relative, LITTLE)


def rows_to_compare(epsilons: FloatArray, here: int) -> tuple[list[int], str]:
    """Return the rows at twice and half the ε in use, or else those beside it, and words for them.

    >>> rows_to_compare(np.array([1.0, 2, 4, 8]), 1), rows_to_compare(np.array([1.0, 4]), 0)
    (([2, 0], 'doubled or halved'), ([1], 'multiplied by 4'))
    """
    factors = epsilons / epsilons[here]
    rows = [int(row) for factor in (2, 0.5) for row in np.flatnonzero(np.isclose(factors, factor))]
    rows = rows or [row for row in (here + 1, here - 1) if 0 <= row < len(epsilons)]
    known, changes = {2.0: "doubled", 0.5: "halved"}, []
    for factor in factors[rows].tolist():
        plain = f"multiplied by {factor:.3g}" if factor > 1 else f"divided by {1 / factor:.3g}"
        changes.append(known.get(round(factor, 6), plain))
    return rows, " or ".join(changes)


def means_of_groups(spectrum: Spectrum, values: FloatArray) -> FloatArray:
    """Return eigenvalues, (m, n), each replaced by the mean of its group, which has the error bar.

    Members that are lost in one row are left out of all rows, so that means are of the same modes.
    """
    result = values.copy()
    followed = np.asarray(np.isfinite(values).all(axis=0))
    for group in spectrum.errors.by_group:
        members = [i for i in group.members if i < values.shape[1] and followed[i]]
        if members:
            result[:, members] = values[:, members].mean(axis=1, keepdims=True)
    return result
