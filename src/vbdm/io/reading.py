"""The function `read`: it finds a file's format, calls the reader, turns failures into messages."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, fields, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..base.checks import check_choice, or_none
from ..base.files import damaged, missing_library
from ..errors import InputError, OutOfMemoryError
from ..placement import a_scratch
from ..progress import report
from .source import (
    Source,
    as_file,
    cannot_open,
    check_file,
    check_folder,
    check_topology,
    source_of,
)
from .table import Options, Table, as_slice, choose, listed, plain_names

#: How PLUMED's files begin.
PLUMED = b"#! FIELDS"


@dataclass(frozen=True)
class Format:
    """A file format."""

    #: Name of the format, for the parameter `format` of `vbdm.io.read`.
    name: str
    #: Endings of file names, in lower case.
    suffixes: tuple[str, ...]
    #: Modules that must be installed.
    needs: tuple[str, ...]
    #: Name of the extra with them, as in ``pip install 'vbdm[extra]'``; empty if none is needed.
    extra: str
    #: Parameters of `vbdm.io.read` that apply to this format, beside ``columns``.
    options: tuple[str, ...]
    #: Module and function of this package that read it, as "module.function".
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
    Format("npy", (".npy",), (), "", (), "arrays.read"),
    Format("npz", (".npz",), (), "", ("key",), "arrays.read_npz"),
    Format("text", (".csv", ".tsv", ".txt", ".dat"), (), "", ("header",), "text.read"),
    Format("plumed", (".colvar",), (), "", (), "plumed.read"),
    Format("parquet", (".parquet", ".pq"), ("pyarrow",), "parquet", (), "parquet.read"),
    Format("hdf5", (".h5", ".hdf5", ".hdf"), ("h5py",), "hdf5", ("key",), "arrays.read_hdf5"),
    Format("zarr", (".zarr",), ("zarr",), "zarr", ("key",), "arrays.read_zarr"),
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


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    key: str | None = None,
    columns: Any = None,
    header: bool | str = "auto",
    variable: Any = None,
    sample_dims: Any = None,
    topology: str | os.PathLike[str] | None = None,
    selection: str | None = None,
    features: str = "coordinates",
    stride: int = 1,
    scratch: str | os.PathLike[str] | None = None,
) -> Table:
    """Read a table of points from a file.

    Parameters
    ----------
    path : str or path
        The file; a folder for Zarr. A pipe, such as /dev/stdin, is copied to a temporary file.
    format : str, optional
        Name of the format (see `vbdm.io.formats`), if the suffix does not tell it.
    key : str, optional
        Name of the array inside an ``.npz``, or its path inside HDF5 and Zarr. For AnnData, "X", a
        name in obsm (the default is "X_pca") or a name in obsp, such as "distances". Not needed
        where there is only one.
    columns : str, list, or Preparation, optional
        The choice of columns: "x,y", "0,2" or "0-3". A `vbdm.io.Preparation` takes the columns of
        its training file, and superposes a trajectory on the same frame. By default all.
    header : {"auto", True, False}
        Text only: whether the first line holds the names of the columns.
    variable : str or list of str, optional
        NetCDF only: names of the variables; not needed where there is only one.
    sample_dims : str or list of str, optional
        NetCDF only: the dimensions that become rows, "time" by default; all others become columns.
    topology : path, optional
        Trajectories only: the file that names the atoms.
    selection : str, optional
        Trajectories only: the choice of atoms, in mdtraj's language; "name CA" by default.
    features : {"coordinates", "dihedrals"}
        Trajectories only: coordinates in ångström, superposed on the first frame, or the backbone
        angles φ and ψ in radians with period 2π.
    stride : int
        Trajectories only: distance between frames that are read; 10 reads every tenth.
    scratch : path, optional
        Folder for a file without a name, into which tables of Zarr, HDF5 and Parquet are read
        instead of into memory; columns that are no coordinates are then left out. Nothing is left
        behind there.

    Returns
    -------
    Table
        The values, the names of the columns, and the file they came from.

    Notes
    -----
    ``.npy`` files are mapped, not loaded: only what is used comes into memory. Nothing is ever
    unpickled. Anything wrong with a file is an `InputError`, whichever library reads it.
    """
    check_choice(features, "features", ("coordinates", "dihedrals"))
    for name, word in {"format": format, "key": key, "selection": selection}.items():
        check_text(word, name)
    check_words(variable, "variable")
    check_words(sample_dims, "sample_dims")
    or_none(a_scratch)(scratch, "scratch")
    source = check_file(path)
    climate = variable is not None or sample_dims is not None
    check_folder(source, format)
    kind = find_format(source, format, topology, climate)
    options = Options(
        key=key,
        columns=columns,
        header=header,
        variable=variable,
        sample_dims=sample_dims,
        topology=None if topology is None else check_topology(topology),
        selection=selection,
        features=features,
        stride=stride,
        scratch=None if scratch is None else Path(scratch),
    )
    check_options(options, kind)
    with as_file(source) as file:
        report("reading", 0, None, kind.name)
        table = take_columns(table_of(file, kind, options), options)
        origin = source_of(file, kind.name, table.source.selection)
    unnamed = not table.names and table.metric != "precomputed"
    names = plain_names(table.values.shape[1]) if unnamed else table.names
    made_up = table.made_up or unnamed
    return replace(table, names=names, source=origin, chosen=columns is not None, made_up=made_up)


def table_of(path: Path, kind: Format, options: Options) -> Table:
    """Call the reader of the format; any exception in it becomes an error about the file."""
    if not kind.installed:
        absent = [module for module in kind.needs if not is_there(module)]
        raise missing_library(absent[0], path, kind.extra)
    module, function = kind.reader.split(".")
    read_format = getattr(import_module(f".{module}", __package__), function)
    try:
        with warnings.catch_warnings():
            # Libraries warn of their own future and of unusual files, which is no use here.
            warnings.simplefilter("ignore")
            table: Table = read_format(path, options)
    except InputError:
        raise
    except PermissionError as error:
        raise cannot_open(os.fspath(path), error) from error
    except MemoryError as error:
        raise OutOfMemoryError(
            f"The file does not fit into memory, or is damaged; received {path.name!r} ({error}). "
            "Try fewer columns, or thin the file first."
        ) from error
    except Exception as error:
        # Each library has its own exceptions for damaged files, and some raise any exception.
        hint = "Copy it again, or name its format with `format`."
        raise damaged(path, kind.name, error, hint) from error
    return table


def take_columns(table: Table, options: Options) -> Table:
    """Return the chosen columns only, unless the reader has chosen already."""
    if options.columns is None or table.chosen:
        return table
    if table.metric == "precomputed":
        if hasattr(options.columns, "find") and not isinstance(options.columns, str):
            return table
        raise InputError(
            "Columns cannot be chosen from a matrix of distances; received columns "
            f"{options.columns!r}. Leave the choice of columns out."
        )
    made_up = not table.names
    names = table.names or plain_names(table.values.shape[1])
    taken = choose(options.columns, names, made_up)
    selection = {**table.source.selection, "columns": listed([names[place] for place in taken])}
    return replace(
        table,
        values=table.values[:, as_slice(taken)],
        names=tuple(names[place] for place in taken),
        source=Source(selection=selection),
        period=None if table.period is None else tuple(table.period[place] for place in taken),
        made_up=made_up,
    )


def check_options(options: Options, kind: Format) -> None:
    """Refuse options that do not apply to this format: they would be silently ignored."""
    usual = Options()
    for field in fields(Options):
        value = getattr(options, field.name)
        if field.name in ("columns", "scratch") or field.name in kind.options:
            continue
        default = getattr(usual, field.name)
        # An array, which compares by entries, was always given.
        if value is not default and (hasattr(value, "dtype") or value != default):
            raise InputError(
                f"`{field.name}` has no meaning for {kind.name} files; received "
                f"{field.name}={(value if isinstance(value, int) else str(value))!r}. These files "
                f"know: {listed(('columns', *kind.options))}. Leave it out, or name another "
                "format with `format`."
            )


def check_text(value: Any, name: str) -> None:
    """Raise unless a value is text or None."""
    if value is not None and not isinstance(value, str):
        raise InputError(
            f"`{name}` must be text; received {repr(value)[:200]}. Write it in quotes."
        )


def check_words(value: Any, name: str) -> None:
    """Raise unless a value is text, a list of texts, or None."""
    if isinstance(value, (list, tuple)):
        for word in value:
            check_text("" if word is None else word, name)
    else:
        check_text(value, name)
