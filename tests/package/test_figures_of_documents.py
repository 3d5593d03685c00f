"""Every table of figures in the documentation is what a file in `benchmarks/results` gives."""

import json
import re
from pathlib import Path

import pytest
from tests.support.scripts import BENCHMARKS, load_benchmark

ROOT = Path(__file__).parents[2]
tables = load_benchmark("tables")
DOCUMENTS = [
    ROOT / "README.md", ROOT / "CONTRIBUTING.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md"))
      if not {"_build", "generated"} & set(path.parts)),
]  # fmt: skip
#: A number, with signs, units, powers of ten and intervals.
DIGITS = r"[-+−~]?\$?[\d.,·⁻⁰¹²³⁴⁵⁶⁷⁸⁹^{}e-]*[\d⁰¹²³⁴⁵⁶⁷⁸⁹][}$]*"
NUMBER = re.compile(rf"{DIGITS}( ?(%|s|[kMGT]?B))*( ?(±|to|-|) ?{DIGITS})*( ?(%|s|[kMGT]?B))*")


def tables_in(text):
    """Return all tables of a document: their heads, and the cells of their rows."""
    found = re.findall(r"^(\|.*)\n\|[-|: ]+\n((?:\|.*\n?)+)", text, re.MULTILINE)
    return [(head, re.split(r"\s*(?<!\\)\|\s*|\n", rows)) for head, rows in found]


def has_figures(cells):
    return sum(bool(NUMBER.fullmatch(cell)) for cell in cells) >= 2


@pytest.mark.parametrize("name", tables.TABLES)
def test_a_table_is_what_its_files_give(name):
    path = ROOT / tables.TABLES[name].document
    text = path.read_text("utf-8")
    assert tables.with_table(name, text) == text, "python benchmarks/tables.py writes it anew"


def test_the_page_of_claims_is_what_its_file_gives():
    assert tables.claims_page() == (ROOT / "docs/claims.md").read_text("utf-8")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_figures_without_an_address(path):
    if path.name == "claims.md":
        return
    text = path.read_text("utf-8")
    made = re.sub(r"<!-- figures: .*?<!-- end of figures -->", "", text, flags=re.DOTALL)
    document = str(path.relative_to(ROOT))
    loose = [head for head, cells in tables_in(made) if has_figures(cells)]
    assert [head for head in loose if (document, head) not in tables.NOT_MEASURED] == []
    assert len(re.findall("<!-- figures:", text)) == sum(
        table.document == document for table in tables.TABLES.values()
    )


def test_what_counts_as_a_figure():
    for cell in (".12", "1.3 %", "2,000", "44.8 s", "1·10⁻¹⁴", "4.50 ± 0.16", "7 %", "1.2 GB"):
        assert NUMBER.fullmatch(cell), cell
    for cell in ("", "(M,) f", "48 rows of x", "k_0 = 8", "–"):
        assert not NUMBER.fullmatch(cell), cell


def test_files_say_where_they_come_from():
    files = sorted((BENCHMARKS / "results").glob("*.json"))
    assert {file.stem for file in files} >= {
        name for table in tables.TABLES.values() for name in table.files
    }
    for file in files:
        made = json.loads(file.read_text("utf-8"))
        assert {"command", "commit", "cores", "processor", "versions", "figures"} <= set(made), file
        script = made["command"].split()[1]
        assert (ROOT / script).is_file(), script
        assert re.fullmatch(r"[0-9a-f]{9}", made["commit"]), f"{file}: of code that is in no commit"


def test_a_wrong_number_in_a_document_is_seen():
    text = (ROOT / "docs/how-good.md").read_text("utf-8")
    begin, end = tables.in_document("accuracy", text)
    digit = re.search(r"0\.\d", text[begin:end]).end() - 1 + begin
    wrong = text[:digit] + str((int(text[digit]) + 1) % 10) + text[digit + 1 :]
    assert tables.with_table("accuracy", wrong) != wrong
