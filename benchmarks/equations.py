"""Equations against known truth: ``python benchmarks/equations.py`` prints what was reached.

Every row is the worst of some seeds, with the defaults. Give names of sections to run these only;
`--first-seed` starts the seeds, `--points` is N. The section `size` takes N = 10⁴, 10⁵ and 10⁶.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.special import erf

import record
import vbdm

SEEDS, FIRST, POINTS = 4, 9100, 10_000
#: What was printed, for the file.
ROWS = []


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def relative(found, truth):
    return rms(found - truth) / rms(truth)


def row(name, values, asked, form="{:.4f}"):
    """Print the worst of some figures, all of them, and what was asked for."""
    shown = ", ".join(form.format(value) for value in values)
    worst = float(np.max(np.abs(values)))
    print(f"{name:44s} worst {form.format(worst)}  asked {asked:12s} ({shown})")
    ROWS.append({"name": name.strip(), "worst": worst, "asked": asked, "values": values})


def plane(n, seed):
    return np.random.default_rng(seed).standard_normal((n, 2))


def sphere(n, seed):
    Z = np.random.default_rng(seed).standard_normal((n, 3))
    return Z / np.linalg.norm(Z, axis=1)[:, None]


def uneven_sphere(n, seed):
    Z = np.random.default_rng(seed).normal((0, 0, 0.5), 1.0, (n, 3))
    return Z / np.linalg.norm(Z, axis=1)[:, None]


def annulus_truth(r):
    grid = np.linspace(0.5, 2, 4001)
    return np.interp(r, grid, cumulated(grid, np.exp(grid**2 / 2) / grid, share=True))


def cumulated(x, y, share=False):
    found = np.concatenate([[0], np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(x))])
    return found / found[-1] if share else found


def double_well(x):
    return -2 * (x**2 - 1) ** 2


def committors(n, seeds):
    """Committors on the line, in an annulus, and in the valley of Müller and Brown."""
    lines = {
        "OU R": (lambda x: -(x**2) / 2, lambda s: np.random.default_rng(s).normal(size=(n, 1))),
        "double well": (
            double_well, lambda s: vbdm.datasets.double_well(n, random_state=s).points
        ),
    }  # fmt: skip
    for name, (log_density, draw) in lines.items():
        known = vbdm.datasets.line_transition(log_density, -1.0, 1.0, low=-6.0, high=6.0)
        errors = []
        for seed in seeds:
            X = draw(seed)
            x = X[:, 0]
            found = vbdm.estimate_operator(X, "generator").committor(x <= -1, x >= 1)
            free = np.abs(x) < 1
            errors.append(rms(found.values[free] - known.committor(x[free])))
        row(f"committor {name}", errors, "≤ .012")
    by_mask, by_distance = [], []
    for seed in seeds:
        X = plane(n, seed)
        r = np.hypot(*X.T)
        op = vbdm.estimate_operator(X, "generator")
        free = (r >= 0.5) & (r <= 2)
        truth = annulus_truth(r[free])
        by_mask.append(rms(op.committor(r < 0.5, r > 2).values[free] - truth))
        by_distance.append(rms(op.committor(r - 0.5, 2 - r).values[free] - truth))
    row("committor OU R2, annulus, by masks", by_mask, "≤ .025")
    row("committor OU R2, annulus, by distances", by_distance, "≤ .025")
    for hotter in (1, 2, 3):
        errors, rates = zip(*(muller(n, seed, hotter) for seed in seeds), strict=True)
        name = "" if hotter == 1 else f", sampled at {hotter} T, weights"
        row(f"committor Müller-Brown{name}", errors, "≤ .012")
        row(f"   rate A to B, relative error{name}", rates, "-", "{:+.3f}")


def muller(n, seed, hotter):
    """Return the error of the committor where V < 10, and that of the rate."""
    beta = 1 / 20
    sample = vbdm.datasets.muller_brown(n, beta_sampling=beta / hotter, random_state=seed)
    X = sample.points
    op = vbdm.estimate_operator(X, "generator", weights=sample.weights)
    discs = [np.hypot(*(X - c).T) <= 0.1 for c in ((-0.558, 1.441), (0.623, 0.028))]
    known = vbdm.datasets.muller_brown_transition(beta)
    found = op.committor(*discs)
    low = vbdm.datasets.muller_brown_potential(X) < 10
    error = rms(found.values[low] - known.committor(X[low]))
    return error, found.rate.value / known.rate - 1


def passage(n, seeds):
    """The time to cross a double well: its bias and its bar, over three times as many seeds."""
    known = vbdm.datasets.line_transition(double_well, -1.0, 1.0, low=-6.0, high=6.0)
    many = range(seeds[0], seeds[0] + 3 * len(seeds))
    times, fluxes = [], []
    for seed in many:
        X = vbdm.datasets.double_well(n, random_state=seed).points
        x = X[:, 0]
        op = vbdm.estimate_operator(X, "generator")
        times.append(op.mean_first_passage(x >= 1).mean(over=x <= -1))
        fluxes.append(op.committor(x <= -1, x >= 1).flux)
    for name, found, truth in (
        ("passage time", times, known.mean_passage_time), ("flux", fluxes, known.flux)
    ):  # fmt: skip
        values, errors = np.array(found).T
        bias, seen = values.mean() / truth - 1, values.std(ddof=1)
        print(
            f"{name} of the double well, {len(many)} seeds: bias {bias:+.1%} (asked ≤ 2 %), "
            f"seen {seen / truth:.1%}, median bar over seen {np.median(errors) / seen:.2f} "
            f"(asked .75-1.35), within 2 bars {np.mean(np.abs(values - truth) < 2 * errors):.2f}"
        )
        ROWS.append({
            "name": f"{name} of the double well", "seeds": len(many), "bias": bias,
            "bar_over_seen": np.median(errors) / seen,
        })  # fmt: skip


def leaving(n, seeds):
    """The time to leave r < 2 on OU R2, and to reach r < 1/2."""
    grid = np.linspace(1e-9, 2, 8001)
    time_from = cumulated(grid, np.expm1(grid**2 / 2) / grid)
    by_mask, by_distance, reaching = [], [], []
    for seed in seeds:
        X = plane(n, seed)
        r = np.hypot(*X.T)
        op = vbdm.estimate_operator(X, "generator")
        inside = r < 2
        truth = (time_from[-1] - np.interp(r[inside], grid, time_from)).mean()
        by_mask.append(op.equations.exit_time(inside).values[inside].mean() / truth - 1)
        by_distance.append(op.equations.exit_time(r - 2).values[inside].mean() / truth - 1)
        far = r > 0.5
        found = op.mean_first_passage(~far).values[far].mean()
        reaching.append(found / np.log(r[far] / 0.5).mean() - 1)
    row("exit of r < 2, OU R2, by mask", by_mask, "≤ .05", "{:+.3f}")
    row("exit of r < 2, OU R2, by distance", by_distance, "≤ .03", "{:+.3f}")
    row("time to reach r < 1/2, OU R2", reaching, "-", "{:+.3f}")


def poisson(n, seeds):
    """L u = f without sets, screened or not; on the plane for a linear and a quadratic u."""
    figures = {name: [] for name in ("sphere", "OU R2, x", "OU R2, x + y² - 1")}
    for seed in seeds:
        X = sphere(n, seed)
        op, z = vbdm.estimate_operator(X), X[:, 2]
        found = [relative(op.solve(z, screen=k).values, z / (k + 2)) for k in (0.0, 1.0)]
        figures["sphere"].append(max(found))
        X = plane(n, seed)
        op, (x, y) = vbdm.estimate_operator(X, "generator"), X.T
        u, rate_u = x + y**2 - 1, x + 2 * (y**2 - 1)
        for name, truth, f in (("OU R2, x", x, x), ("OU R2, x + y² - 1", u, rate_u)):
            found = [relative(op.solve(f + k * truth, screen=k).values, truth) for k in (0.0, 1.0)]
            figures[name].append(max(found))
    for name, asked in zip(figures, ("≤ .025", "≤ .12", "≤ .12"), strict=True):
        row(f"Poisson and screened, {name}", figures[name], asked)


def weights(n, seeds):
    """An 8 kT double well from biased samples; weights 1 against none."""
    for share in (0.25, 0.1):
        errors, inside = [], []
        for seed in seeds:
            sample = vbdm.datasets.double_well(
                n, barrier=8.0, beta_sampling=share, random_state=seed
            )
            op = vbdm.estimate_operator(sample.points, "generator", weights=sample.weights)
            spectrum = op.spectrum(4)
            truth = sample.truth(3).eigenvalues[1]
            errors.append(spectrum.eigenvalues[1] / truth - 1)
            low, high = spectrum.intervals()[1]
            inside.append(bool(low <= truth <= high))
        row(f"8 kT double well sampled at U·{share}: λ1", errors, "≤ .15", "{:+.3f}")
        print(f"   median {np.median(np.abs(errors)):.3f} (asked .05), inside intervals: {inside}")
        ROWS[-1] |= {"median": np.median(np.abs(errors)), "inside": inside}
    X = plane(2000, seeds[0])
    one = vbdm.estimate_operator(X, "generator", weights=np.ones(2000)).spectrum(6)
    none = vbdm.estimate_operator(X, "generator").spectrum(6)
    same = np.array_equal(one.eigenvalues, none.eigenvalues) and np.array_equal(
        one.eigenfunctions, none.eigenfunctions
    )
    print(f"weights 1: the same bits as none: {same}")
    ROWS.append({"name": "weights 1: the same bits as none", "same": same})


def clock(n, seeds):
    """D = 1/2 of a double well from a trajectory."""
    for step in (0.02, 0.2):
        found = []
        for seed in seeds:
            series = vbdm.datasets.double_well_series(
                n, step=step, diffusivity=0.5, random_state=seed
            )
            spectrum = vbdm.estimate_operator(series.points, "generator", series=True).spectrum(6)
            found.append(spectrum.clock(step=step).diffusivity)
        errors = [value / 0.5 - 1 for value, _ in found]
        row(f"D of a double well, step {step}", errors, "≤ .05", "{:+.3f}")
        print("   bars over D:", ", ".join(f"{error / 0.5:.3f}" for _, error in found))


def semigroup(n, seeds):
    """e^{tL} f for t from .05 to 1, by 30 modes."""
    times = np.array([0.05, 0.1, 0.2, 0.5, 1.0])
    on_sphere, on_plane, drift = [], [], []
    for seed in seeds:
        X = sphere(n, seed)
        op = vbdm.estimate_operator(X)
        z, w = X[:, 2], X[:, 0] * X[:, 1]
        found = op.spectrum(30).evolve(z + w, times)
        truth = z[:, None] * np.exp(-2 * times) + w[:, None] * np.exp(-6 * times)
        on_sphere.append(max(map(rms, (found - truth).T)) / rms(z + w))
        X = plane(n, seed)
        op, (x, y) = vbdm.estimate_operator(X, "generator"), X.T
        f = x + y**2
        found = op.spectrum(30).evolve(f, times)
        truth = x[:, None] * np.exp(-times) + 1 + (y**2 - 1)[:, None] * np.exp(-2 * times)
        on_plane.append(max(map(rms, (found - truth).T)) / rms(f))
        drift.append(np.abs(op.equations.measure @ found - op.equations.measure @ f).max())
    row("semigroup, sphere", on_sphere, "≤ .035")
    row("semigroup, OU R2, x + y²", on_plane, "≤ .10")
    row("change of the mean under the measure", drift, "≤ 1e-10", "{:.1e}")
    short_times(n, seeds)


def short_times(n, seeds):
    """The sign of x on the plane after short times, by 20 modes and by 16 steps."""
    times, found = np.array([0.005, 0.02, 0.1, 0.5]), {"modes": [], "steps": []}
    for seed in seeds:
        X = plane(n, seed)
        spectrum, f = vbdm.estimate_operator(X, "generator").spectrum(20), np.sign(X[:, 0])
        decay = np.exp(-times)
        truth = erf(X[:, :1] * decay / np.sqrt(2 * (1 - decay**2)))
        for by, errors in found.items():
            errors.append([rms(e) for e in (spectrum.evolve(f, times, by=by) - truth).T])
    for by, errors in found.items():
        for t, values in zip(times, np.transpose(errors), strict=True):
            row(f"sign of x after {t:g} by {by}", values, "-")


def gradients(n, seeds):
    """∇f, tangents and Γ(f, f) on an uneven sphere and on the plane inside r < 2; the drift."""
    on_sphere, on_plane, angles, squares, drifts, products = [], [], [], [], [], []
    for seed in seeds:
        X = uneven_sphere(n, seed)
        op, (x, y, z) = vbdm.estimate_operator(X), X.T
        ambient = np.stack([y, x, np.ones_like(z)], axis=1)  # of xy + z
        truth = ambient - (ambient * X).sum(axis=1)[:, None] * X
        on_sphere.append(relative(op.gradient(x * y + z), truth))
        angles.append(rms(np.einsum("ijk,ij->ik", op.calculus.tangents, X).ravel()) * np.sqrt(2))
        X = plane(n, seed)
        op, (x, y) = vbdm.estimate_operator(X, "generator"), X.T
        near = np.hypot(x, y) < 2
        truth = np.stack([y, x + 2 * y], axis=1)[near]  # of xy + y²
        f = x * y + y**2
        on_plane.append(relative(op.gradient(f)[near], truth))
        squares.append(relative(op.calculus.carre_du_champ(f, f)[near], (truth**2).sum(axis=1)))
        drifts.append(relative(op.spectrum(12).dynamics.drift(), -X))
        products.append(relative(op @ x, -x))
    row("gradient, uneven sphere", on_sphere, "≤ .015")
    row("gradient, OU R2, r < 2", on_plane, "≤ .015")
    row("tangents, sine of the angle", angles, "≤ .01")
    row("Γ(f, f), OU R2, r < 2", squares, "-")
    row("drift by 12 modes, OU R2", drifts, "-")
    row("drift by op @ x, OU R2", products, "-")


def size(n, seeds):
    """Iterations, and the time of a committor beside that of the estimate, as N grows."""
    vbdm.estimate_operator(plane(30_000, 0), "generator").spectrum(4)  # compiles
    for points in (10**4, 10**5, 10**6):
        X = plane(points, seeds[0])
        r = np.hypot(*X.T)
        start = time.perf_counter()
        op = vbdm.estimate_operator(X, "generator")
        operator = time.perf_counter() - start
        spectrum = op.spectrum(10)
        spectrum.intervals()
        estimate = time.perf_counter() - start
        start = time.perf_counter()
        found = op.committor(r < 0.5, r > 2)
        once = time.perf_counter() - start
        rate = found.rate
        with_bars = time.perf_counter() - start
        start = time.perf_counter()
        again = op.mean_first_passage(r < 0.5)
        later = time.perf_counter() - start
        print(
            f"N = {points:9,d}: committor {found.iterations} iterations, passage time "
            f"{again.iterations}; committor {once / estimate:.2f}, with rates and bars "
            f"{with_bars / estimate:.2f}, a further equation {later / estimate:.2f} of the "
            f"estimate's time (operator {operator / estimate:.2f}, {estimate:.1f} s); {rate}"
        )
        ROWS.append({
            "name": f"size {points}", "iterations": found.iterations,
            "committor": once / estimate, "with_bars": with_bars / estimate,
            "further": later / estimate,
        })  # fmt: skip


SECTIONS = {
    "committors": committors, "passage": passage, "leaving": leaving, "poisson": poisson,
    "weights": weights, "clock": clock, "semigroup": semigroup, "gradients": gradients,
    "size": size,
}  # fmt: skip


def main():
    parser = record.parser(__doc__)
    parser.add_argument("sections", nargs="*", help=f"of {', '.join(SECTIONS)}; all by default")
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--first-seed", type=int, default=FIRST)
    small = [name for name in SECTIONS if name != "size"]
    given = record.given(parser, sections=small, points=800, seeds=1, first_seed=4000)
    seeds = list(range(given.first_seed, given.first_seed + given.seeds))
    for name in given.sections or SECTIONS:
        print(f"-- {name}: {SECTIONS[name].__doc__}", flush=True)
        SECTIONS[name](given.points, seeds)
    record.save(given, ROWS)


if __name__ == "__main__":
    main()
