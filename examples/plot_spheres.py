"""
Spheres in two and three dimensions
===================================

The Laplacian of the sphere S² has the eigenvalues -l(l+1), each 2l+1 times; that of S³ has -l(l+2),
each (l+1)² times. They test two things at once: curvature, and a dimension other than 2, where a
wrong power of the density goes unnoticed in pictures and spoils every eigenvalue.
"""

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# An uneven S², an even S³
# ------------------------
# The first cloud is a Gaussian with axes 1 : 0.5 : 0.3 projected onto the sphere, the second is
# uniform.

samples = {
    "S², uneven": vbdm.datasets.sphere(5000, axes=(1.0, 0.5, 0.3), random_state=0),
    "S³, uniform": vbdm.datasets.sphere(5000, dim=3, random_state=0),
}
spectra = {
    name: vbdm.estimate_operator(sample.points, "laplacian").spectrum(14)
    for name, sample in samples.items()
}
for name, spectrum in spectra.items():
    truth = samples[name].truth(14)
    density = samples[name].density
    print(f"{name}: density varies by {density.max() / density.min():.0f}, "
          f"dimension found {spectrum.operator.dim:.2f}")  # fmt: skip
    for group in truth.groups[1:3]:
        found = spectrum.eigenvalues[group].mean()
        lower, upper = spectrum.errors.interval_of_group(group)
        print(f"  {len(group)} at {truth.eigenvalues[group[0]]:3.0f}: {found:6.3f}, "
              f"95 %: {lower:.3f} to {upper:.3f}")  # fmt: skip

# %%
# The picture
# -----------
# Eigenvalues of both, and two eigenfunctions on S²; those of S³ would need a fourth dimension to
# draw.

figure = plt.figure(figsize=(9.5, 8), layout="constrained")
for position, (name, spectrum) in enumerate(spectra.items()):
    ax = figure.add_subplot(2, 2, position + 1)
    vbdm.plot.spectrum(spectrum, samples[name].truth(14), ax=ax)
    ax.set_title(name, fontsize="medium")
globes = [figure.add_subplot(2, 2, position, projection="3d") for position in (3, 4)]
vbdm.plot.eigenfunctions(spectra["S², uneven"], [1, 4], ax=globes)

# %%
# Is the operator itself right?
# -----------------------------
# Eigenvalues are averages. Pointwise, ``op @ f`` can be compared with the truth, too: on S² the
# height z satisfies Δz = -2z. Single values are far noisier than eigenvalues. Each comes with a
# standard deviation, which counts that the weights respond to the sample; seen and predicted spread
# agree within a tenth here.

sample, op = samples["S², uneven"], spectra["S², uneven"].operator
height = sample.points[:, 2]
values, deviation = op.apply(height, return_std=True)
miss = values + 2 * height
seen, predicted = (np.sqrt(np.mean(x**2)) for x in (miss, deviation))
print(f"Δz against -2z, root mean square: error {seen:.2f}, predicted {predicted:.2f}")

# %%
# What to take away
# -----------------
# * Means of groups are right to half a percent on S² and 1.5 % on S³, from 5,000 points.
# * On S³ the estimate is off by more than its sampling error, which is tiny there: what is left is
#   systematic. The 95 % intervals count most of it; that of the nine eigenvalues at -8 misses the
#   truth by a little.
# * The dimension is found, as a real number; nothing is rounded.
