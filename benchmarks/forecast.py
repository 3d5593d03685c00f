"""Forecasts and filters against known truth: ``python benchmarks/forecast.py`` prints all figures.

Everything is automatic; seeds begin where no choice has looked. Give names of sections to run
these only; `--first-seed` and `--seeds` say which seeds, `--scale` shortens every series.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import expm

import record
import vbdm

FIRST, SEEDS = 7200, 4
#: What was printed, for the file.
ROWS = []


def rms(values, axis=None):
    return np.sqrt(np.mean(np.square(values), axis=axis))


def row(name, values, asked, form="{:.3f}", worst=max):
    """Print the worst of some figures, all of them, and what was asked for."""
    shown = ", ".join(form.format(value) for value in values)
    print(f"{name:58s} worst {form.format(worst(values)):>7s}  asked {asked:12s} ({shown})")
    ROWS.append({"name": name.strip(), "worst": worst(values), "asked": asked, "values": values})


def ou_series(n, step, seed):
    rng = np.random.default_rng(seed)
    x, noise = rng.standard_normal(), rng.standard_normal(n)
    a = np.exp(-step)
    found = np.empty(n)
    for i in range(n):
        found[i] = x
        x = a * x + np.sqrt(1 - a * a) * noise[i]
    return found


def lorenz(scale, seeds):
    """Lorenz 63, all three coordinates, training at steps of .1; noise of .1 in the starts."""
    n, leads = int(5000 * scale), (1, 2, 5, 10, 20, 30, 40, 80)
    errors, scores, covered, inner, clean, chosen = [], [], [], [], [], []
    for seed in seeds:
        points = vbdm.datasets.lorenz63(n, random_state=seed).points
        fresh = vbdm.datasets.lorenz63(1600, random_state=seed + 50_000).points[500:]
        noise = 0.1 * np.random.default_rng(seed).standard_normal(fresh.shape)
        model = vbdm.Forecaster().fit(points)
        chosen.append(model.predictor_)
        known = np.array([np.mean(np.abs(points[:, 0] - y)) for y in fresh[:, 0]])
        alone = known - np.abs(points[:, None, 0] - points[::7, 0]).mean() / 2
        tables = []
        for start in (fresh + noise, fresh):
            forecast = model.predict(start[: 1000 + model.delays_], leads)
            rows, low, high = forecast.rows, *forecast.interval(0.9)
            ahead = rows[:, None] + np.asarray(leads)
            truth = fresh[ahead]
            tables.append(((low <= truth) & (truth <= high)).mean(axis=0))
            if start is not fresh:
                spread = points[:, 0].std()
                errors.append(rms(forecast.mean[..., 0] - truth[..., 0], axis=0) / spread)
                crps = forecast.crps(truth)[..., 0]
                scores.append(crps.mean(axis=0) / alone[ahead].mean(axis=0))
                half = forecast.interval(0.5)
                inner.append(((half[0] <= truth) & (truth <= half[1])).mean(axis=0)[..., 0])
        covered.append(tables[0])
        clean.append(tables[1])
    errors, scores, covered = np.array(errors), np.array(scores), np.array(covered)
    for k, asked in ((2, "≤ .23"), (3, "≤ .42"), (4, "≤ .72")):
        row(f"Lorenz 63: nRMSE of x at lead {leads[k] / 10:g}", errors[:, k], asked)
    row("Lorenz 63: largest nRMSE of x at any lead", errors.max(axis=1), "≤ 1.05")
    row("Lorenz 63: CRPS of x at lead 1 over climatology", scores[:, 3], "≤ .27")
    print(f"  90 % interval of x, leads {tuple(lead / 10 for lead in leads)}, asked .85-.95:")
    for seed, noisy, exact, half in zip(seeds, covered, np.array(clean), inner, strict=True):
        print(f"    seed {seed}: {noisy[:, 0].round(2)}; y, z from {noisy[:, 1:].min():.2f} to "
              f"{noisy[:, 1:].max():.2f}; starts without noise {exact[..., 0].round(2)}; "
              f"50 %: {np.asarray(half).round(2)}")  # fmt: skip
    print(f"  predictors {chosen}")


def ou(scale, seeds):
    """Ornstein-Uhlenbeck: conditional moments on |x| ≤ 2, and what the record itself knows."""
    grid, leads = np.linspace(-2, 2, 81), np.array([5, 10, 20])
    for n in (5000, 20_000):
        mean_errors, variance_errors, own, chosen, fitted = [], [], [], [], []
        for seed in seeds:
            series = ou_series(int(n * scale), 0.1, seed)
            model = vbdm.Forecaster().fit(series)
            chosen.append((model.predictor_, model.delays_))
            # With delays, a start at x has the past that the reversed process would have had.
            past = grid[:, None] * np.exp(-0.1 * np.arange(model.delays_)[::-1])
            forecast = model.predict(list(past[..., None]), leads)
            t = 0.1 * leads
            expected, spread = np.exp(-t) * grid[:, None], 1 - np.exp(-2 * t)
            mean_errors.append(rms(forecast.mean[..., 0] - expected, axis=0).max())
            variance_errors.append(rms(forecast.variance[..., 0] - spread, axis=0).max())
            own.append((series.mean(), series.var()))
            fitted.append(linear_errors(series, leads, grid))
        row(f"OU, {n:,} steps of .1: mean, largest of t = .5, 1, 2", mean_errors, "≤ .06")
        row(f"OU, {n:,} steps of .1: variance", variance_errors, "≤ .10")
        row("  mean by AR(1), whose form is the truth's", [e[0] for e in fitted], "-")
        row("  variance by AR(1)", [e[1] for e in fitted], "-")
        means, variances = np.array(own).T
        print(f"  mean of the record {means.round(3)}, its variance {variances.round(3)}; truth 0, "
              f"1; chosen {chosen}")  # fmt: skip


def linear_errors(series, leads, grid):
    """Return the errors of mean and variance of an AR(1) process fitted to the same record."""
    centre = series.mean()
    x = series - centre
    a = x[1:] @ x[:-1] / (x[:-1] @ x[:-1])
    noise = np.var(x[1:] - a * x[:-1])
    t = 0.1 * leads
    mean = centre + a**leads * (grid[:, None] - centre)
    variance = noise * (1 - a ** (2 * leads)) / (1 - a * a)
    wrong = rms(mean - np.exp(-t) * grid[:, None], axis=0).max()
    return wrong, np.abs(variance - 1 + np.exp(-2 * t)).max()


def well_grid(n_cells=800, edge=2.4):
    """Return places, cell width and the matrix of the generator of U = 2(x²-1)² on a grid."""
    x = (np.arange(n_cells) + 0.5) * 2 * edge / n_cells - edge
    h = x[1] - x[0]
    half = (x[1:] + x[:-1]) / 2
    potential = lambda y: 2 * (y**2 - 1) ** 2  # noqa: E731
    up = np.exp(potential(x[:-1]) - potential(half)) / h**2
    down = np.exp(potential(x[1:]) - potential(half)) / h**2
    matrix = np.diag(up, 1) + np.diag(down, -1)
    matrix -= np.diag(matrix.sum(axis=1))
    return x, h, matrix


def double_well(scale, seeds):
    """Two wells: densities at t = .1, 1, 10 from several starts, against a grid solution."""
    n, times, starts = int(10_000 * scale), (0.1, 1.0, 10.0), (-1.0, -0.5, 0.0, 0.8)
    x, h, matrix = well_grid()
    exact = {t: expm(matrix * t) for t in times}
    errors, chosen, ideal = [], [], []
    for seed in seeds:
        series = vbdm.datasets.double_well_series(n, step=0.1, random_state=seed).points
        model = vbdm.Forecaster(delays=1, horizon=100).fit(series)
        chosen.append(model.predictor_)
        forecast = model.predict(np.array(starts)[:, None], [1, 10, 100])
        found = forecast.density(x)
        truth = np.array([[exact[t][np.abs(x - s).argmin()] / h for t in times] for s in starts])
        errors.append(np.abs(found - truth).sum(axis=2).mean(axis=0) * h)
        wells = np.mean(series[:, 0] < 0)
        ideal.append(abs(2 * wells - 1))
    for k, t in enumerate(times):
        row(f"double well: L1 of the density at t = {t:g}", np.array(errors)[:, k], "≤ .1")
    print(f"  L1 by the record's shares of the wells alone {np.round(ideal, 3)}; chosen {chosen}")


def nino(scale, seeds):
    """Niño 3.4: learned to 1990, tested after it."""
    data = vbdm.datasets.nino34()
    dates = np.asarray(data.times).astype("datetime64[M]")
    train = dates <= np.datetime64("1990-12")
    leads = (1, 3, 6, 9, 12)
    tic = time.perf_counter()
    model = vbdm.Forecaster().fit(data.points[train], times=dates[train])
    seconds = time.perf_counter() - tic
    # Rows before 1991 are the past of the first starts.
    after = np.arange(len(dates)) >= train.sum() - (model.delays_ - 1)
    skill = model.skill(data.points[after], leads, times=dates[after])
    print(f"Niño 3.4 to 1990, then on: {model.predictor_}, {model.delays_} delays, {seconds:.0f} s")
    print(f"  {'lead':>4s} {'RMSE':>6s} {'clim.':>6s} {'pers.':>6s} {'linear':>6s}   {'ACC':>5s} "
          f"{'pers.':>5s} {'linear':>6s}   {'CRPS':>6s} {'clim.':>6s}  50 %  90 %")  # fmt: skip
    for k, lead in enumerate(leads):
        e, a, c = skill.rmse[:, k, 0], skill.acc[:, k, 0], skill.crps[:, k, 0]
        half, most = skill.coverage50[0, k, 0], skill.coverage90[0, k, 0]
        print(f"  {lead:4d} {e[0]:6.3f} {e[1]:6.3f} {e[2]:6.3f} {e[3]:6.3f}   {a[0]:5.2f} "
              f"{a[2]:5.2f} {a[3]:6.2f}   {c[0]:6.3f} {c[1]:6.3f}  {half:.2f}  "
              f"{most:.2f}")  # fmt: skip
        ROWS.append({
            "name": "Niño 3.4", "lead": lead, "methods": list(skill.methods), "rmse": e, "acc": a,
            "crps": c, "coverage50": half, "coverage90": most,
        })  # fmt: skip
    row("Niño 3.4: RMSE(6), K", [skill.rmse[0, 2, 0]], "≤ .82")
    row("Niño 3.4: correlation(6)", [skill.acc[0, 2, 0]], "≥ .38")
    row("Niño 3.4: correlation(12)", [skill.acc[0, 4, 0]], "≥ .2")
    row("Niño 3.4: RMSE(12) over climatology", [skill.rmse[0, 4, 0] / skill.rmse[1, 4, 0]], "≤ 1")


def kalman(seen, error, step=0.1):
    """Return means and variances of Kalman's filter of the OU process."""
    a, mean, variance, found = np.exp(-step), 0.0, 1.0, []
    for i, y in enumerate(seen):
        if i:
            mean, variance = a * mean, a * a * variance + 1 - a * a
        gain = variance / (variance + error**2)
        mean, variance = mean + gain * (y - mean), variance * (1 - gain)
        found.append((mean, variance))
    return np.array(found).T


