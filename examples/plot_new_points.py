"""
New points
==========

The operator is learned once; more points come later. ``vbdm`` carries eigenfunctions, the density
and any function of yours to them, and says where it knows nothing: values outside the data are NaN,
never invented.
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# Learn once
# ----------
# Points on a circle, seven times denser on the right than on the left.

sample = vbdm.datasets.circle(1000, density="exponential", sampling="random", random_state=0)
op = vbdm.estimate_operator(sample.points, "laplacian")
spectrum = op.spectrum(3)
print("eigenvalues", spectrum.eigenvalues.round(2), "truth", sample.truth(3).eigenvalues)

# %%
# Eigenfunctions at new points
# ----------------------------
# Fresh draws from the same density, and the truth there. The pair of eigenfunctions is turned onto
# cosine and sine by the map that fits the *training* points.

test = vbdm.datasets.circle(500, density="exponential", sampling="random", random_state=1)
extension = spectrum.extend(test.points)
truth = sample.truth(3).eigenfunctions
turn = np.linalg.lstsq(spectrum.eigenfunctions[:, 1:], truth(sample.parameters)[:, 1:])[0]
miss = extension.values[:, 1:] @ turn - truth(test.parameters)[:, 1:]
extension_error = np.sqrt(np.mean(miss**2))
print(f"{extension.outside.sum()} outside, root mean squared error {extension_error:.4f}")

# %%
# Training points get their training values, as far as the solver went:

again = spectrum.extend(sample.points).values
training_difference = np.abs(again - spectrum.eigenfunctions).max()
print(f"largest difference on training points: {training_difference:.0e}")

# %%
# Your own functions, and the density
# -----------------------------------
# Any numbers known on the training points will do: measurements, labels, energies.

known = np.exp(sample.points[:, 1])
values = op.extend(known, test.points)
density = op.density_at(test.points)
print(f"exp(y): largest error {np.abs(values - np.exp(test.points[:, 1])).max():.4f}")
print(f"density: median of estimate over truth {np.median(density / test.density):.2f}")

# %%
# Save the model, load it elsewhere
# ---------------------------------
# One file, without pickle. The loaded spectrum gives the same numbers.

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "model"
    spectrum.save(path)
    loaded = vbdm.load(path)
same = np.array_equal(loaded.extend(test.points).values, extension.values)
print("identical after loading:", same)

# %%
# Where does knowledge end?
# -------------------------
# Every pixel is a new point. Grey: no training point's kernel reaches it, so the value is NaN. The
# kernel is wider where points are sparse, and so is the known band.

n_pixels = 300
side = np.linspace(-1.4, 1.4, n_pixels)
pixels = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
with warnings.catch_warnings(record=True) as doubts:
    warnings.simplefilter("always")
    image = spectrum.extend(pixels).values[:, 1:] @ turn
print(doubts[0].category.__name__ + ":", doubts[0].message)

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained")
for ax, column, title in zip(axes, image.T, ("towards cosine", "towards sine"), strict=True):
    drawn = ax.pcolormesh(side, side, column.reshape(n_pixels, n_pixels), cmap="coolwarm",
                          vmin=-1.5, vmax=1.5, rasterized=True)  # fmt: skip
    ax.plot(*sample.points.T, ".k", ms=1.5)
    ax.set(title=f"Extended eigenfunction {title}", aspect="equal", xlabel="x", ylabel="y")
    ax.set_facecolor("0.9")
figure.colorbar(drawn, ax=axes)

# %%
# What to take away
# -----------------
# * ``spectrum.extend(X_new)`` for eigenfunctions, ``op.extend(f, X_new)`` for any function,
#   ``op.density_at(X_new)`` for the density.
# * Outside is NaN and flagged. ``outside="nearest"`` gives the value of the nearest training point
#   instead, if something after it cannot stand NaN.
# * "Outside" means out of reach of every kernel. In a thin tail kernels are wide and reach far:
#   values there are smooth guesses, so look at the density as well.
# * In scikit-learn terms all this is ``DiffusionMap.transform``.
