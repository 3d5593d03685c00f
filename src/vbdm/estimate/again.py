"""The walk once more: from some of the points, and at other ε."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import to_host
from ..base.checks import a_count, a_number, accepts, an, numbers
from ..kernel.bandwidth import BandwidthRule, GivenBandwidth
from ..kernel.dimension import GivenDimension
from ..operator.arguments import Request
from ..operator.method import METHODS
from ..operator.operator import Operator
from ..operator.run import Run
from ..operator.weights import Weights
from ..spectrum.spectrum import Spectrum
from ..trust.epsilon_scan import FACTORS, EpsilonScan, scan_modes, why_no_scan
from .walk import walk


def factors_of_scan(value: Any, name: str) -> list[float]:
    """Return the multiples of ε at which a scan looks: positive, and not absurdly far from 1."""
    factors = numbers(value, name).tolist()
    return [a_number(1e-6, 1e6)(factor, name) for factor in factors]


def estimate_again(operator: Operator, rows: NDArray[np.intp]) -> Operator:
    """Estimate the same operator from some of its points, with an ε chosen for these."""
    settings, graph = operator.settings, operator.graph
    points = to_host(cast(Any, graph.point_set.coordinates)[graph.order.inside_rows(rows)])
    rule: BandwidthRule = settings.method.bandwidth
    if operator.settings.exponents.beta is None:
        rule = GivenBandwidth(np.asarray(to_host(operator.bandwidth))[rows])
    method = replace(
        settings.method, bandwidth=rule, dimension=GivenDimension(operator.dim),
        epsilon=METHODS[settings.method.name].epsilon,
    )  # fmt: skip
    exponents = settings.exponents
    U = operator.inside.potential
    weights = weights_again(operator, rows)
    period = None if graph.period is None else [p or None for p in graph.period.tolist()]
    request = Request(
        method=method,
        c1=exponents.c1,
        alpha=exponents.alpha if exponents.c1 is None else None,
        form=settings.form,
        shape=settings.shape,
        given=settings.given,
        potential=None if U is None or weights is not None else graph.order.to_caller(U)[rows],
        weights=weights,
        n_neighbors="auto" if method.lists.widen else min(operator.n_neighbors, len(points)),
        n_density_neighbors=min(settings.n_density_neighbors, len(points)),
        metric=graph.metric,
        period=period,
        run=Run(precision=settings.precision),
    )
    return walk(request, points)


def weights_again(operator: Operator, rows: NDArray[np.intp]) -> Weights | None:
    """Return the weights of some of an operator's points, which enter as they did before."""
    kind, U, c1 = (
        operator.settings.weighting.kind,
        operator.inside.potential,
        operator.settings.exponents.c1,
    )
    if operator.inside.multiplicity is not None:
        return Weights(operator.graph.order.to_caller(operator.inside.multiplicity)[rows], kind)
    if kind == "measure" and U is not None and c1:
        return Weights(np.exp(-operator.graph.order.to_caller(U - U.min())[rows] / c1), kind)
    return None


@accepts(
    spectrum=an(Spectrum, "Call op.spectrum(10)."), factors=factors_of_scan, n_drawn=a_count(10)
)
def scan_epsilon(
    spectrum: Spectrum, factors: Sequence[float] = FACTORS, *, n_drawn: int = 5000
) -> EpsilonScan | None:
    """Solve at several ε around the one in use, and follow the modes: what does not move, stands.

    Parameters
    ----------
    spectrum : Spectrum
        The result.
    factors : sequence of float
        Multiples of the chosen ε; 1 is always among them. The largest are left out where they
        would need too many neighbours, and any where the solver fails.
    n_drawn : int
        Number of points at which eigenfunctions are kept. For clouds of more than 20,000 points,
        the operator is estimated again from this many points, and ε varied around the one that
        suits these.

    Returns
    -------
    EpsilonScan or None
        None where ε cannot be varied; `vbdm.trust.epsilon_scan.why_no_scan` says why.

    Examples
    --------
    >>> op = vbdm.estimate_operator(vbdm.datasets.circle(300, random_state=0).points)
    >>> found = scan_epsilon(op.spectrum(3), factors=(0.5, 1, 2))
    >>> found.eigenvalues.shape, found.chosen
    ((3, 3), 1)
    """
    if why_no_scan(spectrum):
        return None
    return scan_modes(spectrum, factors, n_drawn=n_drawn, again=estimate_again)
