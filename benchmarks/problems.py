"""The problems of the accuracy table: each makes a sample with its truth from N and a seed."""

from __future__ import annotations

import vbdm

D = vbdm.datasets

PROBLEMS = {
    "OU R": lambda n, s: D.ou(n, random_state=s),
    "OU R2": lambda n, s: D.ou(n, dim=2, random_state=s),
    "OU R3": lambda n, s: D.ou(n, dim=3, random_state=s),
    "OU R2 cov": lambda n, s: D.ou(n, dim=2, covariance=[1.0, 0.25], random_state=s),
    "circle": lambda n, s: D.circle(n, sampling="random", random_state=s),
    "ellipse": lambda n, s: D.ellipse(n, random_state=s),
    "sphere": lambda n, s: D.sphere(n, axes=(1, 0.5, 0.3), random_state=s),
    "torus": lambda n, s: D.torus(n, random_state=s),
    "torus exp": lambda n, s: D.torus(n, density="exponential", random_state=s),
    "noisy circle": lambda n, s: D.noisy_circle(n, random_state=s),
    "double well": lambda n, s: D.double_well(n, random_state=s),
    "S3": lambda n, s: D.sphere(n, dim=3, axes=(1, 0.8, 0.6, 0.7), random_state=s),
    "interval": lambda n, s: D.interval(n, random_state=s),
    "hemisphere": lambda n, s: D.hemisphere(n, random_state=s),
}
