"""The function `read`: it finds a file's format, calls the reader, turns failures into messages."""

from __future__ import annotations

import os
import warnings
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from ..base.checks import check_choice, or_none
from ..base.files import damaged, missing_library
from ..errors import InputError, OutOfMemoryError
from ..placement import a_scratch
from ..progress import report
from .columns import as_slice, choose
from .formats import Format, find_format, is_there
from .pipes import as_file
from .source import cannot_open, check_file, check_folder, check_topology, source_of
from .table import Content, Options, Table, listed, plain_names


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
        content = take_columns(content_of(file, kind, options), options)
        origin = source_of(file, kind.name, content.selection)
    names = content.names
    if names is None:
        names = plain_names(content.values.shape[1])
    return Table(
        content.values,
        names,
        origin,
        content.metric,
        content.period,
        columns is not None,
        content.notes,
        content.reference,
        content.made_up or content.names is None,
        content.about_rows,
        content.unit,
    )


def content_of(path: Path, kind: Format, options: Options) -> Content:
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
            content: Content = read_format(path, options)
    except InputError:
        raise
    except PermissionError as error:
        raise cannot_open(os.fspath(path), error) from error
    except MemoryError as error:
        raise OutOfMemoryError(
            f"The file does not fit into memory; received {path.name!r} ({error}). Either it is "
            "too large for this machine, or its header is damaged. Try fewer columns, or thin the "
            "file first."
        ) from error
    except Exception as error:
        # Each library has its own exceptions for damaged files, and some raise any exception.
        hint = "Copy it again, or name its format with `format`."
        raise damaged(path, kind.name, error, hint) from error
    return content


def take_columns(content: Content, options: Options) -> Content:
    """Return the content with the chosen columns only, unless the reader has chosen already."""
    if options.columns is None or content.columns_taken:
        return content
    if content.metric == "precomputed":
        if hasattr(options.columns, "find") and not isinstance(options.columns, str):
            return content
        raise InputError(
            "Columns cannot be chosen from a matrix of distances; received columns "
            f"{options.columns!r}. Leave the choice of columns out."
        )
    names = content.names or plain_names(content.values.shape[1])
    made_up = content.names is None
    taken = choose(options.columns, names, made_up)
    period = content.period
    return replace(
        content,
        values=content.values[:, as_slice(taken)],
        names=tuple(names[position] for position in taken),
        selection={**content.selection, "columns": listed([names[p] for p in taken])},
        period=None if period is None else tuple(period[position] for position in taken),
        made_up=made_up,
    )


def differs(value: Any, usual: Any) -> bool:
    """Tell whether an option was given; an array, which compares by entries, always was."""
    return value is not usual and (hasattr(value, "dtype") or bool(value != usual))


def check_options(options: Options, kind: Format) -> None:
    """Refuse options that do not apply to this format: they would be silently ignored."""
    usual = Options()
    for field in fields(Options):
        value = getattr(options, field.name)
        if field.name in ("columns", "scratch") or field.name in kind.options:
            continue
        if differs(value, getattr(usual, field.name)):
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
            f"`{name}` must be text; received {repr(value)[:200]}. Write it in quotes, or leave "
            f"`{name}` out."
        )


def check_words(value: Any, name: str) -> None:
    """Raise unless a value is text, a list of texts, or None."""
    if isinstance(value, (list, tuple)):
        for word in value:
            check_text("" if word is None else word, name)
    else:
        check_text(value, name)
