"""From the arguments of `estimate_operator` to a method: every name and number is checked here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

import numpy as np

from ..base.checks import check_choice, check_positive, check_real, is_auto
from ..base.handing_out import OUTPUTS
from ..engines.choose import check_engine
from ..errors import InputError
from ..kernel.bandwidth import (
    BandwidthRule,
    FromPotential,
    GivenBandwidth,
    PerPoint,
    PowerOfDensity,
    TwoBandwidths,
)
from ..kernel.dimension import DimensionRule, GivenDimension
from ..kernel.epsilon import GivenEpsilon
from ..kernel.scaled import CutAt
from ..kernel.tuning import EpsilonRule
from ..prepare.series import Series
from ..shapes import Shape, as_shape
from .method import FORMS, METHODS, Limiter, Lists, Method
from .weights import WAYS, Weights

#: c1 of the operators that have a name.
OPERATORS = {"laplacian": 0.0, "generator": 1.0}
#: How kernel values may be stored.
PRECISIONS = ("auto", "single", "double")


@dataclass(frozen=True, eq=False)
class Request:
    """What is wanted, by which method.

    Attributes
    ----------
    method : Method
        The method with the user's own rules and switches.
    c1 : float or None
        The wanted coefficient of ∇f·∇q/q; None where α was given instead.
    alpha : float or None
        α, where the user gave it.
    form : str
        Where ρ stands in the kernel.
    shape : Shape
        h, the kernel's shape.
    given : tuple of str
        Names of the arguments that the user gave.
    potential : array or callable, or None
        U, if it weights the pairs; None without one, and where it is the bandwidth.
    series : Series
        How the rows follow each other.
    weights : Weights or None
        Weights of the points, if these were sampled with another density than the wanted one.
    output : str
        What results are handed out as: "numpy" or "device".
    """

    method: Method
    c1: float | None
    alpha: float | None
    form: str
    shape: Shape
    given: tuple[str, ...] = ()
    potential: PerPoint | None = None
    series: Series = field(default_factory=Series)
    weights: Weights | None = None
    output: str = "numpy"


def read_arguments(method: str, arguments: Mapping[str, Any]) -> Request:
    """Check the user's arguments, refuse those that contradict each other, and settle the rules.

    `arguments` holds those of `estimate_operator` by name; whatever is "auto" or None is left to
    the method. Of the arguments about neighbours only the names are noted here; `estimate` reads
    their values, and those of `engine` and `precision`, which are checked here.
    """
    check_engine(arguments["engine"])
    check_choice(arguments["precision"], "precision", PRECISIONS)
    chosen = METHODS[check_choice(method, "method", METHODS)]
    effort = check_effort(arguments["effort"], chosen)
    chosen = replace(chosen, lists=with_effort(chosen.lists, effort))
    chosen = with_switches(chosen, arguments)
    operator, alpha = arguments["operator"], arguments["alpha"]
    refuse_both("operator", operator, "alpha", alpha)
    refuse_both("operator", operator, "potential", arguments["potential"])
    refuse_both("alpha", alpha, "potential", arguments["potential"])
    check_weighted(arguments)
    check_form(arguments["form"], arguments["bandwidth"], arguments["potential"], chosen)
    chosen = replace(
        chosen,
        bandwidth=as_bandwidth_rule(arguments, chosen),
        dimension=as_dimension_rule(arguments["dim"], chosen),
        epsilon=as_epsilon_rule(arguments["epsilon"], chosen),
    )
    return Request(
        chosen,
        c1=as_c1(operator) if alpha is None else None,
        alpha=None if alpha is None else check_real(alpha, "alpha"),
        form=arguments["form"],
        shape=as_shape(arguments["shape"]),
        given=tuple(name for name, value in arguments.items() if was_given(name, value)),
        potential=None if chosen.potential_in_bandwidth else arguments["potential"],
        output=check_choice(arguments["output"], "output", OUTPUTS),
    )


#: Defaults of arguments that are neither "auto" nor None.
DEFAULTS: dict[str, Any] = {
    "form": "symmetric", "shape": "gaussian", "effort": 1.0, "metric": "euclidean",
    "output": "numpy",
}  # fmt: skip


def was_given(name: str, value: Any) -> bool:
    """Tell whether the user gave an argument another value than its default."""
    if value is None or is_auto(value):
        # truncation=None asks for an uncut kernel; any other None is a default.
        return name == "truncation" and value is None
    default = DEFAULTS.get(name)
    return not (isinstance(value, (str, int, float)) and value == default)


def as_bandwidth_rule(arguments: Mapping[str, Any], method: Method) -> BandwidthRule:
    """Return the rule for ρ: by the exponent `beta`, `bandwidth`, `potential`, or the method's.

    A potential that weights the pairs goes with any ρ = q^β: α is then such that neither q nor ρ
    remains in the drift.
    """
    beta, bandwidth, potential = (arguments[name] for name in ("beta", "bandwidth", "potential"))
    refuse_both("bandwidth", bandwidth, "potential", potential)
    if not is_auto(beta):
        refuse_both("beta", beta, "bandwidth", bandwidth)
        if method.potential_in_bandwidth:
            refuse_both("beta", beta, "potential", potential)
        return PowerOfDensity(check_real(beta, "beta"))
    if potential is not None and method.potential_in_bandwidth:
        return FromPotential(potential)
    if bandwidth is None:
        return method.bandwidth
    if isinstance(bandwidth, tuple) and arguments["form"] == "two-sided":
        return TwoBandwidths(*bandwidth)
    if is_rule(bandwidth, "bandwidth", "on_data"):
        rule: BandwidthRule = bandwidth
        return rule
    return GivenBandwidth(bandwidth)


def as_dimension_rule(dim: Any, method: Method) -> DimensionRule:
    """Return the rule for d: a number, a rule of the user's, or the method's."""
    if is_auto(dim):
        return method.dimension
    if is_rule(dim, "dim", "estimate"):
        rule: DimensionRule = dim
        return rule
    return GivenDimension(check_positive(dim, "dim"))


def as_epsilon_rule(epsilon: Any, method: Method) -> EpsilonRule:
    """Return the rule for ε: a number, a rule of the user's, or the method's."""
    if is_auto(epsilon):
        return method.epsilon
    if is_rule(epsilon, "epsilon", "choose"):
        rule: EpsilonRule = epsilon
        return rule
    return GivenEpsilon(check_positive(epsilon, "epsilon"), looks=method.lists.widen)


def is_rule(value: Any, name: str, method: str) -> bool:
    """Tell whether an argument is a rule, an object with this method; refuse a class of rules."""
    # NumPy's own numbers and arrays have a method named `choose`, too.
    if not hasattr(value, method) or isinstance(value, (np.generic, np.ndarray, ModuleType)):
        return False
    if isinstance(value, type):
        raise InputError(
            f"`{name}` takes a rule, not a class of rules; received the class {value.__name__}. "
            f"Write {value.__name__}(), with its options between the brackets."
        )
    return True


def with_effort(lists: Lists, effort: float) -> Lists:
    """Return the numbers of neighbours, for kernel and density, multiplied by the effort."""
    return replace(
        lists,
        n_density_neighbors=max(4, round(effort * lists.n_density_neighbors)),
        n_neighbors=max(16, round(effort * lists.n_neighbors)),
        n_nearest=max(lists.n_nearest, round(effort * lists.n_density_neighbors)),
        effort=effort,
    )


def with_switches(method: Method, arguments: Mapping[str, Any]) -> Method:
    """Return the method with the user's switches.

    The finite-sample correction assumes independent samples that are left out of their own sums:
    without leave-one-out it is off unless asked for.
    """
    leave_one_out, finite_sample = arguments["leave_one_out"], arguments["finite_sample"]
    truncation, limiter = arguments["truncation"], arguments["limiter"]
    if not is_auto(leave_one_out):
        on = check_switch(leave_one_out, "leave_one_out")
        method = replace(method, leave_one_out=on, finite_sample=method.finite_sample and on)
    if not is_auto(finite_sample):
        method = replace(method, finite_sample=check_switch(finite_sample, "finite_sample"))
    if is_rule(truncation, "truncation", "share"):
        method = replace(method, truncation=truncation)
    elif not is_auto(truncation):
        method = replace(method, truncation=CutAt(check_share(truncation)))
    if isinstance(limiter, Limiter):
        method = replace(method, limiter=limiter)
    elif not is_auto(limiter):
        on = check_switch(limiter, "limiter")
        method = replace(method, limiter=Limiter() if on else None)
    return method


def check_effort(effort: Any, method: Method) -> float:
    """Return the effort, a factor between 1/4 and 16; the paper's method takes none but 1."""
    number = check_real(effort, "effort")
    if number != 1 and not method.lists.widen:
        raise InputError(
            f"The paper's method has no `effort`; received effort={effort!r}. Give `n_neighbors` "
            "and `n_density_neighbors` instead."
        )
    if not 0.25 <= number <= 16:
        raise InputError(
            f"`effort` must lie between 1/4 and 16; received {effort!r}. It multiplies the "
            "numbers of neighbours, 17 inside a kernel by default. Use 1/2 for a fast look, 2 or "
            "4 for more digits."
        )
    return number


