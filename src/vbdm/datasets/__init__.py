"""Samples of manifolds whose spectrum is known, to learn from and to test against.

Every function draws points and returns a `Sample`, which also knows its intrinsic coordinates,
its true density and, by ``sample.truth(n)``, the eigenvalues and eigenfunctions that a method
should find. Only `lorenz63` is different: a `Trajectory` of a chaotic system, without a truth.

Examples
--------
>>> from vbdm.datasets import circle
>>> sample = circle(200, density="cosine")
>>> sample.points.shape
(200, 2)
>>> truth = sample.truth(5, operator="laplacian")
>>> truth.eigenvalues
array([ 0., -1., -1., -4., -4.])
>>> [group.tolist() for group in truth.groups]
[[0], [1, 2], [3, 4]]
"""

from ._chaos import Trajectory, lorenz63
from ._circle import circle
from ._corrupted import with_duplicates, with_outliers
from ._curves import closed_curve, ellipse, noisy_circle
from ._flat import interval, lattice, swiss_roll, torus
from ._gaussians import clusters, ou
from ._potentials import double_well, stretched, student
from ._sample import Sample, Truth
from ._spheres import hemisphere, sphere

__all__ = [
    "Sample",
    "Trajectory",
    "Truth",
    "circle",
    "closed_curve",
    "clusters",
    "double_well",
    "ellipse",
    "hemisphere",
    "interval",
    "lattice",
    "lorenz63",
    "noisy_circle",
    "ou",
    "sphere",
    "stretched",
    "student",
    "swiss_roll",
    "torus",
    "with_duplicates",
    "with_outliers",
]
