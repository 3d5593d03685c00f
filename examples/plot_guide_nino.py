"""
Guide: what comes next in the Pacific
=====================================

Every few years the eastern Pacific is a degree or two warmer than usual for some seasons, El Niño,
or colder, La Niña, and the weather of half the world goes with it. What will it be in half a year?
The record of one number, the temperature of the sea in the Niño 3.4 region, goes back to 1871. This
guide learns from it up to 1989, and is then judged by all that came after: beside what anybody
could have said, and by whether its 90 % intervals held what came nine times in ten.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# A record with dates
# -------------------
# Months with dates have a year, so the mean of each season is taken off before anything is learned,
# and put back in forecasts. A state is this month and the four before it: one month does not tell
# whether the sea is warming or cooling. ``delays="auto"`` would try 1 to 12.

nino = vbdm.datasets.nino34()
before = nino.times < np.datetime64("1990-01")
model = vbdm.Forecaster(delays=5, horizon=24)
model.fit(nino.points[before], times=nino.times[before])
print(f"{before.sum()} months to learn from, {(~before).sum()} to be judged by")
print(f"a cycle of {model.season_:.0f} months; predictor: {model.predictor_}")
for name, score in model.scores_.items():
    print(f"  {name:10s} {score:.3f} of the score of climatology, on what was held out")

# %%
# How good is it?
# ---------------
# Forecasts from every month after 1989. Climatology says that things will be as usual, persistence
# that they will stay as they are; the linear model is a regression on the same five months. ACC is
# the correlation of what was said with what came, both without the seasons; 0.5 is where forecasts
# begin to be of use.

LEADS = [1, 3, 6, 9, 12]
skill = model.skill(nino.points[~before], LEADS, times=nino.times[~before])
acc, rmse = skill.acc[..., 0], skill.rmse[..., 0]
print("months ahead " + "".join(f"{lead:>8d}" for lead in LEADS))
for table, unit in ((acc, "ACC"), (rmse, "error, °C")):
    for method, row in zip(skill.methods, table, strict=True):
        print(f"{method:12s} " + "".join(f"{value:8.2f}" for value in row) + f"   {unit}")

# %%
# Does it know what it does not know?
# -----------------------------------
# A 90 % interval should hold what came in nine cases of ten, at every lead. Those of one month hold
# more: in the first decades of the record few ships measured, and months differ by more.

for k, lead in enumerate(LEADS):
    inner, outer = skill.coverage50[0, k, 0], skill.coverage90[0, k, 0]
    print(f"{lead:2d} months ahead: 50 % intervals held {inner:.0%}, 90 % intervals {outer:.0%}")

# %%
# Two forecasts
# -------------
# In June 2010 an El Niño had just ended; in June 2015 one had just begun. Only months up to June go
# in. The first forecast says La Niña until spring, and so it came. The second says that the warmth
# will fade; it grew to the strongest El Niño since 1998, which few years before 1990 had been like.


def said_in(month):
    """Return the forecast from the months up to this one, and these months."""
    last = int(np.flatnonzero(nino.times == np.datetime64(month))[0])
    rows = slice(last - 11, last + 1)
    return model.predict(nino.points[rows], range(1, 25), times=nino.times[rows]), rows


def held_by(fan):
    """Return the share of the months that came in their 90 % intervals, from the last start."""
    low, high = fan.interval(0.9)[:, -1, :, 0]
    came = nino.points[np.searchsorted(nino.times, fan.valid_times[-1]), 0]
    return float(np.mean((low <= came) & (came <= high)))


with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fans = {month: said_in(month) for month in ("2010-06", "2015-06")}
for warning in caught[:1]:
    print(f"{warning.category.__name__}: {warning.message}")
held = {month: held_by(fan) for month, (fan, _) in fans.items()}
for month, share in held.items():
    print(f"said in {month}: {share:.0%} of the two years that came are in their 90 % intervals")

# %%
# Half a year ahead, all along
# ----------------------------
# The warning is about leads of well over a year, grey in the pictures: there a forecast says no
# more than climatology does. Half a year ahead it says more. Anomalies are differences from the
# season, as the model knows it.

new, dates = nino.points[~before], nino.times[~before]
half = model.predict(new, 6, times=dates)
season = half.season[:, 0, 0]
anomaly = half.mean[:, 0, 0] - season
ends = half.interval(0.9)[:, :, 0, 0] - season
kept = half.valid_times[:, 0] <= dates[-1]
truth = nino.points[np.searchsorted(nino.times, half.valid_times[kept, 0]), 0] - season[kept]
print(f"mean of what came, less what was said: {np.mean(truth - anomaly[kept]):+.2f} °C")

# %%
figure, axes = plt.subplot_mosaic(
    [["2010-06", "2015-06"], ["half", "half"], ["acc", "reliable"]],
    figsize=(9.5, 10), layout="constrained",
)  # fmt: skip
for month, (fan, rows) in fans.items():
    ax = fan.plot(past=nino.points[rows, 0], ax=axes[month])
    after = slice(rows.stop - 1, rows.stop + 24)
    ax.plot(nino.times[after], nino.points[after, 0], "C3", lw=1.5, label="what came")
    ax.set(title=f"Said in {month}", xlabel="", ylabel="Niño 3.4 (°C)", ylim=(22, 31))
    ax.tick_params(axis="x", labelrotation=40)
    ax.legend(frameon=False, fontsize=7.5, ncols=2, loc="lower left")
axes["2015-06"].get_legend().remove()
ax = axes["acc"]
for name, row, style in zip(skill.methods, acc, ("C0o-", "", "C1s--", "C2^--"), strict=True):
    if np.isfinite(row).all():
        ax.plot(LEADS, row, style, label=name)
ax.axhline(0.5, color="0.6", lw=0.8)
ax.set(xlabel="months ahead", ylabel="ACC, 1990 to 2022", ylim=(-0.1, 1.02), xticks=LEADS)
ax.set_title("How far ahead?")
ax.legend(frameon=False)
ax = axes["half"]
valid = half.valid_times[kept, 0]
ax.fill_between(
    valid, *ends[:, kept], color="C0", alpha=0.2, lw=0, label="90 % interval, six months before"
)
ax.plot(valid, anomaly[kept], "C0", lw=1, label="mean")
ax.plot(valid, truth, "k", lw=1, label="what came")
ax.set(ylabel="anomaly (°C)", title="Half a year ahead, all along", ylim=(-3, 4.5))
ax.legend(frameon=False, loc="upper center", ncols=3)
ax = axes["reliable"]
places = (np.arange(10) + 0.5) / 10
for k, style in ((1, "C0o-"), (2, "C3s-"), (4, "C4^-")):
    ax.plot(places, skill.histogram[k, 0], style, label=f"{LEADS[k]} months")
ax.axhline(0.1, color="k", lw=0.8)
ax.set(xlabel="forecast probability below what came", ylabel="share of forecasts", ylim=(0, 0.25))
ax.set_title("Reliable? Then all are 0.1")
ax.legend(frameon=False, loc="upper left")

# %%
# What to take away
# -----------------
# * One column and its past are enough for a forecast of El Niño that beats climatology, persistence
#   and a linear model from three months on; one month ahead the linear model is as good.
# * Intervals hold what came about as often as they say, in years that nobody had seen: their width
#   was set on parts of the record that were held out.
# * The histogram leans to the right: the sea has grown warmer since the years that were learned
#   from. A record cannot foresee what it has not seen. Take a trend off first, if there is one.
# * Well over a year ahead this column alone tells nothing, and a ``SkillWarning`` says so.
