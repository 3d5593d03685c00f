"""Is the spectrum that of its matrix? ``python benchmarks/independent.py`` solves it otherwise.

For each problem the first eigenvalues of the pencil, copies included, are compared with Lanczos on
a sparse factorisation, and counted by the signs of another one. Columns: θ_2 and θ_last of the
pencil; steps and products of the solver in its last solve; the largest error, relative to
max(θ, 1e-6 θ_last); how many are missing; seconds for spectrum and check.

N is 20,000, but 4,000 in three dimensions, where the factors fill up (at 10,000 one takes 10 s).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import numpy as np

import record
import vbdm
from vbdm.trust.verification import Verification

D = vbdm.datasets


def far_outliers(n, seed):
    """A Gaussian with a handful of points at distances of about 50, and of about 1,400."""
    points = D.ou(n, dim=2, random_state=seed).points.copy()
    distance = np.r_[np.full(5, 50.0), np.full(3, 1400.0)]
    points[:8] *= (distance / np.linalg.norm(points[:8], axis=1))[:, None]
    return points


@dataclass(frozen=True)
class Problem:
    """Points from N and a seed, what to estimate, and how many eigenvalues."""

    points: Callable[[int, int], np.ndarray]
    operator: str | float = "generator"
    n_points: int = 20_000
    n: int = 20
    settings: dict[str, Any] = field(default_factory=dict)


def three_hundred_copies(n, seed):
    points = D.ou(n, dim=2, random_state=seed).points.copy()
    points[:300] = points[0]
    return points


PROBLEMS = {
    "OU R": Problem(lambda n, s: D.ou(n, random_state=s).points),
    "OU R2": Problem(lambda n, s: D.ou(n, dim=2, random_state=s).points),
    "circle": Problem(
        lambda n, s: D.circle(n, sampling="random", random_state=s).points, "laplacian"
    ),
    "sphere": Problem(lambda n, s: D.sphere(n, random_state=s).points, "laplacian"),
    "torus": Problem(lambda n, s: D.torus(n, random_state=s).points, "laplacian"),
    "double well": Problem(lambda n, s: D.double_well(n, random_state=s).points),
    "curve in R10": Problem(
        lambda n, s: D.closed_curve(n, ambient=10, random_state=s).points, "laplacian"
    ),
    # Two Gaussians at half their temperature (c1 = 2): θ_2 is about 1e-8.
    "two clusters": Problem(
        lambda n, s: D.clusters(n, separation=10.5, random_state=s).points, 2.0
    ),
    "rounded to .01": Problem(lambda n, s: D.ou(n, dim=2, random_state=s).points.round(2)),
    "lattice": Problem(
        lambda n, s: D.lattice(round(n**0.5)).points,
        "laplacian",
        settings={"method": vbdm.Resolved(leave_one_out=False)},
    ),
    "far outliers": Problem(far_outliers),
    "OU R3": Problem(lambda n, s: D.ou(n, dim=3, random_state=s).points, n_points=4000),
    "S3": Problem(
        lambda n, s: D.sphere(n, dim=3, random_state=s).points, "laplacian", n_points=4000
    ),
    # Most of a minute: two hundred eigenvalues, each counted by factorising.
    "OU R2, n = 200": Problem(lambda n, s: D.ou(n, dim=2, random_state=s).points, n=200),
    "300 copies": Problem(three_hundred_copies),
}


@dataclass(frozen=True)
class Row:
    """What was found for a problem."""

    name: str
    spectrum: vbdm.Spectrum
    verification: Verification
    seconds: tuple[float, float]


def check(name, n_points=None, seed=0, **options):
    """Return a row of the table; N may be made smaller, and the solver and `tol` be chosen."""
    problem = PROBLEMS[name]
    size = min(n_points or problem.n_points, problem.n_points)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", vbdm.VbdmWarning)
        # That a slower solver took over would be news.
        warnings.simplefilter("default", vbdm.errors.SolverWarning)
        op = vbdm.estimate_operator(
            problem.points(size, seed), problem.operator, **problem.settings
        )
        started = perf_counter()
        spectrum = op.spectrum(problem.n, **options)
    solved = perf_counter()
    verification = vbdm.verify(spectrum)
    return Row(name, spectrum, verification, (solved - started, perf_counter() - solved))


def print_table(names=None, n_points=None, seeds=(0,), **options):
    """Print a line for each problem and seed, and return the rows."""
    print("problem             N   n  pieces     θ_2    θ_last  steps products    error missing  "
          "seconds  solver, checked by")  # fmt: skip
    rows = []
    for name in names or PROBLEMS:
        for seed in seeds:
            row = check(name, n_points, seed, **options)
            s, v = row.spectrum, row.verification
            theta = np.sort(s.log.pencil_eigenvalues)
            print(f"{name:16s} {s.operator.n_points:6d} {len(theta):3d} {s.pieces.n_solved:4d} "
                  f"{theta[1]:10.2g} {theta[-1]:9.3g} {s.log.iterations:6d} "
                  f"{s.log.products:8d}  "
                  f"{v.error:.1e} {v.missing:5d}  {row.seconds[0]:5.1f} {row.seconds[1]:5.1f}  "
                  f"{s.log.solver}, {v.solver}: {v.note}{'' if v.passed else '  FAILED'}",
                  flush=True)  # fmt: skip
            rows.append(row)
    return rows


def main():
    parser = record.parser(__doc__)
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS)
    parser.add_argument("--points", type=int, help="at most so many points")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--solver")
    parser.add_argument("--tol", type=float)
    options = record.given(parser, problems=["OU R2", "two clusters"], points=1000)
    rows = print_table(
        options.problems, options.points, options.seeds, solver=options.solver, tol=options.tol
    )
    record.save(options, [
        {"problem": row.name, "error": row.verification.error, "missing": row.verification.missing,
         "passed": row.verification.passed, "seconds": row.seconds}
        for row in rows
    ])  # fmt: skip


if __name__ == "__main__":
    main()
