"""
Data in several pieces
======================

If a cloud falls into pieces that no kernel bridges, each piece is a world of its own: one
eigenvalue 0 for each, and all further modes live on a single piece. Many programs fail here, or
return an arbitrary mixture. ``vbdm`` finds the pieces, solves them one by one, and says so.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# Three clusters
# --------------
# Standard normals around x = -20, 0 and 20.

sample = vbdm.datasets.clusters(3000, centers=3, separation=20, random_state=0)
op = vbdm.estimate_operator(sample.points, "generator")
with warnings.catch_warnings(record=True) as doubts:
    warnings.simplefilter("always")
    spectrum = op.spectrum(9)
print(f"{doubts[0].category.__name__}: {doubts[0].message}")
print("eigenvalues", spectrum.eigenvalues.round(2))
print("truth      ", sample.truth(9).eigenvalues)

# %%
# Who belongs where
# -----------------
# ``spectrum.components`` labels the points, the largest piece first. Here the labels are the
# clusters that the points were drawn from.

labels = sample.parameters[:, -1]
for piece in range(spectrum.pieces.n_pieces):
    own = labels[spectrum.components == piece]
    print(f"piece {piece}: {own.size} points, all from one cluster: {np.ptp(own) == 0}")

# %%
# What to do about it
# -------------------
# Nothing, if pieces are what you were looking for. ``components="largest"`` keeps to the largest
# piece, ``"error"`` refuses. To connect pieces that belong together, you need points between them,
# or a wider kernel by a larger ``epsilon=``.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", vbdm.errors.DisconnectedWarning)
    largest = op.spectrum(4, components="largest")
print("largest piece alone", largest.eigenvalues.round(2))

# %%
# A bridge
# --------
# Twelve points between two of the clusters are enough to make one piece of them. The new slow
# eigenvalue hangs on these few points, and a warning says that, too.

bridge = np.c_[np.linspace(-17, -3, 12), np.zeros(12)]
with warnings.catch_warnings(record=True) as doubts:
    warnings.simplefilter("always")
    bridged = vbdm.estimate_operator(np.r_[sample.points, bridge], "generator").spectrum(9)
for doubt in doubts:
    print(f"{doubt.category.__name__}: {doubt.message}")
print("eigenvalues", bridged.eigenvalues.round(4))

# %%

figure, axes = plt.subplots(3, 1, figsize=(9.5, 7), sharex=True, layout="constrained")
pieces = (spectrum, bridged)
for ax, found, title in zip(axes, pieces, ("Three pieces", "With a bridge"), strict=False):
    where = found.operator.graph.points
    ax.scatter(*where.T, c=found.components, s=3, cmap="Set1", vmin=0, vmax=8)
    ax.set(title=title, aspect="equal", ylabel="y")
slow = 2  # the modes before it are 0: one for each piece
drawn = axes[2].scatter(*where.T, c=bridged.eigenfunctions[:, slow], s=3, cmap="coolwarm")
axes[2].set(title=f"The mode at {bridged.eigenvalues[slow]:.3g}: along the bridge", aspect="equal")
axes[2].set(xlabel="x", ylabel="y")

# %%
# Clusters that nearly touch
# --------------------------
# The kernel is wide where data is sparse. With the centres 10 apart, some of the outermost points
# of neighbouring clusters are within reach of each other: there is one piece, and the slow modes
# between the clusters hang on these few pairs.

near = vbdm.datasets.clusters(3000, centers=3, separation=10, random_state=0)
with warnings.catch_warnings(record=True) as doubts:
    warnings.simplefilter("always")
    touching = vbdm.estimate_operator(near.points, "generator").spectrum(9)
print(f"{doubts[0].category.__name__}: {doubts[0].message}")
print("pieces", touching.pieces.n_pieces, "eigenvalues", touching.eigenvalues.round(4))

# %%
# What to take away
# -----------------
# * Several zeros mean several pieces. Their eigenfunctions are the indicators of the pieces.
# * Pieces are named, and counted; a handful of stray points is no piece, but ``unresolved``.
# * A mode across a thin bridge is only as good as the bridge: see
#   ``spectrum.errors.weak_links`` and its error bar.
