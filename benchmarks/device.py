"""The engine of a GPU: time from host to host, memory, and the answers of the processor.

Run ``python benchmarks/device.py speed`` for the time of an estimate with ten eigenpairs and their
intervals, from points in this machine's memory to results there: one run to warm up, which compiles
what was never compiled before, then three. ``equal`` compares eigenvalues with those of the CPU's
engine at tol = 1e-6, ``pairs`` the pairs within reach on twenty nasty clouds, ``first`` times the
first use with an empty cache of compiled code and that of a second process, ``profile`` prints
where the time goes. Without a word, all but the last.
"""

from __future__ import annotations

import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import record
import vbdm
from vbdm.base.arrays import contiguous, to_host
from vbdm.engines.tree import Reach, Tree, levels_to
from vbdm.graph.point_set import CELL

#: Clouds of the figures, by name: how they are made, and the operator's c1.
CASES = {
    "plane": (lambda n, seed: np.random.default_rng(seed).standard_normal((n, 2)), 1.0),
    "space": (lambda n, seed: np.random.default_rng(seed).standard_normal((n, 3)), 1.0),
    "curve": (lambda n, seed: vbdm.datasets.closed_curve(n, random_state=seed).points, 0.0),
}


def estimated(X, c1, engine="cuda", **options):
    """Return the spectrum of ten pairs, its intervals and eigenfunctions, all in host memory."""
    spectrum = vbdm.estimate_operator(X, c1, run=vbdm.Run(engine=engine)).spectrum(10, **options)
    return spectrum, spectrum.intervals(), spectrum.eigenfunctions


def held_there(engine, *, give_back=False):
    """Return the gigabytes that are held on the device, which may be given back."""
    if engine != "cuda":
        return 0.0
    import cupy

    pool = cupy.get_default_memory_pool()
    if give_back:
        pool.free_all_blocks()
    return pool.total_bytes() / 1e9


def speed(args):
    """Print seconds, memory and the first eigenvalues of each cloud."""
    rows = []
    for n in args.points:
        for name in args.clouds:
            make, c1 = CASES[name]
            X, times, values, held = make(n, args.seed), [], [], []
            for _ in range(args.runs + 1):
                begin = time.perf_counter()
                spectrum, _, functions = estimated(X, c1, args.engine)
                times.append(time.perf_counter() - begin)
                values.append(spectrum.eigenvalues)
                held.append(held_there(args.engine))
                assert isinstance(functions, np.ndarray)
                row = {"pairs": spectrum.operator.n_neighbors, "steps": spectrum.log.iterations}
                del spectrum, functions
                if len(times) == 1:
                    # What was held to compile and to warm up does not count.
                    held_there(args.engine, give_back=True)
            differ = max(np.abs(v - values[1]).max() for v in values[1:])
            row |= {"cloud": name, "points": n, "seconds": times[1:], "first": times[0],
                    "gigabytes": held[1], "runs_differ": differ}  # fmt: skip
            print(f"{name:6} N = {n:9,}: {' '.join(f'{t:.3f}' for t in times[1:])} s, first "
                  f"{times[0]:.2f} s; {held[1]:.1f} GB; pairs {row['pairs']}, steps {row['steps']};"
                  f" runs differ by {differ:.0e}; λ {values[-1][1:5].round(4)}",
                  flush=True)  # fmt: skip
            held_there(args.engine, give_back=True)
            rows.append(row)
    return rows


def equal(args):
    """Print the largest relative difference of eigenvalues from those of the CPU's engine."""
    rows = []
    for name in args.clouds:
        make, c1 = CASES[name]
        X = make(args.points[0], args.seed)
        there, bars, functions = estimated(X, c1, args.engine, tol=1e-6)
        begin = time.perf_counter()
        here, own_bars, own = estimated(X, c1, engine="auto", tol=1e-6)
        took = time.perf_counter() - begin
        op, reference = there.operator, here.operator
        away = np.abs(there.eigenvalues[1:] / here.eigenvalues[1:] - 1).max()
        epsilon, dim = abs(op.epsilon / reference.epsilon - 1), abs(op.dim / reference.dim - 1)
        print(
            f"{name:6} N = {len(X):9,}: λ {away:.1e}, ε {epsilon:.0e}, d {dim:.0e}, density"
            f" {np.abs(op.density / reference.density - 1).max():.0e}, intervals"
            f" {np.abs((bars - own_bars)[1:] / own_bars[1:]).max():.0e}, φ"
            f" {np.abs(np.abs(functions) - np.abs(own)).max():.0e}; the CPU took {took:.1f} s"
            f" ({reference.settings.engine.name}, {os.cpu_count()} cores)",
            flush=True,
        )
        rows.append({"cloud": name, "points": len(X), "differ": away, "processor": took})
    return rows


