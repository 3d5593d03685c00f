"""
A bandwidth of your own
=======================

By default the kernel is wide where points are sparse. You may give any other width, as an array or
as a function of the points. A bandwidth that varies also changes the operator: it adds a drift.
This page shows how large it is, and how to use it on purpose.
"""

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# What a bandwidth does
# ---------------------
# With a bandwidth ρ that you give, the estimate tends to ::
#
#     L f = Δf + c1 ∇f·∇q/q + (d + 2) ∇f·∇ρ/ρ,
#
# with c1 from ``operator`` (0 for the Laplacian). The points here are uniform on a circle, so the
# second term is 0. The bandwidth exp(cos θ / 3) with d = 1 makes the third one -sin θ f', the
# drift of a particle that prefers θ = 0: the generator of the density exp(cos θ), learned from
# points that never saw it.

sample = vbdm.datasets.circle(2000, density="uniform", sampling="random", random_state=0)
reference = vbdm.datasets.circle(2000, density="exponential", sampling="random", random_state=0)
truth = reference.truth(6, "generator")


def wider_on_the_right(points):
    """Return a bandwidth for each row: exp(x / 3), with x = cos θ on the circle."""
    return np.exp(points[:, 0] / 3)


own = vbdm.estimate_operator(sample.points, "laplacian", bandwidth=wider_on_the_right).spectrum(6)
plain = vbdm.estimate_operator(sample.points, "laplacian").spectrum(6)
print("own bandwidth       ", own.eigenvalues.round(2))
print("± error             ", own.total_errors.round(2))
print("truth with the drift", truth.eigenvalues.round(2))
print("default bandwidth   ", plain.eigenvalues.round(2))
print("truth, no drift     ", sample.truth(6, "laplacian").eigenvalues)

# %%
# The same by its potential
# -------------------------
# ``potential=`` is the short way: U gives Δf - ∇U·∇f, whatever density the points have. The
# bandwidth stays as it is, and pairs are weighted by exp(-U/2) at both points. Snapshots
# from a biased or heated simulation can so be used for the unbiased one. Here the points are those
# of the other circle, which crowd on the right.

U = -reference.points[:, 0]
by_potential = vbdm.estimate_operator(reference.points, potential=U).spectrum(6)
print("by the potential    ", by_potential.eigenvalues.round(2))

# %%
# A bandwidth without side effects
# --------------------------------
# If the bandwidth is a power of the density, ρ = q^β, nothing has to be given by hand:
# ``PowerOfDensity(β)`` adjusts the rest so that the operator stays the one that you asked for.
# β = 0 is the kernel of fixed width, the default here is -1/2.

for beta in (0.0, -0.25, -0.5):
    op = vbdm.estimate_operator(
        reference.points, "laplacian", bandwidth=vbdm.rules.PowerOfDensity(beta)
    )
    print(f"beta {beta:5.2f}:", op.spectrum(5).eigenvalues.round(2))

# %%

angle = sample.parameters[:, 0]
order = np.argsort(angle)
figure = plt.figure(figsize=(9.5, 7.6), layout="constrained")
axes = list(figure.subplot_mosaic("AB;CC").values())
for found, name in ((own, "own"), (plain, "default")):
    axes[0].plot(angle[order], found.operator.widths[order], lw=1, label=name)
axes[0].set(xlabel="angle θ", ylabel="width of the kernel", ylim=(0, None))
axes[0].legend(frameon=False, title="bandwidth")
vbdm.plot.spectrum(own, truth, ax=axes[1])
axes[1].set_title("Own bandwidth: the operator with a drift", fontsize="medium")
exact = truth.eigenfunctions(sample.parameters)
for number, color in ((1, "C0"), (2, "C1")):
    # The two share almost one eigenvalue: compare with the plane that they span.
    aligned = vbdm.align(own.eigenfunctions[:, 1:3], exact[:, number])
    axes[2].plot(angle, aligned, ".", ms=3, color=color, label=f"eigenfunction {number}")
    axes[2].plot(angle[order], exact[order, number], "k", lw=0.8)
axes[2].set(xlabel="angle θ", ylabel="value", ylim=(-4, 3))
axes[2].set_title("Eigenfunctions (lines: truth)", fontsize="medium")
axes[2].legend(frameon=False, fontsize="small", markerscale=3)

# %%
# What to take away
# -----------------
# * A bandwidth given by hand adds (d + 2) ∇f·∇ρ/ρ. Use it, or account for it.
# * ``potential=`` when you know the energy; ``PowerOfDensity(β)`` when only the width should
#   change.
# * Pass a function rather than an array if you want to extend to new points.
