"""One scan over ε: the eigenpairs at several ε around the one in use, each mode followed.

The page's slider and the check of the plateau read it. `vbdm.second_opinion` shares its loop, but
follows no modes: where ε is far off, no mode is like those in use.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from ..base.arrays import FloatArray
from ..errors import InputError, SolverError, VbdmWarning
from ..kernel.scaled import MOST_NEIGHBORS
from ..operator.normalise import with_epsilon
from ..operator.operator import Operator
from ..progress import report
from ..solvers import EigenSolver
from ..spectrum.alignment import align
from ..spectrum.solve import compute_spectrum
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import functions_at


def drawn_rows(spectrum: Spectrum, most: int, *, fair: bool = False) -> NDArray[np.intp]:
    """Return the rows of at most `most` points to be shown, sparse ones first unless it is `fair`.

    Points that are unresolved or on a weak link are few and matter: up to a quarter of the places
    are theirs.
    """
    n, generator = spectrum.operator.n_points, np.random.default_rng(0)
    if n <= most:
        return np.arange(n)
    if fair:
        return np.sort(generator.choice(n, most, replace=False))
    marked = np.flatnonzero(spectrum.unresolved | spectrum.errors.weak_links)
    if len(marked) > most // 4:
        marked = generator.choice(marked, most // 4, replace=False)
    others = np.setdiff1d(np.arange(n), marked)
    return np.sort(
        np.concatenate([marked, generator.choice(others, most - len(marked), replace=False)])
    )


#: Up to this many points the spectrum is solved on all of them at every ε.
ALL_POINTS = 20_000
#: Accuracy of the eigenvalues at other ε: they are drawn, and compared with their sampling errors.
SCAN_TOLERANCE = 1e-3
#: Modes solved for beyond those followed, so that one that moves down the list is not lost.
SPARE_MODES = 4
#: A mode whose likeness to the one at the chosen ε falls below this is another mode.
LIKENESS = 0.5
#: Multiples of the ε in use: the octaves around it.
FACTORS = (1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0, 8.0)

#: A function that estimates the same operator from some of its points, given by their rows.
Again = Callable[[Operator, NDArray[np.intp]], Operator]


@dataclass(frozen=True, eq=False)
class EpsilonScan:
    """Eigenpairs at several ε, modes followed from the chosen one.

    Attributes
    ----------
    epsilons : (m,) array
        The values of ε, upwards.
    eigenvalues, standard_errors : (m, n) arrays
        Eigenvalues and their sampling errors at each ε; NaN where a mode was lost, because no mode
        there is like it.
    total_errors : (m, n) array
        Their total errors at each ε; of eigenvalues that are a group at the chosen ε, of their
        mean.
    rows : (D,) array
        Rows of the points, in the caller's order, at which eigenfunctions are kept.
    eigenfunctions : (m, D, n) float32 array
        Eigenfunctions at these points. Signs, order and rotations inside groups follow those at
        the chosen ε.
    n_points : int
        Number of points that were solved on: all, or a drawn part of a large cloud.
    chosen : int
        The place in `epsilons` of the ε in use.
    """

    epsilons: FloatArray
    eigenvalues: FloatArray
    standard_errors: FloatArray
    total_errors: FloatArray
    rows: NDArray[np.intp]
    eigenfunctions: NDArray[np.float32]
    n_points: int
    chosen: int

    def as_arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as arrays, for a file, under names that start with ``scan_``."""
        return {f"scan_{name}": np.asarray(value) for name, value in vars(self).items()}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> EpsilonScan | None:
        """Return the scan that `as_arrays` gave; None if the arrays hold no scan.

        Examples
        --------
        >>> EpsilonScan.from_arrays({"eigenvalues": np.zeros(3)}) is None
        True
        """
        found: dict[str, Any] = {
            name: arrays[f"scan_{name}"]
            for name in cls.__dataclass_fields__
            if f"scan_{name}" in arrays
        }
        if found.keys() != cls.__dataclass_fields__.keys():
            return None
        for name in ("n_points", "chosen"):
            found[name] = int(found[name])
        return cls(**found)


