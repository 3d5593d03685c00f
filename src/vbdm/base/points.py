"""Points and functions on them, as users pass them: what is no such array is refused in words."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from ..errors import InputError
from .arrays import FloatArray, contiguous, is_elsewhere, to_host
from .checks import KIND_NAMES, as_floats, kind_of, shown
from .threads import rows_that_fit, slices_of

#: Where AnnData objects keep the coordinates that most analyses use.
USUAL_KEY = "X_pca"


def check_points(
    points: ArrayLike,
    at_least: int = 2,
    n_columns: int | None = None,
    placed: Callable[[Any], Any] | None = None,
) -> FloatArray:
    """Return the points as a finite, C-ordered float64 array of shape (N, n), N >= `at_least`.

    `n_columns`, the number of columns of earlier points, serves the message alone. `placed` brings
    the array to where it is computed with; without it, points that are on a device are copied.
    """
    found = points_in(points)
    try:
        there = placed is not None and is_elsewhere(found)
        X: Any = found if there else np.asarray(to_host(found))
        refuse_kind(X)
        if is_elsewhere(X):
            X = contiguous(X.astype(np.float64, copy=False))
        else:
            X = np.asarray(X, np.float64, order="C")
    except InputError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"The points must be an array of real numbers; received {type(points).__name__} "
            f"({error}). Pass an array of shape (n_points, n_coordinates)."
        ) from None
    if X.ndim != 2 or X.shape[1] == 0:
        raise wrong_shape(X, n_columns)
    if len(X) < at_least:
        raise InputError(
            f"At least two points are needed; received {len(X)} point(s). Rows are points and "
            "columns are coordinates; X.T may be meant."
        )
    if placed is not None:
        X = placed(X)
    check_finite(X, "points")
    checked: FloatArray = X
    # A bound that nearly all points keep costs no pass along each column, slow on a device.
    side = 2 * max(float(X.max()), -float(X.min())) if len(X) else 0.0
    with np.errstate(over="ignore"):
        too_far = not (
            np.isfinite(X.shape[1] * side * side) or np.isfinite(np.square(np.ptp(X, axis=0)).sum())
        )
    if too_far:
        raise InputError(
            "The points lie too far apart for their squared distances to be numbers; received a "
            f"largest coordinate of {float(np.abs(X).max()):.3g}. Check the units and the codes "
            "for missing values."
        )
    return checked


def check_finite(array: FloatArray, name: str, first_row: int = 0) -> None:
    """Raise if any entry is NaN or infinite; the message counts such rows and names the first.

    `first_row` is the number of the first row, where the array is a part of a larger one.
    """
    size = rows_that_fit(int(np.prod(array.shape[1:])), most=1 << 24)
    for rows in slices_of(array, size):
        finite = np.isfinite(array[rows])
        if finite.all():
            continue
        bad_rows = to_host(~finite.all(axis=tuple(range(1, array.ndim))))
        # More may follow in a large array, of which a part at a time is looked at.
        more = "at least " * (rows.stop < len(array))
        raise InputError(
            f"The {name} must be finite; received {more}{bad_rows.sum()} row(s) with NaN or "
            f"infinity, the first at row {first_row + rows.start + np.argmax(bad_rows)}. Drop or "
            "fill these rows first."
        )


def points_in(X: Any) -> Any:
    """Return what holds the points: X itself, or the principal components of an AnnData object.

    A path, a sparse matrix, text, dates, truth values and masked values are refused.
    """
    if isinstance(X, (str, bytes, os.PathLike)):
        raise InputError(
            f"A path is no array of points; received {shown(X)}. Use "
            "vbdm.io.prepare(vbdm.io.read(path))[0].points, or vbdm fit in a shell; "
            "estimate_operator reads .npy, .zarr and .parquet itself."
        )
    if hasattr(X, "obsm") and hasattr(X, "n_obs"):
        if USUAL_KEY not in X.obsm:
            raise InputError(
                f"The AnnData object has no obsm['{USUAL_KEY}']; received obsm with "
                f"{', '.join(X.obsm.keys()) or 'nothing'}. Run scanpy.pp.pca(adata) first, or "
                f"pass an array, such as adata.obsm['{next(iter(X.obsm.keys()), USUAL_KEY)}']."
            )
        return points_in(X.obsm[USUAL_KEY])
    if issparse(X):
        raise InputError(
            f"The points must be a dense array; received a sparse matrix of shape {X.shape}. "
            "Reduce the columns first, for example with sklearn.decomposition.TruncatedSVD, or "
            "pass X.toarray(); sparse distances go in with metric='precomputed'."
        )
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        refuse_columns({str(name): kind_of(np.asarray(X[name])) for name in X.columns})
    refuse_masked(X, "points")
    if isinstance(X, (np.ndarray, list, tuple)):
        try:
            refuse_kind(np.asarray(X))
        except InputError:
            raise
        except ValueError:
            # Rows of unequal length are no array; whoever converts them next says so.
            pass
    return X


def refuse_columns(kinds: Mapping[str, str]) -> None:
    """Raise if any columns of a table, given by name, hold a kind of values that is no number."""
    wrong = [f"{name!r} ({kind})" for name, kind in kinds.items() if kind]
    if wrong:
        raise InputError(
            f"All columns must be real numbers; received {', '.join(wrong[:5])}"
            f"{' and more' * (len(wrong) > 5)}. In pandas, X.select_dtypes('number') leaves them "
            "out."
        )


def refuse_kind(array: NDArray[Any]) -> None:
    """Raise if an array holds text, dates or truth values, also inside Python objects."""
    kind = kind_of(array)
    if kind:
        advice = (
            "Pass real and imaginary parts as two columns."
            if kind == KIND_NAMES["c"]
            else "Convert them yourself if they are meant: X.astype(float)."
        )
        raise InputError(
            f"The points must be an array of real numbers; received {kind} (type {array.dtype}). "
            f"{advice}"
        )


def refuse_masked(array: Any, name: str) -> None:
    """Raise if some values of a masked array are masked: what lies below a mask is no value."""
    if np.any(np.ma.getmask(array)):
        hidden = np.atleast_1d(np.ma.getmaskarray(array))
        rows = np.asarray(hidden.any(axis=tuple(range(1, hidden.ndim))))
        raise InputError(
            f"The {name} must not be masked; received {rows.sum()} of {len(rows)} row(s) with "
            f"masked values, the first at row {np.argmax(rows)}. Leave these rows out: "
            "X[~np.ma.getmaskarray(X).any(axis=1)].data does it for a table."
        )


def wrong_shape(array: NDArray[Any], n_columns: int | None = None) -> InputError:
    """Return the error for an array that is no table; `n_columns` are those of earlier points."""
    hint = "Pass shape (n_points, n_coordinates)"
    if array.ndim == 1:
        many = "X.reshape(-1, 1) for many points on a line, or "
        hint = f"Use {many if n_columns in (None, 1) else ''}X.reshape(1, -1) for one point"
    elif array.ndim > 2:
        hint = "If the first axis counts the points, use X.reshape(len(X), -1)"
    return InputError(
        "The points must be a table with one row per point; received an array of shape "
        f"{array.shape}. {hint}."
    )


def check_per_point(values: ArrayLike, name: str, n_points: int) -> FloatArray:
    """Return a copy of the values as one finite float64 per point, shape (N,)."""
    refuse_masked(values, name)
    array = as_floats(values)
    if array is None or array.shape != (n_points,):
        seen = type(values).__name__ if array is None else f"shape {array.shape}"
        raise InputError(
            f"`{name}` must hold one number per point, shape ({n_points},); received {seen}. "
            "Compute it from the very array of points that is passed."
        )
    check_finite(array, name)
    return array


def check_function(f: ArrayLike, n_points: int, there: bool = False) -> FloatArray:
    """Return the values of one or several functions on the points, (N,) or (N, m), finite.

    They come back in this machine's memory, unless they may stay `there`, on a device.
    """
    refuse_masked(f, "function values")
    values = as_floats(f, there)
    if values is None or values.ndim not in (1, 2) or len(values) != n_points:
        seen = type(f).__name__ if values is None else f"shape {values.shape}"
        raise InputError(
            f"A function on the points has shape ({n_points},) or ({n_points}, m); received "
            f"{seen}. Evaluate f on the very points that were passed, in the same order."
        )
    check_finite(values, "function values")
    return values
