"""How far eigenvalues move with ε: on a plateau they do not."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..base.wording import one_of, percent
from ..spectrum.spectrum import Spectrum
from .epsilon_scan import EpsilonScan
from .error_bars import width_of
from .findings import FIRST, Finding, Light, eigenvalues, nonzero_modes

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
    words = f"{found}. {compared_with_intervals(moves, half, relative)}"
    if relative <= LITTLE:
        return Finding(name, "green", words, relative, LITTLE)
    todo = "More data widens the plateau."
    if part:
        todo = "With all points the plateau is wider; compare with a larger part if it matters."
    light: Light = "amber" if part or relative <= MUCH else "red"
    return Finding(name, light, f"{words} {todo}", relative, LITTLE)


def compared_with_intervals(moves: FloatArray, half: FloatArray, relative: float) -> str:
    """Say whether the 95 % intervals, `half` as wide to each side, allow for the movement."""
    if (moves <= half).all():
        return "The 95 % intervals allow for it."
    beyond = "" if np.isnan(half).all() else ", which is more than the 95 % intervals allow for"
    return f"Count it as a systematic error of {percent(relative)}{beyond}."


def rows_to_compare(epsilons: FloatArray, here: int) -> tuple[list[int], str]:
    """Return the rows at twice and half the ε in use, or else those beside it, and words for them.

    Examples
    --------
    >>> rows_to_compare(np.array([1.0, 2, 4, 8]), 1), rows_to_compare(np.array([1.0, 4]), 0)
    (([2, 0], 'doubled or halved'), ([1], 'multiplied by 4'))
    """
    factors = epsilons / epsilons[here]
    rows = [int(row) for factor in (2, 0.5) for row in np.flatnonzero(np.isclose(factors, factor))]
    rows = rows or [row for row in (here + 1, here - 1) if 0 <= row < len(epsilons)]
    return rows, " or ".join(change_in_words(float(factors[row])) for row in rows)


def change_in_words(factor: float) -> str:
    """Return what happens to a number that is multiplied by a factor."""
    known = {2.0: "doubled", 0.5: "halved"}
    plain = f"multiplied by {factor:.3g}" if factor > 1 else f"divided by {1 / factor:.3g}"
    return known.get(round(factor, 6), plain)


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
