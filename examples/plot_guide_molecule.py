"""
Guide: slow states of a molecule
================================

You have snapshots of a molecule that hops between two shapes, and you want the shapes, how often it
hops, and which snapshots are on the way. Here a small model stands for the molecule: two
coordinates with a curved valley between two wells, three kT high. Replace ``frames`` by your own
array, one row for each snapshot, one column for each coordinate.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse.linalg import spsolve

import vbdm

# %%
# A simulation
# ------------
# 400 runs of overdamped dynamics, dX = -∇U dt + √2 dW, in units of kT = 1 and of a diffusion
# coefficient 1. The first half of each run is thrown away, so that the rest is at equilibrium.


def force(x, y):
    """Return -∇U for U = 3(x² - 1)² + 3(y - 0.8(x² - 1))² + 0.3 x."""
    bend = y - 0.8 * (x**2 - 1)
    return -12 * x * (x**2 - 1) + 9.6 * x * bend - 0.3, -6 * bend


rng = np.random.default_rng(0)
time_step, every, n_frames, n_runs = 0.002, 125, 160, 400
state = np.array([rng.choice([-1.0, 1.0], n_runs), np.zeros(n_runs)])
frames = np.empty((n_frames, n_runs, 2))
for i in range(n_frames):
    for _ in range(every):
        state = state + time_step * np.array(force(*state))
        state += np.sqrt(2 * time_step) * rng.standard_normal(state.shape)
    frames[i] = state.T
frames = frames[n_frames // 2 :]
print(frames.shape, "frames, runs, coordinates; one frame every", every * time_step)

# %%
# Slow modes
# ----------
# The generator of the dynamics is what ``"generator"`` estimates, in 1/length². Times come in units
# of length²/D, with D the diffusion coefficient (here 1; in a real run take it from the
# mean squared displacement over short times).
#
# In random order, as here, error bars assume independent points. These are not quite: each run
# lasts some four relaxation times and gives fifteen of the snapshots, so for the slow mode they
# count as about 1,000, and its bar is too short, by up to a factor of 2.5.

snapshots = rng.choice(frames.reshape(-1, 2), 6000, replace=False)
op = vbdm.estimate_operator(snapshots, "generator")
spectrum = op.spectrum(6)
rate, error = -spectrum.eigenvalues[1], spectrum.total_errors[1]
timescale, timescale_error = 1 / rate, error / rate**2
print("relaxation times:", spectrum.timescales[1:].round(2))
print(f"slowest: {timescale:.2f} ± {timescale_error:.2f}")

# %%
# One time stands out by a factor of more than ten: there are two metastable states, and the first
# eigenfunction tells them apart by its sign. Which sign is which is arbitrary, so we turn it to be
# positive on the right. The free energy in kT is minus the logarithm of the density.

slow = spectrum.eigenfunctions[:, 1]
slow = slow * np.sign(slow @ snapshots[:, 0])
population = np.mean(slow > 0)
free_energy = -np.log(op.density)
free_energy -= np.quantile(free_energy, 0.001)
print(f"population of the right-hand state: {population:.2f}")

# %%
# The committor
# -------------
# The probability to reach the right-hand state before the left-hand one. It solves L p = 0 between
# the two, with p = 0 and 1 on them: a sparse linear system with ``op.matrix``. The cores of the
# states are where the slow mode is flat: beyond 0.8 of its median on each side.

left_core = slow < 0.8 * np.median(slow[slow < 0])
right_core = slow > 0.8 * np.median(slow[slow > 0])
between = ~(left_core | right_core)
L = op.matrix
committor = right_core.astype(float)
inflow = -L[between][:, right_core].sum(axis=1)
committor[between] = spsolve(L[between][:, between].tocsc(), inflow)
print(f"{between.sum()} snapshots between the cores, {np.sum(abs(committor - 0.5) < 0.1)} of them "
      "near the top, p = 0.4 to 0.6")  # fmt: skip

# %%
# Is it true? Ask the dynamics
# ----------------------------
# So far time was not used: the snapshots were shuffled. Now extend the slow mode to all frames, in
# their order (these are new points), and see how fast it forgets its value. If the mode and its
# rate are right, the correlation falls like exp(-t / timescale).

known = spectrum.extend(frames.reshape(-1, 2), outside="nearest").values[:, 1]
path = known.reshape(frames.shape[:2])
path = path - path.mean()
lags = np.arange(0, 25)
correlation = np.array([np.mean(path[: len(path) - k] * path[k:]) for k in lags])
correlation /= correlation[0]
times = lags * every * time_step
seen = -1 / np.polyfit(times[4:], np.log(correlation[4:]), 1)[0]
print(f"from snapshots {timescale:.2f} ± {timescale_error:.2f}, from the dynamics {seen:.2f}")

# %%

figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.4), layout="constrained")
panels = [
    ("Free energy / kT", np.minimum(free_energy, 6), "viridis", None),
    ("Slow mode", slow, "coolwarm", 1.5),
    ("Committor: right before left", committor, "PuOr", None),
]
for ax, (title, values, colors, limit) in zip(axes.flat, panels, strict=False):
    low = None if limit is None else -limit
    drawn = ax.scatter(*snapshots.T, c=values, s=6, cmap=colors, vmin=low, vmax=limit)
    figure.colorbar(drawn, ax=ax)
    ax.set(xlabel="first coordinate", ylabel="second coordinate", title=title)
decay = axes[1, 1]
decay.semilogy(times, correlation, "o", ms=4, label="seen in the dynamics")
decay.semilogy(times, np.exp(-times * rate), "k", label="from shuffled snapshots")
edges = [np.exp(-times * (rate + sign * 2 * error)) for sign in (-1, 1)]
decay.fill_between(times, *edges, color="0.85", label="± 2 total errors")
decay.set(xlabel="time", ylabel="correlation of the slow mode", title="Does it decay as predicted?")
decay.set_yticks([0.2, 0.3, 0.5, 1], ["0.2", "0.3", "0.5", "1"])
decay.minorticks_off()
decay.legend(frameon=False)

# %%
# What to take away
# -----------------
# * States, populations, free energies, committors and timescales come from one operator, from
#   snapshots in any order.
# * The timescale hangs on the snapshots near the top of the barrier. If your runs seldom cross, no
#   method can invent them: look at ``spectrum.weak_links`` and at the error bar.
# * Snapshots of one run are alike. Shuffling hides this from the error bars: give frames in their
#   order, several runs as a list of arrays, and see what ``vbdm.diagnose`` says.
# * What is assumed: equilibrium, overdamped motion, and coordinates in which the mobility is equal
#   in all directions. Angles and cells are periodic: pass ``period=``. If the potential U is known,
#   pass ``potential=`` and snapshots from any ensemble will do.
# * From the shell:
#   ``vbdm fit run.xtc --topology top.pdb --features dihedrals -O generator --stride 10``.
