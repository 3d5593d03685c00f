"""Fewer columns before the estimate: principal (PCA) or slow (TICA) directions of the points.

>>> rng = np.random.default_rng(0)
>>> wide = rng.standard_normal((500, 2)) @ rng.standard_normal((2, 40))
>>> found = vbdm.pca(wide + 0.01 * rng.standard_normal((500, 40)), 0.99)
>>> found.n_columns, found.apply(wide).shape
(2, (500, 2))
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray, to_host
from ..base.checks import a_count, accepts, is_whole, numbers, or_none, shown
from ..base.points import check_points
from ..errors import InputError
from ..search.directions import axes_of

#: Principal directions with less than this share of the largest variance count as empty in TICA.
EMPTY = 1e-10
#: Pairs of rows that TICA wants for each principal direction: with fewer, chance looks slow.
PAIRS_EACH = 10


@dataclass(frozen=True)
class Projection:
    """Linear coordinates of points: ``(X - center) @ axes.T``.

    Attributes
    ----------
    kind : {"pca", "tica"}
        How the directions were found.
    center : tuple of float
        Mean of each column.
    axes : tuple of tuples of float
        One row per coordinate, with one number per column.
    values : tuple of float
        Share of the variance along each direction (PCA), or its autocorrelation (TICA).
    lag : int
        Rows between the pairs that TICA compares; 0 for PCA.
    """

    kind: str
    center: tuple[float, ...]
    axes: tuple[tuple[float, ...], ...]
    values: tuple[float, ...]
    lag: int = 0

    @property
    def n_columns(self) -> int:
        """Number of coordinates."""
        return len(self.axes)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates: pc1, pc2, … or tic1, tic2, …."""
        stem = {"pca": "pc", "tica": "tic"}[self.kind]
        return tuple(f"{stem}{number}" for number in range(1, self.n_columns + 1))

    @property
    def in_words(self) -> str:
        """What was done, in one sentence."""
        n, columns = self.n_columns, len(self.center)
        if self.kind == "pca":
            share = f"{100 * sum(self.values):.3g} %"
            return f"{n} principal direction(s) of {columns} columns hold {share} of the variance."
        slow = ", ".join(f"{value:.3g}" for value in self.values[:5])
        rest = ", …" if n > 5 else ""
        return (
            f"{n} slow direction(s) of {columns} columns, by TICA: over {self.lag} row(s) their "
            f"autocorrelations are {slow}{rest}."
        )

    def apply(self, points: ArrayLike) -> FloatArray:
        """Return the coordinates of points with the same columns, (N, m)."""
        X = np.asarray(to_host(points), dtype=np.float64)
        return np.asarray((X - np.array(self.center)) @ np.array(self.axes).T)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Projection:
        """Build a projection from plain values; raise ValueError unless they fit together."""
        made = cls(
            str(values["kind"]),
            tuple(map(float, values["center"])),
            tuple(tuple(map(float, axis)) for axis in values["axes"]),
            tuple(map(float, values["values"])),
            int(values["lag"]),
        )
        lengths = {len(axis) for axis in made.axes}
        numbers = (*made.center, *made.values, *(number for axis in made.axes for number in axis))
        fits = lengths == {len(made.center)} and len(made.values) == len(made.axes)
        if made.kind not in ("pca", "tica") or not fits or not all(map(math.isfinite, numbers)):
            raise ValueError("a projection whose parts do not fit")
        return made


def pca(points: ArrayLike, n: int | float) -> Projection:
    """Return the principal directions of points, the widest first.

    Parameters
    ----------
    points : (N, k) array
        The points, in memory.
    n : int or float
        Number of directions; or, between 0 and 1, the share of the variance that they hold at
        least.

    Examples
    --------
    >>> line = np.outer(np.arange(5.0), [3.0, 4.0])
    >>> vbdm.pca(line, 1).apply(line).ravel().tolist()
    [-10.0, -5.0, 0.0, 5.0, 10.0]
    """
    X = check_points(points, placed=to_host)
    found = axes_of(X)
    rank = found.basis.shape[1]
    shares = found.variances / max(found.variances.sum(), np.finfo(float).tiny)
    if isinstance(n, float | np.floating) and 0 < n < 1:
        wanted = min(rank, int(np.searchsorted(np.cumsum(shares), n * (1 - 1e-12))) + 1)
    else:
        wanted = count_of(n, "pca", rank, X.shape[1])
    return made_of("pca", X.mean(axis=0), found.basis[:, :wanted], shares[:wanted])


