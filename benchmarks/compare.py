"""Side by side with other packages: ``python benchmarks/compare.py --points 10000 50000``.

Same points (OU in the plane, whose eigenvalues are 0, -1, -1, -2, -2, -2, ...), each package in a
process of its own with ten minutes at most, all cores, its own automatic settings. pyDiffMap has
the same aim (of its α = 0, 1/2, 1 the one is shown whose eigenvalues come closest, 1/2);
scikit-learn's SpectralEmbedding gives coordinates only, no eigenvalues of an operator, no new
points: its time alone can be compared. The error is the largest of the first five nonzero
eigenvalues. Packages that are not installed are left out
(``pip install pydiffmap pyamg``).
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import warnings
from time import perf_counter

import numpy as np

TRUTH = np.array([0, 1, 1, 2, 2, 2, 3, 3, 3, 3])


def sample(n_points, seed):
    return np.random.default_rng(seed).standard_normal((n_points, 2))


def ours(points):
    import vbdm

    warnings.simplefilter("ignore", vbdm.VbdmWarning)
    vbdm.estimate_operator(points[:3000], "generator").spectrum(10)  # loads what loads lazily
    started = perf_counter()
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(10)
    _ = spectrum.standard_errors
    return perf_counter() - started, -spectrum.eigenvalues


def pydiffmap(points):
    from pydiffmap import diffusion_map

    started = perf_counter()
    mapping = diffusion_map.DiffusionMap.from_sklearn(
        n_evecs=9, k=64, epsilon="bgh", alpha=0.5, bandwidth_type="-1/(d+2)"
    ).fit(points)
    seconds = perf_counter() - started
    return seconds, np.concatenate([[0.0], np.sort(-mapping.evals)])


def embedding(solver, points):
    from sklearn.manifold import SpectralEmbedding

    model = SpectralEmbedding(
        10, affinity="nearest_neighbors", n_neighbors=64, eigen_solver=solver, n_jobs=-1,
        random_state=0,
    )  # fmt: skip
    started = perf_counter()
    model.fit(points)
    return perf_counter() - started, None


PACKAGES = {
    "vbdm": (ours, "vbdm"),
    "pyDiffMap": (pydiffmap, "pydiffmap"),
    "SpectralEmbedding, amg": (lambda points: embedding("amg", points), "pyamg"),
    "SpectralEmbedding, arpack": (lambda points: embedding("arpack", points), "sklearn"),
}


def alone(name, n_points, seed):
    warnings.simplefilter("ignore")
    seconds, rates = PACKAGES[name][0](sample(n_points, seed))
    error = None
    if rates is not None:
        error = float(np.abs(rates[1:6] / TRUTH[1:6] - 1).max())
    print(json.dumps({"seconds": seconds, "error": error}))


def measured(name, n_points, seed, limit):
    """Return seconds and error, or what went wrong."""
    task = [sys.executable, __file__, "--alone", name, str(n_points), str(seed)]
    try:
        out = subprocess.run(task, capture_output=True, text=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return f"more than {limit} s"
    except subprocess.CalledProcessError as error:
        return f"failed: {error.stderr.strip().splitlines()[-1][:80]}"
    return json.loads(out.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--limit", type=int, default=600, help="seconds for each package")
    parser.add_argument("--alone", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        name, n_points, seed = options.alone
        alone(name, int(n_points), int(seed))
        return
    for n_points in options.points:
        base = None
        for name, (_, module) in PACKAGES.items():
            if importlib.util.find_spec(module) is None:
                print(f"N={n_points} {name}: not installed")
                continue
            result = measured(name, n_points, options.seed, options.limit)
            if isinstance(result, str):
                print(f"N={n_points} {name}: {result}", flush=True)
                continue
            base = base or result["seconds"]
            error = "no eigenvalues" if result["error"] is None else f"error {result['error']:.1%}"
            print(f"N={n_points} {name}: {result['seconds']:.1f} s, {result['seconds'] / base:.0f} "
                  f"times vbdm's; {error}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
