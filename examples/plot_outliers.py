"""
Outliers and unresolved points
==============================

A few points far from everything else are enough to fill a spectrum with nonsense: modes that live
on three points and look slow. ``vbdm`` keeps such points from carrying modes of their own, tells
which they are, and warns if a mode that you asked for depends on them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# A cloud with bad rows
# ---------------------
# 3,000 points from a normal density, of which 1 % were replaced by uniform noise over a region many
# times larger. The truth of the clean cloud is 0, -1, -1, -2, -2, -2.

clean = vbdm.datasets.ou(3000, dim=2, random_state=0)
dirty = vbdm.datasets.with_outliers(clean, share=0.01, box=12, random_state=0)
is_bad = np.isnan(dirty.density)  # artificial data know which rows are bad
truth = clean.truth(6).eigenvalues

# %%
# With and without the limiter
# ----------------------------
# The limiter holds points whose surroundings are too sparse to their neighbours. It is on by
# default; here it is also switched off, to see what it is good for.


def estimate(**settings):
    """Return the spectrum and the warnings that came with it."""
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        spectrum = vbdm.estimate_operator(dirty.points, "generator", **settings).spectrum(6)
    return spectrum, raised


spectrum, doubts = estimate()
unlimited, _ = estimate(method=vbdm.Resolved(limiter=False))
print("truth of the clean cloud", truth)
print("default                 ", spectrum.eigenvalues.round(2))
print("without limiter         ", unlimited.eigenvalues.round(2))
for doubt in doubts:
    print(f"{doubt.category.__name__}: {doubt.message}")

# %%
# Which points?
# -------------
# ``spectrum.unresolved`` marks them. It finds most of the bad rows, together with honest points of
# the tail: from the points alone nobody can tell these apart.

held = spectrum.unresolved
found = np.mean(held[is_bad])
print(f"{held.sum()} unresolved points; {found:.0%} of the {is_bad.sum()} bad rows are among them")

# %%
# Taking them away
# ----------------
# If you decide that these rows are no data, drop them and estimate again. This is not free: the
# honest points of the tail go with the bad ones, and the faster modes, which live there, come out
# too fast.

kept = dirty.points[~held]
cleaned = vbdm.estimate_operator(kept, "generator").spectrum(6)
print("without the unresolved points", cleaned.eigenvalues.round(2))

# %%

figure = plt.figure(figsize=(9.5, 7.6), layout="constrained")
axes = list(figure.subplot_mosaic("AB;CC").values())
vbdm.plot.unresolved(spectrum, ax=axes[0])
axes[0].plot(*dirty.points[is_bad].T, "o", mfc="none", mec="k", ms=9, label="bad rows")
axes[0].legend(loc="upper left", fontsize="small")
limit = 3
values = np.clip(unlimited.eigenfunctions[:, 1], -limit, limit)
order = np.argsort(np.abs(values))
sizes = 8 + 25 * np.abs(values[order])
drawn = axes[1].scatter(*dirty.points[order].T, c=values[order], s=sizes, cmap="coolwarm",
                        vmin=-limit, vmax=limit)  # fmt: skip
axes[1].set(title="First mode without limiter: it sits on outliers", aspect="equal")
figure.colorbar(drawn, ax=axes[1])
index = np.arange(6)
axes[2].plot(index, truth, "_", color="0.5", ms=22, mew=2, label="truth of the clean cloud")
axes[2].plot(index, unlimited.eigenvalues, "s", color="C1", ms=5, label="without limiter")
axes[2].errorbar(index, spectrum.eigenvalues, 2 * spectrum.total_errors, fmt="o", ms=5,
                 capsize=3, color="C0", label="default, ± 2 total errors")  # fmt: skip
axes[2].plot(index, cleaned.eigenvalues, "^", color="C2", ms=5, label="unresolved points dropped")
axes[2].set(xlabel="number of the eigenvalue", ylabel="eigenvalue")
axes[2].legend(fontsize="small")

# %%
# What to take away
# -----------------
# * Look at ``spectrum.unresolved`` first, and at the warnings: they name modes that rest on such
#   points.
# * The limiter takes away the worst: without it every mode here sits on outliers. The faster modes
#   keep some of their weight on them, as the warning says.
# * Dropping rows is your decision, best by what you know about them. ``vbdm`` never does it on its
#   own.
