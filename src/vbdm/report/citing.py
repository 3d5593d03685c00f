"""Works to cite for a result, and a paragraph on methods that can be pasted into a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..base.checks import a_count, accepts, an, or_none
from ..base.references import PAPER, Citation, credit_of
from ..base.versions import __version__
from ..base.wording import common_style, minus, power_of_ten, subscript, with_error
from ..operator.operator import Operator
from ..operator.sums import quantiles
from ..placement import IN_MEMORY
from ..spectrum.spectrum import Spectrum
from .facts import operator_in_words, short

A_SPECTRUM = an(Spectrum, "Pass op.spectrum(10).")


def software() -> Citation:
    """Return the citation of this package, with its version."""
    title = "vbdm: differential operators learned from data by variable bandwidth diffusion kernels"
    bibtex = f"""@software{{vbdm,
  author  = {{{{The vbdm developers}}}},
  title   = {{{title}}},
  version = {{{__version__}}}
}}"""
    return Citation("vbdm", bibtex, f"The vbdm developers. {title}. Version {__version__}.")


@accepts(spectrum=or_none(A_SPECTRUM))
def citations(spectrum: Spectrum | None = None) -> tuple[Citation, ...]:
    """Return what to cite: the paper, this package and, for a result, the methods it used.

    Examples
    --------
    >>> [citation.key for citation in citations()]
    ['BerryHarlim2016', 'vbdm']
    """
    used: list[Any] = []
    if spectrum is not None:
        settings = spectrum.settings
        bandwidth = credit_of(settings.method.bandwidth, "rule")
        used = [bandwidth, spectrum.operator.dimension.credit, *spectrum.log.solvers]
        used += [settings.search, settings.engine]
    works = (work for credit in used for work in credit.references)
    return tuple(dict.fromkeys((PAPER, software(), *works)))


@accepts(spectrum=A_SPECTRUM, n_read=or_none(a_count(0)))
def methods_paragraph(
    spectrum: Spectrum, n_read: int | None = None, preparation: Any = None
) -> str:
    """Return a paragraph on what was done, for the methods section of a paper.

    Parameters
    ----------
    spectrum : Spectrum
        The result.
    n_read : int, optional
        Number of rows of the file, if not all were used.
    preparation : mapping, or object with `as_dict`, optional
        What was done to the columns before the estimate (`vbdm.io.Preparation`).

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points)
    >>> methods_paragraph(op.spectrum(4))[:64]
    'We estimated the Laplacian, L f = Δf, from N = 600 points with v'
    """
    operator, dim = spectrum.operator, spectrum.operator.dimension
    n = operator.n_points
    read = "" if n_read is None or n_read == n else f" (of {n_read:,} rows read)"
    size = with_error(dim.value, dim.standard_error)
    settings = operator.settings
    blocks = "" if settings.placement == IN_MEMORY else f", in {settings.placement}"
    sentences = [
        f"We estimated {operator_in_words(operator)}, from N = {n:,} points{read} with "
        f"vbdm {__version__}, which implements variable bandwidth diffusion kernels (Berry and "
        "Harlim 2016).",
        preparation_in_words(preparation),
        metric_in_words(operator),
        bandwidth_in_words(operator),
        potential_in_words(operator),
        f"The intrinsic dimension d = {size} was {dim.credit.words}.",
        epsilon_in_words(operator),
        f"The computation used {settings.engine.words}{blocks}, with kernel values stored in "
        f"{settings.precision} precision.",
        solver_in_words(spectrum),
        errors_in_words(spectrum),
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def preparation_in_words(preparation: Any) -> str:
    """Return a sentence on scaling and delays, or nothing."""
    settings = as_mapping(preparation)
    steps = []
    if settings.get("scale") is not None:
        steps.append("columns were centred and scaled to unit variance")
    delays = settings.get("delays") or 1
    if delays > 1:
        step = settings.get("delay_step") or 1
        steps.append(
            f"each point was extended to {delays} delays, {step} row{'s' if step > 1 else ''} apart"
        )
    steps += projection_in_words(settings.get("projection"))
    return f"Beforehand, {' and '.join(steps)}." if steps else ""


def projection_in_words(projection: Mapping[str, Any] | None) -> list[str]:
    """Return what took the place of the columns, if anything did."""
    if projection is None:
        return []
    n = len(projection["axes"])
    if projection["kind"] == "tica":
        lag = projection["lag"]
        return [f"columns were reduced to {n} by TICA with a lag of {lag} point{'s' * (lag > 1)}"]
    share = f"{100 * sum(projection['values']):.3g} % of the variance"
    return [f"columns were reduced to {n} by PCA, which hold {share}"]


def has_delays(preparation: Any) -> bool:
    """Tell whether points were made of several rows of a series, one after the other."""
    return (as_mapping(preparation).get("delays") or 1) > 1


def as_mapping(thing: Any) -> Mapping[str, Any]:
    """Return a mapping as it is, an object as its `as_dict()`, and anything else as empty."""
    if thing is None:
        return {}
    found = thing.as_dict() if hasattr(thing, "as_dict") else thing
    return found if isinstance(found, Mapping) else {}


def metric_in_words(operator: Operator) -> str:
    """Return a sentence on how distances were measured; nothing if they are Euclidean."""
    graph = operator.graph
    if graph.period is not None:
        return "Distances were measured in a periodic box."
    if graph.metric == "euclidean":
        return ""
    if graph.metric == "precomputed":
        return "Distances between neighbours were given."
    name = graph.metric if isinstance(graph.metric, str) else "user-defined"
    return f"Distances were measured in the {name} metric."


def potential_in_words(operator: Operator) -> str:
    """Return a sentence on how a given potential, or weights, enter, or nothing."""
    found = operator.settings.weighting
    if operator.settings.weighting.is_used:
        how = (
            "multiply pairs by w(x)^(c1/2) w(y)^(c1/2)"
            if found.kind == "measure"
            else "count as multiplicities of the points"
        )
        return (
            f"The weights of the points, which span a factor of {np.exp(found.log_range):.3g} and "
            f"are worth {found.effective_points:,.0f} points of equal weight, {how}."
        )
    potential = operator.inside.potential
    if potential is None:
        return ""
    return (
        f"The potential, which spans {np.ptp(potential):.3g} kT, "
        f"weights each pair by exp(−U(x)/2) exp(−U(y)/2)."
    )


def bandwidth_in_words(operator: Operator) -> str:
    """Return a sentence on the kernel, its bandwidth and the exponents α and β."""
    kernels = {
        "symmetric": "K(x, y) = h(|x − y|²/(ε ρ(x) ρ(y)))",
        "left": "K(x, y) = h(|x − y|²/(ε ρ(x)))",
        "right": "K(x, y) = h(|x − y|²/(ε ρ(y)))",
        "two-sided": "K(x, y) = h(|x − y|²/(ε ρ₁(x) ρ₂(y)))",
    }
    kernel, exponents = kernels[operator.settings.form], operator.settings.exponents
    if type(operator.kernel.shape).__name__ == "Gaussian":
        kernel += " with h(s) = exp(−s/4)"
    if exponents.beta is None:
        return f"The kernel was {kernel}, ρ being given, and α = {minus(exponents.alpha)}."
    if exponents.beta == 0:
        return (
            f"The kernel was {kernel} with the fixed bandwidth ρ = 1 (Coifman and Lafon 2006) and "
            f"α = {minus(exponents.alpha)}."
        )
    return (
        f"The kernel was {kernel}, with the bandwidth ρ = q₀^β, β = {minus(exponents.beta)}, where "
        f"q₀ is a density estimate from {operator.settings.n_density_neighbors} nearest "
        f"neighbours, and α = {minus(exponents.alpha)}."
    )


def epsilon_in_words(operator: Operator) -> str:
    """Return a sentence on how ε was chosen, and on how wide the kernel is."""
    tuning = operator.tuning
    how = "was given" if tuning.rule == "given" else f"was chosen by the rule {tuning.rule}"
    if tuning.words:
        how = f"was chosen automatically, {tuning.words}"
    low, middle, high = quantiles(operator.widths)
    k, cutoff = operator.n_neighbors, operator.kernel.cutoff
    pairs = f"{k} nearest neighbours were used"
    if operator.kernel.by_reach:
        within = f"all pairs with |x − y|² < {cutoff:.1f} ε ρ(x) ρ(y)"
        pairs = f"{within} were used, {k} per point on average"
    return (
        f"The bandwidth parameter ε = {short(operator.epsilon)} {how}; the kernel's width "
        f"√(4ε) ρ is {middle:.3g} in the median ({low:.3g} to {high:.3g} for 90 % of the points), "
        f"and {pairs}."
    )


def solver_in_words(spectrum: Spectrum) -> str:
    """Return a sentence on the solver and its accuracy."""
    how = " and ".join(credit.words for credit in spectrum.log.solvers)
    if not how:
        return ""  # all eigenvalues are the zeros of pieces, which are known without a solver
    accuracy = max(float(spectrum.log.error_estimate), 1e-14)
    return (
        f"The {len(spectrum.eigenvalues)} eigenvalues nearest to 0 were computed by {how} to an "
        f"estimated relative accuracy of {power_of_ten(accuracy)}."
    )


def errors_in_words(spectrum: Spectrum) -> str:
    """Return sentences on the correction of the eigenvalues and on their error bars."""
    if not spectrum.operator.kernel.is_symmetric:
        return ""
    corrected = (
        "Eigenvalues are corrected for the finite sample to leading order. "
        if spectrum.settings.method.finite_sample
        else ""
    )
    return (
        f"{corrected}Errors are total errors, as standard deviations: sampling, from the "
        "influence of each point on each eigenvalue and for independent points; modes that rest on "
        "points too sparse to resolve them; the change of the eigenvalues with ε; noise; and edges "
        f"of the data, added in squares.{groups_in_words(spectrum)}"
    )


def groups_in_words(spectrum: Spectrum, most: int = 4) -> str:
    """Return a sentence on the first `most` groups of eigenvalues, with their means."""
    found = [group for group in spectrum.errors.by_group if group.is_several]
    if not found:
        return ""
    style = common_style([group.mean for group in found], [group.total_error for group in found])
    means = [
        f"λ{subscript(group.members[0])} to λ{subscript(group.members[-1])}, "
        f"{style.show(group.mean)} ± {style.show_error(group.total_error)}"
        for group in found[:most]
    ]
    more = "; …" if len(found) > most else ""
    return (
        " Eigenvalues that cannot be told apart were taken as one multiple eigenvalue, split by "
        f"sampling, with the mean and its total error: {'; '.join(means)}{more}."
    )
