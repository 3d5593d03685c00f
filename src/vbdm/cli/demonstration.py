"""The main job on bundled data: the Laplacian of a sphere from 3,000 unevenly scattered points.

``vbdm demo`` runs it and writes a results folder, with the truth beside the estimate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from .. import estimate_operator
from ..base.checks import FloatArray
from ..io.results import (
    Origin,
    Results,
    can_draw,
    check_folder,
    is_results_folder,
    read_summary,
    write_results,
)
from ..report import sensitivity
from ..spectrum.spectrum import Spectrum
from ..trust.groups import groups_of

#: Eigenvalues of the Laplacian on the unit sphere: -l(l+1), each 2l+1 times.
TRUTH = 0.0 - np.repeat([0.0, 2.0, 6.0, 12.0], [1, 3, 5, 7])
TITLE = "Demonstration: a sphere, unevenly sampled"
TABLE, PICTURE = "eigenvalues.csv", "eigenvalues.png"

Room = Callable[..., AbstractContextManager[None]]


def load_sphere() -> FloatArray:
    """Return the bundled points: a Gaussian with axes 1 : 0.5 : 0.3 projected onto the sphere."""
    with as_file(files("vbdm.datasets") / "data" / "sphere.npy") as path:
        return np.load(path).astype(np.float64)  # type: ignore[no-any-return]


def run(
    folder: Path, room: Room | None = None, seconds: Mapping[str, float] | None = None
) -> Results:
    """Estimate, and write a results folder with `eigenvalues.csv` and `eigenvalues.png` in it.

    Earlier results of the demonstration are replaced, those of anything else are not.
    """
    enter = room or (lambda *names: nullcontext())
    force = is_demonstration(folder)
    check_folder(folder, force)
    points = load_sphere()
    with enter("neighbours", "kernel"):
        operator = estimate_operator(points, "laplacian")
    with enter("eigenpairs"):
        spectrum = operator.spectrum(len(TRUTH))
    with enter("sensitivity"):
        moved = sensitivity(spectrum)
    origin = Origin(
        source={"name": "sphere.npy"}, names=("x", "y", "z"), n_read=len(points), n_dropped=0,
        settings={"demonstration": True},
    )  # fmt: skip
    with enter("figures", "page", "saving"):
        return write_results(
            folder,
            spectrum,
            origin,
            force=force,
            sensitivity=moved,
            title=TITLE,
            seconds=seconds,
            extras=partial(compare, points, spectrum),
        )


def is_demonstration(folder: Path) -> bool:
    """Tell if a folder holds earlier results of the demonstration."""
    if not is_results_folder(folder):
        return False
    return bool((read_summary(folder).get("settings") or {}).get("demonstration"))


def describe(results: Results) -> Iterator[str]:
    """Yield the table of estimate and truth, and where everything is."""
    spectrum, folder = results.spectrum, results.folder
    yield repr(spectrum.operator)
    yield "eigenvalues       mean   ± error     truth"
    for group in groups_of(spectrum):
        first, last = group.members[0], group.members[-1]
        which = f"{first} to {last}" if group.is_several else f"{first}"
        truth = TRUTH[list(group.members)].mean()
        yield f"{which:11s} {group.mean:10.3f} {group.standard_error:9.3f} {truth:9.3g}"
    yield "Errors are sampling errors of the means; what ε adds is on the page, under Sensitivity."
    if not can_draw():
        yield "No figures: matplotlib is missing (pip install 'vbdm[plot]')."
    yield f"Results: {folder}; open {folder / 'report.html'}"


def compare(points: FloatArray, spectrum: Spectrum, folder: Path) -> None:
    """Write estimate and truth into a folder, as a table and as a picture."""
    groups = groups_of(spectrum)
    means = np.repeat([group.mean for group in groups], [len(group.members) for group in groups])
    table = np.c_[spectrum.eigenvalues, means, spectrum.standard_errors, TRUTH]
    header = "eigenvalue,group_mean,standard_error_of_mean,truth"
    np.savetxt(folder / TABLE, table, delimiter=",", header=header, comments="")
    if can_draw():
        draw(points, spectrum, folder / PICTURE)


def draw(points: FloatArray, spectrum: Spectrum, path: Path) -> None:
    """Draw the eigenvalues beside the truth, and three eigenfunctions."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 3.2), layout="constrained")
    axes = figure.add_subplot(1, 4, 1)
    draw_eigenvalues(axes, spectrum)
    for position, column in enumerate((1, 4, 9)):
        cloud = figure.add_subplot(1, 4, position + 2, projection="3d")
        draw_function(cloud, points, spectrum.eigenfunctions[:, column])
        group = next(group for group in groups_of(spectrum) if column in group.members)
        cloud.set_title(f"eigenfunction {column}, λ ≈ {group.mean:.2f}")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_eigenvalues(axes: Any, spectrum: Spectrum) -> None:
    """Draw estimate and truth; the error of a group is that of its mean, so it is a band."""
    index = np.arange(len(TRUTH))
    axes.plot(index, TRUTH, "_", color="0.4", ms=11, mew=2, label="truth, $-\\ell(\\ell+1)$")
    axes.plot(index, spectrum.eigenvalues, "o", color="C0", ms=4, label="estimate")
    label = "group mean ± 2 standard errors"
    for group in groups_of(spectrum):
        reach, ends = 2 * group.standard_error, (group.members[0] - 0.4, group.members[-1] + 0.4)
        low, high = group.mean - reach, group.mean + reach
        axes.fill_between(ends, low, high, color="C0", alpha=0.25, lw=0, label=label)
        label = ""
    axes.set(xlabel="index", ylabel="eigenvalue", title="Laplacian of the sphere")
    # Room below for the legend.
    axes.set_ylim(-18.5, 1)
    axes.legend(frameon=False, fontsize="small", loc="lower left")


def draw_function(axes: Any, points: FloatArray, values: FloatArray) -> None:
    """Colour the near side of the cloud by a function."""
    elevation, azimuth = np.radians(25), np.radians(-60)
    axes.view_init(elev=25, azim=-60)
    towards = np.array([
        np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)
    ])  # fmt: skip
    near = points @ towards > 0
    limit = float(np.quantile(np.abs(values), 0.99))
    axes.scatter(*points[near].T, c=values[near], cmap="RdBu_r", s=9, lw=0, vmin=-limit, vmax=limit)
    axes.set_box_aspect((1, 1, 1), zoom=1.5)
    axes.set_axis_off()
