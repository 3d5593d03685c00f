"""The page's table of settings: everything that would be needed to do it again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..base.versions import __version__, library_versions
from ..base.wording import percent
from ..operator.operator import Operator
from ..operator.sums import pairs_of, quantiles
from ..spectrum.spectrum import Spectrum
from ._parts import text
from .citing import as_mapping, projection_in_words


def settings_table(
    spectrum: Spectrum,
    source: Mapping[str, Any],
    preparation: Any,
    seconds: Mapping[str, float] | None,
    settings: Mapping[str, Any] | None,
) -> str:
    """Return the table of settings and versions: all that is needed to repeat the estimate."""
    groups = {
        "Estimate": estimate_settings(spectrum),
        "Input": {name: with_commas(value) for name, value in source.items()},
        "Preparation": without_matrix(as_mapping(preparation)),
        "Command": settings or {},
    }
    return grouped(groups, seconds)


def grouped(groups: Mapping[str, Mapping[str, Any]], seconds: Mapping[str, float] | None) -> str:
    """Return groups of settings as a table, with the time that was needed and versions."""
    times = {name: f"{value:.2f}" for name, value in (seconds or {}).items()}
    versions = {"vbdm": __version__, **library_versions()}
    return "\n".join(
        f'<tbody><tr><th colspan="2" scope="rowgroup">{text(name)}</th></tr>{"".join(rows(part))}'
        "</tbody>"
        for name, part in {**groups, "Seconds": times, "Versions": versions}.items()
        if part
    )


def without_matrix(preparation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a preparation with words in place of the numbers of a projection."""
    words = " and ".join(projection_in_words(preparation.get("projection")))
    return {**preparation, "projection": words} if words else preparation


def with_commas(value: Any) -> Any:
    """Return a whole number with commas between thousands; any other value as it is."""
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else value


def rows(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield one row of the table per setting."""
    for name, value in settings.items():
        yield f"<tr><th scope='row'>{text(name)}</th><td>{text(shown(value))}</td></tr>"


def shown(value: Any) -> str:
    """Return the value of a setting as short text; long lists are cut after 12 entries."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {shown(part)}" for name, part in value.items()) or "none"
    if isinstance(value, (list, tuple, np.ndarray)):
        parts = [shown(part) for part in list(value)[:12]]
        return ", ".join(parts) + (", …" if len(value) > 12 else "") or "none"
    if value is None or isinstance(value, (bool, np.bool_)):
        return "none" if value is None else ("yes" if value else "no")
    return f"{value:.6g}" if isinstance(value, (float, np.floating)) else str(value)


def neighbor_settings(operator: Operator) -> dict[str, Any]:
    """Return the kernel's pairs: the length of the lists, or how many are within reach."""
    kernel, decided_by = operator.kernel, operator.settings.neighbors_from
    if not kernel.by_reach:
        return {
            "neighbours k": operator.n_neighbors,
            "what decided k": decided_by,
            "lists that end inside the kernel": percent(kernel.saturated),
        }
    low, middle, high = quantiles(pairs_of(operator))
    return {
        "neighbours": decided_by,
        "neighbours of a point, mean": operator.n_neighbors,
        "neighbours of a point, quantiles": (
            f"{low:.0f} (5 %), {middle:.0f} (median), {high:.0f} (95 %)"
        ),
    }


#: How weights entered, by their kind.
WEIGHTS = {
    "measure": "a function of the place: they multiply pairs",
    "counts": "multiplicities: a point counts as often as it weighs",
}


def potential_settings(operator: Operator) -> dict[str, Any]:
    """Return the range of a given potential that weights the pairs, or of weights."""
    U, found = operator.inside.potential, operator.settings.weighting
    if operator.settings.weighting.is_used:
        return {
            "weights": WEIGHTS[found.kind],
            "largest weight over the smallest": float(np.exp(found.log_range)),
            "effective points": operator.settings.weighting.effective_points,
        }
    return {} if U is None else {"potential U, in kT": f"{U.min():.4g} to {U.max():.4g}"}


def estimate_settings(spectrum: Spectrum) -> dict[str, Any]:
    """Return the numbers and choices behind the estimate, by the names that the page shows."""
    operator, graph, settings = spectrum.operator, spectrum.operator.graph, spectrum.settings
    metric = graph.metric if isinstance(graph.metric, str) else "a function"
    decided = settings.as_dict()
    return {
        "method": settings.method.name,
        "arguments given": settings.given,
        "effort": settings.method.lists.effort,
        "c1": operator.settings.exponents.c1,
        "α": operator.settings.exponents.alpha,
        "β": operator.settings.exponents.beta,
        **potential_settings(operator),
        "dimension d": operator.dim,
        "rule for d": decided["dimension_rule"],
        "ε": operator.epsilon,
        "rule for ε": decided["epsilon_rule"],
        "rule for the bandwidth": decided["bandwidth_rule"],
        **neighbor_settings(operator),
        "neighbours of the density k0": settings.n_density_neighbors,
        "search": settings.search.name,
        "why this search": settings.search_reason,
        "engine": settings.engine.words,
        "why this engine": settings.engine_reason,
        "precision of stored kernel values": settings.precision,
        "where the rows lived": settings.placement,
        "form of the kernel": operator.settings.form,
        "shape of the kernel": type(operator.kernel.shape).__name__,
        "kernel cut at this share of its peak": settings.truncation,
        "a point left out of its own sums": operator.kernel.leave_one_out,
        "limiter": decided["limiter"],
        "finite-sample correction": settings.method.finite_sample,
        "metric": metric if graph.period is None else f"{metric}, periodic",
        "copies merged": operator.n_points - graph.n_points,
        "solver": spectrum.log.solver,
        "why this solver": spectrum.log.reason or "chosen by you",
        "steps, products": f"{spectrum.log.iterations}, {spectrum.log.products}",
        "estimated error of the solver": spectrum.log.error_estimate,
    }
