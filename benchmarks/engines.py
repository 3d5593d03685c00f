"""Which engine `vbdm.search.Auto` takes, and how far it is from the best.

Run ``python benchmarks/engines.py``.

Points on a curved sheet of 2, 5 or 10 dimensions in many columns, without and with noise in all of
them. Times are for a search of all points, extrapolated from some hundred queries, index included,
in seconds of processor time: other work on the machine does not disturb that.
"""

from __future__ import annotations

from importlib.util import find_spec
from time import process_time

import numpy as np

import record
from vbdm.base.threads import for_each, n_threads, slices
from vbdm.engines.scipy_engine import ScipyEngine
from vbdm.graph.point_set import tree_order
from vbdm.search import Auto, BruteForce, KDTree, Projected, PyNNDescent
from vbdm.search.auto import index_turned
from vbdm.search.directions import principal_axes


class Rotated:
    """An engine along the principal directions."""

    def __init__(self, engine):
        self.engine = engine

    def index(self, cloud, k):
        return index_turned(self.engine, cloud, k, principal_axes(cloud))


ENGINES = {
    "tree": Rotated(KDTree()),
    "brute": BruteForce(),
    "brute, rotated": Rotated(BruteForce()),
    "projected, tree": Projected(KDTree()),
    "projected, brute": Projected(BruteForce()),
}


def sheet(n_points, dim, n_columns, noise, seed=0):
    """Return a bent sheet: `dim` normal coordinates and a part of their squares, turned."""
    rng = np.random.default_rng(seed)
    flat = rng.standard_normal((n_points, dim))
    bent = np.hstack([flat, 0.3 * flat**2])
    turn = np.linalg.qr(rng.standard_normal((n_columns, 2 * dim)))[0]
    points = bent @ turn.T
    points += noise * rng.standard_normal(points.shape)
    return np.ascontiguousarray(points[tree_order(points, ScipyEngine())])


def seconds_for_all(engine, cloud, k, n_queries):
    """Return the time of index and search, and the lists of the sampled points."""
    started = process_time()
    index = engine.index(cloud, k)
    build = process_time() - started
    sample = cloud[:: max(1, len(cloud) // n_queries)]
    found = np.empty((len(sample), k), dtype=np.int32)

    def work(rows):
        found[rows] = index.query(sample[rows], k)[0]

    pieces = n_threads() if index.parallel else 1
    # A slow engine shows itself on few queries; the first ones load libraries.
    work(slice(0, 8))
    started = process_time()
    work(slice(8, 24))
    total = (process_time() - started) * len(cloud) / 16
    if total > 200 and not isinstance(engine, BruteForce):
        return build + total, None
    taken = []
    for _ in range(2):
        started = process_time()
        for_each(work, slices(len(sample), size=-(-len(sample) // pieces)), parallel=index.parallel)
        taken.append((process_time() - started) / len(sample) * len(cloud))
    return build + min(taken), found


def compare(cloud, k, n_queries, engines):
    times, lists = {}, {}
    for name, engine in engines.items():
        times[name], lists[name] = seconds_for_all(engine, cloud, k, n_queries)
    auto = Auto()
    chosen = auto.choose(cloud, k)
    total, found = seconds_for_all(auto, cloud, k, n_queries)
    truth = lists["brute"]
    agree = np.mean([np.isin(a, b).mean() for a, b in zip(found, truth, strict=True)])
    best = min(times, key=times.get)
    print(f"   auto {total:6.2f} s, best {times[best]:6.2f} s ({best}), ratio "
          f"{total / times[best]:.2f}, agrees {agree:.4f}; "
          + ", ".join(f"{name} {time:.1f}" for name, time in times.items()))  # fmt: skip
    print(f"   {type(chosen.engine).__name__}: {chosen.reason}", flush=True)
    row = {"chosen": type(chosen.engine).__name__, "auto": total, "seconds": times, "agree": agree}
    if find_spec("pynndescent") is not None:
        time, found = seconds_for_all(PyNNDescent(), cloud, k, n_queries)
        recall = np.mean([np.isin(a, b).mean() for a, b in zip(truth, found, strict=True)])
        print(f"   pynndescent {time:.2f} s, recall {recall:.4f}", flush=True)
        row["pynndescent"] = {"seconds": time, "recall": recall}
    return row


def main():
    parser = record.parser(__doc__)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--neighbors", type=int, default=64)
    parser.add_argument("--queries", type=int, default=512)
    parser.add_argument("--columns", type=int, nargs="+", default=[50, 200, 1000])
    parser.add_argument("--dims", type=int, nargs="+", default=[2, 5, 10])
    options = record.given(parser, points=600, columns=[30], dims=[2])
    rows = []
    for dim in options.dims:
        for columns in options.columns:
            for noise in (0.0, 0.01):
                print(f"dimension {dim}, {columns} columns, noise {noise}")
                cloud = sheet(options.points, dim, columns, noise)
                row = compare(cloud, options.neighbors, options.queries, ENGINES)
                rows.append({"dim": dim, "columns": columns, "noise": noise, **row})
    record.save(options, rows)


if __name__ == "__main__":
    main()
