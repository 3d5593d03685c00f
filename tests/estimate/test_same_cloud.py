"""One cloud in different dresses: whatever does not change distances does not change the answer."""

import itertools

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from tests.support.estimates import estimate_with
from tests.support.fuzz.budget import budget, some
from tests.support.fuzz.trial import OK, REFUSED, attempt, run

pytestmark = pytest.mark.fuzz

#: Relative difference of eigenvalues that counts as none; the kernel is kept in single precision.
TOLERANCE = 3e-6


def rng(seed=4100):
    return np.random.default_rng(seed)


def two_clusters():
    points = rng().standard_normal((400, 2))
    points[::3] += 5
    return points


def closed_curve():
    angle = rng().uniform(0, 2 * np.pi, 300)
    return np.c_[np.cos(angle), np.sin(angle), np.cos(2 * angle)]


#: Clouds of a few hundred points: smooth ones, tied ones, uneven ones, flat ones, one with strays.
CLOUDS = {
    "plane": rng().standard_normal((400, 2)),
    "space": rng().standard_normal((500, 3)),
    "box": rng().uniform(0, 1, (400, 2)),
    "line": rng().standard_normal((300, 1)),
    "curve": closed_curve(),
    "clusters": two_clusters(),
    "pieces": two_clusters() * [1, 1] + 60 * (np.arange(400) % 3 == 0)[:, None],
    "counts": rng().poisson(20, (500, 2)).astype(float),
    "counts in 12 columns": rng().poisson(5, (300, 12)).astype(float),
    "lattice": np.stack(np.meshgrid(np.arange(20.0), np.arange(17.0)), -1).reshape(-1, 2),
    "uneven": rng().exponential(1, (400, 2)),
    "flat": rng().standard_normal((500, 2)) * [1, 1e-3],
    "strays": np.r_[rng().standard_normal((396, 2)), rng(1).uniform(-9, 9, (4, 2))],
    "many columns": rng().standard_normal((300, 30)),
}


def turned(X):
    turn, _ = np.linalg.qr(rng(2).standard_normal((X.shape[1], X.shape[1])))
    return X @ turn


#: Another dress of points: what to pass, and by how much lengths were multiplied.
DRESSES = {
    "the same": lambda X: (X.copy(), {}, 1.0),
    "another order": lambda X: (X[rng(3).permutation(len(X))], {}, 1.0),
    "moved": lambda X: (X + 0.1, {}, 1.0),
    "mirrored": lambda X: (-X, {}, 1.0),
    "turned": lambda X: (turned(X), {}, 1.0),
    "another unit": lambda X: (3.7 * X, {}, 3.7),
    "a small unit": lambda X: (2.0**-20 * X, {}, 2.0**-20),
    "zeros beside": lambda X: (np.c_[X, np.zeros((len(X), 2))], {}, 1.0),
    "lists": lambda X: (X.tolist(), {}, 1.0),
    "Fortran order": lambda X: (np.asfortranarray(X), {}, 1.0),
    "big-endian": lambda X: (X.astype(">f8"), {}, 1.0),
    "three copies": lambda X: (np.repeat(X, 3, axis=0), {}, 1.0),
    "distances": lambda X: (cdist(X, X), {"metric": "precomputed"}, 1.0),
    "SciPy": lambda X: (X, {"engine": "scipy"}, 1.0),
    "numba": lambda X: (X, {"engine": "numba"}, 1.0),
}


def eigenvalues(X, operator, **settings):
    estimate = estimate_with(X, operator, precision="double", **settings)
    return estimate.spectrum(6, tol=1e-10).eigenvalues


def judge(case):
    cloud, dress, operator = case
    X, settings, scale = DRESSES[dress](CLOUDS[cloud])
    plain = attempt(lambda: eigenvalues(CLOUDS[cloud], operator))
    dressed = attempt(lambda: scale**2 * eigenvalues(X, operator, **settings))
    if plain[0] != OK or dressed[0] != OK:
        words = {plain[0], dressed[0]}
        return REFUSED if words == {REFUSED} else f"{plain[0]}, {dressed[0]}"
    expected, found = plain[1], dressed[1]
    if (np.isnan(expected) != np.isnan(found)).any():
        return f"NaN at other places: {expected}, {found}"
    off = np.nanmax(np.abs(found - expected)) / np.nanmax(np.abs(expected))
    return OK if off < TOLERANCE else f"off by {off:.1e}: {expected} {found}"


# A minute: every cloud in every dress, for both operators.
@budget(few=16, many=420)
def test_the_dress_of_a_cloud_does_not_matter(n_cases):
    cases = list(itertools.product(CLOUDS, DRESSES, ("laplacian", "generator")))
    counts = run(judge, some(cases, n_cases), gigabytes=2)
    assert counts[OK] > 0.9 * min(n_cases, len(cases))
