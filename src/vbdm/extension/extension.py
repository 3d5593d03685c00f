r"""Eigenfunctions, other functions and the density at new points, by the row that was solved.

An eigenvector of the pencil satisfies, at each training point i,
:math:`Σ_j P_{ij} φ_j = (1 - θ g_i) φ_i`, with P the row of the kernel and g the local time. The
same row at a new point x, with distances, densities and widths measured there as at the training
points, gives :math:`φ(x) = Σ_j P(x, x_j) φ_j / (1 - θ g(x))` (Nyström's formula for this operator).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import (
    BoolArray,
    FloatArray,
    beside_array,
    from_user,
    frozen,
    is_elsewhere,
    quotients,
    to_host,
    to_user,
)
from ..base.checks import an, check_choice
from ..base.points import check_function, check_points
from ..base.threads import in_order, slices
from ..engines.choose import to_engine
from ..engines.engine import at_work, free_bytes
from ..errors import InputError, OutsideWarning, warn_user
from ..graph.point_set import tree_order
from ..operator.operator import Operator, refuse_unsymmetric
from ..rows.block_array import Tall
from ..rows.sources import Chunks, open_points
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import vectors_of
from .rows import NewRows, new_rows

#: The least 1 - θ g(x) to divide by. Below it the mode decays within one step of the kernel, and
#: the value would be noise, many times enlarged.
SMALLEST_DIVISOR = 0.05
#: The largest coordinate of new points whose squared distances are numbers.
LARGEST_COORDINATE = 1e150
#: New points in a batch, so that memory does not grow with their number. Each batch also takes a
#: look at all training points: of very many, a batch has at least one in SHARE. A device takes
#: many at a time, fewer where little of its memory is free.
BATCH, SHARE, BATCH_ON_DEVICE = 2048, 500, 1 << 18
#: Bytes of a device for each pair of a batch, of as many as training points have: listed, measured
#: and evaluated it takes 48; some new points have more pairs.
BYTES_OF_PAIR = 128


@dataclass(frozen=True, eq=False)
class Extension:
    """Values at M new points, and flags where there are none.

    Attributes
    ----------
    values : (M, n) array
        Eigenfunctions (or other functions) by columns; NaN where flagged.
    outside : (M,) bool array
        Points beyond the kernels of the nearest training points: nothing is known there. Also
        training points that no other kernel reaches; these have their values.
    undefined : (M, n) bool array
        Values that are not defined: the mode decays within one step of the kernel at that point,
        and no training point is beside it.
    density : (M,) array
        The sampling density at each point, per unit of d-dimensional volume; 0 outside.
    training : (M,) int array
        Row of the training point that a new point coincides with; -1: none.
    """

    values: FloatArray
    outside: BoolArray
    undefined: BoolArray
    density: FloatArray
    training: NDArray[np.intp]


@at_work("the extension")
def extend(spectrum: Spectrum, X_new: ArrayLike, *, outside: str = "nan") -> Extension:
    r"""Return the eigenfunctions at new points.

    Parameters
    ----------
    spectrum : Spectrum
        From `op.spectrum(n)`, of a symmetric operator.
    X_new : (M, n) array
        Points with the same columns as the training points. Arrays of Dask, Zarr and HDF5, and the
        paths of ``.npy``, ``.zarr`` and ``.parquet`` files, are read chunk by chunk.
    outside : {"nan", "nearest", "error"}
        What to give where there is no data: NaN with an `OutsideWarning`, the value of the nearest
        training point (also where a mode is too fast to be extended), or an error.

    Returns
    -------
    Extension

    Notes
    -----
    Implements :math:`φ_j(x) = Σ_i P(x,x_i) φ_j(x_i) / (1 - θ_j g(x))` with
    :math:`g = (1 - e^{-λ_{ref}/\max(r(x), cut)})/λ_{ref}`, :math:`r(x) = 1/(ε m ρ(x)^2)`, with the
    limit of each mode, or :math:`g = ε m ρ(x)^2` without limiter. A point that coincides with a
    training point has that point's value. A training point is left out of its own sums, while of a
    fresh draw all neighbours count; so that the extension is continuous, a new point leaves out the
    training point beside it by a share w(x), which is 1 there and 0 from half the distance to the
    next training point on. What is left are steps where a training point enters the kernel, which
    has fallen to a thousandth there: up to 0.0015 of an eigenfunction's size on iris.

    Examples
    --------
    >>> train = vbdm.datasets.circle(2000, sampling="random", random_state=0)
    >>> test = vbdm.datasets.circle(2000, sampling="random", random_state=1)
    >>> spectrum = vbdm.estimate_operator(train.points).spectrum(3)
    >>> extension = vbdm.extend(spectrum, test.points)
    >>> extension.values.shape, bool(extension.outside.any())
    ((2000, 3), False)
    """
    check_choice(outside, "outside", ("nan", "nearest", "error"))
    an(Spectrum, "Call vbdm.extend(op.spectrum(10), X_new).")(spectrum, "spectrum")
    op = spectrum.operator
    refuse_unsymmetric(op, "Extensions to new points")
    return gather(op, X_new, outside, vectors_of(spectrum), spectrum)


@at_work("the extension")
def extend_function(
    operator: Operator, f: ArrayLike, X_new: ArrayLike, *, outside: str = "nan"
) -> FloatArray:
    r"""Return the values at new points of a function that is known on the data.

    Parameters
    ----------
    operator : Operator
        From `vbdm.estimate_operator`; symmetric.
    f : (N,) or (N, m) array
        The function's values on the training points; several functions by columns.
    X_new, outside
        As for `extend`.

    Returns
    -------
    (M,) or (M, m) array

    Notes
    -----
    :math:`f(x) ≈ (P f)(x) - ε m ρ(x)^2 (P L f)(x)`: one step of the kernel smooths f by
    :math:`ε m ρ^2 L f`, which is taken back; the error is of second order in ε. At a training point
    the value is f itself.
    """
    check_choice(outside, "outside", ("nan", "nearest", "error"))
    refuse_unsymmetric(operator, "Extensions to new points")
    f = to_engine(f, operator.graph.point_set.engine.credit.name)
    values = check_function(f, operator.n_points, there=True)
    values = from_user(values, operator.inside.degrees, operator.settings.output)
    change = np.nan_to_num(operator.apply(values))
    columns = values.reshape(len(values), -1)
    both = np.hstack([columns, change.reshape(columns.shape)])
    result = gather(operator, X_new, outside, operator.graph.order.to_inside(both), None)
    return frozen(result.values.reshape(-1, *values.shape[1:]))


@at_work("the extension")
def density_at(operator: Operator, X_new: ArrayLike) -> FloatArray:
    """Return the sampling density at new points; 0 where no training point's kernel reaches."""
    nothing = np.zeros((len(operator.inside.degrees), 0), like=operator.inside.degrees)
    return gather(operator, X_new, "nearest", nothing, None).density


