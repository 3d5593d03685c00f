"""What an import loads, which layers exist, and how much memory a walk may take."""

import ast
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
import tomllib
import tracemalloc
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

import vbdm

SOURCE = Path(vbdm.__file__).parent
ROOT = Path(__file__).parents[2]
METHOD_PAGES = sorted(f"docs/method/{path.name}" for path in (ROOT / "docs/method").glob("*.md"))
MODULES = sorted(m.name for m in pkgutil.walk_packages(vbdm.__path__, "vbdm."))


def test_import_is_light():
    edge = ["scipy", "sklearn", "matplotlib", "click", "vbdm.io", "vbdm.plot", "vbdm.report"]
    code = f"import sys, vbdm; print([m for m in {edge} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["vbdm", *MODULES])
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, extraglobs={"vbdm": vbdm, "np": np})
    assert result.failed == 0


#: Packages whose opening lists their modules; the first column names them in backticks.
ROOMS = [
    "base", "engines", "engines/compiled", "graph", "rows", "kernel", "operator", "spectrum",
    "solvers/multilevel", "extension", "trust", "equations", "dynamics", "forecast", "io/saved",
    "estimate",
]  # fmt: skip


@pytest.mark.parametrize("room", ROOMS)
def test_the_door_of_a_room_names_its_modules_and_no_others(room):
    table = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text()))
    named = set(re.findall(r"^`(\w+)/?`  ", table, re.MULTILINE))
    there = {path.stem for path in (SOURCE / room).glob("*.py")} - {"__init__"}
    there |= {path.parent.name for path in (SOURCE / room).glob("*/__init__.py")}
    assert named == there


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/extending.md", *METHOD_PAGES])
def test_pages_name_modules_that_exist(page):
    text = (ROOT / page).read_text()
    for name in re.findall(r"`((?:src/vbdm/)?[a-z_]+/[a-z_/]*\.py)`", text):
        found = [ROOT / name, SOURCE / name.removeprefix("src/vbdm/")]
        assert any(path.is_file() for path in found), name


#: What collects while it works, and is nobody's result.
MUTABLE = {
    "Bar", "Block", "Cells", "DeviceCsr", "FirstUse", "Header", "Outlook", "PreparedAuto", "Search",
    "SetAside", "Warm", "Work",
}  # fmt: skip


def test_results_are_frozen_and_what_holds_arrays_is_compared_by_identity():
    """`==` of arrays is an array: a comparison of two results would fail, or take their time."""
    found = {
        value
        for name in MODULES
        for value in vars(importlib.import_module(name)).values()
        if isinstance(value, type) and "__dataclass_params__" in vars(value)
        and value.__module__.startswith("vbdm.")
    }  # fmt: skip
    assert {kind.__name__ for kind in found if not kind.__dataclass_params__.frozen} == MUTABLE
    by_identity = {kind.__name__ for kind in found if not kind.__dataclass_params__.eq}
    for kind in found:
        types = " ".join(
            str(field.type) for field in fields(kind) if "Callable" not in str(field.type)
        )
        if "Array" in types or by_identity & set(re.findall(r"\w+", types)):
            assert kind.__name__ in by_identity, kind


def test_no_prints_or_asserts_in_the_library():
    for path in SOURCE.rglob("*.py"):
        if path.name in ("demo.py", "__main__.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            assert not isinstance(node, ast.Assert), path
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            assert not (called and node.func.id == "print"), path


def test_no_square_arrays():
    """N = 20,000 and k = 32: an N×N array of bytes would take 400 MB."""
    X = np.random.default_rng(0).standard_normal((20_000, 1))
    tracemalloc.start()
    vbdm.estimate_operator(X, "generator", method=vbdm.Paper(n_neighbors=32)).spectrum(4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 200e6


def test_changes_that_cannot_matter_are_changes_of_lines_that_are_there():
    """`tests/harmless_mutants.toml` says why; a line that has changed needs another look."""
    rows = tomllib.loads((ROOT / "tests/harmless_mutants.toml").read_text("utf-8"))["mutant"]
    for row in rows:
        lines = (ROOT / row["file"]).read_text("utf-8").splitlines()
        assert row["before"].strip() in {line.strip() for line in lines}, row
        assert row["why"]
    assert len({(row["file"], row["before"], row["after"]) for row in rows}) == len(rows)
