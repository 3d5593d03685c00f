"""Break the mathematics on purpose, one place at a time, and see whether a test notices.

``make mutants`` draws 400 places at random in the rooms of the mathematics, changes each by one of
cosmic-ray's operators (another number, sign, comparison, …), and runs the tests of the quick suite
that go through that line until one fails: those of the module, the quickest, and some others. A
change that none notices survives: it needs a test, or a line in `tests/harmless_mutants.toml` that
says why it cannot matter.

Which test goes through which line is found by one run of the suite with coverage (some ten minutes;
kept in ``.mutants``: remove it when code has moved). Verdicts are kept there, too: a run that was
broken off goes on. The lot of a place comes from its own line, so the same places are drawn until
their lines change; what is known to be harmless is not tried again.

``--control`` changes nothing: then all must survive. ``--seed`` draws other places, ``--only``
looks at one file, ``--again`` judges survivors once more, by all tests that go through the line.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from shutil import copy2
from tempfile import TemporaryDirectory

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from coverage import CoverageData

ROOT = Path(__file__).parents[1]
ROOMS = ("kernel", "operator", "spectrum", "solvers", "trust", "equations", "dynamics")
KEPT = ROOT / ".mutants"
HARMLESS = ROOT / "tests" / "harmless_mutants.toml"
#: Tests are run in parts of so many: most changes are noticed at once.
PARTS = (15, 150)
#: How many of the quickest tests are run, and of the others, drawn at random: thousands go through
#: some lines.
QUICKEST, OTHERS = 250, 150


#: Looks at all classes, and so at decorators, which run before any test does.
OF_ALL_CLASSES = (
    "tests/package/test_package.py::"
    "test_results_are_frozen_and_what_holds_arrays_is_compared_by_identity"
)


class Code:
    """One module: where it can be changed, and how."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, path.relative_to(ROOT).as_posix()
        self.text = path.read_text("utf-8")

    def places(self) -> dict[tuple, list[tuple[str, int]]]:
        """Return all changes by place: the operators' kind and position, and the ways to do it."""
        nodes, found = list(ast_nodes(get_ast(self.text))), {}
        for operator_name in operator_names():
            operator_class = get_operator(operator_name)
            if operator_class.arguments():
                continue
            operator, occurrence = operator_class(), -1
            for node in nodes:
                for start, end in operator.mutation_positions(node):
                    occurrence += 1
                    if self.counts(start, end):
                        place = (start, operator_name.split("_")[0])
                        found.setdefault(place, []).append((operator_name, occurrence))
        return found

    def lot(self, place: tuple, seed: int) -> str:
        """Return the lot of a place, from its own line: code that changes elsewhere moves none."""
        (line, column), kind = place
        text = self.text.split("\n")[line - 1]
        words = f"{seed} {self.name} {kind} {text[:column].lstrip()}\n{text[column:]}"
        return sha256(words.encode()).hexdigest()

    def counts(self, start: tuple[int, int], end: tuple[int, int]) -> bool:
        """Tell whether a place is code that runs, and no type or part of a message."""
        return not any(low <= start and end <= high for low, high in self.no_code)

    @cached_property
    def no_code(self) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Spans of annotations, of blocks for type checkers, and of messages."""
        spans = []
        for node in ast.walk(ast.parse(self.text)):
            parts = []
            if isinstance(node, ast.arg | ast.AnnAssign):
                parts = [node.annotation]
            elif isinstance(node, ast.FunctionDef):
                parts = [node.returns, *(d for d in node.decorator_list if is_named(d, "overload"))]
            elif (isinstance(node, ast.If) and is_named(node.test, "TYPE_CHECKING")) or isinstance(
                node, ast.JoinedStr
            ):
                parts = [node]
            elif isinstance(node, ast.Assign) and is_alias(node.value):
                parts = [node.value]
            spans += [span_of(part) for part in parts if part is not None]
        return spans

    def mutated(self, operator_name: str, occurrence: int) -> str | None:
        return mutate_code(self.text, get_operator(operator_name)(), occurrence)

    @cached_property
    def statements(self) -> list[tuple[int, int]]:
        """First and last line of every statement without a body, and of the heads of the others."""
        found = []
        for node in ast.walk(ast.parse(self.text)):
            if isinstance(node, ast.stmt):
                body = getattr(node, "body", None)
                last = body[0].lineno - 1 if isinstance(body, list) and body else node.end_lineno
                first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
                found.append((first, max(first, last)))
        return found

    def lines_at(self, line: int) -> range:
        """Return the lines of the smallest statement around a line."""
        around = [(last - first, first, last) for first, last in self.statements
                  if first <= line <= last]  # fmt: skip
        if not around:
            return range(line, line + 1)
        _, first, last = min(around)
        return range(first, last + 1)


def is_named(node: ast.expr, name: str) -> bool:
    return getattr(node, "id", getattr(node, "attr", None)) == name


def is_alias(node: ast.expr) -> bool:
    """Tell whether a value is a union of types, `A | B`: an alias."""
    names = [part for part in ast.walk(node) if isinstance(part, ast.Name)]
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and all(
        name.id[0].isupper() for name in names
    )  # fmt: skip


def span_of(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)


def modules(only: str | None = None) -> list[Code]:
    paths = [
        path for room in ROOMS for path in sorted((ROOT / "src/vbdm" / room).rglob("*.py"))
        if "solvers" not in path.parts
    ]  # fmt: skip
    return [Code(path) for path in paths if only is None or only in str(path)]


def draw(count: int, seed: int, only: str | None, control: bool = False) -> list[dict]:
    """Return so many changes: places are drawn first, then one way to change each.

    Controls are written as the others, but nothing is changed.
    """
    found = [
        (code.lot(place, seed), code, place[0], ways)
        for code in modules(only)
        for place, ways in sorted(code.places().items())
    ]
    print(f"{len(found)} places in {len({id(code) for _, code, *_ in found})} modules, "
          f"{sum(len(ways) for *_, ways in found)} changes", flush=True)  # fmt: skip
    drawn = []
    for lot, code, start, ways in sorted(found, key=itemgetter(0)):
        if len(drawn) == count:
            break
        operator_name, occurrence = random.Random(lot).choice(ways)
        text = code.text if control else code.mutated(operator_name, occurrence)
        if not control and not is_another_program(code.text, text):
            continue
        before, after = changed_lines(code.text, text)
        drawn.append({"file": code.name, "line": start[0], "operator": operator_name.split("/")[1],
                      "before": before, "after": after, "text": text,
                      "lines": list(code.lines_at(start[0]))})  # fmt: skip
    return drawn


def is_another_program(before: str, after: str) -> bool:
    """Tell whether a change means something: `(a, //, b)` is no Python and proves nothing."""
    try:
        return ast.dump(ast.parse(after)) != ast.dump(ast.parse(before))
    except SyntaxError:
        return False


def changed_lines(before: str, after: str) -> tuple[str, str]:
    """Return the lines that differ, without their indentation."""
    lines = list(difflib.unified_diff(before.split("\n"), after.split("\n"), n=0))[3:]
    return tuple(
        " ".join(line[1:].strip() for line in lines if line.startswith(sign)) for sign in "-+"
    )


# --- Which tests go through a line ----------------------------------------------------------------


class Suite:
    """The quick suite: how long its tests take, and which lines they go through."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        if not (folder / "times.xml").is_file():
            self.run()
        self.data = CoverageData(str(folder / "coverage"))
        self.data.read()
        self.paths = {Path(path).relative_to(ROOT).as_posix(): path
                      for path in self.data.measured_files()}  # fmt: skip
        cases = ElementTree.parse(folder / "times.xml").iter("testcase")
        self.seconds = {name_of(case): float(case.get("time", 0)) for case in cases}

    def run(self) -> None:
        """Run the suite once with coverage."""
        print("one run of the suite with coverage, some ten minutes …", flush=True)
        command = [
            sys.executable, "-m", "pytest", "-n", "auto", "--dist", "worksteal", "-q", "--cov",
            *(f"--cov=src/vbdm/{room}" for room in ROOMS), "--cov-context=test", "--cov-report=",
            f"--junitxml={self.folder / 'times.xml'}", "-o", "junit_family=xunit1",
        ]  # fmt: skip
        subprocess.run(
            [word for word in command if word != "--cov"], cwd=ROOT, check=True,
            env={**os.environ, "COVERAGE_FILE": str(self.folder / "coverage")},
        )  # fmt: skip

    def through(self, file: str, lines: list[int], everything: bool) -> list[str]:
        """Return tests that go through a line, or through the module, if none does.

        Constants are read by whatever runs in their module. Tests that are named after the module
        come first, then those of its room, then others, quickest first; not all, if they are many.
        """
        by_line = self.data.contexts_by_lineno(self.paths[file]) if file in self.paths else {}
        found = {name for line in lines for name in by_line.get(line, ())}
        found = found - {""} or {name for names in by_line.values() for name in names}
        tests = {name.rpartition("|")[0] for name in found - {""}} - {OF_ALL_CLASSES}
        named, room = f"test_{Path(file).stem}", f"tests/{Path(file).parts[2]}/"

        def turn(name: str) -> tuple[bool, bool, float, str]:
            return named not in name, room not in name, self.seconds.get(name, 1.0), name

        tests = sorted(tests, key=turn)
        tests.insert(min(len(tests), PARTS[0] - 1), OF_ALL_CLASSES)
        first, rest = tests[:QUICKEST], tests[QUICKEST:]
        if everything or len(rest) <= OTHERS:
            return tests
        return first + random.Random(file).sample(rest, OTHERS)

    def patience(self, tests: list[str]) -> float:
        """Return after how many seconds some tests hang: a busy machine is ten times as slow."""
        return 90 + 10 * sum(self.seconds.get(name, 1.0) for name in tests)


