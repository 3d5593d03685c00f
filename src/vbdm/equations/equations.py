"""`op.equations`: L u = f, committors, and times until sets are reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..base.arrays import FloatArray
from ..base.checks import a_kind, as_floats, check_real, number_between, shown
from ..base.kept import Accessor, kept
from ..base.points import check_function, check_per_point
from ..errors import InputError, ProjectedWarning, SolverError, UnreachedWarning, warn_user
from ..operator.operator import Operator
from .network import Network, network_of
from .sets import Naming, Region, as_array, in_short, refuse_overlap
from .solved import Committor, HittingProbabilities, PassageTime, Solved, are_apart
from .solver import TOLERANCE
from .system import System, system_of

a_tolerance = a_kind(
    number_between(1e-13, 1.0, strictly=True), "a number between 1e-13 and 1",
    "Leave it at its default, 1e-6: sampling errors are far larger.",
)  # fmt: skip
#: Share of the right-hand side that may be left out without a warning.
LITTLE = 0.01


class Equations(Accessor):
    """Equations with L on the points: `op.equations`.

    Results have their values in the caller's order, and standard errors for sums over them. An
    operator that lives on a device is copied into this machine's memory first. Equations are solved
    on one network of links between the points, which is made for the first of them.
    """

    def __init__(self, operator: Operator) -> None:
        super().__init__(operator)
        self.operator = operator

    @kept
    def network(self) -> Network:
        """The network that equations are solved on (see `vbdm.equations.network`)."""
        return network_of(self.operator)

    @kept
    def measure(self) -> FloatArray:
        """Weights of the points under the invariant measure q^c1, (N,), with sum 1.

        Where weights w of the points were given, it is that of (w q)^c1. Copies of a point share
        its weight.

        Means under it are sums with these weights. Points so far outside that they resolve no mode
        count as if their local time were that of the ninth mode.
        """
        mass, order = self.network.mass, self.operator.graph.order
        if order.counts is not None:
            mass = mass / order.counts
        weights = order.to_caller(mass)
        return np.asarray(weights / weights.sum())

    def solve(
        self,
        f: ArrayLike,
        fixed: Sequence[tuple[Any, Any]] = (),
        screen: float | ArrayLike = 0.0,
        *,
        labels: Any = None,
        columns: Any = None,
        tol: float = TOLERANCE,
    ) -> Solved:
        """Solve κ u - L u = f on the points, with u given on some sets.

        Parameters
        ----------
        f : number, (N,) or (N, m) array
            The right-hand side. Mind the sign: for L u = f, pass -f.
        fixed : list of pairs (set, value)
            Sets of points where u is known, and its value there: a number, or one for each point.
            A set is named as in `committor`.
        screen : float or (N,) array
            κ >= 0: the rate at which a walk is killed, or the inverse square of a screening length.
        labels, columns : optional
            How sets may be named, as in `committor`.
        tol : float
            Relative accuracy of the solver.

        Returns
        -------
        Solved
            With `values`, `unreached`, `iterations`, `residual`, and the methods `mean(over=…)` and
            `functional(weights)`, which have standard errors.

        Notes
        -----
        At an edge of the data nothing is held, so the solution is flat there (Neumann's condition).
        Without sets and with κ = 0 there is a solution only if the mean of f is 0: the mean is left
        out, `projected_out` says how much that was, and the mean of u is 0. See
        `vbdm.equations.network` for the corrections that are made.

        Examples
        --------
        >>> points = vbdm.datasets.sphere(2000, random_state=0).points
        >>> z = points[:, 2]
        >>> u = vbdm.estimate_operator(points).solve(z, screen=1.0).values   # the truth: z/3
        >>> bool(np.sqrt(np.mean((u - z / 3) ** 2)) < 0.02)
        True
        """
        n = self.operator.n_points
        number = as_floats(f)
        constant = number is not None and number.ndim == 0
        source = check_function(np.full(n, number) if constant else f, n)
        if not source.size:
            raise InputError(f"There is no right-hand side; received shape {source.shape}.")
        naming = Naming(self.operator, labels, columns)
        inside = self.operator.graph.order.to_inside(source.reshape(n, -1))
        sets, values = read_fixed(naming, fixed, n, inside.shape[1])
        system = system_of(self.network, sets, values, read_screen(screen, n))
        left = np.zeros(inside.shape[1])
        if system.is_singular:
            inside, left = without_means(system, inside)
        found = system.with_values(inside, a_tolerance(tol, "tol"))
        own = inside if source.ndim > 1 else inside[:, 0]
        return Solved.of(system, found, own, projected_out=float(left.max()))

    def committor(
        self, A: Any, B: Any, *, labels: Any = None, columns: Any = None, tol: float = TOLERANCE
    ) -> Committor:
        """Return the probability to reach B before A from each point, with flux and rates.

        Parameters
        ----------
        A, B : sets of points
            Each a mask of N booleans (or of zeros and ones), row numbers, a label or several (with
            `labels`), a condition on columns such as ``"phi < -1.2 and psi > 0"``, or N signed
            distances to the edge of the set, negative in it: where these are known, the edge is
            known better than a mask tells. Copies of a point are one point.
        labels : (N,) array, optional
            A label of each point, by which sets can be named; None or NaN where there is none. A
            list of numbers that all are labels is one of labels, else of row numbers.
        columns : mapping, table or list of names, optional
            What conditions speak of: columns of the length N by their names, or the names of the
            columns of the data, which are x0, x1, … by default. Periodic columns need the values,
            because the points have been wrapped into their box.
        tol : float
            Relative accuracy of the solver.

        Returns
        -------
        Committor
            With `values`, and `flux`, `rate` (from A to B), `rate_back`: pairs (value, standard
            error), in units of the diffusion coefficient over length² (see `spectrum.clock`).

        Examples
        --------
        >>> x = np.random.default_rng(0).standard_normal((2000, 1))
        >>> found = vbdm.estimate_operator(x, "generator").committor("x0 < -1", "x0 > 1")
        >>> bool(abs(np.interp(0.0, *np.sort([x[:, 0], found.values]))- 0.5) < 0.05)
        True
        """
        naming = Naming(self.operator, labels, columns)
        sets = [naming.read(A, "A"), naming.read(B, "B")]
        refuse_overlap(sets, ["A", "B"])
        # The second column is the adjoint equation, whose right-hand side is the mass.
        system = system_of(self.network, sets, [np.array([0.0, 0.0]), np.array([1.0, 0.0])])
        if are_apart(system):
            warn_user(
                "A and B lie in different pieces of the data: no link leads from one to the "
                "other, and the flux is 0. See `spectrum.components`.",
                UnreachedWarning,
            )
        mass = np.where(system.free, 1.0, 0.0)
        found = system.with_values(np.stack([0 * mass, mass], axis=1), a_tolerance(tol, "tol"))
        adjoint = np.nan_to_num(found.values[:, 1])
        found.values[:, 0] = within_bounds(found.values[:, 0], tol)
        return Committor.of(system, found, np.zeros(len(mass)), adjoint=adjoint)

    def hitting_probabilities(
        self, sets: Any, *, labels: Any = None, columns: Any = None, tol: float = TOLERANCE
    ) -> HittingProbabilities:
        """Return the probabilities to reach each of some sets first, (N, m); rows sum to 1.

        Parameters
        ----------
        sets : list of sets, or dict of sets by their names
            As in `committor`. With `labels`, a list of labels.
        labels, columns, tol : optional
            As in `committor`.
        """
        naming = Naming(self.operator, labels, columns)
        named = dict(sets) if isinstance(sets, Mapping) else with_names(sets, labels is not None)
        if len(named) < 2:
            raise InputError(f"There must be two sets or more; received {len(named)}.")
        names = tuple(str(name) for name in named)
        found = [naming.read(own, name) for name, own in zip(names, named.values(), strict=True)]
        refuse_overlap(found, names)
        system = system_of(self.network, found, list(np.eye(len(found))))
        nothing = np.zeros((len(system.free), len(found)))
        solution = system.with_values(nothing, a_tolerance(tol, "tol"))
        solution.values[:] = within_bounds(solution.values, tol)
        return HittingProbabilities.of(system, solution, nothing, names=names)

    def mean_first_passage(
        self, B: Any, *, labels: Any = None, columns: Any = None, tol: float = TOLERANCE
    ) -> PassageTime:
        """Return the mean time until B is reached, from each point, and its second moment.

        Parameters
        ----------
        B : set of points
            As in `committor`.
        labels, columns, tol : optional
            As in `committor`.

        Returns
        -------
        PassageTime
            With `values`, `second_moment`, and `mean(over=A)`: the mean over the points of a set, a
            pair (value, standard error).

        Examples
        --------
        >>> x = np.random.default_rng(0).standard_normal((2000, 1))
        >>> found = vbdm.estimate_operator(x, "generator").mean_first_passage(x[:, 0] > 1)
        >>> value, error = found.mean(over=x[:, 0] < 0)    # the truth: 2.79
        >>> bool(abs(value - 2.79) < 4 * error)
        True
        """
        return self._time_to(Naming(self.operator, labels, columns).read(B, "B"), tol)

    def exit_time(
        self, inside: Any, *, labels: Any = None, columns: Any = None, tol: float = TOLERANCE
    ) -> PassageTime:
        """Return the mean time until a set is left, from each of its points; 0 outside.

        Parameters
        ----------
        inside : set of points
            As in `committor`.
        labels, columns, tol : optional
            As in `committor`.
        """
        outside = Naming(self.operator, labels, columns).read(inside, "inside").complement
        if not outside.mask.any():
            raise InputError(f"All points lie in `inside`; received {in_short(inside)}.")
        return self._time_to(outside, tol)

    def _time_to(self, target: Region, tol: float) -> PassageTime:
        """Solve -L T = 1 with T = 0 on the target."""
        system = system_of(self.network, [target], [np.zeros(1)])
        one = np.ones(len(system.free))
        found = system.with_values(one[:, None], a_tolerance(tol, "tol"))
        return PassageTime.of(system, found, one)


def read_fixed(
    naming: Naming, fixed: Any, n: int, n_columns: int
) -> tuple[list[Any], list[FloatArray]]:
    """Return the sets that are held, and their values, (m,) or (N, m)."""
    sets, values = [], []
    pairs = list(fixed) if isinstance(fixed, list | tuple) else [fixed]
    names = [f"fixed[{number}]" for number in range(len(pairs))]
    for name, pair in zip(names, pairs, strict=True):
        if not (isinstance(pair, Sequence) and len(pair) == 2):
            raise InputError(
                f"`fixed` is a list of pairs: a set, and the value there; received {shown(pair)}. "
                "Pass, for example, fixed=[(X[:, 0] < -1, 0.0), (X[:, 0] > 1, 1.0)]."
            )
        sets.append(naming.read(pair[0], name))
        values.append(read_values(pair[1], n, n_columns, sets[-1].mask))
    refuse_overlap(sets, names)
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
        f"The value of a set is a finite number, or one for each point, ({n},); received {seen}."
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


def without_means(system: System, source: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return f without its mean on each piece, and the share of it that the means were, (m,)."""
    mass = np.where(system.free, system.network.mass, 0.0)
    means = system.constants(mass[:, None] * source)
    whole = np.sqrt(mass @ np.square(source))
    share = np.sqrt(mass @ np.square(means)) / np.where(whole > 0, whole, 1.0)
    if share.max() > LITTLE:
        warn_user(
            f"L u = f has a solution only if the mean of f is 0: {share.max():.0%} of f was left "
            "out, its mean under `op.equations.measure` on each piece of the data. To hold u "
            "somewhere pass `fixed`, or a positive `screen`.",
            ProjectedWarning,
        )
    return source - means, share


def with_names(sets: Any, are_labels: bool) -> dict[str, Any]:
    """Return a list of sets with names: labels and conditions are their own, others numbers."""
    if isinstance(sets, str | bytes) or not np.iterable(sets):
        raise InputError(
            "`sets` is a list of sets, or a dictionary of sets by their names; received "
            f"{shown(sets)}. Pass, for example, {{'left': X[:, 0] < -1, 'right': X[:, 0] > 1}}."
        )
    named: dict[str, Any] = {}
    for j, own in enumerate(sets):
        word = isinstance(own, str) or (are_labels and np.ndim(as_array(own)) == 0)
        name = str(own) if word else f"set {j}"
        if name in named:
            first = list(named).index(name)
            raise InputError(f"The set {name!r} is there twice; received it as {first} and {j}.")
        named[name] = own
    return named


def within_bounds(values: FloatArray, tol: float) -> FloatArray:
    """Return probabilities; what lies outside 0 and 1 by no more than the solver's error is cut.

    The exact solution of the system lies within: more than that is an error of the solver.
    """
    known = values[~np.isnan(values)]
    excess = max(-float(known.min(initial=0.0)), float(known.max(initial=1.0)) - 1)
    if excess > max(1e-3, 1e3 * tol):
        raise SolverError(f"The solver left probabilities that are off by {excess:.1e}.")
    return np.clip(values, 0.0, 1.0)
