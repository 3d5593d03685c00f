"""Rows in blocks, in memory, on disk and on Dask, against one block in memory.

Run ``python benchmarks/blocks.py equal`` for the same answers on seven clouds, ``million`` for
time, memory and bytes moved at 10^6 points, ``ten-million`` for one run of 10^7 points on disk.
Every run has a process of its own. CPU seconds are those of all its processes; the peak of a
process is that of its resident memory, mapped files included.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import record
import vbdm


def normal(n_points, n_columns, seed):
    """Return points of a normal distribution."""
    return np.random.default_rng(seed).standard_normal((n_points, n_columns))


def curve(n_points, seed):
    """Return points on a closed curve in ten columns."""
    t = np.random.default_rng(seed).uniform(0, 2 * np.pi, n_points)
    return np.stack([wave(k * t) / k for k in range(1, 6) for wave in (np.cos, np.sin)], axis=1)


def lattice(n_points):
    """Return a square lattice: many distances are equal."""
    side = np.arange(float(round(n_points**0.5)))
    return np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)


def copies(n_points, seed):
    """Return points of which some occur twice or three times."""
    points = normal(n_points, 2, seed)
    return np.concatenate([points, points[: n_points // 3], points[: n_points // 9]])


def two_pieces(n_points, seed):
    """Return two clusters that the kernel does not join."""
    return normal(n_points, 2, seed) + np.repeat([[0.0], [60.0]], [n_points // 2, n_points // 2], 0)


#: Clouds by name, as functions of their number of points and the seed, with further arguments.
CLOUDS = {
    "OU R²": (lambda n, seed: normal(n, 2, seed), {}),
    "OU R³": (lambda n, seed: normal(n, 3, seed), {}),
    "curve R^10": (curve, {}),
    "lattice": (lambda n, seed: lattice(n), {}),
    "copies": (copies, {}),
    "two pieces": (two_pieces, {}),
    "periodic cell": (lambda n, seed: np.random.default_rng(seed).random((n, 2)), {"period": 1.0}),
}
#: What is compared, and how many blocks it has: one block first.
PLACES = (("memory", 1), ("memory", 3), ("memory", 16), ("disk", 16), ("dask", 16))


def placement_of(name, blocks, stack):
    """Return a placement by name; a cluster is closed with the stack."""
    if name == "memory":
        return vbdm.placement.Memory(blocks=blocks) if blocks > 1 else "memory"
    if name == "disk":
        return vbdm.placement.Disk(blocks=blocks or None)
    from vbdm.rows.workers import start_workers

    return vbdm.placement.Dask(stack.enter_context(start_workers(2)), blocks=blocks or None)


def usage(dask_worker):
    """Return what a worker has used so far; Dask passes the worker, by the argument's name."""
    used = os.times()
    (peak,) = re.findall(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    sent = int(dask_worker.transfer_outgoing_bytes_total)
    return {"sent": sent, "peak": 1024 * int(peak), "cpu_seconds": used.user + used.system}


def run(case):
    """Estimate as the case says, and write what was found; meant to run alone in its process."""
    warnings.simplefilter("ignore")
    if case["limit"]:
        bytes_allowed = int(case["limit"] * 1e9)
        resource.setrlimit(resource.RLIMIT_DATA, (bytes_allowed, bytes_allowed))
    make, further = CLOUDS[case["cloud"]]
    points = case["file"] or make(case["points"], case["seed"])
    stages, moved = {}, {}
    with contextlib.ExitStack() as stack:
        placement = placement_of(case["place"], case["blocks"], stack)
        begin = time.perf_counter()
        operator = vbdm.estimate_operator(
            points, "generator", **further, run=vbdm.Run(placement=placement, engine=case["engine"])
        )
        stages["operator"] = time.perf_counter() - begin
        spectrum = operator.spectrum(10, tol=case["tol"])
        stages["spectrum"] = time.perf_counter() - begin - stages["operator"]
        intervals = np.asarray(spectrum.intervals())
        stages["intervals"] = time.perf_counter() - begin - sum(stages.values())
        wall = time.perf_counter() - begin
        if case["place"] == "dask":
            moved = placement.client.run(usage)
        if case["place"] == "disk":
            moved = {"scratch file": operator.graph.point_set.rows.place.scratch.largest}
        arrays = {
            "eigenvalues": spectrum.eigenvalues, "intervals": intervals,
            "epsilon": operator.epsilon, "dim": operator.dim,
        }  # fmt: skip
        if case["points"] <= 100_000:
            arrays["density"] = np.asarray(operator.density)
            arrays["eigenfunctions"] = np.asarray(spectrum.eigenfunctions)
        pairs = operator.n_neighbors
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    np.savez(case["out"], **arrays)
    return {
        "cpu": own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime, "wall": wall,
        "peak": record.peak_bytes(), "stages": stages,
        "pairs": pairs, "moved": moved, "read": 512 * own.ru_inblock,
        "written": 512 * own.ru_oublock,
    }  # fmt: skip


def alone(folder, **case):
    """Run one case in a process of its own; return its figures and its arrays."""
    case = {"limit": 0, "file": None, "engine": "auto", "tol": None, "seed": 1, **case}
    case["out"] = str(Path(folder) / "found.npz")
    command = [sys.executable, __file__, "run", json.dumps(case)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    with np.load(case["out"]) as found:
        return json.loads(done.stdout.splitlines()[-1]), dict(found)


def difference(one, other):
    """Return the largest relative difference of two sets of numbers; infinite if NaNs differ."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape or not np.array_equal(np.isnan(one), np.isnan(other)):
        return np.inf
    scale = np.maximum(np.abs(one), 1e-6 * np.nanmax(np.abs(one), initial=1e-300))
    return float(np.nanmax(np.abs(other - one) / scale, initial=0.0))


def apart(one, other):
    """Return how far eigenfunctions are from the span of those with the same eigenvalue."""
    values, farthest = one["eigenvalues"], 0.0
    starts = np.flatnonzero(np.diff(values, prepend=1.0) < -1e-6 * np.abs(values).max())
    for begin, end in zip([0, *starts[1:]], [*starts[1:], len(values)], strict=True):
        # Only whole groups have a span of their own, and the last one may go on.
        if end == len(values):
            break
        span, found = (each["eigenfunctions"][:, begin:end] for each in (one, other))
        rest = found - span @ np.linalg.lstsq(span, found, rcond=None)[0]
        farthest = max(farthest, float(np.abs(rest).max()))
    return farthest


def compare_places(options):
    """Print how far blocks are from one block in memory, and whether disk and Dask agree."""
    print(
        f"N = {options.points}, tol = 1e-10: largest relative difference from one block in memory"
    )
    print(f"{'':14s}{'blocks':>14s}{'λ':>9s}{'intervals':>11s}{'ε, d':>9s}{'density':>9s}{'φ':>9s}")
    rows = []
    for name in options.clouds or CLOUDS:
        found = {}
        for place, blocks in PLACES:
            with tempfile.TemporaryDirectory() as folder:
                found[place, blocks] = alone(
                    folder, cloud=name, points=options.points, place=place, blocks=blocks, tol=1e-10
                )[1]
            one, other = found["memory", 1], found[place, blocks]
            if blocks == 1:
                continue
            tuned = max(difference(one[key], other[key]) for key in ("epsilon", "dim"))
            figures = [
                difference(one["eigenvalues"], other["eigenvalues"]),
                difference(one["intervals"], other["intervals"]), tuned,
                difference(one["density"], other["density"]),
                apart(one, other),
            ]  # fmt: skip
            rows.append({"cloud": name, "place": place, "blocks": blocks, "differences": figures})
            words = "".join(f"{figure:9.0e}" for figure in figures)
            print(f"{name:14s}{blocks:5d} {place:8s}{words}", flush=True)
        same = all(
            np.array_equal(found["disk", 16][key], found["dask", 16][key], equal_nan=True)
            for key in found["disk", 16]
        )
        rows.append({"cloud": name, "disk_is_dask": same})
        print(f"{name:14s}disk and Dask are {'equal bit by bit' if same else 'DIFFERENT'}")
    return rows


def measure_million(options):
    """Print CPU, time and peaks of one block, two workers, and disk under an enforced limit."""
    first, rows = None, []
    for place, limit in (("memory", 0), ("dask", 0), ("disk", 0), ("disk", options.limit)):
        with tempfile.TemporaryDirectory() as folder:
            figures, found = alone(
                folder, cloud=options.cloud, points=options.points, place=place,
                blocks=1 if place == "memory" else 0, limit=limit,
            )  # fmt: skip
        first = first or (figures, found)
        print(
            f"{place:7s} limit {limit or '-'}  CPU {figures['cpu']:6.1f} s "
            f"({figures['cpu'] / first[0]['cpu']:.2f})  wall {figures['wall']:6.1f} s "
            f"({figures['wall'] / first[0]['wall']:.2f})  peak {figures['peak'] / 1e9:.2f} GB  "
            f"λ differ by {difference(first[1]['eigenvalues'], found['eigenvalues']):.0e}\n"
            f"        stages {rounded(figures['stages'])}  {rounded(figures['moved'])}",
            flush=True,
        )
        rows.append({"placement": place, "limit": limit, "points": options.points, **figures})
    return rows


def measure_ten_million(options):
    """Print time, memory and bytes of one run on disk, from a file of points."""
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = Path(folder) / "points.npy"
        np.save(path, normal(options.points, 2, 1))
        figures, found = alone(
            folder, cloud="OU R²", points=options.points, place="disk", blocks=0, file=str(path),
            limit=options.limit,
        )  # fmt: skip
    print(json.dumps(figures, indent=1))
    print("eigenvalues", found["eigenvalues"].round(3).tolist())
    return {"points": options.points, "limit": options.limit, **figures}


def rounded(figures):
    """Return figures with three digits."""
    return {
        name: float(f"{value:.3g}") if isinstance(value, float | int) else value
        for name, value in figures.items()
    }


def main():
    """Read the command line."""
    if sys.argv[1:2] == ["run"]:
        print(json.dumps(run(json.loads(sys.argv[2]))))
        return
    parser = record.parser(__doc__)
    parser.add_argument("what", nargs="?", choices=["equal", "million", "ten-million"],
                        default="equal")  # fmt: skip
    parser.add_argument("--points", type=int)
    parser.add_argument("--clouds", nargs="*", choices=list(CLOUDS))
    parser.add_argument("--cloud", choices=list(CLOUDS), default="OU R²")
    parser.add_argument("--limit", type=float, help="data segment in GB, enforced (RLIMIT_DATA)")
    parser.add_argument("--folder", help="where the file of ten million points goes")
    options = record.given(parser, points=1500, clouds=["OU R²"])
    what = {
        "equal": (compare_places, 9_000, 0), "million": (measure_million, 1_000_000, 1.2),
        "ten-million": (measure_ten_million, 10_000_000, 7.0),
    }[options.what]  # fmt: skip
    options.points, options.limit = options.points or what[1], options.limit or what[2]
    record.save(options, what[0](options))


if __name__ == "__main__":
    main()
