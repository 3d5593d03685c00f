"""The tuning room: S(ε), its slope, and what they say about ε and the dimension."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..base.checks import FloatArray, frozen
from ..base.errors import TuningWarning, bad_input
from ..base.shapes import Gaussian, Shape, as_shape
from ..graph.graph import NeighborGraph
from ..kernel.kernel import scaled_distances
from .bandwidth import Bandwidth, given_bandwidth
from .curves import DegreeCurve, KeptCurve, SlopeCurve

#: The paper's grid ε = 2^i, i = -30, …, 10.
PAPER_EXPONENTS = np.arange(-30, 11)


@dataclass(frozen=True, eq=False, repr=False)
class Tuning:
    """The choice of ε, with the curve that it can be judged by.

    Attributes
    ----------
    epsilon : float
        The choice.
    rule : {"slope", "degree", "given"}
        What ε was chosen by: where S(ε) is steepest (the paper), by the degrees, or by the user.
    curve : SlopeCurve, DegreeCurve, KeptCurve or None
        S(ε) with its slope and, for the rule by degree, the quantiles of the degrees.
    target : float or None
        What the 1 % quantile of the degrees was set to.
    n_neighbors : int
        How many neighbours hold the kernel at this ε; 0 if that was not looked at.
    """

    epsilon: float
    rule: str = "given"
    curve: SlopeCurve | DegreeCurve | KeptCurve | None = None
    target: float | None = None
    n_neighbors: int = 0

    @property
    def dim(self) -> float:
        """The dimension that S(ε) shows: twice its slope; NaN without a curve."""
        return np.nan if self.curve is None else self.curve.dim_at(self.epsilon)

    @property
    def epsilons(self) -> FloatArray:
        """The grid of the curve."""
        return np.empty(0) if self.curve is None else self.curve.epsilons

    @property
    def sums(self) -> FloatArray:
        """S(ε): the mean of the kernel over all pairs."""
        return np.empty(0) if self.curve is None else self.curve.sums

    @property
    def slopes(self) -> FloatArray:
        """Slopes of log S against log ε."""
        return np.empty(0) if self.curve is None else self.curve.slopes

    def __repr__(self) -> str:
        """Say the choice."""
        return f"Tuning(epsilon={self.epsilon:.4g}, rule={self.rule!r})"


def tune(
    graph: NeighborGraph,
    bandwidth: ArrayLike | Callable[[FloatArray], ArrayLike] | None = None,
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
    :math:`ε_i = 2^i`, i = -30..10, with d = 2 max a and ε the lower end of the steepest step.
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
        raise bad_input(
            "`tune` needs a NeighborGraph.",
            received=type(graph).__name__,
            because="It reads the distances between neighbours.",
            hint="Call vbdm.tune(vbdm.neighbors(X)).",
        )
    if bandwidth is None:
        rho = np.ones(graph.n_points)
    else:
        rho = given_bandwidth(bandwidth, graph, "bandwidth")
    return steepest(graph, Bandwidth.of_form("symmetric", rho), as_shape(shape))


def steepest(graph: NeighborGraph, bandwidth: Bandwidth, shape: Shape) -> Tuning:
    """Return the paper's choice for any form of bandwidth."""
    epsilons = np.exp2(PAPER_EXPONENTS.astype(np.float64))
    sums = kernel_sums(graph, bandwidth, shape, epsilons) / graph.n_points**2
    slopes = np.diff(np.log(sums)) / np.log(2)
    best = int(np.argmax(slopes))
    if best in (0, len(slopes) - 1):
        warnings.warn(
            f"The steepest slope of S(ε) lies at the end of the grid, at ε = {epsilons[best]:.2g}. "
            "The data's unit of length may be extreme. Rescale the data, or give `epsilon`.",
            TuningWarning,
            stacklevel=3,
        )
    curve = SlopeCurve(frozen(epsilons), frozen(sums), frozen(slopes))
    return Tuning(float(epsilons[best]), "slope", curve)


def kernel_sums(
    graph: NeighborGraph, bandwidth: Bandwidth, shape: Shape, epsilons: FloatArray
) -> FloatArray:
    """Return Σ_ij h(t_ij/ε) over the listed pairs for every ε of an octave grid."""
    sums = np.zeros(len(epsilons))
    for _, scaled in scaled_distances(graph, bandwidth):
        if isinstance(shape, Gaussian):
            sums += gaussian_octaves(scaled, epsilons)
        else:
            sums += [shape(scaled / epsilon).sum() for epsilon in epsilons]
    return sums


def gaussian_octaves(scaled: FloatArray, epsilons: FloatArray) -> FloatArray:
    """Return Σ exp(-t/4ε) on a grid of octaves; halving ε squares the kernel, which is cheap.

    Every eighth value is computed afresh: seven squarings in a row lose only two digits.
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
