"""What stands in a saved model: arrays by name, with their bounds, and the types of the text.

`pack` makes plain values and arrays of a result, `unpack` typed objects of them. Records of the
package are their own schema, by the types of their fields; rules, shapes and curves are known by
the names of their classes. What is not as it should be raises an error of `archive.DAMAGE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal, Protocol, get_origin, runtime_checkable

import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from ... import rules
from ...base.arrays import BoolArray, FloatArray, IntArray
from ...base.references import Citation, Credit
from ...errors import InputError
from ...forecast.times import Cycle, TimeAxis
from ...kernel.dimension import Dimension
from ...kernel.pilot import Pilot
from ...kernel.tuning import KeptCurve, SlopeCurve, Tuning
from ...operator.method import Limiter, Lists, Method
from ...operator.record import Exponents, Settings, in_words
from ...operator.weights import Weighting
from ...prepare.series import Series
from ...shapes import Broad, Compact, Gaussian, Shape
from ...spectrum.limiter import Limit
from ...spectrum.spectrum import SolveLog
from .archive import LARGEST, Array, Arrays, cannot_save, require

#: The smallest number above 0: a lower bound for what is positive.
POSITIVE = 5e-324
#: Coordinates beyond have squares that are no numbers; numbers of a series, sums of squares.
FARTHEST, LARGEST_OF_SERIES = 1e153, 1e140
#: The longest delays, leads and lengths.
MOST = 2**31 - 1

WIDTHS = Array(("M",), low=POSITIVE, writable=True)
GIVEN = Array(("N",), low=POSITIVE)
CURVE = Array(("e",), low=0)
MODES = Array(("m",), "fc", missing=True)
BY_LEAD = Array(("L",), low=0, high=1)
#: All arrays of models, by their places. The lengths: N rows, M distinct points, n columns, k
#: neighbours, m modes.
ARRAYS = {
    "graph/permutation": Array(("M",), "i", below="M"),
    "graph/point_of": Array(("N",), "i", below="M"),
    "graph/points": Array(("M", "n"), low=-FARTHEST, high=FARTHEST),
    "graph/period": Array(("n",), low=0),
    "graph/neighbors": Array(("M", "k"), "i", below="M"),
    "graph/sqdist": Array(("M", "k"), low=0),
    "graph/radii": Array(("M",), low=0),
    "index/rotation": Array(("n", "directions"), low=-2, high=2),
    "index/centre": Array(("n",)),
    "index/basis": Array(("n", "directions"), low=-2, high=2),
    # Infinite where the volume of a kernel is too small for a number.
    "pilot/density": Array(("M",), low=0, high=np.inf),
    "pilot/rho0": WIDTHS,
    "pilot/radii": Array(("M",), low=0),
    "dimension/scales": Array(("scales",), "i", low=1),
    "dimension/by_scale": Array(("scales",), low=POSITIVE),
    "bandwidth/rho": WIDTHS,
    "bandwidth/rho2": WIDTHS,
    "kernel/listed/data": Array(("pairs",), "fs", low=0, empty=True, writable=True),
    "kernel/listed/pointer": Array(("M + 1",), "i", low=0, writable=True),
    "kernel/listed/indices": Array(("pairs",), "i", below="M", empty=True, writable=True),
    "kernel/one_way/data": Array(("single",), low=0, empty=True, writable=True),
    "kernel/one_way/pointer": Array(("M + 1",), "i", low=0, writable=True),
    "kernel/one_way/indices": Array(("single",), "i", below="M", empty=True, writable=True),
    "tuning/curve/epsilons": Array(("e",), low=POSITIVE),
    "tuning/curve/sums": CURVE,
    "tuning/curve/slopes": Array(("slopes",), missing=True),
    "tuning/curve/levels": Array(("levels",), low=0, high=1),
    "tuning/curve/quantiles": Array(("levels", "e"), low=0),
    "settings/method/bandwidth/values": GIVEN,
    "settings/method/bandwidth/first": GIVEN,
    "settings/method/bandwidth/second": GIVEN,
    "settings/method/bandwidth/potential": Array(("N",)),
    "operator/factor": WIDTHS,
    "operator/degrees": Array(("M",), low=0),
    "operator/steps": WIDTHS,
    # U of the points, where it weights the pairs; how often points count, where weights say so.
    "operator/potential": Array(("M",)),
    "operator/multiplicity": Array(("M",), low=POSITIVE),
    # Complex where a form of the kernel that is not symmetric makes them so.
    "spectrum/eigenvalues": MODES,
    "spectrum/eigenfunctions": Array(("N", "m"), "fc"),
    "spectrum/labels": Array(("N",), "i", below="N"),
    "spectrum/unresolved": Array(("N",), "b"),
    "spectrum/correction": Array(("m",), low=0.01, high=100),
    "spectrum/extent": Array(("extent",), low=0, high=np.inf, empty=True),
    "spectrum/left_out": Array(("lost",), high=0, missing=True, empty=True),
    "log/residuals": Array(("m",), low=0, high=np.inf, missing=True),
    "log/pencil_eigenvalues": MODES,
    "log/set_aside": Array(("aside",), low=0, missing=True, empty=True),
    "log/shared_eigenvalues": Array(("shared",), low=0, empty=True),
}
#: Those of forecasters: T times, n columns, L leads.
FORECAST_ARRAYS = {
    "series/values": Array(
        ("T", "n"), low=-LARGEST_OF_SERIES, high=LARGEST_OF_SERIES, missing=True
    ),
    "series/lengths": Array(("series",), "i", low=1, high=MOST),
    "cycle/waves": Array(("waves", "n")),
    "decided/leads": Array(("L",), "i", low=1, high=MOST),
    "decided/spread": Array(("L", "n"), low=1e-3, high=1e3),
    "decided/score": Array(("L",), low=0, high=np.inf, missing=True),
    "decided/sharpness": Array(("L",), low=-10, high=10),
    "decided/share": BY_LEAD,
}

# --- The text ------------------------------------------------------------------------------------

Share = Annotated[float, Meta(ge=0, le=1)]
Positive = Annotated[float, Meta(gt=0)]
Finite = Annotated[float, Meta(gt=0, le=LARGEST)]
Count = Annotated[int, Meta(ge=1, le=MOST)]
Form = Literal["symmetric", "left", "right", "two-sided"]
Precision = Literal["single", "double"]


class Index(Struct):
    """A search: points, metric and periods are those of the graph, options each has its own."""

    kind: Literal["tree", "brute", "periodic", "metric", "approximate", "rotated", "projected"]
    leafsize: Count = 16
    spare: Annotated[float, Meta(ge=0, le=1e6)] = 0
    epsilon: Annotated[float, Meta(ge=0, le=1e6)] = 0
    n_neighbors: Annotated[int, Meta(ge=1, le=30)] = 1
    random_state: Annotated[int, Meta(ge=0, lt=2**32)] = 0
    rotation: FloatArray | None = None
    centre: FloatArray | None = None
    basis: FloatArray | None = None
    # Who searches the turned or projected points.
    inner: Index | None = None


class Graph(Struct, kw_only=True):
    """Points, order and lists of neighbours."""

    permutation: NDArray[np.intp]
    point_of: NDArray[np.intp] | None = None
    points: FloatArray | None = None
    metric: str
    period: FloatArray | None = None
    tree: bool
    search: Credit
    search_reason: str
    n_neighbors: Count
    neighbors: IntArray | None = None
    sqdist: FloatArray | None = None
    radii: FloatArray | None = None
    exact: bool
    recall: Share | None


class BandwidthParts(Struct):
    """How wide the kernel is; ρ2 is that of the two-sided form."""

    form: Form
    rho: FloatArray
    rho2: FloatArray | None = None


class Matrix(Struct):
    """A sparse matrix, row by row."""

    data: FloatArray
    pointer: IntArray
    indices: IntArray


class KernelParts(Struct, kw_only=True):
    """The kernel; without matrices it is evaluated again."""

    epsilon: Finite
    shape: Shape
    saturated: Share
    leave_one_out: bool
    cutoff: Positive
    one_way_share: Share
    power: Annotated[int, Meta(ge=1, le=64)]
    by_reach: bool
    precision: Precision
    listed: Matrix | None = None
    one_way: Matrix | None = None


@runtime_checkable
class Curve(Protocol):
    """S(ε), one of two classes."""

    sums: FloatArray
    slopes: FloatArray


class TuningParts(Struct):
    """The choice of ε."""

    epsilon: Finite
    rule: str
    words: str
    curve: Curve | None
    target: float | None
    n_neighbors: int


class OperatorParts(Struct):
    """Numbers of an operator."""

    factor: FloatArray
    degrees: FloatArray
    steps: FloatArray
    potential: FloatArray | None = None
    multiplicity: FloatArray | None = None


class SpectrumParts(Struct):
    """Eigenpairs."""

    eigenvalues: FloatArray
    eigenfunctions: FloatArray
    labels: NDArray[np.intp]
    n_solved: Count
    unresolved: BoolArray
    limit: Limit | None
    limits: tuple[Limit, ...]
    correction: FloatArray
    extent: FloatArray
    left_out: FloatArray


class GraphModel(Struct, kw_only=True):
    """All that a file says of a graph."""

    graph: Graph
    index: Index | None


class OperatorModel(GraphModel, kw_only=True):
    """All that a file says of an operator."""

    pilot: Pilot
    dimension: Dimension
    bandwidth: BandwidthParts
    kernel: KernelParts
    tuning: TuningParts
    settings: Settings
    operator: OperatorParts


class SpectrumModel(OperatorModel, kw_only=True):
    """All that a file says of a spectrum, and of an estimator."""

    spectrum: SpectrumParts
    log: SolveLog
    # Of an estimator: parameters, n_features_in, feature_names_in, projection.
    model: dict[str, Any] | None


# --- From objects to files and back --------------------------------------------------------------

#: Where an object of one of several classes may stand: the name of a class is written with it.
CLASSES: dict[Any, tuple[type, ...]] = {
    Shape: (Gaussian, Broad, Compact),
    rules.BandwidthRule: (
        rules.PowerOfDensity, rules.GivenBandwidth, rules.TwoBandwidths, rules.FromPotential,
    ),
    rules.DimensionRule: (rules.ByRatios, rules.DimensionBySlope, rules.GivenDimension),
    rules.EpsilonRule: (rules.ByDegree, rules.BySlope, rules.GivenEpsilon),
    rules.TruncationRule: (rules.CutAt, rules.CutWhereClean),
    Curve: (SlopeCurve, KeptCurve),
}  # fmt: skip
NAMED = frozenset().union(*CLASSES.values())
RECORDS = {
    Citation, Credit, Cycle, Dimension, Exponents, Limit, Limiter, Lists, Method, Pilot, Series,
    Settings, SolveLog, TimeAxis, Tuning, Weighting,
}  # fmt: skip
#: Rules that have done their work: of the user's own the words are kept.
DONE = ("settings/method/dimension", "settings/method/epsilon")
#: Numbers that may be infinite or NaN: JSON has no such numbers, they are written as words.
NOT_FINITE = {"cutoff", "standard_error", "error_estimate", "score", *("modes", "neighbours")}


def broken(place: str) -> InputError:
    """Say that a result holds numbers that no sound result has."""
    return InputError(
        f"This result is broken, and cannot be saved; received impossible numbers in {place}. "
        "Check the units of the data, and rules or solvers of your own."
    )


def pack(value: Any, place: str, arrays: Arrays) -> Any:
    """Return what stands in the text at a place; arrays below it go to `arrays`."""
    name = place.rpartition("/")[2]
    if isinstance(value, Mapping):
        found = {}
        for key, item in value.items():
            below = f"{place}/{key}" if place else str(key)
            if below not in ARRAYS and below not in FORECAST_ARRAYS:
                found[str(key)] = pack(item, below, arrays)
            elif item is not None:
                arrays[below] = as_stored(item, below)
        return found
    if isinstance(value, (list, tuple)):
        return [pack(item, place, arrays) for item in value]
    if isinstance(value, Struct):
        return pack(msgspec.structs.asdict(value), place, arrays)
    if type(value) in RECORDS or type(value) in NAMED:
        known = {"name": type(value).__name__} if type(value) in NAMED else {}
        parts = {part.name: getattr(value, part.name) for part in fields(value)}
        return pack(known | parts, place, arrays)
    if place in DONE:
        return {"name": "own", "words": in_words(value)}
    value = value.item() if isinstance(value, np.generic) else value
    if value is not None and not isinstance(value, (bool, int, float, str)):
        raise cannot_save(value, name)
    if isinstance(value, float) and not np.isfinite(value):
        if name not in NOT_FINITE:
            raise broken(place)
        return repr(value)
    return value


def as_stored(value: Any, place: str) -> NDArray[Any]:
    """Return an array with its kind of numbers, if they can be there."""
    kind, array = ARRAYS.get(place) or FORECAST_ARRAYS[place], np.asarray(value)
    if callable(value) or array.dtype.kind not in "fiubc":
        raise cannot_save(value, place.rpartition("/")[2])
    single = "s" in kind.kinds and array.dtype == np.float32
    if "f" in kind.kinds and not single:
        array = array.astype(complex if array.dtype.kind == "c" else float, copy=False)
    known = "s" if single else array.dtype.kind
    if known not in kind.kinds or not (kind.below or kind.suits(array, {})):
        raise broken(place)
    return array


def unpack(head: dict[str, Any], arrays: Arrays, kind: Any) -> Any:
    """Return what a file says, as an object of a type above: its text with its arrays."""
    for place, array in arrays.items():
        *way, name = place.split("/")
        part = head
        for key in way:
            part = part.setdefault(key, {})
        part[name] = array
    return as_type(head, kind)


def as_type(value: Any, kind: Any) -> Any:
    """Return plain values as an object of a type; words may stand for numbers such as NaN."""
    return msgspec.convert(value, kind, strict=False, dec_hook=own_type)


def own_type(kind: Any, value: Any) -> Any:
    """Return an array, or an object of one of the `CLASSES`."""
    if get_origin(kind) is np.ndarray:
        require(isinstance(value, np.ndarray), str(value)[:40], "is no array")
        return value
    options = dict(value)
    name = options.pop("name")
    if name == "own" and kind in (rules.DimensionRule, rules.EpsilonRule):
        return remembered(str(options["words"]))
    made = {known.__name__: known for known in CLASSES[kind]}[name]
    if kind is not rules.BandwidthRule:
        return as_type(options, made)
    # Where users may pass functions, files hold arrays.
    types: Any = {"PerPoint": FloatArray}
    parts = {part.name: part.type for part in fields(made) if part.name in options}
    return made(**{k: as_type(options[k], types.get(t, float | None)) for k, t in parts.items()})


class Remembered:
    """What is kept of a rule of the user's own: its words, which are the name of its class."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Make copies by the words: the class itself is in no module."""
        return remembered, (type(self).__name__,)

    def choose(self, *given: Any) -> Any:
        """Refuse to choose ε, or to estimate the dimension."""
        name = type(self).__name__
        raise InputError(f"A rule of your own was not kept; received {name}. Pass it again.")

    estimate = choose


def remembered(words: str) -> Any:
    """Return a rule whose class has these words as its name."""
    return type(words, (Remembered,), {})()
