"""The table of file formats: their suffixes, the libraries they need, the functions that read."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..errors import InputError

#: How PLUMED's files begin.
PLUMED = b"#! FIELDS"


@dataclass(frozen=True)
class Format:
    """A file format.

    Attributes
    ----------
    name : str
        Name of the format, for the parameter `format` of `vbdm.io.read`.
    suffixes : tuple of str
        Endings of file names, in lower case.
    needs : tuple of str
        Modules that must be installed.
    extra : str
        Name of the extra with them, as in ``pip install 'vbdm[extra]'``; empty if none is needed.
    options : tuple of str
        Parameters of `vbdm.io.read` that apply to this format, beside ``columns``.
    reader : str
        Module and function of this package that read it, as "module.function".
    """

    name: str
    suffixes: tuple[str, ...]
    needs: tuple[str, ...]
    extra: str
    options: tuple[str, ...]
    reader: str

    @property
    def installed(self) -> bool:
        """Whether the libraries that this format needs are installed."""
        return all(is_there(module) for module in self.needs)

    @property
    def install_command(self) -> str:
        """The command that installs those libraries; empty if none is needed."""
        return f"pip install 'vbdm[{self.extra}]'" if self.extra else ""


TRAJECTORIES = (".xtc", ".dcd", ".trr", ".pdb", ".gro", ".nc", ".ncdf", ".netcdf", ".lammpstrj")

FORMATS = (
    Format("npy", (".npy",), (), "", (), "npy.read"),
    Format("npz", (".npz",), (), "", ("key",), "keyed.read_npz"),
    Format("text", (".csv", ".tsv", ".txt", ".dat"), (), "", ("header",), "text.read"),
    Format("plumed", (".colvar",), (), "", (), "plumed.read"),
    Format("parquet", (".parquet", ".pq"), ("pyarrow",), "parquet", (), "parquet.read"),
    Format("hdf5", (".h5", ".hdf5", ".hdf"), ("h5py",), "hdf5", ("key",), "keyed.read_hdf5"),
    Format("zarr", (".zarr",), ("zarr",), "zarr", ("key",), "keyed.read_zarr"),
    Format(
        "netcdf", (".nc", ".nc4", ".cdf", ".netcdf"), ("xarray", "netCDF4", "h5py"), "netcdf",
        ("variable", "sample_dims"), "netcdf.read",
    ),
    Format("anndata", (".h5ad",), ("anndata", "h5py"), "anndata", ("key",), "anndata.read"),
    Format(
        "trajectory", TRAJECTORIES, ("mdtraj",), "md",
        ("topology", "selection", "features", "stride"), "trajectory.read",
    ),
)  # fmt: skip


def formats() -> tuple[Format, ...]:
    """Return all formats that vbdm can read, also those whose library is not installed.

    Examples
    --------
    >>> [kind.name for kind in vbdm.io.formats() if not kind.needs]
    ['npy', 'npz', 'text', 'plumed']
    """
    return FORMATS


def is_there(module: str) -> bool:
    """Tell whether a module is installed, without importing it."""
    try:
        return find_spec(module) is not None
    except (ValueError, ImportError):
        return False


def find_format(
    path: Path, name: str | None, topology: Any = None, climate: bool = False
) -> Format:
    """Return the format of a file, by its name or by its suffix.

    Two suffixes are ambiguous: ``.nc`` with a topology is a trajectory, otherwise NetCDF; ``.zarr``
    with a variable or dimensions (``climate``) was written by xarray, otherwise it holds arrays.
    PLUMED's files often have no suffix: they are known by their first line.
    """
    if name is not None:
        return named_format(name)
    suffix = path.suffix.lower()
    found = [kind for kind in FORMATS if suffix in kind.suffixes]
    if (not found or found[0].name == "text") and is_plumed(path):
        return named_format("plumed")
    if climate and suffix == ".zarr":
        return named_format("netcdf")
    if topology is not None:
        found = [kind for kind in found if kind.name == "trajectory"] or found
    if not found:
        raise InputError(
            f"The format of the file is not known by its name; received {path.name!r}. Known "
            f"are: {known_formats()}. Rename the file, or name its format with `format`, such as "
            "format='text'."
        )
    return found[0]


def is_plumed(path: Path) -> bool:
    """Tell whether a file begins as PLUMED's files do."""
    # What is read from a pipe is gone.
    if not path.is_file():
        return False
    try:
        with open(path, "rb") as stream:
            return stream.read(len(PLUMED)) == PLUMED
    except OSError:
        return False


def named_format(name: str) -> Format:
    """Return the format of that name, or with that suffix, such as "csv"."""
    for kind in FORMATS:
        if name == kind.name or f".{name.lower().lstrip('.')}" in kind.suffixes:
            return kind
    raise InputError(f"There is no such format; received {name!r}. Known are: {known_formats()}.")


def known_formats() -> str:
    """Return the names and suffixes of all formats, in one line."""
    return "; ".join(f"{kind.name} ({' '.join(kind.suffixes)})" for kind in FORMATS)
