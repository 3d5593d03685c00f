"""Load a benchmark as a module: tests and tables share their problems."""

import importlib
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def load_benchmark(name):
    """Return a program of `benchmarks/` as a module; they import each other by their names."""
    if str(BENCHMARKS) not in sys.path:
        sys.path.append(str(BENCHMARKS))
    return importlib.import_module(name)
