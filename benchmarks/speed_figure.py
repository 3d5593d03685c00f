"""Make the README's table and picture from what `speed.py --save` wrote.

``python benchmarks/speed_figure.py benchmarks/speed.json docs/images/speed.png``
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

NAMES = {
    "ou2": "Gaussian in the plane",
    "ou3": "Gaussian in space",
    "curve": "closed curve in 10 columns",
    "sphere": "sphere, uneven",
    "s3": "3-sphere in 10 columns",
}
#: Colours that colour-blind people can tell apart (Okabe and Ito).
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00"]


def table(rows):
    """Print the rows as Markdown."""
    print("| data | N | k | seconds | R | products | bytes per point |")
    print("|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {NAMES[row['problem']]} | {row['points']:,} | {row['k']} | {row['total']:.2g} | "
              f"{row['R']:.1f} | {row['products']} | {row['per_point']:,.0f} |")  # fmt: skip


def figure(rows, path):
    """Draw time against N, and where it goes at the largest N."""
    from matplotlib.figure import Figure

    canvas = Figure(figsize=(10, 4), layout="constrained")
    left, right = canvas.subplots(1, 2)
    for colour, problem in zip(
        COLOURS, dict.fromkeys(row["problem"] for row in rows), strict=False
    ):
        some = [row for row in rows if row["problem"] == problem]
        n = [row["points"] for row in some]
        left.loglog(n, [row["total"] for row in some], "o-", color=colour, label=NAMES[problem])
        left.loglog(n, [row["bare"] for row in some], ":", color=colour)
    left.set(xlabel="number of points", ylabel="seconds on two cores",
             title="Ten eigenpairs with error bars (dotted: bare search)")  # fmt: skip
    left.legend(frameon=False, fontsize=8)
    largest = max(row["points"] for row in rows)
    shown = [row for row in rows if row["points"] == largest]
    groups = {
        "neighbours": ("graph", "search"),
        "density and ε": ("density", "tuning"),
        "kernel": ("kernel", "operator", "pieces"),
        "eigenpairs": ("prepare", "solve", "finish"),
        "error bars": ("errors",),
    }
    start = [0.0] * len(shown)
    for colour, (name, stages) in zip(COLOURS, groups.items(), strict=True):
        share = [sum(row["stages"][s] for s in stages) / row["bare"] for row in shown]
        labels = [NAMES[row["problem"]] for row in shown]
        right.barh(labels, share, left=start, color=colour, label=name)
        start = [a + b for a, b in zip(start, share, strict=True)]
    right.axvline(1, color="black", linestyle=":")
    right.set(xlabel="time over that of the bare search", title=f"Where it goes, N = {largest:,}")
    right.invert_yaxis()
    right.legend(frameon=False, fontsize=8, loc="upper center", bbox_to_anchor=(0.4, -0.2), ncols=5)
    canvas.savefig(path, dpi=120)


def main():
    source, target = sys.argv[1:]
    rows = json.loads(Path(source).read_text())
    table(rows)
    figure(rows, target)


if __name__ == "__main__":
    main()
