"""The intrinsic dimension d, a real number: given, or read from the distances to neighbours."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from ..base.arrays import FloatArray, frozen, to_host
from ..base.checks import a_count, check_positive
from ..base.references import DIMENSION as LEVINA_BICKEL
from ..base.references import Credit
from ..errors import InputError
from ..graph.neighbor_graph import NeighborGraph

#: Number of batches of adjacent points, for the standard error: points in a batch share neighbours.
N_BLOCKS = 64
#: Largest dimension: beyond it no number of points suffices, and the kernel's constants overflow.
LARGEST = 100
#: Smallest dimension: below it, the kernel's constants overflow.
SMALLEST = 0.01
#: Up to FEW dimensions a sample can resolve a manifold; from MANY on none does.
FEW, MANY = 6.0, 9.0
GIVEN, UNNAMED = Credit("given", "given"), Credit("", "")


def many_dimensions(dim: float) -> float:
    """Return how far a dimension is on the way from few, 0, to many, 1.

    In many dimensions no sample resolves a manifold: points are far from all others, and the
    estimate has to average over more of them to be of any use.

    >>> [round(many_dimensions(dim), 2) for dim in (2, 6, 7.5, 9, 50)]
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """
    return float(np.clip((dim - FEW) / (MANY - FEW), 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Dimension:
    """An estimate of the dimension, its sampling error, and how it changes with scale."""

    value: float  #: d, the estimate that is used
    #: Its sampling error; NaN if the dimension was given, or read from a slope
    standard_error: float = np.nan
    #: (m,): numbers of neighbours at which the dimension was read: 8, 16 and 32 by default
    scales: FloatArray | None = None
    #: (m,): the dimension at each of these scales. A clean manifold gives nearly equal numbers;
    #: with noise, the small scales show the dimension of the noise.
    by_scale: FloatArray | None = None
    #: The rule that found it; if left out, it becomes the name of the rule's class
    credit: Credit = UNNAMED

    @property
    def drift(self) -> float:
        """Largest over smallest reading, minus one: above 0.25 the scale matters."""
        if self.by_scale is None or len(self.by_scale) < 2:
            return 0.0
        return float(self.by_scale.max() / self.by_scale.min() - 1)


@runtime_checkable
class DimensionRule(Protocol):
    """A rule for the dimension d; a user may pass one as `dim`."""

    def estimate(self, graph: NeighborGraph, rho0: FloatArray) -> Dimension:
        """Return the dimension of a cloud from its neighbours and the pilot bandwidth ρ0, (M,)."""


def estimate_by(rule: DimensionRule, graph: NeighborGraph, rho0: FloatArray) -> Dimension:
    """Return the dimension that a rule finds; a rule without a credit goes by its class's name."""
    found, name = rule.estimate(graph, rho0), type(rule).__name__
    if found.credit.name:
        return found
    return replace(found, credit=Credit(name, f"found by the rule {name}"))


@dataclass(frozen=True)
class GivenDimension:
    """The user's own d."""

    dim: float

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be a dimension."""
        if not SMALLEST <= check_positive(self.dim, "dim") <= LARGEST:
            raise InputError(
                f"`dim` must be at least {SMALLEST} and at most {LARGEST}; received "
                f"{self.dim!r}. Leave it out to have it estimated."
            )

    def estimate(self, graph: NeighborGraph, rho0: FloatArray) -> Dimension:
        """Return the number."""
        return Dimension(float(self.dim), credit=GIVEN)


@dataclass(frozen=True)
class ByRatios:
    r"""d from ratios of neighbour distances (Levina and Bickel, 2004).

    Notes
    -----
    Implements :math:`1/d = \frac{1}{N (k-1)} Σ_i Σ_{j<k} \log(r_{i,k}/r_{i,j})`, with r_{i,j} the
    distance to the j-th neighbour: the inverse is averaged, as MacKay and Ghahramani advise, which
    takes out most of the bias of the original. The standard error comes from means over batches of
    adjacent points, since points that share neighbours are not independent.

    Examples
    --------
    >>> graph = vbdm.neighbors(vbdm.datasets.sphere(2000, dim=3, random_state=0).points)
    >>> round(ByRatios().estimate(graph, np.empty(0)).value, 1)
    3.0
    """

    n_neighbors: int = 32  #: k, the point itself not counted
    credit: ClassVar[Credit] = Credit(
        "neighbour distance ratios",
        "estimated from ratios of neighbour distances (Levina and Bickel 2004)",
        (LEVINA_BICKEL,),
    )

    def __post_init__(self) -> None:
        """Refuse numbers that cannot be counts."""
        a_count(2)(self.n_neighbors, "n_neighbors")

    def estimate(self, graph: NeighborGraph, rho0: FloatArray) -> Dimension:
        """Return the dimension with its error, and with readings at smaller scales."""
        top = min(self.n_neighbors, graph.n_neighbors - 1)
        if top < 2:
            raise no_dimension(f"{graph.n_neighbors - 1} neighbour(s) per point")
        scales = sorted({k for k in (top // 4, top // 2, top) if k >= 2} | {max(top, 2)})
        readings = graph.from_distances(log_ratios, slice(1, scales[-1] + 1), scales)
        blocks = batch_means(readings[-1], N_BLOCKS)
        error = np.std(blocks, ddof=1) / np.sqrt(len(blocks))
        means = [float(reading.mean()) for reading in readings]
        if not means[-1] > 1 / LARGEST:
            raise no_dimension("neighbour distances that are all nearly equal")
        value = 1 / means[-1]
        # On a lattice the nearest neighbours are at equal distances, which tell nothing.
        told = {k: 1 / mean for k, mean in zip(scales, means, strict=True) if mean > 1 / LARGEST}
        return Dimension(
            float(value), float(error * value**2), frozen(np.array(list(told))),
            frozen(np.array(list(told.values()))), self.credit,
        )  # fmt: skip


def no_dimension(received: str) -> InputError:
    """Return the error for neighbours from which the dimension cannot be read."""
    return InputError(
        f"The dimension cannot be estimated up to {LARGEST}; received {received}. Give `dim`, more "
        "points, or fewer columns (for example by PCA)."
    )


def batch_means(values: FloatArray, most: int) -> FloatArray:
    """Return means of consecutive values in up to `most` batches, as `np.array_split` cuts."""
    n_blocks = min(most, len(values))
    size, n_longer = divmod(len(values), n_blocks)
    cut = n_longer * (size + 1)
    parts = values[:cut].reshape(n_longer, size + 1), values[cut:].reshape(-1, size)
    return np.concatenate([to_host(part.mean(axis=1)) for part in parts if len(part)])


def log_ratios(sqdist: FloatArray, scales: list[int]) -> FloatArray:
    """Return the mean over j < k of log(r_k/r_j), for each scale k and each row of distances.

    A copy, at distance 0, counts as if it were at the smallest positive distance in these rows.
    """
    least = float(np.where(sqdist > 0, sqdist, np.inf).min())
    log_distance = 0.5 * np.log(np.maximum(sqdist, least if np.isfinite(least) else 1.0))
    return np.stack(
        [log_distance[:, k - 1] - log_distance[:, : k - 1].mean(axis=1) for k in scales]
    )
