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
from typing import Any, ParamSpec, Protocol, Self, TypeVar

from ..errors import InputError
from .versions import ENGINE_NAMES

P = ParamSpec("P")
T = TypeVar("T")


class Kind(Protocol):
    """One kind of values that a parameter takes; its text completes "must be …"."""

    def fits(self, value: Any) -> bool:
        """Tell whether a value is of this kind."""


@dataclass(frozen=True)
class Words:
    """One of a few words."""

    words: tuple[str, ...]

    def fits(self, value: Any) -> bool:
        """Tell whether it is one of them."""
        return isinstance(value, str) and value in self.words

    def __str__(self) -> str:
        return ", ".join(map(repr, self.words))


@dataclass(frozen=True)
class Number:
    """A finite real number, from a lowest one, which may be left out, to a highest one."""

    low: float = -inf
    high: float = inf
    above: bool = False

    def fits(self, value: Any) -> bool:
        """Tell whether it is a number between the bounds; switches and text are none."""
        from .checks import as_number

        number = as_number(value)
        return (
            self.low <= number <= self.high
            and abs(number) < inf
            and not (self.above and number == self.low)
        )

    def __str__(self) -> str:
        low = f" {'above' if self.above else 'from'} {self.low:g}" if self.low > -inf else ""
        return f"a {'' if low else 'finite '}number{low}{f' to {self.high:g}' * (self.high < inf)}"


@dataclass(frozen=True)
class Count:
    """A whole number from a least one on."""

    least: int = 1

    def fits(self, value: Any) -> bool:
        """Tell whether it is a whole number, and large enough."""
        from .checks import is_whole

        return is_whole(value) and bool(value >= self.least)

    def __str__(self) -> str:
        return f"an integer, {self.least} or more"


@dataclass(frozen=True)
class Simple:
    """Values that are told by a function."""

    words: str
    fits: Callable[[Any], bool]

    def __str__(self) -> str:
        return self.words


@dataclass(frozen=True)
class Having:
    """An object with a method or field of this name, such as a rule; no class of such objects."""

    name: str
    words: str = ""

    def fits(self, value: Any) -> bool:
        """Tell whether it has the method; NumPy's arrays have methods of some of these names."""
        foreign = isinstance(value, str | type | ModuleType) or type(value).__module__ == "numpy"
        return not foreign and hasattr(value, self.name)

    def __str__(self) -> str:
        return self.words or f"an object with the method `{self.name}`"


AUTO = Words(("auto",))
REAL, POSITIVE = Number(), Number(0, above=True)
NONE = Simple("None", lambda value: value is None)
SWITCH = Simple("True or False", lambda value: type(value).__name__ in ("bool", "bool_"))
TEXT = Simple("a text", lambda value: isinstance(value, str))
FUNCTION = Simple("a function", lambda value: callable(value) and not isinstance(value, type))
VALUES = Simple(
    "an array", lambda value: not isinstance(value, str | type) and bool(hasattr(value, "__len__"))
)
#: Whatever it is: it is looked at where it is used.
ANYTHING = Simple("anything", lambda value: True)

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

        *most, last = map(str, self.kinds)
        kinds = f"{', '.join(most)} or {last}" if most else last
        hint = f" Write {value.__name__}(…), not the class." if isinstance(value, type) else ""
        raise InputError(f"`{self.name}` must be {kinds}; received {shown(value)}.{hint}")


#: What `form` takes.
FORMS = ("symmetric", "left", "right", "two-sided")

