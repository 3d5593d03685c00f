"""Clouds that are hard on trees and searches: ties, copies, scales, tails, few points."""

import numpy as np


def rng(seed=0):
    return np.random.default_rng(seed)


def lattice(n, dim):
    return np.stack(np.meshgrid(*[np.arange(float(n))] * dim), -1).reshape(-1, dim)


def line_in_many_columns():
    direction = rng(1).standard_normal(50)
    return rng().uniform(-1, 1, (400, 1)) * (direction / np.linalg.norm(direction))


def clusters(ratio):
    """Return two clusters whose sizes differ by a factor."""
    points = rng().standard_normal((500, 2))
    points[:250] /= ratio
    points[250:] += 10
    return points


def one_far_away():
    points = rng().standard_normal((300, 3))
    points[17] = 1e8
    return points


def noisy_circle():
    angle = rng().uniform(0, 2 * np.pi, 500)
    points = 0.01 * rng(1).standard_normal((500, 10))
    points[:, 0] += np.cos(angle)
    points[:, 1] += np.sin(angle)
    return points


#: Name: points (N, n), and the periods of their columns or None.
NASTY = {
    "plane": (rng().standard_normal((700, 2)), None),
    "space": (rng().standard_normal((700, 3)), None),
    "copies": (np.repeat(rng().standard_normal((90, 2)), 5, axis=0), None),
    "one place but for one point": (np.r_[np.zeros((60, 2)), [[1.0, 1.0]]], None),
    "lattice": (lattice(20, 2), None),
    "lattice in space": (lattice(7, 3), None),
    "clusters of very different size": (clusters(1e6), None),
    "one far away": (one_far_away(), None),
    "line in 50 columns": (line_in_many_columns(), None),
    "noise in 30 columns": (rng().standard_normal((300, 30)), None),
    "circle with noise in 10 columns": (noisy_circle(), None),
    "periodic cell": (rng().uniform(0, 1, (600, 3)) * [1, 2, 0.5], [1, 2, 0.5]),
    "angle beside a length": (rng().uniform(0, 360, (500, 2)), [360, 0]),
    "lattice in a periodic cell": (lattice(16, 2), [16, 16]),
    "single precision": (rng().standard_normal((400, 2)).astype(np.float32), None),
    "2 points": (np.array([[0.0, 1.0], [1.0, 0.0]]), None),
    "3 points": (np.array([[0.0], [1.0], [3.0]]), None),
    "17 points": (rng().standard_normal((17, 2)), None),
    "one column": (rng().standard_normal((500, 1)), None),
    "huge": (1e140 * rng().standard_normal((300, 2)), None),
    "tiny": (1e-140 * rng().standard_normal((300, 2)), None),
    "heavy tails": (rng().standard_cauchy((600, 2)), None),
    "far from the origin": (1e6 + rng().standard_normal((400, 2)), None),
    "a constant column": (np.c_[rng().standard_normal(300), np.full(300, 7.0)], None),
}