def name_of(case: ElementTree.Element) -> str:
    return f"{case.get('file')}::{case.get('name')}"


# --- Judging --------------------------------------------------------------------------------------


def judge(mutant: dict, tests: list[str], suite: Suite, copy: Path) -> str:
    """Return "noticed", "survived" or "no test", with the change in a copy of everything."""
    if not tests:
        return "no test"
    path = copy / mutant["file"]
    whole = path.read_text("utf-8")
    path.write_text(mutant["text"], "utf-8")
    try:
        begin = 0
        for end in (*PARTS, len(tests)):
            part, begin = tests[begin:end], max(begin, end)
            if part and not passes(part, copy, suite.patience(part)):
                return "noticed"
        return "survived"
    finally:
        path.write_text(whole, "utf-8")


#: What tests import, once for all runs: their processes are forked from one that has it.
PRELOADED = [
    "numpy", "scipy.sparse.linalg", "scipy.special", "scipy.spatial", "scipy.stats", "sklearn.base",
    "sklearn.neighbors", "sklearn.utils.estimator_checks", "numba", "pandas", "polars", "xarray",
    "matplotlib.pyplot", "h5py", "zarr", "dask", "distributed", "pytest", "hypothesis",
    "click.testing",
]  # fmt: skip
FORKED = multiprocessing.get_context("forkserver")


