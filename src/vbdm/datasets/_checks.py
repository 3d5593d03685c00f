"""Checks of the arguments of data sets, beyond those in `vbdm.base.checks`."""

from __future__ import annotations

import numpy as np

from ..base.errors import bad_input


def check_at_least(value: int, name: str, least: int = 1) -> None:
    """Raise unless ``value`` is an integer, ``least`` or more."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_integer or value < least:
        raise bad_input(
            f"`{name}` must be an integer, {least} or more.",
            received=repr(value),
            because="It counts points, dimensions or functions.",
            hint=f"Try {name}={max(least, 10)}.",
        )


def check_scale(value: float, name: str) -> None:
    """Raise unless ``value`` is a positive finite number."""
    if not (np.isfinite(value) and value > 0):
        raise bad_input(
            f"`{name}` must be a finite number greater than 0.",
            received=repr(value),
            because="It sets a size or a shape of the data set.",
            hint=f"Leave `{name}` at its default.",
        )