PARAMETERS = {row.name: row for row in (
    Parameter("operator", "call", (Words(("laplacian", "generator")), REAL), None,
              "laplacian (geometry alone), generator (dynamics), or a number c1. [laplacian]",
              "--operator -O"),
    Parameter("method", "call",
              (Words(("resolved", "paper")), Having("rules", "vbdm.Resolved(…) or vbdm.Paper(…)")),
              "resolved",
              "resolved: right without tuning; paper: Berry and Harlim to the letter.",
              "--method"),
    Parameter("epsilon", "call", (AUTO, POSITIVE, Having("choose")), "auto",
              "Bandwidth ε. [automatic]", "--epsilon"),
    Parameter("dim", "call", (AUTO, POSITIVE, Having("estimate")), "auto",
              "Dimension of the manifold. [estimated]", "--dim"),
    Parameter("bandwidth", "call", (AUTO, Having("on_data"), FUNCTION, VALUES), "auto",
              "ρ, where it is no power of the density."),
    Parameter("beta", "bandwidth", (REAL,), None,
              "Exponent of the bandwidth. [automatic]", "--beta"),
    Parameter("n_neighbors", "method", (AUTO, Count(2)), "auto",
              "Neighbours of each point, itself included. [all within the kernel's reach]",
              "--neighbors -k"),
    Parameter("n_density_neighbors", "method", (AUTO, Count(2)), "auto",
              "Neighbours for the first guess of the density. [16]", "--density-neighbors"),
    Parameter("effort", "call", (Number(0.25, 16),), 1.0,
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
    Parameter("engine", "run", (Words(ENGINE_NAMES),), "auto",
              "Who computes: cuda is a GPU. [numba from 20,000 points on, if it is installed]",
              "--engine"),
    Parameter("precision", "run", (Words(("auto", "single", "double")),), "auto",
              "How kernel values are stored. [single]", "--precision"),
    Parameter("series", "call", (AUTO, SWITCH), "auto",
              "Whether the rows are steps in time. [where consecutive ones are alike]",
              "--series"),
    Parameter("potential", "call", (NONE, FUNCTION, VALUES), None, "U, in units of kT."),
    Parameter("weights", "call", (NONE, ANYTHING), None, "Weights of the points."),
    Parameter("lengths", "call", (NONE, ANYTHING), None, "Rows of each of several series."),
    Parameter("run", "call",
              (NONE, TEXT, Having("engine", "vbdm.Run(…)"), Having("rows", "a vbdm.placement"),
               Having("submit", "a client of Dask")), None,
              "Where the estimate runs."),
    Parameter("alpha", "method", (NONE, REAL), None, "α, in place of the operator."),
    Parameter("form", "paper", (Words(FORMS),), "symmetric",
              "Where ρ stands in the kernel."),
    Parameter("shape", "method", (ANYTHING,), "gaussian", "The kernel's shape."),
    Parameter("truncation", "method", (AUTO, NONE, Number(0, 0.5, above=True), Having("share")),
              "auto",
              "Share of its peak at which the kernel is cut."),
    Parameter("limiter", "method", (AUTO, SWITCH, Having("kappa", "vbdm.rules.Limiter(…)")),
              "auto",
              "Whether sparse points are kept from carrying modes."),
    Parameter("finite_sample", "method", (AUTO, SWITCH), "auto",
              "Whether eigenvalues are corrected for the randomness of the sample."),
    Parameter("weights_as", "method", (Words(("auto", "measure", "counts")),), "auto",
              "How weights enter."),
    Parameter("placement", "run", (ANYTHING,), "auto", "Where the rows of large arrays live."),
    Parameter("output", "run", (Words(("numpy", "device")),), "numpy",
              "What results are handed out as."),
    Parameter("n_components", "model", (Count(),), 2, "Number of coordinates."),
    Parameter("pca", "model", (NONE, Count(), Number(0, 1, above=True)), None,
              "Principal directions to which the columns are reduced."),
    Parameter("components", "model", (Words(("each", "largest", "error")),), "each",
              "If the data falls into pieces: solve each, the largest, or stop."),
    Parameter("tol", "model", (POSITIVE,), 1e-4, "Relative accuracy of the eigenvalues."),
    Parameter("diffusion_time", "model", (NONE, Number(0)), None, "t of exp(λ t)."),
    Parameter("outside", "model", (Words(("nan", "nearest", "error")),), "nan",
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
