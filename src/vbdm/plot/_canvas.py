"""What all pictures share: the result to draw, the places of its points, axes and colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray
from ..base.points import check_points
from ..base.wording import power_of_ten
from ..errors import InputError
from ..operator.operator import Operator
from ..spectrum.spectrum import Spectrum

#: Colours that people with any colour vision tell apart (Okabe and Ito).
INK, BLUE, VERMILION, GREEN, PURPLE = "#333333", "#0072B2", "#D55E00", "#009E73", "#CC79A7"
CYCLE = (BLUE, VERMILION, GREEN, PURPLE, "#E69F00", "#56B4E9")
FAINT = "0.78"
#: Colour maps. The diverging one has a grey middle: a white one would vanish on white paper.
DIVERGING, SEQUENTIAL = "coolwarm", "viridis"
#: Largest number of points that are drawn; more would cover each other.
MOST_POINTS = 20_000
#: Principal axes are added until they hold this share of the variance; two or three are drawn. A
#: third one with less than a twentieth would make a flat box, mostly empty and hard to read.
ENOUGH_VARIANCE = 0.95
#: How visible points on the far side of a cloud in space are, from 0 to 1.
FAR_SIDE = 0.3


def import_pyplot() -> Any:
    """Return matplotlib's pyplot, or raise with how to install it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError(
            'Pictures need matplotlib, which is not installed. Run: pip install "vbdm[plot]"'
        ) from None
    return plt


def new_axes(ax: Any, n_dims: int = 2) -> Any:
    """Return the axes that were given, or new ones in a new figure."""
    if ax is not None:
        return ax
    size = (6.4, 5.4 if n_dims == 3 else 4.8)
    figure = import_pyplot().figure(figsize=size, layout="constrained")
    return figure.add_subplot(projection="3d" if n_dims == 3 else None)


def operator_of(result: Any) -> Operator:
    """Return the operator behind an `Operator`, a `Spectrum` or a `DiffusionMap`."""
    found = getattr(getattr(result, "spectrum_", result), "operator", result)
    if isinstance(found, Operator):
        return found
    raise InputError(
        f"This has no operator to draw; received {type(result).__name__}. Pass an Operator, a "
        "Spectrum or a fitted DiffusionMap."
    )


def spectrum_of(result: Any) -> Spectrum:
    """Return the spectrum behind a `Spectrum` or a `DiffusionMap`."""
    found = getattr(result, "spectrum_", result)
    if isinstance(found, Spectrum):
        return found
    raise InputError(
        f"This has no spectrum to draw; received {type(result).__name__}. Pass op.spectrum(10), "
        "or a fitted DiffusionMap."
    )


@dataclass(frozen=True, eq=False)
class Positions:
    """The places where points are drawn."""

    # The places, (M, 1 to 3).
    coordinates: FloatArray
    # Labels of the axes, one per column of the coordinates.
    labels: list[str]
    # Numbers of these points in the result, (M,), in the caller's order.
    rows: NDArray[np.intp]
    # Lines for the title: how many points or axes are left out.
    notes: tuple[str, ...] = ()

    @property
    def n_dims(self) -> int:
        """Number of axes, 1 to 3."""
        return int(self.coordinates.shape[1])

    @property
    def marker_size(self) -> float:
        """Area of a marker in points², smaller if there are many."""
        area = float(np.clip(24_000 / max(len(self.rows), 1), 3, 16))
        # Larger in space: the near side must cover the far side, or their colours mix.
        return 2.5 * area if self.n_dims == 3 else area

    def named(self, names: Sequence[str] | None) -> Positions:
        """Return the same places with these labels of the axes, if there are any."""
        given = list(names or ())
        return replace(self, labels=[*given, *self.labels[len(given) :]])


def check_axes(ax: Any, name: str) -> Any:
    """Return axes to draw on; anything else is refused."""
    if hasattr(ax, "plot") and hasattr(ax, "scatter") and hasattr(ax, "figure"):
        return ax
    raise InputError(
        f"`{name}` must be axes of matplotlib; received {type(ax).__name__}. Pass plt.subplot(), "
        "or leave it out for a new figure."
    )


def place(
    operator: Operator, points: ArrayLike | None, ax: Any = None, most: int = MOST_POINTS
) -> Positions:
    """Return where points are drawn: at their own columns, or along their principal axes.

    `points` are other places for them, (N, n), such as two eigenfunctions; on flat axes at most two
    directions are shown; at most `most` points are drawn.
    """
    known = operator.graph.points if points is None else check_points(points)
    if known is None:
        raise InputError(
            "The points are needed to be drawn; received a result from precomputed distances. "
            "Pass `points`, for example two columns of `spectrum.eigenfunctions`."
        )
    if len(known) != operator.n_points:
        raise InputError(
            f"`points` must have one row for each of the {operator.n_points} points, in the same "
            f"order; received {len(known)} rows."
        )
    flat = ax is not None and getattr(ax, "name", "") != "3d"
    n_columns = known.shape[1]
    if n_columns > 3 or (n_columns == 3 and flat):
        return thinned(principal_positions(known, 2 if flat else 3), most)
    labels = [f"coordinate {i + 1}" for i in range(n_columns)]
    return thinned(Positions(known, labels, np.arange(len(known))), most)