@accepts(lengths=numbers, rows=or_none(numbers))
def tica(
    points: ArrayLike,
    n: int,
    lag: int = 1,
    *,
    lengths: Sequence[int] = (),
    rows: NDArray[np.integer] | None = None,
) -> Projection:
    """Return the slow directions of a time series: those that change least within `lag` rows.

    Parameters
    ----------
    points : (N, k) array
        The series, in memory, one row after the other in time.
    n : int
        Number of directions.
    lag : int
        Rows between the two ends of a pair.
    lengths : sequence of int
        Numbers of rows of several series that follow each other: no pair reaches from one into
        another.
    rows : (N,) array, optional
        Time of each row, in steps; pairs over a gap are left out. By default there is no gap.

    Notes
    -----
    TICA (Molgedey and Schuster, 1994): the directions a that solve ``C(τ) a = ρ C(0) a`` with the
    largest ρ, where C(τ) is the covariance of rows τ apart, symmetrised as for a reversible
    process, and ρ is the autocorrelation of the coordinate. Each has standard deviation 1. C(0) is
    inverted in its principal directions with more than 1e-10 of the largest variance, and in at
    most one for every ten pairs: with more, chance alone looks slow.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> slow = np.cumsum(rng.standard_normal(2000)) / 50
    >>> series = np.stack([slow, rng.standard_normal(2000)], axis=1) @ [[1, 2], [3, -1]]
    >>> found = vbdm.tica(series, 1, lag=5).apply(series)[:, 0]
    >>> bool(abs(np.corrcoef(found, slow)[0, 1]) > 0.99)
    True
    """
    X = check_points(points, placed=to_host)
    lag = a_count(1, 2**40)(lag, "lag")
    parts = np.asarray(lengths)
    if len(parts) and ((parts < 1).any() or (parts % 1).any() or parts.sum() != len(X)):
        raise InputError(
            "`lengths` must be whole numbers that add up to the number of rows; received "
            f"{len(parts)} length(s) with the sum {parts.sum():g} for {len(X)} rows."
        )
    if rows is not None and len(rows) != len(X):
        raise InputError(
            f"`rows` must have one number for each point; received {len(rows)} for {len(X)} points."
        )
    first = pairs_of(len(X), lag, parts.astype(np.intp).tolist(), rows)
    if len(first) < 2 * PAIRS_EACH:
        raise InputError(
            f"The series is too short for TICA; received {len(first)} pair(s) of rows that are "
            f"{lag} apart, where {2 * PAIRS_EACH} are needed. Choose a smaller `lag`, or use `pca`."
        )
    now, later = X[first], X[first + lag]
    center = (now.mean(axis=0) + later.mean(axis=0)) / 2
    wide = axes_of(np.vstack([now, later]))
    kept = (wide.variances > EMPTY * wide.variances.max(initial=0.0)).sum()
    kept = min(int(kept), len(first) // PAIRS_EACH)
    whiten = wide.basis[:, :kept] / np.sqrt(wide.variances[:kept])
    before, after = (now - center) @ whiten, (later - center) @ whiten
    lagged = (before.T @ after) / len(first)
    values, turn = np.linalg.eigh((lagged + lagged.T) / 2)
    wanted = count_of(n, "tica", kept, X.shape[1])
    return made_of("tica", center, (whiten @ turn)[:, ::-1][:, :wanted], values[::-1][:wanted], lag)


def pairs_of(
    n_rows: int, lag: int, lengths: Sequence[int], rows: NDArray[np.integer] | None
) -> NDArray[np.intp]:
    """Return the first rows of all pairs that are `lag` apart in time, within one series."""
    first = np.arange(max(0, n_rows - lag))
    if len(lengths):
        series = np.repeat(np.arange(len(lengths)), lengths)
        first = first[series[first] == series[first + lag]]
    if rows is not None and len(rows) > 1:
        step = int(np.diff(rows).min())
        first = first[rows[first + lag] - rows[first] == lag * step]
    return first


def made_of(
    kind: str, center: FloatArray, basis: FloatArray, values: FloatArray, lag: int = 0
) -> Projection:
    """Return a projection; the largest entry of each direction is positive, so that signs hold."""
    top = np.abs(basis).argmax(axis=0)
    axes = (basis * np.sign(basis[top, np.arange(basis.shape[1])])).T
    return Projection(
        kind, tuple(center.tolist()), tuple(map(tuple, axes.tolist())), tuple(values.tolist()), lag
    )


def count_of(n: Any, name: str, most: int, n_columns: int) -> int:
    """Return a number of directions, or refuse it."""
    if is_whole(n) and 1 <= n <= most:
        return int(n)
    share = ", or a share of the variance between 0 and 1" if name == "pca" else ""
    raise InputError(
        f"`{name}` must be a number of directions from 1 to {most}{share}; received {shown(n)} "
        f"for {n_columns} column(s). So many directions can be told apart; ask for fewer."
    )
