"""Peaks of memory against `vbdm.estimate_memory`, each cloud in a process of its own.

Run ``python benchmarks/memory.py``, or with names of clouds. Peaks are those above what a small
estimate left behind; the ratio is peak over estimate.
"""

from __future__ import annotations

import json

import numpy as np

import record
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
    "line": (lambda: normal(40_000, 1), 1),
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


def measure(name):
    """Return peak and estimate of one cloud; meant to run alone in its process."""
    make, times = CLOUDS[name]
    points = make()
    # Loads what loads lazily: libraries, and compiled code where it is used.
    engine = chosen_engine("auto", len(points))[0].credit.name
    name_of_engine = "numba" if engine == "numba" else "scipy"
    vbdm.estimate_operator(
        normal(2000, 2), "generator", run=vbdm.Run(engine=name_of_engine)
    ).spectrum(10)
    before = record.peak_bytes()
    op = vbdm.estimate_operator(points, "generator")
    built = record.peak_bytes() - before
    spectrum = op.spectrum(10)
    solved = record.peak_bytes() - before
    n, columns = points.shape
    pieces = spectrum.pieces.n_solved
    said = vbdm.estimate_memory(n, op.n_neighbors, columns, n_distinct=n // times, n_pieces=pieces)
    return {
        "cloud": name, "points": n, "distinct": n // times, "columns": columns, "pieces": pieces,
        "pairs": op.n_neighbors, "operator": built, "peak": solved, "estimate": said,
    }  # fmt: skip


def show(row):
    operator, peak, estimate = (row[key] / 1e6 for key in ("operator", "peak", "estimate"))
    print(f"{row['cloud']:18s} N = {row['points']:6d}  k = {row['pairs']:4d}  operator "
          f"{operator:6.0f} MB  with spectrum {peak:6.0f} MB  estimate {estimate:6.0f} MB  ratio "
          f"{peak / estimate:.2f}", flush=True)  # fmt: skip


def main():
    """Measure the clouds that were asked for, or all."""
    parser = record.parser(__doc__)
    parser.add_argument("clouds", nargs="*", metavar="CLOUD", help=f"of {', '.join(CLOUDS)}")
    parser.add_argument("--alone", help="(itself, in a process of its own)")
    options = record.given(parser, clouds=["copies"])
    if options.alone:
        print(json.dumps(measure(options.alone)))
        return
    rows = []
    for name in options.clouds or CLOUDS:
        rows.append(record.alone("--alone", name))
        show(rows[-1])
    record.save(options, rows)


if __name__ == "__main__":
    main()
