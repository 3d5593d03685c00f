"""The verb `op.solve`: (κ - L) u = f, with values held on some sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..base.checks import as_floats, check_real, shown
from ..base.points import check_function, check_per_point
from ..errors import InputError, ProjectedWarning, warn_user
from ..operator.operator import Operator
from .conjugate_gradients import TOLERANCE
from .problem import system_of
from .region import refuse_overlap
from .sets import Naming
from .solved import Solved, in_caller_order
from .system import System

#: Share of the right-hand side that may be left out without a warning.
LITTLE = 0.01


def solve(
    operator: Operator,
    f: ArrayLike,
    fixed: Sequence[tuple[Any, Any]] = (),
    screen: float | ArrayLike = 0.0,
    *,
    labels: Any = None,
    columns: Any = None,
    tol: float = TOLERANCE,
) -> Solved:
    """Solve (κ - L) u = f on the points; see `Operator.solve`."""
    n = operator.n_points
    number = as_floats(f)
    constant = number is not None and number.ndim == 0
    source = check_function(np.full(n, number) if constant else f, n)
    if not source.size:
        raise InputError(
            f"There is no right-hand side; received shape {source.shape}. Pass one number for "
            "each point."
        )
    columns_of = source.reshape(n, -1)
    naming = Naming(operator, labels, columns)
    sets, values = read_fixed(naming, fixed, n, columns_of.shape[1])
    system = system_of(operator, sets, values, read_screen(screen, n))
    inside = operator.order.to_inside(columns_of)
    left = np.zeros(inside.shape[1])
    if system.is_singular:
        inside, left = without_means(system, inside)
    found = system.with_values(inside, read_tolerance(tol))
    several = source.ndim > 1
    return Solved(
        **in_caller_order(system, found, several), projected_out=float(left.max()),
        source=inside if several else inside[:, 0],
    )  # fmt: skip


def read_fixed(
    naming: Naming, fixed: Any, n: int, n_columns: int
) -> tuple[list[Any], list[FloatArray]]:
    """Return the sets that are held, and their values, (m,) or (N, m)."""
    sets, values = [], []
    pairs = list(fixed) if isinstance(fixed, list | tuple) else [fixed]
    for number, pair in enumerate(pairs):
        if not (isinstance(pair, Sequence) and len(pair) == 2):
            raise InputError(
                f"`fixed` is a list of pairs: a set, and the value there; received {shown(pair)}. "
                "Pass, for example, fixed=[(X[:, 0] < -1, 0.0), (X[:, 0] > 1, 1.0)]."
            )
        name = f"fixed[{number}]"
        sets.append(naming.read(pair[0], name))
        values.append(read_values(pair[1], n, n_columns, sets[-1].mask))
    refuse_overlap(sets, [f"fixed[{number}]" for number in range(len(sets))])
    return sets, values


def read_values(value: Any, n: int, n_columns: int, mask: Any) -> FloatArray:
    """Return the values of a set: one number for all solutions, or one for each point, too."""
    array = as_floats(value)
    if array is not None and array.ndim == 0 and np.isfinite(array):
        return np.full(n_columns, float(array))
    if array is not None and array.shape in ((n,), (n, n_columns)):
        whole = np.where(mask[:, None], array.reshape(n, -1), 0.0)
        if np.isfinite(whole).all():
            return np.broadcast_to(whole, (n, n_columns)).copy()
    seen = shown(value) if array is None or array.ndim == 0 else f"shape {array.shape}"
    raise InputError(
        f"The value of a set is a number, or one for each point; received {seen}. There are {n} "
        "points, and values must be finite on the set. Pass a number, or a function evaluated on "
        "the very points that were passed."
    )


def read_screen(screen: Any, n: int) -> float | FloatArray:
    """Return κ, a number or (N,), nowhere negative."""
    one = as_floats(screen)
    if one is not None and one.ndim:
        kappa = check_per_point(screen, "screen", n)
    else:
        kappa = np.asarray(check_real(screen, "screen"))
    if (kappa < 0).any():
        raise InputError(
            f"`screen` must not be negative; received {float(kappa.min()):g}. Mind the sign: the "
            "equation is κ u - L u = f."
        )
    return kappa if kappa.ndim else float(kappa)


def read_tolerance(tol: Any) -> float:
    """Return the accuracy of the solver."""
    number = check_real(tol, "tol")
    if 1e-12 <= number < 1:
        return number
    raise InputError(
        f"`tol` must lie between 1e-12 and 1; received {shown(tol)}. Leave it at its default, "
        "1e-6: sampling errors are far larger."
    )


def without_means(system: System, source: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return f without its mean on each piece, and the share of it that the means were, (m,)."""
    mass = np.where(system.free, system.network.mass, 0.0)
    means = system.constants(mass[:, None] * source)
    whole = np.sqrt(mass @ np.square(source))
    share = np.sqrt(mass @ np.square(means)) / np.where(whole > 0, whole, 1.0)
    if share.max() > LITTLE:
        warn_user(
            f"L u = f has a solution only if the mean of f is 0: {share.max():.0%} of f was left "
            "out, its mean under `op.measure` on each piece of the data. To hold u somewhere pass "
            "`fixed`, or a positive `screen`.",
            ProjectedWarning,
        )
    return source - means, share
