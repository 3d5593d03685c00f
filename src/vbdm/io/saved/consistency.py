"""Do the numbers of a file fit each other? What follows from others is computed again and compared.

Kinds, shapes and bounds are looked at field by field (`fields`). But a bandwidth of 1e-300 is a
positive number as well, and would make NaNs later, far from their cause. Most numbers in a file
follow from others: ρ from the pilot density, factors, degrees and steps from the kernel. They agree
to rounding, on any machine; the tolerance leaves room for sums of single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...graph.lists import KeptLists
from ...graph.neighbor_graph import NeighborGraph
from ...kernel.bandwidth import Bandwidth
from ...kernel.pilot import PILOT_EPSILON, Pilot
from ...operator.operator import Operator, with_kernel
from ...operator.record import Settings
from ...rules import FromPotential, PowerOfDensity
from ...shapes import Gaussian
from ...spectrum.spectrum import Spectrum
from ...theory import exponents_for
from .fields import require

#: Relative difference up to which two numbers are the same.
TOLERANCE = 1e-3
#: The same for two sums over all pairs, which differ by rounding only.
SYMMETRIC = 1e-6
#: Natural logarithm of numbers that are nearly infinite; minus it, of those that are nearly 0.
EXTREME = 600.0
#: A pilot's sum over pairs is at least the point itself, up to this factor.
LEAST_SUM = 1e-6
#: Points at which the pilot bandwidth is measured again.
SOME_ROWS = 32
#: How many times faster than the fastest point a mode may seem to be.
FASTEST = 1000.0
#: The smallest eigenvalue of the modes' Gram matrix, below which they are not independent; not
#: looked at for more modes than this, for which it takes long.
DEPENDENT, MOST_MODES = 1e-13, 200


def require_same(found: ArrayLike, expected: ArrayLike, path: str) -> None:
    """Raise if two arrays of numbers do not agree."""
    with np.errstate(all="ignore"):
        same = np.allclose(found, expected, rtol=TOLERANCE, atol=0, equal_nan=False)
    require(same, path, "does not fit the other numbers")


def check_pilot(pilot: Pilot, dim: float, n_rows: int) -> None:
    """Raise if the pilot density is not a sum over pairs, divided by the kernel's volume."""
    with np.errstate(all="ignore"):
        volume = np.log(Gaussian().moments(dim, pilot.cutoff).m0)
        volume = volume + dim / 2 * np.log(PILOT_EPSILON * np.square(pilot.rho0))
        density = np.log(pilot.density)
        sums = density + np.log(n_rows) + volume
    fits = (sums >= np.log(LEAST_SUM)) & (sums <= np.log(1.01 * n_rows))
    # Volumes too small or too large for a number make densities that are infinite or 0.
    fits |= (volume < -EXTREME) & (density > EXTREME) | (volume > EXTREME) & (density < -EXTREME)
    require(fits.all(), "pilot/density", "does not fit the other numbers")


def check_widths(pilot: Pilot, graph: NeighborGraph) -> None:
    """Raise if the pilot bandwidth is not that of the points, at a few of them."""
    far = np.sqrt(pilot.radii) >= (1 - TOLERANCE) * pilot.rho0
    require(far.all(), "pilot/radii", "does not fit the other numbers")
    k0, n = pilot.n_density_neighbors, graph.n_points
    if not graph.exact or k0 > graph.n_neighbors:
        return
    rows = np.unique(np.linspace(0, n - 1, SOME_ROWS).astype(np.intp))
    if isinstance(graph.lists, KeptLists):
        found = graph.distances(rows, slice(1, k0))
    else:
        found = graph.point_set.nearest(rows, k0)[1][:, 1:]
    with np.errstate(all="ignore"):
        require_same(np.square(pilot.rho0[rows]), found.mean(axis=1), "pilot/rho0")


