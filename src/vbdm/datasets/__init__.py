"""Samples of manifolds whose spectrum is known, to learn from and to test against.

Every function draws points and returns a `Sample`, which also knows its intrinsic coordinates,
its true density and, by ``sample.truth(n)``, the eigenvalues and eigenfunctions that a method
should find. `lorenz63` and the functions named `..._series` return a `Trajectory` instead, and
`nino34`, which was measured, a series with dates. The passage between two sets of points is in a
`Transition`: committor, times and rates.

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

from ._corrupted import with_duplicates, with_outliers
from ._curves import circle, closed_curve, ellipse, noisy_circle
from ._flat import interval, lattice, swiss_roll, torus
from ._gaussians import clusters, ou
from ._langevin import double_well_series, muller_brown_series, ou_series, prinz_series
from ._muller_brown import muller_brown, muller_brown_potential, muller_brown_transition
from ._plane_grid import Transition, line_transition
from ._sample import Sample, Truth
from ._series import Measured, Trajectory, lorenz63, nino34
from ._spheres import hemisphere, sphere
from ._wells import double_well, prinz, prinz_potential, stretched, student

__all__ = [
    "Measured",
    "Sample",
    "Trajectory",
    "Transition",
    "Truth",
    "circle",
    "closed_curve",
    "clusters",
    "double_well",
    "double_well_series",
    "ellipse",
    "hemisphere",
    "interval",
    "lattice",
    "line_transition",
    "lorenz63",
    "muller_brown",
    "muller_brown_potential",
    "muller_brown_series",
    "muller_brown_transition",
    "nino34",
    "noisy_circle",
    "ou",
    "ou_series",
    "prinz",
    "prinz_potential",
    "prinz_series",
    "sphere",
    "stretched",
    "student",
    "swiss_roll",
    "torus",
    "with_duplicates",
    "with_outliers",
]
