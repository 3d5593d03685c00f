"""What was asked for and what was decided: one record that travels with every result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from ..base.references import Credit
from ..engines.scipy_engine import ScipyEngine
from ..placement import IN_MEMORY
from ..prepare.series import Series
from ..shapes import Gaussian, Shape
from .method import Method
from .weights import Weighting


@dataclass(frozen=True)
class Exponents:
    """The numbers that make the operator, L f = Δf + c1 ∇f·∇q/q."""

    #: α: the kernel is divided by q_S^α on both sides.
    alpha: float
    #: β of ρ = q^β, and the coefficient of ∇f·∇q/q; None where ρ is no power of the density.
    beta: float | None
    c1: float | None
    #: d, a real number.
    dim: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Settings:
    """What was asked for and what was decided; nothing later guesses it."""

    #: The method with every rule and switch that was used, as decided.
    method: Method
    exponents: Exponents
    #: Where ρ stands in the kernel.
    form: str = "symmetric"
    shape: Shape = field(default_factory=Gaussian)
    #: Share of its peak at which the kernel was cut; None if it was not.
    truncation: float | None = None
    #: k0 of the pilot density.
    n_density_neighbors: int = 16
    #: What decided the number of neighbours k, in words.
    neighbors_from: str = ""
    #: Search and engine, and why they were chosen.
    search: Credit = field(default_factory=lambda: Credit("given", "given"))
    search_reason: str = ""
    engine: Credit = ScipyEngine.credit
    engine_reason: str = ""
    #: How the kernel's values were stored: "single" or "double".
    precision: str = "double"
    #: Where the rows lived, in words: "in memory", "16 blocks on disk".
    placement: str = IN_MEMORY
    #: What results are handed out as: "numpy", or "device", as they are there.
    output: str = "numpy"
    #: How the caller's rows follow each other, as far as the user said it.
    series: Series = field(default_factory=Series)
    #: How weights of the points entered, if any were given.
    weighting: Weighting = field(default_factory=Weighting)
    #: Names of the parameters that the user gave.
    given: tuple[str, ...] = ()
    #: Versions of this package and of the libraries that computed.
    versions: Mapping[str, str] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Name the choices that matter most; `as_dict` has all of them."""
        exponents = ", ".join(
            f"{name}={value:.4g}"
            for name, value in vars(self.exponents).items()
            if value is not None
        )
        given = f", given: {', '.join(self.given)}" if self.given else ""
        return f"Settings({self.method.name!r}, {exponents}, form={self.form!r}{given})"

    @property
    def smallest_piece(self) -> int:
        """Fewest points of a connected piece that gets modes of its own."""
        return self.method.smallest_piece or self.n_density_neighbors

    def as_dict(self) -> dict[str, Any]:
        """Return everything as plain words and numbers, for results.json and the page."""
        method, lists = self.method, self.method.lists
        return {
            "method": method.name,
            "given": list(self.given),
            "effort": lists.effort,
            **{name: getattr(self.exponents, name) for name in ("alpha", "beta", "c1", "dim")},
            "bandwidth_rule": in_words(method.bandwidth),
            "dimension_rule": in_words(method.dimension),
            "epsilon_rule": in_words(method.epsilon),
            "form": self.form,
            "shape": in_words(self.shape),
            "truncation": self.truncation,
            "leave_one_out": method.leave_one_out,
            "limiter": None if method.limiter is None else in_words(method.limiter),
            "finite_sample": method.finite_sample,
            "n_density_neighbors": self.n_density_neighbors,
            "neighbors_from": self.neighbors_from,
            "one_way_share": lists.one_way_share,
            "copies_merged": lists.merge_copies,
            "smallest_piece": self.smallest_piece,
            "search": self.search.name,
            "search_reason": self.search_reason,
            "engine": self.engine.name,
            "engine_reason": self.engine_reason,
            "precision": self.precision,
            "placement": self.placement,
            "series": self.series.known,
            "lengths": list(self.series.lengths),
            "weights": self.weighting.kind,
            "effective_points": self.weighting.effective_points,
            "versions": dict(self.versions),
        }


def in_words(strategy: Any) -> str:
    """Return a strategy as it would be written in Python, with arrays and functions abbreviated.

    Examples
    --------
    >>> in_words(vbdm.rules.ByDegree(17)), in_words(Gaussian())
    ('ByDegree(target=17)', 'Gaussian()')
    """
    if not is_dataclass(strategy):
        return type(strategy).__name__
    parts = [
        f"{part.name}={short(getattr(strategy, part.name))}"
        for part in fields(strategy)
        if part.init and getattr(strategy, part.name) is not None
    ]
    return f"{type(strategy).__name__}({', '.join(parts)})"


def short(value: Any) -> str:
    """Return the value of an option, abbreviated."""
    if isinstance(value, (bool, int, float, str)):
        return repr(value)
    if callable(value):
        return getattr(value, "__name__", "a function")
    return f"{np.size(value)} numbers" if np.ndim(value) else repr(value)