def filters(scale, seeds):
    """Filters: OU against Kalman's, two wells against a grid, Lorenz against a particle filter."""
    ratios, differences, spreads = [], [], []
    for seed in seeds:
        model = vbdm.Forecaster(delays=1).fit(ou_series(int(5000 * scale), 0.1, seed))
        for error in (0.3, 0.7, 1.0):
            truth = ou_series(2000, 0.1, seed + 50_000)
            seen = truth + error * np.random.default_rng(seed + 1).standard_normal(len(truth))
            found = model.filter(seen, error)
            mean, variance = kalman(seen, error)
            ratios.append(rms(found.mean[:, 0] - truth) / rms(mean - truth))
            differences.append(rms(found.mean[:, 0] - mean))
            spreads.append(np.mean(found.variance[:, 0] / variance))
    row("filter OU: RMSE over Kalman's", ratios, "≤ 1.01")
    row("filter OU: difference of means", differences, "≤ .07")
    row("filter OU: variance over Kalman's, least", spreads, ".94-1.07", worst=min)
    row("filter OU: variance over Kalman's, largest", spreads, ".94-1.07")
    wells_filter(scale, seeds)
    lorenz_filter(scale, seeds)


def wells_filter(scale, seeds):
    x, _, matrix = well_grid(400)
    step = expm(matrix * 0.1).T
    ratios = []
    for seed in seeds:
        series = vbdm.datasets.double_well_series(int(10_000 * scale), step=0.1, random_state=seed)
        model = vbdm.Forecaster(delays=1).fit(series.points)
        truth = vbdm.datasets.double_well_series(2000, step=0.1, random_state=seed + 50_000)
        truth = truth.points[:, 0]
        for error in (0.5, 1.0):
            seen = truth + error * np.random.default_rng(seed + 1).standard_normal(len(truth))
            density = np.exp(-2 * (x**2 - 1) ** 2)
            means = []
            for i, y in enumerate(seen):
                density = (step @ density if i else density) * np.exp(-0.5 * ((x - y) / error) ** 2)
                density /= density.sum()
                means.append(density @ x)
            found = model.filter(seen, error)
            ratios.append(rms(found.mean[:, 0] - truth) / rms(means - truth))
    row("filter double well: RMSE over a grid filter's", ratios, "≤ 1.03")


