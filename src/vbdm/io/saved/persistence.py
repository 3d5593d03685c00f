"""Saved results: one file, plain arrays and one JSON text, no pickle, never half written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import msgspec
import numpy as np

from ...base.checks import a_switch
from ...base.files import PathLike, plain
from ...base.versions import __version__
from ...errors import InputError
from ...graph.neighbor_graph import NeighborGraph
from ...operator.operator import Operator
from ...prepare.projection import Projection
from ...spectrum.spectrum import Spectrum
from .archive import Arrays, cannot_save, check_sum, read_arrays, reading, require, write_archive
from .model import (
    make_graph,
    make_operator,
    make_spectrum,
    parts_of_graph,
    parts_of_operator,
    parts_of_spectrum,
)
from .schema import (
    ARRAYS,
    GraphModel,
    OperatorModel,
    SpectrumModel,
    as_type,
    broken,
    pack,
    unpack,
)
from .zarr_group import write_zarr

Result = Spectrum | Operator | NeighborGraph
#: What a file says of each kind of result, and what makes it again.
KINDS: dict[str, tuple[type, Callable[[Any], Result]]] = {
    "graph": (GraphModel, make_graph),
    "operator": (OperatorModel, make_operator),
    "spectrum": (SpectrumModel, make_spectrum),
}


def save(
    result: Result,
    path: PathLike,
    model: dict[str, Any] | None = None,
    *,
    kernel: bool = True,
    notes: dict[str, Any] | None = None,
) -> None:
    """Write a spectrum, an operator or a neighbour graph into one file.

    Parameters
    ----------
    result : Spectrum, Operator or NeighborGraph
        What to save; a spectrum carries its operator with it. A fitted `DiffusionMap` or
        `Forecaster` is saved by its own method, which this calls.
    path : path
        The file, replaced if it exists. It is written under a temporary name beside it and renamed
        when it is complete and on the disk: a crash or a full disk leaves the old file as it was.
        Of a spectrum, a path that ends in ``.zarr`` becomes a group of Zarr with the results alone,
        for other programs and for what is larger than memory; `load` does not read it.
    model : dict, optional
        Settings of an estimator (numbers, text, lists; arrays become lists, NaN and infinities
        None); `load` then gives the estimator.
    kernel : bool
        Whether to store the kernel matrix: 8 bytes per pair within its reach, or 12 in double
        precision. Without it, `load` finds the pairs, and evaluates it, again.
    notes : dict, optional
        What else should travel with the file, such as how the columns were scaled: text, finite
        numbers, lists and dicts of them. `read_notes`, beside this function, gives it back; `load`
        does not look at it.

    Notes
    -----
    Loaded results are equal bit by bit: `op @ f`, `extend`, `density_at`, and whatever is computed
    from them later. That holds where the same engine computes, the one that `vbdm.Run`
    chooses here; the sums of another one differ by rounding. With ``kernel=False`` it holds on the
    same machine, since another machine's exp may differ in the last digit; and for lists of
    neighbours (`n_neighbors` was given) unless the cloud has ties (a regular grid) or its search is
    approximate.

    Size: for 100,000 points in the plane and ten eigenfunctions 940 bytes per point with the kernel
    and 180 without; saving takes 0.4 s and 0.1 s, loading 0.2 s and 1.6 s (0.6 s with numba), the
    estimate itself 6 s. Of a kernel on lists of neighbours, up to 10,000 points the lists are kept
    as well, 4 bytes per pair.

    Functions cannot be saved: a `bandwidth`, `shape`, metric or search engine of your own is
    refused, with a way out; of a `potential` the values at the points are kept. Of a rule for ε or
    the dimension of your own the file keeps the words. What stands where in the file is written in
    :doc:`/file-format`; it does not depend on how this package is made inside.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> sample = vbdm.datasets.sphere(500, random_state=0)
    >>> spectrum = vbdm.estimate_operator(sample.points).spectrum(3)
    >>> path = pathlib.Path(tempfile.mkdtemp(), "sphere.vbdm")
    >>> vbdm.save(spectrum, path)
    >>> same = vbdm.load(path)
    >>> bool((same.eigenvalues == spectrum.eigenvalues).all())
    True
    """
    if not isinstance(result, Result):
        fitted = hasattr(result, "spectrum_") or hasattr(result, "learned_")
        if fitted and hasattr(result, "save"):
            if notes is not None:
                raise InputError(
                    "Notes are kept with a Spectrum, an Operator or a NeighborGraph; received an "
                    "estimator and `notes`. Save `model.spectrum_` with the notes."
                )
            result.save(path)
            return
        raise InputError(
            f"This cannot be saved; received {type(result).__name__}. Call "
            "vbdm.save(op.spectrum(10), path)."
        )
    a_switch(kernel, "kernel")
    result = result.on_host
    if str(path).lower().endswith(".zarr"):
        if not isinstance(result, Spectrum):
            raise InputError(
                f"Only a spectrum is written as a group of Zarr; received {type(result).__name__} "
                f"and {os.fspath(path)!r}. Save op.spectrum(10), or name it 'model.vbdm'."
            )
        write_zarr(result, path, None if notes is None else check_notes(notes))
        return
    arrays: Arrays = {}
    head = {
        "vbdm": __version__,
        **pack(parts_of(result, kernel=kernel), "", arrays),
        "model": plain_settings(model, "model"),
    }
    try:
        unpack(deepcopy(head), arrays, KINDS[head["kind"]][0])
    except (msgspec.ValidationError, ValueError) as error:
        raise broken(str(error)) from error
    write_archive(path, {**head, "notes": None if notes is None else check_notes(notes)}, arrays)


def parts_of(result: Result, *, kernel: bool) -> dict[str, Any]:
    """Return what a file says of a result."""
    if isinstance(result, NeighborGraph):
        return {"kind": "graph", **parts_of_graph(result)}
    if isinstance(result, Operator):
        return {"kind": "operator", **parts_of_operator(result, entries=kernel)}
    whole = parts_of_operator(result.operator, entries=kernel)
    return {"kind": "spectrum", **whole, **parts_of_spectrum(result)}


def load(path: PathLike) -> Any:
    """Read what `save` wrote.

    Returns
    -------
    Spectrum, Operator, NeighborGraph, DiffusionMap or Forecaster
        What was saved, ready to be extended to new points, or to forecast.

    Raises
    ------
    InputError
        If the file is not a saved result, is damaged, or was written by another version.
    FileNotFoundError
        If there is no such file.

    Notes
    -----
    Safe for files from strangers: nothing in them is executed, and indices and sizes are checked
    before they are used. A checksum shows damage; it is no signature (docs/file-format.md).
    """
    with reading(path) as (head, archive):
        check_sum(archive)
        if head["kind"] == "forecaster":
            from .forecasts import read_forecaster

            return read_forecaster(head, archive)
        kind, make = KINDS[head["kind"]]
        model = unpack(head, read_arrays(archive, ARRAYS), kind)
        result = make(model)
        if isinstance(result, Spectrum) and model.model is not None:
            return make_estimator(result, model.model)
        return result


def read_notes(path: PathLike) -> dict[str, Any]:
    """Return the notes that were saved with a result; empty if there are none.

    Only the head of the file is read, whatever its size.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "circle.vbdm")
    >>> sample = vbdm.datasets.circle(300, sampling="random", random_state=0)
    >>> vbdm.save(vbdm.neighbors(sample.points, 9), path, notes={"unit": "nm"})
    >>> vbdm.io.saved.persistence.read_notes(path)
    {'unit': 'nm'}
    """
    with reading(path) as (head, _):
        notes = head["notes"]
    return notes if isinstance(notes, dict) else {}


def check_notes(notes: Any) -> Any:
    """Return notes as they will be read again, or say that they are not plain."""
    try:
        return json.loads(json.dumps(notes, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(
            "Notes must be plain: text, finite numbers, lists and dicts of them; received "
            f"something else ({error}). Turn arrays into lists with `.tolist()`."
        ) from None


def make_estimator(spectrum: Spectrum, model: dict[str, Any]) -> Any:
    """Make a fitted estimator again."""
    from ...diffusion_map import DiffusionMap

    graph = spectrum.operator.graph
    columns = graph.order.n_rows if graph.points is None else graph.points.shape[1]
    if model.get("projection") is not None:
        projection = Projection.from_dict(model["projection"])
        require(projection.n_columns == columns, "model/projection", "does not fit the points")
        columns = len(projection.center)
    require(model["n_features_in"] == columns, "model/n_features_in", "does not fit the points")
    names = as_type(model["feature_names_in"], list[str] | None)
    require(names is None or len(names) == columns, "model/feature_names_in", "does not fit")
    made = DiffusionMap._from_saved(spectrum, model)
    made._validate_params()
    return made


def plain_settings(value: Any, name: str) -> Any:
    """Return settings of an estimator as JSON, or refuse an object by the name of its setting."""
    if isinstance(value, dict):
        return {str(key): plain_settings(item, str(key)) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_settings(item, name) for item in value]
    if value is None or isinstance(value, (bool, int, float, str, np.ndarray, np.generic)):
        return plain(value)
    raise cannot_save(value, name)
