"""The two libraries that read molecular dynamics: mdtraj and MDAnalysis, whichever is there."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...base.checks import FloatArray
from ...base.errors import InputError, bad_input
from .formats import is_there, need
from .table import unique

#: Suffixes that carry the names of the atoms themselves.
SELF_CONTAINED = (".pdb", ".gro")
#: Topologies that mdtraj does not read.
ONLY_MDANALYSIS = (".tpr", ".crd", ".itp", ".data", ".pqr")
Angle = tuple[str, list[int]]


@dataclass(frozen=True, eq=False)
class Molecule:
    """Positions of the chosen atoms in ångström, frame by frame.

    `quadruples` (Q, 4) names the atoms of each backbone angle by their place among the chosen.
    """

    positions: FloatArray
    atom_names: tuple[str, ...]
    quadruples: NDArray[np.intp]
    angle_names: tuple[str, ...]


def library_for(path: Path, topology: Path | None) -> str | None:
    """Return the library to use: mdtraj, which leaves no files behind, or else MDAnalysis."""
    if topology is None and path.suffix.lower() not in SELF_CONTAINED:
        raise bad_input(
            "A trajectory needs the file that names its atoms.",
            received=f"{path.name!r} and no topology",
            because="The trajectory holds positions only.",
            hint="Add it with --topology, such as --topology protein.pdb.",
        )
    suffix = (topology or path).suffix.lower()
    order = [name for name in LIBRARIES if is_there(name)]
    if suffix in ONLY_MDANALYSIS:
        order.sort(key=lambda name: name != "MDAnalysis")
    return order[0] if order else None


def with_mdtraj(
    path: Path, topology: Path | None, selection: str, angles: bool, stride: int
) -> Molecule:
    """Read with mdtraj, whose unit is the nanometre."""
    mdtraj = need("mdtraj", path, "md")
    top = mdtraj.load_topology(str(topology or path))
    atoms = selected(lambda: top.select(selection), selection)
    found: list[Angle] = []
    if angles:
        geometry = need("mdtraj.geometry.dihedral", path, "md")
        # The Cα of the residue that an angle belongs to is the third atom of φ, the second of ψ.
        for kind, middle in (("phi", 2), ("psi", 1)):
            for four in getattr(geometry, f"indices_{kind}")(top):
                found.append((f"{kind} {top.atom(int(four[middle])).residue}", list(four)))
        atoms, found = atoms_of_angles(atoms, found)
    named = {} if topology is None else {"top": top}
    frames = mdtraj.load(str(path), stride=stride, atom_indices=atoms, **named)
    names = [str(top.atom(int(atom))) for atom in atoms]
    return molecule(10.0 * frames.xyz.astype(np.float64), atoms, names, found)


def with_mdanalysis(
    path: Path, topology: Path | None, selection: str, angles: bool, stride: int
) -> Molecule:
    """Read with MDAnalysis, whose unit is the ångström."""
    library = need("MDAnalysis", path, "md")
    with tempfile.TemporaryDirectory() as folder:
        # It writes an index beside each trajectory; so that it does not litter the user's folder,
        # it is shown a link.
        link = Path(folder) / path.name
        os.symlink(path.resolve(), link)
        universe = library.Universe(*([str(topology)] if topology else []), str(link))
        atoms = selected(lambda: universe.select_atoms(selection).indices, selection)
        found: list[Angle] = []
        if angles:
            for kind in ("phi", "psi"):
                for residue in universe.select_atoms("protein").residues:
                    four = getattr(residue, f"{kind}_selection")()
                    if four is not None:
                        name = f"{kind} {residue.resname}{residue.resid}"
                        found.append((name, four.indices.tolist()))
            atoms, found = atoms_of_angles(atoms, found)
        names = [f"{a.resname}{a.resid}-{a.name}" for a in universe.atoms[atoms]]
        steps = universe.trajectory[::stride]
        positions = np.array([step.positions[atoms] for step in steps], dtype=np.float64)
        universe.trajectory.close()
    return molecule(positions, atoms, names, found)


#: In the order in which they are tried.
LIBRARIES: dict[str, Callable[[Path, Path | None, str, bool, int], Molecule]] = {
    "mdtraj": with_mdtraj,
    "MDAnalysis": with_mdanalysis,
}


def selected(select: Callable[[], Any], selection: str) -> NDArray[np.intp]:
    """Return the chosen atoms; refuse what the library does not understand, and no atoms at all."""
    try:
        atoms = np.asarray(select(), dtype=np.intp)
    except Exception as error:
        # The libraries have a language each, and errors of their own for it.
        raise wrong_selection(selection, f"not understood: {error}") from error
    if len(atoms) == 0:
        raise wrong_selection(selection, "no atoms")
    return atoms


def wrong_selection(selection: str, found: str) -> InputError:
    """Return the error for a selection of atoms that gives nothing."""
    return bad_input(
        "The selection gives no atoms.",
        received=f"{selection!r}: {found[:200]}",
        because="The usual selection is 'name CA', one atom per amino acid.",
        hint="Choose atoms with --selection, such as --selection 'all' or 'name CA or name P'.",
    )


def atoms_of_angles(
    atoms: NDArray[np.intp], angles: list[Angle]
) -> tuple[NDArray[np.intp], list[Angle]]:
    """Return the angles that lie wholly among the chosen atoms, and the atoms they need."""
    inside = set(atoms.tolist())
    kept = [(name, four) for name, four in angles if inside.issuperset(map(int, four))]
    if not kept:
        raise bad_input(
            "There are no backbone angles to take.",
            received=f"{len(atoms)} chosen atoms and {len(angles)} angles in the molecule",
            because="φ and ψ need proteins with the atoms C, N and CA of neighbouring residues, "
            "all of them chosen.",
            hint="Take coordinates (--features coordinates), or choose more atoms.",
        )
    return np.unique([four for _, four in kept]).astype(np.intp), kept


def molecule(
    positions: FloatArray, atoms: NDArray[np.intp], names: list[str], angles: list[Angle]
) -> Molecule:
    """Bring it together; the atoms of angles get their place among those that were read.

    Chains that are alike have atoms of the same name: from the second on they are numbered.
    """
    fours = np.array([four for _, four in angles], dtype=np.intp).reshape(-1, 4)
    return Molecule(
        positions,
        unique(names),
        np.searchsorted(atoms, fours),
        unique([name for name, _ in angles]),
    )
