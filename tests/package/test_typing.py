"""A client's type checker knows the public names: what is right passes, what is wrong does not."""

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RIGHT = """
import numpy as np
import vbdm
import vbdm.results as results
from vbdm import DiffusionMap, Operator, Spectrum
from vbdm.errors import InputError
from vbdm.search import KDTree

X = np.zeros((10, 2))
rule = vbdm.rules.ByDegree()
op: Operator = vbdm.estimate_operator(X, "generator", run=vbdm.Run(search=KDTree()), epsilon=rule)
found: Spectrum = op.spectrum(4, solver=vbdm.solvers.Dense())
model: DiffusionMap = DiffusionMap(n_components=3).fit(X).set_params(n_components=2)
coordinates = model.fit_transform(X) + found.eigenfunctions
table: vbdm.io.Table = vbdm.io.read("points.csv")
kept: results.Results = vbdm.results.load_results("results")
page: str = vbdm.report.page(found, scan=vbdm.scan_epsilon(found))
points = vbdm.datasets.circle(10).points
size: float = vbdm.theory.c1(0.0, -0.5, vbdm.shapes.Gaussian().moments(1.0).m0)
error: type[ValueError] = InputError
assert vbdm.progress.Bar().width and vbdm.InputError is vbdm.InputError
"""
WRONG = [
    "vbdm.estimate_operatorr(nonsense=3)",
    "vbdm.estimate_operator([[1.0]], nonsense=3)",
    "vbdm.estimate_operator([[1.0]]).spectrumm()",
    "vbdm.DiffusionMap(nonsense=3)",
    "vbdm.DiffusionMap().fitt([[1.0]])",
    "vbdm.io.readd('x')",
    "vbdm.io.read('x', nonsense=2)",
    "vbdm.plot.spectrum(1, nonsense=2)",
    "vbdm.report.page(1)",
    "vbdm.results.load_results(1)",
    "vbdm.datasets.circle('x')",
    "vbdm.search.Nonsense()",
    "vbdm.rules.ByDegree(target='x')",
    "vbdm.errors.NonsenseWarning",
]


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_wrong_names_and_arguments_fail_and_right_ones_pass(tmp_path):
    right, wrong = tmp_path / "right.py", tmp_path / "wrong.py"
    right.write_text(RIGHT)
    wrong.write_text("import vbdm\n" + "\n".join(WRONG) + "\n")
    # The settings and the memory of `make lint`: only the two files are new to it.
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "pyproject.toml"]
    run = subprocess.run(
        [*command, str(right), str(wrong)],
        capture_output=True, text=True, cwd=ROOT, env={**os.environ, "MYPYPATH": "src"},
    )  # fmt: skip
    errors = [line for line in run.stdout.splitlines() if ": error:" in line]
    assert not [line for line in errors if "wrong.py" not in line], run.stdout
    lines = {int(line.split(":")[1]) for line in errors}
    assert lines == set(range(2, len(WRONG) + 2)), run.stdout
