"""
Angles and periodic cells
=========================

Torsion angles, phases, longitudes and simulation cells repeat: 359° is next to 1°. Say so with
``period=``, and the data live on a circle or a torus. Forget it, and every angle gets a wall at its
ends. Both answers are known exactly, so the difference can be seen.
"""

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# Two angles
# ----------
# A molecule with two torsion angles, in degrees; the first prefers 0°, the second does not care.

sample = vbdm.datasets.torus(4000, density="exponential", random_state=0)
degrees = np.degrees(sample.parameters)

# %%
# With and without the period
# ---------------------------
# Eigenvalues have the unit 1/length², here 1/degree²: to compare with the textbook, multiply by
# (180/π)². On the torus the truth of the Laplacian is -(k² + l²); on a square with walls it is
# -(k² + l²)/4, because a wave may end with half a turn.

unit = (180 / np.pi) ** 2
periodic = vbdm.estimate_operator(degrees, "laplacian", period=360).spectrum(9)
walls = vbdm.estimate_operator(degrees, "laplacian").spectrum(9)
walls_truth = 0.0 - np.sort([(k**2 + m**2) / 4 for k in range(4) for m in range(4)])[:9]
print("period=360:", (unit * periodic.eigenvalues).round(2))
print("truth     :", sample.truth(9).eigenvalues)
print("no period :", (unit * walls.eigenvalues).round(2))
print("walls     :", walls_truth)

# %%
# The dynamics of the angles
# --------------------------
# ``"generator"`` keeps the preference of the first angle. Columns that do not repeat get None:
# ``period=[360, None]``.

dynamics = vbdm.estimate_operator(degrees, "generator", period=360).spectrum(5)
print("generator :", (unit * dynamics.eigenvalues).round(2))
print("± error   :", (unit * dynamics.total_errors).round(2))
print("truth     :", sample.truth(5, "generator").eigenvalues.round(2))

# %%

figure = plt.figure(figsize=(9.5, 7.6), layout="constrained")
axes = list(figure.subplot_mosaic("AB;CC").values())
cases = ((periodic, "period=360: no seam"), (walls, "no period: walls at 0° and 360°"))
for ax, (found, title) in zip(axes, cases, strict=False):
    ax.scatter(*degrees.T, c=found.eigenfunctions[:, 1], s=5, cmap="coolwarm", vmin=-2, vmax=2)
    ax.set(xlabel="first angle / degree", ylabel="second angle / degree", aspect="equal")
    ax.set_title(f"{title}\neigenfunction 1", fontsize="medium")
index = np.arange(9)
axes[2].plot(index, sample.truth(9).eigenvalues, "_", color="0.5", ms=16, mew=2, label="torus")
axes[2].plot(index, walls_truth, "_", color="0.8", ms=16, mew=2, label="square with walls")
axes[2].plot(index, unit * periodic.eigenvalues, "o", ms=5, label="period=360")
axes[2].plot(index, unit * walls.eigenvalues, "s", ms=5, label="no period")
axes[2].set(xlabel="number of the eigenvalue", ylabel="eigenvalue × (180/π)²")
axes[2].legend(fontsize="small")

# %%
# What to take away
# -----------------
# * ``period=`` is one number for all columns, or one for each; it also takes the edges of a
#   simulation cell. New points may lie in any copy of the cell.
# * Without it nothing fails: you get the right answer to another question.
# * Passing sines and cosines of the angles works as well, as in
#   :ref:`sphx_glr_generated_gallery_plot_torus.py`, with twice as many columns.
