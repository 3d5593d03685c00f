"""The facts of an estimate, written once for results.json, page, notebooks and terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.checks import shown
from ..base.estimate import Estimate
from ..base.wording import common_style, minus, power_of_ten
from ..errors import InputError
from ..operator.operator import Operator
from ..operator.sums import in_potential, pairs_of, quantiles
from ..spectrum.spectrum import Spectrum

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


def is_near(c1: float | None, value: float) -> bool:
    """Tell whether c1 is known and has this value, up to rounding."""
    return c1 is not None and abs(c1 - value) < 1e-9


def is_generator(operator: Operator) -> bool:
    """Tell whether the operator generates a process."""
    return in_potential(operator) or is_near(operator.settings.exponents.c1, 1)


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


# --- Times of the modes, with a clock in the user's unit, else in those of 1/λ --------------------

#: What a unit of time without a name is called.
NAMELESS = "units of the time step"
ClockEntry = Mapping[str, Any]


def check_clock(value: Any, name: str) -> ClockEntry:
    """Return a clock as results.json has it; anything else is refused."""
    lists = ("timescales", "timescale_errors")
    if (
        isinstance(value, Mapping)
        and isinstance(value.get("diffusivity"), Mapping)
        and all(isinstance(value["diffusivity"].get(key), float) for key in ("value", "error"))
        and all(isinstance(value.get(key), list) for key in lists)
        and all(isinstance(value.get(key), str) for key in ("unit", "reason"))
        and "consistent" in value
    ):
        return value
    raise InputError(
        f"`{name}` is no clock; received {shown(value)}. Pass the entry 'clock' of results.json."
    )


def unit_of(clock: ClockEntry) -> str:
    """Return the name of the unit of time."""
    return clock["unit"] or NAMELESS


def time_heading(clock: ClockEntry | None) -> str:
    """Return the heading of a column of times."""
    return "−1/λ" if clock is None else f"time, {unit_of(clock)}"


def times_in_words(spectrum: Spectrum, clock: ClockEntry | None) -> list[str]:
    """Return the time of each mode as text, with its error if there is a clock."""
    values = np.real(spectrum.eigenvalues)
    if clock is not None:
        return [time_in_words(clock, j) for j in range(len(values))]
    with np.errstate(divide="ignore"):
        times = np.where(values == 0, np.inf, 1 / np.abs(values))
    finite = times[np.isfinite(times)]
    # Styles show two digits of the smallest error; a tenth as error gives the times three digits.
    style = common_style(finite, finite / 10)
    return ["∞" if time == np.inf else style.show(time) for time in times]


def time_in_words(clock: ClockEntry, j: int) -> str:
    """Return the time of one mode; of modes that do not decay it is infinite.

    Examples
    --------
    >>> clock = {"timescales": [None, 2.013], "timescale_errors": [None, 0.042], "unit": "ns"}
    >>> time_in_words(clock, 0), time_in_words(clock, 1)
    ('∞', '2.013 ± 0.042')
    """
    time, error = clock["timescales"][j], clock["timescale_errors"][j]
    return "∞" if time is None else str(Estimate(time, np.nan if error is None else error))


def clock_in_words(clock: ClockEntry, length: str = "") -> str:
    """Return the diffusivity, and whether the modes agree on it.

    Examples
    --------
    >>> clock = {"diffusivity": {"value": 0.51, "error": 0.012}, "unit": "ns", "consistent": True}
    >>> clock_in_words(clock, "nm")
    'D = 0.510 ± 0.012 nm² per ns; the modes agree.'
    """
    found = Estimate(clock["diffusivity"]["value"], clock["diffusivity"]["error"])
    known = f"D = {found} {length or 'length'}² per {unit_of(clock)}"
    return f"{known}; the modes agree." if clock["consistent"] else f"{known}. {clock['reason']}"
