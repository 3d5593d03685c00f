"""How long the whole takes, and how much memory: ``python benchmarks/speed.py --points 100000``.

From raw points to ten eigenpairs with 95 % intervals. R is that time over SciPy's bare search for
the neighbours which such a kernel has at 99 % of the points (build a k-d tree, query it with all
cores, points as they come). They run one after the other, each in a process of its own: peaks of
memory are their own, and each pays for the memory that it touches first. Times on shared machines
are noisy, R is less. ``--check`` adds the error of each eigenvalue against a solve to 1e-9 of the
same pencil, relative to the eigenvalue. ``--picture`` draws what a saved file has.
"""

from __future__ import annotations

import json
from dataclasses import replace
from time import perf_counter

import numpy as np
from scipy.spatial import cKDTree

import record
import vbdm


def in_ten_columns(n_points, random_state, **options):
    """Return a sphere, turned into ten columns by a fixed random rotation."""
    sample = vbdm.datasets.sphere(n_points, random_state=random_state, **options)
    frame = np.linalg.qr(np.random.default_rng(1).standard_normal((10, 10)))[0]
    return replace(sample, points=sample.points @ frame[: sample.points.shape[1]])


#: Data set, its options, and the operator.
PROBLEMS = {
    "plane": (vbdm.datasets.ou, {"dim": 2}, "generator"),
    "space": (vbdm.datasets.ou, {"dim": 3}, "generator"),
    "curve": (vbdm.datasets.closed_curve, {"ambient": 10}, "laplacian"),
    "sphere": (vbdm.datasets.sphere, {"axes": (1, 0.5, 0.3)}, "laplacian"),
    "3-sphere": (in_ten_columns, {"dim": 3, "axes": (1, 0.8, 0.6, 0.7)}, "laplacian"),
}
NAMES = {
    "plane": "Gaussian in the plane", "space": "Gaussian in space",
    "curve": "closed curve in 10 columns", "sphere": "sphere, uneven",
    "3-sphere": "3-sphere in 10 columns",
}  # fmt: skip
STAGES = ("operator", "eigenpairs", "intervals")
#: Colours that colour-blind people can tell apart (Okabe and Ito).
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"]


def points_of(problem, n_points, seed):
    dataset, options, _ = PROBLEMS[problem]
    return dataset(n_points, random_state=seed, **options).points


def measure(problem, n_points, seed, engine, check):
    """Return all figures of one problem; meant to run alone in its process."""
    points, operator = points_of(problem, n_points, seed), PROBLEMS[problem][2]
    # Loads what loads lazily; compiled code comes from the cache, if this is not its first use.
    vbdm.estimate_operator(points[:3000], operator, run=vbdm.Run(engine=engine)).spectrum(
        10
    ).intervals()
    before, times = record.peak_bytes(), [perf_counter()]
    op = vbdm.estimate_operator(points, operator, run=vbdm.Run(engine=engine))
    times.append(perf_counter())
    spectrum = op.spectrum(10)
    times.append(perf_counter())
    intervals = spectrum.intervals()
    times.append(perf_counter())
    return {
        "problem": problem, "points": n_points, "engine": engine, "seconds": times[-1] - times[0],
        "stages": dict(zip(STAGES, np.diff(times).tolist(), strict=True)),
        "bytes_per_point": (record.peak_bytes() - before) / n_points,
        # The lists that hold this kernel at 99 % of the points: what a search by k looks for.
        "k": op.tuning.n_neighbors, "pairs": op.n_neighbors,
        "products": spectrum.log.products, "iterations": spectrum.log.iterations,
        "eigenvalues": spectrum.eigenvalues.tolist(), "intervals": intervals.tolist(),
        **({"error": solver_error(op, spectrum)} if check else {}),
    }  # fmt: skip


def measure_bare(problem, n_points, seed, k):
    """Return the seconds of the bare search; meant to run alone in its process."""
    points = points_of(problem, n_points, seed)
    cKDTree(points[:3000]).query(points[:3000], k=k, workers=-1)
    started = perf_counter()
    cKDTree(points).query(points, k=k, workers=-1)
    return perf_counter() - started


def solver_error(op, spectrum):
    """Return the largest relative error of θ against a tight solve under the same limits."""
    tight = op.spectrum(10, tol=1e-9).log.pencil_eigenvalues[1:]
    theta = spectrum.log.pencil_eigenvalues[1:]
    return float(np.abs(theta / tight - 1).max())


