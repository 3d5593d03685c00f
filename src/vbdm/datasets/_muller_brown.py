"""The potential of Müller and Brown: a bent valley with three wells in the plane."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..base.arrays import FloatArray
from ..base.checks import a_count, a_number, accepts, or_none
from ..base.points import check_points
from ..errors import InputError
from ._plane_grid import Disc, PlaneGrid, Transition
from ._sample import RandomState, Sample, Truth, check_n_samples, generator
from ._spectra import positive_c1_only

#: The usual temperature, kT = 20 in the unit of the potential.
BETA = 1 / 20
#: Where the plane is cut off; walls reflect. Here the density is below 1e-6 of its maximum.
BOX = ((-2.6, 1.4), (-1.0, 3.0))
#: Discs about the two deepest minima.
LEFT_WELL, RIGHT_WELL = Disc((-0.558, 1.441), 0.1), Disc((0.623, 0.028), 0.1)
#: Amplitudes, forms and centres of the four Gaussians.
HEIGHTS = (-200.0, -100.0, -170.0, 15.0)
FORMS = ((-1.0, 0.0, -10.0), (-1.0, 0.0, -10.0), (-6.5, 11.0, -6.5), (0.7, 0.6, 0.7))
CENTRES = ((1.0, 0.0), (0.0, 0.5), (-0.5, 1.5), (-1.0, 1.0))
#: Cells per axis of the table that points are drawn from.
TABLE = 1000
#: Cells per axis of the grid on which eigenvalues are found, and how many may be asked for.
SPECTRUM_CELLS, MOST_PAIRS = 200, 100
#: Most that the density may rise from the middle of a cell to another place in it.
MOST_RISE = 1.5
#: Between these the box holds the points, and the table resolves the wells.
INVERSE_TEMPERATURE = a_number(5e-3, 0.2)


def muller_brown_potential(points: FloatArray) -> FloatArray:
    """Return the potential V of Müller and Brown (1979) at points of the plane, (N, 2) → (N,).

    Its deepest minima are -146.7 at (-0.558, 1.441) and -108.2 at (0.623, 0.028).

    Examples
    --------
    >>> muller_brown_potential(np.array([[-0.558, 1.441], [0.623, 0.028]])).round(1)
    array([-146.7, -108.2])
    """
    points = check_points(points, at_least=0, n_columns=2)
    if points.shape[1] != 2:
        raise InputError(
            "The potential takes points with two columns; received an array of shape "
            f"{points.shape}. Pass an array of shape (N, 2)."
        )
    value = np.zeros(len(points))
    for height, (a, b, c), centre in zip(HEIGHTS, FORMS, CENTRES, strict=True):
        x, y = (points - centre).T
        with np.errstate(over="ignore"):
            value += height * np.exp(a * x**2 + b * x * y + c * y**2)
    return value


@accepts(beta=INVERSE_TEMPERATURE, beta_sampling=or_none(INVERSE_TEMPERATURE))
def muller_brown(
    n_samples: int,
    *,
    beta: float = BETA,
    beta_sampling: float | None = None,
    random_state: RandomState = None,
) -> Sample:
    """Draw independent points of ``exp(-βV)`` on the plane, V of Müller and Brown (1979).

    Three wells along a bent valley: paths between the two deepest do not follow the axes. The truth
    is a solution by finite volumes, which takes a few seconds: the first ten eigenvalues are right
    to 0.2 %. The third of them, -2.46 at the usual temperature, belongs to a plateau about
    (-1.9, 1.9) with one point in two hundred, which thousands of points do not resolve.
    `muller_brown_transition` has the committor and the rates between the deepest wells.

    Parameters
    ----------
    n_samples : int
        Number of points.
    beta : float
        The inverse temperature 1/kT.
    beta_sampling : float or None
        The inverse temperature at which the points are drawn, below ``beta`` in order to cross
        barriers more often; ``sample.weights`` bring them back to ``beta``. None: ``beta`` itself.

    Examples
    --------
    >>> sample = muller_brown(500, beta_sampling=1 / 40, random_state=0)
    >>> sample.points.shape, sample.weights.shape
    ((500, 2), (500,))
    """
    check_n_samples(n_samples, 2)
    hotter = beta if beta_sampling is None else beta_sampling
    points = _drawn(n_samples, hotter, generator(random_state))
    energy = muller_brown_potential(points)
    density = np.exp(-hotter * energy - _log_mass(hotter))
    weights = None
    if hotter != beta:
        weights = np.exp((hotter - beta) * energy + _log_mass(hotter) - _log_mass(beta))

    def build(n: int, c1: float) -> Truth:
        a_count(1, MOST_PAIRS)(n, "n")
        return _spectrum(INVERSE_TEMPERATURE(c1 * beta, "c1 * beta"), n, c1)

    truth = positive_c1_only("muller_brown", build)
    return Sample("muller_brown", points, points, 2, "generator", density, truth, weights)


@accepts(beta=INVERSE_TEMPERATURE, cells=a_count(20, 2000))
def muller_brown_transition(beta: float = BETA, *, cells: int = 400) -> Transition:
    """Solve for the passage between the two deepest wells of Müller and Brown (1979).

    A and B are discs of radius 0.1 about (-0.558, 1.441) and (0.623, 0.028). The solution is that
    of finite volumes, with so many ``cells`` along each axis: 400 take a second or two, once per
    process. From 400 to 600 the committor changes by less than 2e-4, and the rates by 2e-5 of
    themselves.

    Examples
    --------
    >>> known = muller_brown_transition(cells=100)
    >>> round(known.mean_passage_time, 1)
    27.3
    >>> known.committor(np.array([[-0.558, 1.441], [0.623, 0.028]]))
    array([0., 1.])
    """
    return _solved(beta, cells)


@lru_cache(maxsize=4)
def _solved(beta: float, cells: int) -> Transition:
    return _grid(beta, cells).transition(LEFT_WELL, RIGHT_WELL)


@lru_cache(maxsize=4)
def _spectrum(beta: float, n: int, c1: float) -> Truth:
    return _grid(beta, SPECTRUM_CELLS).spectrum(n, c1)


@lru_cache(maxsize=2)
def _table(beta: float) -> PlaneGrid:
    return _grid(beta, TABLE)


def _grid(beta: float, cells: int) -> PlaneGrid:
    def potential(points: FloatArray) -> FloatArray:
        return beta * muller_brown_potential(points)

    return PlaneGrid(potential, BOX, cells)


def _drawn(n_samples: int, beta: float, rng: np.random.Generator) -> FloatArray:
    """Draw cells of a table, then places in them, and reject so many that the density is exact."""
    table = _table(beta)
    running = np.cumsum(table.mass)
    side = [(high - low) / TABLE for low, high in BOX]
    found = np.empty((0, 2))
    while len(found) < n_samples:
        wanted = int(MOST_RISE * (n_samples - len(found))) + 100
        cell = np.searchsorted(running, rng.random(wanted) * running[-1], side="right")
        points = table.centres[cell] + side * rng.uniform(-0.5, 0.5, (wanted, 2))
        rise = np.exp(table.heights[cell] - table.potential(points))
        found = np.vstack([found, points[rng.random(wanted) * MOST_RISE < rise]])
    return found[:n_samples]


def _log_mass(beta: float) -> float:
    """Return the logarithm of ∫ exp(-βV) over the box."""
    return _table(beta).log_mass
