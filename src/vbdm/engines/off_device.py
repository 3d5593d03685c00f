"""What the engine of a GPU does not take, and where results cannot stay there, in words."""

from __future__ import annotations

from typing import Any

from ..base.arrays import shape_of
from ..base.memory import TREE_COLUMNS
from ..errors import DeviceError


def not_on_device(what: str, received: str, because: str, hint: str = "") -> DeviceError:
    """Return the error for something that the engine of a GPU does not do.

    Parameters
    ----------
    what : str
        Beginning of the sentence that ends with "cannot be had on the GPU".
    received, because, hint : str
        The other parts of the message; other engines are always among what to try.
    """
    return DeviceError(
        f"{what} cannot be had on the GPU; received {received}. {because} {hint}Pass "
        "engine='numba', or 'scipy': the processor computes with anything."
    )


def refuse_off_device(X: Any, metric: Any, search: Any, placement: Any) -> None:
    """Refuse what the engine of a GPU does not take: it walks over a k-d tree of points there.

    `placement` is None unless rows are to live in blocks.
    """
    if not (isinstance(metric, str) and metric == "euclidean"):
        raise not_on_device(
            "Other distances than Euclidean ones",
            f"metric={metric!r:.60}",
            "It finds pairs by a k-d tree, with straight distances.",
        )
    if hasattr(X, "point_set"):
        raise not_on_device(
            "An estimate from neighbours that were found elsewhere",
            "a NeighborGraph",
            "It searches itself, which takes less time there than to copy a graph.",
            "Pass the points. ",
        )
    if not (search is None or (isinstance(search, str) and search in ("auto", "kd-tree"))):
        raise not_on_device(
            "This search", f"search={search!r:.60}", "It has one of its own.", "Leave it out. "
        )
    if placement is not None:
        raise not_on_device(
            "Rows in blocks",
            f"placement={placement!r:.80}",
            "All rows live in the memory of the GPU.",
            "Leave `placement` out. ",
        )


def refuse_many_columns(X: Any) -> None:
    """Refuse points in more columns than a tree is of use for."""
    shape = shape_of(X)
    if len(shape) == 2 and shape[1] > TREE_COLUMNS:
        raise not_on_device(
            f"More than {TREE_COLUMNS} columns",
            f"{shape[1]} columns",
            "A k-d tree is of no use in so many.",
            "`vbdm.pca` makes fewer of them. ",
        )


def no_device_output(engine: str) -> DeviceError:
    """Return the error for results that are wanted on a GPU where none computes."""
    points = " and points in this machine's memory" if engine == "auto" else ""
    return DeviceError(
        "Results stay on a GPU only if it computes; received output='device' with "
        f"engine={engine!r}{points}. Pass engine='cuda', or points that are on the GPU; or leave "
        "`output` out."
    )
