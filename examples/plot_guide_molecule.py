"""
Guide: states and rates of a molecule
=====================================

You have trajectories of a molecule that hops between shapes, and you want the shapes, how often it
hops, which snapshots are on the way, and how sure all this is. Here the potential of Müller and
Brown stands for the molecule, two coordinates with a bent valley, because for it every answer is
known: the truth is drawn into each picture. Replace ``runs`` by your own arrays, one row for each
snapshot, one column for each coordinate.
"""

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# Four runs
# ---------
# Of 3,000 snapshots each, one every 0.05 ns, at kT = 20 in the unit of the potential. The
# diffusion coefficient is 0.5 length² per ns, which the estimate is not told. Several runs are a
# list of arrays: nothing is compared across their joints.

step, D_true = 0.05, 0.5
runs = [
    vbdm.datasets.muller_brown_series(3000, step=step, diffusivity=D_true, random_state=seed).points
    for seed in range(4)
]
frames = np.concatenate(runs)
known = vbdm.datasets.muller_brown_transition()
slowest_true = -1 / (D_true * vbdm.datasets.muller_brown(2).truth(2).eigenvalues[1])

# %%
# Slow modes, and a clock
# -----------------------
# ``"generator"`` estimates the generator of the dynamics, in 1/length². How many nanoseconds that
# is, a clock reads off the runs: by how fast modes forget their values, at a lag that it finds.
# Eigenvalues alone would be wrong by the diffusion coefficient, a mean squared displacement between
# snapshots by what the molecule has felt of its well in between.

op = vbdm.estimate_operator(runs, "generator", series=True)
spectrum = op.spectrum(4)
clock = spectrum.clock(step=step, unit="ns")
D = clock.diffusivity
print(f"diffusion coefficient {D} length²/ns, truth {D_true}")
print(f"the modes agree on it: {clock.consistent}")
slowest, slowest_error = clock.timescales[1], clock.timescale_errors[1]
print(f"slowest: {slowest:.1f} ± {slowest_error:.1f} ns, truth {slowest_true:.1f} ns")

# %%
# States
# ------
# One time is far longer than the others: there are two metastable states. Memberships are shares
# that sum to 1, and rates between states are in the clock's unit. The free energy in kT is minus
# the logarithm of the density, as these runs have no bias.

states = spectrum.states(clock=clock)
free_energy = -np.log(op.density)
free_energy -= free_energy.min()
print(states)
print("populations:", ", ".join(str(one) for one in states.populations))

# %%
# The committor, and rates between two sets
# -----------------------------------------
# A and B are small discs in the two deepest wells. Where the edge of a set is known, signed
# distances tell it better than a mask; conditions such as ``"phi < -1.2"`` and labels will do, too.
# The committor is the probability to reach B before A. It needs no clock; rates and times do.


def distance_to(middle, points):
    """Return the distance to the edge of a disc of radius 0.1, negative inside."""
    return np.hypot(*(points - middle).T) - 0.1


def sets(points):
    """Return A and B, as distances."""
    return distance_to((-0.558, 1.441), points), distance_to((0.623, 0.028), points)


A, B = sets(frames)
found = op.committor(A, B)
committor_error = np.sqrt(np.mean((found.values - known.committor(frames)) ** 2))
rate = found.rate.times(D)  # the errors of both factors count
time = op.mean_first_passage(B).mean(over=A < 0).over(D)
rate_true, time_true = D_true * known.rate, known.mean_passage_time / D_true
print(f"committor: root mean square error {committor_error:.3f}")
print(f"rate A to B: {rate} per ns, truth {rate_true:.4f}")
print(f"mean time from A to B: {time} ns, truth {time_true:.0f}")

# %%
# Biased sampling
# ---------------
# Runs that seldom cross leave large bars, and no method can invent what was not seen. Sample
# where crossing is easy, and say by how much: here at twice the temperature, with the weights
# :math:`w = π/q ∝ e^{-(β - β')V}`; from metadynamics they are :math:`e^{bias/kT}`. The operator is
# then that of the temperature that is wanted. Without the weights it is that of the hot molecule.

