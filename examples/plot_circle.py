"""
The circle, unevenly sampled
============================

Three times as many points on one side as on the other. The Laplacian belongs to the circle alone,
and its eigenvalues 0, -1, -1, -4, -4, ... must not notice. The generator belongs to the density,
and must. The same points give both, and both truths are known.
"""

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# Two operators from the same points
# ----------------------------------
# ``period`` and angles are not used here: the method sees two columns, the x and y of each point.

sample = vbdm.datasets.circle(3000, density="cosine", sampling="random", random_state=0)
graph = vbdm.neighbors(sample.points, 200)  # search once, estimate twice
spectra = {
    name: vbdm.estimate_operator(graph, name).spectrum(9) for name in ("laplacian", "generator")
}
for name, spectrum in spectra.items():
    exact = sample.truth(9, name).eigenvalues
    print(f"{name}: dimension {spectrum.operator.dim:.2f}")
    print("  estimate", spectrum.eigenvalues.round(2))
    print("  ± error ", spectrum.total_errors.round(2))
    print("  truth   ", exact.round(2))

# %%
# Density, eigenvalues, eigenfunctions
# ------------------------------------
# The density of single points is local on purpose and scatters; the eigenvalues average over all
# of them. Sines and cosines of the same frequency share an eigenvalue. Inside such a pair any
# rotation is as good, so ``vbdm.align`` turns the estimate before it is laid over the truth.
# Random points split each pair by a percent or so: only the mean of a pair has a meaning, and the
# bands are the 95 % intervals of this mean (``spectrum.errors.groups`` tells who belongs together).

laplacian = spectra["laplacian"]
angle = sample.parameters[:, 0]
order = np.argsort(angle)
exact = sample.truth(9).eigenfunctions(sample.parameters)

figure = plt.figure(figsize=(9.5, 7.6), layout="constrained")
axes = list(figure.subplot_mosaic("AB;CC").values())
axes[0].plot(angle, laplacian.operator.density, ".", ms=3, label="estimate")
axes[0].plot(angle[order], sample.density[order], "k", lw=1, label="truth")
axes[0].set(xlabel="angle", ylabel="density per unit of length", ylim=(0, None))
axes[0].set_title("How the points are spread", fontsize="medium")
axes[0].legend(frameon=False)
vbdm.plot.spectrum(laplacian, sample.truth(9), ax=axes[1])
axes[1].set_title("Laplacian", fontsize="medium")
for pair, color in (([1, 2], "C0"), ([3, 4], "C1")):
    aligned = vbdm.align(laplacian.eigenfunctions[:, pair], exact[:, pair])
    axes[2].plot(angle, aligned[:, 0], ".", ms=3, color=color, label=f"from pair {pair}")
    axes[2].plot(angle[order], exact[order, pair[0]], "k", lw=0.8)
axes[2].set(xlabel="angle", ylabel="value", ylim=(-1.6, 2.2))
axes[2].set_title("Eigenfunctions (lines: cosines)", fontsize="medium")
axes[2].legend(frameon=False, fontsize="small", markerscale=3, loc="upper center")

# %%
# What to take away
# -----------------
# * ``"laplacian"`` removes the sampling from the answer, ``"generator"`` keeps it: the pair at -1
#   opens only in the second.
# * Errors here are about one percent, and the intervals hold the truth of every pair.
# * Repeated eigenvalues come as groups: compare means and subspaces, not single values.
