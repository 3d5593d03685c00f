"""
Do the error bars hold?
=======================

Every eigenvalue comes with two errors, computed from the one sample that you have. The standard
error is meant to predict what would change if somebody gave you another sample of the same size.
The total error counts what is systematic as well, so that an interval made from it holds the truth.
With artificial data one can see whether they do: draw twenty samples and look.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# Twenty samples of the same density
# ----------------------------------
# Two problems: the crossing rate of a double well, and the slowest eigenvalue of an
# Ornstein-Uhlenbeck process in the plane. The latter stands for two functions; random points split
# it, and the parts repel each other, so their mean is what has an error.
# ``spectrum.errors.of_group`` gives the standard error of a group that you know, and
# ``spectrum.errors.interval_of_group`` its interval.

N_SAMPLES, N_POINTS = 20, 600


def repeat(draw, group):
    """Return estimates, predicted errors and intervals over independent samples, and the truth."""
    found, predicted, intervals = [], [], []
    for seed in range(N_SAMPLES):
        sample = draw(seed)
        with warnings.catch_warnings():
            # With so few points some samples earn a warning about thin links; we look at them all.
            warnings.simplefilter("ignore", vbdm.VbdmWarning)
            spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(4)
        found.append(spectrum.eigenvalues[group].mean())
        predicted.append(spectrum.errors.of_group(group))
        intervals.append(spectrum.errors.interval_of_group(group))
    truth = sample.truth(4).eigenvalues[group[0]]
    return np.array(found), np.array(predicted), np.array(intervals), truth


results = {
    "double well, slowest": repeat(
        lambda seed: vbdm.datasets.double_well(N_POINTS, random_state=seed), [1]
    ),
    "Ornstein-Uhlenbeck in the plane, slowest two": repeat(
        lambda seed: vbdm.datasets.ou(N_POINTS, dim=2, random_state=seed), [1, 2]
    ),
}

# %%
# Predicted and seen
# ------------------
# Twenty samples tell the spread within 16 %. The miss is how far the mean of all twenty is from the
# truth: what no larger number of such samples would cure.

for name, (found, predicted, intervals, truth) in results.items():
    close = np.mean(np.abs(found - truth) < 2 * predicted)
    covered = np.mean((intervals[:, 0] < truth) & (truth < intervals[:, 1]))
    print(f"{name}:\n  predicted {predicted.mean():.3f}, seen {found.std(ddof=1):.3f}, "
          f"miss {found.mean() - truth:+.3f}\n"
          f"  truth within two standard errors in {close:.0%} of the samples, "
          f"in the 95 % interval in {covered:.0%}")  # fmt: skip

# %%

figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.6), sharey=True, layout="constrained")
rows = np.arange(N_SAMPLES)
for ax, (name, (found, predicted, intervals, truth)) in zip(axes, results.items(), strict=True):
    ax.hlines(rows, *intervals.T, color="C0", lw=1, label="95 % interval")
    ax.errorbar(found, rows, xerr=2 * predicted, fmt="o", ms=4, lw=3, color="C0",
                label="estimate ± 2 standard errors")  # fmt: skip
    ax.axvline(truth, color="k", lw=1, label="truth")
    centre, width = found.mean(), found.std(ddof=1)
    ax.axvspan(centre - 2 * width, centre + 2 * width, color="0.9", zorder=0,
               label="± 2 seen, around the mean")  # fmt: skip
    ax.set(xlabel="eigenvalue", title=name)
axes[0].set(ylabel="sample", ylim=(-1, N_SAMPLES + 5))
axes[0].legend(fontsize="small", loc="upper left")

# %%
# What to take away
# -----------------
# * Standard errors predict the spread over samples, from a single sample.
# * They are not the whole error. For these slow modes the miss is small against them; for faster
#   ones, in thin tails and in more dimensions it is not. Intervals count what is systematic, too:
#   sparse tails, the width of the kernel, noise, edges. ``spectrum.errors.parts`` says how much
#   each one gives.
# * Frames of a slow trajectory are not independent. In their order, the bars take this into
#   account; shuffled, they are too short.
