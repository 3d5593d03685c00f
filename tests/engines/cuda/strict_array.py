"""Arrays that refuse what the arrays of a GPU refuse: NumPy's own numbers behind CuPy's manners.

CuPy's arrays answer to `np.sqrt(x)`, `np.where(...)` and `np.zeros(3, like=x)` by NumPy's
protocols. They refuse to become NumPy arrays in silence, to be mixed with these, and a few options.
What is refused here was read off CuPy 14 on a GPU, line by line; so rooms that run on these arrays
run on a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vbdm.base.threads import WORKER

#: Functions of NumPy that CuPy does not have, or does not hand on.
MISSING = {
    "block", "einsum_path", "eye", "full", "geomspace", "histogram_bin_edges", "identity", "insert",
    "linspace", "matvec", "nanpercentile", "nanquantile", "ones", "polyder", "polydiv", "polyint",
    "unstack", "vecdot", "vecmat",
}  # fmt: skip
#: Ufuncs that have `reduceat` and `accumulate` there.
ADDS = (np.add,)


def refused(what: str) -> TypeError:
    return TypeError(f"a GPU's arrays refuse this: {what}")


def unwrapped(value: Any) -> Any:
    """Take NumPy's array out of strict ones; refuse NumPy's own arrays beside them."""
    if isinstance(value, StrictArray):
        return value.values
    if isinstance(value, np.ndarray):
        raise refused(f"a NumPy array of shape {value.shape} among a device's arrays")
    if isinstance(value, list):
        return [unwrapped(entry) for entry in value]
    if isinstance(value, tuple):
        return tuple(unwrapped(entry) for entry in value)
    return value


def wrapped(value: Any) -> Any:
    """Put NumPy's arrays, and single numbers, into strict ones.

    The threads that share out work may not: which device is chosen is known to each for itself.
    """
    if isinstance(value, np.ndarray | np.generic):
        if getattr(WORKER, "busy", False):
            raise refused("work of other threads than the one that asked for it")
        return StrictArray(np.asarray(value))
    if isinstance(value, list):
        return [wrapped(entry) for entry in value]
    if isinstance(value, tuple):
        return tuple(wrapped(entry) for entry in value)
    return value


class Flags:
    def __init__(self, flags: Any) -> None:
        self.c_contiguous, self.f_contiguous = flags.c_contiguous, flags.f_contiguous


def method(name: str, without: tuple[str, ...] = ()) -> Any:
    def call(self: StrictArray, *args: Any, **kwargs: Any) -> Any:
        for option in without:
            if option in kwargs:
                raise refused(f"the option {option} of {name}")
        return wrapped(getattr(self.values, name)(*unwrapped(args), **own(kwargs)))

    return call


def own(kwargs: dict[str, Any]) -> dict[str, Any]:
    return {key: unwrapped(value) for key, value in kwargs.items()}


class StrictArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that lives elsewhere, as far as its users can tell."""

    __slots__ = ("values",)

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    # ---- what NumPy's functions do with it ----

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise refused(
            "to become a NumPy array in silence (np.asarray, np.array, np.ascontiguousarray)"
        )

    def __array_ufunc__(self, ufunc: Any, kind: str, *inputs: Any, **kwargs: Any) -> Any:
        if "where" in kwargs:
            raise refused(f"the option where of {ufunc.__name__}")
        if kind in ("reduceat", "accumulate", "reduce") and ufunc not in ADDS:
            raise refused(f"{ufunc.__name__}.{kind}")
        given = kwargs.pop("out", None)
        out = (
            None
            if given is None
            else tuple(None if one is None else unwrapped(one) for one in given)
        )
        result = getattr(ufunc, kind)(
            *unwrapped(inputs), **kwargs, **({} if out is None else {"out": out})
        )
        if given is not None:
            return given[0] if len(given) == 1 else given
        return wrapped(result)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        name = function.__name__
        if name in MISSING or function.__module__ not in ("numpy", "numpy.linalg", "numpy.fft"):
            raise refused(f"np.{name}")
        if "initial" in kwargs or "where" in kwargs:
            raise refused(f"the options initial and where of np.{name}")
        if name == "take" and "mode" in kwargs:
            raise refused("the option mode of np.take")
        if name == "lexsort" and not isinstance(args[0], StrictArray):
            raise refused("np.lexsort of a tuple: np.stack its keys")
        if name in ("array", "asarray", "asanyarray"):
            # np.asarray(values, like=x): the way in.
            return StrictArray(function(plain(args[0]), *args[1:], **own(kwargs)).copy())
        if name in ("zeros", "empty") and isinstance(args[0], StrictArray):
            raise refused("a shape that lives on the device")
        return wrapped(function(*unwrapped(args), **own(kwargs)))

    # ---- what it does itself ----

    def __getitem__(self, key: Any) -> Any:
        return wrapped(self.values[index(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray) and value.ndim:
            raise refused("to take values from a NumPy array")
        self.values[index(key)] = unwrapped(value) if not isinstance(value, np.ndarray) else value

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __bool__(self) -> bool:
        return bool(self.values)

    def __float__(self) -> float:
        return float(self.values)

    def __int__(self) -> int:
        return int(self.values)

    def __format__(self, spec: str) -> str:
        return format(self.values[()], spec)

    def __repr__(self) -> str:
        return f"strict {self.values!r}"

    def get(self, out: Any = None) -> Any:
        """Return a NumPy array of its own, or the one that is given: the way out."""
        if out is None:
            return self.values.copy(order="C")
        out[...] = self.values
        return out

    def item(self, *args: Any) -> Any:
        return self.values.item(*args)

    def tolist(self) -> Any:
        return self.values.tolist()

    def sort(self, axis: int = -1) -> None:
        self.values.sort(axis=axis, kind="stable")

    def fill(self, value: Any) -> None:
        self.values.fill(unwrapped(value))

    def view(self, *args: Any) -> StrictArray:
        return StrictArray(self.values.view(*args))

    @property
    def flags(self) -> Flags:
        return Flags(self.values.flags)

    shape = property(lambda self: self.values.shape)
    ndim = property(lambda self: self.values.ndim)
    size = property(lambda self: self.values.size)
    dtype = property(lambda self: self.values.dtype)
    nbytes = property(lambda self: self.values.nbytes)
    itemsize = property(lambda self: self.values.itemsize)
    strides = property(lambda self: self.values.strides)
    T = property(lambda self: StrictArray(self.values.T))
    real = property(lambda self: StrictArray(self.values.real))
    imag = property(lambda self: StrictArray(self.values.imag))

    all, any, argmax, argmin = map(method, ("all", "any", "argmax", "argmin"))
    argsort, argpartition = map(method, ("argsort", "argpartition"))
    sum, prod, max, min = (
        method(name, ("initial", "where")) for name in ("sum", "prod", "max", "min")
    )
    mean, std, var = (method(name, ("where",)) for name in ("mean", "std", "var"))
    astype, clip, conj, copy, cumsum = map(method, ("astype", "clip", "conj", "copy", "cumsum"))
    diagonal, dot, flatten, nonzero = map(method, ("diagonal", "dot", "flatten", "nonzero"))
    ravel, repeat, reshape, round = map(method, ("ravel", "repeat", "reshape", "round"))
    squeeze, swapaxes, take, trace = map(method, ("squeeze", "swapaxes", "take", "trace"))
    transpose = method("transpose")


def index(key: Any) -> Any:
    """Return NumPy's index: arrays of both kinds select rows, as on the device."""
    if isinstance(key, tuple):
        return tuple(index(entry) for entry in key)
    if isinstance(key, StrictArray):
        return key.values
    return key


def plain(value: Any) -> Any:
    """Return NumPy's array of whatever is handed in at the door."""
    if isinstance(value, StrictArray):
        return value.values
    if isinstance(value, list | tuple) and any(isinstance(entry, StrictArray) for entry in value):
        raise refused("an array made of a list of a device's arrays: np.stack them")
    return value
