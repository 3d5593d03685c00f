"""The main job on bundled data: the Laplacian of a sphere from 3,000 unevenly scattered points.

Run ``python -m vbdm.demo [folder]``; it writes a table and a picture into the folder.
"""

from __future__ import annotations

import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np

from . import estimate_operator
from .arrays import FloatArray
from .spectrum import Spectrum

#: Eigenvalues of the Laplacian on the unit sphere: -l(l+1), each 2l+1 times.
TRUTH = 0.0 - np.repeat([0.0, 2.0, 6.0, 12.0], [1, 3, 5, 7])


def load_sphere() -> FloatArray:
    """Return the bundled points: a Gaussian with axes 1 : 0.5 : 0.3 projected onto the sphere."""
    with as_file(files("vbdm") / "data" / "sphere.npy") as path:
        return np.load(path).astype(np.float64)  # type: ignore[no-any-return]


def run(folder: Path) -> Spectrum:
    """Estimate, print a table, and write `eigenvalues.csv` and `eigenvalues.png`."""
    points = load_sphere()
    operator = estimate_operator(points, "laplacian")
    spectrum = operator.spectrum(len(TRUTH))
    print(operator)
    table = np.c_[spectrum.eigenvalues, spectrum.standard_errors, TRUTH]
    print("eigenvalue  +- error     truth")
    for value, error, truth in table:
        print(f"{value:10.3f} {error:9.3f} {truth:9.0f}")
    folder.mkdir(parents=True, exist_ok=True)
    header = "eigenvalue,standard_error,truth"
    np.savetxt(folder / "eigenvalues.csv", table, delimiter=",", header=header, comments="")
    drawn = draw(points, spectrum, folder / "eigenvalues.png")
    picture = f" and {folder / 'eigenvalues.png'}" if drawn else ""
    print(f"Results: {folder / 'eigenvalues.csv'}{picture}")
    return spectrum


def draw(points: FloatArray, spectrum: Spectrum, path: Path) -> bool:
    """Draw the eigenvalues beside the truth, and three eigenfunctions; tell if it was possible."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("No picture: matplotlib is missing (pip install 'vbdm[plot]').")
        return False
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 3.2), layout="constrained")
    axes = figure.add_subplot(1, 4, 1)
    index = np.arange(len(TRUTH))
    axes.plot(index, TRUTH, "_", color="0.4", ms=11, mew=2, label="truth, $-\\ell(\\ell+1)$")
    errors = 2 * spectrum.standard_errors
    axes.errorbar(index, spectrum.eigenvalues, errors, fmt="o", color="C0", ms=4, capsize=2,
                  label="estimate ± 2 standard errors")  # fmt: skip
    axes.set(xlabel="index", ylabel="eigenvalue", title="Laplacian of the sphere")
    axes.legend(frameon=False, fontsize="small")
    for position, column in enumerate((1, 4, 9)):
        cloud = figure.add_subplot(1, 4, position + 2, projection="3d")
        draw_function(cloud, points, spectrum.eigenfunctions[:, column])
        cloud.set_title(f"eigenfunction {column}, λ = {spectrum.eigenvalues[column]:.2f}")
    figure.savefig(path, dpi=130)
    plt.close(figure)
    return True


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


if __name__ == "__main__":
    run(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("results"))
