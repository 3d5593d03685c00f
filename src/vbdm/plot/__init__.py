"""Pictures of results: each function takes a result and returns the axes it drew on.

========================  =============================================================
`summary`                 an overview in one figure; also `spectrum.plot()`
`tuning`                  why this ε: degrees and dimension against ε
`spectrum`                eigenvalues with their errors, beside a truth if there is one
`eigenfunctions`          their values on the points
`embedding`               the points in coordinates of eigenfunctions
`density`                 the sampling density on the points
`unresolved`              points and links that are too sparse to be trusted
`solution`                committors, times and other solutions of equations; `result.plot()`
`clock`                   times of the modes along a series, over the lag
`arrows`                  a vector field on the points, such as a gradient
`states`                  metastable states, their populations and the rates between them
`forecast`                what comes next, as a fan chart; also `forecast.plot()`
`skill`                   how good forecasts are, beside references; also `skill.plot()`
`filtered`                what is known after noisy observations; also `filtered.plot()`
========================  =============================================================

Results may be an `Operator`, a `Spectrum` or a fitted `DiffusionMap`. Pass ``ax=`` to draw into a
figure of your own; without it a new figure is made by pyplot. Points with more than three columns
are shown along their principal axes, and at most 20,000 points are drawn: the titles say so.
matplotlib is an extra: ``pip install "vbdm[plot]"``.
"""

from ._arrows import arrows
from ._clouds import density, eigenfunctions, embedding, unresolved
from ._curves import spectrum, tuning
from ._dynamics import clock, states
from ._equations import solution
from ._forecast import filtered, forecast
from ._skill import skill
from ._summary import summary

__all__ = [
    "arrows",
    "clock",
    "density",
    "eigenfunctions",
    "embedding",
    "filtered",
    "forecast",
    "skill",
    "solution",
    "spectrum",
    "states",
    "summary",
    "tuning",
    "unresolved",
]
