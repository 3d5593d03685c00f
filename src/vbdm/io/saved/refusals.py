"""What cannot be saved: code, and broken numbers. A refusal names it, and says a way out."""

from __future__ import annotations

from typing import Any

from ...base.errors import InputError, bad_input

#: What a user may have given that is code, and what to do instead.
FUNCTIONS = {
    "shape": "Use one of the named shapes: 'gaussian', 'broad' or 'compact'.",
    "bandwidth": "Pass `bandwidth` as an array, one value per point: such a model can be saved, "
    "but not be extended to new points.",
    "potential": "Pass `potential` as an array, one value per point: such a model can be saved, "
    "but not be extended to new points.",
    "metric": "Use a metric that has a name, or pass the neighbours, found with your own distance, "
    "to `NeighborGraph.from_arrays`.",
    "search": "Use an engine of `vbdm.search`, or pass the neighbours that yours has found to "
    "`NeighborGraph.from_arrays`.",
}


def cannot_save(item: Any, name: str) -> InputError:
    """Say what cannot be written down, and what to do instead."""
    return bad_input(
        f"`{name}` cannot be saved.",
        received=f"{type(item).__name__} {getattr(item, '__name__', '')}".strip(),
        because="A saved model holds numbers and names, no code, so that loading a file is safe.",
        hint=FUNCTIONS.get(name, "Pass plain numbers, text, lists or arrays of numbers."),
    )


def out_of_bounds(path: str) -> InputError:
    """Say that a result holds numbers that no sound result has."""
    return bad_input(
        "This result is broken, and cannot be saved.",
        received=f"numbers in {path} that cannot be there",
        because="Numbers of extreme size overflow on the way, and a rule or a solver of your own "
        "may return NaN; a file with them would be refused when it is read.",
        hint="Check the units of the data, and what your own code returns.",
    )
