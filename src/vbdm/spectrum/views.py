"""Views of a spectrum: methods of `Spectrum` that hand it to later rooms when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..engines.engine import at_work

if TYPE_CHECKING:
    from .spectrum import Spectrum


def table(self: Spectrum, format: str = "markdown") -> str:
    """Return the eigenvalues with total errors and 95 % intervals, as a table for a text.

    Parameters
    ----------
    format : {"markdown", "latex"}
        The language; LaTeX needs no package.

    Examples
    --------
    >>> sample = vbdm.datasets.sphere(600, random_state=0)
    >>> print(vbdm.estimate_operator(sample.points).spectrum(1).table())
    | j | eigenvalue | ± total error | 95 % interval |
    | ---: | ---: | ---: | ---: |
    | 0 | 0 | exact |  |
    """
    from ..report.tables import table

    return table(self, format)


def to_frame(self: Spectrum) -> Any:
    """Return the eigenvalues as a pandas DataFrame, one row each.

    Returns
    -------
    DataFrame
        Columns: ``eigenvalue``; ``group``, the number of the group of eigenvalues that cannot be
        told apart, and ``group_mean``; of this mean ``standard_error`` (sampling), ``total_error``,
        ``lower`` and ``upper`` (95 %); and ``in_doubt``, in words.

    Raises
    ------
    ImportError
        If pandas is not installed: it is needed here only.
    """
    from ..report.tables import to_frame

    return to_frame(self)


def as_html(self: Spectrum) -> str:
    """Return the table that notebooks show."""
    from ..report.tables import spectrum_html

    return spectrum_html(self)


@at_work("results")
def plot(self: Spectrum) -> Any:
    """Draw an overview and return its figure (see `vbdm.plot.summary`)."""
    from ..plot import summary

    return summary(self)
