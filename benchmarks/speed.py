"""Where the time and the memory go: ``python benchmarks/speed.py --points 100000``.

Each line is measured in a process of its own, so that its peak of memory is its own. R is the time
of the estimate, ten eigenpairs, their standard errors and their bias, over the time of SciPy's bare
k-d tree search for the same k, both in the same run: times on shared machines are noisy, R is less.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import warnings
from functools import wraps
from pathlib import Path
from time import perf_counter

from scipy.spatial import cKDTree

import vbdm
from vbdm import estimate, graph, methods, modes, spectrum

PROBLEMS = {
    "ou2": (vbdm.datasets.ou, {"dim": 2}, "generator"),
    "ou3": (vbdm.datasets.ou, {"dim": 3}, "generator"),
    "curve": (vbdm.datasets.closed_curve, {"ambient": 10}, "laplacian"),
}
#: Where each stage is called from: its time does not include the stages called inside it.
STAGES = {
    "graph": [(estimate, "as_graph")],
    "density": [(estimate, "pilot_bandwidth"), (estimate, "pilot_density"),
                (methods, "ratio_dimension")],
    "tuning": [(methods, "grow_rows")],
    "search": [(graph.NeighborGraph, "with_neighbors")],
    "kernel": [(estimate, "evaluate_kernel")],
    "operator": [(estimate, "normalise")],
    "pieces": [(spectrum, "find_pieces")],
    "prepare": [(modes, "prepare_pieces")],
    "solve": [(modes, "solve_pieces")],
    "finish": [(spectrum, "compute_spectrum")],
    "errors": [(spectrum, "sampling_errors"), (spectrum, "group_by_size")],
    "bias": [(spectrum, "epsilon_bias")],
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


def measure(problem, n_points, seed):
    """Return all figures of one problem; meant to run alone in its process."""
    warnings.simplefilter("ignore", vbdm.VbdmWarning)
    dataset, options, operator = PROBLEMS[problem]
    points = dataset(n_points, random_state=seed, **options).points
    vbdm.estimate_operator(points[:3000], operator).spectrum(10)  # loads what loads lazily
    watch, before, started = Stopwatch(), peak_bytes(), perf_counter()
    op = vbdm.estimate_operator(points, operator)
    result = op.spectrum(10)
    assert result.standard_errors.shape == result.bias.shape
    total, peak = perf_counter() - started, peak_bytes() - before
    k = op.n_neighbors
    figures = {
        "problem": problem, "points": n_points, "k": k, "total": total, "stages": watch.seconds,
        "products": result.products, "iterations": result.iterations,
        "eigenvalues": result.eigenvalues.tolist(), "bias": result.bias.tolist(),
        "standard_errors": result.standard_errors.tolist(),
        "peak": peak, "per_pair": (peak - 300 * n_points) / (n_points * k),
    }  # fmt: skip
    del op, result  # SciPy's 16 bytes per pair would not fit beside them
    started = perf_counter()
    cKDTree(points).query(points, k=k, workers=-1)
    bare = perf_counter() - started
    return {**figures, "bare": bare, "R": total / bare}


def apart(problem, n_points, seed):
    """Measure in a fresh process."""
    task = [sys.executable, __file__, "--alone", problem, str(n_points), str(seed)]
    out = subprocess.run(task, capture_output=True, text=True, check=True)
    return json.loads(out.stdout)


def show(figures):
    stages = " ".join(f"{name} {seconds:.2f}" for name, seconds in figures["stages"].items())
    print("{problem} N={points} k={k}: R={R:.2f} ({total:.2f}/{bare:.2f} s); {products} products, "
          "{iterations} iterations; {per_pair:.1f} bytes per pair + 300 per point"
          .format(**figures))  # fmt: skip
    print("   ", stages, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[100_000])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save", help="also write all figures to this JSON file")
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        problem, n_points, seed = options.alone
        print(json.dumps(measure(problem, int(n_points), int(seed))))
        return
    results = []
    for n_points in options.points:
        for problem in options.problems:
            results.append(apart(problem, n_points, options.seed))
            show(results[-1])
    if options.save:
        with open(options.save, "w") as file:
            json.dump(results, file)


if __name__ == "__main__":
    main()
