"""What a data set is: points, their true density, and the spectrum they should reveal.

Arguments of data sets are checked here as well, beyond `vbdm.base.checks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray
from ..base.checks import as_floats, as_number, check_choice, check_real, is_whole
from ..base.memory import available_memory
from ..errors import InputError, OutOfMemoryError

Indices = NDArray[np.intp]
# Maps points or parameters, one in each row (or a one-dimensional array), to values there.
Function = Callable[[FloatArray], FloatArray]
RandomState = int | np.random.Generator | None

OPERATORS = {"laplacian": 0.0, "generator": 1.0}
SAME_EIGENVALUE = 1e-6
LARGEST_C1 = 1000


@dataclass(frozen=True, eq=False)
class Truth:
    """The first eigenpairs of ``L f = Δf + c1 ∇f·∇q/q``, known without learning.

    Attributes
    ----------
    c1 : float
        Factor of the drift: 0 for the Laplacian, 1 for the generator.
    eigenvalues : (n,) array
        Eigenvalues λ in 1/length², from 0 downwards; a multiple eigenvalue is repeated.
    eigenfunctions : callable
        Takes the ``parameters`` of a sample, shape (N, p), and gives the (N, n) values of the
        eigenfunctions there. They are orthonormal in the probability measure proportional to
        ``q**c1 dV``, so that the constant one is 1.
    """

    c1: float
    eigenvalues: FloatArray
    eigenfunctions: Function = field(repr=False)

    def __post_init__(self) -> None:
        """Freeze the eigenvalues."""
        object.__setattr__(self, "eigenvalues", read_only(self.eigenvalues))

    @property
    def groups(self) -> tuple[Indices, ...]:
        """Indices of equal eigenvalues, one array for each distinct eigenvalue.

        Inside a group only the span of the eigenfunctions has a meaning, so a comparison must
        be between subspaces. The last group may be cut short by the number asked for.
        """
        starts = [0]
        for i, value in enumerate(self.eigenvalues):
            first = self.eigenvalues[starts[-1]]
            if abs(value - first) > SAME_EIGENVALUE * max(abs(value), abs(first)):
                starts.append(i)
        return tuple(np.split(np.arange(self.eigenvalues.size), starts[1:]))


TruthBuilder = Callable[[int, float], Truth]


@dataclass(frozen=True, eq=False)
class Sample:
    """Points on a manifold together with everything known about them.

    Attributes
    ----------
    name : str
        The name of the data set.
    points : (N, n_ambient) array
        The data, as a method would see them.
    parameters : (N, p) array
        The same points in intrinsic coordinates (an angle, the point on the sphere, ...).
    dim : int
        Dimension of the manifold.
    operator : {"generator", "laplacian"}
        The operator this data set is usually used with.
    density : (N,) array
        The sampling density ``q`` at the points, with respect to the Riemannian volume.
    truth_for : callable
        Builds the truth from (n, c1); call `truth` instead.
    weights : (N,) array or None
        Where points were drawn at another temperature, the wanted density over the sampling
        density; the truth is then that of the wanted density. Their mean is 1 up to sampling error.

    Examples
    --------
    >>> from vbdm.datasets import ou
    >>> sample = ou(100, random_state=0)
    >>> sample.points.shape
    (100, 1)
    >>> sample.truth(4).eigenvalues
    array([ 0., -1., -2., -3.])
    """

    name: str
    points: FloatArray = field(repr=False)
    parameters: FloatArray = field(repr=False)
    dim: int
    operator: str
    density: FloatArray = field(repr=False)
    truth_for: TruthBuilder = field(repr=False)
    weights: FloatArray | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Freeze the arrays."""
        for name in ("points", "parameters", "density"):
            object.__setattr__(self, name, read_only(getattr(self, name)))
        if self.weights is not None:
            object.__setattr__(self, "weights", read_only(self.weights))
        if not np.isfinite(self.points).all():
            raise InputError(
                f"Some points of {self.name!r} would not be finite; received parameters that are "
                "too large or too small. Choose parameters nearer to the defaults."
            )

    def truth(self, n: int = 10, operator: str | float | None = None) -> Truth:
        """Give the first ``n`` eigenpairs of an operator on the manifold of this sample.

        Parameters
        ----------
        n : int
            How many, counting the constant eigenfunction.
        operator : {"laplacian", "generator"}, float or None
            A name, the value of ``c1``, or None for the usual operator of this data set.

        Raises
        ------
        ValueError
            When no truth is known for this operator.
        """
        check_n_samples(n, 1, "n")
        return self.truth_for(n, _c1_of(self.operator if operator is None else operator))


