"""Verbs of a spectrum: methods of `Spectrum` that hand it to later rooms when they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..base.arrays import FloatArray

if TYPE_CHECKING:
    from .spectrum import Spectrum


def project(self: Spectrum, f: ArrayLike) -> FloatArray:
    """Return the coefficients c of a function in the modes, f ≈ Σ c_j φ_j.

    Parameters
    ----------
    f : (N,) or (N, m) array
        Values of one or several functions on the points.

    Returns
    -------
    (n,) or (n, m) array
        The coefficients that leave the smallest mean square of f - Σ c_j φ_j under the invariant
        measure `op.measure`. The mean of f, on each connected piece, is kept exactly. Modes whose
        eigenvalue is NaN are left out, with coefficient 0, and so are points of pieces that were
        not solved. One pass over the eigenfunctions, O(N n (n + m)).

    Examples
    --------
    >>> sample = vbdm.datasets.sphere(800, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points).spectrum(9)
    >>> height = sample.points[:, 2]
    >>> back = spectrum.evaluate(spectrum.project(height))
    >>> bool(np.abs(back - height).max() < 0.1)
    True
    """
    from ..dynamics.evolution import project

    return project(self, f)


def evaluate(self: Spectrum, c: ArrayLike) -> FloatArray:
    """Return the function Σ c_j φ_j on the points.

    Parameters
    ----------
    c : (n,) or (n, m) array
        A coefficient for each mode, for one or several functions, as from `project`. Modes whose
        eigenvalue is NaN are left out whatever theirs is.

    Returns
    -------
    (N,) or (N, m) array
        NaN at points of pieces that were not solved.
    """
    from ..dynamics.evolution import evaluate

    return evaluate(self, c)


def evolve(self: Spectrum, f: ArrayLike, t: ArrayLike) -> FloatArray:
    """Return e^{tL} f: what is expected of f after the time t, by the point where one starts.

    It solves u' = L u from u = f: heat that spreads, or the mean of f over many walks. Times are in
    units in which the diffusivity is 1; a `clock` knows how long that is: t = D · time.

    Parameters
    ----------
    f : (N,) or (N, m) array
        Values of one or several functions on the points.
    t : float or (k,) array
        One or several times, 0 or more.

    Returns
    -------
    array
        (N,) or (N, m) for a number t; (N, k) or (N, m, k) for k times. NaN at points of pieces that
        were not solved. The mean of f under `op.measure`, over the other points, stays the same up
        to rounding.

    Warns
    -----
    ShortTimeWarning
        If a part of f that the modes leave out may still be there at the first of the times: modes
        say little about times below 1/|λ_n|.

    Examples
    --------
    On the sphere, the height decays as e^{-2t}.

    >>> sample = vbdm.datasets.sphere(800, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points).spectrum(9)
    >>> height = sample.points[:, 2]
    >>> later = spectrum.evolve(height, [0.5, 1.0])
    >>> later.shape
    (800, 2)
    >>> (height @ later / (height @ height)).round(1)     # the truth: 0.37, 0.14
    array([0.4, 0.1])
    """
    from ..dynamics.evolution import evolve

    return evolve(self, f, t)
