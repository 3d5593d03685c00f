"""
Guide: forecast and filter a chaotic system
===========================================

Nobody tells you the equations of a system, but you have a long record of it. What will it do next,
and how sure can one be? And what is it doing now, if all that is measured now is one of its
coordinates, badly? Lorenz's system of 1963 is the test: whatever the record alone says about it can
be compared with what it did.
"""

import matplotlib.pyplot as plt
import numpy as np

import vbdm

# %%
# A record, and a forecaster
# --------------------------
# Rows are x, y and z, 0.05 time units apart; a turn takes about 15 of them. A row is a state: no
# delays are needed. Parts of the record are held out in turn, and decide who predicts. In chaos it
# is neighbours, that is what came after similar states; modes would blur the fine structure.

STEP = 0.05
record = vbdm.datasets.lorenz63(4000, step=STEP, random_state=0).points
new = vbdm.datasets.lorenz63(1000, step=STEP, random_state=1).points
model = vbdm.Forecaster(delays=1).fit(record)
for name, score in model.scores_.items():
    print(f"{name:10s} {score:.2f} of the score of climatology, on what was held out")
print("predictor:", model.predictor_)

# %%
# How far ahead?
# --------------
# Forecasts are made from each row of another run, and compared with what came. Errors are in units
# of the spread of each column; the linear model is a regression on the state, for each lead.

LEADS = np.array([1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100])
skill = model.skill(new, LEADS)
error = (skill.rmse / new.std(axis=0)).mean(axis=2)
print("turns ahead   " + "".join(f"{lead / 15:7.1f}" for lead in LEADS[[2, 3, 5, 7, 9, 11]]))
for name, row in zip(skill.methods, error[:, [2, 3, 5, 7, 9, 11]], strict=True):
    print(f"{name:13s} " + "".join(f"{value:7.2f}" for value in row))

# %%
# Do intervals hold what came?
# ----------------------------
# Neighbours near each other part after a while: where they do, forecasts are wide, and where all of
# them go the same way, narrow. Overall, 90 % intervals should hold what came nine times in ten.
# They do so a little more often.

coverage = skill.coverage90[0].mean(axis=1)
print("90 % intervals held", ", ".join(f"{share:.0%}" for share in coverage[[0, 3, 7, 11]]),
      "at 1, 10, 40 and 100 steps")  # fmt: skip

# %%
# A forecast with two peaks
# -------------------------
# The mean of two wings of the attractor is a place where the system never is. So a forecast is a
# whole distribution, of which members can be drawn; each follows one past of the record. Taken here
# is a start whose forecast of x is narrow for more than a turn, and then parts.

early, late = model.predict(new[:900], [18, 30]).std[:, :, 0].T
start = int(np.argmax(late - 2 * early))
one = model.predict(new[start : start + 1], np.arange(1, 61))
edges = np.linspace(-20, 20, 41)
drawn = one.sample(2000, random_state=0)[:, 0, :, 0]  # members, leads
shares = np.array([np.histogram(values, edges)[0] / len(drawn) for values in drawn.T])
came = new[start + 1 : start + 61, 0]
low, high = one.interval(0.9)[:, 0, :, 0]
share = np.mean((low <= came) & (came <= high))
print(f"from row {start}: {share:.0%} of 60 steps are in their 90 % interval")

# %%
# What is it doing now?
# ---------------------
# Now x is measured with an error of 2, a fourth of its spread; y and z are not measured at all.
# Each step is a forecast by one step, and Bayes' rule: states of the record count by how likely
# they make the measurement. All columns come out, with their uncertainty.

ERROR = 2.0
measured = new[:, 0] + ERROR * np.random.default_rng(0).standard_normal(len(new))
filtered = model.filter(measured, ERROR, columns=[0])
settled = slice(20, None)  # the first steps know little of the past
wrong = np.sqrt(np.mean((filtered.mean - new)[settled] ** 2, axis=0))
ends = filtered.quantile([0.05, 0.95])
inside = np.mean((ends[0] <= new) & (new <= ends[1]), axis=0)
print(f"error of x: {ERROR:.1f} as measured, {wrong[0]:.2f} filtered")
for j, name in ((1, "y"), (2, "z")):
    print(f"error of {name}: {wrong[j]:.2f}, of a spread of {new[:, j].std():.1f}; "
          f"90 % intervals held {inside[j]:.0%}")  # fmt: skip

# %%
# The evidence of the measurements tells their error, if it is not known: it is largest near the
# true one.

errors = np.array([1.0, 1.5, 2.0, 2.5, 3.0])
evidence = np.array([
    model.filter(measured[:300], error, columns=[0]).log_likelihood for error in errors
])  # fmt: skip
for value, told in zip(errors, evidence - evidence.max(), strict=True):
    print(f"error {value:.1f}: log-likelihood {told:8.1f}")

# %%
figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
ax = axes[0, 0]
styles = ("C0o-", "0.6", "C1--", "C2--")
for name, row, style in zip(skill.methods, error, styles, strict=True):
    ax.plot(STEP * LEADS, row, style, ms=4, label=name)
ax.set(xlabel="lead (a turn takes 0.75)", ylabel="error / spread", ylim=(0, 1.6))
ax.set_title("How far ahead?")
ax.legend(frameon=False)
ax = axes[0, 1]
ax.plot(STEP * LEADS, skill.coverage90[0], "o-", ms=4, label=["x", "y", "z"])
ax.axhline(0.9, color="k", lw=0.8)
ax.set(xlabel="lead", ylabel="share of what came", ylim=(0.6, 1), title="Held by 90 % intervals")
ax.legend(frameon=False)
ax = axes[1, 0]
lead = STEP * one.leads
between = STEP * (np.arange(61) + 0.5)
ax.pcolormesh(between, edges, shares.T, cmap="Blues", vmax=0.3, rasterized=True)
ax.plot(lead, one.mean[0, :, 0], "C1--", label="mean")
ax.plot(lead, came, "k", lw=1.5, label="what came")
ax.set(xlabel="lead", ylabel="x", title="A forecast with two peaks")
ax.legend(frameon=False, loc="lower left")
ax = axes[1, 1]
shown, time = slice(100, 250), STEP * np.arange(len(new))
ax.fill_between(
    time[shown], *ends[:, shown, 2], color="C0", alpha=0.3, lw=0, label="90 %, from x with noise"
)
ax.plot(time[shown], filtered.mean[shown, 2], "C0")
ax.plot(time[shown], new[shown, 2], "k--", lw=1, label="true z")
ax.set(xlabel="time", ylabel="z", ylim=(0, 56), title="A coordinate nobody measured")
ax.legend(frameon=False, loc="upper left", ncols=2)

# %%
# What to take away
# -----------------
# * ``model.predict`` gives whole distributions; look at quantiles or densities, not at means alone.
# * Far ahead, the forecast goes to the climatology of the record and says so by its width.
# * ``model.filter`` needs a record of all columns, once. Then one noisy column tells the others.
# * Intervals are too narrow for starts that are noisier than the record. Do not put noisy rows into
#   ``predict``: filter them.
