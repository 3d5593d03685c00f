"""The section "settings": what was asked for and what was decided, with every rule by its name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ... import rules
from ...base.parameters import FORMS
from ...base.references import Citation, Credit
from ...errors import InputError
from ...kernel.dimension import LARGEST
from ...operator.method import METHODS, Limiter, Lists, Method
from ...operator.record import Exponents, Settings, in_words
from ...operator.weights import LARGEST_RANGE, Weighting
from ...placement import IN_MEMORY
from ...prepare.series import Series
from ...shapes import SHAPES
from .fields import POSITIVE, Added, Array, Many, Maybe, Named, Number, OneOf, count, part


class Remembered:
    """What is kept of a rule of the user's own: its words, which are the name of its class."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Make copies by the words: the class itself is in no module."""
        return remembered, (type(self).__name__,)

    def choose(self, *given: Any) -> Any:
        """Refuse to choose ε, or to estimate the dimension."""
        raise InputError(
            f"A rule of your own was not kept in the file; received {type(self).__name__}. A "
            "saved model holds numbers and names, no code: loading a file is safe. Pass the rule "
            "again, as `epsilon` or `dim`."
        )

    estimate = choose


def remembered(words: str) -> Any:
    """Return what stands in for a rule; `in_words` asks a class for its name."""
    return type(words, (Remembered,), {})()


def make_method(name: str, **choices: Any) -> Method:
    """Return a method with its rules; which forms of the kernel it allows, its name says."""
    return replace(METHODS[name], **choices)


#: A dimension; beyond, the constants of the kernel are no numbers any more.
DIM = Number(POSITIVE, 600)
CREDIT = part(
    Credit, name=str, words=str, references=Many(part(Citation, key=str, bibtex=str, text=str))
)
SHAPE = OneOf("shape", {
    name: part(type(shape), **{option: Number() for option in vars(shape)})
    for name, shape in SHAPES.items()
})  # fmt: skip
PRECISIONS = ("single", "double")
GIVEN = Array(("N",), low=POSITIVE, known_as="bandwidth")
POTENTIAL = Array(("N",), known_as="potential")
OWN = part(remembered, words=str)
BANDWIDTH = OneOf("bandwidth", {
    "power of the density": part(rules.PowerOfDensity, beta=Maybe(Number())),
    "given": part(rules.GivenBandwidth, values=GIVEN),
    "two given": part(rules.TwoBandwidths, first=GIVEN, second=GIVEN),
    "from a potential": part(
        rules.FromPotential,
        potential=POTENTIAL, dim=Maybe(DIM), centre=Maybe(Number()),
    ),
})  # fmt: skip
DIMENSION = OneOf("dim", {
    "neighbour distance ratios": part(rules.ByRatios, n_neighbors=count(2)),
    "slope of S": part(rules.DimensionBySlope),
    "given": part(rules.GivenDimension, dim=Number(POSITIVE, LARGEST)),
    "own": OWN,
}, in_words)  # fmt: skip
EPSILON = OneOf("epsilon", {
    "degree": part(rules.ByDegree, target=Maybe(Number(POSITIVE))),
    "slope of S": part(rules.BySlope),
    "given": part(rules.GivenEpsilon, epsilon=Number(POSITIVE), looks=bool),
    "own": OWN,
}, in_words)  # fmt: skip
TRUNCATION = OneOf("truncation", {
    "at": part(rules.CutAt, at=Maybe(Number(POSITIVE, 1))),
    "where clean": part(
        rules.CutWhereClean, short=Number(POSITIVE, 1), long=Number(POSITIVE, 1)
    ),
})  # fmt: skip
LIMITER = part(
    Limiter,
    kappa=Number(1e-6, 1e6),
    cap=Number(0, 1),
    n_reference=count(1, 1000),
    passes=count(0, 100),
)
LISTS = part(
    Lists, n_neighbors=count(2), n_density_neighbors=count(2), widen=bool,
    one_way_share=Number(0, 1), merge_copies=bool, effort=Number(POSITIVE),
)  # fmt: skip
METHOD = part(
    make_method, name=tuple(METHODS), bandwidth=BANDWIDTH, dimension=DIMENSION, epsilon=EPSILON,
    truncation=TRUNCATION, leave_one_out=bool, limiter=Maybe(LIMITER), finite_sample=bool,
    lists=LISTS, smallest_piece=Maybe(count(1)),
)  # fmt: skip
EXPONENTS = part(Exponents, alpha=Number(), beta=Maybe(Number()), c1=Maybe(Number()), dim=DIM)
SERIES = part(Series, lengths=Many(count(1)), known=Maybe(bool))
WEIGHTING = part(
    Weighting, kind=("none", "measure", "counts"), effective_points=Maybe(Number(POSITIVE)),
    log_range=Number(0, LARGEST_RANGE), roughness=Maybe(Number(0)),
)  # fmt: skip
SETTINGS = part(
    Settings, method=METHOD, exponents=EXPONENTS, form=FORMS, shape=SHAPE,
    truncation=Maybe(Number(POSITIVE, 1)), n_density_neighbors=count(2), neighbors_from=str,
    search=CREDIT, search_reason=str, engine=CREDIT, engine_reason=str, precision=PRECISIONS,
    placement=Added(str, IN_MEMORY), series=Added(SERIES, Series()),
    weighting=Added(WEIGHTING, Weighting()), given=Many(str),
    versions=Named(),
)  # fmt: skip
