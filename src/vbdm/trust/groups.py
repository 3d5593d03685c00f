"""Eigenvalues that cannot be told apart: probably one multiple eigenvalue, split by sampling.

Sorted members of such a group repel each other, so a single member may be off by much more than
the standard error, which is that of the group's mean. Errors are therefore shown by groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..spectrum.spectrum import Spectrum


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
    """

    members: tuple[int, ...]
    mean: float
    standard_error: float

    @property
    def is_several(self) -> bool:
        """Whether there is more than one eigenvalue in it."""
        return len(self.members) > 1


def groups_of(spectrum: Spectrum) -> tuple[Group, ...]:
    """Return the eigenvalues by groups, each with its mean and the mean's standard error.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points)
    >>> [group.members for group in groups_of(op.spectrum(9))]
    [(0,), (1, 2, 3), (4, 5, 6, 7, 8)]
    """
    values = np.real(spectrum.eigenvalues)
    if not spectrum.operator.is_symmetric:
        return tuple(Group((i,), float(value), np.nan) for i, value in enumerate(values))
    errors = spectrum.standard_errors
    return tuple(
        Group(tuple(members.tolist()), float(values[members].mean()), float(errors[members[0]]))
        for members in spectrum.groups
    )
