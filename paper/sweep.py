"""The paper's method at many ε: search once, then one kernel and one solve per ε."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbdm import NeighborGraph, Operator, Paper, VbdmWarning, align, estimate_operator, rules
from vbdm.operator.normalise import with_epsilon

from .base import FloatArray, Settings
from .borrowed import spectra_over

#: Share of the kernel's peak below which a pair may be missing from the neighbour lists.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Sweep:
    """The results of the paper's method at every ε of a list.

    Attributes
    ----------
    epsilons : (E,) array
        The values of ε.
    errors : (E,) array
        Mean squared errors of the wanted eigenfunction, truth and estimate both of mean square 1;
        NaN where the solver failed, or no two points were joined.
    eigenvalues : (E, n) array
        The first n eigenvalues.
    saturated : (E,) array
        Shares of the points whose neighbour list ends inside the kernel; 0 is best.
    function : (N,) or (N, m) array
        The eigenfunction, or the group, at the best ε, mapped onto the truth.
    n_failed : int
        Number of ε without a result.
    """

    epsilons: FloatArray
    errors: FloatArray
    eigenvalues: FloatArray
    saturated: FloatArray
    function: FloatArray
    n_failed: int

    @property
    def best(self) -> int:
        """Index of the smallest error."""
        return int(np.nanargmin(self.errors))

    @property
    def best_epsilon(self) -> float:
        """The ε of the smallest error, for which the truth must be known."""
        return float(self.epsilons[self.best])

    @property
    def best_error(self) -> float:
        """The smallest error."""
        return float(self.errors[self.best])

    def numbers(self, prefix: str) -> dict[str, Any]:
        """Return all results under names that begin with a prefix, for the file of a figure."""
        return {
            f"{prefix}_epsilons": self.epsilons,
            f"{prefix}_errors": self.errors,
            f"{prefix}_eigenvalues": self.eigenvalues,
            f"{prefix}_saturated": self.saturated,
            f"{prefix}_function": self.function,
            f"{prefix}_failed": self.n_failed,
        }


def sweep(
    graph: NeighborGraph,
    settings: Settings,
    dim: float,
    epsilons: Sequence[float] | FloatArray,
    truth: FloatArray,
    modes: Sequence[int],
    *,
    wanted: int | None = None,
    kind: str = "orthogonal",
    n_density_neighbors: int = 8,
    solver: Any = None,
    tol: float | None = None,
    where: NDArray[np.bool_] | None = None,
    name: str = "",
) -> Sweep:
    """Run ``method="paper"`` at every ε and compare an eigenfunction with the truth.

    Parameters
    ----------
    graph : NeighborGraph
        The neighbour lists, searched once; n_neighbors = N gives all pairs. At small ε only as
        many neighbours are used as the kernel reaches (`NEGLIGIBLE`).
    settings : Settings
        α and β.
    dim : float
        The true dimension, as in the paper's examples.
    epsilons : sequence of float
        The values of ε.
    truth : (N, m) array
        The true eigenfunctions of one group; any scale.
    modes : sequence of int
        Numbers of the estimated modes, from 0, that should be this group: [3] for H3, [1, 2] for
        a pair.
    wanted : int, optional
        Column of `truth` whose error is measured; by default the mean over all columns.
    kind : {"orthogonal", "linear"}
        How the group is mapped onto the truth (`vbdm.align`); for one function, "orthogonal" means
        up to its sign.
    n_density_neighbors : int
        Number of neighbours k0 of the pilot density; the paper has 8.
    solver, tol : optional
        Eigen-solver and tolerance, as in `Operator.spectrum`.
    where : (N,) mask, optional
        The points over which the error is measured; by default all.
    name : str
        Name of the stage in progress reports.

    Examples
    --------
    >>> from paper.base import variable
    >>> sample = vbdm.datasets.ou(500, sampling="grid")
    >>> exact = sample.truth(4).eigenfunctions(sample.parameters)[:, [3]]
    >>> graph = vbdm.neighbors(sample.points, 500)
    >>> found = sweep(graph, variable("generator", 1), 1, [3e-4, 1e-3], exact, [3])
    >>> found.errors.shape, bool(found.best_error < 0.1)
    ((2,), True)
    """
    values = np.asarray(epsilons, dtype=np.float64)
    exact = unit(truth)
    n = max(modes) + 2
    errors, rates = np.full(len(values), np.nan), np.full((len(values), n), np.nan)
    saturated, best, failed = np.zeros(len(values)), np.full_like(exact, np.nan), 0
    with warnings.catch_warnings():
        # Saturation, pieces and unresolved points are the subject here, so they need no warning.
        warnings.simplefilter("ignore", VbdmWarning)
        base = estimate_operator(
            graph,
            dim=dim,
            epsilon=values[0],
            bandwidth=rules.PowerOfDensity(settings.beta),
            method=Paper(alpha=settings.alpha, n_density_neighbors=n_density_neighbors),
        )
        solved = spectra_over(
            base, values, n, at=short_enough, solver=solver, tol=tol, stage=name
        )  # fmt: skip
        for i, (_, operator, spectrum) in enumerate(solved):
            saturated[i] = 0.0 if operator is None else operator.kernel.saturated
            if spectrum is None:  # no convergence, or no two points are joined
                failed += 1
                continue
            rates[i, : len(spectrum.eigenvalues)] = spectrum.eigenvalues
            found = align(spectrum.eigenfunctions[:, list(modes)], exact, kind)
            errors[i] = mean_squared_error(found, exact, wanted, where)
            if errors[i] == np.nanmin(errors):
                best = found
    return Sweep(values, errors, rates, saturated, np.squeeze(best), failed)


def unit(truth: FloatArray) -> FloatArray:
    """Return functions, one per column, scaled to mean square 1 over the points."""
    columns = np.asarray(truth, dtype=np.float64).reshape(len(truth), -1)
    return np.asarray(columns / np.sqrt(np.mean(columns**2, axis=0)))


def mean_squared_error(
    found: FloatArray,
    exact: FloatArray,
    wanted: int | None = None,
    where: NDArray[np.bool_] | None = None,
) -> float:
    """Return the mean squared difference over the points in `where`, of one column or of all."""
    squares = (found - exact) ** 2
    chosen = squares if wanted is None else squares[:, wanted]
    return float(np.mean(chosen if where is None else chosen[where]))


def short_enough(operator: Operator, epsilon: float) -> Operator:
    """Return the operator at this ε, with no more neighbours than the kernel reaches there.

    Their number is that of 256 rows all over the cloud, and a tenth more.
    """
    graph, rho = operator.graph, operator.kernel.bandwidth
    rows = np.unique(np.linspace(0, graph.n_points - 1, 256).astype(np.intp))
    near = np.take(graph.kept.indices, rows, axis=0).astype(np.intp)
    scaled = graph.distances(rows) / (rho.row[rows, None] * rho.column[near])
    reached = (scaled < -4 * epsilon * np.log(NEGLIGIBLE)).sum(axis=1).max()
    k = min(graph.n_neighbors, max(16, int(1.1 * reached) + 1))
    return with_epsilon(operator, epsilon, graph.with_neighbors(k))


def default_function(
    points: Any, operator: str, truth: FloatArray, modes: Sequence[int], kind: str = "orthogonal",
    **settings: Any,
) -> tuple[FloatArray, FloatArray, float]:  # fmt: skip
    """Return eigenfunction (or group), eigenvalues and ε of the default method, without tuning.

    The truth serves only to turn the result for the comparison, as it does in `sweep`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VbdmWarning)
        found = estimate_operator(points, operator, **settings)
        spectrum = found.spectrum(max(modes) + 2)
    mapped = align(spectrum.eigenfunctions[:, list(modes)], unit(truth), kind)
    return np.squeeze(mapped), spectrum.eigenvalues, found.epsilon