def passes(tests: list[str], copy: Path, patience: float) -> bool:
    """Tell whether all of these tests pass in time, in a copy of everything."""
    process = FORKED.Process(target=run_tests, args=(tests, copy))
    process.start()
    process.join(patience)
    if process.exitcode is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.join()
        return False
    if process.exitcode == 5:
        raise RuntimeError(f"no test was found: {tests}")
    return process.exitcode == 0


def run_tests(tests: list[str], copy: Path) -> None:
    """Run tests of a copy in this process, which imports vbdm from there; exit as pytest does."""
    os.setsid()
    os.chdir(copy)
    os.environ["PYTHONPATH"] = str(copy / "src")
    sys.path[:0] = [str(copy), str(copy / "src")]
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(silence, stream)
    import pytest

    arguments = ["-x", "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist"]
    # Threads of a cluster may live on.
    os._exit(int(pytest.main([*arguments, *tests])))


def known_as_harmless() -> dict[tuple[str, str, str], str]:
    """Return why some changes cannot matter, by file and by the line before and after."""
    if not HARMLESS.is_file():
        return {}
    rows = tomllib.loads(HARMLESS.read_text("utf-8")).get("mutant", [])
    return {(row["file"], row["before"], row["after"]): row["why"] for row in rows}


def copy_tree(folder: Path) -> None:
    """Copy all files that git knows, or would take in, as they are now."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            copy2(ROOT / name, folder / name)


def judged(
    drawn: list[dict], suite: Suite, n_workers: int, again: bool, record: Path
) -> list[dict]:
    """Judge all changes on some copies at a time; verdicts are written down as they come."""
    harmless, known = known_as_harmless(), {}
    if record.is_file():
        for line in record.read_text("utf-8").splitlines():
            row = json.loads(line)
            if not (again and row["verdict"] != "noticed"):
                known[key_of(row)] = row["verdict"]
    with TemporaryDirectory(prefix="mutants-") as folder, ThreadPoolExecutor(n_workers) as pool:
        copies = []
        for number in range(n_workers):
            copies.append(Path(folder, str(number)))
            copy_tree(copies[-1])

        def work(mutant: dict) -> dict:
            why = harmless.get(key_of(mutant))
            verdict = f"harmless: {why}" if why else known.get(key_of(mutant))
            if verdict is None:
                copy = copies.pop()
                try:
                    tests = suite.through(mutant["file"], mutant["lines"], again)
                    verdict = judge(mutant, tests, suite, copy)
                finally:
                    copies.append(copy)
                row = {key: mutant[key] for key in ("file", "line", "operator", "before", "after")}
                with record.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps({**row, "verdict": verdict}, ensure_ascii=False) + "\n")
            if verdict != "noticed":
                print(f"{mutant['file']}:{mutant['line']}: {verdict}\n  - {mutant['before']}\n"
                      f"  + {mutant['after']}", flush=True)  # fmt: skip
            return {**mutant, "verdict": verdict}

        return list(pool.map(work, drawn))


def key_of(row: dict) -> tuple[str, str, str]:
    return row["file"], row["before"], row["after"]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", help="a part of a file's name")
    parser.add_argument("--control", action="store_true", help="change nothing, remember nothing")
    parser.add_argument("--again", action="store_true", help="judge survivors once more")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    folder = KEPT
    folder.mkdir(exist_ok=True)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    FORKED.set_forkserver_preload(PRELOADED)
    drawn = draw(options.count, options.seed, options.only, options.control)
    record = Path(os.devnull) if options.control else folder / "verdicts.jsonl"
    rows = judged(drawn, Suite(folder), options.jobs, options.again, record)
    kinds = {}
    for row in rows:
        kind = row["verdict"].split(":")[0]
        kinds[kind] = kinds.get(kind, 0) + 1
    noticed, harmless = kinds.get("noticed", 0), kinds.get("harmless", 0)
    if options.control:
        print(f"{len(rows)} times nothing was changed, and {noticed} times a test failed")
        return int(noticed > 0)
    print(f"{len(rows)} changes: {kinds}; {noticed / len(rows):.1%} noticed, "
          f"{noticed / max(1, len(rows) - harmless):.1%} of those that can matter")  # fmt: skip
    return 0 if noticed + harmless == len(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
