"""The benchmarks run, so that they cannot rot: each in its smallest version."""

import subprocess
import sys

import pytest
from tests.support.scripts import BENCHMARKS


def output_of(script, *arguments):
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_accuracy_table():
    text = output_of(
        "accuracy.py", "--table", "--problems", "circle", "S3", "--points", "400", "--seeds", "1"
    )
    rows = [line.split() for line in text.splitlines() if "resolved" in line]
    assert len(rows) == 2
    assert all(float(row[row.index("resolved") + 1]) < 0.25 for row in rows)
    assert "oracle" in text
    assert "paper" in text


def test_bars_of_series():
    text = output_of("series_bars.py", "--series", "2", "--points", "300", "--first-seed", "4000")
    assert "predicted" in text
    assert sum("λ" in line for line in text.splitlines()) == 8
    assert text.count("largest change 0.0e+00") == 4


def test_beside_deeptime():
    """Our row of the table on the page "Coming from …": near the truth, within three bars."""
    text = output_of("deeptime_comparison.py", "--points", "5000", "--problems", "double well")
    truth, found = (next(line for line in text.splitlines() if line.startswith(name)).split()
                    for name in ("truth", "vbdm"))  # fmt: skip
    _, time, _, time_bar, committor, passage, _, passage_bar, *_ = found
    assert abs(float(time) - float(truth[1])) < 3 * float(time_bar) < 1.5
    assert abs(float(passage) - float(truth[2])) < 3 * float(passage_bar) < 5
    assert float(committor) < 0.02


def test_equations():
    text = output_of(
        "equations.py", "leaving", "poisson", "gradients", "--points", "800", "--seeds", "1"
    )
    rows = [line for line in text.splitlines() if "worst" in line]
    assert len(rows) == 9
    found = [float(line.split("worst")[1].split()[0]) for line in rows]
    assert max(map(abs, found)) < 0.5


@pytest.mark.parametrize("script", ["timing.py"])
def test_timing(script):
    assert "ratio" in output_of(script, "--points", "2000", "--neighbors", "16")


@pytest.mark.slow
def test_engines():
    text = output_of("engines.py", "--points", "600", "--columns", "30", "--dims", "2")
    assert text.count("agrees 1.0000") == 2


@pytest.mark.slow
def test_speed_and_its_picture(tmp_path):
    saved = tmp_path / "speed.json"
    text = output_of("speed.py", "--points", "2000", "--problems", "curve", "--check",
                     "--save", str(saved))  # fmt: skip
    assert "R=" in text
    table = output_of("speed_figure.py", str(saved), str(tmp_path / "speed.png"))
    assert "closed curve" in table
    assert (tmp_path / "speed.png").stat().st_size > 10_000


@pytest.mark.slow
def test_comparison_with_what_is_installed():
    text = output_of("compare.py", "--points", "2000", "--limit", "60")
    assert "vbdm:" in text
    assert "failed" not in text


@pytest.mark.parametrize("mode", ["walk", pytest.param("fit", marks=pytest.mark.slow)])
def test_modules_touched(mode):
    lines = output_of("modules_touched.py", mode).splitlines()
    assert lines[-1] == f"{mode}: {len(lines) - 1} modules"
    assert {"estimate", "operator.operator", "spectrum.spectrum"} <= set(lines)
