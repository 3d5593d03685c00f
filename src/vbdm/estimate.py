"""The walk through the house: from points to the operator."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import theory
from .arrays import FloatArray, check_choice, check_count, check_points, check_positive, check_real
from .bandwidth import Bandwidth, given_bandwidth, pilot_bandwidth, potential_bandwidth
from .errors import SaturatedNeighborsWarning, UnboundedErrorWarning, bad_input
from .graph import NeighborGraph, neighbors
from .kernel import evaluate_kernel
from .operator import Operator, normalise
from .shapes import Gaussian, as_shape
from .tuning import steepest

OPERATORS = {"laplacian": 0.0, "generator": 1.0}
PerPoint = ArrayLike | Callable[[FloatArray], ArrayLike]


class _Default(str):
    """A default value that can be told from the same word passed by the user."""

    __slots__ = ()


LAPLACIAN = _Default("laplacian")


def estimate_operator(
    X: ArrayLike | NeighborGraph,
    operator: str | float = LAPLACIAN,
    method: str = "paper",
    *,
    beta: float | str = "auto",
    dim: float | str = "auto",
    epsilon: float | str = "auto",
    n_neighbors: int | str = "auto",
    n_density_neighbors: int | str = "auto",
    alpha: float | None = None,
    bandwidth: PerPoint | tuple[PerPoint, PerPoint] | None = None,
    potential: PerPoint | None = None,
    form: str = "symmetric",
    shape: object = "gaussian",
    random_state: int | np.random.Generator | None = None,
) -> Operator:
    r"""Estimate the operator L f = Δf + c1 ∇f·∇q/q from points sampled with density q.

    Parameters
    ----------
    X : (N, n) array or NeighborGraph
        The points, or their neighbours (to search once and estimate many times).
    operator : {"laplacian", "generator"} or float
        c1: 0 for the Laplacian, which does not depend on q; 1 for the generator of the gradient
        flow whose invariant density is q; or any real number.
    method : {"paper"}
        Section 3 of the paper to the letter.
    beta : float or "auto"
        Exponent of the bandwidth ρ = q^β; -1/2. 0 is the fixed kernel (diffusion maps).
    dim : float or "auto"
        Intrinsic dimension d, a real number; twice the largest slope of S(ε).
    epsilon : float or "auto"
        ε; where S(ε) is steepest.
    n_neighbors : int or "auto"
        k, itself included; 64 (fewer if there are fewer points). N gives the dense method.
    n_density_neighbors : int or "auto"
        k0 of the pilot density; 8.
    alpha : float, optional
        α directly, instead of `operator`.
    bandwidth : array or callable on X, optional
        An arbitrary ρ; a pair (ρ1, ρ2) for the two-sided form. α is then 1 - c1/2 with c1 from
        `operator`, so 1 by default, and (d+2) ∇f·∇ρ/ρ joins the limit.
    potential : array or callable on X, optional
        U: the limit is Δf - ∇U·∇f whatever the sampling density (ρ = exp(-U/(d+2)), α = 1).
    form : {"symmetric", "left", "right", "two-sided"}
        Where ρ stands in the kernel; only the symmetric form has a fast spectrum.
    shape : {"gaussian", "broad", "compact"}, shape object or callable
        h, with h(s) < a·exp(-s/σ).
    random_state : int, Generator or None
        Kept for methods that draw samples; this one is deterministic.

    Returns
    -------
    Operator

    Notes
    -----
    The limit is Δf + 2(1-α) ∇f·∇q/q + (d+2) ∇f·∇ρ*/ρ*, with ρ* = ρ for the symmetric and right
    forms, ρ2 for the two-sided one, 1 for the left one (Theorem "mainresult" and appendices).
    Cost O(N k log N) time; about 30 bytes per pair.

    Examples
    --------
    >>> import numpy as np
    >>> angle = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    >>> circle = np.c_[np.cos(angle), np.sin(angle)]
    >>> op = vbdm.estimate_operator(circle, dim=1, epsilon=2.0**-9, n_neighbors=200)
    >>> op.spectrum(5).eigenvalues.round(1).tolist()
    [0.0, -1.0, -1.0, -4.0, -4.0]
    """
    check_choice(method, "method", ("paper",))
    request = Request.checked(operator, alpha, beta, bandwidth, potential, form)
    h = as_shape(shape)
    graph = as_graph(X, n_neighbors)
    k0 = 8 if n_density_neighbors == "auto" else n_density_neighbors
    k0 = check_count(k0, "n_density_neighbors", low=2, high=graph.n_neighbors)

    rho0 = Bandwidth.of_form("symmetric", pilot_bandwidth(graph, k0))
    d = steepest(graph, rho0, Gaussian()).dim if dim == "auto" else check_positive(dim, "dim")
    pilot = evaluate_kernel(graph, rho0, 0.5, Gaussian()).density(d)
    rho = request.bandwidth_on(graph, pilot, d)
    tuning = steepest(graph, rho, h) if epsilon == "auto" else None
    eps = check_positive(epsilon, "epsilon") if tuning is None else tuning.epsilon
    kernel = evaluate_kernel(graph, rho, eps, h)
    result = normalise(
        kernel,
        dim=d,
        alpha=request.alpha_in(d),
        beta=request.beta,
        c1=request.c1_in(d),
        tuning=tuning,
    )
    warn_of_doubts(result, pilot)
    return result


@dataclass(frozen=True, eq=False)
class Request:
    """What the user asked for: which operator, and where the bandwidth comes from.

    Exactly one of `c1` and `alpha` is known before the dimension is; exactly one of `beta`,
    `given` and `potential` says what ρ is.
    """

    form: str
    c1: float | None
    alpha: float | None
    beta: float | None
    given: Any
    potential: Any

    @classmethod
    def checked(
        cls, operator: Any, alpha: Any, beta: Any, bandwidth: Any, potential: Any, form: str
    ) -> Request:
        """Check names and numbers, and refuse options that contradict each other."""
        check_choice(form, "form", theory.FORMS)
        if operator is not LAPLACIAN:
            refuse_both("operator", operator, "alpha", alpha)
            refuse_both("operator", operator, "potential", potential)
        refuse_both("alpha", alpha, "potential", potential)
        refuse_both("bandwidth", bandwidth, "potential", potential)
        if beta != "auto":
            refuse_both("beta", beta, "bandwidth", bandwidth)
            refuse_both("beta", beta, "potential", potential)
        is_pair = isinstance(bandwidth, tuple) and len(bandwidth) == 2
        if is_pair != (form == "two-sided"):
            raise bad_input(
                "The two-sided form, and only that one, takes a pair of bandwidths.",
                received=f"form={form!r} and bandwidth of type {type(bandwidth).__name__}",
                because="Its kernel is h(|x-y|²/(ε ρ1(x) ρ2(y))).",
                hint="Pass form='two-sided' together with bandwidth=(rho1, rho2).",
            )
        c1 = None if alpha is not None else as_c1(operator)
        own_rho = bandwidth is not None or potential is not None
        exponent = None if own_rho else -0.5 if beta == "auto" else check_real(beta, "beta")
        number = None if alpha is None else check_real(alpha, "alpha")
        return cls(form, c1, number, exponent, bandwidth, potential)

    def bandwidth_on(self, graph: NeighborGraph, pilot: FloatArray, dim: float) -> Bandwidth:
        """Return the bandwidth: q0^β from the pilot density, or the user's."""
        if self.potential is not None:
            rho = potential_bandwidth(self.potential, graph, dim)
        elif self.form == "two-sided":
            rho1, rho2 = (given_bandwidth(part, graph, "bandwidth") for part in self.given)
            return Bandwidth.of_form(self.form, rho1, rho2)
        elif self.given is not None:
            rho = given_bandwidth(self.given, graph, "bandwidth")
        else:
            rho = pilot ** (self.beta or 0.0)
        return Bandwidth.of_form(self.form, rho)

    def alpha_in(self, dim: float) -> float:
        """Return α; where ρ is no power of q only the share of q itself is steered."""
        if self.alpha is not None:
            return self.alpha
        return theory.alpha_for(self.c1 or 0.0, self.beta or 0.0, dim, self.form)

    def c1_in(self, dim: float) -> float | None:
        """Return c1, or None where ρ is no power of q."""
        if self.beta is None:
            return None
        return theory.c1(self.alpha_in(dim), self.beta, dim, self.form)


