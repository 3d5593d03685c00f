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
    """The numbers that make the operator, L f = Δf + c1 ∇f·∇q/q.

    Attributes
    ----------
    alpha : float
        α: the kernel is divided by q_S^α on both sides.
    beta : float or None
        β of ρ = q^β; None where ρ is not a power of the density.
    c1 : float or None
        Coefficient of ∇f·∇q/q; None where ρ is not a power of the density.
    dim : float
        d, a real number.
    """

    alpha: float
    beta: float | None
    c1: float | None
    dim: float


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Settings:
    """What was asked for and what was decided; nothing later guesses it.

    Attributes
    ----------
    method : Method
        The method with every rule and switch that was used, as decided.
    exponents : Exponents
        α, β, c1 and d.
    form : str
        Where ρ stands in the kernel.
    shape : Shape
        h, the kernel's shape.
    truncation : float or None
        Share of its peak at which the kernel was cut; None if it was not.
    n_density_neighbors : int
        k0 of the pilot density.
    neighbors_from : str
        What decided the number of neighbours k, in words.
    search : Credit
        The search that found the neighbours.
    search_reason : str
        Why this search was chosen.
    engine : Credit
        The engine that computed.
    engine_reason : str
        Why this engine was chosen.
    precision : str
        How the kernel's values were stored: "single" or "double".
    placement : str
        Where the rows lived, in words: "in memory", "16 blocks on disk".
    output : str
        What results are handed out as: "numpy", or "device", as they are there.
    series : Series
        How the caller's rows follow each other, as far as the user said it.
    weighting : Weighting
        How weights of the points entered, if any were given.
    given : tuple of str
        Names of the arguments that the user gave.
    versions : mapping
        Versions of this package and of the libraries that computed.
    """

    method: Method
    exponents: Exponents
    form: str = "symmetric"
    shape: Shape = field(default_factory=Gaussian)
    truncation: float | None = None
    n_density_neighbors: int = 16
    neighbors_from: str = ""
    search: Credit = field(default_factory=lambda: Credit("given", "given"))
    search_reason: str = ""
    engine: Credit = ScipyEngine.credit
    engine_reason: str = ""
    precision: str = "double"
    placement: str = IN_MEMORY
    output: str = "numpy"
    series: Series = field(default_factory=Series)
    weighting: Weighting = field(default_factory=Weighting)
    given: tuple[str, ...] = ()
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
