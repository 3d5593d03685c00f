"""Molecular dynamics, read by mdtraj: superposed coordinates, or backbone angles on their torus."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray
from ..base.files import need
from ..base.row_notes import RowNotes
from ..errors import InputError
from .source import Source, size_and_hash
from .table import Options, Reference, Table, listed, no_rows, unique

#: Suffixes of trajectories that name the atoms themselves.
SELF_CONTAINED = (".pdb", ".gro")
#: Suffixes of trajectories that hold times; for others mdtraj counts the frames.
WITH_TIMES = (".xtc", ".trr", ".nc", ".ncdf", ".netcdf")
#: Suffixes of files that name the atoms, as far as mdtraj reads them.
TOPOLOGIES = (
    ".pdb", ".cif", ".mmcif", ".pdbx", ".gro", ".psf", ".prmtop", ".parm7", ".prm7", ".mol2",
    ".arc", ".hoomdxml", ".gsd",
)  # fmt: skip
#: Suffixes that mdtraj reads with PyTables, which unpickles what a file says is a pickle.
UNPICKLED = frozenset({".h5", ".hdf5", ".lh5"})
#: Atoms whose coordinates are taken by default: one per amino acid.
USUAL_SELECTION = "name CA"
#: The backbone angles, and the place of the residue's Cα among the four atoms of each.
ANGLES = (("phi", 2), ("psi", 1))


def read(path: Path, options: Options) -> Table:
    """Read the frames of a trajectory, as coordinates or as backbone angles."""
    stride = options.stride
    if not isinstance(stride, int) or isinstance(stride, bool) or stride < 1:
        raise InputError(f"`stride` is a whole number, 1 or more; received {stride!r}. Correct it.")
    mdtraj = need("mdtraj", path, "md")
    check_files(path, options.topology)
    angles = options.features == "dihedrals"
    selection = options.selection or ("all" if angles else USUAL_SELECTION)
    with silenced():
        topology = mdtraj.load_topology(str(options.topology or path))
        atoms = selected(topology, selection)
        content = (backbone_angles if angles else coordinates)(path, options, topology, atoms)
    taken = {
        "library": "mdtraj",
        "features": options.features,
        "selection": selection,
        "stride": str(options.stride),
    }
    if options.topology is not None:
        taken["topology"] = f"{options.topology.name} (sha256 {size_and_hash(options.topology)[1]})"
    return replace(content, source=Source(selection=taken))


def coordinates(path: Path, options: Options, topology: Any, atoms: NDArray[np.intp]) -> Table:
    """Return the coordinates of the atoms in ångström, all frames superposed on one."""
    # mdtraj gives nanometres.
    frames = frames_of(path, options, topology, atoms)
    positions = 10.0 * frames.xyz.astype(np.float64)
    # Equal chains have atoms of the same names: from the second chain on, `unique` numbers them.
    atom_names = unique([str(topology.atom(int(atom))) for atom in atoms])
    known = getattr(options.columns, "reference", None)
    reference = reference_for(positions[0], atom_names, known)
    aligned = superposed(positions, np.array([place for _, *place in reference]))
    names = tuple(f"{atom}.{axis}" for atom in atom_names for axis in "xyz")
    return Table(
        aligned.reshape(len(aligned), -1),
        names,
        reference=reference,
        about_rows=times_of(path, frames),
        unit="Å",
    )


def backbone_angles(path: Path, options: Options, topology: Any, atoms: NDArray[np.intp]) -> Table:
    """Return φ and ψ in radians, of all residues whose four atoms are among those chosen."""
    dihedral = need("mdtraj.geometry.dihedral", path, "md")
    found = [
        (f"{kind} {topology.atom(int(four[middle])).residue}", four)
        for kind, middle in ANGLES
        for four in getattr(dihedral, f"indices_{kind}")(topology)
    ]
    fours = np.array([four for _, four in found], dtype=np.intp).reshape(-1, 4)
    inside = np.isin(fours, atoms).all(axis=1)
    if not inside.any():
        raise InputError(
            f"There are no backbone angles to take; received {len(atoms)} chosen atoms and "
            f"{len(found)} angles in the molecule. φ and ψ need the atoms C, N and CA of "
            "neighbouring residues. Take features='coordinates', or choose more atoms."
        )
    # Only the atoms that are needed are read; `places` are the positions of each four among them.
    needed, places = np.unique(fours[inside], return_inverse=True)
    frames = frames_of(path, options, topology, needed)
    values = dihedral.compute_dihedrals(frames, places.reshape(-1, 4), periodic=False)
    names = unique([found[place][0] for place in np.flatnonzero(inside)])
    return Table(
        values.astype(np.float64),
        names,
        period=(2 * np.pi,) * len(names),
        about_rows=times_of(path, frames),
        unit="radians",
    )


def times_of(path: Path, frames: Any) -> RowNotes:
    """Return the times of the frames in picoseconds, where the file holds them."""
    times = np.asarray(frames.time, dtype=np.float64)
    if path.suffix.lower() not in WITH_TIMES or times.shape != (len(frames),):
        return RowNotes()
    return RowNotes(times=times, time_name="time (ps)")


def frames_of(path: Path, options: Options, topology: Any, atoms: NDArray[np.intp]) -> Any:
    """Return every `stride`-th frame with these atoms."""
    mdtraj = need("mdtraj", path, "md")
    named = {} if options.topology is None else {"top": topology}
    # mdtraj's reader of .trr files corrupts the memory if both atoms and frames are chosen, so
    # that frames are chosen afterwards.
    stride = 1 if path.suffix.lower() == ".trr" else options.stride
    frames = mdtraj.load(str(path), stride=stride, atom_indices=atoms, **named)
    if len(frames) == 0:
        raise no_rows("The trajectory", "no frames")
    return frames[:: options.stride // stride]


def selected(topology: Any, selection: str) -> NDArray[np.intp]:
    """Return the indices of the chosen atoms; raise if there are none, or mdtraj fails."""
    try:
        atoms = np.asarray(topology.select(selection), dtype=np.intp)
    except Exception as error:
        # mdtraj raises exceptions of several kinds for a selection that it does not understand.
        raise wrong_selection(selection, "not understood") from error
    if len(atoms) == 0:
        raise wrong_selection(selection, "no atoms")
    return atoms


def wrong_selection(selection: str, found: str) -> InputError:
    """Return the error for a selection of atoms that gives nothing."""
    return InputError(
        f"The selection gives no atoms; received {selection!r}: {found}. Choose atoms with "
        "`selection`, in the language of MDTraj, which is not that of MDAnalysis or VMD, such as "
        "selection='all', selection='name CA or name P' or selection='chainid 0 and backbone'."
    )


def check_files(path: Path, topology: Path | None) -> None:
    """Raise if mdtraj cannot read the files, or if none of them names the atoms."""
    loaders = need("mdtraj.formats.registry", path, "md").FormatRegistry.loaders
    check_suffix(path, "trajectories", sorted(set(loaders) - UNPICKLED))
    if topology is not None:
        check_suffix(topology, "topologies", TOPOLOGIES)
    elif path.suffix.lower() not in SELF_CONTAINED:
        raise InputError(
            f"A trajectory needs the file that names its atoms; received {path.name!r} and no "
            "topology. Add it with `topology`, such as topology='protein.pdb'."
        )


def check_suffix(path: Path, what: str, known: Iterable[str]) -> None:
    """Raise if the suffix of a file is not among the known ones."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix not in known:
        raise InputError(
            f"Molecular {what} of this kind cannot be read; received {path.name!r}. Convert it to "
            f"a file whose name may end in {', '.join(known)}."
        )


def superposed(positions: FloatArray, reference: FloatArray) -> FloatArray:
    """Return all frames, (F, A, 3), each moved and turned onto a reference, (A, 3), around 0.

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
            f"{len(atom_names)} atoms: {listed(atom_names)}. The training file has {len(order)} "
            f"atoms: {listed(order)}. Choose the same atoms with `selection`."
        )
    return known


@contextmanager
def silenced() -> Iterator[None]:
    """Discard what C code prints to stdout and stderr inside the block.

    mdtraj prints remarks even about good files, past Python's streams, which would spoil output
    that another program reads.
    """
    copies = {}
    for number in (1, 2):
        # A descriptor that is closed cannot be copied, and needs no silence.
        with suppress(OSError):
            copies[number] = os.dup(number)
    with suppress(AttributeError, ValueError):
        sys.stdout.flush()
    try:
        with open(os.devnull, "wb") as nowhere:
            for number in copies:
                os.dup2(nowhere.fileno(), number)
        yield
    finally:
        with suppress(AttributeError, OSError, TypeError):
            ctypes.CDLL(None).fflush(None)
        for number, copy in copies.items():
            os.dup2(copy, number)
            os.close(copy)