def why_no_scan(spectrum: Spectrum) -> str:
    """Say why ε cannot be varied for this result; empty if it can."""
    operator = spectrum.operator
    if not operator.kernel.is_symmetric:
        return (
            f"The {operator.settings.form} form of the kernel is solved densely, once; only the "
            "symmetric form is followed over ε."
        )
    if operator.graph.points is None:
        return (
            "The input was distances, not points: a wider kernel would need neighbours that were "
            "not given, and there is no place to draw the points at."
        )
    return ""


def scan_modes(
    spectrum: Spectrum,
    factors: Sequence[float] = FACTORS,
    *,
    n_drawn: int = 5000,
    again: Again,
) -> EpsilonScan:
    """Solve at several ε around the one in use, and follow the modes (see `vbdm.scan_epsilon`).

    `again` estimates the same operator from some of the points, given by their rows: a cloud of
    more than 20,000 points, or on a cluster, is estimated from `n_drawn` of them, around the ε that
    suits these.
    """
    spectrum = spectrum.on_host
    operator = spectrum.operator
    # Where rows live elsewhere, solving again and again would cost messages.
    blocks = operator.graph.point_set.rows
    whole = operator.n_points <= ALL_POINTS and (blocks is None or blocks.place.at_once)
    # Points to estimate from must be a fair sample; points to look at need not be.
    rows = drawn_rows(spectrum, n_drawn, fair=not whole)
    truth = np.real(functions_at(spectrum, rows))
    steps = []
    with warnings.catch_warnings():
        # Warnings are silenced: what is doubtful at other ε is the very thing to be shown.
        warnings.simplefilter("ignore", VbdmWarning)
        if not whole:
            operator = again(operator, rows)
        for factor, found in solved_over(operator, factors, spectrum, whole):
            functions = functions_at(found, rows) if whole else np.asarray(found.eigenfunctions)
            steps.append((factor, *followed(found, functions, truth, spectrum)))
    used, values, errors, totals, moved = (list(part) for part in zip(*steps, strict=True))
    return EpsilonScan(
        operator.epsilon * np.array(used), np.array(values), np.array(errors), np.array(totals),
        rows, np.array(moved, dtype=np.float32), operator.n_points, used.index(1.0),
    )  # fmt: skip


def solved_over(
    operator: Operator, factors: Sequence[float], reference: Spectrum, whole: bool
) -> Iterator[tuple[float, Spectrum]]:
    """Yield factors, each with its spectrum; if `whole`, the reference is the one at factor 1."""
    grid = sorted({1.0, *(float(factor) for factor in factors)})
    n = min(len(reference.eigenvalues) + SPARE_MODES, operator.n_points)
    # If only the largest piece was solved, the same is done here: zeros of other pieces would take
    # the places of its modes.
    alone = reference.pieces.n_solved == 1 < reference.pieces.n_pieces
    pieces = "largest" if alone else "each"
    at_one = reference if whole else compute_spectrum(operator, n, components=pieces)
    # Outwards from the chosen ε, so that each solve can start from its neighbour's eigenvectors.
    others = sorted((factor for factor in grid if factor != 1), key=lambda f: abs(np.log(f)))
    epsilons = [operator.epsilon * factor for factor in others]
    solved = spectra_over(
        operator, epsilons, n, components=pieces, tol=SCAN_TOLERANCE, start=at_one,
        stage="sensitivity",
    )  # fmt: skip
    found = {1.0: at_one} | dict(zip(others, (spectrum for _, _, spectrum in solved), strict=True))
    for factor in grid:
        if (spectrum := found[factor]) is not None:
            yield factor, spectrum


