"""Trajectories: coordinates free of the molecule's own motion, and backbone angles."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import vbdm
from vbdm.errors import InputError
from vbdm.io import Preparation, prepare, read
from vbdm.io.trajectory import superposed


@pytest.fixture
def peptide(tmp_path):
    """Six residues that shake, turn and drift: topology and trajectory in several formats."""
    mdtraj = pytest.importorskip("mdtraj")
    rng = np.random.default_rng(0)
    topology = mdtraj.Topology()
    chain = topology.add_chain()
    for number in range(6):
        residue = topology.add_residue("ALA", chain, resSeq=number + 1)
        for name, element in (("N", "N"), ("CA", "C"), ("C", "C"), ("O", "O")):
            topology.add_atom(name, mdtraj.element.get_by_symbol(element), residue)
    base = np.cumsum(rng.normal(0, 0.15, (24, 3)), axis=0)
    shaken = base + rng.normal(0, 0.01, (30, 24, 3))
    turned = np.einsum("fij,faj->fai", Rotation.random(30, random_state=1).as_matrix(), shaken)
    moved = turned + rng.normal(0, 1, (30, 1, 3))
    trajectory = mdtraj.Trajectory(moved.astype(np.float32), topology)
    trajectory[0].save(tmp_path / "top.pdb")
    for suffix in ("xtc", "dcd", "trr", "nc", "pdb"):
        trajectory.save(tmp_path / f"run.{suffix}")
    return tmp_path, trajectory


@pytest.mark.parametrize("suffix", ["xtc", "dcd", "trr", "nc", "pdb"])
def test_coordinates_are_superposed(peptide, suffix):
    folder, trajectory = peptide
    atoms = trajectory.atom_slice(trajectory.topology.select("name CA"))
    expected = 10 * pytest.importorskip("mdtraj").rmsd(atoms, atoms, 0)
    before = sorted(folder.iterdir())
    table = read(folder / f"run.{suffix}", topology=folder / "top.pdb")
    assert table.source.selection["library"] == "mdtraj"
    assert table.source.selection["selection"] == "name CA"
    assert table.names[:4] == ("ALA1-CA.x", "ALA1-CA.y", "ALA1-CA.z", "ALA2-CA.x")
    frames = table.values.reshape(30, 6, 3)
    np.testing.assert_allclose(frames.mean(axis=1), 0, atol=1e-10)
    rmsd = np.sqrt(((frames - frames[0]) ** 2).sum(axis=2).mean(axis=1))
    # In ångström; files keep 0.01 Å at worst.
    np.testing.assert_allclose(rmsd, expected, atol=0.01)
    # No index is left beside the user's files.
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("n_atoms", [2, 3, 7])
def test_superposition_undoes_any_motion(n_atoms):
    rng = np.random.default_rng(3)
    base = rng.standard_normal((n_atoms, 3))
    turns = Rotation.random(20, random_state=2).as_matrix()
    frames = np.einsum("fij,aj->fai", turns, base) + rng.standard_normal((20, 1, 3))
    centre = base - base.mean(axis=0)
    aligned = superposed(frames, centre)
    np.testing.assert_allclose(aligned, np.broadcast_to(centre, aligned.shape), atol=1e-12)
    # A mirror image is another molecule, unless it is flat.
    mirrored = superposed(np.stack([base, base * [1, 1, -1]]), centre)
    assert (np.abs(mirrored[1] - mirrored[0]).max() > 0.1) == (n_atoms > 3)


def test_dihedrals(peptide):
    folder, trajectory = peptide
    mdtraj = pytest.importorskip("mdtraj")
    expected = np.hstack([mdtraj.compute_phi(trajectory)[1], mdtraj.compute_psi(trajectory)[1]])
    table = read(folder / "run.dcd", topology=folder / "top.pdb", features="dihedrals")
    assert table.names[0] == "phi ALA2"
    assert table.names[5] == "psi ALA1"
    assert table.period == (2 * np.pi,) * 10
    # Angles near ±π may be on either side.
    turn = np.exp(1j * table.values) / np.exp(1j * expected)
    np.testing.assert_allclose(np.angle(turn), 0, atol=1e-3)
    cloud, _ = prepare(table, columns="0-1")
    assert cloud.period == (2 * np.pi, 2 * np.pi)
    vbdm.neighbors(cloud.points, 5, period=cloud.period)
    with pytest.raises(InputError, match="Periodic columns"):
        prepare(table, standardize=True)


def test_choices(peptide):
    folder, _ = peptide
    settings = {"topology": folder / "top.pdb"}
    table = read(folder / "run.xtc", selection="name CA or name N", stride=4, **settings)
    assert table.values.shape == (8, 36)
    for wrong in ("name P", "(((", "colour blue"):
        with pytest.raises(InputError, match="gives no atoms"):
            read(folder / "run.xtc", selection=wrong, **settings)
    with pytest.raises(InputError, match="no backbone angles"):
        read(folder / "run.xtc", features="dihedrals", selection="name CA", **settings)
    with pytest.raises(InputError, match="`stride`"):
        read(folder / "run.xtc", stride=0, **settings)
    assert read(folder / "run.pdb").values.shape == (30, 18)


@pytest.mark.parametrize("suffix", ["xtc", "dcd", "trr", "nc", "pdb"])
def test_stride_takes_every_so_many_frames(peptide, suffix):
    folder, _ = peptide
    settings = {"topology": folder / "top.pdb", "features": "dihedrals"}
    whole = read(folder / f"run.{suffix}", **settings).values
    for stride in (3, 7, 100):
        some = read(folder / f"run.{suffix}", stride=stride, **settings).values
        np.testing.assert_array_equal(some, whole[::stride])


def test_topology_is_asked_for(peptide):
    folder, _ = peptide
    with pytest.raises(InputError, match=r"topology='protein\.pdb'"):
        read(folder / "run.xtc")
    with pytest.raises(InputError, match="The topology file does not exist"):
        read(folder / "run.xtc", topology=folder / "none.pdb")


def test_kinds_that_mdtraj_does_not_read(peptide):
    folder, _ = peptide
    for name in ("top.tpr", "top.data", "run.tng"):
        (folder / name).write_bytes(b"something")
    for name in ("top.tpr", "top.data"):
        with pytest.raises(InputError, match=rf"'{name}'.*end in \.pdb, .*\.gro, .*\.prmtop"):
            read(folder / "run.xtc", topology=folder / name)
    with pytest.raises(InputError, match=r"trajectories.*'run.tng'.*\.dcd, .*\.xtc"):
        read(folder / "run.tng", format="trajectory", topology=folder / "top.pdb")


@pytest.mark.parametrize("suffix", ["xtc", "dcd", "trr", "nc"])
def test_truncated_trajectories(peptide, suffix, capfd):
    folder, _ = peptide
    path = folder / f"run.{suffix}"
    whole = path.read_bytes()
    for cut in (2, 40, 90, 300):
        path.write_bytes(whole[:cut])
        with pytest.raises(InputError):
            read(path, topology=folder / "top.pdb")
    # The libraries' own remarks would spoil output for other programs.
    assert capfd.readouterr() == ("", "")


def test_reading_is_silent(peptide, capfd):
    folder, _ = peptide
    read(folder / "run.dcd", topology=folder / "top.pdb")
    print("afterwards")
    assert capfd.readouterr() == ("afterwards\n", "")


def test_another_molecule(peptide):
    folder, trajectory = peptide
    trajectory.atom_slice(range(20)).save(folder / "small.xtc")
    with pytest.raises(InputError):
        read(folder / "small.xtc", topology=folder / "top.pdb")


@pytest.mark.parametrize("columns", [None, "3-8"])
def test_new_frames_are_superposed_on_those_of_training(peptide, columns):
    """Turned copies of training frames, in another order, are the same points."""
    folder, trajectory = peptide
    turns = Rotation.random(10, random_state=5).as_matrix()
    frames = np.arange(25, 5, -2)
    copies = trajectory[frames]
    copies.xyz = np.einsum("fij,faj->fai", turns, copies.xyz) + 1.0
    copies.save(folder / "new.trr")
    topology = folder / "top.pdb"
    cloud, learned = prepare(read(folder / "run.trr", topology=topology, columns=columns))
    stored = Preparation.from_dict(json.loads(json.dumps(learned.as_dict())))
    assert stored == learned
    new = read(folder / "new.trr", topology=topology, columns=stored)
    # In ångström; the files keep single precision.
    np.testing.assert_allclose(stored.apply(new).points, cloud.points[frames], atol=1e-5)
    own = read(folder / "new.trr", topology=topology)
    assert np.abs(own.values[:, 3:9] - new.values[:, -6:]).max() > 0.1
    with pytest.raises(InputError, match="superposed on another one"):
        stored.apply(own)
    # Models of earlier versions know no reference.
    before = {name: value for name, value in learned.as_dict().items() if name != "reference"}
    old = Preparation.from_dict(before)
    assert len(old.apply(read(folder / "new.trr", topology=topology, columns=old)).points) == 10


def test_a_trajectory_without_frames_is_refused(peptide, monkeypatch):
    folder, _ = peptide
    mdtraj = pytest.importorskip("mdtraj")
    monkeypatch.setattr(mdtraj, "load", lambda *args, **options: [])
    with pytest.raises(InputError, match="no frames"):
        read(folder / "run.dcd", topology=folder / "top.pdb")


def test_training_frames_are_found_again_exactly(peptide):
    folder, _ = peptide
    cloud, learned = prepare(read(folder / "run.xtc", topology=folder / "top.pdb"))
    again = read(folder / "run.xtc", topology=folder / "top.pdb", columns=learned)
    np.testing.assert_array_equal(learned.apply(again).points, cloud.points)


def test_other_atoms_cannot_be_superposed(peptide):
    folder, _ = peptide
    settings = {"topology": folder / "top.pdb"}
    _, learned = prepare(read(folder / "run.xtc", **settings))
    with pytest.raises(InputError, match=r"12 atoms: ALA1-N, ALA1-CA.*6 atoms: ALA1-CA"):
        read(folder / "run.xtc", selection="name CA or name N", columns=learned, **settings)
    for wrong in ([["ALA1-CA", 1.0]], [[1, 2.0, 3.0, 4.0]], "abc", 7):
        with pytest.raises(InputError, match="cannot be understood"):
            Preparation.from_dict({**learned.as_dict(), "reference": wrong})
    table = read(folder / "run.xtc", **settings)
    coordinates = replace(table, reference=None)
    np.testing.assert_array_equal(learned.apply(coordinates).points, table.values)


def test_chains_that_are_alike_have_columns_of_their_own(peptide):
    folder, trajectory = peptide
    double = trajectory.stack(trajectory)
    double.save(folder / "double.pdb")
    table = read(folder / "double.pdb")
    assert len(set(table.names)) == table.values.shape[1] == 36
    assert table.names[18] == "ALA1-CA_2.x"
    assert prepare(table)[1].find(table.names) == list(range(36))
    angles = read(folder / "double.pdb", features="dihedrals")
    assert len(set(angles.names)) == angles.values.shape[1] == 20


@pytest.mark.parametrize(
    "selection", ["segid 4AKE", "name CA and", "resid 1:5 and (", "protein and"]
)
def test_the_language_of_selections_is_named_without_a_trace(peptide, selection):
    folder, _ = peptide
    with pytest.raises(InputError, match=r"MDTraj, which is not that of MDAnalysis") as caught:
        read(folder / "run.xtc", topology=folder / "top.pdb", selection=selection)
    assert "Expected" not in str(caught.value)


@pytest.mark.parametrize("suffix", ["xtc", "dcd"])
def test_units_and_times(peptide, suffix):
    folder, trajectory = peptide
    place = {"topology": folder / "top.pdb"}
    table = read(folder / f"run.{suffix}", **place)
    assert table.unit == prepare(table)[0].unit == "Å"
    assert read(folder / f"run.{suffix}", features="dihedrals", **place).unit == "radians"
    if suffix == "dcd":
        # It holds no times: mdtraj counts the frames.
        assert table.about_rows.times is None
    else:
        assert table.about_rows.times.tolist() == trajectory.time.tolist()
        assert table.about_rows.time_name == "time (ps)"


@pytest.mark.parametrize("suffix", [".h5", ".lh5"])
def test_files_that_would_be_unpickled_are_refused(peptide, suffix):
    """mdtraj reads them with PyTables, which runs what a pickle in an attribute says."""
    folder, _ = peptide
    path = folder / f"a{suffix}"
    path.write_bytes(b"anything")
    for names in ({"topology": path}, {"topology": folder / "top.pdb", "format": "trajectory"}):
        with pytest.raises(InputError, match="of this kind cannot be read"):
            read(folder / "run.xtc" if names["topology"] == path else path, **names)