def as_c1(operator: Any) -> float:
    """Turn the name of an operator into its c1."""
    if isinstance(operator, str):
        return OPERATORS[check_choice(operator, "operator", OPERATORS)]
    return check_real(operator, "operator")


def refuse_both(first: str, value: Any, second: str, other: Any) -> None:
    """Raise if `second` was given as well."""
    if value is not None and other is not None:
        raise bad_input(
            f"`{first}` and `{second}` contradict each other.",
            received=f"{first}={value!r} together with `{second}`",
            because="Each of them alone determines the operator or its bandwidth.",
            hint=f"Leave out `{first}` or `{second}`.",
        )


def as_graph(X: ArrayLike | NeighborGraph, n_neighbors: int | str) -> NeighborGraph:
    """Return the neighbour graph: given, or searched with 64 neighbours by default."""
    if isinstance(X, NeighborGraph):
        if n_neighbors not in ("auto", X.n_neighbors):
            raise bad_input(
                "`n_neighbors` cannot change a graph that is already built.",
                received=f"n_neighbors={n_neighbors!r} and a graph with {X.n_neighbors}",
                because="The graph carries its own neighbours.",
                hint="Leave `n_neighbors` out, or pass the points.",
            )
        return X
    points = check_points(X)
    k = min(64, len(points)) if n_neighbors == "auto" else n_neighbors
    return neighbors(points, check_count(k, "n_neighbors", low=2, high=len(points)))


def warn_of_doubts(operator: Operator, pilot: FloatArray) -> None:
    """Say what may be wrong with the operator, in words; `pilot` is the first density estimate."""
    if operator.kernel.saturated > 0.01:
        warnings.warn(
            f"At {operator.kernel.saturated:.0%} of the points the {operator.n_neighbors} nearest "
            "neighbours end before the kernel has decayed to 1e-3, so the operator is too small "
            "there. Raise `n_neighbors`, or lower `epsilon`.",
            SaturatedNeighborsWarning,
            stacklevel=3,
        )
    if operator.beta is None:
        return
    span = float(pilot.max() / pilot.min())
    if span > 1000 and not theory.bounded(operator.alpha, operator.beta, operator.dim):
        warnings.warn(
            f"The density spans a factor of {span:.0f}; with beta={operator.beta:g} in dimension "
            f"{operator.dim:.2g} the sampling error of L f grows without bound where the density "
            "is small. Use a negative beta, such as the default -1/2.",
            UnboundedErrorWarning,
            stacklevel=3,
        )
