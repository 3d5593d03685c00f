"""The pictures of a results folder."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

from ...base.progress import report
from ...spectrum.spectrum import Spectrum

#: Largest number of eigenfunctions that are drawn.
MOST_FUNCTIONS = 3


def can_draw() -> bool:
    """Tell whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def pictures_of(spectrum: Spectrum) -> dict[str, Callable[[], Any]]:
    """Return functions that draw the pictures of a spectrum, by the names of their files."""
    from ... import plot

    known = spectrum.operator.graph.points is not None
    last = len(spectrum.eigenvalues) - 1
    numbers = list(range(1, min(last, MOST_FUNCTIONS) + 1))
    pictures: dict[str, Callable[[], Any]] = {
        "summary": partial(plot.summary, spectrum),
        "spectrum": partial(plot.spectrum, spectrum),
    }
    if spectrum.operator.tuning.curve is not None:
        pictures["tuning"] = partial(plot.tuning, spectrum)
    if last >= 2:
        pictures["embedding"] = partial(plot.embedding, spectrum)
    if known:
        pictures["density"] = partial(plot.density, spectrum)
        pictures["unresolved"] = partial(plot.unresolved, spectrum)
        if numbers:
            pictures["eigenfunctions"] = partial(plot.eigenfunctions, spectrum, numbers)
    return pictures


def draw_figures(spectrum: Spectrum, folder: Path) -> None:
    """Draw all pictures of a spectrum into a folder, one PNG file each."""
    pictures = pictures_of(spectrum)
    folder.mkdir()
    report("figures", 0, len(pictures))
    for done, (name, draw) in enumerate(pictures.items(), start=1):
        save_picture(draw, folder / f"{name}.png")
        report("figures", done, len(pictures))


def save_picture(
    draw: Callable[[], Any], target: Path | IO[bytes], kind: str = "png", dpi: int = 130
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
