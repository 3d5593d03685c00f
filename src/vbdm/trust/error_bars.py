r"""How sure each eigenvalue is: every source of error that can be seen, in one width.

The sampling error alone is not enough. Sparse tails are held to their neighbours, the kernel has
a width, noise has a dimension of its own, data may end at an edge: none of this scatters with the
sample, and each moves the eigenvalue. The total error of :math:`λ_j` is

.. math:: σ_j^2 = V_{jj} + (w_U U_j λ_j)^2 + (w_b b_j)^2 + (ν λ_j)^2 + e_j^2,

with the eigenvalue's own sampling variance :math:`V_{jj}` (not that of its group's mean), the
share :math:`U_j` of the slowest modes up to j that lies on unresolved points, the change
:math:`b_j` of λ with ε, ν where the dimension depends on the scale, and :math:`e_j` from an edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from ..base.arrays import BoolArray, FloatArray, frozen
from ..base.checks import check_share, some_of
from ..base.kept import Accessor, kept
from ..base.threads import one_blas_thread
from ..engines.engine import at_work
from ..operator.operator import refuse_unsymmetric
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import sum_over_points
from . import eigenfunction_errors
from .edge import NOISE_DRIFT, boundary_shifts
from .epsilon import epsilon_bias
from .influences import influences
from .series import Sampling, sampling

#: Weight of the share on unresolved points.
TAIL_WEIGHT = 2 / 3
#: Noise moves eigenvalues by about this much of their size. Clean data drifts by at most .025.
NOISE_ERROR = 0.02


@dataclass(frozen=True, eq=False, kw_only=True)
class ErrorParts:
    """What the total error of each eigenvalue consists of: standard deviations, all (n,) and >= 0.

    Attributes
    ----------
    sampling : array
        From the randomness of the sample: each eigenvalue's own, not that of its group's mean.
    tail : array
        From points too sparse to resolve the mode, or a slower one.
    epsilon : array
        From the width of the kernel.
    noise : array
        From noise around the manifold, if the dimension shows any.
    boundary : array
        From an edge of the data, if one was found.
    """

    sampling: FloatArray
    tail: FloatArray
    epsilon: FloatArray
    noise: FloatArray
    boundary: FloatArray

    @property
    def systematic(self) -> FloatArray:
        """All parts but the sampling error, together, (n,)."""
        return np.sqrt(self.tail**2 + self.epsilon**2 + self.noise**2 + self.boundary**2)

    @property
    def total(self) -> FloatArray:
        """All parts together, (n,)."""
        return np.hypot(self.sampling, self.systematic)

    def of(self, members: int | NDArray[np.intp]) -> dict[str, float]:
        """Return the parts of one eigenvalue, or their means over several, by name."""
        return {name: float(part[members].mean()) for name, part in vars(self).items()}


@dataclass(frozen=True)
class Group:
    """One eigenvalue, or several that cannot be told apart.

    Attributes
    ----------
    members : tuple of int
        Consecutive numbers of the eigenvalues.
    mean : float
        The mean of the eigenvalues; NaN if one of them is.
    standard_error : float
        The sampling error of the mean; NaN for the unsymmetric forms of the kernel.
    total_error : float
        The total error of the mean; NaN for these forms, too.
    lower, upper : float
        Ends of the 95 % interval of the mean; NaN for these forms, too.
    error_parts : mapping from str to float
        What the total error consists of, by name: sampling, tail, epsilon, noise, boundary, each a
        standard deviation; empty for these forms.
    """

    members: tuple[int, ...]
    mean: float
    standard_error: float
    total_error: float = np.nan
    lower: float = np.nan
    upper: float = np.nan
    error_parts: Mapping[str, float] = field(default_factory=dict)

    @property
    def is_several(self) -> bool:
        """Whether there is more than one eigenvalue in it."""
        return len(self.members) > 1


class ErrorBars(Accessor):
    """How sure the eigenvalues and eigenfunctions of a spectrum are: `spectrum.errors`.

    Each number is computed when it is asked for, once. Only the symmetric form of the kernel has
    error bars.

    Examples
    --------
    >>> sample = vbdm.datasets.sphere(600, random_state=0)
    >>> errors = vbdm.estimate_operator(sample.points).spectrum(9).errors
    >>> [group.tolist() for group in errors.groups]
    [[0], [1, 2, 3], [4, 5, 6, 7, 8]]
    >>> lower, upper = errors.interval_of_group([1, 2, 3])    # the truth: -2
    >>> lower < -2 < upper
    True
    """

    def __init__(self, spectrum: Spectrum) -> None:
        super().__init__(spectrum)
        self.spectrum = spectrum

    def intervals(self, level: float = 0.95) -> FloatArray:
        """Return an interval for each true eigenvalue, (n, 2): its lower and its upper end.

        `level` is the share of cases in which the interval holds the truth.
        """
        half, values = width_of(level) * self.total, self.spectrum.eigenvalues
        return frozen(np.minimum(np.stack([values - half, values + half], axis=1), 0.0))

    @property
    def total(self) -> FloatArray:
        """Total error of each eigenvalue, (n,), a standard deviation: sampling and systematic."""
        return self.parts.total

    @kept
    @at_work("error bars")
    def parts(self) -> ErrorParts:
        """What `total` consists of: sampling, tail, ε, noise, boundary."""
        spectrum, rates = self.spectrum, np.abs(self.spectrum.eigenvalues)
        variance = np.maximum(np.diag(self.covariance), 0.0)
        # A mode that is faster than a bad one is not better: it is orthogonal to something wrong.
        held = np.maximum.accumulate(np.where(rates > 0, self.unresolved_share, 0.0))
        noisy = abs(spectrum.operator.dimension.drift) > NOISE_DRIFT
        return ErrorParts(
            sampling=frozen(np.where(rates > 0, np.sqrt(variance), 0.0)),
            tail=frozen(TAIL_WEIGHT * held * rates),
            epsilon=frozen(epsilon_weight(spectrum.operator.dim) * np.abs(self.bias)),
            noise=frozen(noisy * NOISE_ERROR * rates),
            boundary=frozen(np.abs(boundary_shifts(spectrum))),
        )

    @kept
    def standard(self) -> FloatArray:
        """Sampling error of each eigenvalue, (n,); where several coincide, of their group's mean.

        The standard deviation over samples of as many independent points, or over time series as
        long as this one, and nothing else: what is systematic is in `total`. Single members of a
        group scatter more than their mean (`groups`).
        """
        errors = np.zeros(len(self.spectrum.eigenvalues))
        for group in self.groups:
            errors[group] = self.of_group(group)
        errors[self.spectrum.eigenvalues == 0] = 0.0
        return frozen(errors)

    @kept
    @at_work("error bars")
    def sampling(self) -> Sampling:
        """How the eigenvalues scatter with the sample; rows may be steps of a time series."""
        refuse_unsymmetric(self.spectrum.operator, "Error bars")
        return sampling(self.spectrum, influences(self.spectrum))

    @kept
    def covariance(self) -> FloatArray:
        """Sampling covariance of the eigenvalues, (n, n)."""
        return self.sampling.covariance

    @property
    def effective_points(self) -> FloatArray:
        """How many independent points know each eigenvalue as well, (n,); N but for time series."""
        return self.sampling.effective_points

    @kept
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """Numbers of eigenvalues too close to be told apart, by groups; each has one error.

        Neighbours closer than their sampling errors belong together. Sorted members of a degenerate
        group repel each other, so only their mean has an error that makes sense.
        """
        single, values = np.sqrt(np.diag(self.covariance)), self.spectrum.eigenvalues
        together = -np.diff(values) < 2 * np.maximum(single[1:], single[:-1])
        together &= values[:-1] != 0
        return tuple(np.split(np.arange(len(values)), np.flatnonzero(~together) + 1))

    @kept
    def by_group(self) -> tuple[Group, ...]:
        """The eigenvalues by `groups`, each with its mean and the mean's errors and interval.

        For the unsymmetric forms each eigenvalue is a group of its own, without errors.
        """
        values = np.real(self.spectrum.eigenvalues)
        if not self.spectrum.operator.kernel.is_symmetric:
            return tuple(Group((i,), float(value), np.nan) for i, value in enumerate(values))
        return tuple(
            Group(
                tuple(members.tolist()), float(values[members].mean()),
                float(self.standard[members[0]]), self.total_of_group(members),
                *self.interval_of_group(members), self.parts_of_group(members),
            )
            for members in self.groups
        )  # fmt: skip

    def of_group(self, members: ArrayLike) -> float:
        """Return the sampling error of the mean of some eigenvalues, a group that you know.

        `members` are their numbers, counted from 0; so for all that is asked of a group.
        """
        group = self._checked(members)
        # On a perfect grid nothing varies, and rounding may make the variance negative.
        return float(np.sqrt(max(self.covariance[np.ix_(group, group)].mean(), 0.0)))

    def total_of_group(self, members: ArrayLike) -> float:
        """Return the total error of the mean of some eigenvalues.

        Sampling errors of the members partly cancel; what is systematic moves all of them alike.
        """
        group = self._checked(members)
        if not self.spectrum.eigenvalues[group].any():
            return 0.0  # the zeros of the pieces are known exactly
        return float(np.hypot(self.of_group(group), self.parts.systematic[group].mean()))

    def parts_of_group(self, members: ArrayLike) -> dict[str, float]:
        """Return the parts of the total error of the mean of some eigenvalues, by name."""
        group = self._checked(members)
        own = self.of_group(group) if self.spectrum.eigenvalues[group].any() else 0.0
        return {**self.parts.of(group), "sampling": own}

    def interval_of_group(self, members: ArrayLike, level: float = 0.95) -> tuple[float, float]:
        """Return the interval of the mean of some eigenvalues: its lower and its upper end."""
        mean = float(self.spectrum.eigenvalues[self._checked(members)].mean())
        half = width_of(level) * self.total_of_group(members)
        return min(mean - half, 0.0), min(mean + half, 0.0)

    @kept
    @at_work("error bars")
    def bias(self) -> FloatArray:
        """Rough size of the systematic error of each eigenvalue, (n,): λ(ε) - λ(0), from ε/2.

        Read it as a size, not as a correction: it is noisy, and too large on surfaces.
        """
        return frozen(epsilon_bias(self.spectrum, self.groups))

    @kept
    @at_work("error bars")
    def functions(self) -> FloatArray:
        """Error of each eigenfunction, (n,): root mean square over the points, from 0 to √2.

        From the sample, and from points too sparse to resolve the mode. NaN where a neighbouring
        eigenvalue is closer than four standard errors: the two modes may then be mixed at will, and
        only their span has an error that makes sense (`function_of_group`).
        """
        alone = [self.function_of_group([j]) for j in range(len(self.spectrum.eigenvalues))]
        return frozen(np.where(eigenfunction_errors.isolated(self), alone, np.nan))

    @at_work("error bars")
    def pointwise(self, j: int) -> FloatArray:
        """Return the standard deviation of eigenfunction j at each point, (N,).

        It is NaN where `functions` is. Errors of neighbouring points go together.
        """
        return eigenfunction_errors.pointwise(self, j)

    @at_work("error bars")
    def function_of_group(self, members: ArrayLike) -> float:
        """Return the error of the span of some eigenfunctions: root mean square over the points.

        What the members contain of other modes, as far as it is not in the span itself.
        """
        return eigenfunction_errors.error_of_span(self, np.unique(self._checked(members)))

    @kept
    @at_work("error bars")
    def mixing(self) -> tuple[FloatArray, ...]:
        """How much of its neighbours each mode contains by error: mean products, an array each."""
        refuse_unsymmetric(self.spectrum.operator, "Error bars")
        return eigenfunction_errors.mixing(self.spectrum)

    @kept
    @at_work("error bars")
    def overlaps(self) -> FloatArray:
        """Means over the points of the products of two eigenfunctions, (n, n)."""
        with one_blas_thread():
            sums = sum_over_points(self.spectrum, eigenfunction_errors.products_of)
            return frozen(sums / self.spectrum.operator.n_points)

    @kept
    @at_work("error bars")
    def unresolved_share(self) -> FloatArray:
        """Share of each eigenfunction's mean square that lies on unresolved points, (n,).

        For a mode with a limit of its own, these are the points that this limit holds, and strays.
        """
        return frozen(eigenfunction_errors.unresolved_share(self.spectrum))

    @kept
    @at_work("error bars")
    def weak_links(self) -> BoolArray:
        """Points that hold half of the energy of a mode of small extent, (N,).

        Small is an extent of fewer than six kernels (see `extent`): in a thin tail, or in a bridge
        between clusters, a few points then decide the eigenvalue.
        """
        return frozen(eigenfunction_errors.weak_links(self.spectrum))

    def _checked(self, members: ArrayLike) -> NDArray[np.intp]:
        return np.asarray(some_of(len(self.spectrum.eigenvalues))(members, "members"))


def epsilon_weight(dim: float) -> float:
    """Return the weight of the change with ε: (d + 1)/4, at least 1/2 and at most 1.

    It is read off the kernel at ε/2, which holds 2^{d/2} times fewer points: the higher the
    dimension, the less sure it is.
    """
    return float(np.clip((dim + 1) / 4, 0.5, 1.0))


def width_of(level: float) -> float:
    """Return how many standard errors wide, to each side, an interval of this level is.

    >>> round(width_of(0.95), 2)
    1.96
    """
    return float(ndtri((1 + check_share(level, "level")) / 2))
