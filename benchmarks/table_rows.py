"""The rows of the tables in the documentation, made from figures: see `tables.py`."""

from __future__ import annotations

import re

import numpy as np

# --- How figures are written ----------------------------------------------------------------------


def short(value, digits=2):
    """Return a number with so many digits that count, without the 0 before a point."""
    if value is None or not np.isfinite(value):
        return ""
    text = f"{value:.{digits}g}"
    text = f"{float(text):,.0f}" if abs(value) >= 10**digits else f"{value:#.{digits}g}".rstrip(".")
    return re.sub(r"^(-?)0\.", r"\1.", text) if "e" not in text else text


def percent(value, digits=1):
    return f"{100 * value:+.{digits}f} %".replace("+", "")


def span(values, digits=2):
    """Return the smallest and the largest of some numbers, or one number if they look alike."""
    low, high = (short(limit(values), digits) for limit in (min, max))
    return low if low == high else f"{low} to {high}"


def power(value):
    return f"{value:.0e}"


def chosen(rows, **wanted):
    """Return the rows that have all of these values."""
    return [row for row in rows if all(row.get(key) == value for key, value in wanted.items())]


# --- The tables -----------------------------------------------------------------------------------

#: Names of the accuracy table's problems, where those of the program say too little.
PROBLEMS = {
    "OU R": "OU on the line", "OU R2": "OU in the plane", "OU R3": "OU in space",
    "OU R2 cov": "OU in the plane, cov", "sphere": "sphere, projected Gaussian",
    "torus exp": "torus, uneven", "noisy circle": "circle with noise in R¹⁰",
    "S3": "S³, projected Gaussian",
}  # fmt: skip


def accuracy(rows):
    n = max(row["points"] for row in rows)
    for name in dict.fromkeys(row["problem"] for row in rows):
        worst = [
            max(row["error"] for row in chosen(rows, problem=name, points=n, method=method))
            for method in ("vbdm", "paper")
        ]
        yield [PROBLEMS.get(name, name), *(f"{error:.3f}" for error in worst)]


def speed(rows):
    from speed import NAMES

    for problem in dict.fromkeys(row["problem"] for row in rows):
        for n in sorted({row["points"] for row in rows}):
            cells = []
            for engine in ("numba", "scipy"):
                for row in chosen(rows, problem=problem, points=n, engine=engine)[:1] or [None]:
                    cells += engine_cells(row)
            pairs = chosen(rows, problem=problem, points=n)[0]["pairs"]
            yield [NAMES[problem], f"{n:,}", f"{pairs}", *cells]


def engine_cells(row):
    if row is None:
        return ["", "", ""]
    # Small clouds may take no more than what the first use has left.
    memory = f"{row['bytes_per_point']:,.0f}" if row["bytes_per_point"] else "–"
    return [short(row["seconds"]), f"{row['R']:.2f}", memory]


SPEED = (
    "data | N | pairs | `vbdm[fast]`: s | R | bytes per point | NumPy and SciPy alone: s | R | "
    "bytes per point"
)


def efforts(rows):
    for name in dict.fromkeys(row["problem"] for row in rows):
        some = chosen(rows, problem=name)
        yield [name, f"{some[0]['points']:,}", *(percent(row["error"], 2) for row in some)]


def peers(rows):
    for row in rows:
        if row.get("words") == "not installed":
            continue
        seconds = row.get("words") or short(row["seconds"])
        times = short(row["times_ours"]) if "times_ours" in row else ""
        error = percent(row["error"]) if "error" in row else "–"
        yield [row["data"], f"{row['points']:,}", row["package"], seconds, times, error]


def deeptime(figures):
    def cells(row):
        def bar(key, digits):
            value = row[key]
            if not isinstance(value, list):
                return f"{value:.{digits}f}"
            return " ± ".join(f"{each:.{digits}f}" for each in value)

        figures = [f"{row[key]:.{digits}f}" if key in row else "" for key, digits in
                   (("committor", 3), ("seconds", 1), ("with_bars", 1))]  # fmt: skip
        return [row["by"], bar("timescale", 2), figures[0], bar("passage", 1), *figures[1:]]

    for name, problem in figures.items():
        yield [f"**{name}**, a row every {problem['step']:g}", *[""] * 5]
        yield from map(cells, problem["rows"])


def device(figures):
    clouds = list(dict.fromkeys(row["cloud"] for row in figures["speed"]))
    sizes = sorted({row["points"] for row in figures["speed"]})

    def each(rows, write):
        found = {row["cloud"]: row for row in rows}
        return [write(found[cloud]) if cloud in found else "" for cloud in clouds]

    for n in sizes:
        rows = chosen(figures["speed"], points=n)
        yield [f"{n:,} points: s", *each(rows, lambda row: span(row["seconds"]))]
    for row in figures.get("equal", ())[:1]:
        yield ["the same by the processor, tol 10⁻⁶: s",
               *each(figures["equal"], lambda row: short(row["processor"]))]  # fmt: skip
        yield [f"eigenvalues against the processor, {row['points']:,}",
               *each(figures["equal"], lambda row: power(row["differ"]))]  # fmt: skip
    for n in sizes:
        rows = chosen(figures["speed"], points=n)
        yield [f"memory of the GPU, {n:,}", *each(rows, lambda row: f"{row['gigabytes']:.1f} GB")]
        yield [f"pairs per point, {n:,}", *each(rows, lambda row: f"{row['pairs']}")]


