"""More verbs of a spectrum: what the process does in time, as methods of `Spectrum`.

Those rooms compute in this machine's memory: a spectrum that lives on a device is copied first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from ..base.arrays import FloatArray

if TYPE_CHECKING:
    from ..dynamics.clock import Clock
    from .spectrum import Spectrum


def correlation(
    self: Spectrum,
    f: ArrayLike,
    g: ArrayLike | None = None,
    *,
    times: ArrayLike,
    clock: Clock | None = None,
) -> FloatArray:
    """Return how a function is correlated in time with itself, or with another.

    It is the mean of δf at a time and δg after t, δ being the difference from the mean: at t = 0
    the covariance, and in the end 0.

    Parameters
    ----------
    f, g : (N,) or (N, m) arrays
        Values of functions on the points, column by column; `g` is `f` by default.
    times : float or (k,) array
        Times, 0 or more.
    clock : Clock, optional
        As in `evolve`.

    Returns
    -------
    array
        A number for one function and one time; (k,), (m,) or (m, k). In a process of several pieces
        it ends at the covariance of the means over pieces.

    Warns
    -----
    ShortTimeWarning
        As in `evolve`.

    Examples
    --------
    >>> sample = vbdm.datasets.ou(1500, dim=1, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(6)
    >>> start, later = spectrum.correlation(sample.points[:, 0], times=[0, 1.0])
    >>> round(later / start, 1)                                               # e^-1 = 0.37
    np.float64(0.4)
    """
    from ..dynamics.correlations import correlation

    return correlation(self.on_host, f, g, times, clock)


def power_spectrum(
    self: Spectrum, f: ArrayLike, frequencies: ArrayLike, *, clock: Clock | None = None
) -> FloatArray:
    r"""Return the power spectrum of a function along the process: the transform of `correlation`.

    Parameters
    ----------
    f : (N,) or (N, m) array
        Values of one or several functions on the points.
    frequencies : float or (k,) array
        Frequencies ν, in cycles per unit of time.
    clock : Clock, optional
        As in `evolve`.

    Returns
    -------
    array
        Of shapes as in `correlation`. The integral over all frequencies, negative ones too, is the
        variance of f as far as the modes hold it. What differs between pieces, and never changes,
        is left out.

    Notes
    -----
    Implements :math:`S(ν) = Σ_j 2 a_j^2 κ_j/((2πν)^2 + κ_j^2)`, :math:`κ_j = D |λ_j|`, for modes
    that are orthogonal.
    """
    from ..dynamics.correlations import power_spectrum

    return power_spectrum(self.on_host, f, frequencies, clock)


def relax(
    self: Spectrum,
    density: ArrayLike,
    f: ArrayLike,
    times: ArrayLike,
    *,
    clock: Clock | None = None,
) -> FloatArray:
    """Return the mean of a function as the process relaxes from a density.

    Parameters
    ----------
    density : (N,) array
        The share of each point in the beginning, up to a factor; a mask starts from all of its
        points alike. A density relative to the invariant measure is `density * op.measure`.
    f : (N,) or (N, m) array
        Values of one or several functions on the points.
    times : float or (k,) array
        Times, 0 or more.
    clock : Clock, optional
        As in `evolve`.

    Returns
    -------
    array
        A number for one function and one time; (k,), (m,) or (m, k).

    Warns
    -----
    ShortTimeWarning
        As in `evolve`.

    Examples
    --------
    >>> sample = vbdm.datasets.ou(1500, dim=1, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(6)
    >>> x = sample.points[:, 0]
    >>> start = np.abs(x - 1) < 0.1
    >>> spectrum.relax(start, x, [0.5, 1.0, 5.0]).round(1)                    # e^-t
    array([0.6, 0.4, 0. ])
    """
    from ..dynamics.correlations import relax

    return relax(self.on_host, density, f, times, clock)


def respond(
    self: Spectrum,
    observable: ArrayLike,
    potential: ArrayLike,
    times: ArrayLike,
    *,
    clock: Clock | None = None,
) -> FloatArray:
    r"""Return how a mean answers to a small extra potential that is switched on at time 0.

    The process moves down a potential (in units of kT) and is in equilibrium. Then ε V is added,
    and the mean of A begins to change. For small ε it changes by ε times what is returned.

    Parameters
    ----------
    observable, potential : (N,) or (N, m) arrays
        Values of A and of V on the points, column by column.
    times : float or (k,) array
        Times since it was switched on, 0 or more.
    clock : Clock, optional
        As in `evolve`.

    Returns
    -------
    array
        δ⟨A⟩/ε: a number for one function and one time; (k,), (m,) or (m, k).

    Notes
    -----
    Implements :math:`δ⟨A⟩(t) = -ε Σ_j a_j v_j (1 - e^{D λ_j t})`, which tends to minus the
    covariance of A and V. It is the response of the gradient system whose generator L is: ask for
    operator "generator" if the points are samples of the process.

    Examples
    --------
    A force in the direction of x, V = -x, moves the mean of x by 1 - e^-t:

    >>> sample = vbdm.datasets.ou(1500, dim=1, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(6)
    >>> x = sample.points[:, 0]
    >>> spectrum.respond(x, -x, [1.0, 9.0]).round(1)
    array([0.6, 0.9])
    """
    from ..dynamics.correlations import respond

    return respond(self.on_host, observable, potential, times, clock)


def diffusion_distance(
    self: Spectrum, rows: int | ArrayLike, t: float, *, clock: Clock | None = None
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
    from ..dynamics.distances import diffusion_distance

    return diffusion_distance(self.on_host, rows, t, clock)


def commute_distance(self: Spectrum, rows: int | ArrayLike) -> FloatArray:
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
    from ..dynamics.distances import commute_distance

    return commute_distance(self.on_host, rows)


def pseudotime(self: Spectrum, root: int) -> FloatArray:
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
    >>> time = vbdm.estimate_operator(x).spectrum(8).pseudotime(0)
    >>> time[[0, 400, 799]].round(1)
    array([0. , 0.6, 1. ])
    """
    from ..dynamics.distances import pseudotime

    return pseudotime(self.on_host, root)
