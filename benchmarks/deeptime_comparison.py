"""The same trajectory through deeptime and here: ``python benchmarks/deeptime_comparison.py``.

A process whose answers are known is simulated once. deeptime makes a Markov state model of it, 100
states by k-means and a lag time that is the user's choice, here three of them; vbdm estimates the
generator from the same rows, and a clock. Both then give the slowest timescale, the committor at
the rows, and the mean first passage time between the same two sets, with standard errors: those of
deeptime from 100 samples of its Bayesian model. Seconds are those of
the processor, on one core, and include everything from the rows on.

Without deeptime (``pip install deeptime``) only the rows of vbdm are printed.
"""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import process_time

import numpy as np

import record
import vbdm
from vbdm import datasets

warnings.simplefilter("ignore")

HEADER = (
    f"{'':28s}{'timescale':>16s}{'committor RMSE':>16s}{'passage time':>18s}{'seconds':>9s}"
    f"{'with bars':>11s}"
)


@dataclass(frozen=True)
class Problem:
    """A trajectory, two sets, and what is known about the passage between them."""

    rows: np.ndarray
    step: float
    diffusivity: float
    lags: tuple[int, ...]
    A: Callable[[np.ndarray], np.ndarray]
    B: Callable[[np.ndarray], np.ndarray]
    known: datasets.Transition
    timescale: float


def double_well(n: int, seed: int) -> Problem:
    """Return two wells at ±1, 2 kT deep; the sets are beyond the wells."""
    D, step = 0.5, 0.2
    series = datasets.double_well_series(n, step=step, diffusivity=D, random_state=seed)
    rate = -datasets.double_well(2).truth(2).eigenvalues[1]
    known = datasets.line_transition(lambda x: -2 * (x**2 - 1) ** 2, -1, 1, low=-2.6, high=2.6)
    return Problem(
        series.points, step, D, (1, 2, 5), lambda X: X[:, 0] <= -1, lambda X: X[:, 0] >= 1, known,
        1 / (D * rate),
    )  # fmt: skip


def muller_brown(n: int, seed: int) -> Problem:
    """Return the potential of Müller and Brown; the sets are discs in its two deepest wells."""
    step = 0.05
    series = datasets.muller_brown_series(n, step=step, random_state=seed)

    def disc(middle: tuple[float, float]) -> Callable[[np.ndarray], np.ndarray]:
        return lambda X: np.hypot(*(X - middle).T) <= 0.1

    rate = -datasets.muller_brown(2).truth(2).eigenvalues[1]
    return Problem(
        series.points, step, 1.0, (1, 2, 5), disc((-0.558, 1.441)), disc((0.623, 0.028)),
        datasets.muller_brown_transition(), 1 / rate,
    )  # fmt: skip


PROBLEMS = {"double well": double_well, "Müller-Brown": muller_brown}


def ours(problem: Problem) -> dict:
    """Print what vbdm finds, and return it."""
    X = problem.rows
    A, B = problem.A(X), problem.B(X)
    started = process_time()
    op = vbdm.estimate_operator(X, "generator", series=True)
    clock = op.spectrum(6).clock(step=problem.step)
    committor = op.committor(A, B).values
    found = op.mean_first_passage(B)
    plain = process_time() - started
    passage = found.mean(over=A)
    D, D_error = clock.diffusivity
    time = passage.value / D
    error = time * np.hypot(passage.error / passage.value, D_error / D)
    slowest = clock.timescales[1], clock.timescale_errors[1]
    with_bars = process_time() - started
    print(f"diffusivity {clock.diffusivity}, truth {problem.diffusivity:g}; modes agree: "
          f"{clock.consistent}")  # fmt: skip
    return shown("vbdm", problem, slowest, committor, (time, error), plain, with_bars)


def theirs(problem: Problem, lag: int) -> dict:
    """Print what a Markov state model of deeptime finds, and return it."""
    from deeptime.clustering import KMeans
    from deeptime.markov import TransitionCountEstimator
    from deeptime.markov.msm import BayesianMSM, MaximumLikelihoodMSM

    started = process_time()
    clusters = KMeans(100, max_iter=50, fixed_seed=1, n_jobs=1).fit_fetch(problem.rows)
    states = clusters.transform(problem.rows)

    def counted(mode: str):
        """Return counts of transitions, and the states of both sets."""
        counts = TransitionCountEstimator(lag, mode).fit_fetch(states).submodel_largest()
        centres = clusters.cluster_centers[counts.state_symbols]
        return counts, np.flatnonzero(problem.A(centres)), np.flatnonzero(problem.B(centres))

    counts, A, B = counted("sliding")
    msm = MaximumLikelihoodMSM(reversible=True).fit_fetch(counts)
    chances = np.full(len(clusters.cluster_centers), np.nan)
    chances[counts.state_symbols] = msm.committor_forward(A, B)
    timescale, passage = msm.timescales(1)[0], msm.mfpt(A, B)
    plain = process_time() - started
    counts, A, B = counted("effective")
    samples = BayesianMSM(n_samples=100, reversible=True).fit_fetch(counts).samples
    drawn = [[one.timescales(1)[0], one.mfpt(A, B)] for one in samples]
    # A single sample may be far off: half of the range that has 68 % of them.
    bars = np.diff(np.percentile(drawn, [16, 84], axis=0), axis=0)[0] / 2
    with_bars = process_time() - started
    # Times are in rows.
    slowest, time = problem.step * np.array([[timescale, bars[0]], [passage, bars[1]]])
    name = f"deeptime, lag {lag * problem.step:g}"
    return shown(name, problem, slowest, chances[states], time, plain, with_bars)


def shown(name, problem, timescale, committor, passage, plain, with_bars) -> dict:
    """Print a row of the table, and return it."""
    wrong = np.sqrt(np.nanmean((committor - problem.known.committor(problem.rows)) ** 2))
    print(
        f"{name:28s}{timescale[0]:8.2f} ± {timescale[1]:5.2f}"
        f"{wrong:16.4f}{passage[0]:10.2f} ± {passage[1]:5.2f}{plain:9.2f}{with_bars:11.2f}"
    )
    return {
        "by": name, "timescale": timescale, "committor": wrong, "passage": passage,
        "seconds": plain, "with_bars": with_bars,
    }  # fmt: skip


def main() -> None:
    parser = record.parser(__doc__)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--problems", nargs="+", default=list(PROBLEMS), choices=list(PROBLEMS))
    options = record.given(parser, points=2000)
    installed = importlib.util.find_spec("deeptime") is not None
    if not installed:
        print("deeptime is not installed (pip install deeptime): its rows are left out.")
    figures = {}
    for name in options.problems:
        problem = PROBLEMS[name](options.points, options.seed)
        print(f"\n{name}, {options.points:,} rows, one every {problem.step:g}\n{HEADER}")
        time = problem.known.mean_passage_time / problem.diffusivity
        print(f"{'truth':28s}{problem.timescale:8.2f}{'':24s}{time:10.2f}")
        # What is compiled or loaded when first used is no part of the seconds.
        ours_first = vbdm.estimate_operator(problem.rows[:1000], "generator", series=True)
        ours_first.spectrum(3)
        truth = {"by": "truth", "timescale": problem.timescale, "passage": time}
        rows = [theirs(problem, lag) for lag in (problem.lags if installed else ())]
        figures[name] = {"step": problem.step, "rows": [truth, ours(problem), *rows]}
    record.save(options, figures)


if __name__ == "__main__":
    main()
