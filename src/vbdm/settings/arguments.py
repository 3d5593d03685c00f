"""What the user asked for: which operator, by which method, with which bandwidth."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .bandwidth.bandwidth import Bandwidth, BandwidthSource, given_bandwidth, potential_bandwidth
from .base.checks import FloatArray, check_choice, check_count, check_real, frozen, is_auto
from .base.errors import bad_input
from .graph.graph import NeighborGraph
from .operator import theory
from .settings import METHODS, Method
from .spectrum.limiter import Limiter

OPERATORS = {"laplacian": 0.0, "generator": 1.0}
PerPoint = ArrayLike | Callable[[FloatArray], ArrayLike]


class _Default(str):
    """A default value that can be told from the same word passed by the user."""

    __slots__ = ()


LAPLACIAN = _Default("laplacian")


@dataclass(frozen=True, eq=False)
class Request:
    """Which operator is wanted, and where the bandwidth comes from.

    Exactly one of `c1` and `alpha` is known before the dimension is; exactly one of `beta` (a
    function of the dimension), `given` and `potential` says what ρ is.
    """

    form: str
    c1: float | None
    alpha: float | None
    beta: Callable[[float], float] | None
    given: Any
    potential: Any

    @classmethod
    def checked(
        cls,
        operator: Any,
        alpha: Any,
        beta: Any,
        bandwidth: Any,
        potential: Any,
        form: str,
        method: Method,
    ) -> Request:
        """Check names and numbers, and refuse options that contradict each other."""
        check_form(form, bandwidth, potential, method)
        if operator is not LAPLACIAN:
            refuse_both("operator", operator, "alpha", alpha)
            refuse_both("operator", operator, "potential", potential)
        refuse_both("alpha", alpha, "potential", potential)
        refuse_both("bandwidth", bandwidth, "potential", potential)
        rule: Callable[[float], float] | None = method.beta
        if not is_auto(beta):
            refuse_both("beta", beta, "bandwidth", bandwidth)
            refuse_both("beta", beta, "potential", potential)
            number = check_real(beta, "beta")
            rule = lambda dim: number  # noqa: E731
        if bandwidth is not None or potential is not None:
            rule = None
        c1 = None if alpha is not None else as_c1(operator)
        own_alpha = None if alpha is None else check_real(alpha, "alpha")
        return cls(form, c1, own_alpha, rule, bandwidth, potential)

    def bandwidth_on(self, graph: NeighborGraph, pilot: FloatArray, dim: float) -> Bandwidth:
        """Return the bandwidth: q0^β from the pilot density, or the user's."""
        if self.potential is not None:
            rho, _ = potential_bandwidth(self.potential, graph, dim)
        elif self.form == "two-sided":
            rho1, rho2 = (given_bandwidth(part, graph, "bandwidth") for part in self.given)
            return Bandwidth.of_form(self.form, rho1, rho2)
        elif self.given is not None:
            rho = given_bandwidth(self.given, graph, "bandwidth")
        else:
            rho = pilot ** (self.beta_in(dim) or 0.0)
        return Bandwidth.of_form(self.form, rho)

    def source(
        self, pilot_graph: NeighborGraph, rho0: FloatArray, k0: int, dim: float
    ) -> BandwidthSource:
        """Return what is needed to have ρ at new points."""
        centre = 0.0
        if self.potential is not None:
            centre = potential_bandwidth(self.potential, pilot_graph, dim)[1]
        return BandwidthSource(
            frozen(rho0), pilot_graph.radii, k0, pilot_graph.n_neighbors, self.beta_in(dim),
            self.given, self.potential, dim, centre,
        )  # fmt: skip

    def beta_in(self, dim: float) -> float | None:
        """Return β, or None where ρ is no power of q."""
        return None if self.beta is None else self.beta(dim)

    def alpha_in(self, dim: float) -> float:
        """Return α; where ρ is no power of q only the share of q itself is steered."""
        if self.alpha is not None:
            return self.alpha
        return theory.alpha_for(self.c1 or 0.0, self.beta_in(dim) or 0.0, dim, self.form)

    def c1_in(self, dim: float) -> float | None:
        """Return c1, or None where ρ is no power of q."""
        beta = self.beta_in(dim)
        return None if beta is None else theory.c1(self.alpha_in(dim), beta, dim, self.form)


