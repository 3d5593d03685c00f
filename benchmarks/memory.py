"""Peaks of memory against `vbdm.estimate_memory`, each cloud in a process of its own.

Run ``python benchmarks/memory.py``, or with names of clouds. Peaks are those above what a small
estimate left behind; the ratio is peak over estimate.
"""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np

import vbdm
from vbdm.engines.choose import chosen_engine


def normal(n_points, n_columns, seed=4000):
    """Return points of a normal distribution."""
    return np.random.default_rng(seed).standard_normal((n_points, n_columns))


def clusters(n_points, n_columns, seed=4000):
    """Return four clusters, far from each other."""
    shift = 100.0 * np.arange(4).repeat(n_points // 4)
    return normal(n_points, n_columns, seed) + shift[:, None]


#: Points of each cloud, and how often each of them occurs.
CLOUDS = {
    "plane": (lambda: normal(40_000, 2), 1),
    "space": (lambda: normal(40_000, 3), 1),
    "clusters": (lambda: clusters(20_000, 2), 1),
    "clusters in space": (lambda: clusters(20_000, 3), 1),
    "ten columns": (lambda: normal(10_000, 10), 1),
    "thirty columns": (lambda: normal(10_000, 30), 1),
    "fifty columns": (lambda: normal(6_000, 50), 1),
    "hundred columns": (lambda: normal(20_000, 100), 1),
    "copies": (lambda: np.repeat(normal(10_000, 2), 5, axis=0), 5),
}


def peak_bytes():
    """Return the peak of this process; ru_maxrss would remember that of the one before it."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])


def measure(name):
    """Print peak and estimate of one cloud; meant to run alone in its process."""
    warnings.simplefilter("ignore", vbdm.VbdmWarning)
    make, times = CLOUDS[name]
    points = make()
    # Loads what loads lazily: libraries, and compiled code where it is used.
    engine = chosen_engine("auto", len(points))[0].credit.name
    name_of_engine = "numba" if engine == "numba" else "scipy"
    vbdm.estimate_operator(normal(2000, 2), "generator", engine=name_of_engine).spectrum(10)
    before = peak_bytes()
    op = vbdm.estimate_operator(points, "generator")
    built = peak_bytes() - before
    spectrum = op.spectrum(10)
    solved = peak_bytes() - before
    n, columns = points.shape
    pieces = spectrum.pieces.n_solved
    said = vbdm.estimate_memory(n, op.n_neighbors, columns, n_distinct=n // times, n_pieces=pieces)
    print(
        f"{name:18s} N = {n:6d}  k = {op.n_neighbors:4d}  operator {built / 1e6:6.0f} MB  "
        f"with spectrum {solved / 1e6:6.0f} MB  estimate {said / 1e6:6.0f} MB  "
        f"ratio {solved / said:.2f}",
        flush=True,
    )


def main():
    """Measure the clouds that were asked for, or all."""
    names = sys.argv[1:] or list(CLOUDS)
    if names[0] == "--alone":
        measure(names[1])
        return
    for name in names:
        subprocess.run([sys.executable, __file__, "--alone", name], check=True)


if __name__ == "__main__":
    main()
