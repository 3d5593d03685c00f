r"""Distances that follow the process: diffusion distance, commute distance, pseudotime.

All are distances in coordinates of modes, :math:`Σ_j w_j (φ_j(x) - φ_j(y))^2`, orthonormal in the
invariant measure:

* :math:`w = e^{2 λ t}`: how different the places are that one reaches from x and from y in the time
  t, the distance of two densities;
* :math:`w = 1/|λ|`: the time to go from a place to the other and back;
* :math:`w = 1/λ^2`: differences of density, summed over all times (diffusion pseudotime; Haghverdi
  and others 2016).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular

from ..base.arrays import BoolArray, FloatArray
from ..base.checks import a_count, is_whole, some_of
from ..base.threads import one_blas_thread
from ..errors import InputError, RootWarning, warn_user
from ..rows.block_array import mapped
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import function_of
from .evolution import in_natural_time

if TYPE_CHECKING:
    from .clock import Clock
    from .dynamics import Basis, Dynamics

#: Roots with more than this share of the points of their piece on either side are interior.
END = 0.1


def diffusion_distance(
    self: Dynamics, rows: int | ArrayLike, t: float, *, clock: Clock | None = None
) -> FloatArray:
    """Return the diffusion distance of all points from some of them.

    Two points are near if from both of them one comes to the same places in the time t.

    Parameters
    ----------
    rows : int or (m,) array of int
        Numbers of rows to measure from.
    t : float
        The time, 0 or more.
    clock : Clock, optional
        As in `evolve`.

    Returns
    -------
    (N,) or (N, m) array
        (Σ_j e^{2 λ_j t} (φ_j(x) - φ_j(y))²)^½, with orthonormal modes; from one row (N,). NaN at
        points of pieces that were not solved.
    """
    basis = self.basis
    time = in_natural_time(t, clock, "t")
    if time.ndim:
        raise InputError(
            f"`t` must be one time; received {time.size} times. Ask for one after the other."
        )
    return from_rows(basis, rows, np.exp(basis.rates * basis.varies * float(time)))


def commute_distance(self: Dynamics, rows: int | ArrayLike) -> FloatArray:
    r"""Return the commute distance of all points from some of them.

    Its square is the time to go from one place to the other and back (with diffusivity 1), as far
    as the modes resolve places: on surfaces and in space it grows with the number of modes, as it
    takes for ever to hit a point.

    Parameters
    ----------
    rows : int or (m,) array of int
        Numbers of rows to measure from.

    Returns
    -------
    (N,) or (N, m) array
        :math:`(Σ_j (φ_j(x) - φ_j(y))^2/|λ_j|)^{1/2}`; infinite on other pieces, NaN at points of
        pieces that were not solved.
    """
    spectrum, basis = self.spectrum, self.basis
    found = from_rows(basis, rows, weights_of(basis, 0.5))
    apart = spectrum.components[:, None] != spectrum.components[check_rows(spectrum, rows)]
    solved = ~spectrum.pieces.strays[:, None]
    infinite = (apart & solved).reshape(found.shape)
    return np.where(infinite, np.inf, found)


def pseudotime(self: Dynamics, root: int) -> FloatArray:
    r"""Return the diffusion pseudotime of all points from a root: 0 there, 1 at the farthest point.

    Parameters
    ----------
    root : int
        Number of the row where time begins: for cells, one of the earliest.

    Returns
    -------
    (N,) array
        :math:`(Σ_j (φ_j(x) - φ_j(root))^2/λ_j^2)^{1/2}` over its largest value; NaN on other
        pieces than the root's.

    Warns
    -----
    RootWarning
        If the root is no end of the slowest mode: more than a tenth of the points of its piece lie
        on either side of it. Points on both sides then have the same pseudotime.

    Examples
    --------
    >>> x = np.sort(np.random.default_rng(0).random(800))[:, None]
    >>> time = vbdm.estimate_operator(x).spectrum(8).dynamics.pseudotime(0)
    >>> time[[0, 400, 799]].round(1)
    array([0. , 0.6, 1. ])
    """
    spectrum, basis = self.spectrum, self.basis
    row = a_count(0, spectrum.operator.n_points - 1)(root, "root")
    found = from_rows(basis, row, weights_of(basis, 1.0))
    piece = spectrum.components == spectrum.components[row]
    warn_of_interior(basis, row, piece)
    found[~piece] = np.nan
    longest = np.nanmax(found)
    return np.asarray(found / longest if longest > 0 else found)


def weights_of(basis: Basis, power: float) -> FloatArray:
    """Return |λ|^-power, (k,), and 0 where λ = 0."""
    rates = np.abs(basis.rates)
    return np.where(basis.varies, np.where(basis.varies, rates, 1.0) ** -power, 0.0)


def from_rows(basis: Basis, rows: Any, weights: FloatArray) -> FloatArray:
    """Return distances of all points from some rows, (N,) from one, (N, m) from a list of them.

    `weights`, (k,), stretch the coordinates. NaN at points of pieces that were not solved.
    """
    numbers = check_rows(basis.spectrum, rows)
    # With ⟨Φ, Φ⟩ = Rᵀ R the functions Φ R⁻¹ are orthonormal.
    root = cholesky(basis.gram)
    turn = solve_triangular(root, np.diag(weights), trans="T").T
    order = basis.spectrum.operator.graph.order
    start = basis.functions[order.inside_rows(numbers)]
    with one_blas_thread():
        found = np.asarray(mapped(distances, basis.functions, turn, start))
    result = order.to_caller(found)
    result[basis.spectrum.pieces.strays] = np.nan
    return result[:, 0] if is_whole(rows) else result


def distances(u: FloatArray, turn: FloatArray, start: FloatArray) -> FloatArray:
    """Return the distances of rows from some places, (rows, m).

    Differences come first: a place is at no distance from itself, however products are rounded.
    """
    return np.stack([np.linalg.norm((u - place) @ turn, axis=1) for place in start], axis=1)


def check_rows(spectrum: Spectrum, rows: Any) -> NDArray[np.intp]:
    """Return one or several numbers of rows, which are in pieces that were solved."""
    n = spectrum.operator.n_points
    one = is_whole(rows)
    numbers = np.array([a_count(0, n - 1)(rows, "rows")]) if one else some_of(n)(rows, "rows")
    lost = spectrum.pieces.strays[numbers]
    if lost.any():
        raise InputError(
            "Distances start from points whose piece was solved; received row "
            f"{numbers[lost][0]}. `spectrum.components` has the piece of each row."
        )
    return np.asarray(numbers, dtype=np.intp)


def warn_of_interior(basis: Basis, root: int, piece: BoolArray) -> None:
    """Warn if the root is far from both ends of the slowest mode of its piece."""
    spectrum = basis.spectrum
    for j in basis.numbers[basis.varies]:
        values = function_of(spectrum, int(j))
        if np.ptp(values[piece]) > 1e-9 * np.abs(values).max():
            break
    else:
        return
    below = float((values[piece] < values[root]).mean())
    if min(below, 1 - below) > END:
        warn_user(
            f"The root, row {root}, is no end: along the slowest mode, {below:.0%} of the points "
            f"of its piece lie on one side and {1 - below:.0%} on the other, with the same "
            "pseudotime. Take a row where eigenfunction 1 is smallest or largest.",
            RootWarning,
        )
