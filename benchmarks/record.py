"""What the programs of this folder share: their options, the file of their figures, memory.

Every program answers to ``--smallest``, which takes seconds: tests run it, so that none can rot.
With ``--save`` its figures go to ``benchmarks/results``, beside the command that made them, the
commit, versions and machine. The tables in the documentation are made from there (`tables.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shlex
import subprocess
import sys
import warnings
from importlib import metadata
from pathlib import Path

import numpy as np

import vbdm

HERE = Path(__file__).parent
RESULTS = HERE / "results"
#: Packages whose versions are noted, if they are installed.
PACKAGES = (
    "numpy", "scipy", "scikit-learn", "numba", "cupy-cuda13x", "dask", "pydiffmap", "datafold",
    "robust-laplacian", "deeptime", "pyamg", "pynndescent",
)  # fmt: skip


def parser(doc):
    """Return a parser with the options that all programs have; `doc` is the program's text."""
    made = argparse.ArgumentParser(
        description=doc, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--smallest", action="store_true", help="a few seconds: does it still run?")
    made.add_argument(
        "--save", nargs="?", const="", metavar="FILE",
        help="write the figures to FILE; by default benchmarks/results/PROGRAM.json",
    )  # fmt: skip
    return made


def given(parser, **smallest):
    """Return the options that were given; `smallest` are those of the smallest version.

    Warnings of vbdm are switched off: what is measured here is known.
    """
    warnings.simplefilter("ignore", vbdm.VbdmWarning)
    options = parser.parse_args()
    if options.smallest:
        for name, value in smallest.items():
            # A list of words that may be left out is empty then, whatever its default.
            if getattr(options, name) in (parser.get_default(name), []):
                setattr(options, name, value)
    return options


def save(options, figures):
    """Write figures to the file that was asked for, if any, with all that one must know of them."""
    if options.save is None:
        return
    program = Path(sys.argv[0])
    path = Path(options.save) if options.save else RESULTS / f"{program.stem}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    words = [word for word in sys.argv[1:] if word not in ("--save", options.save)]
    made = {**origin(program, words), "figures": plain(figures)}
    text = json.dumps(made, indent=1, ensure_ascii=False)
    path.write_text(joined(text) + "\n", encoding="utf-8")
    print(f"figures: {path}")


def origin(program, words):
    """Return by which command, from which code, and on what machine figures are made."""
    versions = {"python": platform.python_version(), "vbdm": vbdm.__version__}
    for name in PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    command = shlex.join(["python", f"benchmarks/{program.name}", *words])
    return {
        # Where another environment lies says nothing to anybody else.
        "command": re.sub(r"=/[^\s']+", "=PATH", command), "commit": commit(),
        "cores": len(os.sched_getaffinity(0)), "processor": processor(),
        "versions": versions,
    }  # fmt: skip


def commit():
    """Return the commit of this code, with a + if the package has changed since."""

    def git(*words):
        command = ["git", "-C", str(HERE), *words]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--", "../src", ".", ":!results")
    return git("rev-parse", "--short=9", "HEAD") + ("+" if changed else "")


def processor():
    """Return the name of the processor, where the system tells."""
    try:
        found = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    except OSError:
        found = None
    return found[1] if found else platform.machine()


def plain(value):
    """Return figures as JSON has them, numbers with five digits."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(each) for each in value]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, float | np.floating):
        return float(f"{value:.5g}") if np.isfinite(value) else None
    return int(value) if isinstance(value, np.integer) else value


def joined(text):
    """Return JSON with lists of numbers, and entries without lists of their own, on one line."""
    return re.sub(r"([\[{])\n[^\[\]{}]*[\]}]", lambda found: re.sub(r"\n *", " ", found[0]), text)


def load(path):
    """Return the figures of a file."""
    return json.loads(Path(path).read_text(encoding="utf-8"))["figures"]


def alone(*words):
    """Run this program with other words, in a process of its own; return what it prints as JSON."""
    command = [sys.executable, sys.argv[0], *map(str, words)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def peak_bytes():
    """Return the peak of this process's memory.

    `ru_maxrss` would remember that of the process which started this one.
    """
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+)", status)[1])