def pairs(args):
    """Print on how many nasty clouds the order and the pairs within reach are those of the CPU."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.engines.cuda.nasty_clouds import CLOUDS

    from vbdm.engines.cuda.availability import the_device
    from vbdm.engines.cuda.engine import CudaEngine
    from vbdm.engines.numba_engine import NumbaEngine

    there, here, n_equal, n_pairs = CudaEngine(the_device()), NumbaEngine(), 0, 0
    for name, cloud in CLOUDS.items():
        # In 64 columns nearly all pairs have to be measured.
        made = cloud(3_000 if name == "many_columns" else 20_000)
        (order, *own), (device_order, *found) = (pairs_of(made, engine) for engine in (here, there))
        same = np.array_equal(order, device_order)
        same &= all(np.array_equal(a, b) for a, b in zip(own, found, strict=True))
        print(
            f"  {name}: {len(order):,} points, {len(own[1]):,} pairs, {'equal' if same else 'NOT'}"
        )
        n_equal, n_pairs = n_equal + same, n_pairs + len(own[1])
    print(f"order and pairs equal on {n_equal} of {len(CLOUDS)} clouds, {n_pairs:,} pairs")
    return {"clouds": len(CLOUDS), "equal": n_equal, "pairs": n_pairs}


def pairs_of(cloud, engine):
    """Return the tree's order, numbers of pairs, neighbours and scaled distances, as NumPy's."""
    given = engine.placed(np.ascontiguousarray(cloud.points.T))
    order = engine.order(given, levels_to(len(cloud.points), CELL))
    rho = engine.placed(cloud.rho)[order]
    period = None if cloud.period is None else engine.placed(cloud.period)
    tree = Tree.over(contiguous(given[:, order]), period)
    reach, leaves = Reach.of(tree, rho, cloud.cut), slice(0, 1 << tree.depth)
    counts = engine.count_within(reach, leaves)
    found = engine.pairs_within(reach, leaves, int(counts.sum()))
    return to_host((order, counts, *found))


ONE_RUN = """
import time; t = time.perf_counter()
import numpy as np, vbdm
X = np.random.default_rng(0).standard_normal((100_000, 2))
vbdm.estimate_operator(X, 1.0, run="cuda").spectrum(10).intervals()
print(f"{time.perf_counter() - t:.1f} s")
"""


def first(args):
    """Print the seconds of a first process with an empty cache, and of a second one."""
    with tempfile.TemporaryDirectory() as folder:
        where = {**os.environ, "CUPY_CACHE_DIR": folder}
        for name in ("first process, empty cache", "second process"):
            done = subprocess.run(
                [sys.executable, "-c", ONE_RUN], env=where, capture_output=True, text=True
            )
            said = " / ".join(line for line in done.stderr.splitlines() if line.strip())
            print(f"{name}: {done.stdout.strip()}; it said: {said[-300:]}", flush=True)


def profile(args):
    """Print the functions that take longest; the device is waited for after every kernel."""
    name = args.clouds[0]
    make, c1 = CASES[name]
    X = make(args.points[0], args.seed)
    for _ in range(2):
        estimated(X, c1, args.engine)
    watch = cProfile.Profile()
    watch.enable()
    estimated(X, c1, args.engine)
    watch.disable()
    table = pstats.Stats(watch)
    table.sort_stats("cumulative").print_stats("vbdm", args.lines)
    table.sort_stats("tottime").print_stats(args.lines)


def main():
    """Run what was asked for."""
    jobs = {job.__name__: job for job in (speed, equal, pairs, first, profile)}
    parser = record.parser(__doc__)
    parser.add_argument("jobs", nargs="*", choices=[*jobs, []], default=[])
    parser.add_argument("--points", type=float, nargs="+", default=None)
    parser.add_argument("--clouds", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--lines", type=int, default=60)
    parser.add_argument("--engine", default="cuda", help="another one, where there is no device")
    args = record.given(
        parser, jobs=["speed", "equal"], points=[3000], clouds=["plane"], runs=1, engine="scipy"
    )
    given = None if args.points is None else [int(n) for n in args.points]
    found = {}
    for job in args.jobs or ("first", "pairs", "speed", "equal"):
        args.points = given or ([10**6, 10**7] if job == "speed" else [10**6])
        found[job] = jobs[job](args)
    record.save(args, found)


if __name__ == "__main__":
    main()
