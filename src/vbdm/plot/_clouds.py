"""Pictures on the points: eigenfunctions, density, embedding, unresolved points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import FloatArray, to_host
from ..base.checks import a_count, a_number, accepts
from ..base.points import check_per_point
from ..base.wording import percent
from ..errors import InputError
from ..operator.operator import Operator
from ..spectrum.spectrum import Spectrum
from ..spectrum.vectors import functions_at
from ._canvas import (
    BLUE,
    CYCLE,
    DIVERGING,
    FAINT,
    SEQUENTIAL,
    VERMILION,
    Positions,
    check_axes,
    dress,
    import_pyplot,
    log_ticks,
    new_axes,
    operator_of,
    place,
    scatter,
    spectrum_of,
    thinned,
)

#: If the 99 % quantile of the density is more than this many times the 1 % quantile, its scale is
#: logarithmic.
WIDE_RANGE = 30
#: The colour scale ends at this quantile; points beyond it take the colour at the end.
COLOURED = 0.99


def eigenfunctions(
    result: Any, which: int | Sequence[int] = 1, ax: Any = None, points: ArrayLike | None = None
) -> Any:
    """Draw eigenfunctions on the points.

    Parameters
    ----------
    result : Spectrum or DiffusionMap
        The result that has them.
    which : int or sequence of int
        Numbers of the eigenfunctions; 0 is the constant.
    ax : Axes or sequence of Axes, optional
        Where to draw; one for each function, except on the line, where all share one. Points in
        space on flat axes are shown along two principal axes.
    points : (N, n) array, optional
        Other places at which to draw the points.

    Returns
    -------
    Axes, or an array of them if several were needed
        On the line: values against the coordinate, with a band of two standard deviations where
        the eigenvalue is apart from its neighbours. Otherwise points coloured by value, grey where
        it is 0; the furthest 1 % share the colours at the ends. In space the far side is faint.
    """
    found = spectrum_of(result)
    last = len(found.eigenvalues) - 1
    wanted = [a_count(0, last)(i, "which") for i in listed(which)]
    given = listed(ax)
    first_ax = None if ax is None else check_axes(given[0] if given else None, "ax")
    positions = place(found.operator, points, first_ax)
    if positions.n_dims == 1:
        return draw_on_line(new_axes(first_ax), found, wanted, positions)
    panels = panels_for(ax, len(wanted), positions.n_dims)
    for panel, number in zip(panels, wanted, strict=True):
        values = values_at(found, number, positions.rows)
        size = np.abs(values)
        limit = float(np.quantile(size, COLOURED)) or float(size.max()) or 1.0
        drawn = scatter(panel, positions, c=values, cmap=DIVERGING, vmin=-limit, vmax=limit)
        dress(panel, positions, name_of(found, number).capitalize())
        extend = "both" if size.max() > limit else "neither"
        color_bar(panel, drawn, "value (mean square 1)", extend)
    return panels[0] if len(wanted) == 1 else np.array(panels, dtype=object)


def listed(one_or_more: Any) -> list[Any]:
    """Return one thing as a list, and several, such as an array of axes, in a row."""
    if isinstance(one_or_more, np.ndarray):
        return list(one_or_more.ravel().tolist())
    several = isinstance(one_or_more, Sequence) and not isinstance(one_or_more, (str, bytes))
    return list(one_or_more) if several else [one_or_more]


def panels_for(ax: Any, count: int, n_dims: int) -> list[Any]:
    """Return `count` axes: those given, or a new row of them."""
    if ax is not None:
        given = [check_axes(panel, "ax") for panel in listed(ax)]
        if len(given) != count:
            raise InputError(
                f"There must be one axes for each eigenfunction; received {len(given)} axes for "
                f"{count} eigenfunction(s). Pass a sequence of axes, or draw one function at a "
                "time."
            )
        return given
    if count == 1:
        return [new_axes(None, n_dims)]
    figure = import_pyplot().figure(figsize=(4.6 * count, 4.2), layout="constrained")
    projection = "3d" if n_dims == 3 else None
    return [figure.add_subplot(1, count, i + 1, projection=projection) for i in range(count)]


def name_of(spectrum: Spectrum, number: int) -> str:
    """Return the label of an eigenfunction: its number, its eigenvalue and, if known, its error."""
    value = np.real(spectrum.eigenvalues[number])
    known = spectrum.operator.kernel.is_symmetric and spectrum.errors.functions[number] > 0
    error = f", error {percent(spectrum.errors.functions[number])}" if known else ""
    return f"eigenfunction {number}, λ = {value:.3g}{error}"


def values_at(spectrum: Spectrum, number: int, rows: NDArray[np.intp]) -> FloatArray:
    """Return an eigenfunction at some points; where it lives in blocks, only these are fetched."""
    return np.real(functions_at(spectrum, rows)[:, number])


def draw_on_line(ax: Any, spectrum: Spectrum, wanted: list[int], positions: Positions) -> Any:
    """Draw values against the only coordinate."""
    x = positions.coordinates[:, 0]
    for color, number in zip(np.resize(CYCLE, len(wanted)), wanted, strict=True):
        values = values_at(spectrum, number, positions.rows)
        # Two standard deviations to either side, where they are known.
        if spectrum.operator.kernel.is_symmetric:
            order = np.argsort(x, kind="stable")
            wide = 2 * spectrum.errors.pointwise(number)[positions.rows]
            ends = (values - wide)[order], (values + wide)[order]
            ax.fill_between(x[order], *ends, color=color, alpha=0.2, lw=0)
        ax.plot(x, values, ".", ms=3, color=color, label=name_of(spectrum, number))
    dress(ax, positions, "Eigenfunctions" if len(wanted) > 1 else "Eigenfunction")
    ax.set_ylabel("value (mean square 1)")
    ax.legend(frameon=False, fontsize="small", markerscale=3)
    return ax


def color_bar(ax: Any, drawn: Any, label: str, extend: str = "neither") -> None:
    """Put a colour bar beside the axes: in space at the left, as the upright axis is right."""
    flat = getattr(ax, "name", "") != "3d"
    place = {"pad": 0.02} if flat else {"shrink": 0.7, "pad": 0.03, "location": "left"}
    bar = ax.figure.colorbar(drawn, ax=ax, extend=extend, **place)
    bar.set_label(label)
    if bar.ax.get_yscale() == "log":
        log_ticks(bar.ax.yaxis)


@accepts(ax=check_axes)
def density(result: Any, ax: Any = None, points: ArrayLike | None = None) -> Any:
    """Draw the estimated sampling density on the points.

    The scale is logarithmic where the density varies much. Points that no other point's kernel
    reaches have no density and are grey.
    """
    operator = operator_of(result)
    positions = place(operator, points, ax)
    ax = new_axes(ax, positions.n_dims)
    values = np.asarray(to_host(operator.density))[positions.rows]
    known = values > 0
    low, high = np.quantile(values[known], [1 - COLOURED, COLOURED])
    wide = high > WIDE_RANGE * low
    label = f"density {per_volume(operator)}"
    if positions.n_dims == 1:
        ax.plot(positions.coordinates[known, 0], values[known], ".", ms=3, color=BLUE)
        ax.set_yscale("log" if wide else "linear")
        ax.set_ylabel(label)
        dress(ax, positions, "Sampling density")
        return ax
    from matplotlib.colors import LogNorm, Normalize

    norm = LogNorm(low, high) if wide else Normalize(low, high)
    if not known.all():
        scatter(ax, chosen(positions, ~known), color=FAINT)
    drawn = scatter(ax, chosen(positions, known), c=values[known], cmap=SEQUENTIAL, norm=norm)
    dress(ax, positions, "Sampling density")
    color_bar(ax, drawn, label, "both")
    return ax


def per_volume(operator: Operator) -> str:
    """Return the unit of the density in words, such as "per unit of area"."""
    nearest = round(operator.dim)
    if nearest in (1, 2, 3) and abs(operator.dim - nearest) < 0.15:
        return f"per unit of {('length', 'area', 'volume')[nearest - 1]}"
    return f"per unit of {operator.dim:.2g}-dimensional volume"


def chosen(positions: Positions, mask: Any) -> Positions:
    """Return the positions of the points where the mask is true."""
    return Positions(
        positions.coordinates[mask], positions.labels, positions.rows[mask], positions.notes
    )


@accepts(ax=check_axes, time=a_number(0, 1e6))
def embedding(
    result: Any,
    which: Sequence[int] = (1, 2),
    ax: Any = None,
    *,
    color: ArrayLike | None = None,
    time: float | None = None,
) -> Any:
    """Draw the points in coordinates of eigenfunctions, the diffusion map.

    Parameters
    ----------
    result : Spectrum or DiffusionMap
        The result that has the eigenfunctions.
    which : two or three ints
        Numbers of the eigenfunctions; 0 is the constant.
    ax : Axes, optional
        Where to draw; three-dimensional axes for three numbers.
    color : (N,) array, optional
        A number per point (the name of a pandas Series labels the bar). By default, points are
        coloured by their connected piece, if there are several.
    time : float, optional
        Diffusion time: each coordinate is multiplied by exp(λ·time), as in diffusion maps.
    """
    found = spectrum_of(result)
    last = len(found.eigenvalues) - 1
    columns = listed(which)
    known = [isinstance(i, int | np.integer) and 0 <= i <= last for i in columns]
    if len(columns) not in (2, 3) or not all(known):
        raise InputError(
            f"`which` must name two or three eigenfunctions; received {which!r} of eigenfunctions "
            f"0 to {last}. Compute more with op.spectrum(n), or choose others."
        )
    scale = np.exp(np.real(found.eigenvalues[columns]) * time) if time else 1.0
    labels = [f"eigenfunction {i}" + (f" × exp(λ·{time:g})" if time else "") for i in columns]
    rows = np.arange(found.operator.n_points)
    drawn = thinned(Positions(np.empty((len(rows), 0)), labels, rows))
    coordinates = np.real(functions_at(found, drawn.rows)[:, columns]) * scale
    positions = replace(drawn, coordinates=coordinates)
    ax = new_axes(ax, positions.n_dims)
    if color is not None:
        values = check_per_point(color, "color", found.operator.n_points)[positions.rows]
        painted = scatter(ax, positions, c=values, cmap=SEQUENTIAL)
        color_bar(ax, painted, str(getattr(color, "name", "")))
    elif found.pieces.n_pieces > 1:
        draw_pieces(ax, found, positions)
    else:
        scatter(ax, positions, color=BLUE, alpha=0.5)
    dress(ax, positions, "Embedding")
    if positions.n_dims == 2:
        # Eigenfunctions have no common unit of length, so the picture may fill its frame.
        ax.set_aspect("auto")
    return ax


def draw_pieces(ax: Any, spectrum: Spectrum, positions: Positions) -> None:
    """Draw the largest pieces in colours of their own, the others grey."""
    pieces = spectrum.components[positions.rows]
    sizes = np.bincount(spectrum.components)
    shown = min(len(sizes), len(CYCLE))
    for piece, color in zip(range(shown), CYCLE, strict=False):
        own = chosen(positions, pieces == piece)
        # In an embedding each piece may be a single place, the same for several pieces: larger
        # pieces are wider discs beneath the others.
        size = 2 * (shown - piece) * positions.marker_size
        scatter(ax, own, s=size, color=color, label=f"piece {piece}: {sizes[piece]:,} points")
    if len(sizes) > shown:
        rest = chosen(positions, pieces >= shown)
        scatter(ax, rest, color=FAINT, label=f"{len(sizes) - shown} smaller pieces")
    ax.legend(frameon=False, fontsize="small")


@accepts(ax=check_axes)
def unresolved(result: Any, ax: Any = None, points: ArrayLike | None = None) -> Any:
    """Draw which points are unresolved, and which are the weak links that modes hang on.

    Unresolved points (`spectrum.unresolved`) are crosses, points of weak links
    (`spectrum.errors.weak_links`) are rings; all others are grey. Up to 20,000 crosses and as many
    rings are drawn, however many other points are left out. On the line, a point's height is its
    density.
    """
    found = spectrum_of(result)
    everybody = place(found.operator, points, ax, most=found.operator.n_points)
    ax = new_axes(ax, everybody.n_dims)
    marked = found.unresolved | found.errors.weak_links
    rest = thinned(chosen(everybody, ~marked), what="other points")
    on_line = everybody.n_dims == 1
    if on_line:
        everybody, rest = lifted(everybody, found.operator), lifted(rest, found.operator)
    scatter(ax, rest, color=FAINT)
    crosses, rings = chosen(everybody, found.unresolved), chosen(everybody, found.errors.weak_links)
    scatter(ax, thinned(crosses), marker="x", color=VERMILION, s=28, linewidths=1.2)
    scatter(ax, thinned(rings), marker="o", facecolors="none", edgecolors=BLUE, s=28,
            linewidths=1.2)  # fmt: skip
    # The counts stand in the title, where they cover no point.
    counts = f"× unresolved: {len(crosses.rows):,}, ○ weak link: {len(rings.rows):,}"
    dress(ax, rest, f"{counts}, of {len(marked):,} points")
    if on_line:
        ax.set_aspect("auto")
        ax.set_yscale("log")
    return ax


def lifted(positions: Positions, operator: Operator) -> Positions:
    """Return points of the line with their density as a second coordinate."""
    density = np.asarray(to_host(operator.density))[positions.rows]
    coordinates = np.c_[positions.coordinates, density]
    labels = [*positions.labels, f"density {per_volume(operator)}"]
    return Positions(coordinates, labels, positions.rows, positions.notes)