def check_switch(value: Any, name: str) -> bool:
    """Return True or False; anything else is refused."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InputError(f"`{name}` is a switch; received {value!r}. Pass True, False or 'auto'.")


def check_share(truncation: Any) -> float | None:
    """Return a share between 0 and 1/2 of the kernel's peak, or None for no cut."""
    if truncation is None:
        return None
    share = check_real(truncation, "truncation")
    if not 0 < share <= 0.5:
        raise InputError(
            "`truncation` is the share of its peak at which the kernel is cut; received "
            f"{truncation!r}. Use 1e-3, the default, or None not to cut."
        )
    return share


def check_form(form: str, bandwidth: Any, potential: Any, method: Method) -> None:
    """Refuse forms that the method does not have, and pairs of bandwidths where one is wanted."""
    check_choice(form, "form", FORMS)
    if potential is not None and form == "left":
        raise InputError(
            "The left form cannot take a potential; received form='left' and `potential`. A "
            "bandwidth at the row's point causes no drift: its limit is Δf alone. Use "
            "form='symmetric' or 'right'."
        )
    if form not in method.forms:
        raise InputError(
            f"This method has the symmetric form only; received form={form!r}. Pass "
            "method='paper' for the left, right and two-sided forms."
        )
    is_pair = isinstance(bandwidth, TwoBandwidths)
    is_pair = is_pair or (isinstance(bandwidth, tuple) and len(bandwidth) == 2)
    if is_pair != (form == "two-sided"):
        raise InputError(
            "The two-sided form, and only that one, takes a pair of bandwidths; received "
            f"form={form!r} and bandwidth of type {type(bandwidth).__name__}. Pass "
            "form='two-sided' together with bandwidth=(rho1, rho2)."
        )


def check_weighted(arguments: Mapping[str, Any]) -> None:
    """Refuse weights together with what contradicts them."""
    check_choice(arguments["weights_as"], "weights_as", WAYS)
    for name in ("alpha", "bandwidth", "potential"):
        refuse_both("weights", arguments["weights"], name, arguments[name])
    if arguments["weights"] is not None and arguments["form"] != "symmetric":
        raise InputError(
            f"Only the symmetric form takes `weights`; received form={arguments['form']!r} and "
            "`weights`. Leave out `form`, or `weights`."
        )


def as_c1(operator: Any) -> float:
    """Return c1 of an operator given by its name or as a number; None is the Laplacian."""
    if operator is None:
        return 0.0
    if isinstance(operator, str):
        return OPERATORS[check_choice(operator, "operator", OPERATORS)]
    return check_real(operator, "operator")


def refuse_both(first: str, value: Any, second: str, other: Any) -> None:
    """Refuse two arguments that were both given."""
    if value is not None and other is not None:
        raise InputError(
            f"`{first}` and `{second}` contradict each other; received both `{first}` and "
            f"`{second}`. Leave out `{first}` or `{second}`."
        )
