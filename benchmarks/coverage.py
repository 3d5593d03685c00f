"""Whether intervals hold the truth: ``python benchmarks/coverage.py`` prints shares and widths.

For each problem and N: the share of the first six eigenvalues, over all seeds, that their 95 %
intervals hold; the same for two standard errors; the median of half-width over root mean square
error; and the means of groups. `--effort` compares efforts, `--unseen` takes the problems that had
no say in any choice, `--converge` follows the first group as N grows.
"""

from __future__ import annotations

if __name__ != "__main__":
    # numba looks for the package `coverage`, and would find this file beside a script.
    raise ImportError("benchmarks/coverage.py is a script")

import argparse
import warnings

import numpy as np

import vbdm
from coverage_problems import FIRST, PROBLEMS, UNSEEN

warnings.simplefilter("ignore", vbdm.VbdmWarning)
#: Closed manifolds and OU on the plane, whose first group must approach the truth.
CONVERGING = ("circle", "sphere", "torus", "S3", "OU R2")


def solved(make, n, seed, **options):
    problem = make(n, seed)
    spectrum = vbdm.estimate_operator(problem.points, problem.operator, **options).spectrum(
        FIRST + 1
    )
    return spectrum, problem.truth


def judged(make, n, seeds, **options):
    """Return for all seeds and eigenvalues: covered, covered by 2 errors, half-width, error."""
    rows = []
    for seed in seeds:
        spectrum, truth = solved(make, n, seed, **options)
        low, high = spectrum.intervals()[1:].T
        gap = np.abs(spectrum.eigenvalues - truth)[1:]
        half = 1.96 * spectrum.total_errors[1:]
        inside = (low <= truth[1:]) & (truth[1:] <= high)
        rows.append([inside, gap <= 2 * spectrum.standard_errors[1:], half, gap])
    return np.moveaxis(np.array(rows, dtype=float), 1, 0)


def coverage(problems, sizes, seeds):
    print("problem           N       sets  covered  2 s.e.  width/rms")
    for n in sizes:
        shares = []
        for name, make in problems.items():
            inside, by_errors, half, gap = judged(make, n, seeds[n])
            rms = np.sqrt((gap**2).mean(axis=0))
            ratio = np.median(half / rms)
            shares.append([inside.mean(), by_errors.mean(), ratio])
            line(name, n, len(gap), *shares[-1])
        covered, by_errors, ratios = np.array(shares).T
        line("mean", n, 0, covered.mean(), by_errors.mean(), np.median(ratios))
        print(f"below .9: {(covered < 0.9).sum()} of {len(covered)}", flush=True)


def line(name, n, sets, covered, by_errors, ratio):
    print(
        f"{name:16s} {n:7d} {sets:5d}   {covered:.3f}    {by_errors:.2f}    {ratio:.1f}", flush=True
    )


def efforts(problems, n, seeds):
    print("problem           N      effort 1, 2, 4: mean error of the first six, share covered")
    for name, make in problems.items():
        words = []
        for effort in (1, 2, 4):
            inside, _, _, gap = judged(make, n, seeds, effort=effort)
            words.append(f"{gap.mean():.4f} ({inside.mean():.2f})")
        print(f"{name:16s} {n:7d}  " + "  ".join(words), flush=True)


def converge(sizes, seeds):
    print(
        "problem           N      error of the first group, % (mean over seeds), error of the mean"
    )
    for name in CONVERGING:
        for n in sizes:
            errors = []
            for seed in seeds[n]:
                spectrum, truth = solved(PROBLEMS[name], n, seed)
                group = np.flatnonzero(np.isclose(truth, truth[1]))
                errors.append(100 * (spectrum.eigenvalues[group].mean() / truth[1] - 1))
            spread = np.std(errors) / np.sqrt(max(len(errors) - 1, 1))
            print(f"{name:16s} {n:8d}  {np.mean(errors):+.3f}  ± {spread:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 3000, 10_000, 30_000])
    parser.add_argument("--sets", type=int, nargs="+", default=[6, 4, 4, 2], help="one for each N")
    parser.add_argument("--first-seed", type=int, default=5200)
    parser.add_argument("--problems", nargs="*", help="only these")
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--effort", action="store_true")
    parser.add_argument("--converge", action="store_true")
    options = parser.parse_args()
    sets = dict(zip(options.points, options.sets, strict=True))
    seeds = {n: range(options.first_seed, options.first_seed + m) for n, m in sets.items()}
    chosen = UNSEEN if options.unseen else PROBLEMS
    if options.problems:
        chosen = {name: {**PROBLEMS, **UNSEEN}[name] for name in options.problems}
    if options.converge:
        converge(options.points, seeds)
    elif options.effort:
        for n in options.points:
            efforts(chosen, n, seeds[n])
    else:
        coverage(chosen, options.points, seeds)


if __name__ == "__main__":
    main()
