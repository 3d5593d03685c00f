"""Proof that a change of the code changes no number: write them before, compare them after.

``python benchmarks/unchanged.py --write before.npz``, then change, then
``python benchmarks/unchanged.py --compare before.npz``: every problem of the accuracy table, by
both methods, with eigenvalues, their errors, ε, k and d; then engines, equations, a clock,
forecasts by both predictors, blocks, disk and Dask. Only public names are used.
"""

from __future__ import annotations

import numpy as np

import record
import vbdm
from problems import PROBLEMS
from vbdm.placement import Dask, Disk, Memory, start_workers


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


def of_engines(n_points):
    """Return eigenvalues and intervals by both engines, on lists, and of weighted points."""
    X = vbdm.datasets.sphere(n_points, random_state=3).points
    plane = vbdm.datasets.ou(n_points, dim=2, random_state=4).points
    lists, uneven = vbdm.Resolved(n_neighbors=40), np.exp(-plane[:, 0])
    return {
        "engine/scipy": vbdm.estimate_operator(X, run="scipy").spectrum(5).intervals(),
        "engine/numba": vbdm.estimate_operator(X, run="numba").spectrum(5).intervals(),
        "engine/lists": vbdm.estimate_operator(X, method=lists).spectrum(5).intervals(),
        "engine/weights": vbdm.estimate_operator(plane, "generator", weights=uneven)
        .spectrum(4).intervals(),
    }  # fmt: skip


def of_equations(n_points):
    """Return committor, times, gradient, evolution, an extension and a clock in two wells."""
    X = vbdm.datasets.double_well(n_points, random_state=0).points
    op = vbdm.estimate_operator(X, "generator")
    found, time = op.committor("x0 < -1", "x0 > 1"), op.mean_first_passage("x0 > 1")
    spectrum = op.spectrum(6)
    walk = vbdm.datasets.double_well_series(n_points, step=0.2, random_state=0).points
    clock = vbdm.estimate_operator(walk, "generator").spectrum(4).clock(step=0.2)
    return {
        "equations/committor": found.values,
        "equations/rates": np.array([*found.rate, *found.rate_back, *found.flux]),
        "equations/passage": time.values,
        "equations/gradient": op.gradient(found.values),
        "dynamics/evolve": np.asarray(spectrum.evolve(found.values, t=0.5)),
        "dynamics/states": spectrum.states(2).memberships,
        "dynamics/clock": np.append(np.ravel(clock.diffusivity), np.ravel(clock.timescales)),
        "extension/values": spectrum.extend(0.99 * X[:20], outside="nearest").values,
    }


def of_forecasts(n_points):
    """Return means and quantiles of forecasts by both predictors."""
    x = vbdm.datasets.ou_series(n_points, random_state=1).points
    made = {}
    for predictor in ("modes", "neighbours"):
        model = vbdm.Forecaster(predictor=predictor, delays=1, horizon=4).fit(x)
        forecast = model.predict(x[:30], leads=[1, 2, 4])
        made[f"forecast/{predictor}"] = np.concatenate([forecast.mean, forecast.std])
    return made


def of_places(n_points):
    """Return eigenvalues and intervals where rows live in blocks: in memory, on disk, on Dask."""
    X = vbdm.datasets.torus(n_points, random_state=2).points
    made = {}
    for name, place in (("blocks", Memory(blocks=3)), ("disk", Disk(blocks=3))):
        spectrum = vbdm.estimate_operator(X, run=place).spectrum(5)
        made[f"place/{name}"] = np.asarray(spectrum.intervals())
    with start_workers(1) as client:
        spectrum = vbdm.estimate_operator(X, run=Dask(client, blocks=3)).spectrum(5)
        made["place/dask"] = np.asarray(spectrum.intervals())
    return made


def all_numbers(sizes, seeds):
    """Return the numbers of all problems."""
    found = {}
    for name in PROBLEMS:
        for n_points in sizes:
            for seed in seeds:
                for method in ("resolved", "paper"):
                    found |= numbers(name, n_points, seed, method)
        print(name, flush=True)
    for part in (of_engines, of_equations, of_forecasts, of_places):
        found |= part(max(1000, min(sizes)))
        print(part.__name__, flush=True)
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
