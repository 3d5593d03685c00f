"""Blemishes of real data, put on a clean sample."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..base.checks import an
from ._sample import Indices, RandomState, Sample, check_scale, check_share, generator

MAKE_ONE = "Make one, for example by vbdm.datasets.circle(1000)."


def with_outliers(
    sample: Sample, *, share: float = 0.01, box: float = 12.0, random_state: RandomState = None
) -> Sample:
    """Replace a share of the points by uniform ones in ``[-box, box]**n_ambient``.

    The truth stays that of the clean sample. An outlier has no place on the manifold: its
    parameters and its density are NaN, which also tells where the outliers are.

    Examples
    --------
    >>> from vbdm.datasets import circle
    >>> dirty = with_outliers(circle(200), share=0.05, random_state=0)
    >>> int(np.isnan(dirty.density).sum())
    10
    """
    an(Sample, MAKE_ONE)(sample, "sample")
    box = check_scale(box, "box")
    rng = generator(random_state)
    rows = _chosen_rows(len(sample.points), share, rng)
    points, parameters = sample.points.copy(), sample.parameters.copy()
    density = sample.density.copy()
    points[rows] = rng.uniform(-box, box, (rows.size, points.shape[1]))
    parameters[rows] = np.nan
    density[rows] = np.nan
    return replace(
        sample,
        name=f"{sample.name}+outliers",
        points=points,
        parameters=parameters,
        density=density,
    )


def with_duplicates(
    sample: Sample, *, share: float = 0.3, random_state: RandomState = None
) -> Sample:
    """Replace a share of the rows by exact copies of rows that are kept.

    Parameters and density go with the points, so the truth still holds row by row.
    """
    an(Sample, MAKE_ONE)(sample, "sample")
    rng = generator(random_state)
    rows = _chosen_rows(len(sample.points), share, rng)
    source = np.arange(len(sample.points))
    kept = np.setdiff1d(source, rows)
    source[rows] = rng.choice(kept, rows.size)
    return replace(
        sample,
        name=f"{sample.name}+duplicates",
        points=sample.points[source],
        parameters=sample.parameters[source],
        density=sample.density[source],
        weights=None if sample.weights is None else sample.weights[source],
    )


def _chosen_rows(size: int, share: float, rng: np.random.Generator) -> Indices:
    # At least one row is kept, however small the sample.
    return rng.choice(size, min(round(check_share(share) * size), size - 1), replace=False)
