"""How eigenvalues and eigenfunctions move with ε, on points that can be drawn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ..base.checks import FloatArray
from ..base.errors import InputError, SolverError, VbdmWarning
from ..base.progress import report
from ..estimate import estimate_operator
from ..operator.operator import Operator
from ..report.citing import is_paper
from ..settings import METHODS
from ..spectrum.alignment import align
from ..spectrum.spectrum import Spectrum, compute_spectrum
from .opinions import wide_enough

#: Up to this many points the spectrum is solved on all of them at every ε.
ALL_POINTS = 20_000
#: Modes beyond those followed, so that one that moves down the list is not lost.
SPARE = 4
#: A mode whose likeness to the one at the chosen ε falls below this is another mode.
LIKENESS = 0.5
FACTORS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Eigenpairs at several ε, modes followed from the chosen one.

    Attributes
    ----------
    epsilons : (m,) array
        The grid.
    eigenvalues, standard_errors : (m, n) arrays
        NaN where a mode was lost: there is no mode like it.
    rows : (D,) array
        Which points the eigenfunctions are given at.
    eigenfunctions : (m, D, n) float32 array
        Signs, order and rotations inside groups follow those at the chosen ε.
    n_points : int
        How many points were solved on: all, or a drawn part of a large cloud.
    chosen : int
        The place in the grid of the ε in use.
    """

    epsilons: FloatArray
    eigenvalues: FloatArray
    standard_errors: FloatArray
    rows: NDArray[np.intp]
    eigenfunctions: NDArray[np.float32]
    n_points: int
    chosen: int

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, for a file; names start with "sensitivity_"."""
        return {f"sensitivity_{name}": np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> Sensitivity | None:
        """Return what `as_arrays` gave; None if the arrays hold none.

        Examples
        --------
        >>> Sensitivity.from_arrays({"eigenvalues": np.zeros(3)}) is None
        True
        """
        names = list(cls.__dataclass_fields__)
        if any(f"sensitivity_{name}" not in arrays for name in names):
            return None
        found: dict[str, Any] = {name: arrays[f"sensitivity_{name}"] for name in names}
        for name in ("n_points", "chosen"):
            found[name] = int(found[name])
        return cls(**found)


def why_no_sensitivity(spectrum: Spectrum) -> str:
    """Say why ε cannot be varied for this result; empty if it can."""
    operator = spectrum.operator
    if not operator.kernel.bandwidth.is_symmetric:
        return (
            f"The {operator.form} form of the kernel is solved densely, once; only the symmetric "
            "form is followed over ε."
        )
    if operator.weights.graph.points is None:
        return (
            "The input was distances, not points: a wider kernel would need neighbours that were "
            "not given, and there is no place to draw the points at."
        )
    return ""


def sensitivity(
    spectrum: Spectrum, n_drawn: int = 5000, factors: Sequence[float] = FACTORS
) -> Sensitivity | None:
    """Solve at several ε around the one in use, and follow the modes.

    Parameters
    ----------
    spectrum : Spectrum
        The result.
    n_drawn : int
        At how many points eigenfunctions are kept. Clouds of more than 20,000 points are
        re-estimated on as many drawn ones, around the ε which suits these.
    factors : sequence of float
        Times the chosen ε, which is always among them. The largest are left out where they would
        need too many neighbours, and any where the solver fails.

    Returns
    -------
    Sensitivity or None
        None where ε cannot be varied; `why_no_sensitivity` says why.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.circle(300, random_state=0).points)
    >>> found = sensitivity(op.spectrum(3), factors=(0.5, 1, 2))
    >>> found.eigenvalues.shape, found.chosen
    ((3, 3), 1)
    """
    if why_no_sensitivity(spectrum):
        return None
    whole = spectrum.operator.n_points <= ALL_POINTS
    # A part to be estimated from must be a fair sample; one to be looked at need not.
    rows = drawn_rows(spectrum, n_drawn) if whole else fair_rows(spectrum, n_drawn)
    truth = np.real(spectrum.eigenfunctions[rows])
    with warnings.catch_warnings():
        # What is doubtful at other ε is the very thing to be shown.
        warnings.simplefilter("ignore", VbdmWarning)
        operator = spectrum.operator if whole else on_some(spectrum.operator, rows)
        grid = sorted({1.0, *(float(factor) for factor in factors)})
        steps = []
        for number, factor in enumerate(grid):
            report("sensitivity", number, len(grid))
            found = spectrum if whole and factor == 1 else solved_at(operator, factor, spectrum)
            if found is not None:
                functions = found.eigenfunctions[rows] if whole else found.eigenfunctions
                steps.append((factor, *followed(found, functions, truth, spectrum)))
        report("sensitivity", len(grid), len(grid))
    used, values, errors, moved = (list(part) for part in zip(*steps, strict=True))
    return Sensitivity(
        operator.epsilon * np.array(used), np.array(values), np.array(errors), rows,
        np.array(moved, dtype=np.float32), operator.n_points, used.index(1.0),
    )  # fmt: skip


def drawn_rows(spectrum: Spectrum, most: int) -> NDArray[np.intp]:
    """Choose points to draw: at random, but always the same ones, and sparse ones first.

    Points that are unresolved or on a weak link are few and matter: up to a quarter of the places
    are theirs.
    """
    n = spectrum.operator.n_points
    if n <= most:
        return np.arange(n)
    generator = np.random.default_rng(0)
    marked = np.flatnonzero(spectrum.unresolved | weak(spectrum))
    if len(marked) > most // 4:
        marked = generator.choice(marked, most // 4, replace=False)
    others = np.setdiff1d(np.arange(n), marked)
    return np.sort(
        np.concatenate([marked, generator.choice(others, most - len(marked), replace=False)])
    )


def fair_rows(spectrum: Spectrum, most: int) -> NDArray[np.intp]:
    """Choose points at random, all with the same chance."""
    n = spectrum.operator.n_points
    return np.sort(np.random.default_rng(0).choice(n, min(most, n), replace=False))


def weak(spectrum: Spectrum) -> NDArray[np.bool_]:
    """Return the points of weak links; none for the forms that do not know them."""
    if len(spectrum.extent) != len(spectrum.eigenvalues):
        return np.zeros(spectrum.operator.n_points, dtype=np.bool_)
    return spectrum.weak_links


def on_some(operator: Operator, rows: NDArray[np.intp]) -> Operator:
    """Estimate the same operator from some of the points, with the ε that suits these."""
    graph, kernel = operator.weights.graph, operator.kernel
    points = np.asarray(graph.points)[rows]
    which: dict[str, Any] = {"operator": operator.c1, "beta": operator.beta}
    if operator.beta is None:
        which = {"alpha": operator.alpha, "bandwidth": np.asarray(operator.bandwidth)[rows]}
    return estimate_operator(
        points,
        **which,
        **numbers_of_neighbors(operator, len(points)),
        dim=operator.dim,
        shape=kernel.shape,
        leave_one_out=kernel.leave_one_out,
        limiter=operator.limiter or False,
        finite_sample=operator.finite_sample,
        metric=graph.metric,
        period=None if graph.period is None else [p or None for p in graph.period.tolist()],
    )


def numbers_of_neighbors(operator: Operator, n_points: int) -> dict[str, Any]:
    """Return the method, with its numbers of neighbours, that fewer points can have."""
    source = operator.source
    known = {"n_density_neighbors": min(source.n_density_neighbors, n_points)}
    if is_paper(operator):
        return {**known, "method": "paper", "n_neighbors": min(operator.n_neighbors, n_points)}
    effort = source.n_neighbors / METHODS["resolved"].n_neighbors
    return {**known, "method": "resolved", "effort": float(np.clip(effort, 0.25, 16))}


def solved_at(operator: Operator, factor: float, reference: Spectrum) -> Spectrum | None:
    """Return the spectrum at another ε; None where there are no neighbours or no solution."""
    n = min(len(reference.eigenvalues) + SPARE, operator.n_points)
    # Where only the largest piece was solved, zeros of other pieces would take its modes' places.
    alone = reference.n_solved == 1 < reference.n_components
    pieces = "largest" if alone else "each"
    try:
        other = operator if factor == 1 else wide_enough(operator, factor * operator.epsilon)
        return None if other is None else compute_spectrum(other, n, components=pieces)
    except (InputError, SolverError):
        # Kernels that join no two points have no modes. The chosen ε must be there; any other may
        # be missing from the grid.
        if factor == 1:
            raise
        return None


def followed(
    found: Spectrum, functions: FloatArray, truth: FloatArray, reference: Spectrum
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return eigenvalues, errors and eigenfunctions in the order and rotation of the reference."""
    n = truth.shape[1]
    values, errors = np.full(n, np.nan), np.full(n, np.nan)
    moved = np.full(truth.shape, np.nan)
    partners = matched(unit(functions), unit(truth))
    for group in reference.groups:
        known = group[partners[group] >= 0]
        if not known.size:
            continue
        own = np.sort(partners[known])
        turned = align(functions[:, own], truth[:, known], kind="orthogonal")
        alike = np.abs((unit(turned) * unit(truth[:, known])).sum(axis=0)) >= LIKENESS
        values[known] = np.where(alike, np.real(found.eigenvalues[own]), np.nan)
        errors[known] = np.where(alike, found.standard_errors[own], np.nan)
        moved[:, known] = np.where(alike, turned, np.nan)
    return values, errors, moved


def unit(columns: FloatArray) -> FloatArray:
    """Scale columns to norm 1."""
    return np.asarray(columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300))


def matched(functions: FloatArray, truth: FloatArray) -> NDArray[np.intp]:
    """Return, for each true function, the number of the function most like it, or -1."""
    likeness = (truth.T @ functions) ** 2
    own, other = linear_sum_assignment(-likeness)
    partners = np.full(truth.shape[1], -1, dtype=np.intp)
    partners[own] = other
    return partners
