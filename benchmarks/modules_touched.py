"""How many modules a run goes through: as many files must a reader open to follow it.

``python benchmarks/modules_touched.py walk`` follows ``estimate_operator(X).spectrum(10)`` on
1,800 points of a sphere, ``… fit`` follows ``vbdm fit file.csv`` on 400 rows of a normal
distribution: these raise doubts, so that notes and advice are printed, too.

A module is touched if one of its functions is called. What a module does while it is imported, and
the methods that dataclasses write for themselves, do not count: nobody has to read them.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np

import record
import vbdm
from vbdm import estimate_operator
from vbdm.cli import main as command_line

HOME = Path(vbdm.__file__).parent


def walk():
    """Return the walk from points to a spectrum, ready to be called."""
    points = vbdm.datasets.sphere(1800, random_state=0).points
    return lambda: estimate_operator(points).spectrum(10)


def fit():
    """Return the command ``vbdm fit`` on a file of points, ready to be called."""
    points = np.random.default_rng(0).standard_normal((400, 2))
    np.savetxt("file.csv", points, delimiter=",", header="x,y", comments="")
    sys.argv = ["vbdm", "fit", "file.csv"]
    return run_command


def run_command():
    """Run the command, which wants to end the process when it is done."""
    try:
        command_line()
    except SystemExit as end:
        if end.code:
            raise RuntimeError("vbdm fit failed") from end


def files_of_functions_called(job):
    """Return the files of all Python functions that run while a job runs, on any thread."""
    files = set()

    def note(frame, event, _):
        # Functions have this flag; the bodies of modules and classes do not.
        if event == "call" and frame.f_code.co_flags & inspect.CO_OPTIMIZED:
            files.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        job()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return files


def modules_touched(job):
    """Return the names of the modules of vbdm that a job goes through, sorted."""
    with (
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(io.StringIO()),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        files = files_of_functions_called(job)
    own = [Path(file).relative_to(HOME) for file in files if Path(file).is_relative_to(HOME)]
    return sorted(".".join(path.with_suffix("").parts) for path in own)


def main():
    """Print the modules, one per line, and their number."""
    parser = record.parser(__doc__)
    parser.add_argument("mode", nargs="?", choices=["walk", "fit"], default="walk")
    options = record.given(parser)
    mode = options.mode
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        modules = modules_touched({"walk": walk, "fit": fit}[mode]())
    print("\n".join(modules))
    print(f"{mode}: {len(modules)} modules")
    record.save(options, modules)


if __name__ == "__main__":
    main()
