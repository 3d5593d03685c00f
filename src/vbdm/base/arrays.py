"""Types of arrays, the read-only view in which results are handed out, and where arrays live.

Arrays live in this machine's memory, as NumPy's, or on a device, as those of another library that
answers to NumPy's protocols: `np.sqrt(x)` then computes there, and `np.zeros(n, like=x)` makes an
array there. Rooms find out from the arrays where they are, and need only what stands here beside
NumPy itself. Two rules follow: nothing is turned into a NumPy array in passing (`np.asarray`), and
what is made to stand beside an array is made `like` it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int32]
BoolArray = NDArray[np.bool_]


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only view of the array, so that no reader of a result can change it.

    Arrays on a device have no such views, and come back as they are.
    """
    if is_elsewhere(array):
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def is_elsewhere(value: Any) -> bool:
    """Tell whether this is an array that does not live in this machine's memory."""
    if isinstance(value, np.ndarray):
        return False
    return hasattr(value, "__array_function__") and hasattr(value, "get")


def shape_of(value: Any) -> tuple[int, ...]:
    """Return the shape of an array of whatever library; () for what has none, as a list."""
    shape = getattr(value, "shape", ())
    return shape if isinstance(shape, tuple) else ()


def to_host(value: Any) -> Any:
    """Return arrays as NumPy's, also those in tuples and lists; other things as they are."""
    if is_elsewhere(value):
        return value.get()
    if type(value) in (tuple, list):
        return type(value)(to_host(entry) for entry in value)
    return value


def beside_array(value: Any, array: Any) -> Any:
    """Return NumPy arrays, also those in tuples and lists, where an array lives."""
    if isinstance(value, np.ndarray):
        return np.asarray(value, like=array) if is_elsewhere(array) else value
    if type(value) in (tuple, list):
        return type(value)(beside_array(entry, array) for entry in value)
    return value


def filled(
    shape: int | tuple[int, ...], value: Any, like: Any, dtype: DTypeLike = np.float64
) -> Any:
    """Return an array of equal numbers where another one lives (`np.full` knows no device)."""
    result = np.empty(shape, dtype=dtype, like=like)
    result[...] = value
    return result


def ones_for(values: Any) -> Any:
    """Return a 1 for each row of an array, (M,), where that lives."""
    return filled(len(values), 1.0, values)


def contiguous(array: Any) -> Any:
    """Return the array with contiguous rows: itself if it has them, else a copy."""
    if not is_elsewhere(array):
        return np.ascontiguousarray(array)
    return array if array.flags.c_contiguous else array.copy(order="C")


def quotients(over: Any, under: Any, where: Any, otherwise: float = 0.0) -> Any:
    """Return over / under where a condition holds, and another number elsewhere; all (M,).

    Examples
    --------
    >>> quotients(1.0, np.array([2.0, 0.0]), np.array([True, False])).tolist()
    [0.5, 0.0]
    """
    return np.where(where, over / np.where(where, under, 1.0), otherwise)


def column_sums(values: Any) -> Any:
    """Return the sums of columns, (m,), of a tall array (M, m)."""
    # On a device, a product is a hundred times faster than a sum along the long side.
    return ones_for(values) @ values if is_elsewhere(values) else values.sum(axis=0)


def column_dots(a: Any, b: Any) -> Any:
    """Return the sums of products of the columns of two tall arrays (M, m), (m,); of (M,), one."""
    if a.ndim == 1:
        return np.dot(a, b)
    return ones_for(a) @ (a * b) if is_elsewhere(a) else np.einsum("ij,ij->j", a, b)


def column_largest(values: Any) -> Any:
    """Return the largest number of each column, (m,), of a tall array (M, m)."""
    # Along the long side, a device is fast only if that is contiguous.
    return contiguous(values.T).max(axis=1) if is_elsewhere(values) else values.max(axis=0)


def marked_squares(values: Any, marked: Any, counts: Any = None) -> Any:
    """Return the sums of the squares of columns over marked rows, (m,).

    `counts` says how often each row occurs, if not once; all have M rows.
    """
    if is_elsewhere(values):
        # A device is faster with all rows than with a copy of some.
        often = marked.astype(np.float64) if counts is None else marked * counts
        return often @ np.abs(values) ** 2
    rows = np.flatnonzero(marked)
    square = np.abs(values[rows]) ** 2
    if counts is not None:
        square *= counts[rows, None]
    return square.sum(axis=0)


def row_pointer(counts: Any) -> Any:
    """Return where the rows of a CSR matrix begin, and where the last one ends, from their lengths.

    It gets the type of the indices where that is enough: SciPy would copy all indices to make the
    types alike. On a device it has 64 bits.
    """
    if is_elsewhere(counts):
        counts = counts.astype(np.int64, copy=False)
    short = not is_elsewhere(counts) and counts.sum() < 2**31
    pointer = np.zeros(len(counts) + 1, dtype=np.int32 if short else np.int64, like=counts)
    pointer[1:] = np.cumsum(counts)
    return pointer


#: Where results are handed out: in this machine's memory, or where they were computed.
OUTPUTS = ("numpy", "device")
#: Numbers of 8 bytes in a page of memory, and in the parts that are touched at a time.
PAGE, AT_ONCE = 512, 1 << 20


def to_user(values: Any, output: str = "numpy") -> Any:
    """Return results as users get them: read-only NumPy arrays, or as they are on a device."""
    return frozen(values if output == "device" else copy_to_host(values))


def from_user(values: Any, results: Any, output: str = "numpy") -> Any:
    """Return a user's values on the device of `results`, if they stay there; else on the host."""
    stays = output == "device" and is_elsewhere(results)
    return beside_array(values, results) if stays else to_host(values)


def copy_to_host(values: Any) -> Any:
    """Return an array, which may be large, as NumPy's.

    The system hands out fresh memory page by page, when each is first touched: that took most of
    the time of a copy from a device. So all cores touch it first.
    """
    if not is_elsewhere(values) or values.size < AT_ONCE or values.dtype.itemsize != 8:
        return to_host(values)
    from .threads import for_each, slices

    result = np.empty(values.shape, values.dtype)
    flat = result.reshape(-1)

    def touch(part: slice) -> None:
        flat[part.start : part.stop : PAGE] = 0

    for_each(touch, slices(flat.size, AT_ONCE))
    return values.get(out=result)
