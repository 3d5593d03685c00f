"""The eigenfunctions wherever they live: in memory, in blocks, or on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray, beside_array, to_host
from ..base.kept import kept_with
from ..engines.engine import at_work
from ..graph.order import as_caller_sees
from ..rows.block_array import BlockArray, Tall, beside, mapped, total
from .spectrum import Spectrum


def vectors_of(spectrum: Spectrum) -> Tall:
    """Return the eigenfunctions in the order inside, (M, n)."""
    if spectrum._stored is not None:
        stored: Tall = spectrum._stored
        return stored
    order = spectrum.operator.graph.order
    return kept_with(spectrum, "vectors", lambda: order.to_inside(spectrum.eigenfunctions))


def in_blocks(spectrum: Spectrum) -> BlockArray | None:
    """Return the eigenfunctions in the order inside, (M, n), if they live in blocks; else None."""
    return spectrum._stored if isinstance(spectrum._stored, BlockArray) else None


@at_work("results")
def function_of(spectrum: Spectrum, j: int) -> FloatArray:
    """Return eigenfunction j at all points, (N,), in memory wherever the others are."""
    if (inside := in_blocks(spectrum)) is None:
        return np.asarray(to_host(spectrum.eigenfunctions[:, j]))
    return spectrum.operator.graph.order.to_caller(inside[:, j])


@at_work("results")
def functions_at(spectrum: Spectrum, rows: NDArray[np.intp]) -> FloatArray:
    """Return all eigenfunctions at some of the points, (m, n), in memory."""
    if (inside := in_blocks(spectrum)) is None:
        return np.asarray(to_host(spectrum.eigenfunctions[rows]))
    return np.asarray(inside[spectrum.operator.graph.order.inside_rows(rows)])


@at_work("results")
def sum_over_points(spectrum: Spectrum, function: Callable[..., Any], *values: NDArray[Any]) -> Any:
    """Return a sum over the points: `function` adds up what eigenfunctions give on some rows.

    It gets their values (m, n), how often each row counts, or None, and `values`, which are
    given in the caller's order and equal on copies of a point.
    """
    if spectrum._stored is None:
        return total(function, spectrum.eigenfunctions, None, *values)
    u, order = spectrum._stored, spectrum.operator.graph.order
    rows = order.caller_rows
    inside = [beside(u, beside_array(own, rows)[rows]) for own in values]
    return total(function, u, beside(u, order.counts), *inside)


def known_eigenfunctions(spectrum: Spectrum) -> Any:
    """Return the eigenfunctions, (N, n), with NaN in columns of modes whose eigenvalue is NaN.

    Such a mode decays within one step of the kernel: its vector shows the scatter of the points
    and is no coordinate. Results that are written have these columns.
    """
    lost = np.isnan(spectrum.eigenvalues)
    if not lost.any():
        return spectrum.eigenfunctions
    if (inside := in_blocks(spectrum)) is None:
        marked = beside_array(lost, spectrum.eigenfunctions)
        return without_columns(spectrum.eigenfunctions, marked)
    return as_caller_sees(mapped(without_columns, inside, lost), spectrum.operator.graph.order)


def without_columns(values: FloatArray, lost: BoolArray) -> FloatArray:
    """Return values, (m, n), with NaN in the columns that are lost."""
    return np.where(lost, np.nan, values)
