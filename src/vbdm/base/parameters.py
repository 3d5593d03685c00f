"""The parameters of an estimate in one table: what each takes, and where it is given.

`estimate_operator`, `vbdm.Resolved`, `vbdm.Paper` and `vbdm.Run` check by it what they receive,
scikit-learn what `vbdm.DiffusionMap` does, the command makes its options from it, and an unknown
keyword is answered from it. A new parameter is one row here, and its use. The command begins with
this module: it loads no NumPy.

>>> PARAMETERS["n_neighbors"].written
'method=vbdm.Resolved(n_neighbors=…)'
>>> try:
...     PARAMETERS["effort"].check(100)
... except ValueError as error:
...     print(error)
`effort` must be a number from 0.25 to 16; received 100.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from inspect import signature
from math import inf
from types import ModuleType
from typing import Any, NamedTuple, ParamSpec, Self, TypeVar

from ..errors import InputError
from .versions import ENGINE_NAMES

P = ParamSpec("P")
T = TypeVar("T")


class Kind(NamedTuple):
    """One kind of values that a parameter takes."""

    #: Completes "must be …".
    words: str
    fits: Callable[[Any], bool]
    #: What a shell takes for it: a type, or a choice of words.
    typed: Any = str


def word(*words: str) -> Kind:
    """Return the kind of a few words."""
    return Kind(
        ", ".join(map(repr, words)), lambda value: isinstance(value, str) and value in words, words
    )


def number(low: float = -inf, high: float = inf, above: bool = False) -> Kind:
    """Return the kind of finite numbers from a lowest one, which may be left out, to a highest."""

    def fits(value: Any) -> bool:
        from .checks import as_number

        found = as_number(value)
        return low <= found <= high and abs(found) < inf and not (above and found == low)

    least = f" {'above' if above else 'from'} {low:g}" if low > -inf else ""
    most = f" to {high:g}" if high < inf else ""
    return Kind(f"a {'' if least else 'finite '}number{least}{most}", fits, float)


def count(least: int = 1) -> Kind:
    """Return the kind of whole numbers from a least one on."""

    def fits(value: Any) -> bool:
        from .checks import is_whole

        return is_whole(value) and bool(value >= least)

    return Kind(f"an integer, {least} or more", fits, int)


def having(name: str, words: str = "") -> Kind:
    """Return the kind of objects with this method or field, such as rules; no class of them is."""

    def fits(value: Any) -> bool:
        # NumPy's arrays have methods of some of these names.
        foreign = isinstance(value, str | type | ModuleType) or type(value).__module__ == "numpy"
        return not foreign and hasattr(value, name)

    return Kind(words or f"an object with the method `{name}`", fits)


AUTO, REAL, POSITIVE = word("auto"), number(), number(0, above=True)
NONE = Kind("None", lambda value: value is None)
SWITCH = Kind("a switch", lambda value: type(value).__name__ in ("bool", "bool_"), bool)
TEXT = Kind("a text", lambda value: isinstance(value, str))
FUNCTION = Kind("a function", lambda value: callable(value) and not isinstance(value, type))
VALUES = Kind(
    "an array", lambda value: hasattr(value, "__len__") and not isinstance(value, str | type)
)
#: Whatever it is: it is looked at where it is used.
ANYTHING = Kind("anything", lambda value: True)

#: Where a parameter is given, by its home.
HOMES = {
    "call": "{}=…",
    "method": "method=vbdm.Resolved({}=…)",
    "paper": "method=vbdm.Paper({}=…)",
    "run": "run=vbdm.Run({}=…)",
    "bandwidth": "bandwidth=vbdm.rules.PowerOfDensity({}=…)",
    "model": "vbdm.DiffusionMap({}=…)",
}


@dataclass(frozen=True)
class Parameter:
    """A parameter: its home among `HOMES`, what it takes, its default, and one line about it.

    `option` is what is typed for it in a shell; None: the command has no such option, or makes it
    itself.
    """

    name: str
    home: str
    kinds: tuple[Kind, ...]
    default: Any
    help: str
    option: str | None = None

    @property
    def written(self) -> str:
        """How it is written in a call."""
        return HOMES[self.home].format(self.name)

    def is_default(self, value: Any) -> bool:
        """Tell whether a value is the default; arrays, which compare by entries, never are."""
        plain = isinstance(value, str | int | float)
        return value is self.default or (plain and bool(value == self.default))

    def check(self, value: Any) -> None:
        """Refuse a value of another kind."""
        if self.is_default(value) or any(kind.fits(value) for kind in self.kinds):
            return
        from .checks import shown

        *most, last = (kind.words for kind in self.kinds)
        kinds = f"{', '.join(most)} or {last}" if most else last
        hint = f" Write {value.__name__}(…), not the class." if isinstance(value, type) else ""
        raise InputError(f"`{self.name}` must be {kinds}; received {shown(value)}.{hint}")


#: What `form` takes.
FORMS = ("symmetric", "left", "right", "two-sided")

PARAMETERS = {row.name: row for row in (
    Parameter("operator", "call", (word("laplacian", "generator"), REAL), None,
              "laplacian (geometry alone), generator (dynamics), or a number c1. [laplacian]",
              "--operator -O"),
    Parameter("method", "call",
              (word("resolved", "paper"), having("rules", "vbdm.Resolved(…) or vbdm.Paper(…)")),
              "resolved",
              "resolved: right without tuning; paper: Berry and Harlim to the letter.",
              "--method"),
    Parameter("epsilon", "call", (AUTO, POSITIVE, having("choose")), "auto",
              "Bandwidth ε. [automatic]", "--epsilon"),
    Parameter("dim", "call", (AUTO, POSITIVE, having("estimate")), "auto",
              "Dimension of the manifold. [estimated]", "--dim"),
    Parameter("bandwidth", "call", (AUTO, having("on_data"), FUNCTION, VALUES), "auto",
              "ρ, where it is no power of the density."),
    Parameter("beta", "bandwidth", (REAL,), None,
              "Exponent of the bandwidth. [automatic]", "--beta"),
    Parameter("n_neighbors", "method", (AUTO, count(2)), "auto",
              "Neighbours of each point, itself included. [all within the kernel's reach]",
              "--neighbors -k"),
    Parameter("n_density_neighbors", "method", (AUTO, count(2)), "auto",
              "Neighbours for the first guess of the density. [16]", "--density-neighbors"),
    Parameter("effort", "call", (number(0.25, 16),), 1.0,
              "From fast (0.5) to accurate (4): multiplies neighbours, time and memory. [1]",
              "--effort"),
    Parameter("metric", "call", (TEXT, FUNCTION), "euclidean",
              "Any metric of scikit-learn, or precomputed. [euclidean]", "--metric"),
    Parameter("period", "call", (NONE, POSITIVE, VALUES), None,
              "Periods of the columns, such as 360 or 2pi,none.", "--period"),
    Parameter("leave_one_out", "method", (AUTO, SWITCH), "auto",
              "Whether a point is left out of its own sums; not on regular grids. [yes]",
              "--leave-one-out"),
    Parameter("search", "run", (NONE, ANYTHING), None,
              "Who finds neighbours: auto, kd-tree, brute, projected, pynndescent.", "--search"),
    Parameter("engine", "run", (word(*ENGINE_NAMES),), "auto",
              "Who computes: cuda is a GPU. [numba from 20,000 points on, if it is installed]",
              "--engine"),
    Parameter("precision", "run", (word("auto", "single", "double"),), "auto",
              "How kernel values are stored. [single]", "--precision"),
    Parameter("series", "call", (AUTO, SWITCH), "auto",
              "Whether the rows are steps in time. [where consecutive ones are alike]",
              "--series"),
    Parameter("potential", "call", (NONE, FUNCTION, VALUES), None, "U, in units of kT."),
    Parameter("weights", "call", (NONE, ANYTHING), None, "Weights of the points."),
    Parameter("lengths", "call", (NONE, ANYTHING), None, "Rows of each of several series."),
    Parameter("run", "call",
              (NONE, TEXT, having("engine", "vbdm.Run(…)"), having("rows", "a vbdm.placement"),
               having("submit", "a client of Dask")), None,
              "Where the estimate runs."),
    Parameter("alpha", "method", (NONE, REAL), None, "α, in place of the operator."),
    Parameter("form", "paper", (word(*FORMS),), "symmetric",
              "Where ρ stands in the kernel."),
    Parameter("shape", "method", (ANYTHING,), "gaussian", "The kernel's shape."),
    Parameter("truncation", "method", (AUTO, NONE, number(0, 0.5, above=True), having("share")),
              "auto",
              "Share of its peak at which the kernel is cut."),
    Parameter("limiter", "method", (AUTO, SWITCH, having("kappa", "vbdm.rules.Limiter(…)")),
              "auto",
              "Whether sparse points are kept from carrying modes."),
    Parameter("finite_sample", "method", (AUTO, SWITCH), "auto",
              "Whether eigenvalues are corrected for the randomness of the sample."),
    Parameter("weights_as", "method", (word("auto", "measure", "counts"),), "auto",
              "How weights enter."),
    Parameter("placement", "run", (ANYTHING,), "auto", "Where the rows of large arrays live."),
    Parameter("output", "run", (word("numpy", "device"),), "numpy",
              "What results are handed out as."),
    Parameter("n_components", "model", (count(),), 2, "Number of coordinates."),
    Parameter("pca", "model", (NONE, count(), number(0, 1, above=True)), None,
              "Principal directions to which the columns are reduced."),
    Parameter("components", "model", (word("each", "largest", "error"),), "each",
              "If the data falls into pieces: solve each, the largest, or stop."),
    Parameter("tol", "model", (POSITIVE,), 1e-4, "Relative accuracy of the eigenvalues."),
    Parameter("diffusion_time", "model", (NONE, number(0)), None, "t of exp(λ t)."),
    Parameter("outside", "model", (word("nan", "nearest", "error"),), "nan",
              "Where there is no data: nan, values of the nearest training point, or stop."),
)}  # fmt: skip


def given_among(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of parameters that have other values than their defaults."""
    return tuple(name for name, value in values.items() if not PARAMETERS[name].is_default(value))


