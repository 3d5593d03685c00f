"""
Guide: the season and what is left of it
========================================

A field on a grid, week after week: temperature, pressure, sea level. Part of it is the season, part
is a slow index that has nothing to do with the calendar, part is noise. Principal components
(EOFs) cut a season that is not a pure sine into several pieces. The eigenfunctions of the
generator see that it is one closed curve, and hand out one phase for it. No dates are used.
"""

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# Eighty years of weekly fields
# -----------------------------
# Artificial, so that the answer is known: a yearly and a half-yearly wave with different patterns,
# and an index that forgets itself within four months. Replace ``field`` by your own array of
# (time, lat, lon); from xarray that is ``data.transpose("time", "lat", "lon").values``.

rng = np.random.default_rng(0)
years = np.arange(80 * 52) / 52
lat, lon = np.linspace(-60, 60, 13), np.arange(0, 360, 15)
y, x = np.meshgrid(np.radians(lat), np.radians(lon), indexing="ij")
patterns = np.array([
    np.sin(y), np.sin(2 * y) * np.cos(x), np.cos(y) * np.cos(2 * x), np.cos(y) * np.sin(2 * x),
    np.exp(-((y / 0.3) ** 2)) * np.cos(x - 3),
])  # fmt: skip
memory = np.exp(-(1 / 52) / 0.33)
index = np.zeros(len(years))
for i in range(1, len(years)):
    index[i] = memory * index[i - 1] + np.sqrt(1 - memory**2) * rng.standard_normal()
phase = 2 * np.pi * years
strength = np.array([
    4 * np.cos(phase), 8 * np.sin(phase), 2 * np.cos(2 * phase), 2 * np.sin(2 * phase), 8 * index
])  # fmt: skip
field = np.einsum("kt,kij->tij", strength, patterns)
field += 0.5 * rng.standard_normal(field.shape)
print(field.shape, "weeks, latitudes, longitudes")

# %%
# From a field to points
# ----------------------
# Each week is a point. Cells shrink towards the poles, hence the weight √cos(latitude). The leading
# principal components keep the signal and drop most of the noise; take more than you need.

weighted = ((field - field.mean(axis=0)) * np.sqrt(np.cos(y))).reshape(len(field), -1)
left, size, _ = np.linalg.svd(weighted, full_matrices=False)
components = left[:, :8] * size[:8] / np.sqrt(weighted.shape[1])
print("share of variance:", (size[:8] ** 2 / np.sum(size**2)).round(3))

op = vbdm.estimate_operator(components, "generator")
spectrum = op.spectrum(6)
print(f"dimension {op.dim:.1f}; eigenvalues", spectrum.eigenvalues.round(3))
print("± error", spectrum.total_errors.round(3))

# %%
# The season is a closed curve, the index a line: a dimension near 2, although five patterns are in
# the field. Which eigenfunction is which? Those of the season repeat every year, so their variance
# is in the mean year; that of the index is not.

week = np.arange(len(years)) % 52


def mean_year(values):
    """Return the mean over the years, for each of the 52 weeks."""
    return np.array([values[week == number].mean() for number in range(52)])


modes = spectrum.eigenfunctions
repeating = np.array([np.var(mean_year(mode)) / np.var(mode) for mode in modes[:, 1:].T])
for number, share in enumerate(repeating, start=1):
    print(f"eigenfunction {number}: {share:4.0%} of the variance repeats every year")

# %%
# The date from the field alone
# -----------------------------
# The first two eigenfunctions give an angle for every week. It runs through the year at the pace at
# which the field changes, so each week is compared with the mean over all years.

pair = modes[:, 1] + 1j * modes[:, 2]
scatter = np.angle(pair / mean_year(pair)[week])
days = 365.25 * np.median(np.abs(scatter)) / (2 * np.pi)
print(f"typical error of the date: {days:.1f} days")

# %%
# A map for the index
# -------------------
# The mean of the field, weighted by an eigenfunction, is the pattern that goes with it.

other = int(np.argmin(repeating)) + 1
mode = modes[:, other] * np.sign(modes[:, other] @ index)  # the sign is arbitrary
pattern = np.einsum("t,tij->ij", mode, field - field.mean(axis=0)) / len(mode)
likeness = np.corrcoef(pattern.ravel(), patterns[4].ravel())[0, 1]
index_likeness = np.corrcoef(mode, index)[0, 1]
print(f"eigenfunction {other}: correlation with the hidden index {index_likeness:.3f}, "
      f"of its pattern with the hidden one {likeness:.3f}")  # fmt: skip

# %%

figure, axes = plt.subplots(2, 2, figsize=(9.5, 7), layout="constrained")
axes[0, 0].scatter(*components[:, :2].T, c=week, s=4, cmap="twilight")
axes[0, 0].set(xlabel="principal component 1", ylabel="principal component 2")
axes[0, 0].set_title("Principal components: season and index mixed")
drawn = axes[0, 1].scatter(pair.real, pair.imag, c=week, s=4, cmap="twilight")
axes[0, 1].set(xlabel="eigenfunction 1", ylabel="eigenfunction 2")
axes[0, 1].set_title("The season by itself")
figure.colorbar(drawn, ax=axes[:1, :], label="week of the year")
axes[1, 0].plot(years[:520], index[:520], "0.7", lw=3, label="hidden index")
axes[1, 0].plot(years[:520], mode[:520], lw=1, label=f"eigenfunction {other}")
axes[1, 0].set(xlabel="year", title="The index by itself")
axes[1, 0].legend(frameon=False)
drawn = axes[1, 1].pcolormesh(lon, lat, pattern, cmap="coolwarm")
axes[1, 1].set(xlabel="longitude", ylabel="latitude", title="Its pattern")
figure.colorbar(drawn, ax=axes[1, 1])

# %%
# What to take away
# -----------------
# * Nonlinear cycles come out as one pair of eigenfunctions, whatever number of principal components
#   they are spread over.
# * Reduce noise first: a few principal components more than you need. Noise in hundreds of cells
#   would otherwise be the geometry that is learned; a ``NoiseWarning`` tells.
# * Eigenvalues are in 1/(unit of the field)², not per year: the order of modes is by how far the
#   field moves, not by how slowly.
# * Weeks in a row are not independent: these error bars are too short.
