"""
Guide: a chaotic system seen through one number
===============================================

You measure one quantity of a system, such as a temperature at one place, and suspect that a few
hidden variables drive it. Here the system is that of Lorenz (1963), of which only x is recorded.
Next to its own past, x is enough: the points of this delay embedding lie on an almost flat
surface, whose dimension, geometry and functions ``vbdm`` can learn, among them the hidden
coordinates and the near future.
"""

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# A record and its past
# ---------------------
# Every row holds x now and 0.1, 0.2, ..., 0.5 time units ago. One record is to learn from, another
# one, from another start, is for testing.

N_DELAYS, LAG, STEP, LONGEST = 6, 2, 0.05, 60


def observed(n_samples, seed):
    """Return delayed values of x, the hidden z, and x at later times, one column for each."""
    record = vbdm.datasets.lorenz63(n_samples, step=STEP, random_state=seed)
    rows = record.delayed(N_DELAYS, lag=LAG)[:-LONGEST]
    first = (N_DELAYS - 1) * LAG  # the time that row 0 belongs to
    x, z = record.points[first:, 0], record.points[first:-LONGEST, 2]
    future = np.array([x[k : len(x) - LONGEST + k] for k in range(LONGEST + 1)]).T
    return rows, z, future


past, z, future = observed(8000, seed=0)
new_past, new_z, new_future = observed(2000, seed=1)
print(past.shape, "points in delay space")

# %%
# How many variables are there?
# -----------------------------
# The attractor is known to have dimension 2.06. The estimate sees only x.

op = vbdm.estimate_operator(past, "generator")
spectrum = op.spectrum(6)
print(f"dimension {op.dim:.2f} ± {op.dimension.standard_error:.2f}")

# %%
# The hidden coordinate
# ---------------------
# If rows of the past determine the state, then z is a function of them. Known on one record, it
# can be had on the other by ``op.extend``. Errors are in units of the spread of z.


def relative_error(found, truth):
    """Return the root mean squared error over the standard deviation of the truth."""
    return np.sqrt(np.mean((found - truth) ** 2, axis=0)) / np.std(truth, axis=0)


found_z = op.extend(z, new_past, outside="nearest")
hidden_error = relative_error(found_z, new_z)
print(f"z from the past of x: error {hidden_error:.3f} of its spread")

# %%
# The near future
# ---------------
# x at a later time is a function of the present state, too, so the same call makes a forecast: all
# lead times at once, one column for each. A linear regression on the same rows is the yardstick.

forecast = op.extend(future, new_past, outside="nearest")
skill = relative_error(forecast, new_future)
design, new_design = (np.c_[rows, np.ones(len(rows))] for rows in (past, new_past))
linear = new_design @ np.linalg.lstsq(design, future, rcond=None)[0]
lead = STEP * np.arange(LONGEST + 1)
for k in (5, 10, 20, 40):
    print(f"lead {lead[k]:.2f}: error {skill[k]:.2f}, linear regression "
          f"{relative_error(linear, new_future)[k]:.2f}")  # fmt: skip

# %%

figure = plt.figure(figsize=(9.5, 7.4), layout="constrained")
ax = figure.add_subplot(2, 2, 1)
drawn = ax.scatter(*spectrum.eigenfunctions[:, [1, 4]].T, c=z, s=3)
ax.set(xlabel="eigenfunction 1", ylabel="eigenfunction 4", title="The attractor, from x alone")
figure.colorbar(drawn, ax=ax, label="hidden coordinate z")
ax = figure.add_subplot(2, 2, 2)
ax.plot(new_z, found_z, ".", ms=3)
ax.plot([0, 50], [0, 50], "k", lw=0.8)
ax.set(xlabel="true z", ylabel="z from the past of x", title="A coordinate nobody measured")
ax = figure.add_subplot(2, 2, 3)
start = 250
ax.plot(lead, new_future[start], "k", label="what happened")
ax.plot(lead, forecast[start], "C0", label="forecast")
ax.plot(lead, linear[start], "C1--", label="linear regression")
ax.set(xlabel="time from now", ylabel="x", ylim=(-20, 30), title="One forecast")
ax.legend(frameon=False)
ax = figure.add_subplot(2, 2, 4)
ax.plot(lead, skill, "C0", label="forecast")
ax.plot(lead, relative_error(linear, new_future), "C1--", label="linear regression")
ax.axhline(1, color="0.6", lw=0.8)
ax.set(xlabel="lead time (a turn takes 0.75)", ylabel="error / spread of x", ylim=(0, 1.3))
ax.set_title("How far ahead?")
ax.legend(frameon=False)

# %%
# What to take away
# -----------------
# * Delays turn one record into a cloud with the geometry of the attractor. Take enough of them to
#   cover a good part of a turn.
# * ``op.extend(f, X_new)`` carries any function of the state to new states: a hidden variable, a
#   label, the future. Beyond the memory of the system the forecast goes to the mean, as it should.
# * The eigenvalues are *not* rates here: Lorenz's system is no gradient flow, and delay space has
#   its own units. The eigenfunctions are coordinates, ordered from smooth to rough, nothing more.
