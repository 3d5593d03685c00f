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
TRUTH = -np.repeat([0.0, 2.0, 6.0, 12.0], [1, 3, 5, 7])


def load_sphere() -> FloatArray:
    """Return the bundled points: a Gaussian with axes 1 : 0.5 : 0.3 projected onto the sphere."""
    with as_file(files("vbdm") / "data" / "sphere.npy") as path:
        return np.load(path).astype(np.float64)  # type: ignore[no-any-return]


def run(folder: Path) -> Spectrum:
    """Estimate, print a table, and write `eigenvalues.csv` and `eigenvalues.png`."""
    points = load_sphere()
    operator = estimate_operator(points, "laplacian")
    spectrum = operator.spectrum(len(TRUTH))
    print(f"{len(points)} points, dimension {operator.dim:.2f}, ε = {operator.epsilon:.3g}, "
          f"{operator.n_neighbors} neighbours")  # fmt: skip
    table = np.c_[spectrum.eigenvalues, TRUTH]
    print("eigenvalue     truth")
    for value, truth in table:
        print(f"{value:10.3f} {truth:9.0f}")
    folder.mkdir(parents=True, exist_ok=True)
    np.savetxt(folder / "eigenvalues.csv", table, delimiter=",", header="eigenvalue,truth",
               comments="")  # fmt: skip
    draw(points, spectrum, folder / "eigenvalues.png")
    print(f"Results: {folder / 'eigenvalues.csv'} and {folder / 'eigenvalues.png'}")
    return spectrum


def draw(points: FloatArray, spectrum: Spectrum, path: Path) -> None:
    """Draw the eigenvalues beside the truth, and three eigenfunctions on the points."""
    try:
        import matplotlib as mpl
    except ImportError:
        print("No picture: matplotlib is missing (pip install 'vbdm[plot]').")
        return
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(12, 3.4), layout="constrained")
    axes = figure.add_subplot(1, 4, 1)
    index = np.arange(len(TRUTH))
    axes.plot(index, TRUTH, "_", color="0.4", ms=11, mew=2, label="truth, $-\\ell(\\ell+1)$")
    axes.plot(index, spectrum.eigenvalues, "o", color="C0", ms=4, label="estimate")
    axes.set(xlabel="index", ylabel="eigenvalue", title="Laplacian of the sphere")
    axes.legend(frameon=False)
    for position, column in enumerate((1, 4, 9)):
        cloud = figure.add_subplot(1, 4, position + 2, projection="3d")
        draw_function(cloud, points, spectrum.eigenfunctions[:, column])
        cloud.set_title(f"eigenfunction {column}, λ = {spectrum.eigenvalues[column]:.2f}")
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_function(axes: Any, points: FloatArray, values: FloatArray) -> None:
    """Colour the near side of the cloud by a function."""
    axes.view_init(elev=25, azim=-60)
    limit = float(np.quantile(np.abs(values), 0.99))
    axes.scatter(*points.T, c=values, cmap="RdBu_r", s=4, vmin=-limit, vmax=limit)
    axes.set_box_aspect((1, 1, 1))
    axes.set_axis_off()


if __name__ == "__main__":
    run(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("results"))
