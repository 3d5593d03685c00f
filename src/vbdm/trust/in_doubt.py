"""Where modes are in doubt: on unresolved points, on weak links."""

from __future__ import annotations

import numpy as np

from ..base.arrays import (
    BoolArray,
    FloatArray,
    beside_array,
    is_elsewhere,
    marked_squares,
    to_host,
)
from ..rows.block_array import total
from ..spectrum.finite_sample import local_energy
from ..spectrum.modes import THIN
from ..spectrum.spectrum import Spectrum


def unresolved_share(spectrum: Spectrum) -> FloatArray:
    """Return the share of each mode on its unresolved points (see `ErrorBars.unresolved_share`)."""
    share = spectrum.sum_over_points(squares_on, spectrum.unresolved)
    own = [j for j, limit in enumerate(spectrum.limits) if limit != spectrum.limit]
    if is_elsewhere(spectrum.vectors):
        # On a device, modes are looked at where they are, all that share a limit together.
        counts = spectrum.operator.order.counts
        for limit in {spectrum.limits[j] for j in own}:
            members = [j for j in own if spectrum.limits[j] == limit]
            held = held_inside(spectrum, members[0])
            share[members] = total(squares_on, spectrum.vectors[:, members], counts, held)
        own = []
    for j in own:
        share[j] = squares_on(spectrum.function(j), None, held_for(spectrum, j))
    return np.asarray(share / spectrum.operator.n_points)


def held_inside(spectrum: Spectrum, j: int) -> BoolArray:
    """Return the points that mode j does not resolve, (M,) in the order inside, where they live."""
    operator = spectrum.operator
    rows = operator.order.caller_rows
    if not spectrum.limits or spectrum.limits[j] == spectrum.limit:
        held: BoolArray = beside_array(spectrum.unresolved, rows)[rows]
        return held
    strays: BoolArray = beside_array(spectrum.pieces.strays, rows)[rows]
    return spectrum.limits[j].holds(1 / operator.steps) | strays


def held_for(spectrum: Spectrum, j: int) -> BoolArray:
    """Return the points that mode j does not resolve, (N,): those its limit holds, and strays.

    `spectrum.unresolved`, unless the mode has a limit of its own.
    """
    if not spectrum.limits or spectrum.limits[j] == spectrum.limit:
        return spectrum.unresolved
    return np.asarray(to_host(spectrum.operator.order.to_caller(held_inside(spectrum, j))))


def weak_links(spectrum: Spectrum) -> BoolArray:
    """Mark points that hold half of the energy of a mode of small extent, (N,)."""
    operator = spectrum.operator
    marked = np.zeros(operator.order.n_points, dtype=np.bool_, like=operator.degrees)
    for j in np.flatnonzero(spectrum.extent < THIN):
        energy = local_energy(operator, spectrum.vectors[:, j][:, None])[0][:, 0]
        order = np.argsort(-energy, kind="stable")
        half = 0.5 * float(energy.sum())
        count = int(np.searchsorted(np.cumsum(energy[order]), half)) + 1
        marked[order[:count]] = True
    found: BoolArray = to_host(operator.order.to_caller(marked))
    return found


def squares_on(values: FloatArray, counts: FloatArray | None, marked: BoolArray) -> FloatArray:
    """Return the sums of squares over marked rows, (n,), each row counted as often as it occurs."""
    sums: FloatArray = marked_squares(values, marked, counts)
    return sums


def products_of(values: FloatArray, counts: FloatArray | None) -> FloatArray:
    """Return the sums over the rows of the products of two columns, (n, n)."""
    weighted = values if counts is None else counts[:, None] * values
    products: FloatArray = values.T @ weighted
    return products