def lorenz_step(states):
    """Move states of the system of Lorenz by .1, many at a time."""

    def velocity(s):
        x, y, z = s.T
        return np.column_stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    for _ in range(10):
        k1 = velocity(states)
        k2 = velocity(states + 0.005 * k1)
        k3 = velocity(states + 0.005 * k2)
        k4 = velocity(states + 0.01 * k3)
        states = states + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return states


def lorenz_filter(scale, seeds):
    """z from noisy x: ours knows the record, the particle filter the equations."""
    ours, theirs, alone, held = [], [], [], []
    for seed in seeds:
        points = vbdm.datasets.lorenz63(int(5000 * scale), random_state=seed).points
        model = vbdm.Forecaster(delays=1).fit(points)
        truth = vbdm.datasets.lorenz63(1000, random_state=seed + 50_000).points
        rng = np.random.default_rng(seed + 1)
        seen = truth[:, 0] + rng.standard_normal(len(truth))
        found = model.filter(seen, 1.0, columns=[0])
        low, high = found.quantile([0.05, 0.95])
        ours.append(rms(found.mean[20:, 2] - truth[20:, 2]))
        held.append(np.mean((low[20:, 2] <= truth[20:, 2]) & (truth[20:, 2] <= high[20:, 2])))
        particles, means = points[rng.integers(len(points), size=5000)], []
        for i, y in enumerate(seen):
            if i:
                particles = lorenz_step(particles) + 0.1 * rng.standard_normal(particles.shape)
            weights = np.exp(-0.5 * (particles[:, 0] - y) ** 2) + 1e-300
            particles = particles[rng.choice(5000, 5000, p=weights / weights.sum())]
            means.append(particles[:, 2].mean())
        theirs.append(rms(np.array(means)[20:] - truth[20:, 2]))
        alone.append(points[:, 2].std())
    row("filter Lorenz: RMSE of z from x with errors of 1", ours, "-")
    row("  by 5,000 particles that know the equations", theirs, "-")
    row("  spread of z", alone, "-")
    row("  share of z in the 90 % interval, least", held, "-", worst=min)