def gather(
    op: Operator, X_new: ArrayLike, outside: str, vectors: Tall, spectrum: Spectrum | None
) -> Extension:
    """Return what is known at all new points, one batch after the other.

    With a spectrum, `vectors` are its eigenfunctions; without one, functions f and their L f, side
    by side. Their rows are in the order inside.
    """
    found = [
        known_at(op, points, vectors, spectrum) for points in chunks_of(X_new, op) if len(points)
    ]
    if not found:
        table = np.zeros((0, vectors.shape[1] if spectrum is not None else vectors.shape[1] // 2))
        row, number = np.zeros(0), np.zeros(0, np.intp)
        parts = table, row > 0, table > 0, row, number
        return Extension(*(frozen(part) for part in parts))
    joined = found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
    values, far, undefined, density, training, nearest = joined
    if outside == "nearest":
        width = values.shape[1]
        unknown = undefined | (far & (training < 0))[:, None]
        known = vectors[nearest, :width]
        known = known if is_elsewhere(values) else to_host(known)
        values = np.where(beside_array(unknown, values), known, values)
    elif far.any():
        complain(far, strict=outside == "error")
    row = np.where(training >= 0, to_host(op.graph.order.caller_rows[training]), -1)
    return Extension(frozen(values), frozen(far), frozen(undefined), frozen(density), frozen(row))


def chunks_of(X_new: Any, op: Operator) -> Iterator[FloatArray]:
    """Yield the new points, checked: all at once or, if they are not in memory, chunk by chunk."""
    source = open_points(to_engine(X_new, op.graph.point_set.engine.credit.name))
    if not isinstance(source, Chunks):
        yield check_new_points(source, op)
        return
    for _, chunk in source.checked().numbered():
        yield check_new_points(chunk, op)


def known_at(
    op: Operator, points: FloatArray, vectors: Tall, spectrum: Spectrum | None
) -> Sequence[Any]:
    """Return values, flags, density, coinciding and nearest training points, for all new points."""
    points = op.graph.point_set.engine.placed(points)
    cloud, order = op.graph.point_set, np.arange(len(points), like=points)
    if cloud.tree is not None:
        # Those near in space follow each other, and look at the same parts of tree and data: with
        # compiled loops, this saves a quarter to two fifths of the time.
        order = tree_order(cloud.distance.wrapped(points), cloud.engine)

    def work(part: slice) -> Batch:
        return extend_batch(new_rows(op, points[order[part]]), vectors, spectrum)

    parallel = getattr(op.graph.point_set.index, "parallel", False)
    batches = slices(len(points), size=batch_size(op, points))
    parts = in_order(work, batches, parallel=parallel)
    place = np.argsort(order)
    found = [np.concatenate(part)[place] for part in zip(*parts, strict=True)]
    stays = [op.settings.output if part in HANDED_OUT else "numpy" for part in range(len(found))]
    return [to_user(*part) for part in zip(found, stays, strict=True)]


def batch_size(op: Operator, points: FloatArray) -> int:
    """Return how many new points are worked on at a time, where they live."""
    free = free_bytes(op.graph.point_set.engine)
    if free is None or not is_elsewhere(points):
        return max(BATCH, op.graph.order.n_points // SHARE)
    pairs = max(1, op.alpha_kernel.nnz // op.graph.order.n_points)
    return max(BATCH, min(BATCH_ON_DEVICE, free // (BYTES_OF_PAIR * pairs)))


#: Which parts of a batch are results that may stay on a device: the values and the density.
HANDED_OUT = (0, 3)
Batch = tuple[FloatArray, BoolArray, BoolArray, FloatArray, NDArray[np.intp], NDArray[np.intp]]


def extend_batch(rows: NewRows, vectors: Tall, spectrum: Spectrum | None) -> Batch:
    """Return values, flags, density, coinciding and nearest training points of one batch."""
    values, trust = by_rows(rows.average(vectors), rows.steps, spectrum)
    # A training point needs no row: its value is known.
    trust[rows.training >= 0] = 0.0
    beside = np.flatnonzero(rows.beside > 0)
    # Beside a training point the new row tends to the row of that point. What that row gives is off
    # by the accuracy of the solver or, for other functions, by the order of the extension; this
    # difference is taken back by the share w. A value that is not trusted gives way to the
    # training point's.
    op, w = rows.operator, rows.beside[beside, None]
    known = vectors[rows.nearest[beside], : values.shape[1]]
    steps = op.inside.steps[rows.nearest[beside]]
    solved, solved_trust = by_rows(rows.at_nearest(beside, vectors), steps, spectrum)
    missing = np.where(solved_trust > 0, known - solved, 0.0)
    # A training point without neighbours has no row that a new one could tend to.
    alone = op.inside.degrees[rows.nearest[beside], None] == 0
    t = trust[beside] * np.where(alone, 1 - w, 1.0)
    given = w * (1 - t)
    values[beside] = (t * (values[beside] + w * missing) + given * known) / (t + given)
    unknown = trust == 0
    unknown[beside] = False
    values[unknown] = np.nan
    values[rows.outside & (rows.beside == 0)] = np.nan
    undefined = unknown & ~rows.outside[:, None]
    return values, rows.outside, undefined, rows.density, rows.training, rows.nearest


def by_rows(
    sums: FloatArray, steps: FloatArray, spectrum: Spectrum | None
) -> tuple[FloatArray, FloatArray]:
    """Return the values that rows of the kernel give, and how far to trust them, 0 to 1; (m, n).

    `sums` are P f. Values with a trust of 0 are 0.
    """
    if spectrum is None:
        half = sums.shape[1] // 2
        own, change = sums[:, :half], sums[:, half:]
        return own - steps[:, None] * change, np.ones_like(own)
    theta = beside_array(spectrum.log.pencil_eigenvalues, steps)
    divisor = 1 - spectrum.limits.times(steps) * theta
    trust = np.clip(divisor / SMALLEST_DIVISOR - 1, 0.0, 1.0)
    return quotients(sums, divisor, trust > 0), trust


def check_new_points(X_new: ArrayLike, op: Operator) -> FloatArray:
    """Return the new points, checked: they need as many columns as the training points have."""
    known = op.graph.point_set.coordinates
    n_columns = None if known is None else known.shape[1]
    placed = op.graph.point_set.engine.placed
    points = check_points(X_new, at_least=0, n_columns=n_columns, placed=placed)
    if known is not None and points.shape[1] != known.shape[1]:
        raise InputError(
            f"New points must have {known.shape[1]} columns; received shape {points.shape}. "
            "Select and scale the columns as it was done for training."
        )
    furthest = float(np.abs(points).max()) if len(points) else 0.0
    if furthest > LARGEST_COORDINATE:
        raise InputError(
            f"New points lie too far away; received a coordinate of size {furthest:.3g}. Look for "
            "missing-value codes among them."
        )
    return points


def complain(far: BoolArray, strict: bool) -> None:
    """Warn of points outside the data; raise, if `strict`."""
    message = (
        f"{int(far.sum())} of {len(far)} new points, the first is number {int(np.argmax(far))}, "
        "lie outside the data, where no training point's kernel reaches."
    )
    if strict:
        raise InputError(f"{message} Pass outside='nan' or outside='nearest'.")
    hint = "pass outside='nearest' for those of the nearest training points."
    warn_user(f"{message} Their values are NaN; {hint}", OutsideWarning)
