"""Proof that a change of the code changes no number: write them before, compare them after.

``python benchmarks/unchanged.py --write before.npz``, then change, then
``python benchmarks/unchanged.py --compare before.npz``: every problem of the accuracy table, by
both methods, with eigenvalues, their errors, ε, k and d. Only public names are used, so that the
script runs on either side of a redesign.
"""

from __future__ import annotations

import numpy as np

import record
import vbdm
from problems import PROBLEMS


def numbers(name, n_points, seed, method):
    """Return everything that a fit decided or computed, as named arrays."""
    sample = PROBLEMS[name](n_points, seed)
    op = vbdm.estimate_operator(sample.points, sample.operator, method=method)
    spectrum = op.spectrum(6)
    found = {
        "eigenvalues": spectrum.eigenvalues,
        "standard_errors": spectrum.standard_errors,
        "chosen": np.array(
            [
                op.epsilon,
                op.n_neighbors,
                op.dim,
                op.settings.exponents.alpha,
                op.settings.exponents.beta,
                op.settings.exponents.c1,
            ]
        ),
        "sums": np.array(
            [op.density.sum(), op.widths.sum(), np.abs(spectrum.eigenfunctions).sum()]
        ),
    }
    if method == "resolved":
        found["bias"] = spectrum.errors.bias
        found["unresolved"] = np.array([spectrum.unresolved.sum()])
    return {f"{name}/{n_points}/{seed}/{method}/{key}": value for key, value in found.items()}


def all_numbers(sizes, seeds):
    """Return the numbers of all problems."""
    found = {}
    for name in PROBLEMS:
        for n_points in sizes:
            for seed in seeds:
                for method in ("resolved", "paper"):
                    found |= numbers(name, n_points, seed, method)
        print(name, flush=True)
    return found


def difference(before, after):
    """Return the largest difference, relative to the largest number of the array."""
    if before.shape != after.shape or not np.array_equal(np.isnan(before), np.isnan(after)):
        return np.inf
    scale = max(np.nanmax(np.abs(before), initial=0.0), 1e-300)
    return float(np.nanmax(np.abs(before - after), initial=0.0) / scale)


def compare(before, after):
    """Print the largest difference of each quantity, and where it is."""
    worst = {}
    for key, value in before.items():
        change = difference(value, after[key])
        worst[key.rsplit("/", 1)[1]] = max(
            worst.get(key.rsplit("/", 1)[1], (0.0, key)), (change, key)
        )
    for quantity, (change, key) in worst.items():
        print(f"{quantity:16s} {change:.1e}  {key}")
    print(f"{len(before)} arrays, largest relative difference "
          f"{max(change for change, _ in worst.values()):.1e}")  # fmt: skip


def main():
    parser = record.parser(__doc__)
    parser.add_argument("--write")
    parser.add_argument("--compare")
    parser.add_argument("--points", type=int, nargs="+", default=[2000, 10_000])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    options = record.given(parser, points=[300], seeds=[1])
    found = all_numbers(options.points, options.seeds)
    if options.write:
        np.savez(options.write, **found)
    if options.compare:
        with np.load(options.compare) as before:
            compare({key: before[key] for key in found}, found)


if __name__ == "__main__":
    main()
