"""The paper's method at many ε: search once, then one kernel and one solve per ε."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vbdm import NeighborGraph, Operator, VbdmWarning, align, estimate_operator

from .base import FloatArray, Settings
from .borrowed import spectra_over

#: A kernel value below this share of the peak may be missing from a neighbour list.
NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Sweep:
    """What the paper's method gives at every ε of a list.

    Attributes
    ----------
    epsilons : (E,) array
        The list.
    errors : (E,) array
        Mean squared error of the wanted eigenfunction, truth and estimate both of mean square 1;
        NaN where the solver failed, or no two points were joined.
    eigenvalues : (E, n) array
        The first n eigenvalues.
    saturated : (E,) array
        Share of the points whose neighbour list ends inside the kernel; 0 is healthy.
    function : (N,) or (N, m) array
        The eigenfunction (or group) at the best ε, mapped onto the truth.
    n_failed : int
        How many solves failed.
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
        """The ε of the smallest error: chosen with the truth in hand."""
        return float(self.epsilons[self.best])

    @property
    def best_error(self) -> float:
        """The smallest error."""
        return float(self.errors[self.best])

    def numbers(self, prefix: str) -> dict[str, Any]:
        """Return everything under names that begin with a prefix, for one file."""
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
        The neighbours, searched once; n_neighbors = N gives all pairs. At small ε only as many of
        them are used as the kernel reaches (`NEGLIGIBLE`).
    settings : Settings
        α and β.
    dim : float
        The true dimension, as in the paper's examples.
    epsilons : sequence of float
        The values of ε.
    truth : (N, m) array
        The true eigenfunctions of one group; any scale.
    modes : sequence of int
        Which estimated modes, counted from 0, should be this group: [3] for H3, [1, 2] for a pair.
    wanted : int, optional
        Whose error is measured, a column of `truth`; by default the mean over all columns.
    kind : {"orthogonal", "linear"}
        How the group is mapped onto the truth (`vbdm.align`); for one function orthogonal means
        up to sign.
    where : (N,) mask, optional
        The points over which the error is measured; by default all.
    name : str
        The room in progress reports.

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
        # What the warnings say is the subject here: saturation, pieces, unresolved points.
        warnings.simplefilter("ignore", VbdmWarning)
        base = estimate_operator(
            graph, method="paper", alpha=settings.alpha, beta=settings.beta, dim=dim,
            epsilon=values[0], n_density_neighbors=n_density_neighbors,
        )  # fmt: skip
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
    """Return the mean squared difference, over some points and one or all columns."""
    squares = (found - exact) ** 2
    chosen = squares if wanted is None else squares[:, wanted]
    return float(np.mean(chosen if where is None else chosen[where]))


def short_enough(operator: Operator, epsilon: float) -> Operator:
    """Return the operator at this ε, with no more neighbours than the kernel reaches there.

    Read from 256 rows spread over the cloud, with a tenth to spare.
    """
    graph, rho = operator.graph, operator.kernel.bandwidth
    rows = np.unique(np.linspace(0, graph.n_points - 1, 256).astype(np.intp))
    near = np.take(graph.kept.indices, rows, axis=0).astype(np.intp)
    scaled = graph.distances(rows) / (rho.row[rows, None] * rho.column[near])
    reached = (scaled < -4 * epsilon * np.log(NEGLIGIBLE)).sum(axis=1).max()
    k = min(graph.n_neighbors, max(16, int(1.1 * reached) + 1))
    return operator.at_epsilon(epsilon, graph.with_neighbors(k))


def default_function(
    points: Any, operator: str, truth: FloatArray, modes: Sequence[int], kind: str = "orthogonal",
    **settings: Any,
) -> tuple[FloatArray, FloatArray, float]:  # fmt: skip
    """Return eigenfunction (or group), eigenvalues and ε of the default method: nothing is tuned.

    The truth serves only to turn the result for the comparison, as it does in `sweep`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VbdmWarning)
        found = estimate_operator(points, operator, **settings)
        spectrum = found.spectrum(max(modes) + 2)
    mapped = align(spectrum.eigenfunctions[:, list(modes)], unit(truth), kind)
    return np.squeeze(mapped), spectrum.eigenvalues, found.epsilon
