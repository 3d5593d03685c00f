"""Errors and warnings: one error for bad input, one warning class per kind of doubt.

A message says what was received and what to do, in one or two sentences.
"""

from __future__ import annotations

import re
import sys
import warnings
from typing import Any

#: Characters that steer a terminal, turn the direction of writing, or cannot be written at all.
CONTROL = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)


def printable(text: str) -> str:
    r"""Return text that is safe to show on a terminal: control characters are written as escapes.

    Names in a stranger's file may hold sequences that move the cursor or change the title.

    >>> printable("x" + chr(27) + "[2J")
    'x\\x1b[2J'
    """
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class InputError(ValueError):
    """The input cannot be used as it is; the message says what was received, and what to do."""

    def __init__(self, message: str) -> None:
        # Names from files may hold characters that steer a terminal.
        super().__init__(printable(message))


class SolverError(RuntimeError):
    """The eigenvalue solver did not reach its tolerance, and no other solver could take over."""


class OutOfMemoryError(InputError, MemoryError):
    """The estimate would need more memory than is free, in this machine or on the GPU.

    Where it can be known, the estimate is refused before it starts.
    """


class ScratchError(InputError):
    """The folder for blocks on disk cannot be used, or has too little room."""


class ClusterError(InputError):
    """The cluster cannot be reached or used, or its workers failed for good."""


class DeviceError(InputError):
    """The GPU cannot be used: it, its driver or CuPy is missing, too old, or fails."""


class VbdmWarning(UserWarning):
    """Base of all warnings of this package; filter on it to treat them alike."""


class UnboundedErrorWarning(VbdmWarning):
    """The sampling error of L f may grow without bound where the density is small."""


class SaturatedNeighborsWarning(VbdmWarning):
    """The neighbour lists end before the kernel has decayed, which shrinks the eigenvalues."""


class RecallWarning(VbdmWarning):
    """An approximate search missed many of the nearest neighbours."""


class DisconnectedWarning(VbdmWarning):
    """The points fall into several pieces, with no kernel entry between them."""


class DensityTailWarning(VbdmWarning):
    """The Laplacian was asked for on data whose density falls towards 0."""


class WeightsWarning(VbdmWarning):
    """Weights leave few of the points, or change nothing in the operator that was asked for."""


class NoiseWarning(VbdmWarning):
    """The dimension depends on the scale, as it does when there is noise around a manifold."""


class ScaleWarning(VbdmWarning):
    """A few columns hide all others by their scale, as columns in other units do."""


class UnresolvedWarning(VbdmWarning):
    """Some eigenvalues rest on points that are too sparse to resolve them."""


class WeakLinkWarning(VbdmWarning):
    """Some eigenvalues are decided by a few points: a thin tail, or a bridge between clusters."""


class OutsideWarning(VbdmWarning):
    """Some new points lie where there is no data; no values are given there."""


class UnreachedWarning(VbdmWarning):
    """An equation has no solution at some points: their piece of the data touches no set."""


class SmallSetWarning(VbdmWarning):
    """A set has fewer points than a kernel: nothing that depends on it can be computed."""


class ProjectedWarning(VbdmWarning):
    """A part of the right-hand side was left out, without which there would be no solution."""


class RootWarning(VbdmWarning):
    """The root of a pseudotime lies in the middle: points on both sides of it have equal times."""


class ShortTimeWarning(VbdmWarning):
    """A part of the function that the modes leave out may still be there at so short a time."""


class ClockWarning(VbdmWarning):
    """The modes disagree about the diffusivity: rates and times in units of time are doubtful."""


class SkillWarning(VbdmWarning):
    """A forecast is no better than climatology at some leads, was not tried there, or is old."""


class FilterWarning(VbdmWarning):
    """A filter had to begin anew, or its densities were partly negative: look at its evidence."""


class SolverWarning(VbdmWarning):
    """The fast eigenvalue solver failed and a slower one took over; the result is sound."""


class EngineWarning(VbdmWarning):
    """A fast engine cannot be used, or not for this; another computes the same, only slower."""


class ClusterWarning(VbdmWarning):
    """A worker of the cluster was lost, or is set up badly; the result is sound."""


class TuningWarning(VbdmWarning):
    """The automatic choice of ε or of the dimension is doubtful."""


#: Packages whose lines are nobody's own: scikit-learn wraps the methods of its estimators.
NOT_THE_USERS = ("vbdm", "sklearn")


def warn_user(message: str, category: type[VbdmWarning]) -> None:
    """Warn as if from the user's own line: the innermost caller outside this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and package_of(frame.f_globals) in NOT_THE_USERS:
        level, frame = level + 1, frame.f_back
    warnings.warn(printable(message), category, stacklevel=level)


def package_of(names: dict[str, Any]) -> str:
    """Return the package to which a module's names belong."""
    return str(names.get("__name__", "")).partition(".")[0]
