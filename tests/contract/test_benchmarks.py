"""The benchmarks run, so that they cannot rot: each in its smallest version."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


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


@pytest.mark.parametrize("script", ["timing.py"])
def test_timing(script):
    assert "ratio" in output_of(script, "--points", "2000", "--neighbors", "16")


def test_engines():
    text = output_of("engines.py", "--points", "600", "--columns", "30", "--dims", "2")
    assert text.count("agrees 1.0000") == 2
