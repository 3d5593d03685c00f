"""The picture of a results folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from ..progress import report
from ..spectrum.spectrum import Spectrum


def can_draw() -> bool:
    """Tell whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def draw_figures(spectrum: Spectrum, folder: Path) -> None:
    """Draw the overview of a spectrum into a folder, as a PNG file.

    It holds all pictures, and drawing each of them once more took longer than a small estimate:
    ``vbdm plot FOLDER --what NAME`` draws them when they are wanted.
    """
    from .. import plot

    folder.mkdir()
    report("figures", 0, 1)
    save_picture(partial(plot.summary, spectrum), folder / "summary.png")
    report("figures", 1, 1)


def save_picture(
    draw: Callable[[], Any], target: Path | IO[bytes], kind: str = "png", dpi: int = 110
) -> None:
    """Draw a picture, write it to a file, and close the figure."""
    import matplotlib.pyplot as plt

    drawn = draw()
    # Some functions return a figure, some axes, some an array of axes.
    first = drawn.flat[0] if hasattr(drawn, "flat") else drawn
    figure = first if hasattr(first, "savefig") else first.figure
    # Without a date inside, equal results make equal files.
    date = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
    try:
        figure.savefig(target, format=kind, dpi=dpi, metadata=date)
    finally:
        plt.close(figure)
