"""How sure each eigenvalue is: its sampling error, and groups that cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..base.checks import some_of
from ..errors import InputError
from ..spectrum.spectrum import Groups, Spectrum
from .influences import influences
from .series import Sampling, sampling


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
        The total error of the mean (`vbdm.trust.intervals`); NaN for these forms, too.
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


def groups_of(spectrum: Spectrum) -> tuple[Group, ...]:
    """Return the eigenvalues by groups, each with its mean and the mean's errors and interval.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points)
    >>> groups = groups_of(op.spectrum(9))
    >>> [group.members for group in groups]
    [(0,), (1, 2, 3), (4, 5, 6, 7, 8)]
    >>> [group.lower < truth < group.upper for group, truth in zip(groups[1:], [-2, -6])]
    [True, True]
    """
    values = np.real(spectrum.eigenvalues)
    if not spectrum.operator.is_symmetric:
        return tuple(Group((i,), float(value), np.nan) for i, value in enumerate(values))
    from .error_sources import parts_of_group
    from .intervals import group_total_error

    errors = spectrum.standard_errors
    return tuple(
        Group(
            tuple(members.tolist()), float(values[members].mean()), float(errors[members[0]]),
            group_total_error(spectrum, members), *spectrum.group_interval(members),
            parts_of_group(spectrum, members),
        )
        for members in spectrum.groups
    )  # fmt: skip


def refuse_unsymmetric(spectrum: Spectrum) -> None:
    """Raise for the forms whose error bars the theory here does not cover."""
    if not spectrum.operator.is_symmetric:
        raise InputError(
            f"There are no error bars for this form; received form={spectrum.operator.form!r}. "
            "Use form='symmetric'."
        )


def sampling_of(spectrum: Spectrum) -> Sampling:
    """Return how the eigenvalues scatter with the sample (kept as `spectrum.sampling`)."""
    refuse_unsymmetric(spectrum)
    return sampling(spectrum, influences(spectrum))


def sampling_errors(spectrum: Spectrum) -> FloatArray:
    """Return the standard error of each eigenvalue, (n,): that of the mean of its group."""
    errors = np.zeros(len(spectrum.eigenvalues))
    for group in spectrum.groups:
        errors[group] = group_error(spectrum, group)
    errors[spectrum.eigenvalues == 0] = 0.0
    return errors


def group_error(spectrum: Spectrum, group: ArrayLike) -> float:
    """Return the standard error of the mean of some eigenvalues, a known degenerate group."""
    members = some_of(len(spectrum.eigenvalues))(group, "members")
    mean = spectrum.covariance[np.ix_(members, members)].mean()
    # On a perfect grid nothing varies, and rounding may make the variance negative.
    return float(np.sqrt(max(mean, 0.0)))


def group_by_size(spectrum: Spectrum) -> Groups:
    """Put eigenvalues into groups: neighbours closer than their sampling errors belong together.

    Sorted members of a degenerate group repel each other, so only their mean has an error that
    makes sense.
    """
    single = np.sqrt(np.diag(spectrum.covariance))
    values = spectrum.eigenvalues
    gap = -np.diff(values)
    together = gap < 2 * np.maximum(single[1:], single[:-1])
    together &= values[:-1] != 0
    return tuple(np.split(np.arange(len(values)), np.flatnonzero(~together) + 1))