def as_method(
    method: str,
    leave_one_out: Any,
    truncation: Any,
    limiter: Any,
    finite_sample: Any,
    effort: Any = 1.0,
) -> Method:
    """Return the method's settings with the user's switches.

    The finite-sample correction is about independent samples that are left out of their own sums:
    without leave-one-out it is off unless asked for.
    """
    settings = METHODS[check_choice(method, "method", METHODS)]
    settings = settings.with_effort(check_effort(effort, settings))
    if not is_auto(leave_one_out):
        on = check_switch(leave_one_out, "leave_one_out")
        settings = replace(settings, leave_one_out=on, finite_sample=settings.finite_sample and on)
    if not is_auto(finite_sample):
        settings = replace(settings, finite_sample=check_switch(finite_sample, "finite_sample"))
    if not is_auto(truncation):
        share = check_share(truncation)
        settings = replace(settings, truncation=lambda n_points, dimension: share)
    if isinstance(limiter, Limiter):
        settings = replace(settings, limiter=limiter)
    elif not is_auto(limiter):
        on = check_switch(limiter, "limiter")
        settings = replace(settings, limiter=Limiter() if on else None)
    return settings


def check_effort(effort: Any, settings: Method) -> float:
    """Return a factor between 1/4 and 16; the paper's numbers of neighbours stay as printed."""
    number = check_real(effort, "effort")
    if number != 1 and not settings.widen:
        raise bad_input(
            "The paper's method has no `effort`.",
            received=f"effort={effort!r}",
            because="Its numbers of neighbours are as printed.",
            hint="Give `n_neighbors` and `n_density_neighbors` instead.",
        )
    if not 0.25 <= number <= 16:
        raise bad_input(
            "`effort` must lie between 1/4 and 16.",
            received=repr(effort),
            because="It multiplies the numbers of neighbours, 17 inside a kernel by default.",
            hint="Use 1/2 for a fast look, 2 or 4 for more digits.",
        )
    return number


def check_switch(value: Any, name: str) -> bool:
    """Return a boolean."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise bad_input(
        f"`{name}` is a switch.",
        received=repr(value),
        because="It is either on or off; 'auto' leaves it to the method.",
        hint="Pass True, False or 'auto'.",
    )


def check_share(truncation: Any) -> float | None:
    """Return a share between 0 and 1/2 of the kernel's peak, or None for no cut."""
    if truncation is None:
        return None
    share = check_real(truncation, "truncation")
    if not 0 < share <= 0.5:
        raise bad_input(
            "`truncation` is the share of its peak at which the kernel is cut.",
            received=repr(truncation),
            because="Only values between 0 and 0.5 leave a kernel.",
            hint="Use 1e-3, the default, or None not to cut.",
        )
    return share


def check_form(form: str, bandwidth: Any, potential: Any, method: Method) -> None:
    """Refuse forms that the method does not have, and pairs of bandwidths where one is wanted."""
    check_choice(form, "form", theory.FORMS)
    if potential is not None and form == "left":
        raise bad_input(
            "The left form cannot take a potential.",
            received="form='left' and `potential`",
            because="A bandwidth at the row's point causes no drift: its limit is Δf alone.",
            hint="Use form='symmetric' or 'right'.",
        )
    if form not in method.forms:
        raise bad_input(
            "This method has the symmetric form only.",
            received=f"form={form!r}",
            because="Leave-one-out, the radius cut and the limiter rest on K = Kᵀ.",
            hint="Pass method='paper' for the left, right and two-sided forms.",
        )
    is_pair = isinstance(bandwidth, tuple) and len(bandwidth) == 2
    if is_pair != (form == "two-sided"):
        raise bad_input(
            "The two-sided form, and only that one, takes a pair of bandwidths.",
            received=f"form={form!r} and bandwidth of type {type(bandwidth).__name__}",
            because="Its kernel is h(|x-y|²/(ε ρ1(x) ρ2(y))).",
            hint="Pass form='two-sided' together with bandwidth=(rho1, rho2).",
        )


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
            received=f"both `{first}` and `{second}`",
            because="Each of them alone determines the operator or its bandwidth.",
            hint=f"Leave out `{first}` or `{second}`.",
        )


def density_neighbors(wanted: int | str, graph: NeighborGraph, method: Method) -> int:
    """Return k0: the method's, as far as there are points, or the user's."""
    if is_auto(wanted):
        return max(2, min(method.n_density_neighbors, graph.n_neighbors))
    return check_count(wanted, "n_density_neighbors", low=2, high=graph.n_neighbors)
