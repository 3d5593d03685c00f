"""``vbdm tune``: which ε, dimension and number of neighbours, and why."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .failures import say_written
from .options import AFTER, ESTIMATING, FILE, PREPARING, READING, SPEAKING, Command, Setting
from .places import check_output, need_matplotlib
from .steps import estimate, read_points, working
from .terminal import choices, say_json, table

if TYPE_CHECKING:
    from ..kernel.tuning import Tuning
    from ..operator.operator import Operator

SUFFIXES = (".csv", ".png", ".svg", ".pdf")
#: The table has every second ε of the curve, which is in half octaves, and this number of rows to
#: either side of the chosen ε.
STEP, STEPS = 2, 4
EXAMPLES = """\b
Examples:
  vbdm tune points.csv
      prints the choice, and the curve around it
  vbdm tune points.csv --out curve.csv --out curve.png
      the whole curve as a table and as a picture
  vbdm tune points.csv --method paper
      the choice of Berry and Harlim: where S(ε) is steepest
"""
OPTIONS = [
    FILE,
    Setting(["--out", "-o"], AFTER, multiple=True, type=click.Path(path_type=Path),
            help="Write the curve: .csv, .png, .svg or .pdf; may be given several times."),
    Setting(["--force"], AFTER, is_flag=True, help="Replace these files if they exist."),
    *SPEAKING, *ESTIMATING, *PREPARING, *READING,
]  # fmt: skip


@click.command("tune", cls=Command, epilog=EXAMPLES, params=OPTIONS)
def tune(
    file: Path, out: tuple[Path, ...], force: bool, quiet: bool, as_json: bool, **options: Any
) -> None:
    """Choose ε, the dimension and the number of neighbours for the points in FILE, no more.

    The degree of a point is the number of points inside its kernel: ε is chosen so that even
    sparse points have enough of them. Twice the slope of S(ε) is the dimension seen at that scale:
    where it is flat in ε, the data is a manifold.
    """
    from ..base.files import plain
    from ..report.facts import facts_of

    targets = [check_output(path, SUFFIXES, force) for path in out]
    if any(target.suffix.lower() != ".csv" for target in targets):
        need_matplotlib()
    with working(quiet, as_json) as work:
        _, cloud, _ = read_points(work, file, options)
        operator = estimate(work, cloud, options)
        with work.ledger.stage("curve"):
            facts = plain({**facts_of(operator), "curve": curve_of(operator.tuning)})
            for target in targets:
                write(operator, target)
                say_written(target)
    work.show_notes()
    if as_json:
        say_json(facts)
    elif not quiet:
        for line in describe(facts, options["method"]):
            click.echo(line)
        for path in out:
            click.echo(f"Written: {path}")


def curve_of(tuning: Tuning) -> dict[str, Any]:
    """Return the curve by columns; empty if ε was given and no other was looked at."""
    import numpy as np

    if tuning.curve is None:
        return {}
    columns = {"epsilon": tuning.epsilons, "S": tuning.sums}
    slopes = np.full(len(tuning.epsilons), np.nan)
    slopes[: len(tuning.slopes)] = tuning.slopes
    columns["dimension"] = 2 * slopes
    quantiles = getattr(tuning.curve, "quantiles", None)
    if quantiles is not None:
        for level, values in zip(tuning.curve.levels, quantiles, strict=True):  # type: ignore[union-attr]
            columns[f"degree_{level:g}"] = values
    return columns


def describe(facts: dict[str, Any], method: str | None) -> Iterator[str]:
    """Yield lines for the terminal: the choice, and the curve around it."""
    yield from choices(facts)
    if facts["curve"]:
        yield ""
        yield from curve_table(facts["curve"], facts["epsilon"])
    yield ""
    paper = "" if method in (None, "resolved") else f" --method {method}"
    # Pairs within reach follow from ε; lists have a length.
    lists = "" if facts["by_reach"] else f" --neighbors {facts['n_neighbors']}"
    yield (
        f"Suggestion: --epsilon {facts['epsilon']:.6g} --dim {facts['dimension']['value']:.4g}"
        f"{lists}{paper}, which is what vbdm fit{paper} takes by itself."
    )


def curve_table(curve: dict[str, Any], epsilon: float) -> Iterator[str]:
    """Yield the rows of the curve around the chosen ε, in octaves."""
    epsilons, dims = curve["epsilon"], curve["dimension"]
    chosen = min(range(len(epsilons)), key=lambda i: abs(epsilons[i] - epsilon))
    # The curve of the paper's rule is in octaves already, and has no degrees.
    degrees = {"degree: 1 % of points": "degree_0.01", "median": "degree_0.5"}
    known = {head: curve[name] for head, name in degrees.items() if name in curve}
    step = STEP if known else 1
    rows = [
        [
            f"{epsilons[i]:.4g}",
            "–" if dims[i] is None else f"{dims[i]:.2f}",
            *(f"{values[i]:.1f}" for values in known.values()),
            "← chosen" if i == chosen else "",
        ]
        for i in range(chosen - STEPS * step, chosen + STEPS * step + 1, step)
        if 0 <= i < len(epsilons)
    ]
    return table(["ε", "dimension", *known, ""], rows, left=1)


def write(operator: Operator, target: Path) -> None:
    """Write the curve in the format that the suffix of the file names."""
    from ..base.files import replacing
    from ..results import save_picture

    kind = target.suffix.lower()[1:]
    with replacing(target) as stream:
        if kind == "csv":
            import numpy as np

            curve = curve_of(operator.tuning)
            columns = np.column_stack(list(curve.values())) if curve else np.empty((0, 0))
            np.savetxt(stream, columns, "%.17g", ",", header=",".join(curve), comments="")
        else:
            from .. import plot

            save_picture(partial(plot.tuning, operator), stream, kind)
