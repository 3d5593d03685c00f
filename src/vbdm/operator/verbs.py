"""Verbs of an operator: methods of `Operator` that hand it to later rooms when they are called.

Those rooms compute in this machine's memory: an operator that lives on a device is copied first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..base.arrays import FloatArray

if TYPE_CHECKING:
    from ..equations.committor import Committor, HittingProbabilities
    from ..equations.network import Network
    from ..equations.passage import PassageTime
    from ..equations.solved import Solved
    from .operator import Operator


def network(self: Operator) -> Network:
    """Return the network that equations are solved on (see `vbdm.equations.network`)."""
    from ..equations.network import network_of

    return network_of(self.on_host)


def measure(self: Operator) -> FloatArray:
    """Weights of the points under the invariant measure q^c1, (N,), with sum 1.

    Where weights w of the points were given, it is that of (w q)^c1.

    Means under it are sums with these weights. Points so far outside that they resolve no mode
    count as if their local time were that of the ninth mode.
    """
    from ..equations.network import invariant_measure

    return invariant_measure(self.on_host)


def solve(
    self: Operator,
    f: ArrayLike,
    fixed: Sequence[tuple[Any, Any]] = (),
    screen: float | ArrayLike = 0.0,
    *,
    labels: Any = None,
    columns: Any = None,
    tol: float = 1e-6,
) -> Solved:
    """Solve κ u - L u = f on the points, with u given on some sets.

    Parameters
    ----------
    f : number, (N,) or (N, m) array
        The right-hand side. Mind the sign: for L u = f, pass -f.
    fixed : list of pairs (set, value)
        Sets of points where u is known, and its value there: a number, or one for each point. A
        set is named as in `committor`.
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
    `vbdm.equations.system` for the corrections that are made.

    Examples
    --------
    >>> points = vbdm.datasets.sphere(2000, random_state=0).points
    >>> z = points[:, 2]
    >>> u = vbdm.estimate_operator(points).solve(z, screen=1.0).values   # the truth: z/3
    >>> bool(np.sqrt(np.mean((u - z / 3) ** 2)) < 0.02)
    True
    """
    from ..equations.solve import solve as solved

    return solved(self.on_host, f, fixed, screen, labels=labels, columns=columns, tol=tol)


def committor(
    self: Operator, A: Any, B: Any, *, labels: Any = None, columns: Any = None, tol: float = 1e-6
) -> Committor:
    """Return the probability to reach B before A from each point, with flux and rates.

    Parameters
    ----------
    A, B : sets of points
        Each a mask of N booleans (or of zeros and ones), row numbers, a label or several (with
        `labels`), a condition on columns such as ``"phi < -1.2 and psi > 0"``, or N signed
        distances to the edge of the set, negative in it: where these are known, the edge is known
        better than a mask tells. Copies of a point are one point.
    labels : (N,) array, optional
        A label of each point, by which sets can be named; None or NaN where there is none. A list
        of numbers that all are labels is one of labels, else of row numbers.
    columns : mapping, table or list of names, optional
        What conditions speak of: columns of the length N by their names, or the names of the
        columns of the data, which are x0, x1, … by default. Periodic columns need the values,
        because the points have been wrapped into their box.
    tol : float
        Relative accuracy of the solver.

    Returns
    -------
    Committor
        With `values`, and `flux`, `rate` (from A to B), `rate_back`: pairs (value, standard error),
        in units of the diffusion coefficient over length² (see `spectrum.clock`).

    Examples
    --------
    >>> x = np.random.default_rng(0).standard_normal((2000, 1))
    >>> found = vbdm.estimate_operator(x, "generator").committor("x0 < -1", "x0 > 1")
    >>> bool(abs(np.interp(0.0, *np.sort([x[:, 0], found.values]))- 0.5) < 0.05)
    True
    """
    from ..equations.committor import committor as found

    return found(self.on_host, A, B, labels=labels, columns=columns, tol=tol)


def hitting_probabilities(
    self: Operator, sets: Any, *, labels: Any = None, columns: Any = None, tol: float = 1e-6
) -> HittingProbabilities:
    """Return the probabilities to reach each of some sets first, (N, m); rows sum to 1.

    Parameters
    ----------
    sets : list of sets, or dict of sets by their names
        As in `committor`. With `labels`, a list of labels.
    labels, columns, tol : optional
        As in `committor`.
    """
    from ..equations.committor import hitting_probabilities as found

    return found(self.on_host, sets, labels=labels, columns=columns, tol=tol)


def mean_first_passage(
    self: Operator, B: Any, *, labels: Any = None, columns: Any = None, tol: float = 1e-6
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
    from ..equations.passage import mean_first_passage as found

    return found(self.on_host, B, labels=labels, columns=columns, tol=tol)


def exit_time(
    self: Operator, inside: Any, *, labels: Any = None, columns: Any = None, tol: float = 1e-6
) -> PassageTime:
    """Return the mean time until a set is left, from each of its points; 0 outside.

    Parameters
    ----------
    inside : set of points
        As in `committor`.
    labels, columns, tol : optional
        As in `committor`.
    """
    from ..equations.passage import exit_time as found

    return found(self.on_host, inside, labels=labels, columns=columns, tol=tol)


def gradient(self: Operator, f: ArrayLike) -> FloatArray:
    r"""Return ∇f on the points, in the columns that the points have.

    Parameters
    ----------
    f : (N,) or (N, m) array
        Values of one or several functions on the points.

    Returns
    -------
    (N, n) or (N, n, m) array
        For each point and column the slope of f; the vector lies in the tangent space. NaN at
        points with fewer neighbours within the kernel's reach than dimensions. At an edge of the
        data it is made from the neighbours on one side.

    Raises
    ------
    InputError
        For metrics other than the Euclidean one and for precomputed distances, which have no
        directions.

    Notes
    -----
    :math:`∇f = V (V^T C V)^{-1} V^T Γ(x, f)` with Γ of `carre_du_champ`, C = Γ(x, x) and the
    `tangents` V: the regression of f on the points in the kernel. At 10,000 points the error is
    about 1 %, where that of Γ(x, f) alone is 10 %. In periodic columns differences are those to
    the nearest image. One pass over the pairs, in blocks of rows; with more columns than
    neighbours only products of neighbours are formed.

    Examples
    --------
    >>> points = vbdm.datasets.sphere(2000, random_state=0).points
    >>> op = vbdm.estimate_operator(points)
    >>> slope = op.gradient(points[:, 2])                 # of the height
    >>> truth = [0, 0, 1] - points[:, 2:] * points        # without what points out of the sphere
    >>> bool(np.sqrt(((slope - truth) ** 2).sum(axis=1).mean()) < 0.05)
    True
    """
    from ..calculus.gradient import gradient

    return gradient(self.on_host, f)


def tangents(self: Operator) -> FloatArray:
    """Orthonormal bases of the tangent spaces, (N, n, d): for each point, d columns of length 1.

    d is `op.dim`, rounded to an integer from 1 to n. They are the directions in which the
    neighbours spread most, the first most of all; inside the tangent space they are arbitrary,
    and so are their signs. NaN at points without neighbours.
    """
    from ..calculus.gradient import tangents

    return tangents(self.on_host)


def carre_du_champ(self: Operator, f: ArrayLike, g: ArrayLike | None = None) -> FloatArray:
    r"""Return Γ(f, g) = ∇f·∇g on the points; without g, the squared length of ∇f.

    Parameters
    ----------
    f, g : (N,) or (N, m) arrays
        Values of functions on the points; several are taken column by column.

    Returns
    -------
    (N,) or (N, m) array
        NaN at points without neighbours.

    Notes
    -----
    :math:`Γ(f, g)_i = Σ_j P_{ij} (f_j - f_i)(g_j - g_i) / (2 g_i)`, a mean over the kernel: it
    needs no coordinates, so it is there for every metric, and has an error of about 8 % at 10,000
    points. Products of two `gradient` are closer where there are coordinates.
    """
    from ..calculus.carre_du_champ import carre_du_champ

    return carre_du_champ(self.on_host, f, g)
