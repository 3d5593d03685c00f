"""Side by side with other packages: ``python benchmarks/peers.py``.

The same points, each package in a process of its own with ten minutes at most, all cores, its own
automatic settings. On the plane (an Ornstein-Uhlenbeck process, eigenvalues 0, -1, -1, -2, ...)
are those that estimate the same operator: pyDiffMap, datafold, and scikit-learn's SpectralEmbedding
with 64 neighbours, which gives coordinates only: its time alone can be compared. datafold gets
α = 1/2, which is that operator's, and of its Markov matrix the logarithm is taken; pyDiffMap gets
its variable bandwidth with the exponents for that operator, α = β = -1/2 (with others, or a fixed
bandwidth, its errors were 57 to 195 % at 2,000 points, or it did not converge).
On surfaces there is robust_laplacian's Laplacian of a point cloud as well. The error is the mean of
the first five nonzero eigenvalues, relative, on one sample.

Packages that are not installed are left out (``pip install pydiffmap datafold robust_laplacian
pyamg``); ``--python datafold=PATH`` runs one by the Python of another environment.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

#: The packages that are asked on each kind of data.
ON_THE_PLANE = ("vbdm", "pyDiffMap", "datafold", "SpectralEmbedding, amg",
                "SpectralEmbedding, arpack")  # fmt: skip
ON_SURFACES = ("vbdm", "robust_laplacian")


def ours(points, operator):
    import vbdm

    warnings.simplefilter("ignore", vbdm.VbdmWarning)
    vbdm.estimate_operator(points[:3000], operator).spectrum(10).intervals()  # loads what is lazy
    started = perf_counter()
    spectrum = vbdm.estimate_operator(points, operator).spectrum(10)
    spectrum.intervals()
    return perf_counter() - started, -spectrum.eigenvalues


def pydiffmap(points, operator):
    from pydiffmap import diffusion_map

    started = perf_counter()
    mapping = diffusion_map.DiffusionMap.from_sklearn(
        n_evecs=9, k=64, epsilon="bgh", alpha=-0.5, bandwidth_type=-0.5, bandwidth_normalize=True
    ).fit(points)
    return perf_counter() - started, np.concatenate([[0.0], np.sort(-mapping.evals)])


def datafold(points, operator):
    from datafold.dynfold import DiffusionMaps
    from datafold.pcfold import GaussianKernel, PCManifold

    started = perf_counter()
    cloud = PCManifold(points)
    cloud.optimize_parameters(random_state=1)
    epsilon = cloud.kernel.epsilon
    kernel = GaussianKernel(epsilon=epsilon, distance={"cut_off": cloud.cut_off})
    model = DiffusionMaps(kernel, n_eigenpairs=10, alpha=0.5).fit(cloud)
    seconds = perf_counter() - started
    # Its Gaussian is exp(-r²/2ε): one step of the Markov matrix is the time ε/2.
    return seconds, np.sort(-2 / epsilon * np.log(np.abs(np.real(model.eigenvalues_))))


def embedding(solver):
    def fitted(points, operator):
        from sklearn.manifold import SpectralEmbedding

        model = SpectralEmbedding(
            10, affinity="nearest_neighbors", n_neighbors=64, eigen_solver=solver, n_jobs=-1,
            random_state=0,
        )  # fmt: skip
        started = perf_counter()
        model.fit(points)
        return perf_counter() - started, None

    return fitted


def robust_laplacian(points, operator):
    import robust_laplacian as package
    from scipy.sparse.linalg import eigsh

    started = perf_counter()
    stiffness, mass = package.point_cloud_laplacian(points)
    values = eigsh(stiffness, 10, mass, sigma=-1e-8, return_eigenvectors=False)
    return perf_counter() - started, np.sort(values)


PACKAGES = {
    "vbdm": ours, "pyDiffMap": pydiffmap, "datafold": datafold,
    "SpectralEmbedding, amg": embedding("amg"), "SpectralEmbedding, arpack": embedding("arpack"),
    "robust_laplacian": robust_laplacian,
}  # fmt: skip


def alone(package, file):
    """Print seconds and rates of one package on the points of a file."""
    warnings.simplefilter("ignore")
    with np.load(file) as given:
        points, operator = given["points"], str(given["operator"])
    seconds, rates = PACKAGES[package](points, operator)
    print(json.dumps({"seconds": seconds, "rates": None if rates is None else list(rates)}))


def answer_of(package, python, file, limit):
    """Return what a package found, or in words why it did not."""
    task = [python, __file__, "--alone", package, str(file)]
    try:
        done = subprocess.run(task, capture_output=True, text=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return {"words": f"more than {limit} s"}
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().splitlines()[-1:] or [f"exit code {error.returncode}"]
        missing = last[0].startswith("ModuleNotFoundError") or "pyamg" in last[0]
        return {"words": "not installed" if missing else f"failed: {last[0][:80]}"}
    return json.loads(done.stdout.splitlines()[-1])


def compare(name, sample, packages, options, pythons):
    """Yield a row for each package on one sample."""
    truth, base = -sample.truth(6).eigenvalues, None
    with TemporaryDirectory() as folder:
        file = Path(folder, "points.npz")
        np.savez(file, points=sample.points, operator=sample.operator)
        for package in packages:
            python = pythons.get(package, sys.executable)
            found = answer_of(package, python, file, options.limit)
            rates = found.pop("rates", None)
            if rates is not None:
                found["error"] = float(np.abs(np.array(rates)[1:6] / truth[1:6] - 1).mean())
            base = base or found.get("seconds")
            if "seconds" in found:
                found["times_ours"] = found["seconds"] / base
            row = {"data": name, "points": len(sample.points), "package": package, **found}
            words = found.get("words") or f"{row['seconds']:.2f} s, {row['times_ours']:.1f} times"
            error = f"; error {row['error']:.2%}" if "error" in row else ""
            print(f"{name}, N={row['points']}, {package}: {words}{error}", flush=True)
            yield row


def main():
    if sys.argv[1:2] == ["--alone"]:
        # Without what the other programs share: the package may live in an environment of its own.
        alone(*sys.argv[2:])
        return
    import record
    from problems import PROBLEMS, D

    parser = record.parser(__doc__)
    parser.add_argument("--points", type=int, nargs="+", default=[2000, 10_000, 50_000])
    parser.add_argument("--on-surfaces", type=int, nargs="*", default=[2000, 10_000])
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--limit", type=int, default=600, help="seconds for each package")
    parser.add_argument("--python", nargs="*", default=[], metavar="PACKAGE=PATH")
    options = record.given(parser, points=[500], on_surfaces=[500], limit=60)
    pythons = dict(each.split("=", 1) for each in options.python)
    plane, rows = PROBLEMS["OU R2"], []
    surfaces = {
        "sphere": lambda n, s: D.sphere(n, random_state=s),
        "sphere, uneven": PROBLEMS["sphere"], "hemisphere": PROBLEMS["hemisphere"],
    }  # fmt: skip
    for n in options.points:
        rows += compare("plane", plane(n, options.seed), ON_THE_PLANE, options, pythons)
    for name, make in surfaces.items():
        for n in options.on_surfaces:
            rows += compare(name, make(n, options.seed), ON_SURFACES, options, pythons)
    record.save(options, rows)


if __name__ == "__main__":
    main()
