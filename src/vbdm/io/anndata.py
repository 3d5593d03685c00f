"""AnnData, the files of single-cell science: read coordinates or distances, write results back."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from ..base.arrays import to_host
from ..base.files import check_target, need, plain, replacing_path
from ..base.memory import refuse_array
from ..base.row_notes import LONGEST_LABEL, MOST_FIELDS, MOST_LABELS, Labels, RowNotes
from ..errors import InputError
from ..spectrum.vectors import known_eigenfunctions
from .arrays import choose_key, datasets_inside
from .set_aside import NO_WORDS, SetAside
from .source import Source
from .table import REAL, Options, Table, as_rows, listed

if TYPE_CHECKING:
    from ..spectrum.spectrum import Spectrum
    from .preparation import Cloud

#: Name in obsm of the coordinates that are read by default.
USUAL_KEY = "X_pca"


def read(path: Path, options: Options) -> Table:
    """Read the matrix X, coordinates from obsm, or distances from obsp."""
    h5py, io = need("h5py", path, "anndata"), need("anndata.io", path, "anndata")
    with h5py.File(path, "r") as file:
        datasets_inside(file, path)
        if hasattr(file.get("obsm"), "dtype"):
            raise InputError(
                f"The file has the layout from before AnnData 0.7; received {path.name!r}. Write "
                "it anew: anndata.read_h5ad(path).write_h5ad(new)."
            )
        places = [f"{part}/{name}" for part in ("obsm", "obsp") for name in file.get(part, ())]
        places = [own for own in places if "connectivities" not in own] + ["X"] * ("X" in file)
        place = find_place(places, options.key)
        refuse_matrix(file[place], place)
        obs = fields_of_cells(io, file)
        element = io.read_elem(file[place])
        genes = io.read_elem(file["var"]).index if place == "X" else None
    source = Source(selection={"key": place})
    if place.startswith("obsp/"):
        distances = csr_array(element)
        about = kept_fields(obs, distances.shape[0])
        return Table(distances, (), source, metric="precomputed", about_rows=about)
    notes = []
    if options.key is None and len(places) > 1:
        others = listed([other for other in places if other != place])
        notes.append(f"{place.replace('obsm/', '')} of obsm was used; `key` takes {others}.")
    values, names = table_of(element, place, genes)
    about = kept_fields(obs, len(values))
    return Table(values, names, source, notes=tuple(notes), about_rows=about)


def refuse_matrix(node: Any, place: str) -> None:
    """Raise before a matrix is read, if it would not fit into memory; sparse ones become dense."""
    if hasattr(node, "dtype"):
        stored = math.prod(node.shape)
    else:
        stored = sum(math.prod(part.shape) for part in node.values() if hasattr(part, "dtype"))
    dense = 0
    if not place.startswith("obsp/"):
        dense = math.prod(int(length) for length in node.attrs.get("shape", (0,)))
    refuse_array(max(stored, dense), f"The matrix {place!r}")


def fields_of_cells(io: Any, file: Any) -> dict[str, Any]:
    """Return what the file says about each cell, as far as it is kept, by the names of fields."""
    obs = file.get("obs")
    order = [] if obs is None else [str(name) for name in obs.attrs.get("column-order", ())]
    kept = [name for name in order if name in obs][:MOST_FIELDS]
    for name in kept:
        refuse_matrix(obs[name], f"obs/{name}")
    return {name: io.read_elem(obs[name]) for name in kept}


def kept_fields(fields: Mapping[str, Any], n_cells: int) -> RowNotes:
    """Return fields with one entry per cell as labels and numbers."""
    aside = SetAside()
    for name, values in fields.items():
        if len(values) != n_cells:
            continue
        kind = np.asarray(values).dtype.kind
        if hasattr(values, "categories") and hasattr(values, "codes"):
            words = tuple(str(word)[:LONGEST_LABEL] for word in values.categories[:MOST_LABELS])
            few = len(words) == len(values.categories)
            aside.add_labels(
                name, Labels(words, np.asarray(values.codes, np.int32)) if few else None
            )
        elif kind in REAL:
            aside.add_numbers(name, np.asarray(values, np.float64))
        else:
            aside.add_labels(name, Labels.of(np.asarray(values).tolist(), NO_WORDS | {"<NA>"}))
    return aside.row_notes


def find_place(places: list[str], key: str | None) -> str:
    """Return the path inside the file that a key stands for.

    A key is "X", a name in obsm or in obsp, or a whole path such as "obsm/X_umap".
    """
    if key is None:
        usual = f"obsm/{USUAL_KEY}"
        return usual if usual in places else choose_key(None, places, "matrix", likely=places)
    for place in places:
        if key in (place, place.partition("/")[2]):
            return place
    return choose_key(key, places, "matrix", likely=places)


def table_of(element: Any, place: str, genes: Any) -> tuple[NDArray[Any], tuple[str, ...]]:
    """Return an element of the file as a dense array, and the names of its columns."""
    labels = getattr(element, "columns", genes)
    if hasattr(element, "to_numpy"):
        element = element.to_numpy()
    dense = element.toarray() if issparse(element) else np.asarray(element)
    values = as_rows(dense, f"The matrix {place!r}")
    if labels is not None:
        return values, tuple(str(label) for label in labels)
    name = place.partition("/")[2]
    return values, tuple(f"{name}{number}" for number in range(values.shape[1]))


def write_anndata(
    path_in: str | os.PathLike[str],
    path_out: str | os.PathLike[str],
    cloud: Cloud,
    spectrum: Spectrum,
    *,
    params: Mapping[str, Any] | None = None,
) -> None:
    """Write a copy of an AnnData file with the results inside, where scanpy's users look for them.

    Parameters
    ----------
    path_in, path_out : path
        The file that was read, and the new file; an existing file is never overwritten.
    cloud : Cloud
        The points of the estimate; rows of the file that are not among them get NaN.
    spectrum : Spectrum
        The results, one row per point of the cloud.
    params : dict, optional
        Settings to store beside the results.

    Notes
    -----
    ``obsm["X_vbdm"]`` holds the eigenfunctions without the first one, which is constant (NaN in
    columns whose eigenvalue is NaN),
    ``obs["vbdm_density"]`` the density, and ``uns["vbdm"]`` the eigenvalues of the columns of
    ``X_vbdm``, their total_errors, their 95 % intervals (two columns: lower and upper end) and
    their standard_errors (sampling alone), epsilon, dim and params.
    """
    library = need("anndata", path_in, "anndata")
    target = check_target(path_out)
    if target.exists():
        raise InputError(
            f"The file to write exists already; received {os.fspath(path_out)!r}. Choose another "
            "name."
        )
    adata = library.read_h5ad(path_in)
    if adata.n_obs != cloud.n_read:
        raise InputError(
            f"The results do not belong to this file; received {adata.n_obs} observations, where "
            f"{cloud.n_read} were read. Pass the very file that was read."
        )
    put_results(adata, spectrum, cloud, params=params or {})
    with replacing_path(target) as unfinished:
        adata.write_h5ad(unfinished)


def put_results(
    adata: Any,
    spectrum: Spectrum,
    cloud: Cloud | None = None,
    *,
    key: str = "vbdm",
    params: Mapping[str, Any],
) -> None:
    """Put a spectrum into an AnnData object; rows that are not in the cloud, if any, get NaN."""
    operator = spectrum.operator
    adata.obsm[f"X_{key}"] = spread(to_host(known_eigenfunctions(spectrum)[:, 1:]), cloud)
    adata.obs[f"{key}_density"] = spread(np.asarray(to_host(operator.density)), cloud)
    adata.uns[key] = {
        **adata.uns.get(key, {}),
        # Numbers and text, which the file can hold; the rest as JSON text.
        "params": {
            name: value if isinstance(value, bool | int | float | str) else json.dumps(plain(value))
            for name, value in params.items()
            if value is not None
        },
        "eigenvalues": np.array(spectrum.eigenvalues[1:]),
        "total_errors": np.array(spectrum.total_errors[1:]),
        "intervals": np.array(spectrum.intervals()[1:]),
        "standard_errors": np.array(spectrum.standard_errors[1:]),
        "epsilon": float(operator.epsilon),
        "dim": float(operator.dim),
    }


def spread(values: NDArray[Any], cloud: Cloud | None) -> NDArray[Any]:
    """Return values for all rows of the file, with NaN in those that were not used."""
    if cloud is None:
        return np.array(values)
    result = np.full((cloud.n_read, *values.shape[1:]), np.nan)
    result[cloud.rows] = values
    return result
