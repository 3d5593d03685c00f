"""The tables of figures in the documentation: ``python benchmarks/tables.py`` writes them anew.

Each is made from a file in ``benchmarks/results``, which one of the programs here has written with
``--save``. In a document it stands between two comments, with the command that made its figures
below it; a test compares the two. ``--check`` says which tables are not what their files give.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import table_rows as rows

HERE = Path(__file__).parent
ROOT, RESULTS = HERE.parent, HERE / "results"


@dataclass(frozen=True)
class Table:
    """A table: the document, the files of its figures, its head, and what makes the rows."""

    document: str
    files: tuple[str, ...]
    head: str
    rows: Callable[..., Iterable[list[str]]]

    def text(self, results: Path = RESULTS) -> str:
        """Return the table in Markdown, with where its figures come from below it."""
        made = [json.loads((results / f"{name}.json").read_text("utf-8")) for name in self.files]
        columns = self.head.count("|") + 1
        lines = [f"| {self.head} |", "|" + "---|" * columns]
        for row in self.rows(*(each["figures"] for each in made)):
            if len(row) != columns:
                raise ValueError(f"{len(row)} cells in a table of {columns} columns: {row}")
            lines.append(re.sub(" +", " ", f"| {' | '.join(row)} |"))
        return "\n".join([*lines, *("\n" + words_of(each) for each in made)])


def words_of(made):
    """Return in words by which command, on what machine, and from which code figures were made."""
    cores = f"{made['cores']} cores ({made['processor']})"
    note = f" {made['note']}" if "note" in made else ""
    return f"By `{made['command']}`, {cores}, commit {made['commit']}.{note}"


TABLES = {
    "accuracy": Table(
        "docs/how-good.md", ("accuracy",), "problem | vbdm | the paper's settings", rows.accuracy,
    ),
    "speed": Table("docs/large-data.md", ("speed",), rows.SPEED, rows.speed),
    "efforts": Table(
        "docs/choosing-epsilon.md", ("efforts",),
        "data | N | effort 1/2 | effort 1 | effort 2 | effort 4", rows.efforts,
    ),
    "peers": Table(
        "docs/coming-from.md", ("peers",),
        "data | N | package | seconds | times vbdm's | mean error", rows.peers,
    ),
    "deeptime": Table(
        "docs/coming-from.md", ("deeptime_comparison",),
        "by | slowest time | error of the committor | passage time | seconds | with bars",
        rows.deeptime,
    ),
    "device": Table("docs/gpu.md", ("device",), "| plane | space | curve in R^10", rows.device),
    "blocks": Table(
        "docs/large-data.md", ("blocks", "blocks-ten-million"),
        "points | placement | CPU seconds | against memory | peak memory | moved or written",
        rows.blocks,
    ),
    "beyond": Table(
        "docs/large-data.md", ("blocks-ten-million",),
        "what | where | bytes per point | $10^8$ points | $10^9$ points", rows.beyond,
    ),
    "edges": Table(
        "docs/method/boundaries.md", ("edges",),
        "data | points | mean error | formula | inside 95 % intervals", rows.edges,
    ),
    "calculus": Table(
        "docs/method/calculus.md", ("gradients-2000", "equations"),
        r"N | $\nabla f$, sphere | tangents (sine) | $\nabla f$, plane | $\Gamma(f, f)$ | "
        "drift by 12 modes | `op @ x`", rows.calculus,
    ),
    "short times": Table(
        "docs/method/dynamics.md", ("equations",), "t | 0.005 | 0.02 | 0.1 | 0.5", rows.short_times,
    ),
    "equations": Table(
        "docs/method/equations.md", ("equations",), "what | largest error | median", rows.equations,
    ),
    "bars": Table(
        "docs/method/error-bars.md", ("spread",),
        "groups of eigenvalues | N = 1,000 | 2,000 | 6,000",
        rows.bars,
    ),
    "coverage": Table(
        "docs/method/error-bars.md", ("intervals",),
        "N | inside 95 % intervals | within two standard errors | half-width over error | "
        "below .9", rows.coverage,
    ),
    "eigenfunctions": Table(
        "docs/method/eigenfunctions.md", ("spread",), "| N = 1,000 | 2,000 | 6,000",
        rows.eigenfunctions,
    ),
    "extension": Table(
        "docs/method/extension.md", ("extension",), "data | largest jump", rows.extension,
    ),
    "series": Table(
        "docs/method/series.md", ("series_bars",),
        "process, step, rows | | seen | predicted | independent | ratio", rows.series,
    ),
    "nino": Table(
        "docs/method/forecast.md", ("forecast",),
        "months ahead | RMSE, K | climatology | persistence | linear | correlation | persistence | "
        "linear | CRPS | climatology | inside 90 %", rows.nino,
    ),
    "forecasts": Table(
        "docs/method/forecast.md", ("forecast",), "what | worst | of four seeds", rows.forecasts,
    ),
    "targets": Table(
        "docs/method/tuning.md", (), "$N$ | $d = 1$ | $d = 2$ | $d = 3$", rows.targets,
    ),
}  # fmt: skip
#: Tables whose numbers nobody has measured, by document and head.
NOT_MEASURED = {
    ("docs/method/equations.md", "| | $f$ | held | |"),
    ("docs/which-operator.md", "| you want | ask for | $c_1$ |"),
}
BEGIN, END = "<!-- figures: {} -->", "<!-- end of figures -->"


def in_document(name, text):
    """Return where the table of a name stands in a document: its first and last character."""
    begin = text.index(BEGIN.format(name)) + len(BEGIN.format(name))
    return begin, text.index(END, begin)


def with_table(name, text, results=RESULTS):
    """Return a document with the table of a name as its files give it."""
    begin, end = in_document(name, text)
    return f"{text[:begin]}\n\n{TABLES[name].text(results)}\n\n{text[end:]}"


def claims_page(results=RESULTS):
    """Return the page of the paper's claims."""
    sys.path.insert(0, str(ROOT))
    from paper.base import Claim
    from paper.reproduce import Reproduction, as_markdown

    figures = json.loads((results / "claims.json").read_text("utf-8"))["figures"]
    claims = [(each.pop("figure"), Claim(**each)) for each in figures["claims"]]
    made = Reproduction(Path(), (), tuple(claims), figures["seconds"], figures["failures"])
    return as_markdown(made, figures["quick"])


def pages(names, results=RESULTS):
    """Return the documents as their tables would make them, by path."""
    found = {}
    for name in names:
        path = ROOT / TABLES[name].document
        found[path] = with_table(name, found.get(path) or path.read_text("utf-8"), results)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"of {', '.join(TABLES)}, claims")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 if one is different")
    options = parser.parse_args()
    found = pages([name for name in options.names or TABLES if name != "claims"])
    if not options.names or "claims" in options.names:
        found[ROOT / "docs/claims.md"] = claims_page()
    different = [path for path, text in found.items() if path.read_text("utf-8") != text]
    for path in different:
        print(path.relative_to(ROOT), "is not what its files give" if options.check else "written")
        if not options.check:
            path.write_text(found[path], "utf-8")
    return int(options.check and bool(different))


if __name__ == "__main__":
    sys.exit(main())
