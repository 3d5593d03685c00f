"""The library speaks of Python's arguments; here people type options."""

from __future__ import annotations

import re

#: Names of arguments whose option is called otherwise; the others only change their dashes.
OPTIONS = {
    "n": "--eigenpairs",
    "n_neighbors": "--neighbors",
    "n_density_neighbors": "--density-neighbors",
}
SAME = (
    "beta", "columns", "components", "delay_step", "delays", "dim", "effort", "epsilon", "every",
    "features", "format", "header", "key", "leave_one_out", "method", "metric", "operator",
    "outside", "period", "sample_dims", "search", "selection", "stride", "subsample", "topology",
    "variable",
)  # fmt: skip
OPTIONS |= {name: "--" + name.replace("_", "-") for name in SAME}
NAMED = re.compile(r"`(\w+)`")
GIVEN = re.compile(r"\b(\w+)='([^' ]+)'")


def in_options(text: str) -> str:
    """Return a message with options in place of arguments.

    Examples
    --------
    >>> in_options("Raise `n_neighbors`, or ask for operator='generator'. See `spectrum.bias`.")
    'Raise --neighbors, or ask for --operator generator. See `spectrum.bias`.'
    """
    text = text.replace("leave_one_out=False", "--no-leave-one-out")
    text = NAMED.sub(lambda found: OPTIONS.get(found[1], found[0]), text)
    return GIVEN.sub(
        lambda found: f"{OPTIONS[found[1]]} {found[2]}" if found[1] in OPTIONS else found[0], text
    )
