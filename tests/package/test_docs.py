"""The documentation: its examples run, print what it says, and its links lead somewhere."""

import importlib.util
import re
import shlex
from pathlib import Path

import pytest
from tests.support.pages import BLOCK, alike, all_lines, blocks_of, run_page

import vbdm

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


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_verbs_that_pages_name_exist(path):
    """What is written as `op.…` or `spectrum.…` is an attribute of the class."""
    for word, kind in (("op", vbdm.Operator), ("spectrum", vbdm.Spectrum)):
        named = set(re.findall(rf"`{word}\.(?!py`)(\w+)", path.read_text()))
        assert named <= {*dir(kind), *kind.__dataclass_fields__}, path


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
