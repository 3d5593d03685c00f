"""The table that settles arguments: problem × N × seed, for each method.

Columns: mean relative error of the first five eigenvalues; subspace error of the first eigen-group;
error over the oracle's (the resolved method at the best ε of a grid); coverage (share of truths
within two standard errors plus the bias); dimension found; points limited; seconds.
"""

from __future__ import annotations

import importlib.util
from time import perf_counter

import numpy as np

import vbdm
from problems import PROBLEMS
from vbdm.trust.epsilon_scan import wide_enough

#: ε of the oracle's grid, in units of the automatic one.
GRID = 2.0 ** (np.arange(-4, 5) / 2)


def five(eigenvalues, truth):
    """Return the mean relative error of the first five nonzero eigenvalues."""
    return float(np.abs(np.asarray(eigenvalues)[1:6] / truth.eigenvalues[1:6] - 1).mean())


def subspace(eigenfunctions, truth, parameters):
    """Return the mean square error of the first group after the best linear map."""
    group = truth.groups[1][truth.groups[1] < 6]
    exact = truth.eigenfunctions(parameters)[:, group]
    exact = exact / np.sqrt(np.mean(exact**2, axis=0))
    return float(np.mean((vbdm.align(eigenfunctions[:, group], exact) - exact) ** 2))


def resolved(sample, truth):
    started = perf_counter()
    op = vbdm.estimate_operator(sample.points, sample.operator)
    spectrum = op.spectrum(6)
    seconds = perf_counter() - started
    room = 2 * spectrum.standard_errors + np.abs(spectrum.bias)
    inside = np.abs(spectrum.eigenvalues - truth.eigenvalues[:6]) <= room
    return op, {
        "error": five(spectrum.eigenvalues, truth),
        "subspace": subspace(spectrum.eigenfunctions, truth, sample.parameters),
        "coverage": inside[1:].mean(),
        "d": op.dim,
        "limited": int(spectrum.unresolved.sum()),
        "seconds": seconds,
    }


def oracle(op, truth):
    """Return the error at the best ε of the grid, neighbours searched again where needed."""
    errors = []
    for factor in GRID:
        other = wide_enough(op, factor * op.epsilon)
        if other is not None:
            errors.append(five(other.spectrum(6).eigenvalues, truth))
    return min(errors)


def paper(sample, truth):
    started = perf_counter()
    op = vbdm.estimate_operator(sample.points, sample.operator, "paper")
    spectrum = op.spectrum(6)
    return {
        "error": five(spectrum.eigenvalues, truth),
        "subspace": subspace(spectrum.eigenfunctions, truth, sample.parameters),
        "d": op.dim,
        "seconds": perf_counter() - started,
    }


def pydiffmap(sample, truth):
    """Return pyDiffMap's errors with its automatic settings, or None if it is not installed."""
    if importlib.util.find_spec("pydiffmap") is None:
        return None
    from pydiffmap import diffusion_map

    started = perf_counter()
    c1 = 1.0 if sample.operator == "generator" else 0.0
    mapping = diffusion_map.DiffusionMap.from_sklearn(
        n_evecs=5, k=64, epsilon="bgh", alpha=1 - c1 / 2, bandwidth_type="-1/(d+2)"
    ).fit(sample.points)
    values = np.concatenate([[0.0], np.sort(mapping.evals)[::-1]])
    return {"error": five(values, truth), "seconds": perf_counter() - started}


def line(name, n, seed, method, row, best):
    ratio = f"{row['error'] / max(best, 1e-9):6.2f}"
    coverage = f"{row['coverage']:.2f}" if "coverage" in row else "    "
    limited = f"{row['limited']:5d}" if "limited" in row else "     "
    dimension = f"{row['d']:.2f}" if "d" in row else "    "
    space = f"{row['subspace']:.4f}" if "subspace" in row else "      "
    print(f"{name:13s} {n:6d} {seed:5d}  {method:9s} {row['error']:.4f}  {space} {ratio}  "
          f"{coverage}  {dimension} {limited} {row['seconds']:6.2f}", flush=True)  # fmt: skip


def print_table(names, sizes, seeds, with_oracle=True):
    print("problem            N  seed  method    error   subspace ratio coverage d limited seconds")
    worst = {}
    for name in names:
        for n in sizes:
            for seed in seeds:
                sample = PROBLEMS[name](n, seed)
                truth = sample.truth(6)
                op, row = resolved(sample, truth)
                best = oracle(op, truth) if with_oracle else row["error"]
                line(name, n, seed, "resolved", row, best)
                line(name, n, seed, "paper", paper(sample, truth), best)
                other = pydiffmap(sample, truth)
                if other is not None:
                    line(name, n, seed, "pyDiffMap", other, best)
                if with_oracle:
                    print(f"{name:13s} {n:6d} {seed:5d}  oracle    {best:.4f}", flush=True)
                worst.setdefault((name, n), []).append((row["error"], best, row["coverage"]))
    print("\nproblem            N  worst  mean   oracle  mean/oracle  coverage")
    for (name, n), rows in worst.items():
        error, best, coverage = np.array(rows).T
        print(f"{name:13s} {n:6d}  {error.max():.4f} {error.mean():.4f} {best.mean():.4f} "
              f"{error.mean() / best.mean():8.2f} {coverage.mean():10.2f}", flush=True)  # fmt: skip
