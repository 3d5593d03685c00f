"""Verbs of a spectrum: methods of `Spectrum` that hand it to later rooms when they are called.

Those rooms compute in this machine's memory: a spectrum that lives on a device is copied first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..base.arrays import FloatArray

if TYPE_CHECKING:
    from ..dynamics.basis import Basis
    from ..dynamics.clock import Clock
    from ..dynamics.states import States
    from ..trust.verification import Verification
    from .spectrum import Spectrum


def basis(self: Spectrum) -> Basis:
    """Return the span of the modes, with the inner product of the invariant measure."""
    from ..dynamics.basis import basis_of

    return basis_of(self.on_host)


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

    return project(self.on_host, f)


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

    return evaluate(self.on_host, c)


def evolve(
    self: Spectrum,
    f: ArrayLike,
    t: ArrayLike,
    *,
    clock: Clock | None = None,
    by: str = "modes",
) -> FloatArray:
    """Return e^{tL} f: what is expected of f after the time t, by the point where one starts.

    It solves u' = L u from u = f: heat that spreads, or the mean of f over many walks.

    Parameters
    ----------
    f : (N,) or (N, m) array
        Values of one or several functions on the points.
    t : float or (k,) array
        One or several times, 0 or more.
    clock : Clock, optional
        From `clock`: times are then in its unit. By default they are in units in which the
        diffusivity is 1.
    by : {"modes", "steps"}
        By modes all times cost one pass over the eigenfunctions. In small steps, with 16 equations
        solved from each time to the next, short times and functions with edges are right, too, and
        no value leaves the range of f; fast parts of f decay a few per cent too slowly.

    Returns
    -------
    array
        (N,) or (N, m) for a number t; (N, k) or (N, m, k) for k times. NaN at points of pieces that
        were not solved; in steps, only at points that no other is joined to. The mean of
        f under `op.measure`, over the other points, stays the same up to rounding.

    Warns
    -----
    ShortTimeWarning
        If a part of f that the modes leave out may still be there at the first of the times: modes
        say little about times below the last of their own, -1/λ_n.

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

    return evolve(self.on_host, f, t, clock, by=by)


def clock(
    self: Spectrum,
    series: Any = None,
    *,
    step: float,
    unit: str = "",
    lags: ArrayLike | None = None,
    lengths: Sequence[int] | None = None,
) -> Clock:
    r"""Return how fast the process runs: its diffusivity, and times of modes in your unit.

    Points alone give eigenvalues in 1/length². Rows that follow each other in time tell how soon
    modes are forgotten, and so the diffusivity D between the two: rates are D·\|λ\|.

    Parameters
    ----------
    series : array or list of arrays, optional
        One time series, or several, with the columns of the points. By default the points
        themselves, in their order, are the series.
    step : float
        Time from one row to the next, in your unit.
    unit : str
        Name of that unit, such as "ns".
    lags : sequence of int, optional
        Numbers of rows after which modes are compared with themselves. By default 1, 2, 3, 4, 6,
        8, … up to a quarter of the longest series.
    lengths : sequence of int, optional
        Numbers of rows of several series that follow each other in one array. No row is compared
        with one of another series. By default as the operator was told.

    Returns
    -------
    Clock
        `.diffusivity` with its error, `.timescales` and ``.rates`` with theirs, and `.consistent`:
        False, with the `.reason` in words, where modes disagree about D or it depends on the lag.
        The process is then no overdamped diffusion that is the same in all directions, and
        `.by_mode` has times for single modes.

    Warns
    -----
    ClockWarning
        If the modes disagree.

    Notes
    -----
    Implements :math:`D_j = -\log C_j(τ)/(τ |λ_j|)`, with the correlation C_j of mode j after the
    time τ, averaged over modes with .05 < C_j < .98 by their covariance, at the first lag from
    which on D does not change (`vbdm.dynamics.diffusivity`). A mode whose C_j was within five
    standard errors of 0 at a shorter lag is forgotten, also if only longer `lags` are passed.

    Examples
    --------
    A process with diffusivity 0.5 in a parabolic well, whose slowest mode lasts 2 ns:

    >>> rng, rows = np.random.default_rng(0), np.zeros((4000, 1))
    >>> for t in range(1, 4000):
    ...     rows[t] = np.exp(-0.1) * rows[t - 1] + np.sqrt(1 - np.exp(-0.2)) * rng.normal()
    >>> spectrum = vbdm.estimate_operator(rows, "generator", series=True).spectrum(5)
    >>> clock = spectrum.clock(step=0.2, unit="ns")
    >>> clock.consistent, round(clock.diffusivity.value, 1)
    (True, 0.5)
    >>> bool(abs(clock.timescales[1] - 2) < 3 * clock.timescale_errors[1])
    True
    """
    from ..dynamics.diffusivity import clock

    return clock(self.on_host, series, step=step, unit=unit, lags=lags, lengths=lengths)


