"""Error bars against what they foretell, over many samples: ``python benchmarks/spread.py``.

``eigenvalues``: the mean of the predicted standard errors over the spread of the eigenvalues, by
groups of equal ones. ``eigenfunctions``: the root mean square of true errors over that of predicted
ones; a mode that is not isolated has none, and counts nowhere. The seeds had no say in the method.
"""

from __future__ import annotations

import numpy as np

import record
import vbdm
from vbdm.datasets._flat import _box_sample

D = vbdm.datasets


def box(*sides):
    """Return the maker of uniform boxes, whose modes are products of cosines."""

    def make(n, seed):
        x = np.random.default_rng(seed).random((n, len(sides))) * sides
        return _box_sample("box", x, x, sides)

    return make


def circle(n, seed):
    return D.circle(n, density="exponential", sampling="random", random_state=seed)


def sphere(n, seed):
    return D.sphere(n, axes=(1, 0.5, 0.3), random_state=seed)


#: Sample, c1, and groups of equal eigenvalues.
EIGENVALUES = {
    "OU in the plane, c1 = 1": (lambda n, s: D.ou(n, dim=2, random_state=s), 1,
                                [[1, 2], [3, 4, 5]]),
    "sphere, uneven, c1 = 1": (sphere, 1, [[1], [2], [3, 4], [5]]),
    "sphere, uneven, c1 = 0": (sphere, 0, [[1, 2, 3]]),
    "circle, c1 = 0": (lambda n, s: D.circle(n, sampling="random", random_state=s), 0,
                       [[1, 2], [3, 4]]),
}  # fmt: skip
#: Sample, c1, and modes or spans of modes, by the name that the table gives them.
EIGENFUNCTIONS = {
    "Gaussian on the line, modes 1, 2, 3": (lambda n, s: D.ou(n, random_state=s), 1, [1, 2, 3]),
    "Gaussian in the plane, variances 1 and .4, mode 1": (
        lambda n, s: D.ou(n, dim=2, covariance=[1, 0.4], random_state=s), 1, [1],
    ),
    "double well, modes 1, 2, 3": (lambda n, s: D.double_well(n, random_state=s), 1, [1, 2, 3]),
    "circle, density ∝ exp(cos), generator, spans of the first two pairs": (
        circle, 1, [[1, 2], [3, 4]],
    ),
    "box 1 × .62, Laplacian, modes 1, 2, 3": (box(1.0, 0.62), 0, [1, 2, 3]),
    "box 1 × .7 × .45, Laplacian, modes 1, 2, 3": (box(1.0, 0.7, 0.45), 0, [1, 2, 3]),
    "interval, Laplacian, modes 1, 2, 3": (lambda n, s: D.interval(n, random_state=s), 0,
                                           [1, 2, 3]),
}  # fmt: skip


def rms(values):
    """Return the root mean square of what is known."""
    known = np.asarray(values)[np.isfinite(values)]
    return float(np.sqrt(np.mean(known**2))) if known.size else np.nan


def of_eigenvalues(sizes, seeds):
    rows = []
    for name, (make, c1, groups) in EIGENVALUES.items():
        for n in sizes:
            found, predicted = [], []
            for seed in seeds:
                spectrum = vbdm.estimate_operator(make(n, seed).points, c1).spectrum(6)
                found.append([spectrum.eigenvalues[group].mean() for group in groups])
                predicted.append([spectrum.errors.of_group(group) for group in groups])
            ratio = np.mean(predicted, axis=0) / np.std(found, axis=0, ddof=1)
            rows.append(
                {"name": name, "points": n, "sets": len(seeds), "predicted_over_seen": ratio}
            )
            print(f"{name:24s} N = {n:6d}: predicted over seen {ratio.round(2)}", flush=True)
    return rows


def of_eigenfunctions(sizes, seeds):
    rows = []
    for name, (make, c1, members) in EIGENFUNCTIONS.items():
        for n in sizes:
            pairs = [errors_of(make(n, seed), c1, members) for seed in seeds]
            found, predicted = np.moveaxis(np.array(pairs), 1, 0)
            known = np.where(np.isfinite(predicted), found, np.nan)
            ratio = [rms(a) / rms(b) for a, b in zip(known.T, predicted.T, strict=True)]
            rows.append(
                {"name": name, "points": n, "sets": len(seeds), "seen_over_predicted": ratio}
            )
            print(f"{name:68s} N = {n:6d}: seen over predicted {np.round(ratio, 2)}", flush=True)
    return rows


def errors_of(sample, c1, members):
    """Return the true errors of modes, or of spans of several, and those that are predicted."""
    truth = sample.truth(10, float(c1)).eigenfunctions(sample.parameters)
    truth = truth / np.sqrt(np.mean(truth**2, axis=0))
    spectrum = vbdm.estimate_operator(sample.points, c1).spectrum(10)
    u, found, predicted = spectrum.eigenfunctions, [], []
    for each in members:
        if isinstance(each, list):
            found.append(rms(truth[:, each] - vbdm.align(u[:, each], truth[:, each])))
            predicted.append(spectrum.errors.function_of_group(each))
        else:
            found.append(rms(u[:, each] - np.sign(u[:, each] @ truth[:, each]) * truth[:, each]))
            predicted.append(spectrum.errors.functions[each])
    return found, predicted


SECTIONS = {"eigenvalues": of_eigenvalues, "eigenfunctions": of_eigenfunctions}


def main():
    parser = record.parser(__doc__)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 2000, 6000])
    parser.add_argument("--sets", type=int, default=16)
    parser.add_argument("--first-seed", type=int, default=8100)
    options = record.given(parser, points=[300], sets=2)
    seeds = range(options.first_seed, options.first_seed + options.sets)
    names = options.sections or SECTIONS
    record.save(options, {name: SECTIONS[name](options.points, seeds) for name in names})


if __name__ == "__main__":
    main()
