"""How long a walk takes, in units of the neighbour search: ``python benchmarks/timing.py``.

Times on shared machines are noisy; the ratio to the search, taken in the same run, is not.
"""

from __future__ import annotations

import argparse
import tracemalloc
import warnings
from time import perf_counter

import numpy as np
from scipy.spatial import cKDTree

import vbdm

warnings.simplefilter("ignore", vbdm.VbdmWarning)


def timed(function, *arguments, **options):
    started = perf_counter()
    result = function(*arguments, **options)
    return result, perf_counter() - started


def walk(n_points, n_neighbors):
    points = np.random.default_rng(0).standard_normal((n_points, 2))
    _, floor = timed(lambda: cKDTree(points).query(points, n_neighbors, workers=-1))
    graph, search = timed(vbdm.neighbors, points, n_neighbors)
    op, operator = timed(vbdm.estimate_operator, graph, "generator", "paper")
    spectrum, solve = timed(op.spectrum, 10)
    tracemalloc.start()
    vbdm.estimate_operator(points, "generator", "paper", n_neighbors=n_neighbors)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    total = search + operator + solve
    print(f"N = {n_points}, k = {n_neighbors}: bare search {floor:.2f} s; graph {search:.2f}, "
          f"operator {operator:.2f}, spectrum {solve:.2f} ({spectrum.solver}); "
          f"ratio {total / floor:.1f}; peak {peak / n_points / n_neighbors:.0f} bytes per pair "
          "before the spectrum")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[20_000])
    parser.add_argument("--neighbors", type=int, default=64)
    options = parser.parse_args()
    for n_points in options.points:
        walk(n_points, options.neighbors)


if __name__ == "__main__":
    main()
