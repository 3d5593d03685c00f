"""Where the time and the memory go: ``python benchmarks/speed.py --points 100000``.

R is the time of the estimate, from raw points to ten eigenpairs with standard errors, over the time
of SciPy's bare search for the same k (build a k-d tree, query it with all cores, points as they
come). Both run one after the other, each in a process of its own: peaks of memory are their own,
and each pays for the memory that it touches first. Times on shared machines are noisy, R is less.
The bias in ε is timed, too, and left
out of R; "with bias" counts it in. The error is that of each eigenvalue against a solve to 1e-9 of
the same pencil, relative to the eigenvalue (``--check``).
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import warnings
from dataclasses import replace
from functools import wraps
from pathlib import Path
from time import perf_counter

import numpy as np
from scipy.spatial import cKDTree

import vbdm
from vbdm.bandwidth import dimension, epsilon_by_degree
from vbdm.estimate import from_points, scales, walk
from vbdm.graph import neighbor_graph
from vbdm.spectrum import limited, passes, solve
from vbdm.trust import error_bars


def in_ten_columns(n_points, random_state, **options):
    """Return a sphere, turned into ten columns by a fixed random rotation."""
    sample = vbdm.datasets.sphere(n_points, random_state=random_state, **options)
    frame = np.linalg.qr(np.random.default_rng(1).standard_normal((10, 10)))[0]
    return replace(sample, points=sample.points @ frame[: sample.points.shape[1]])


PROBLEMS = {
    "ou2": (vbdm.datasets.ou, {"dim": 2}, "generator"),
    "ou3": (vbdm.datasets.ou, {"dim": 3}, "generator"),
    "curve": (vbdm.datasets.closed_curve, {"ambient": 10}, "laplacian"),
    "sphere": (vbdm.datasets.sphere, {"axes": (1, 0.5, 0.3)}, "laplacian"),
    "s3": (in_ten_columns, {"dim": 3, "axes": (1, 0.8, 0.6, 0.7)}, "laplacian"),
}
#: Where each stage is called from: its time does not include the stages called inside it.
STAGES = {
    "graph": [(from_points, "first_graph")],
    "density": [(scales, "pilot_bandwidth"), (scales, "look_first"),
                (dimension.ByRatios, "estimate")],
    "tuning": [(epsilon_by_degree, "grow_rows")],
    "search": [(neighbor_graph.NeighborGraph, "with_neighbors")],
    "kernel": [(walk, "kernel_within_reach")],
    "operator": [(walk, "normalise")],
    "pieces": [(solve, "find_pieces")],
    "prepare": [(passes, "prepare_pieces")],
    "solve": [(passes, "solve_pieces"), (limited, "solve_pieces")],
    "finish": [(solve, "compute_spectrum")],
    "errors": [(error_bars, "sampling_errors"), (error_bars, "group_by_size")],
    "bias": [(error_bars, "epsilon_bias")],
}  # fmt: skip


class Stopwatch:
    """Times the stages; an inner stage is not counted in the outer one."""

    def __init__(self):
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.inside = [0.0]
        for stage, places in STAGES.items():
            for owner, name in places:
                setattr(owner, name, self.timed(stage, getattr(owner, name)))

    def timed(self, stage, function):
        """Return the function, its time added to a stage."""

        @wraps(function)
        def wrapper(*arguments, **options):
            self.inside.append(0.0)
            started = perf_counter()
            try:
                return function(*arguments, **options)
            finally:
                total = perf_counter() - started
                self.seconds[stage] += total - self.inside.pop()
                self.inside[-1] += total

        return wrapper


def peak_bytes():
    # Not ru_maxrss: that one remembers the peak of the process that started this one.
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


def measure(problem, n_points, seed, check, engine):
    """Return all figures of one problem; meant to run alone in its process."""
    warnings.simplefilter("ignore", vbdm.VbdmWarning)
    dataset, options, operator = PROBLEMS[problem]
    points = dataset(n_points, random_state=seed, **options).points
    # Loads what loads lazily; compiled code comes from the cache, if this is not its first use.
    vbdm.estimate_operator(points[:3000], operator, engine=engine).spectrum(10)
    watch, before, started = Stopwatch(), peak_bytes(), perf_counter()
    op = vbdm.estimate_operator(points, operator, engine=engine)
    result = op.spectrum(10)
    errors = result.standard_errors
    total = perf_counter() - started
    bias = result.bias
    with_bias, peak = perf_counter() - started, peak_bytes() - before
    # The lists that hold this kernel at 99 % of the points: what a search by k would look for.
    k = op.tuning.n_neighbors
    figures = {
        "problem": problem, "points": n_points, "seed": seed, "k": k, "total": total,
        "with_bias": with_bias, "stages": watch.seconds,
        "stored": int(op.weights.listed.nnz), "engine": engine,
        "products": result.solve.products, "iterations": result.solve.iterations,
        "eigenvalues": result.eigenvalues.tolist(), "bias": bias.tolist(),
        "standard_errors": errors.tolist(), "peak": peak, "per_point": peak / n_points,
        "beyond_pairs": (peak - 8 * int(op.weights.listed.nnz)) / n_points,
    }  # fmt: skip
    if check:
        figures["error"] = solver_error(op, result)
    return figures


def measure_bare(problem, n_points, seed, k):
    """Return the seconds of the bare search; meant to run alone in its process."""
    dataset, options, _ = PROBLEMS[problem]
    points = dataset(n_points, random_state=seed, **options).points
    cKDTree(points[:3000]).query(points[:3000], k=k, workers=-1)
    started = perf_counter()
    cKDTree(points).query(points, k=k, workers=-1)
    return perf_counter() - started


def solver_error(op, result):
    """Return the largest relative error of θ against a tight solve of the very same pencil."""
    pencil = solve.pencil_of(op)
    mass = op.degrees * (op.steps if result.limit is None else result.limit.time(1 / op.steps))
    tight = vbdm.solvers.Multilevel().prepare(pencil, 24).solve(mass, 24, 1e-9).values
    theta = np.sort(result.solve.pencil_eigenvalues)[1:]
    # Modes may have been left out: each θ against the nearest.
    return float((np.abs(tight[None, 1:] - theta[:, None]).min(axis=1) / theta).max())


def apart(problem, n_points, seed, check, engine):
    """Measure estimate and bare search, each in a fresh process."""

    def run(*options):
        task = [sys.executable, __file__, "--alone", problem, str(n_points), str(seed), *options]
        return json.loads(subprocess.run(task, capture_output=True, check=True).stdout)

    figures = run("--engine", engine, *(["--check"] if check else []))
    bare = run("--bare", str(figures["k"]))
    ratios = {"R": figures["total"] / bare, "R_with_bias": figures["with_bias"] / bare}
    return {**figures, "bare": bare, **ratios}


def show(figures):
    stages = " ".join(f"{name} {seconds:.2f}" for name, seconds in figures["stages"].items())
    error = f"; error {figures['error']:.0e}" if "error" in figures else ""
    print("{problem} N={points} k={k} {engine}: R={R:.2f} ({total:.2f}/{bare:.2f} s), with bias "
          "{R_with_bias:.2f}; {products} products, {iterations} iterations; 8 bytes per pair + "
          "{beyond_pairs:.0f} per point = {per_point:.0f} per point"
          .format(**figures) + error)  # fmt: skip
    print("   ", stages, flush=True)


def growth(results):
    """Print how time per stored pair, memory and iterations grow with N, as fitted exponents."""
    for problem in dict.fromkeys(row["problem"] for row in results):
        rows = [row for row in results if row["problem"] == problem]
        if len({row["points"] for row in rows}) < 2:
            continue
        n = np.log([row["points"] for row in rows])
        per_pair = np.log([row["total"] / row["stored"] for row in rows])
        memory = np.log([row["peak"] / row["points"] for row in rows])
        exponents = [np.polyfit(n, values, 1)[0] for values in (per_pair, memory)]
        steps = [row["iterations"] for row in rows]
        print(f"{problem}: time per stored pair ~ N^{exponents[0]:.2f}, "
              f"bytes per point ~ N^{exponents[1]:.2f}, iterations {steps}")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[100_000])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--engine", choices=("scipy", "numba", "auto"), default="auto")
    parser.add_argument("--check", action="store_true", help="compare with a tight solve")
    parser.add_argument("--save", help="also write all figures to this JSON file")
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    parser.add_argument("--bare", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        problem, n_points, seed = options.alone[0], *map(int, options.alone[1:])
        if options.bare:
            print(json.dumps(measure_bare(problem, n_points, seed, options.bare)))
        else:
            print(json.dumps(measure(problem, n_points, seed, options.check, options.engine)))
        return
    results = []
    for n_points in options.points:
        for problem in options.problems:
            results.append(apart(problem, n_points, options.seed, options.check, options.engine))
            show(results[-1])
            if options.save:
                Path(options.save).parent.mkdir(parents=True, exist_ok=True)
                Path(options.save).write_text(json.dumps(results))
    growth(results)


if __name__ == "__main__":
    main()
