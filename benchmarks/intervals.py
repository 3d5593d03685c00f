"""Whether intervals hold the truth: ``python benchmarks/intervals.py`` prints shares and widths.

For each problem and N: the share of the first six eigenvalues, over all seeds, that their 95 %
intervals hold; the same for two standard errors; the median of half-width over root mean square
error. The four of `UNSEEN` had a say in the weight of ε alone. ``--efforts 1 2 4`` compares
efforts, and ``--converge`` follows the first group as N grows.
"""

from __future__ import annotations

import numpy as np

import record
import vbdm
from interval_problems import FIRST, PROBLEMS, UNSEEN

ALL = {**PROBLEMS, **UNSEEN}
#: Closed manifolds and OU on the plane, whose first group must approach the truth.
CONVERGING = ("circle", "sphere", "torus", "S3", "OU R2")


def solved(name, n, seed, **options):
    """Return the spectrum of a problem, and the true eigenvalues."""
    problem = ALL[name](n, seed)
    op = vbdm.estimate_operator(problem.points, problem.operator, **options)
    return op.spectrum(FIRST + 1), problem.truth


def judged(name, n, seeds, effort):
    """Return a row: how many of the truths are covered, how wide intervals and errors are."""
    rows = []
    for seed in seeds:
        spectrum, truth = solved(name, n, seed, effort=effort)
        low, high = spectrum.intervals()[1:].T
        gap = np.abs(spectrum.eigenvalues - truth)[1:]
        within = gap <= 2 * spectrum.standard_errors[1:]
        inside = (low <= truth[1:]) & (truth[1:] <= high)
        rows.append([inside, within, 1.96 * spectrum.total_errors[1:], gap, gap / -truth[1:]])
    inside, within, half, gap, relative = np.moveaxis(np.array(rows, dtype=float), 1, 0)
    rms = np.sqrt((gap**2).mean(axis=0))
    return {
        "problem": name, "points": n, "sets": len(rows), "effort": effort,
        "covered": inside.mean(), "by_errors": within.mean(), "width": np.median(half / rms),
        "error": relative.mean(),
    }  # fmt: skip


def line(row):
    print(f"{row['problem']:16s} {row['points']:7d} {row['sets']:5d} {row['effort']:6g}   "
          f"{row['covered']:.3f}    {row['by_errors']:.2f}   {row['width']:5.1f}  "
          f"{row['error']:.4f}", flush=True)  # fmt: skip


def coverage(names, sizes, seeds, efforts):
    print("problem           N       sets effort  covered  2 s.e.  width/rms  mean error")
    rows = []
    for n in sizes:
        for effort in efforts:
            for name in names:
                rows.append(judged(name, n, seeds[n], effort))
                line(rows[-1])
            some = rows[-len(names) :]
            mean = {key: np.mean([row[key] for row in some]) for key in ("covered", "by_errors")}
            width, error = (np.median([row[key] for row in some]) for key in ("width", "error"))
            line({**some[0], **mean, "problem": "mean, medians", "width": width, "error": error})
            below = [row["problem"] for row in some if row["covered"] < 0.9]
            print(f"below .9: {len(below)} of {len(some)}: {', '.join(below)}", flush=True)
    return rows


def converge(names, sizes, seeds):
    print("problem           N      error of the first group, % (mean over seeds), error of that")
    rows = []
    for name in names:
        for n in sizes:
            errors = []
            for seed in seeds[n]:
                spectrum, truth = solved(name, n, seed)
                group = np.flatnonzero(np.isclose(truth, truth[1]))
                errors.append(100 * (spectrum.eigenvalues[group].mean() / truth[1] - 1))
            spread = np.std(errors) / np.sqrt(max(len(errors) - 1, 1))
            rows.append({"problem": name, "points": n, "error": np.mean(errors), "of": spread})
            print(f"{name:16s} {n:8d}  {np.mean(errors):+.3f}  ± {spread:.3f}", flush=True)
    return rows


def main():
    parser = record.parser(__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[2000, 8000, 30_000])
    parser.add_argument("--sets", type=int, nargs="+", default=[6, 4, 2], help="one for each N")
    parser.add_argument("--first-seed", type=int, default=5200)
    parser.add_argument("--problems", nargs="*", default=list(ALL), help="only these")
    parser.add_argument("--efforts", type=float, nargs="+", default=[1.0])
    parser.add_argument("--converge", action="store_true")
    options = record.given(parser, points=[400], sets=[2], problems=["circle", "SO(3)"])
    sets = dict(zip(options.points, options.sets, strict=True))
    seeds = {n: range(options.first_seed, options.first_seed + m) for n, m in sets.items()}
    if options.converge:
        names = [name for name in CONVERGING if name in options.problems]
        rows = converge(names, options.points, seeds)
    else:
        rows = coverage(options.problems, options.points, seeds, options.efforts)
    record.save(options, rows)


if __name__ == "__main__":
    main()