def speed(scale, seeds):
    """Fit and a hundred forecasts on 10,000 points."""
    for name, points in (
        ("OU", ou_series(int(10_000 * scale), 0.1, seeds[0])[:, None]),
        ("Lorenz 63", vbdm.datasets.lorenz63(int(10_000 * scale), random_state=seeds[0]).points),
    ):
        tic = time.perf_counter()
        model = vbdm.Forecaster().fit(points)
        fitted = time.perf_counter()
        forecast = model.predict(points[-100:], range(1, 13))
        assert np.isfinite([forecast.mean, *forecast.interval()]).all()
        done = time.perf_counter()
        print(f"{name}: fit {fitted - tic:.1f} s, {len(forecast)} forecasts at 12 leads, with "
              f"intervals, {done - fitted:.1f} s, asked < 20 s together")  # fmt: skip
        ROWS.append({"name": f"{name}: fit", "seconds": done - tic})


SECTIONS = {
    "lorenz": lorenz, "ou": ou, "double-well": double_well, "nino": nino, "filters": filters,
    "speed": speed,
}  # fmt: skip


def main():
    parser = record.parser(__doc__)
    parser.add_argument("sections", nargs="*", help=f"some of {', '.join(SECTIONS)}")
    parser.add_argument("--first-seed", type=int, default=FIRST)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies lengths of series")
    asked = record.given(
        parser, sections=["double-well", "filters"], seeds=1, scale=0.1, first_seed=4000
    )
    seeds = range(asked.first_seed, asked.first_seed + asked.seeds)
    for name in asked.sections or SECTIONS:
        SECTIONS[name](asked.scale, seeds)
    record.save(asked, ROWS)


if __name__ == "__main__":
    main()