hot = vbdm.datasets.muller_brown(6000, beta_sampling=1 / 40, random_state=0)
biased = vbdm.estimate_operator(hot.points, "generator", weights=hot.weights).committor(
    *sets(hot.points)
)
unweighted = vbdm.estimate_operator(hot.points, "generator").committor(*sets(hot.points))
biased_error = np.sqrt(np.mean((biased.values - known.committor(hot.points)) ** 2))
print(f"committor: root mean square error {biased_error:.3f}")
print(f"rate from hot snapshots with weights: {biased.rate.times(D)} per ns")
print(f"without weights: {unweighted.rate.times(D)} per ns, truth {rate_true:.4f}")

# %%

figure, axes = plt.subplots(2, 2, figsize=(9.5, 7.6), layout="constrained")
panels = [("Free energy / kT", np.minimum(free_energy, 8), "viridis"),
          ("Committor: B before A", found.values, "PuOr")]  # fmt: skip
x, y = np.meshgrid(np.linspace(-1.7, 1.1, 120), np.linspace(-0.5, 2.1, 120))
grid = np.stack([x.ravel(), y.ravel()], axis=1)
true_values = known.committor(grid)
true_values[vbdm.datasets.muller_brown_potential(grid) > 40] = np.nan
for ax, (title, values, colors) in zip(axes[0], panels, strict=True):
    drawn = ax.scatter(*frames.T, c=values, s=4, cmap=colors)
    figure.colorbar(drawn, ax=ax)
    for middle in ((-0.558, 1.441), (0.623, 0.028)):
        ax.add_patch(plt.Circle(middle, 0.1, fill=False, color="k"))
    ax.set(xlim=(-1.7, 1.1), ylim=(-0.5, 2.1), xlabel="first coordinate",
           ylabel="second coordinate", title=title)  # fmt: skip
levels = axes[0, 1].contour(x, y, true_values.reshape(x.shape), [0.1, 0.5, 0.9], colors="k")
axes[0, 1].clabel(levels, fmt="truth %.1f", fontsize=7)
clock.plot(ax=axes[1, 0])
axes[1, 0].axhline(slowest_true, color="k", lw=1, ls="--")
axes[1, 0].annotate("truth", (0.5, slowest_true), xycoords=("axes fraction", "data"), va="top")
shown = {"four runs": rate, "hot, with weights": biased.rate.times(D),
         "hot, without": unweighted.rate.times(D)}  # fmt: skip
for number, (value, error) in enumerate(shown.values()):
    axes[1, 1].errorbar(number, value, 2 * error, fmt="o", capsize=4)
axes[1, 1].axhline(rate_true, color="k", lw=1, ls="--", label="truth")
axes[1, 1].set_xticks(range(len(shown)), list(shown))
axes[1, 1].set(yscale="log", ylabel="per ns", title="Rate from A to B, ± 2 standard errors")
axes[1, 1].legend(frameon=False)

# %%
# What to take away
# -----------------
# * States, populations, free energies, committors, rates and times come from one operator, with
#   error bars, without clusters and without a lag time; a clock gives them your unit of time.
# * A committor needs far less data than a rate: it is right to about a hundredth where the rate has
#   a bar of a sixth. The rate hangs on the few crossings of the runs.
# * Biased or hotter snapshots with ``weights=`` have the crossings. Without weights they answer
#   another question, with small bars.
# * Snapshots of one run are alike. Give them in their order, several runs as a list of arrays, and
#   bars will know.
# * What is assumed: equilibrium, overdamped motion, and coordinates in which the mobility is the
#   same everywhere; ``clock.consistent`` says whether that holds. Angles and cells are periodic:
#   pass ``period=``.
# * From the shell:
#   ``vbdm fit run.xtc --topology top.pdb --features dihedrals -O generator --time-step 0.2ns``.
