"""The decorator of all compiled functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

#: Why numba keeps no compiled code on this machine; empty if it does.
NOT_KEPT: list[str] = []


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function at its first call, without the interpreter's lock; keep it on disk.

    Rounding is left as written: no reordering of sums and no fused multiply-adds, so that distances
    have the same bits as NumPy's. Numba refuses to keep code where it can write to no folder; the
    function is then compiled anew in every process.
    """
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError as error:
        NOT_KEPT.append(str(error))
        return numba.njit(nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Compile a small function into those that call it."""
    return numba.njit(nogil=True, inline="always")(function)
