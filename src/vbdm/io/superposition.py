"""Frames of a molecule laid onto one another, which removes its motion as a whole."""

from __future__ import annotations

import numpy as np

from ..base.arrays import FloatArray
from ..errors import InputError
from .table import Reference, listed


def superposed(positions: FloatArray, reference: FloatArray) -> FloatArray:
    """Return all frames, each moved and turned onto a reference.

    Parameters
    ----------
    positions : (F, A, 3) array
        Places of A atoms in F frames.
    reference : (A, 3) array
        Frame whose centre is at the origin.

    Notes
    -----
    Implements the rotation of least squared distance, all atoms with the same weight (Kabsch 1976):
    with H = U S Vᵀ the singular value decomposition of the covariance of two centred frames, the
    rotation is U diag(1, 1, det(U Vᵀ)) Vᵀ, never a reflection. Cost O(F A).

    mdtraj's own function is not used: it works in single precision, and leaves a frame as it is
    where its iteration does not converge, with two or three atoms or with atoms on a line.
    """
    centred = positions - positions.mean(axis=1, keepdims=True)
    covariance = np.einsum("fai,aj->fij", centred, reference)
    u, _, vt = np.linalg.svd(covariance)
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    return np.asarray(centred @ (u @ vt))


def reference_for(
    first: FloatArray, atom_names: tuple[str, ...], known: Reference | None
) -> Reference:
    """Return the frame to superpose on: that of the training file if known, else the first here."""
    if known is None:
        places = (first - first.mean(axis=0)).tolist()
        return tuple((name, x, y, z) for name, (x, y, z) in zip(atom_names, places, strict=True))
    order = [name for name, *_ in known]
    if order != list(atom_names):
        raise InputError(
            "The chosen atoms are not those that the model was learned on; received "
            f"{len(atom_names)} atoms: {listed(atom_names)}. Frames are superposed on the first "
            f"one of the training file, which has {len(order)} atoms: {listed(order)}. Choose the "
            "same atoms with `selection`, from a topology that names them alike."
        )
    return known