def check_bandwidth(
    bandwidth: Bandwidth, settings: Settings, graph: NeighborGraph, pilot: Pilot
) -> None:
    """Raise if ρ is not what its rule says."""
    rule, path = settings.method.bandwidth, "settings/method/bandwidth"
    if isinstance(rule, PowerOfDensity):
        require(rule.beta is not None, path, "has no exponent")
    if isinstance(rule, FromPotential):
        require(rule.dim is not None and rule.centre is not None, path, "is not settled")
    require(rule.beta == settings.exponents.beta, path, "has another exponent")
    check_exponents(settings)
    with np.errstate(all="ignore"):
        expected = Bandwidth.of_form(bandwidth.form, rule.on_data(graph, pilot.density))
    require_same(bandwidth.row, expected.row, "bandwidth/rho")
    require_same(bandwidth.column, expected.column, "bandwidth/rho")


def check_exponents(settings: Settings) -> None:
    """Raise if c1 is not what α, β, d and the form give."""
    given = settings.exponents
    expected = exponents_for(None, given.alpha, given.beta, given.dim, settings.form).c1
    same = given.c1 is expected or (
        given.c1 is not None
        and expected is not None
        and abs(given.c1 - expected) <= TOLERANCE * (1 + abs(given.alpha) + abs(expected))
    )
    require(same, "settings/exponents/c1", "does not fit the other numbers")


def check_operator(operator: Operator) -> None:
    """Raise if factors, degrees and steps are not those of the kernel, or it is not symmetric."""
    with np.errstate(all="ignore"):
        expected = with_kernel(operator, operator.kernel)
        found, factor = (np.asarray(made.alpha_kernel.left) for made in (operator, expected))
        require_same(found, factor, "operator/factor")
        require_same(operator.inside.degrees, expected.inside.degrees, "operator/degrees")
        require_same(operator.inside.steps, expected.inside.steps, "operator/steps")
        if operator.kernel.is_symmetric:
            require(is_symmetric(operator), "kernel", "is not symmetric")


def is_symmetric(operator: Operator) -> bool:
    """Tell whether x·K y = y·K x for two random vectors, which nothing else makes equal."""
    n = operator.kernel.graph.n_points
    pair = np.random.default_rng(0).uniform(0.5, 1.5, (n, 2))
    product = operator.kernel.weights @ pair
    return bool(np.isclose(pair[:, 0] @ product[:, 1], pair[:, 1] @ product[:, 0], SYMMETRIC, 0))


def check_spectrum(spectrum: Spectrum) -> None:
    """Raise if eigenpairs are none of this operator, as far as can be told without solving."""
    check_functions(spectrum.eigenfunctions)
    if not spectrum.operator.kernel.is_symmetric:
        return
    values, theta = spectrum.eigenvalues, spectrum.log.pencil_eigenvalues
    real = all(a.dtype.kind == "f" for a in (values, theta, spectrum.eigenfunctions))
    require(real, "spectrum", "is complex")
    require(values[0] == 0 == theta[0], "spectrum/eigenvalues", "do not begin with 0")
    known = values[~np.isnan(values)]
    # Those that are missing come last.
    falling = (np.diff(known) <= 0).all() and not np.isnan(values[: len(known)]).any()
    require(falling, "spectrum/eigenvalues", "are out of order")
    highest = 1 / spectrum.operator.inside.steps.min()
    check_limits(spectrum, highest)
    require((-known <= FASTEST * highest).all(), "spectrum/eigenvalues", "are too fast")
    possible = (theta >= 0) & (theta <= FASTEST * highest)
    require(possible.all(), "solve/pencil_eigenvalues", "are too fast")


def check_limits(spectrum: Spectrum, highest: float) -> None:
    """Raise if the limiter cuts off far above the rate of the fastest point."""
    for limit in {limit for limit in (spectrum.limit, *spectrum.limits) if limit is not None}:
        rates = max(limit.cut, limit.highest, limit.reference)
        require(rates <= FASTEST * highest, "spectrum/limit", "is too high")


def check_functions(functions: Any) -> None:
    """Raise if eigenfunctions have not mean square 1, or are not independent."""
    with np.errstate(over="ignore"):
        size = np.mean(np.square(np.abs(functions)), axis=0)
    require_same(size, 1.0, "spectrum/eigenfunctions")
    if functions.shape[1] <= MOST_MODES:
        gram = functions.conj().T @ functions / len(functions)
        independent = np.linalg.eigvalsh(gram)[0] > DEPENDENT
        require(independent, "spectrum/eigenfunctions", "are not independent")
