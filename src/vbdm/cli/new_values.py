"""Eigenfunctions at new points, evaluated and written part by part."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..base.files import replacing
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
    seen: list[NDArray[np.bool_]] = []
    parts = noting(seen, evaluated(spectrum, cloud, outside))
    suffix = target.suffix.lower()
    if suffix == ".zarr":
        write_zarr(target, spectrum, len(cloud.rows), parts)
    else:
        write = {".npz": write_npz, ".csv": write_table, ".npy": write_npy}[suffix]
        with replacing(target) as stream:
            write(stream, spectrum, len(cloud.rows), parts)
    return int(sum(flags.sum() for flags in seen))


def noting(seen: list[NDArray[np.bool_]], parts: Iterator[Part]) -> Iterator[Part]:
    """Yield the parts, and note which of their points lie outside the data."""
    for part in parts:
        seen.append(part["outside"])
        yield part


def evaluated(spectrum: Spectrum, cloud: Cloud, outside: str) -> Iterator[Part]:
    """Yield eigenfunctions, density and flags at the new points, part by part.

    One warning at the end tells how many points lie outside the data.
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
        report("extension", rows.stop, len(cloud.rows))
        yield {
            "eigenfunctions": values,
            "density": found.density,
            "outside": found.outside & (found.training < 0),
            "training": found.training,
            "rows": cloud.rows[rows],
        }
    if outside == "nan" and any(flags.any() for flags in far):
        complain(np.concatenate(far), strict=False)


def write_npz(stream: IO[bytes], spectrum: Spectrum, n_points: int, parts: Iterator[Part]) -> None:
    """Write all arrays, and the eigenvalues, by name."""
    from ..results import write_arrays

    write_arrays(stream, {"eigenvalues": spectrum.eigenvalues, **joined(parts)})


def joined(parts: Iterator[Part]) -> Part:
    """Return the arrays of all parts in one piece."""
    found = list(parts)
    return {name: np.concatenate([part[name] for part in found]) for name in found[0]}


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
    kinds = ["%d", *["%.17g"] * (n + 1), "%d"]
    stream.write((",".join(names) + "\n").encode())
    for part in parts:
        own = (part[name] for name in ("rows", "eigenfunctions", "density", "outside"))
        np.savetxt(stream, np.column_stack(list(own)), kinds, ",")


def write_zarr(target: Path, spectrum: Spectrum, n_points: int, parts: Iterator[Part]) -> None:
    """Write a group of Zarr, part by part."""
    from ..base.files import need
    from ..io.saved.zarr_group import replacing_group

    zarr = need("zarr", target, "zarr")
    said = {"format": "vbdm values at new points", "version": 1, "vbdm": __version__}
    with replacing_group(target) as path:
        group = zarr.open_group(path, mode="w-", attributes=said)
        group.create_array("eigenvalues", data=np.asarray(spectrum.eigenvalues))
        start, arrays = 0, {}
        for part in parts:
            for name, values in part.items():
                if name not in arrays:
                    # Parts are whole chunks: none is written twice.
                    rows = min(n_points, AT_A_TIME)
                    arrays[name] = group.create_array(
                        name, shape=(n_points, *values.shape[1:]), dtype=values.dtype,
                        chunks=(rows, *(1 for _ in values.shape[1:])),
                    )  # fmt: skip
                arrays[name][start : start + len(values)] = values
            start += len(part["rows"])
