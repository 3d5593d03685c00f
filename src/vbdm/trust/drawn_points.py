"""Some points of a large cloud, drawn at random but always the same ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..spectrum.spectrum import Spectrum


def drawn_rows(spectrum: Spectrum, most: int) -> NDArray[np.intp]:
    """Return the rows of at most `most` points to be shown, sparse ones first.

    Points that are unresolved or on a weak link are few and matter: up to a quarter of the places
    are theirs.
    """
    n = spectrum.operator.n_points
    if n <= most:
        return np.arange(n)
    generator = np.random.default_rng(0)
    marked = np.flatnonzero(spectrum.unresolved | spectrum.weak_links)
    if len(marked) > most // 4:
        marked = generator.choice(marked, most // 4, replace=False)
    others = np.setdiff1d(np.arange(n), marked)
    return np.sort(
        np.concatenate([marked, generator.choice(others, most - len(marked), replace=False)])
    )


def fair_rows(spectrum: Spectrum, most: int) -> NDArray[np.intp]:
    """Return the rows of at most `most` points, drawn with equal chances."""
    n = spectrum.operator.n_points
    return np.sort(np.random.default_rng(0).choice(n, min(most, n), replace=False))
