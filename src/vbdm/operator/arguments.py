"""From the arguments of `estimate_operator` to what is wanted; what contradicts is refused here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from ..base.checks import is_auto
from ..base.parameters import PARAMETERS, given_among, having
from ..errors import InputError
from ..kernel.bandwidth import (
    FromPotential,
    GivenBandwidth,
    PerPoint,
    PowerOfDensity,
    TwoBandwidths,
)
from ..kernel.dimension import GivenDimension
from ..kernel.epsilon import GivenEpsilon
from ..prepare.series import Series
from ..shapes import Shape, as_shape
from .method import Method, Paper, Resolved, as_method
from .run import Run, as_run
from .weights import Weights

#: c1 of the operators that have a name.
OPERATORS = {"laplacian": 0.0, "generator": 1.0}


@dataclass(frozen=True, eq=False, kw_only=True)
class Request:
    """What is wanted, by which method, and how it is to run."""

    #: The method with the user's own rules and switches.
    method: Method
    #: The wanted coefficient of ∇f·∇q/q; None where α was given instead.
    c1: float | None
    #: α, where the user gave it.
    alpha: float | None
    #: Where ρ stands in the kernel.
    form: str
    shape: Shape
    #: Names of the arguments that the user gave.
    given: tuple[str, ...] = ()
    #: U, if it weights the pairs; None without one, and where it is the bandwidth.
    potential: PerPoint | None = None
    series: Series = field(default_factory=Series)
    #: Weights of the points, if these were sampled with another density than the wanted one.
    weights: Weights | None = None
    weights_as: str = "auto"
    n_neighbors: int | str = "auto"
    n_density_neighbors: int | str = "auto"
    metric: Any = "euclidean"
    period: Any = None
    run: Run = field(default_factory=Run)


def read_request(arguments: Mapping[str, Any]) -> Request:
    """Check the arguments of `estimate_operator`, refuse contradictions, and settle the rules.

    Series, weights, metric and period are looked at where they meet the points.
    """
    for name, value in arguments.items():
        PARAMETERS[name].check(value)
    choices, run = as_method(arguments["method"]), as_run(arguments["run"])
    refuse_contradictions(choices, arguments)
    method = choices.rules(float(arguments["effort"]))
    in_bandwidth = method.potential_in_bandwidth
    operator, alpha, potential = arguments["operator"], choices.alpha, arguments["potential"]
    operator = "laplacian" if operator is None else operator
    c1 = OPERATORS[operator] if isinstance(operator, str) else float(operator)
    own = {name: value for name, value in arguments.items() if name not in ("method", "run")}
    bandwidth = arguments["bandwidth"]
    if potential is not None and in_bandwidth:
        bandwidth = FromPotential(potential)
    elif isinstance(bandwidth, tuple) and choices.form == "two-sided":
        bandwidth = TwoBandwidths(*bandwidth)
    looks = method.lists.widen
    method = replace(
        method,
        bandwidth=as_rule(bandwidth, "on_data", method.bandwidth, GivenBandwidth),
        dimension=as_rule(
            arguments["dim"], "estimate", method.dimension, lambda d: GivenDimension(float(d))
        ),
        epsilon=as_rule(
            arguments["epsilon"], "choose", method.epsilon,
            lambda epsilon: GivenEpsilon(float(epsilon), looks=looks),
        ),
    )  # fmt: skip
    return Request(
        method=method,
        c1=c1 if alpha is None else None,
        alpha=None if alpha is None else float(alpha),
        form=choices.form,
        shape=as_shape(choices.shape),
        given=(*given_among(own), *choices.given, *run.given),
        potential=None if in_bandwidth else potential,
        weights_as=choices.weights_as,
        n_neighbors=choices.n_neighbors,
        n_density_neighbors=choices.n_density_neighbors,
        metric=arguments["metric"],
        period=arguments["period"],
        run=run,
    )


def refuse_contradictions(choices: Resolved | Paper, arguments: Mapping[str, Any]) -> None:
    """Refuse arguments that contradict each other.

    A power of the density goes with weights and, where a potential weights the pairs, with that: α
    is then such that neither q nor ρ remains in the drift.
    """
    weights, potential = arguments["weights"], arguments["potential"]
    bandwidth, form = arguments["bandwidth"], choices.form
    bandwidth = None if is_auto(bandwidth) else bandwidth
    drifts = None if isinstance(bandwidth, PowerOfDensity) else bandwidth
    refuse_both(operator=arguments["operator"], alpha=choices.alpha)
    refuse_both(operator=arguments["operator"], potential=potential)
    refuse_both(alpha=choices.alpha, potential=potential)
    refuse_both(bandwidth=bandwidth if isinstance(choices, Paper) else drifts, potential=potential)
    refuse_both(weights=weights, alpha=choices.alpha)
    refuse_both(weights=weights, bandwidth=drifts)
    refuse_both(weights=weights, potential=potential)
    if weights is not None and form != "symmetric":
        raise InputError(f"Only the symmetric form takes `weights`; received form={form!r}.")
    if potential is not None and form == "left":
        # A bandwidth at the row's point causes no drift: its limit is Δf alone.
        raise InputError(
            "The left form cannot take a `potential`. Use form='symmetric' or 'right'."
        )
    is_pair = isinstance(bandwidth, TwoBandwidths)
    is_pair = is_pair or (isinstance(bandwidth, tuple) and len(bandwidth) == 2)
    if is_pair != (form == "two-sided"):
        raise InputError(
            "The two-sided form, and only that one, takes a pair of bandwidths; received "
            f"form={form!r} and bandwidth of type {type(bandwidth).__name__}. Pass "
            "method=vbdm.Paper(form='two-sided') together with bandwidth=(rho1, rho2)."
        )


def refuse_both(**pair: Any) -> None:
    """Refuse two arguments that were both given."""
    if all(value is not None for value in pair.values()):
        first, second = pair
        raise InputError(f"`{first}` and `{second}` contradict each other. Leave one of them out.")


def as_rule(value: Any, method: str, otherwise: Any, of_number: Callable[[Any], Any]) -> Any:
    """Return a rule of the user's, which has this method, a number as a rule, or another one."""
    if is_auto(value):
        return otherwise
    return value if having(method).fits(value) else of_number(value)


def gather(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `estimate_operator` from parameters by their names alone.

    Examples
    --------
    >>> gather({"epsilon": 0.1, "n_neighbors": 40})
    {'epsilon': 0.1, 'method': Resolved(n_neighbors=40)}
    """
    found = dict(arguments)
    beta = found.pop("beta", None)
    if beta not in (None, "auto"):
        found["bandwidth"] = PowerOfDensity(beta)
    run = {part.name: found.pop(part.name) for part in fields(Run) if part.name in found}
    choices = {part.name: found.pop(part.name) for part in fields(Paper) if part.name in found}
    if choices:
        found["method"] = type(as_method(found.get("method", "resolved")))(**choices)
    return found | ({"run": Run(**run)} if run else {})


def scatter(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters by their names alone: what `gather` takes."""
    found = dict(arguments)
    choices, run = as_method(found["method"]), as_run(found.pop("run"))
    if isinstance(found["bandwidth"], PowerOfDensity):
        found["beta"] = found.pop("bandwidth").beta
    for part in (choices, run):
        found |= {name: getattr(part, name) for name in part.given}
    return found | {"method": choices.name}
