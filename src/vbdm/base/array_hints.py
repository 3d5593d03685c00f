"""What people pass in place of an array of numbers, and the words that help each of them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from ..errors import InputError

#: Names of NumPy's kinds of values that are no real numbers.
KIND_NAMES = {
    "b": "truth values", "c": "complex numbers", "O": "Python objects", "U": "text", "S": "text",
    "T": "text", "V": "records", "M": "dates", "m": "time spans",
}  # fmt: skip
#: Where AnnData objects keep the coordinates that most analyses use.
USUAL_KEY = "X_pca"


def points_in(X: Any) -> Any:
    """Return what holds the points: X itself, or the principal components of an AnnData object.

    Raises
    ------
    InputError
        If X is a path, a sparse matrix, a frame with columns that are no numbers, an array of text,
        dates or truth values, or if some of its values are masked.
    """
    if isinstance(X, (str, bytes, os.PathLike)):
        raise InputError(
            f"A path is no array of points; received {repr(X)[:80]}. Use "
            "vbdm.io.prepare(vbdm.io.read(path))[0].points, or vbdm fit in a shell; "
            "estimate_operator reads .npy, .zarr and .parquet itself."
        )
    if hasattr(X, "obsm") and hasattr(X, "n_obs"):
        return points_in(coordinates_of(X))
    if issparse(X):
        raise InputError(
            f"The points must be a dense array; received a sparse matrix of shape {X.shape}. "
            "Reduce the columns first, for example with sklearn.decomposition.TruncatedSVD, or "
            "pass X.toarray(); sparse distances go in with metric='precomputed'."
        )
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        refuse_columns(X)
    refuse_masked(X, "points")
    if isinstance(X, (np.ndarray, list, tuple)):
        # Rows of unequal length are no array; whoever converts them next says so.
        refuse_kind(as_array(X))
    return X


def as_array(X: Any) -> NDArray[Any]:
    """Return an array of any kind; an empty one of numbers where rows have unequal lengths."""
    try:
        return np.asarray(X)
    except ValueError:
        return np.empty(0)


def coordinates_of(adata: Any) -> Any:
    """Return the principal components in an AnnData object; raise with its names if it has none."""
    names = list(adata.obsm.keys())
    if USUAL_KEY in names:
        return adata.obsm[USUAL_KEY]
    other = names[0] if names else USUAL_KEY
    raise InputError(
        "The AnnData object has no principal components; received obsm with "
        f"{', '.join(names) or 'nothing'}. Its points are taken from obsm['{USUAL_KEY}']. Run "
        f"scanpy.pp.pca(adata) first, or pass an array, such as adata.obsm['{other}']."
    )


def refuse_columns(frame: Any) -> None:
    """Raise if a data frame has columns that are no numbers, and name them."""
    columns: Iterable[tuple[Any, Any]] = (
        frame.items() if hasattr(frame, "items") else ((n, frame[n]) for n in frame.columns)
    )
    found = {str(name): kind_of(np.asarray(values)) for name, values in columns}
    refuse_columns_of({name: kind for name, kind in found.items() if kind})


def refuse_columns_of(wrong: Mapping[str, str]) -> None:
    """Raise if any columns, by name and kind, are no numbers."""
    if wrong:
        named = ", ".join(f"{name!r} ({kind})" for name, kind in list(wrong.items())[:5])
        raise InputError(
            "All columns must be real numbers; received "
            f"{named}{(' and more' if len(wrong) > 5 else '')}. Leave them out: "
            "X.select_dtypes('number') does it in pandas."
        )


def refuse_kind(array: NDArray[Any]) -> None:
    """Raise if an array holds text, dates or truth values, also inside Python objects."""
    kind = kind_of(array)
    if kind:
        truth = kind == KIND_NAMES["b"]
        reason = (
            "They are labels, not measurements."
            if truth
            else "Text, dates and complex "
            "numbers are no coordinates, even where they can be converted."
        )
        advice = (
            "Convert them yourself if they are meant: X.astype(float)."
            if kind != KIND_NAMES["c"]
            else "Pass real and imaginary parts as two columns."
        )
        raise InputError(
            f"The points must be an array of real numbers; received {kind} (type {array.dtype}). "
            f"{reason} {advice}"
        )


def kind_of(array: NDArray[Any]) -> str:
    """Return what an array holds in place of real numbers, in a word; empty if it is numbers.

    >>> kind_of(np.array(["1"])), kind_of(np.array([True], dtype=object)), kind_of(np.ones(2))
    ('text', 'truth values', '')
    """
    if array.dtype.kind != "O":
        return KIND_NAMES.get(array.dtype.kind, "")
    kinds = {type(value) for value in array.flat}
    if any(issubclass(kind, (str, bytes)) for kind in kinds):
        return KIND_NAMES["U"]
    if any(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return KIND_NAMES["b"]
    return KIND_NAMES["M"] if any(hasattr(kind, "isoformat") for kind in kinds) else ""


def refuse_masked(array: Any, name: str) -> None:
    """Raise if some values of a masked array are masked: what lies below a mask is no value."""
    mask = np.ma.getmask(array)
    if not np.any(mask):
        return
    hidden = np.atleast_1d(np.ma.getmaskarray(array))
    rows = np.asarray(hidden.any(axis=tuple(range(1, hidden.ndim))))
    advice = (
        "Leave these rows out: X[~np.ma.getmaskarray(X).any(axis=1)].data does it."
        if np.ndim(array) > 1
        else "Leave these entries out, together with their points."
    )
    raise InputError(
        f"The {name} must not be masked; received {rows.sum()} of {len(rows)} row(s) with masked "
        f"values, the first at row {np.argmax(rows)}. {advice}"
    )


def wrong_shape(array: NDArray[Any], n_columns: int | None = None) -> InputError:
    """Return the error for an array that is no table; `n_columns` are those of earlier points."""
    many = "Use X.reshape(-1, 1) for many points on a line"
    hint = f"{many}, or X.reshape(1, -1) for one point."
    because = "A one-dimensional array could be one point or many."
    if array.ndim == 1 and n_columns not in (None, 1):
        hint = "Use X.reshape(1, -1) for one point."
    elif array.ndim > 2:
        because = "Which axes are points and which are coordinates cannot be guessed."
        hint = "If the first axis counts the points, use X.reshape(len(X), -1)."
    elif array.ndim == 2:
        because, hint = "There are no columns.", "Pass shape (n_points, n_coordinates)."
    elif array.ndim == 0:
        because, hint = "A single number is no cloud.", "Pass shape (n_points, n_coordinates)."
    return InputError(
        "The points must be a table with one row per point; received an array of shape "
        f"{array.shape}. {because} {hint}"
    )
