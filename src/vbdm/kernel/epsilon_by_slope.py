"""ε and the dimension by the paper's rule: where log S(ε) is steepest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..base.arrays import FloatArray, frozen
from ..base.references import Credit
from ..errors import InputError, TuningWarning, warn_user
from ..graph.neighbor_graph import NeighborGraph
from ..shapes import Gaussian, as_shape
from .bandwidth import Bandwidth, GivenBandwidth, PerPoint
from .dimension import Dimension
from .scaled import ScaledPairs
from .tuning import SlopeCurve, Tuning

#: The paper's grid ε = 2^i, i = -30, …, 10.
PAPER_EXPONENTS = np.arange(-30, 11)
WORDS = "where the logarithm of the kernel sum S(ε) grows fastest"


@dataclass(frozen=True)
class BySlope:
    """ε where log S(ε) grows fastest, on the paper's grid (Section 5)."""

    def choose(self, pairs: ScaledPairs) -> Tuning:
        """Return the lower end of the steepest interval of the grid."""
        return steepest(pairs)


@dataclass(frozen=True)
class DimensionBySlope:
    """d as twice the largest slope of log S(ε), with the pilot bandwidth ρ0 in the kernel."""

    credit: ClassVar[Credit] = Credit("slope of S", "twice the largest slope of S(ε)")

    def estimate(self, graph: NeighborGraph, rho0: FloatArray) -> Dimension:
        """Return the dimension, without a standard error."""
        pairs = ScaledPairs(graph, Bandwidth.of_form("symmetric", rho0), Gaussian())
        return Dimension(steepest(pairs).dim, credit=self.credit)


def tune(
    graph: NeighborGraph,
    bandwidth: PerPoint | None = None,
    shape: object = "gaussian",
) -> Tuning:
    r"""Choose ε where S(ε) grows fastest, as the paper does.

    When ε is well chosen S(ε) grows like :math:`ε^{d/2}`; for much smaller ε every point is alone,
    for much larger ε all points are one, and S is flat.

    Parameters
    ----------
    graph : NeighborGraph
        The pairs; distances beyond the k-th neighbour are not seen.
    bandwidth : array or callable, optional
        ρ at the points; None means the fixed kernel, ρ = 1.
    shape : str, Shape or callable
        The shape function h.

    Returns
    -------
    Tuning

    Notes
    -----
    Implements Eq. "tuningfunction" and :math:`a_i = \log(S(ε_{i+1})/S(ε_i)) / \log 2` on
    :math:`ε_i = 2^i`, i = -30..10, with d = 2 max a and ε the lower end of the steepest interval.
    The pairs are those of the graph, each point with itself included. Cost O(N k) per grid point.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 300, endpoint=False)
    >>> graph = vbdm.neighbors(np.c_[np.cos(angle), np.sin(angle)], n_neighbors=300)
    >>> round(vbdm.tune(graph).dim, 1)
    1.2
    """
    if not isinstance(graph, NeighborGraph):
        raise InputError(
            f"`tune` needs a NeighborGraph; received {type(graph).__name__}. Call "
            "vbdm.tune(vbdm.neighbors(X))."
        )
    rho = np.ones(graph.n_points)
    if bandwidth is not None:
        rho = GivenBandwidth(bandwidth).on_data(graph, rho)
    return steepest(ScaledPairs(graph, Bandwidth.of_form("symmetric", rho), as_shape(shape)))


def steepest(pairs: ScaledPairs) -> Tuning:
    """Return the paper's choice for any form of bandwidth."""
    epsilons = np.exp2(PAPER_EXPONENTS.astype(np.float64))
    sums = kernel_sums(pairs, epsilons) / pairs.graph.n_points**2
    slopes = np.diff(np.log(sums)) / np.log(2)
    best = int(np.argmax(slopes))
    if best in (0, len(slopes) - 1):
        warn_user(
            f"The steepest slope of S(ε) lies at the end of the grid, at ε = {epsilons[best]:.2g}. "
            "The data's unit of length may be extreme. Rescale the data, or give `epsilon`.",
            TuningWarning,
        )
    curve = SlopeCurve(frozen(epsilons), frozen(sums), frozen(slopes))
    return Tuning(float(epsilons[best]), "slope", WORDS, curve)


def kernel_sums(pairs: ScaledPairs, epsilons: FloatArray) -> FloatArray:
    """Return Σ_ij h(t_ij/ε) over the listed pairs for every ε of an octave grid."""
    sums = np.zeros(len(epsilons))
    for scaled in pairs.blocks():
        if isinstance(pairs.shape, Gaussian):
            sums += gaussian_octaves(scaled, epsilons)
        else:
            sums += [pairs.shape(scaled / epsilon).sum() for epsilon in epsilons]
    return sums


def gaussian_octaves(scaled: FloatArray, epsilons: FloatArray) -> FloatArray:
    """Return Σ exp(-t/4ε) on a grid of octaves; halving ε squares the kernel, which is cheap.

    The exponential is evaluated for every eighth ε: seven squarings in a row lose only two digits.
    """
    sums = np.empty(len(epsilons))
    kernel = np.empty_like(scaled)
    for step, i in enumerate(reversed(range(len(epsilons)))):
        if step % 8 == 0:
            np.exp(scaled * (-0.25 / epsilons[i]), out=kernel)
        else:
            np.square(kernel, out=kernel)
        sums[i] = kernel.sum()
    return sums
