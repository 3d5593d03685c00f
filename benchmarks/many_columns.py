"""Whole estimates in many columns: seconds by stages, neighbours, and the peak of memory.

Run ``python benchmarks/many_columns.py``, or with sizes: ``--points 20000 --columns 30 50``.

Two kinds of clouds: a slow walk in a plane with three wells beside fast columns, turned, and
Gaussian blobs. On a busy machine compare the seconds of processor time.
"""

from __future__ import annotations

import warnings
from time import perf_counter, process_time

import numpy as np

import record
import vbdm


def wells(n_points, n_columns, seed=4000):
    """Return a walk in three wells in a plane, with fast columns beside it, all turned."""
    rng = np.random.default_rng(seed)
    n_walkers, step, kT = 100, 1e-3, 0.6
    x, y = rng.standard_normal(n_walkers), 0.5 * rng.standard_normal(n_walkers)
    frames = []
    for _ in range(-(-n_points // n_walkers)):
        for _ in range(20):
            up, top = (
                3 * np.exp(-(x**2) - (y - 1 / 3) ** 2),
                -3 * np.exp(-(x**2) - (y - 5 / 3) ** 2),
            )
            right, left = -5 * np.exp(-((x - 1) ** 2) - y**2), -5 * np.exp(-((x + 1) ** 2) - y**2)
            along_x = -2 * (x * (up + top) + (x - 1) * right + (x + 1) * left) + 0.8 * x**3
            along_y = -2 * ((y - 1 / 3) * up + (y - 5 / 3) * top + y * (right + left))
            along_y += 0.8 * (y - 1 / 3) ** 3
            kicks = np.sqrt(2 * kT * step) * rng.standard_normal((2, n_walkers))
            x, y = x - step * along_x + kicks[0], y - step * along_y + kicks[1]
        frames.append(np.stack([x, y], axis=1))
    slow = np.stack(frames, axis=1).reshape(-1, 2)[:n_points]
    fast = 0.25 * rng.standard_normal((n_points, n_columns - 2))
    turn = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))[0]
    return np.hstack([slow, fast]) @ turn.T


def blobs(n_points, n_columns, seed=4001):
    """Return eight Gaussian blobs, far from each other."""
    rng = np.random.default_rng(seed)
    centres = rng.uniform(-10, 10, size=(8, n_columns))
    return centres[rng.integers(0, 8, n_points)] + rng.standard_normal((n_points, n_columns))


def measured(points):
    """Print and return what one estimate with its spectrum takes."""
    begun = perf_counter(), process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        op = vbdm.estimate_operator(points)
        between = perf_counter(), process_time()
        values = op.spectrum(10).eigenvalues
    ended = perf_counter(), process_time()
    operator, cpu = between[0] - begun[0], between[1] - begun[1]
    spectrum, more = ended[0] - between[0], ended[1] - between[1]
    peak = record.peak_bytes() / 1e9
    print(
        f"operator {operator:6.1f} s ({cpu:6.1f} s of processor)  spectrum {spectrum:6.1f} s "
        f"({more:6.1f} s)  in all {operator + spectrum:6.1f} s  k = {op.n_neighbors}  "
        f"d = {op.dim:.1f}  peak so far {peak:.2f} GB"
    )
    print(f"    {op.settings.search.name}: {op.settings.search_reason}")
    print("   ", values[:5].round(4))
    return {
        "operator": operator, "spectrum": spectrum, "processor": cpu + more, "k": op.n_neighbors,
        "dim": op.dim, "search": op.settings.search.name, "eigenvalues": values,
    }  # fmt: skip


def main():
    """Measure the clouds that were asked for."""
    parser = record.parser(__doc__)
    parser.add_argument("--points", type=int, nargs="*", default=[10_000, 20_000, 100_000])
    parser.add_argument("--columns", type=int, nargs="*", default=[30])
    parser.add_argument("--cloud", choices=["wells", "blobs", "both"], default="both")
    options = record.given(parser, points=[1000])
    rows = []
    # Imports and compiled code are loaded beforehand.
    measured(wells(1500, 12))
    for n_points in options.points:
        for n_columns in options.columns:
            for make in (wells, blobs):
                if options.cloud in (make.__name__, "both"):
                    print(f"{make.__name__}, {n_points} x {n_columns}", flush=True)
                    row = measured(make(n_points, n_columns))
                    rows.append({"cloud": make.__name__, "points": n_points, **row})
    record.save(options, rows)


if __name__ == "__main__":
    main()
