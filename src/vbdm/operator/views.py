"""Views of an operator: methods of `Operator` that hand it to later rooms when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..engines.engine import at_work

if TYPE_CHECKING:
    from .operator import Operator


def as_html(self: Operator) -> str:
    """Return the table that notebooks show."""
    from ..report.tables import operator_html

    return operator_html(self)


@at_work("results")
def plot(self: Operator) -> Any:
    """Draw the choice of ε and the density, and return the figure (see `vbdm.plot`)."""
    from ..plot import summary

    return summary(self)