def show(row):
    stages = ", ".join(f"{name} {seconds:.2f}" for name, seconds in row["stages"].items())
    error = f"; error {row['error']:.0e}" if "error" in row else ""
    print(f"{row['problem']} N={row['points']} k={row['k']} {row['engine']}: R={row['R']:.2f} "
          f"({row['seconds']:.2f}/{row['bare']:.2f} s: {stages}); {row['products']} products, "
          f"{row['iterations']} iterations; {row['pairs']} pairs and "
          f"{row['bytes_per_point']:.0f} bytes per point{error}", flush=True)  # fmt: skip


def growth(rows):
    """Print how time per pair and memory grow with N, as fitted exponents."""
    for engine, problem in dict.fromkeys((row["engine"], row["problem"]) for row in rows):
        some = [row for row in rows if (row["engine"], row["problem"]) == (engine, problem)]
        if len({row["points"] for row in some}) > 1:
            n = np.log([row["points"] for row in some])
            per_pair = np.log([row["seconds"] / row["points"] / row["pairs"] for row in some])
            memory = np.log([row["bytes_per_point"] for row in some])
            time, room = (np.polyfit(n, values, 1)[0] for values in (per_pair, memory))
            print(f"{problem}, {engine}: time per pair ~ N^{time:.2f}, bytes per point ~ "
                  f"N^{room:.2f}, iterations {[row['iterations'] for row in some]}")  # fmt: skip


def picture(rows, path):
    """Draw time against N, and where it goes at the largest N."""
    from matplotlib.figure import Figure

    rows = [row for row in rows if row["engine"] == rows[0]["engine"]]
    canvas = Figure(figsize=(10, 4), layout="constrained")
    left, right = canvas.subplots(1, 2)
    problems = dict.fromkeys(row["problem"] for row in rows)
    for colour, problem in zip(COLOURS, problems, strict=False):
        some = [row for row in rows if row["problem"] == problem]
        n = [row["points"] for row in some]
        left.loglog(n, [row["seconds"] for row in some], "o-", color=colour, label=NAMES[problem])
        left.loglog(n, [row["bare"] for row in some], ":", color=colour)
    left.set(xlabel="number of points", ylabel="seconds on two cores",
             title="Ten eigenpairs with intervals (dotted: bare search)")  # fmt: skip
    left.legend(frameon=False, fontsize=8)
    largest = max(row["points"] for row in rows)
    shown = [row for row in rows if row["points"] == largest]
    start = np.zeros(len(shown))
    for colour, stage in zip(COLOURS, STAGES, strict=False):
        share = np.array([row["stages"][stage] / row["bare"] for row in shown])
        labels = [NAMES[row["problem"]] for row in shown]
        right.barh(labels, share, left=start, color=colour, label=stage)
        start += share
    right.axvline(1, color="black", linestyle=":")
    right.set(xlabel="time over that of the bare search", title=f"Where it goes, N = {largest:,}")
    right.invert_yaxis()
    right.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.4, -0.2), ncols=3)
    canvas.savefig(path, dpi=120)


def main():
    parser = record.parser(__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--engines", nargs="+", default=["numba", "scipy"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--check", action="store_true", help="compare with a tight solve")
    parser.add_argument("--picture", nargs=2, metavar=("RESULTS", "PNG"), help="draw, and end")
    parser.add_argument("--alone", help="(itself, in a process of its own)")
    options = record.given(
        parser, points=[1000, 2000], problems=["plane", "curve"], engines=["scipy"], check=True
    )
    if options.alone:
        task = json.loads(options.alone)
        print(json.dumps(measure_bare(**task) if "k" in task else measure(**task)))
        return
    if options.picture:
        picture(record.load(options.picture[0]), options.picture[1])
        return
    rows = []
    for n_points in options.points:
        for problem in options.problems:
            task, bare = {"problem": problem, "n_points": n_points, "seed": options.seed}, None
            for engine in options.engines:
                how = {"engine": engine, "check": options.check}
                row = record.alone("--alone", json.dumps({**task, **how}))
                # Between the engines, so that it is beside both.
                bare = bare or record.alone("--alone", json.dumps({**task, "k": row["k"]}))
                rows.append({**row, "bare": bare, "R": row["seconds"] / bare})
                show(rows[-1])
    growth(rows)
    record.save(options, rows)


if __name__ == "__main__":
    main()