def blocks(rows, more):
    first = rows[0]
    names = {"memory": "memory", "dask": "Dask, 2 workers", "disk": "disk"}
    for row in [*rows, {"placement": "disk", **more}]:
        name = names[row["placement"]]
        if row["limit"]:
            name += f", under an enforced {row['limit']:g} GB"
        ratio = f"{row['cpu'] / first['cpu']:.2f}" if row["points"] == first["points"] else ""
        yield [f"{row['points']:,}", name, short(row["cpu"], 3), ratio,
               f"{row['peak'] / 1e9:.2f} GB", moved(row["moved"])]  # fmt: skip


def moved(found):
    """Return what was sent or written, in words."""
    if "scratch file" in found:
        return f"{found['scratch file'] / 1e9:.1f} GB of scratch file"
    sent = sum(worker["sent"] for worker in found.values())
    return f"{sent / 1e9:.2f} GB sent by workers" if found else "–"


def beyond(more):
    """Yield what ten times, and a hundred times, as many points as were tried would take."""
    from vbdm.base import memory

    beside, block, disk = memory.BESIDE_DISK, memory.IN_BLOCK, memory.ON_DISK
    k, n = more["pairs"], 10 + beside.extra
    parts = {
        "points, four copies of two columns": ("driver", 8 * beside.coordinate * 2),
        "vectors with one number per point": ("driver", 8 * beside.number),
        "coarse levels of the solver": ("driver", 8 * beside.vector * n),
        f"pairs, {k} per point": ("blocks", disk.pair * k),
        "sets of vectors": ("blocks", 8 * block.vector * n),
        "scratch file, if on disk": ("disk", more["moved"]["scratch file"] / more["points"]),
    }
    for name, (where, size) in parts.items():
        yield [name, where, short(size), *(gigabytes(size * points) for points in (1e8, 1e9))]


def gigabytes(size):
    return f"{short(size / 1e12)} TB" if size >= 1e12 else f"{short(size / 1e9)} GB"


def edges(rows):
    for row in rows:
        yield [row["data"], f"{row['points']:,}", percent(row["error"]), percent(row["foretold"]),
               short(row["covered"])]  # fmt: skip


def calculus(*files):
    names = (
        "gradient, uneven sphere", "tangents, sine of the angle", "gradient, OU R2, r < 2",
        "Γ(f, f), OU R2, r < 2", "drift by 12 modes, OU R2", "drift by op @ x, OU R2",
    )  # fmt: skip
    for n, rows in zip(("2,000", "10,000"), files, strict=True):
        yield [n, *(span(chosen(rows, name=name)[0]["values"]) for name in names)]


def short_times(rows):
    for by, words in (("modes", "20 modes"), ("steps", "16 steps")):
        errors = [
            np.mean(chosen(rows, name=f"sign of x after {t} by {by}")[0]["values"])
            for t in ("0.005", "0.02", "0.1", "0.5")
        ]
        yield [words, *(percent(error, 0) for error in errors)]


def equations(rows):
    for row in rows:
        if "worst" in row and not row["name"].startswith(("sign of x", "rate A to B", "drift by")):
            yield [row["name"], short(row["worst"]), short(row.get("median"))]
        elif "bar_over_seen" in row:
            yield [f"{row['name']}, {row['seeds']} samples: bias", percent(row["bias"]), ""]


def bars(figures):
    for name in dict.fromkeys(row["name"] for row in figures["eigenvalues"]):
        some = chosen(figures["eigenvalues"], name=name)
        cells = ([short(each) for each in row["predicted_over_seen"]] for row in some)
        yield [name, *map(" ".join, cells)]


def eigenfunctions(figures):
    for name in dict.fromkeys(row["name"] for row in figures["eigenfunctions"]):
        some = chosen(figures["eigenfunctions"], name=name)
        cells = ([short(each) or "–" for each in row["seen_over_predicted"]] for row in some)
        yield [name, *map(" ".join, cells)]


def coverage(rows):
    for n in sorted({row["points"] for row in rows}):
        some = chosen(rows, points=n)
        below = [f"{row['problem']} {short(row['covered'])}" for row in some
                 if row["covered"] < 0.9]  # fmt: skip
        means = [np.mean([row[key] for row in some]) for key in ("covered", "by_errors")]
        width = short(np.median([row["width"] for row in some]))
        yield [f"{n:,}", f"{means[0]:.3f}", f"{means[1]:.2f}", width, ", ".join(below) or "none"]


def extension(figures):
    for name, row in figures["jumps"].items():
        yield [name, power(row["largest"])]


def series(rows):
    for row in rows:
        for j in range(2):
            name = f"{row['process']}, {row['rows']:,} rows" if j == 0 else ""
            seen, predicted, alone = (row[key][j] for key in ("seen", "predicted", "independent"))
            yield [name, f"λ{j + 1}", short(seen), short(predicted), short(alone),
                   f"{predicted / seen:.2f}"]  # fmt: skip


def nino(rows):
    for row in chosen(rows, name="Niño 3.4"):
        e, a, c = row["rmse"], row["acc"], row["crps"]
        # The correlation of climatology is not defined.
        figures = [*e, a[0], a[2], a[3], c[0], c[1], row["coverage90"]]
        yield [f"{row['lead']}", *(f"{value:.2f}" for value in figures)]


def forecasts(rows):
    for row in rows:
        if "worst" in row and not row["name"].startswith("Niño"):
            # What is near 1 is a ratio.
            digits = 3 if 1 <= max(row["values"]) < 2 else 2
            yield [row["name"], short(row["worst"], digits), span(row["values"], digits)]


def targets():
    from vbdm.kernel.epsilon import degree_target

    for n, name in ((500, "500"), (10**4, "$10^4$"), (10**5, "$10^5$"), (10**6, "$10^6$")):
        yield [name, *(f"{degree_target(n, d):.1f}" for d in (1, 2, 3))]
