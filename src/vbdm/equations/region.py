"""Sets of points as masks, made from row numbers, distances or masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import as_floats, shown
from ..engines.choose import to_engine
from ..errors import InputError
from ..graph.order import Order


@dataclass(frozen=True, eq=False)
class Region:
    """Some of the points.

    Attributes
    ----------
    mask : (N,) bool array
        Which ones, in the caller's order.
    distance : (N,) array or None
        Distance of all points to the edge of the set, if that is known.
    name : str
        What to call it in messages.
    """

    mask: BoolArray
    distance: FloatArray | None
    name: str

    def with_copies(self, order: Order) -> Region:
        """Return the set with all copies of its points: they are one point."""
        if order.copies is None:
            return self
        mask = order.to_caller(order.to_inside(self.mask.astype(np.float64)) > 0)
        return Region(np.asarray(mask), self.distance, self.name)

    @property
    def complement(self) -> Region:
        """All other points."""
        return Region(~self.mask, self.distance, f"the outside of {self.name}")


def region_of(what: Any, n: int, name: str) -> Region:
    """Return the set that a mask, row numbers or signed distances mean; it may be empty."""
    values, called = as_array(what), f"`{name}`"
    if values.shape == (n,):
        if is_mask(values):
            return Region(values.astype(np.bool_), None, called)
        if values.dtype.kind == "f":
            return by_distance(values, name)
        refuse_labels(values, name)
    return Region(by_rows(what, values, n, name), None, called)


def as_array(what: Any, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """Return what the user passed as an array; None in it, if its rows have different lengths.

    Arrays on a GPU, such as ``X[:, 0] < -1`` of points there, are copied into memory.
    """
    what = to_engine(what, "scipy")
    try:
        return np.asarray(what, dtype=dtype)
    except (ValueError, TypeError, OverflowError):
        return np.asarray(None)


def is_mask(values: NDArray[Any]) -> bool:
    """Tell whether N values are a mask: booleans, or zeros and ones of any type.

    As row numbers, N zeros and ones would name two points; as distances, all of them would lie in
    the set or within the unit 1 of it.
    """
    if values.dtype.kind == "O":
        return all(isinstance(value, bool | np.bool_) for value in values)
    if values.dtype.kind in "iuf":
        return len(values) > 2 and bool(((values == 0) | (values == 1)).all())
    return values.dtype.kind == "b"


def by_distance(values: FloatArray, name: str) -> Region:
    """Return the set of points whose signed distance to its edge is not positive."""
    if not np.isfinite(values).all():
        raise InputError(
            f"`{name}` has distances that are no numbers; received "
            f"{int((~np.isfinite(values)).sum())} values that are NaN or infinite. Pass a mask, "
            "if distances are not known everywhere."
        )
    distance = values.astype(np.float64)
    return Region(distance <= 0, np.abs(distance), f"`{name}`")


def refuse_labels(values: NDArray[Any], name: str) -> None:
    """Refuse N whole numbers with repeats: row numbers of a set have none, cluster numbers do."""
    if values.dtype.kind in "iu" and len(np.unique(values)) < len(values):
        raise InputError(
            f"`{name}` looks like labels; received a whole number for each point, "
            f"{len(np.unique(values))} different ones. As row numbers they would repeat; it is "
            f"not told which label is meant. Pass labels=, and one of the labels as `{name}`; "
            "distances have to be floats."
        )


def by_rows(what: Any, values: NDArray[Any], n: int, name: str) -> BoolArray:
    """Return a mask from row numbers."""
    numbers = as_floats(values) if values.dtype.kind in "iuf" and values.ndim <= 1 else None
    rows = np.atleast_1d(np.nan if numbers is None else numbers)
    if (rows != np.floor(rows)).any() or (rows < 0).any() or (rows >= n).any():
        raise InputError(
            f"`{name}` is no set of points; received {described(what)}. A set is a mask of {n} "
            f"booleans, row numbers from 0 to {n - 1}, a label, a condition such as 'x0 < -1.2', "
            f"or {n} signed distances to its edge. Pass, for example, X[:, 0] < -1.2."
        )
    mask = np.zeros(n, dtype=np.bool_)
    mask[rows.astype(np.intp)] = True
    return mask


def refuse_overlap(sets: Sequence[Region], names: Sequence[str]) -> None:
    """Refuse sets that share points."""
    for j, own in enumerate(sets):
        for other, name in zip(sets[:j], names, strict=False):
            both = int((own.mask & other.mask).sum())
            if both:
                raise InputError(
                    f"The sets `{name}` and `{names[j]}` overlap; received {both} points that "
                    "belong to both, copies of a point included. Take the common points out of "
                    "one of them."
                )


def described(what: Any) -> str:
    """Return what the user passed, in a few words."""
    values = as_array(what)
    if values.size > 8:
        return f"an array of shape {values.shape} and type {values.dtype}"
    return shown(what)
