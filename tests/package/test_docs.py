"""The documentation: its examples run, print what it says, and its links lead somewhere."""

import importlib.util
import json
import re
import shlex
from operator import attrgetter
from pathlib import Path

import numpy as np
import pytest
from tests.support.pages import BLOCK, alike, all_lines, blocks_of, run_page
from tests.support.scripts import BENCHMARKS, load_benchmark

import vbdm
from vbdm.calculus.calculus import Calculus
from vbdm.dynamics.dynamics import Dynamics
from vbdm.equations.equations import Equations
from vbdm.operator.record import Exponents, Settings
from vbdm.spectrum.spectrum import SolveLog
from vbdm.trust.error_bars import ErrorBars, ErrorParts

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if not {"_build", "generated"} & set(path.parts))
#: Pages whose shell commands are run, too.
SHELL = {"command-line.md"}


def name_of(path):
    return str(path.relative_to(DOCS))


def vbdm_command(line):
    """Run a line of the shell in this process; lines that do not call vbdm are comments."""
    from click.testing import CliRunner

    from vbdm.cli import commands

    command = shlex.split(line, comments=True)
    assert command[:1] in ([], ["vbdm"]), line
    if not command:
        return ""
    result = CliRunner().invoke(commands, command[1:], catch_exceptions=False)
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.output


#: Pages that take several seconds each: they run with the slow tests.
LONG = {
    "large-data.md", "choosing-epsilon.md", "extending.md", "method/reach.md", "method/kernel.md",
    "method/dimension.md", "method/error-bars.md", "method/blocks.md", "how-good.md",
    "method/forecast.md", "command-line.md", "coming-from.md", "method/equations.md",
}  # fmt: skip


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(
            page, marks=pytest.mark.slow if name_of(page) in LONG else (), id=name_of(page)
        )
        for page in PAGES
        if blocks_of(page)
    ],
)
def test_blocks_run_and_print_what_is_written(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(path, vbdm_command if path.name in SHELL else None)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_no_block_escapes(path):
    """Every fence that says python is found, and no number is left to be filled in."""
    text = path.read_text()
    blocks = blocks_of(path)
    assert text.count("```python\n") == sum(block.language == "python" for block in blocks)
    assert all(block.printed is None or block.printed.strip() for block in blocks)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_pictures_exist(path):
    for target in re.findall(r"^```\{(?:image|figure)\} (\S+)", path.read_text(), re.MULTILINE):
        assert (path.parent / target).is_file(), target


def test_every_public_name_is_in_the_reference():
    listed = set(re.findall(r"^   ~?([\w.]+)$", (DOCS / "api.md").read_text(), re.MULTILINE))
    modules = {name.split(".")[0] for name in listed if "." in name}
    assert set(vbdm.__all__) <= listed | modules
    # The other modules have a page each, made from all that they offer.
    for module in ("placement", "report", "search", "single_cell", "solvers"):
        names = getattr(getattr(vbdm, module), "__all__", [])
        known = {f"{module}.{name}" for name in names if not name.isupper() and name != "as_search"}
        assert known <= listed, known - listed


#: What is written in texts, and what it is.
WRITTEN = {
    "op": vbdm.Operator, "op.equations": Equations, "op.calculus": Calculus,
    "op.settings": Settings, "op.settings.exponents": Exponents, "spectrum": vbdm.Spectrum,
    "spectrum.errors": ErrorBars, "spectrum.errors.parts": ErrorParts,
    "spectrum.dynamics": Dynamics, "spectrum.log": SolveLog,
}  # fmt: skip


@pytest.mark.parametrize("path", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=str)
def test_verbs_that_pages_name_exist(path):
    """What is written as `op.…` or `spectrum.…` is an attribute of the class."""
    for word, kind in WRITTEN.items():
        named = set(re.findall(rf"(?<![/\w.]){word}\.(?!py`)(\w+)", path.read_text()))
        named -= {name for name in named if name.endswith("_")}
        assert named <= {*dir(kind), *getattr(kind, "__dataclass_fields__", ())}, path


def test_comparison_of_printed_text_can_fail():
    assert alike("λ = -1.003 of 2,000\n", "λ = -1.00 of 2,000")
    assert not alike("λ = -1.2", "λ = -1.0")
    assert not alike("True", "False")
    assert not alike("[0 1]", "[0 1 2]")
    assert all_lines("a\n…\nc 3", "a\nb\nc 3.01\n")
    assert not all_lines("c\na", "a\nb\nc\n")
    assert len(BLOCK.findall("```python\n1\n```\n\n```text\n1\n```\n")) == 1


def load(name):
    """Load a script of the documentation as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pictures_are_made_by_the_script_and_shown():
    script = load("make_pictures")
    made = {path.stem for path in (DOCS / "images" / "method").glob("*.png")}
    shown = {
        Path(target).stem
        for path in PAGES
        for target in re.findall(r"images/method/(\w+)\.png", path.read_text())
    }
    assert set(script.PICTURES) == made == shown
    assert len(script.PICTURES["graph"]().axes) == 2
    script.plt.close("all")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('<a href="#here">x</a><p id="here">', ""),
        ('<a href="https://example.org/x">x</a>', ""),
        ('<a href="#gone">x</a>', "no such anchor"),
        ('<a href="gone.html">x</a>', "no such file"),
        ('<a href="../../gone.html">x</a>', "outside the site"),
        ('<img src="gone.png">', "no such file"),
        ('<script src="https://example.org/x.js"></script>', "from the network"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "from the network"),
    ],
)
def test_link_check_finds_what_is_wrong(tmp_path, body, words):
    (tmp_path / "index.html").write_text(body)
    found = " ".join(load("check_links").problems(tmp_path))
    assert words in found
    assert bool(found) == bool(words)


# --- The README's example runs, its numbers are near the truth it states, and its names exist -----


README = Path(__file__).parents[2] / "README.md"


def test_examples_run_one_after_the_other():
    assert sum(block.language == "python" for block in blocks_of(README)) >= 1
    spectrum = run_page(README)["spectrum"]
    truth = np.array([0, -1, -1, -2, -2, -2])
    np.testing.assert_allclose(spectrum.eigenvalues, truth, atol=0.3)
    lower, upper = spectrum.intervals()[1:].T
    assert ((lower < truth[1:]) & (truth[1:] < upper)).all()


def test_names_in_the_table_exist():
    op = vbdm.estimate_operator(vbdm.datasets.sphere(300, random_state=0).points)
    known = {"spectrum": op.spectrum(4), "op": op}
    table = "\n".join(line for line in README.read_text().split("\n") if line.startswith("|"))
    for owner, names in re.findall(r"`(spectrum|op)?\.([a-z_.]+)", table):
        assert attrgetter(names)(known[owner or "spectrum"]) is not NotImplemented


def test_it_is_short_and_its_links_lead_somewhere():
    text = README.read_text()
    assert len(text.split()) <= 900
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (README.parent / target).is_file(), target


# --- Every table of figures in the documentation is what a file in `benchmarks/results` gives -----


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
