"""What an edge of the data does to eigenvalues: ``python benchmarks/edges.py``.

Mean errors of the first six eigenvalues of the Laplacian on data with edges, what the formula of
first order foretells of the same samples, and the share of truths inside the 95 % intervals.
"""

from __future__ import annotations

import numpy as np
from scipy.special import jnp_zeros

import record
import vbdm
from vbdm.trust.edge import boundary_shifts

D = vbdm.datasets
FIRST = 6


def products(dim):
    """Return the first eigenvalues of the unit square or cube with reflecting faces."""
    numbers = np.indices((8,) * dim).reshape(dim, -1)
    return -np.sort(np.pi**2 * (numbers**2).sum(axis=0))[: FIRST + 1]


def disk(n, seed):
    rng = np.random.default_rng(seed)
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.random(n))
    roots = np.concatenate([np.repeat(jnp_zeros(m, 4), 1 + (m > 0)) for m in range(8)])
    points = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return points, -(np.sort(np.r_[0.0, roots])[: FIRST + 1] ** 2)


def cube(dim):
    def make(n, seed):
        return np.random.default_rng(seed).random((n, dim)), products(dim)

    return make


def gaussian_square(n, seed):
    """The square with points that are dense at its middle: normal ones, those outside left out."""
    points = 0.5 + 0.5 * np.random.default_rng(seed).standard_normal((8 * n, 2))
    return points[((points > 0) & (points < 1)).all(axis=1)][:n], products(2)


def of(make):
    def problem(n, seed):
        sample = make(n, random_state=seed)
        return sample.points, sample.truth(FIRST + 1).eigenvalues

    return problem


PROBLEMS = {
    "hemisphere": of(D.hemisphere), "disk": disk, "square": cube(2),
    "square, Gaussian points": gaussian_square, "cube": cube(3), "interval": of(D.interval),
}  # fmt: skip


def measure(name, n, seeds):
    errors, foretold, inside = [], [], []
    for seed in seeds:
        points, truth = PROBLEMS[name](n, seed)
        spectrum = vbdm.estimate_operator(points).spectrum(FIRST + 1)
        known, (low, high) = truth[1:], spectrum.intervals()[1:].T
        errors.append(spectrum.eigenvalues[1:] / known - 1)
        foretold.append(boundary_shifts(spectrum)[1:] / known)
        inside.append((low <= known) & (known <= high))
    return {
        "data": name, "points": n, "error": np.mean(errors), "foretold": np.mean(foretold),
        "covered": np.mean(inside),
    }  # fmt: skip


def main():
    parser = record.parser(__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 3000, 10_000])
    parser.add_argument("--problems", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--sets", type=int, default=4)
    parser.add_argument("--first-seed", type=int, default=4300)
    options = record.given(parser, points=[400], sets=1)
    seeds, rows = range(options.first_seed, options.first_seed + options.sets), []
    for name in options.problems:
        for n in options.points:
            rows.append(measure(name, n, seeds))
            print("{data:24s} {points:6d}  error {error:+.1%}  foretold {foretold:+.1%}  "
                  "covered {covered:.2f}".format(**rows[-1]), flush=True)  # fmt: skip
    record.save(options, rows)


if __name__ == "__main__":
    main()