def principal_positions(points: FloatArray, most: int, share: float = ENOUGH_VARIANCE) -> Positions:
    """Project points on their first two or three principal axes; a note has the variance shown.

    There are two, if they hold the `share` of the variance, or if `most` is 2.
    """
    centred = points - points.mean(axis=0)
    wide = points.shape[1] > len(points)
    # Of the two products X Xᵀ and Xᵀ X, take the smaller: both have the variances as eigenvalues.
    variances, axes = np.linalg.eigh(centred @ centred.T if wide else centred.T @ centred)
    order = np.argsort(-variances)[:most]
    axes = centred.T @ axes[:, order] if wide else axes[:, order]
    axes = axes / np.maximum(np.linalg.norm(axes, axis=0), np.finfo(float).tiny)
    # The sign of an axis is arbitrary: its largest entry is made positive.
    axes = axes * np.sign(axes[np.abs(axes).argmax(axis=0), np.arange(axes.shape[1])])
    held = np.cumsum(variances[order]) / max(variances.sum(), np.finfo(float).tiny)
    count = min(most, max(2, int(np.searchsorted(held, share)) + 1))
    note = f"{count} of {points.shape[1]} principal axes, {held[count - 1]:.0%} of the variance"
    labels = [f"principal axis {i + 1}" for i in range(count)]
    return Positions(centred @ axes[:, :count], labels, np.arange(len(points)), (note,))


def thinned(positions: Positions, most: int = MOST_POINTS, what: str = "points") -> Positions:
    """Keep at most `most` points, the same ones in every call, and add a note."""
    n = len(positions.rows)
    if n <= most:
        return positions
    # At random, not every tenth point, which could always be the same season of a time series.
    kept = np.sort(np.random.default_rng(0).choice(n, most, replace=False))
    return replace(
        positions,
        coordinates=positions.coordinates[kept],
        rows=positions.rows[kept],
        notes=(*positions.notes, f"{most:,} of {n:,} {what} drawn"),
    )


def set_title(ax: Any, words: str) -> None:
    """Put a title above the axes, at a fixed height: to look for a free one takes long."""
    ax.set_title(words, fontsize="medium", y=1.0, pad=6)


def log_ticks(axis: Any) -> None:
    """Write powers of ten as plain text, and no minor ticks: typeset formulas take long."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: power_of_ten(value)))


def dress(ax: Any, positions: Positions, title: str) -> None:
    """Label the axes, give all directions the same scale, and set the title."""
    set_title(ax, "\n".join((title, *positions.notes)))
    ax.set_xlabel(positions.labels[0])
    if positions.n_dims == 1:
        return
    ax.set_ylabel(positions.labels[1])
    if positions.n_dims == 2:
        # Distances are what the method sees, so they must look alike in both directions.
        ax.set_aspect("equal", adjustable="datalim")
        return
    ax.set_zlabel(positions.labels[2])
    ax.set_aspect("equal")
    # Few ticks, in small type: in perspective, more would run into each other.
    ax.locator_params(nbins=4)
    ax.tick_params(labelsize="small", pad=0)


def scatter(ax: Any, positions: Positions, **style: Any) -> Any:
    """Draw the points, as a bitmap even in vector files, which would become huge otherwise."""
    settings = {"s": positions.marker_size, "linewidths": 0, "rasterized": True, **style}
    if positions.n_dims == 3:
        settings["depthshade"] = False
        # Where colours stand for values, the far side is made faint, so that it does not show
        # through.
        if "c" in style:
            settings["alpha"] = nearness(ax, positions.coordinates)
    return ax.scatter(*positions.coordinates.T, **settings)


def nearness(ax: Any, coordinates: FloatArray) -> FloatArray:
    """Return 1 for points on the near side of a cloud in space, FAR_SIDE on the far side."""
    up, around = np.radians(ax.elev), np.radians(ax.azim)
    towards = np.array([np.cos(up) * np.cos(around), np.cos(up) * np.sin(around), np.sin(up)])
    depth = coordinates @ towards
    low, extent = depth.min(), max(float(np.ptp(depth)), np.finfo(float).tiny)
    return np.asarray(np.clip(4 * (depth - low) / extent - 1.4, FAR_SIDE, 1.0))