def _c1_of(operator: str | float) -> float:
    if isinstance(operator, str):
        return OPERATORS[check_choice(operator, "operator", OPERATORS)]
    c1 = check_real(operator, "operator")
    if abs(c1) > LARGEST_C1:
        raise InputError(
            f"The truth is known for c1 from -{LARGEST_C1} to {LARGEST_C1}; received "
            f"{operator!r}. Ask for 'laplacian', 'generator', or a small number."
        )
    return c1


def read_only(values: ArrayLike) -> FloatArray:
    """Return a read-only copy."""
    frozen = np.array(values, dtype=np.float64)
    frozen.flags.writeable = False
    return frozen


#: Arrays of the size of the points that exist at the same time while a data set is made.
COPIES = 6
#: Bounds of sizes and lengths: products of a few of them are still numbers.
SMALLEST, LARGEST = 1e-60, 1e60


def check_at_least(value: int, name: str, least: int = 1) -> None:
    """Raise unless ``value`` is an integer, ``least`` or more."""
    if not is_whole(value) or value < least:
        raise InputError(
            f"`{name}` must be an integer, {least} or more; received {value!r}. Try "
            f"{name}={max(least, 10)}."
        )


def check_n_samples(n_samples: int, columns: int, name: str = "n_samples") -> None:
    """Raise unless this is a number of points, and so many of them fit into the free memory."""
    check_at_least(n_samples, name)
    refuse_if_too_large(int(n_samples), columns)


def refuse_if_too_large(rows: int, columns: int) -> None:
    """Raise if a data set of this size does not fit into the free memory."""
    free = available_memory()
    needed = 8 * COPIES * rows * int(columns)
    # Even where the system does not tell what is free, no computer has room for this.
    if needed > (2**50 if free is None else free):
        raise OutOfMemoryError(
            f"The data set would not fit into memory; received {shown(rows)} points with "
            f"{shown(columns)} coordinates. Its arrays would take {shown(needed // 10**9)} GB. "
            "Ask for fewer points, or for fewer dimensions."
        )


def shown(number: int) -> str:
    """Return an integer, a very large one by its power of ten."""
    return f"{number:,}" if number < 10**15 else f"more than 10^{len(str(number)) - 1}"


def check_scale(value: float, name: str) -> float:
    """Return a positive number, neither so small nor so large that its square is no number."""
    number = as_number(value)
    if not SMALLEST <= number <= LARGEST:
        raise InputError(
            f"`{name}` must be a finite number greater than 0, from {SMALLEST:g} to {LARGEST:g}; "
            f"received {value!r}. Leave `{name}` at its default."
        )
    return number


def check_scales(values: Any, name: str, count: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return so many positive finite numbers, as an array."""
    array = as_floats(values)
    if (
        array is None
        or array.shape != (count,)
        or not ((array >= SMALLEST) & (array <= LARGEST)).all()
    ):
        raise InputError(
            f"`{name}` must be {count} positive numbers, from {SMALLEST:g} to {LARGEST:g}; "
            f"received {values!r}. Leave `{name}` at its default, or set the dimension to fit."
        )
    return array


def check_share(value: float) -> float:
    """Return the share of rows to replace, 0 or more and less than 1."""
    share = as_number(value)
    if not 0 <= share < 1:
        raise InputError(
            f"`share` must be at least 0 and less than 1; received {value!r}. Try share=0.1 "
            "for one row in ten."
        )
    return share


def generator(random_state: Any) -> np.random.Generator:
    """Return the generator of random numbers that a seed, a generator or None stands for."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise InputError(
            "`random_state` must be an integer, 0 or more, a NumPy generator or None; received "
            f"{random_state!r}. Pass random_state=0 to get the same points every time."
        ) from None
