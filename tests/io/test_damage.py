"""Whatever a file contains, the answer is a table or an `InputError`, never another exception."""

import os

import numpy as np
import pytest

from vbdm.errors import InputError
from vbdm.io import prepare, read

POINTS = np.random.default_rng(0).standard_normal((300, 3))


def make_npy(path):
    np.save(path, POINTS)


def make_npz(path):
    np.savez(path, points=POINTS)


def make_text(path):
    np.savetxt(path, POINTS, delimiter=",", header="x,y,z", comments="")


def make_parquet(path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"x": POINTS[:, 0], "y": POINTS[:, 1]}), path)


def make_hdf5(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path, "w") as file:
        file["points"] = POINTS


def make_netcdf(path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    xarray.Dataset({"u": (("time", "x"), POINTS)}).to_netcdf(path)


def make_anndata(path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(POINTS, obsm={"X_pca": POINTS}).write_h5ad(path)


MAKERS = {
    "a.npy": make_npy, "a.npz": make_npz, "a.csv": make_text, "a.parquet": make_parquet,
    "a.h5": make_hdf5, "a.nc": make_netcdf, "a.h5ad": make_anndata,
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_truncated_and_changed(tmp_path, name):
    path = tmp_path / name
    MAKERS[name](path)
    whole = path.read_bytes()
    refused = 0
    cuts = [1, 3, 8, 50, 100, 200, *np.linspace(300, len(whole) - 1, 12).astype(int)]
    for cut in cuts:
        path.write_bytes(whole[:cut])
        refused += is_refused(path)
    # A text that ends early may still be a table.
    assert refused == len(cuts) or name == "a.csv"
    rng = np.random.default_rng(3)
    for _ in range(10):
        damaged = bytearray(whole)
        for place in rng.integers(0, min(len(whole), 2000), 5):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        is_refused(path)


def is_refused(path):
    try:
        prepare(read(path), missing="drop")
        return False
    except InputError as error:
        message = str(error)
    # Four parts, in one line.
    assert "received" in message
    assert "\n" not in message
    return True


@pytest.mark.parametrize("name", [*MAKERS, "a.xtc", "a.pdb", "a.dcd"])
def test_junk(tmp_path, name):
    if name not in ("a.npy", "a.npz", "a.csv"):
        make = MAKERS.get(name, lambda path: pytest.importorskip("mdtraj"))
        make(tmp_path / "other")
    path = tmp_path / name
    topology = {"topology": path} if path.suffix in (".xtc", ".dcd") else {}
    for junk in (b"", b"\n", b"\0" * 5000, np.random.default_rng(1).bytes(5000), b"a,b\n" * 9):
        path.write_bytes(junk)
        with pytest.raises(InputError):
            read(path, **topology)


def test_damaged_zarr(tmp_path):
    zarr = pytest.importorskip("zarr")
    zarr.save(tmp_path / "a.zarr", POINTS)
    chunks = [p for p in (tmp_path / "a.zarr").rglob("*") if p.is_file() and p.suffix != ".json"]
    chunks[0].write_bytes(chunks[0].read_bytes()[:20])
    with pytest.raises(InputError, match="cannot be read as zarr"):
        read(tmp_path / "a.zarr")
    (tmp_path / "a.zarr" / "zarr.json").write_text("{")
    with pytest.raises(InputError):
        read(tmp_path / "a.zarr")
    (tmp_path / "empty.zarr").mkdir()
    with pytest.raises(InputError):
        read(tmp_path / "empty.zarr")


@pytest.mark.parametrize(
    ("array", "words"),
    [
        (np.array([{}, 1], dtype=object), "Python objects"),
        (np.ones((3, 2)) * 1j, "complex numbers"),
        (np.array(["a", "b"]), "text"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "dates"),
        (np.zeros(3, dtype=[("x", float), ("y", float)]), "records"),
        (np.ones((2, 3, 4)), "3 axes"),
        (np.float64(1.0), "0 axes"),
        (np.ones((0, 3)), "no points"),
        (np.ones((3, 0)), "no points"),
    ],
)
@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_arrays_that_are_no_points(tmp_path, array, words, suffix):
    path = tmp_path / f"a.{suffix}"
    (np.save if suffix == "npy" else np.savez)(path, array)
    with pytest.raises(InputError, match=words):
        read(path)


def test_npy_with_a_huge_header(tmp_path):
    path = tmp_path / "a.npy"
    header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (10, 2), }"
    with open(path, "wb") as stream:
        np.lib.format.write_array(stream, np.zeros((10, 2)), version=(2, 0))
        stream.seek(8)
        stream.write((50_000_000).to_bytes(4, "little") + header.ljust(50_000_000))
    with pytest.raises(InputError, match="cannot be read as npy"):
        read(path)


def test_npy_that_promises_too_much(tmp_path):
    path = tmp_path / "a.npy"
    with open(path, "wb") as stream:
        shape = {"descr": "<f8", "fortran_order": False, "shape": (10**12, 3)}
        np.lib.format.write_array_header_1_0(stream, shape)
    with pytest.raises(InputError, match="cannot be read as npy"):
        read(path)


def test_hdf5_with_other_contents(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["cube"] = np.ones((2, 3, 4))
        file["words"] = "hello"
        file["empty"] = h5py.Empty("f8")
    for key, words in {
        "cube": "3 axes",
        "words": "Python objects",
        "empty": "0 axes|null|Empty|None",
    }.items():
        with pytest.raises(InputError, match=words):
            read(tmp_path / "a.h5", key=key)
    with h5py.File(tmp_path / "b.h5", "w"):
        pass
    with pytest.raises(InputError, match="In the file: none"):
        read(tmp_path / "b.h5")


def test_memory_that_is_not_there(tmp_path, monkeypatch):
    make_npz(tmp_path / "a.npz")

    def load(*args, **kwargs):
        raise MemoryError("Unable to allocate 9 TiB")

    monkeypatch.setattr(np, "load", load)
    with pytest.raises(InputError, match="does not fit into memory"):
        read(tmp_path / "a.npz")


def test_a_right_that_is_lost_while_reading(tmp_path, monkeypatch):
    make_npz(tmp_path / "a.npz")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(np, "load", refuse)
    with pytest.raises(InputError, match="right to read it"):
        read(tmp_path / "a.npz")


def test_a_disk_that_fails_at_last(tmp_path, monkeypatch):
    """The file is read a second time, for its hash."""
    make_npz(tmp_path / "a.npz")

    def fail(path):
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("vbdm.io.source.size_and_hash", fail)
    with pytest.raises(InputError, match="cannot be opened"):
        read(tmp_path / "a.npz")


def test_an_array_under_the_name_of_an_archive(tmp_path):
    with open(tmp_path / "a.npz", "wb") as stream:
        np.save(stream, POINTS)
    with pytest.raises(InputError, match="a single array, not an archive"):
        read(tmp_path / "a.npz")


def test_no_such_file_and_folders(tmp_path):
    with pytest.raises(InputError, match="does not exist"):
        read(tmp_path / "a.npy")
    with pytest.raises(InputError, match="not a folder"):
        read(tmp_path)
    (tmp_path / "a.npy").mkdir()
    with pytest.raises(InputError, match="not a folder"):
        read(tmp_path / "a.npy")
    for name in ("a\0b.npy", "x" * 5000 + ".npy"):
        with pytest.raises(InputError, match=r"cannot be opened|does not exist"):
            read(name)


@pytest.mark.parametrize("name", ["a.npy", "a.csv"])
def test_no_right_to_read(tmp_path, monkeypatch, name):
    path = tmp_path / name
    MAKERS[name](path)
    if os.geteuid() != 0:
        path.chmod(0)
    else:

        def refuse(*args, **kwargs):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(InputError, match="right to read it"):
        read(path)
