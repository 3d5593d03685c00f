"""Rules that may be passed in place of a number: for ε, the dimension d, and the bandwidth ρ.

=====================  =============================================================================
passed as `epsilon`
`ByDegree`             sparse points have n* neighbours inside their kernel (the default)
`BySlope`              where S(ε) grows fastest (the paper)
`GivenEpsilon`         a number
passed as `dim`
`ByRatios`             from ratios of neighbour distances (the default)
`DimensionBySlope`     twice the largest slope of S(ε) (the paper)
`GivenDimension`       a number
passed as `bandwidth`
`PowerOfDensity`       ρ = q^β (the default; the paper has β = -1/2)
`GivenBandwidth`       an array, or a function of the points
`FromPotential`        ρ = exp(-U/(d+2))
passed as `limiter`
`Limiter`              how sparse points are kept from carrying modes
=====================  =============================================================================

Each is a frozen dataclass whose fields are its options. One of your own needs the one method of its
protocol: `EpsilonRule.choose`, `DimensionRule.estimate`, or the methods of `BandwidthRule`.

>>> points = vbdm.datasets.circle(1000, random_state=0).points
>>> vbdm.estimate_operator(points, epsilon=vbdm.rules.BySlope()).tuning.rule
'slope'
"""

from .kernel.bandwidth import (
    BandwidthRule,
    FromPotential,
    GivenBandwidth,
    PowerOfDensity,
    TwoBandwidths,
)
from .kernel.dimension import ByRatios, Dimension, DimensionRule, GivenDimension
from .kernel.epsilon import ByDegree, BySlope, DimensionBySlope, GivenEpsilon, tune, tuned
from .kernel.scaled import CutAt, CutWhereClean, ScaledPairs, TruncationRule
from .kernel.tuning import EpsilonRule, Tuning
from .operator.method import Limiter

__all__ = [
    "BandwidthRule",
    "ByDegree",
    "ByRatios",
    "BySlope",
    "CutAt",
    "CutWhereClean",
    "Dimension",
    "DimensionBySlope",
    "DimensionRule",
    "EpsilonRule",
    "FromPotential",
    "GivenBandwidth",
    "GivenDimension",
    "GivenEpsilon",
    "Limiter",
    "PowerOfDensity",
    "ScaledPairs",
    "TruncationRule",
    "Tuning",
    "TwoBandwidths",
    "tune",
    "tuned",
]
