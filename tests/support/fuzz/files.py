"""Files of points in every format, damaged at random or with hostile values, and how they are read.

A case is (format, kind, number): the kind of change, and the seed of where and how. The numbers of
a good file are known: what is read without a word must be them, or fewer or other numbers that
stand in the file.
"""

import importlib.util
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from tests.support.commands import vbdm_command

import vbdm

from .trial import OK, OTHER, REFUSED, attempt

POINTS = np.random.default_rng(4100).standard_normal((60, 3))


def text_of(points, separator=",", header="x,y,z"):
    rows = [separator.join(repr(float(v)) for v in row) for row in points]
    return "\n".join([header, *rows]) + "\n"


def write_text(path, points):
    path.write_text(text_of(points), "utf-8")


def write_npz(path, points):
    np.savez_compressed(path, points=points)


def write_hdf5(path, points):
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("points", data=points, chunks=(20, 3), compression="gzip")


def write_parquet(path, points):
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({name: points[:, j] for j, name in enumerate("xyz")}), path)


def write_netcdf(path, points):
    import xarray

    xarray.Dataset({"u": (("time", "x"), points)}).to_netcdf(path)


def write_anndata(path, points):
    import anndata

    anndata.AnnData(points, obsm={"X_pca": points}).write_h5ad(path)


def write_model(path, points):
    vbdm.save(vbdm.neighbors(points, 10), path)


#: How each format is written, by its suffix, and the library that is needed.
WRITERS = {
    ".csv": (write_text, "numpy"), ".tsv": (write_text, "numpy"), ".npy": (np.save, "numpy"),
    ".npz": (write_npz, "numpy"), ".h5": (write_hdf5, "h5py"),
    ".parquet": (write_parquet, "pyarrow"), ".nc": (write_netcdf, "xarray"),
    ".h5ad": (write_anndata, "anndata"), ".vbdm": (write_model, "numpy"),
}  # fmt: skip
#: What may stand in a cell of a text file.
CELLS = [
    "", " ", "nan", "NA", "#N/A", "inf", "-inf", "1e400", "1e-400", "1_000", "1,5", "0x10", "∞",
    "١", "12:30", "2020-01-01", "True", "--", '"', "'", '"a', "\t", "\0", "\ufeff", "\x1b[2J",
    "x" * 5000, "9" * 400, "1.5.2", "+-1", "1e", "=1+1", "#", "# 1", "\r", "\n\n", "1;2", "𝟙",
    "1 2",
]  # fmt: skip
#: What may stand in an array.
VALUES = [np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 1e150, 0.0]
#: Other kinds of arrays in place of points.
ARRAYS = {
    "no rows": np.empty((0, 3)), "no columns": np.empty((5, 0)), "one": np.ones((1, 1)),
    "number": np.float64(3), "line": np.arange(9.0), "deep": np.ones((2, 3, 4)),
    "complex": np.ones((9, 2)) * 1j, "bool": np.ones((9, 2), bool), "text": np.full((9, 2), "a"),
    "dates": np.zeros((9, 2), "M8[s]"), "objects": np.full((9, 2), None, object),
    "records": np.zeros(9, [("a", float), ("b", int)]), "half": np.ones((9, 2), np.float16),
    "wide": np.ones((2, 5000)), "bytes": np.zeros((9, 2), "S3"), "large": np.full((9, 2), 2**63),
}  # fmt: skip


def can_write(suffix: str) -> bool:
    return importlib.util.find_spec(WRITERS[suffix][1]) is not None


def all_cases(n_cases: int) -> list[tuple]:
    """Return so many cases, evenly over the formats and the kinds of change."""
    cases = [(".csv", "cell", k) for k in range(4 * len(CELLS))]
    cases += [(s, "array", k) for s in (".npy", ".npz") for k in range(len(ARRAYS))]
    formats = [suffix for suffix in WRITERS if can_write(suffix)]
    while len(cases) < n_cases:
        k = len(cases)
        kind = ("bytes", "bytes", "cut", "value", "zeros")[k % 5]
        cases.append((formats[(k // 5) % len(formats)], kind, k))
    return cases


@cache
def workshop() -> Path:
    """Return a folder for the files of this process."""
    return Path(tempfile.mkdtemp(prefix="vbdm-fuzz-"))


@cache
def good(suffix: str) -> bytes:
    """Return the bytes of a good file."""
    path = workshop() / f"good{suffix}"
    WRITERS[suffix][0](path, POINTS)
    return path.read_bytes()


def damaged(case) -> Path:
    """Write the file of a case."""
    suffix, kind, number = case
    path, rng = workshop() / f"file{suffix}", np.random.default_rng(number)
    if kind == "cell":
        points = [[repr(float(v)) for v in row] for row in POINTS]
        row, column = (0, 0) if number % 2 else (int(rng.integers(60)), int(rng.integers(3)))
        points[row][column] = CELLS[number // 4]
        path.write_text("x,y,z\n" + "\n".join(map(",".join, points)), "utf-8")
    elif kind == "array":
        array = list(ARRAYS.values())[number]
        np.save(path, array) if suffix == ".npy" else np.savez(path, points=array)
    elif kind == "value":
        points = POINTS.copy()
        points[rng.integers(60), rng.integers(3)] = rng.choice(VALUES)
        if suffix == ".vbdm":
            points = POINTS
        WRITERS[suffix][0](path, points)
    else:
        path.write_bytes(damaged_bytes(good(suffix), kind, rng))
    return path


def damaged_bytes(content: bytes, kind: str, rng) -> bytes:
    """Return bytes that were cut off, overwritten by others, or by zeros."""
    start = int(rng.integers(len(content)))
    length = int(rng.choice([1, 2, 8, 100]))
    if kind == "cut":
        return content[:start]
    piece = bytes(length) if kind == "zeros" else rng.bytes(length)
    return content[:start] + piece + content[start + length :]


def judge(case) -> str:
    """Return the outcome of reading a file, and of preparing its points."""
    path = damaged(case)
    if case[0] == ".vbdm":
        return attempt(lambda: vbdm.load(path).n_neighbors)[0]
    outcome, found = attempt(lambda: vbdm.io.prepare(vbdm.io.read(path), missing="drop")[0])
    if outcome != OK:
        return outcome
    points = found.points
    if points.dtype != np.float64 or points.ndim != 2 or not np.isfinite(points).all():
        return "points that are no points"
    lost = len(POINTS) - len(points)
    # A line that begins with "#" is a comment.
    comment = case[1] == "cell" and CELLS[case[2] // 4].startswith("#")
    told = found.notes or found.dropped or comment
    if case[1] in ("cell", "value") and lost > 0 and not told:
        return f"{lost} rows lost without a word"
    return OK if points.shape == POINTS.shape and np.array_equal(points, POINTS) else OTHER


def judge_command(case) -> str:
    """Return the outcome of the command on such a file: words, and one of its exit codes."""
    path = damaged(case)
    asked = ("transform", path, path) if case[0] == ".vbdm" else ("tune", path)
    result = vbdm_command(*asked)
    if "mistake in vbdm" in result.output or "Traceback" in result.output:
        return result.output[-300:]
    return {0: OK, 1: REFUSED, 2: REFUSED}.get(result.exit_code, f"exit code {result.exit_code}")