def refuse_unknown(where: str, given: Collection[str], known: Collection[str]) -> None:
    """Refuse keywords that are not known there, and say what to write instead."""
    for name in given:
        if name in known:
            continue
        near = [name] if name in PARAMETERS else get_close_matches(name, [*known, *PARAMETERS], 1)
        words = [f"{own}=…" if own in known else PARAMETERS[own].written for own in near]
        hint = f"Write {words[0]}" if words else f"It knows {', '.join(known)}"
        raise TypeError(f"{where} takes no `{name}`. {hint}.")


def answering(function: Callable[P, T]) -> Callable[P, T]:
    """Return the function; whoever calls it by an unknown keyword is told what to write."""
    known = signature(function).parameters

    @wraps(function)
    def called(*args: P.args, **kwargs: P.kwargs) -> T:
        refuse_unknown(function.__name__, kwargs, known)
        return function(*args, **kwargs)

    return called


class Answering:
    """A class that answers unknown keywords with what to write."""

    def __new__(cls, *args: Any, **given: Any) -> Self:
        """Look at the keywords before the class does."""
        refuse_unknown(cls.__name__, given, signature(cls).parameters)
        return super().__new__(cls)


class Options(Answering):
    """Parameters in a frozen dataclass: checked when made; printed are those that were given."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            PARAMETERS[name].check(value)

    @property
    def given(self) -> tuple[str, ...]:
        """Names of the parameters that have other values than their defaults."""
        return given_among(vars(self))

    def __repr__(self) -> str:
        options = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.given)
        return f"{type(self).__name__}({options})"
