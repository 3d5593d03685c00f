"""
Choosing and checking ε
=======================

ε sets the width of the kernel: too small, and it averages too few points; too large, and it blurs
what it should see. ``vbdm`` chooses it. This page shows by what, how much the answer depends on it,
and how to get a second opinion without knowing the truth.
"""

import warnings

import matplotlib.pyplot as plt

import vbdm

# %%
# A good case
# -----------
# An uneven sphere. ``op.tuning`` remembers how ε was chosen; ``op.widths`` is the same in the unit
# of your data: the width of the kernel at each point.

sphere = vbdm.datasets.sphere(1200, axes=(1.0, 0.5, 0.3), random_state=0)
op = vbdm.estimate_operator(sphere.points, "laplacian")
print(op.tuning)
print(f"kernel widths from {op.widths.min():.2f} to {op.widths.max():.2f}, on a sphere of radius 1")

# %%
# ``second_opinion`` repeats the estimate at other ε, from an eighth to eight times the one in use,
# and applies two other rules: where the eigenvalues move least, and where what they move and
# what they scatter add up to the least.

opinions = vbdm.second_opinion(op, n=9)
print(f"in use {opinions.epsilon:.2g}, steadiest at {opinions.stationary:.2g}, "
      f"balanced at {opinions.balanced:.2g}, disagree: {opinions.disagree}")  # fmt: skip
middle = opinions.epsilons.tolist().index(opinions.epsilon)
change = opinions.eigenvalues[[middle - 1, middle + 1]] / opinions.eigenvalues[middle] - 1
print(f"half and twice ε: {change[0].mean():+.1%} and {change[1].mean():+.1%} in the mean")

# %%
# A doubtful case
# ---------------
# A rolled-up sheet with 800 points. The turns of the roll are as close to each other as the
# points are, so a kernel cannot tell a neighbour on the sheet from one on the next turn. The rules
# disagree, and a warning says so in words.

roll = vbdm.datasets.swiss_roll(800, random_state=0)
few = vbdm.estimate_operator(roll.points, "laplacian")
with warnings.catch_warnings(record=True) as doubts:
    warnings.simplefilter("always")
    doubtful = vbdm.second_opinion(few, n=4)
for doubt in doubts:
    print(f"{doubt.category.__name__}: {doubt.message}")
many = vbdm.datasets.swiss_roll(5000, random_state=0)
enough = vbdm.estimate_operator(many.points, "laplacian").spectrum(4)
print("   800 points:", few.spectrum(4).eigenvalues.round(4))
print(" 5,000 points:", enough.eigenvalues.round(4))
print("        truth:", roll.truth(4).eigenvalues.round(4))

# %%
# The pictures to look at
# -----------------------
# At the top, what ε was chosen by. The others show the eigenvalues against ε, with error bars, and
# the truth as grey lines, which you would not have. Look for a plateau: what does not move can be
# trusted.

figure = plt.figure(figsize=(9.5, 7.8), layout="constrained")
axes = list(figure.subplot_mosaic("AA;BC").values())
vbdm.plot.tuning(op, ax=axes[0])
cases = (("uneven sphere, 1,200 points", opinions, sphere.truth(9)),
         ("rolled-up sheet, 800 points", doubtful, roll.truth(4)))  # fmt: skip
for ax, (title, table, truth) in zip(axes[1:], cases, strict=True):
    for values, errors in zip(table.eigenvalues.T, table.standard_errors.T, strict=True):
        ax.errorbar(table.epsilons, values, 2 * errors, marker=".", lw=1, capsize=2)
    for value in set(truth.eigenvalues[1:].tolist()):
        ax.axhline(value, color="0.7", lw=3, zorder=0)
    ax.axvline(table.epsilon, color="C3", lw=1.2)
    ax.set(xscale="log", xlabel="ε", ylabel="eigenvalue", title=title)

# %%
# What to take away
# -----------------
# * The red line is the ε in use. What a factor of two either way changes is the sensitivity of
#   the answer: on the sphere a few percent upwards, more downwards.
# * No plateau, or rules that disagree, mean that the data do not settle the answer. The roll needs
#   more points; no choice of ε can replace them.
# * To look at another ε yourself: ``vbdm.estimate_operator(X, epsilon=...)``; for more or fewer
#   points inside the kernel: ``effort=``.