def spectra_over(
    operator: Operator,
    epsilons: Sequence[float] | FloatArray,
    n: int,
    *,
    at: Callable[[Operator, float], Operator | None] | None = None,
    components: str = "each",
    solver: EigenSolver | str | None = None,
    tol: float | None = None,
    start: Spectrum | None = None,
    stage: str = "",
) -> Iterator[tuple[float, Operator | None, Spectrum | None]]:
    """Yield each ε with the operator and the spectrum there: the loop behind every scan.

    The bandwidth ρ is kept. `at` returns the operator at an ε, or None if that would take too many
    neighbours: by default `wide_enough`. A spectrum is None where the solver fails, or where the
    kernel joins no two points. With `start`, a result at another ε, solves start from the result at
    the nearest ε that is known. `stage` is the name in progress reports; empty: no reports.
    """
    if stage:
        report(stage, 0, len(epsilons))
    if not operator.kernel.by_reach:
        # If the lists of neighbours were released, they are searched for once, not at every ε.
        listed = operator.graph.with_lists()
        operator = replace(operator, kernel=replace(operator.kernel, graph=listed))
    known = [] if start is None else [start]
    for number, epsilon in enumerate(epsilons, start=1):
        other = (at or wide_enough)(operator, epsilon)
        # From the result at the nearest ε, by their ratio.
        near = min(known, key=lambda s: abs(np.log(s.operator.epsilon / epsilon)), default=None)
        found = None
        if other is not None:
            with suppress(InputError, SolverError):
                found = compute_spectrum(
                    other, n, components=components, solver=solver, tol=tol, start=near
                )
        if start is not None and found is not None:
            known.append(found)
        if stage:
            report(stage, number, len(epsilons))
        yield epsilon, other, found


def wide_enough(operator: Operator, epsilon: float) -> Operator | None:
    """Return the operator at this ε, with more neighbours if needed; None if it needs too many."""
    graph = operator.graph
    growth = max(1.0, (epsilon / operator.epsilon) ** (operator.dim / 2))
    wanted = min(int(growth * operator.n_neighbors), graph.n_points)
    if wanted > MOST_NEIGHBORS and wanted > operator.n_neighbors:
        return None
    if operator.kernel.by_reach or growth == 1:
        return with_epsilon(operator, epsilon)
    return with_epsilon(operator, epsilon, graph.with_neighbors(wanted))


def followed(
    found: Spectrum, functions: FloatArray, truth: FloatArray, reference: Spectrum
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return eigenvalues, both errors and eigenfunctions, ordered and turned as the reference.

    `truth` are the eigenfunctions of the reference, `functions` those found. A mode that is not
    like its counterpart is lost: NaN.
    """
    n = truth.shape[1]
    values, errors, totals = np.full((3, n), np.nan)
    moved = np.full(truth.shape, np.nan)
    partners = matched(unit(functions), unit(truth))
    for group in reference.errors.groups:
        known = group[partners[group] >= 0]
        if not known.size:
            continue
        own = np.sort(partners[known])
        turned = align(functions[:, own], truth[:, known], kind="orthogonal")
        alike = np.abs((unit(turned) * unit(truth[:, known])).sum(axis=0)) >= LIKENESS
        values[known] = np.where(alike, np.real(found.eigenvalues[own]), np.nan)
        errors[known] = np.where(alike, found.standard_errors[own], np.nan)
        totals[known] = np.where(alike, found.errors.total_of_group(own), np.nan)
        moved[:, known] = np.where(alike, turned, np.nan)
    return values, errors, totals, moved


def unit(columns: FloatArray) -> FloatArray:
    """Scale columns to norm 1."""
    return np.asarray(columns / np.maximum(np.linalg.norm(columns, axis=0), 1e-300))


def matched(functions: FloatArray, truth: FloatArray) -> NDArray[np.intp]:
    """Return for each true function the number of its counterpart, or -1.

    Functions are assigned one to one, so that they are as alike as possible.
    """
    likeness = (truth.T @ functions) ** 2
    own, other = linear_sum_assignment(-likeness)
    partners = np.full(truth.shape[1], -1, dtype=np.intp)
    partners[own] = other
    return partners
