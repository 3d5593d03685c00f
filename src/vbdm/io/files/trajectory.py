"""Molecular dynamics: superposed coordinates, or backbone angles on their torus.

A library (`vbdm.io.files.molecules`) only gives positions and names; the geometry is here, so that the
numbers do not depend on which library is installed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...base.checks import FloatArray
from ...base.errors import bad_input
from .formats import missing_library
from .molecules import LIBRARIES, Molecule, library_for
from .quiet import silenced
from .source import size_and_hash
from .table import Content, Options, Reference, listed, no_rows

#: Atoms whose coordinates are taken if nothing is asked for: one per amino acid.
USUAL_SELECTION = "name CA"


def read(path: Path, options: Options) -> Content:
    """Read the frames of a trajectory, as coordinates or as backbone angles."""
    check_stride(options.stride)
    library = library_for(path, options.topology)
    if library is None:
        raise missing_library("mdtraj", path, "md")
    angles = options.features == "dihedrals"
    selection = options.selection or ("all" if angles else USUAL_SELECTION)
    with silenced():
        molecule = LIBRARIES[library](path, options.topology, selection, angles, options.stride)
    if len(molecule.positions) == 0:
        raise no_rows("The trajectory", "no frames")
    notes = {
        "library": library,
        "features": options.features,
        "selection": selection,
        "stride": str(options.stride),
    }
    if options.topology is not None:
        notes["topology"] = f"{options.topology.name} (sha256 {size_and_hash(options.topology)[1]})"
    if angles:
        values = dihedrals(molecule)
        period = (2 * np.pi,) * values.shape[1]
        return Content(values, molecule.angle_names, notes, period=period)
    names = tuple(f"{atom}.{axis}" for atom in molecule.atom_names for axis in "xyz")
    reference = reference_for(molecule, getattr(options.columns, "reference", None))
    aligned = superposed(molecule.positions, np.array([place for _, *place in reference]))
    return Content(aligned.reshape(len(aligned), -1), names, notes, reference=reference)


def reference_for(molecule: Molecule, known: Reference | None) -> Reference:
    """Return the frame to superpose on: that of the training file, or else the first one here."""
    if known is None:
        first = molecule.positions[0] - molecule.positions[0].mean(axis=0)
        pairs = zip(molecule.atom_names, first.tolist(), strict=True)
        return tuple((name, x, y, z) for name, (x, y, z) in pairs)
    order = [name for name, *_ in known]
    if order != list(molecule.atom_names):
        raise bad_input(
            "The chosen atoms are not those that the model was learned on.",
            received=f"{len(molecule.atom_names)} atoms: {listed(molecule.atom_names)}",
            because=f"Frames are superposed on the first one of the training file, which has "
            f"{len(order)} atoms: {listed(order)}.",
            hint="Choose the same atoms with --selection, from a topology that names them alike.",
        )
    return known


def check_stride(stride: int) -> None:
    """Refuse a stride that is no count."""
    if not isinstance(stride, int) or isinstance(stride, bool) or stride < 1:
        raise bad_input(
            "`stride` must be a whole number, 1 or more.",
            received=repr(stride),
            because="It takes every so many frames.",
            hint="Leave it out to take all frames.",
        )


def superposed(positions: FloatArray, reference: FloatArray) -> FloatArray:
    """Return all frames moved and turned onto a reference.

    Parameters
    ----------
    positions : (F, A, 3) array
        Frames, atoms, coordinates.
    reference : (A, 3) array
        A frame whose centre is at the origin.

    Notes
    -----
    Implements the rotation of least squared distance, all atoms with the same weight (Kabsch 1976):
    with H = U S Vᵀ the singular value decomposition of the covariance of two centred frames, the
    rotation is U diag(1, 1, det(U Vᵀ)) Vᵀ, never a reflection. Cost O(F A).
    """
    centred = positions - positions.mean(axis=1, keepdims=True)
    covariance = np.einsum("fai,aj->fij", centred, reference)
    u, _, vt = np.linalg.svd(covariance)
    u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
    return np.asarray(centred @ (u @ vt))


def dihedrals(molecule: Molecule) -> FloatArray:
    """Return the angle around the middle bond of each group of four atoms, in (-π, π].

    Notes
    -----
    With b1, b2, b3 the bonds: the angle between the planes (b1, b2) and (b2, b3), positive if the
    far bond is turned clockwise seen along b2 (the convention of IUPAC).
    """
    corners = molecule.positions[:, molecule.quadruples]
    first, middle, last = np.moveaxis(np.diff(corners, axis=2), 2, 0)
    across, along = np.cross(first, middle), np.cross(middle, last)
    length = np.linalg.norm(middle, axis=-1)
    return np.asarray(
        np.arctan2(length * (first * along).sum(axis=-1), (across * along).sum(axis=-1))
    )
