"""What was found, in a few plain sentences, for the top of the page and of the terminal.

Each sentence is about something that eigenvalues and eigenfunctions show beyond their errors:
separate pieces, groups with slow modes between them, a closed or an open curve, a sphere. Where
nothing stands out, that is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ..base.arrays import FloatArray
from ..base.wording import counted, rounded, with_error
from ..operator.operator import Operator
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import functions_at
from ..trust.epsilon_scan import drawn_rows
from ..trust.error_bars import Group
from ..trust.findings import nonzero_modes
from .citing import has_delays
from .facts import is_generator, is_near

# The limits were set on seeds 4000 to 4015 of the clouds in tests/report/test_found.py.

#: A gap follows modes if the next ones are at least this many times faster.
GAP = 3.0
#: A group has at least this share of the points; a mode on fewer is one of outliers.
SMALL_GROUP = 0.02
#: Points are in groups if the values of the slow modes are this near to one value per group: the
#: share of their variance between groups. It is 0.81 on an interval, 0.75 along an evenly filled
#: line and 0.64 for a Gaussian.
APART = 0.9
#: Largest number of slow modes that are looked for.
MOST_SLOW = 6
#: Largest number of points whose modes are looked at.
MOST_LOOKED_AT = 1_000_000
#: A dimension is called 1 or 2 if it is so near to it.
NEAR_WHOLE = 0.2
#: Pieces with a smaller share of the points are called strays.
SMALL_PIECE = 0.01
#: In the order of eigenfunction 1, eigenfunction 2 changes little from point to point on an open
#: curve (a share of its variance below the first number), and jumps between two branches on a
#: closed one (a share above the second).
SMOOTH, JUMPING = 0.1, 0.5
#: Largest empty angle, in radians, that the first two eigenfunctions leave on a closed curve.
OPENING = 1.0
#: Spread of the points of a ring, as a share of its radius. On a disc it is 0.3.
THIN = 0.2
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven")


def what_was_found(spectrum: Spectrum, preparation: Any = None) -> str:
    """Return what a spectrum shows, in one to three sentences.

    `preparation` is what was done to the columns: with delays, no mode is called slow.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.circle(300, random_state=0).points)
    >>> what_was_found(op.spectrum(6))
    'The points lie along a closed curve.'
    """
    timed = is_generator(spectrum.operator) and not has_delays(preparation)
    # Points of the connected pieces, without strays.
    sizes = np.bincount(spectrum.components)
    sizes = sizes[sizes >= max(2, SMALL_PIECE * sizes.sum())]
    rest = strays(spectrum, sizes)
    if len(sizes) > 1:
        return (
            f"The points fall into {number(len(sizes))} separate pieces, of "
            f"{sizes_in_words(sizes)} points: the kernel joins no point of one to a point of "
            f"another.{rest}"
        )
    known = nonzero_modes(spectrum.eigenvalues)
    modes = [group for group in spectrum.errors.by_group if np.isin(group.members, known).all()]
    for n_slow, ratio in gaps(modes):
        groups = split(slow_modes(spectrum, n_slow))
        if groups is not None:
            groups = groups.among_all(spectrum.operator.n_points)
            return f"{in_groups(spectrum, groups, ratio, timed)}{rest}"
    return f"{shape(spectrum, modes)}{gap_words(modes) if timed else ''}{rest}"


def strays(spectrum: Spectrum, sizes: NDArray[np.intp]) -> str:
    """Return a sentence on points outside the pieces of some size; empty if there are none."""
    rest = spectrum.operator.n_points - int(sizes.sum())
    return f" {counted(rest, 'point')} {'lies' if rest == 1 else 'lie'} apart." if rest else ""


def number(n: int) -> str:
    """Return a small number as a word."""
    return NUMBERS[n] if n < len(NUMBERS) else f"{n:,}"


def sizes_in_words(sizes: NDArray[np.intp]) -> str:
    """Return "100 and 50", or the six largest and "…"."""
    names = [f"{size:,}" for size in sorted(sizes.tolist(), reverse=True)]
    if len(names) > MOST_SLOW:
        return f"{', '.join(names[:MOST_SLOW])}, …"
    return " and ".join([", ".join(names[:-1]), names[-1]])


def gaps(modes: list[Group]) -> list[tuple[int, float]]:
    """Return where a wide gap follows the first modes, widest first.

    Each entry is a number of modes, and how many times faster the next one is at least: the ratio
    that the ends of the two 95 % intervals give. That may be less than `GAP`, where errors are
    large.
    """
    found, n = [], 0
    for one, other in pairwise(modes):
        n += len(one.members)
        if n <= MOST_SLOW and other.mean / one.mean >= GAP:
            found.append((n, least_ratio(one, other)))
    return sorted(found, key=lambda entry: -entry[1])


def least_ratio(one: Group, other: Group) -> float:
    """Return the smallest ratio of two eigenvalues that their intervals allow; 1 if unknown."""
    ratio = other.upper / one.lower if one.lower < 0 else 1.0
    return ratio if np.isfinite(ratio) else 1.0


@dataclass(frozen=True, eq=False)
class Grouping:
    """Points in groups: the number of points in each, and of those halfway between two."""

    sizes: NDArray[np.intp]
    between: int

    def among_all(self, n_points: int) -> Grouping:
        """Return the numbers among all points, where only some of them were looked at.

        Examples
        --------
        >>> Grouping(np.array([600_000, 400_000]), 3).among_all(10_000_000)
        Grouping(sizes=array([6000000, 4000000]), between=30)
        """
        factor = max(n_points / MOST_LOOKED_AT, 1.0)
        return Grouping((factor * self.sizes).astype(np.intp), int(factor * self.between))


def slow_modes(spectrum: Spectrum, n: int) -> FloatArray:
    """Return the values of the first n modes that are not 0, at the points that have them.

    Of very many points, a fair sample is looked at.
    """
    first = int(nonzero_modes(spectrum.eigenvalues)[0])
    rows = drawn_rows(spectrum, MOST_LOOKED_AT, fair=True)
    values = np.real(functions_at(spectrum, rows)[:, first : first + n])
    return np.asarray(values[np.isfinite(values).all(axis=1)])


def split(values: FloatArray) -> Grouping | None:
    """Return the groups that n modes tell apart, one more than modes; None if there are none.

    Groups are found by k-means, from centres that are far from each other.

    Examples
    --------
    >>> split(np.array([[-1.0], [-1.1], [-0.9], [1.0], [1.1]]))
    Grouping(sizes=array([2, 3]), between=0)
    >>> split(np.linspace(-1, 1, 50)[:, None]) is None
    True
    """
    centres = distant(values, values.shape[1] + 1)
    own = squares(values, centres).argmin(axis=1)
    for _ in range(20):
        centres = np.stack([values[own == k].mean(axis=0) for k in range(len(centres))])
        own = squares(values, centres).argmin(axis=1)
        sizes = np.bincount(own, minlength=len(centres))
        if sizes.min() < max(1, SMALL_GROUP * len(values)):
            return None
    distances = squares(values, centres)
    if distances.min(axis=1).sum() > (1 - APART) * np.square(values - values.mean(axis=0)).sum():
        return None
    nearest, second = np.sqrt(np.partition(distances, 1, axis=1)[:, :2]).T
    return Grouping(sizes, int((nearest > second / 3).sum()))


def distant(values: FloatArray, n: int) -> FloatArray:
    """Return n rows, each the one furthest from those before; the first is furthest from all."""
    chosen = [values[squares(values, values.mean(axis=0)[None])[:, 0].argmax()]]
    while len(chosen) < n:
        chosen.append(values[squares(values, np.array(chosen)).min(axis=1).argmax()])
    return np.array(chosen)


#: Squared distances of rows to centres, (N, k).
squares = partial(cdist, metric="sqeuclidean")


def in_groups(spectrum: Spectrum, groups: Grouping, ratio: float, timed: bool) -> str:
    """Return sentences on groups: their sizes, what joins them, and the modes between them.

    Modes are `timed`, that is slow or fast, if the operator generates a process.
    """
    n_slow = len(groups.sizes) - 1
    about = "about " if spectrum.operator.n_points > MOST_LOOKED_AT else ""
    sizes = f"{about}{sizes_in_words(groups.sizes)}"
    joint = counted(groups.between, "point") if groups.between else "no point"
    mode, slower = ("slow mode", "slower") if timed else ("small eigenvalue", "smaller")
    size = (
        f"at least {rounded(ratio)} times {slower} than the next"
        if ratio >= GAP
        else f"though how much {slower} than the next, the errors do not tell"
    )
    return (
        f"{number(n_slow + 1).capitalize()} groups, of {sizes} points, "
        f"with {joint} between them. {number(n_slow).capitalize()} {mode}"
        f"{' tells' if n_slow == 1 else 's tell'} them apart, {size}. "
        f"The points have dimension {dimension(spectrum.operator)}."
    )


def dimension(operator: Operator) -> str:
    """Return the dimension with its error."""
    return with_error(operator.dim, operator.dimension.standard_error)


def shape(spectrum: Spectrum, modes: list[Group]) -> str:
    """Return sentences on the points as a whole: a curve, a sphere, or a region."""
    operator = spectrum.operator
    kind = curve(slow_modes(spectrum, 2)) if enough(modes, 2) else " curve"
    if abs(operator.dim - 1) < NEAR_WHOLE:
        return f"The points lie along a{kind}."
    if operator.dim < 2 - NEAR_WHOLE and kind != " curve":
        return f"The points lie along a{kind}, though their dimension is {dimension(operator)}."
    is_laplacian = is_near(operator.settings.exponents.c1, 0)
    # On a sphere the first groups are of 3 and 5, their ratio 3 within the intervals.
    if (
        abs(operator.dim - 2) < NEAR_WHOLE
        and is_laplacian
        and [len(group.members) for group in modes[:2]] == [3, 5]
        and least_ratio(modes[0], modes[1]) <= 3 <= modes[1].lower / modes[0].upper
    ):
        radius = np.sqrt(2 / -modes[0].mean)
        return (
            "The first three eigenvalues are one within their errors, and the next five are one, "
            f"three times as large: as on a sphere, of radius {radius:.3g}."
        )
    ring = ""
    if enough(modes, 2):
        values = slow_modes(spectrum, 2)
        radius = np.hypot(*values.T)
        # Around 0 at nearly one distance, on all sides.
        if radius.std() < THIN * radius.mean() and opening(values) < OPENING:
            ring = " The first two eigenfunctions form a ring: a cycle runs through the points."
    return f"The points fill a region of dimension {dimension(operator)}.{ring}"


def enough(modes: list[Group], n: int) -> bool:
    """Tell whether there are n modes."""
    return sum(len(group.members) for group in modes) >= n


def curve(values: FloatArray) -> str:
    """Return " closed curve", "n open curve" or " curve", from the values of two modes.

    On an open curve the second mode is a function of the first, which runs from end to end. On a
    closed curve the two are the coordinates of a ring around 0.
    """
    second = values[np.argsort(values[:, 0]), 1]
    jumps = np.square(np.diff(second)).sum() / (2 * np.square(second - second.mean()).sum())
    if jumps < SMOOTH:
        return "n open curve"
    return " closed curve" if jumps > JUMPING and opening(values) < OPENING else " curve"


def opening(values: FloatArray) -> float:
    """Return the largest angle around 0, in radians, without a point of the plane."""
    angles = np.sort(np.arctan2(values[:, 1], values[:, 0]))
    return float(np.diff(angles, append=angles[0] + 2 * np.pi).max())


def gap_words(modes: list[Group]) -> str:
    """Return a sentence on slow modes, where their errors are known."""
    if len(modes) < 2 or not np.isfinite(modes[1].lower):
        return ""
    found = [entry for entry in gaps(modes) if entry[1] >= GAP]
    if not found:
        return " No slow mode stands out."
    n_slow, ratio = found[0]
    one = n_slow == 1
    return (
        f" {number(n_slow).capitalize()} slow mode{' stands' if one else 's stand'} out, at least "
        f"{rounded(ratio)} times slower than the next."
    )
