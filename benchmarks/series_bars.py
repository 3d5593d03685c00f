"""Error bars of time series against their spread: ``python benchmarks/series_bars.py``.

Each row of the table is a process at equilibrium, simulated again and again: how λ1 and λ2 of the
generator scatter over the series, which error one series predicts for itself, and which it would
predict if its rows were independent. A series with modes that were left out (`left_out`) may have
lost λ1: it is counted, and the spread is that of the others. The last lines have independent
points, where error bars must be what they are without any look at the order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.signal import lfilter

import record
import vbdm

#: Eigenvalues whose bars are judged.
MODES = [1, 2]


def ornstein_uhlenbeck(n: int, dim: int, step: float, seed: int) -> np.ndarray:
    """Return n steps, (n, dim), of dX = -X dt + √2 dW, exactly, from equilibrium on."""
    memory = np.exp(-step)
    noise = np.random.default_rng(seed).standard_normal((n, dim))
    noise[1:] *= np.sqrt(1 - memory**2)
    return lfilter([1], [1, -memory], noise, axis=0)


def two_wells(n: int, step: float, seed: int, inner: float = 0.005) -> np.ndarray:
    """Return n steps, (n, 1), of dX = -U' dt + √2 dW with U = (x² - 1)², by Euler's method."""
    generator, place = np.random.default_rng(seed), 1.0
    places, before = [], 200
    for _ in range(n + before):
        for push in generator.standard_normal(round(step / inner)) * np.sqrt(2 * inner):
            place += push - 4 * place * (place**2 - 1) * inner
        places.append(place)
    return np.array(places[before:])[:, None]


#: Name, number of rows, and the series of a seed.
PROCESSES: dict[str, tuple[int, Callable[[int, int], np.ndarray]]] = {
    "OU on R, step .1": (5000, lambda n, seed: ornstein_uhlenbeck(n, 1, 0.1, seed)),
    "OU on R², step .1": (5000, lambda n, seed: ornstein_uhlenbeck(n, 2, 0.1, seed)),
    "OU on R², step .02": (10_000, lambda n, seed: ornstein_uhlenbeck(n, 2, 0.02, seed)),
    "two wells, step .1": (5000, lambda n, seed: two_wells(n, 0.1, seed)),
}


def compare(name: str, n: int, make: Callable[[int, int], np.ndarray], seeds: range) -> dict:
    """Print how eigenvalues scatter over series, and what the bars say; return it."""
    values, bars, alone, counts = [], [], [], []
    lost = 0
    for seed in seeds:
        found = vbdm.estimate_operator(make(n, seed), "generator").spectrum(6)
        if found.left_out.size:
            lost += 1
            continue
        errors = np.sqrt(np.diag(found.errors.covariance))
        values.append(found.eigenvalues[MODES])
        bars.append(errors[MODES])
        alone.append((errors * np.sqrt(found.errors.effective_points / n))[MODES])
        counts.append(found.errors.effective_points[MODES])
    seen, bar = np.std(values, axis=0, ddof=1), np.mean(bars, axis=0)
    columns = zip(MODES, seen, bar, np.mean(alone, axis=0), np.median(counts, axis=0), strict=True)
    for number, spread, error, independent, count in columns:
        print(
            f"{name:20s} {n:6d}   λ{number}   {spread:8.4f} {error:10.4f} {independent:12.4f} "
            f"{error / spread:8.2f} {count:10.0f} {lost:10d}"
        )
    return {
        "process": name, "rows": n, "series": len(seeds), "seen": seen, "predicted": bar,
        "independent": np.mean(alone, axis=0), "counts_as": np.median(counts, axis=0), "lost": lost,
    }  # fmt: skip


def unchanged(name: str, points: np.ndarray) -> None:
    """Print by how much bars of independent points change where the order of rows is looked at."""
    bars = [
        vbdm.estimate_operator(points, "generator", series=series).spectrum(6).standard_errors
        for series in ("auto", False)
    ]
    print(f"{name:20s} {len(points):6d}   largest change {np.abs(bars[0] - bars[1]).max():.1e}")


def main() -> None:
    """Read the options and print the table."""
    parser = record.parser(__doc__)
    parser.add_argument("--series", type=int, default=24, help="number of series")
    parser.add_argument("--first-seed", type=int, default=4050)
    parser.add_argument("--points", type=int, help="rows of each series, for a quick look")
    given = record.given(parser, series=2, points=300)
    seeds = range(given.first_seed, given.first_seed + given.series)
    print(
        "process                rows           seen  predicted  independent    ratio  counts as  "
        " left out"
    )
    rows = [compare(name, given.points or n, make, seeds) for name, (n, make) in PROCESSES.items()]
    print("\nIndependent points, one sample each")
    for name, (n, make) in PROCESSES.items():
        shuffled = np.random.default_rng(0).permutation(make(given.points or n, given.first_seed))
        unchanged(name.rpartition(",")[0], shuffled)
    record.save(given, rows)


if __name__ == "__main__":
    main()
