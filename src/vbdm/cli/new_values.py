"""Eigenfunctions at new points, evaluated and written part by part."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.files import need, replacing
from ..base.threads import slices
from ..base.versions import __version__
from ..errors import OutsideWarning
from ..extension.extension import complain, extend
from ..progress import report

if TYPE_CHECKING:
    from ..io import Cloud
    from ..spectrum.spectrum import Spectrum

#: New points that are evaluated at a time.
AT_A_TIME = 1 << 19
#: Values at some of the points, by name; `rows` are their rows in the file.
Part = dict[str, NDArray[Any]]


def write_values(target: Path, spectrum: Spectrum, cloud: Cloud, outside: str) -> int:
    """Write eigenfunctions, density and flags at the points; return how many lie outside."""
    n_outside: list[int] = []
    parts = evaluated(spectrum, cloud, outside, n_outside)
    suffix = target.suffix.lower()
    if suffix == ".zarr":
        write_zarr(target, spectrum, len(cloud.rows), parts)
    else:
        write = {".npz": write_npz, ".csv": write_table, ".npy": write_npy}[suffix]
        with replacing(target) as stream:
            write(stream, spectrum, len(cloud.rows), parts)
    return sum(n_outside)


def evaluated(
    spectrum: Spectrum, cloud: Cloud, outside: str, n_outside: list[int]
) -> Iterator[Part]:
    """Yield eigenfunctions, density and flags at the new points, and count those outside the data.

    One warning at the end tells how many points these are.
    """
    far = []
    for rows in slices(len(cloud.rows), AT_A_TIME):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", OutsideWarning)
            found = extend(spectrum, cloud.points[rows], outside=outside)
        values = np.array(found.values)
        # Where an eigenvalue is NaN, the mode is no coordinate.
        values[:, np.isnan(spectrum.eigenvalues)] = np.nan
        far.append(found.outside)
        flags = found.outside & (found.training < 0)
        n_outside.append(int(flags.sum()))
        report("extension", rows.stop, len(cloud.rows))
        yield {
            "eigenfunctions": values, "density": found.density, "outside": flags,
            "training": found.training, "rows": cloud.rows[rows],
        }  # fmt: skip
    if outside == "nan" and any(flags.any() for flags in far):
        complain(np.concatenate(far), strict=False)


def write_npz(stream: IO[bytes], spectrum: Spectrum, n_points: int, parts: Iterator[Part]) -> None:
    """Write all arrays, and the eigenvalues, by name."""
    from ..results import write_arrays

    found = list(parts)
    arrays = {name: np.concatenate([part[name] for part in found]) for name in found[0]}
    write_arrays(stream, {"eigenvalues": spectrum.eigenvalues, **arrays})


def write_npy(stream: IO[bytes], spectrum: Spectrum, n_points: int, parts: Iterator[Part]) -> None:
    """Write the eigenfunctions alone, part by part."""
    shape = (n_points, len(spectrum.eigenvalues))
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    for part in parts:
        stream.write(np.ascontiguousarray(part["eigenfunctions"], "<f8").data)


def write_table(
    stream: IO[bytes], spectrum: Spectrum, n_points: int, parts: Iterator[Part]
) -> None:
    """Write text, part by part: one row per point, numbers with all digits."""
    n = len(spectrum.eigenvalues)
    names = ["row", *(f"phi{j}" for j in range(n)), "density", "outside"]
    stream.write((",".join(names) + "\n").encode())
    for part in parts:
        columns = [part[name] for name in ("rows", "eigenfunctions", "density", "outside")]
        kinds = ["%d", *["%.17g"] * (n + 1), "%d"]
        np.savetxt(stream, np.column_stack(columns), kinds, ",")


def write_zarr(target: Path, spectrum: Spectrum, n_points: int, parts: Iterator[Part]) -> None:
    """Write a group of Zarr, part by part."""
    from ..io.saved.zarr_group import replacing_group

    zarr = need("zarr", target, "zarr")
    about = {"format": "vbdm values at new points", "version": 1, "vbdm": __version__}
    with replacing_group(target) as path:
        group = zarr.open_group(path, mode="w-", attributes=about)
        group.create_array("eigenvalues", data=np.asarray(spectrum.eigenvalues))
        start = 0
        for part in parts:
            for name, values in part.items():
                if name not in group:
                    # Parts are whole chunks: none is written twice.
                    chunks = (min(n_points, AT_A_TIME), *(1 for _ in values.shape[1:]))
                    shape = (n_points, *values.shape[1:])
                    group.create_array(name, shape=shape, dtype=values.dtype, chunks=chunks)
                group[name][start : start + len(values)] = values
            start += len(part["rows"])