def drift(self: Spectrum, n_modes: int | None = None) -> FloatArray:
    r"""Return the drift L x: where, and how fast, the process is carried from each point.

    Never take `op @ x` for it. L x is a mean of differences over the kernel, divided by its small
    step, and the differences cancel almost: what is left is noise of 300 to 500 % at 10,000 points,
    more with more points. Modes are smooth, and those that the data resolve hold all of the drift
    that the data can tell:

    .. math:: L x ≈ Σ_j λ_j c_j φ_j, \qquad x ≈ Σ_j c_j φ_j.

    Parameters
    ----------
    n_modes : int or None
        How many modes to use, the constant included; by default all of the spectrum. Each more
        adds detail and noise: on 10,000 points of a Gaussian in the plane the error is 7 to 13 %
        with 12 modes, and 20 % with 30.

    Returns
    -------
    (N, n) array
        In units of a diffusivity of 1: a `clock` knows D, and D times this is in your unit of
        time. On a flat space it is ∇log π, with the invariant density π; on a curved one also the
        mean curvature, which keeps the process there. In periodic columns it is the speed of the
        angle. NaN at points of pieces that were not solved.

    Examples
    --------
    >>> sample = vbdm.datasets.ou(4000, dim=2, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(12)
    >>> drift = spectrum.drift()                             # the truth is -x
    >>> inner = np.linalg.norm(sample.points, axis=1) < 2
    >>> error = (drift + sample.points)[inner]
    >>> bool(np.sqrt((error**2).mean()) < 0.3)
    True
    """
    from ..calculus.drift import drift

    return drift(self.on_host, n_modes)


def states(self: Spectrum, n: int | str = "auto", *, clock: Clock | None = None) -> States:
    """Return metastable states: regions that the process leaves seldom.

    Parameters
    ----------
    n : int or "auto"
        Number of states, 2 or more. By default as many as there are modes before the largest gap
        between their rates; where the points fall into pieces, one state for each piece.
    clock : Clock, optional
        From `clock`: rates and times are then in its unit of time.

    Returns
    -------
    States
        `.memberships`, (N, n), shares that sum to 1; `.labels`; `.populations` with errors;
        ``.rates``, (n, n), from state to state; `.timescales`; `.crispness` and `.gap`.

    Raises
    ------
    InputError
        If there is no gap: the process then has no metastable states, or more modes are needed.

    Notes
    -----
    Implements PCCA+ on the eigenfunctions (`vbdm.dynamics.simplex`) and rates
    :math:`Q = B^{-1} Λ B` for memberships Φ B. The cost is O(N n²).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> points = rng.normal(size=(1000, 2)) + np.where(rng.random((1000, 1)) < 0.7, 0, [[4.5, 0]])
    >>> states = vbdm.estimate_operator(points, "generator").spectrum(5).states()
    >>> len(states), [round(one.value, 1) for one in states.populations]
    (2, [0.7, 0.3])
    >>> bool(np.allclose(states.memberships.sum(axis=1), 1))
    True
    """
    from ..dynamics.metastable import states

    return states(self.on_host, n, clock)


def verify(self: Spectrum) -> Verification:
    """Solve the same matrix in another way, count its eigenvalues, and compare.

    See `vbdm.trust.verification.verify`. This checks the solver, not the estimate.
    """
    from ..trust.verification import verify

    return verify(self.on_host)
