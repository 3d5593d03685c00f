"""The sections "spectrum" and "solve"."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...base.arrays import frozen
from ...operator.operator import Operator
from ...spectrum.limiter import Limit
from ...spectrum.pieces import Pieces
from ...spectrum.spectrum import SolveLog, Spectrum
from .archive import Source
from .consistency import check_spectrum
from .fields import POSITIVE, Array, Arrays, Many, Maybe, Number, count, pack, part, require, unpack
from .settings_section import CREDIT

RATE = Number(POSITIVE)
# The limiter's κ is at most 10⁶, and a mode's own limit has 1.5 times that.
LIMIT = part(Limit, reference=RATE, cut=RATE, highest=RATE, kappa=Number(1e-6, 1.5e6))
SPECTRUM = part(
    # Complex where a form of the kernel that is not symmetric makes them so.
    dict, eigenvalues=Array(("m",), "fc", missing=True), eigenfunctions=Array(("N", "m"), "fc"),
    labels=Array(("N",), "i", below="N"), n_pieces=count(1), n_solved=count(1),
    unresolved=Array(("N",), "b"), limit=Maybe(LIMIT), limits=Maybe(Many(LIMIT)),
    correction=Array(("m",), low=0.01, high=100),
    extent=Array(("extent",), low=0, high=np.inf, empty=True),
    left_out=Array(("lost",), high=0, missing=True, empty=True),
)  # fmt: skip
SOLVE = part(
    SolveLog, solvers=Many(CREDIT), reason=str, passes=count(), iterations=count(),
    products=count(), converged=bool, error_estimate=Number(0, np.inf, missing=True),
    residuals=Array(("m",), low=0, high=np.inf, missing=True),
    pencil_eigenvalues=Array(("m",), "fc", missing=True),
    set_aside=Array(("aside",), low=0, missing=True, empty=True),
    shared_eigenvalues=Maybe(Array(("m",), low=0)),
)  # fmt: skip


def pack_spectrum(spectrum: Spectrum, out: Arrays) -> dict[str, Any]:
    """Return the sections of a spectrum beside those of its operator."""
    pieces = {"n_pieces": spectrum.n_components, **vars(spectrum.pieces)}
    # Where all modes share one limit, there is no more to say about it.
    own = any(limit != spectrum.limit for limit in spectrum.limits)
    limits = {"limits": spectrum.limits if own else None}
    shared = {"shared_eigenvalues": spectrum.log.shared_eigenvalues if own else None}
    return {
        "spectrum": pack(SPECTRUM, {**vars(spectrum), **pieces, **limits}, "spectrum", out),
        "solve": pack(SOLVE, {**vars(spectrum.log), **shared}, "solve", out),
    }


def unpack_spectrum(operator: Operator, source: Source) -> Spectrum:
    """Make the spectrum of an operator again."""
    parts = unpack(SPECTRUM, source.head["spectrum"], "spectrum", source)
    values, extent = parts["eigenvalues"], parts["extent"]
    require(len(extent) in (0, len(values)), "spectrum/extent", "is that of other modes")
    labels, n_pieces, n_solved = (parts.pop(key) for key in ("labels", "n_pieces", "n_solved"))
    size = np.bincount(labels)
    whole = len(size) == n_pieces >= n_solved and size.all()
    require(whole, "spectrum/labels", "are of other pieces")
    if parts["limits"] is None:  # all modes share one
        parts["limits"] = () if parts["limit"] is None else (parts["limit"],) * len(values)
    require(len(parts["limits"]) in (0, len(values)), "spectrum/limits", "are of other modes")
    solve = unpack(SOLVE, source.head["solve"], "solve", source)
    if solve.shared_eigenvalues is None:
        solve = replace(solve, shared_eigenvalues=frozen(np.empty(0)))
    made = Spectrum(operator=operator, pieces=Pieces(labels, n_solved), log=solve, **parts)
    check_spectrum(made)
    return made
