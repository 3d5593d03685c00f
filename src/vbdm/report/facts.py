"""The facts of an estimate, written once for results.json, page, notebooks and terminal."""

from __future__ import annotations

from typing import Any

from ..base.wording import minus, power_of_ten
from ..operator.operator import Operator
from ..operator.sums import in_potential, pairs_of, quantiles

#: Levels of the quantiles of widths and of neighbours.
LEVELS = ("0.05", "0.5", "0.95")


def facts_of(operator: Operator) -> dict[str, Any]:
    """Return what was estimated and chosen: operator, dimension, ε, neighbours."""
    exponents = operator.settings.exponents
    return {
        "operator": {
            "name": operator_name(operator),
            "formula": formula(operator),
            "c1": exponents.c1,
            "alpha": exponents.alpha,
            "beta": exponents.beta,
        },
        "n_points": operator.n_points,
        "dimension": {
            "value": operator.dim,
            "standard_error": operator.dimension.standard_error,
            "by_scale": operator.dimension.by_scale,
        },
        "epsilon": operator.epsilon,
        "epsilon_rule": operator.tuning.rule,
        "n_neighbors": operator.n_neighbors,
        "by_reach": operator.kernel.by_reach,
        "pairs": dict(zip(LEVELS, quantiles(pairs_of(operator)), strict=True)),
        "widths": dict(zip(LEVELS, quantiles(operator.widths), strict=True)),
    }


def operator_name(operator: Operator) -> str:
    """Return the name of the operator, with its article: "the Laplacian"."""
    if in_potential(operator):
        return "the generator of the gradient flow in a given potential U"
    c1 = operator.settings.exponents.c1
    if c1 is None:
        return "the operator of a given bandwidth"
    names = {0.0: "the Laplacian", 1.0: "the generator of the gradient flow"}
    return names.get(round(c1, 9), f"the operator with c1 = {c1:.4g}")


def formula(operator: Operator) -> str:
    """Return the operator as a formula in plain text."""
    c1 = operator.settings.exponents.c1
    if in_potential(operator):
        return "L f = Δf − ∇U·∇f"
    if c1 is None:
        first = minus(round(2 - 2 * operator.settings.exponents.alpha, 9))
        return f"L f = Δf + {first} ∇f·∇q/q + (d + 2) ∇f·∇ρ/ρ"
    if abs(c1) < 1e-9:
        return "L f = Δf"
    size = "" if abs(abs(c1) - 1) < 1e-9 else f"{abs(c1):.4g} "
    drift = "∇f·∇π/π" if operator.settings.weighting.is_used else "∇f·∇q/q"
    return f"L f = Δf {'−' if c1 < 0 else '+'} {size}{drift}"


def operator_in_words(operator: Operator) -> str:
    """Return name and formula of the operator, with what q is where the formula has it."""
    what = f"{operator_name(operator)}, {formula(operator)}"
    if "∇π" in what:
        return f"{what}, π being the sampling density times the weights"
    return f"{what}, q being the sampling density" if "∇q" in what else what


def short(value: float) -> str:
    """Return a number with three digits; very small and large ones with a power of ten.

    Examples
    --------
    >>> short(0.0123456), short(7.4012e-05), short(2e-12)
    ('0.0123', '7.4·10⁻⁵', '2·10⁻¹²')
    """
    return f"{value:.3g}" if 1e-4 <= value < 1e6 else power_of_ten(value, digits=3)
