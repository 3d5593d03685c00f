"""What files may not do: take all memory, lead to other files, or be read twice over."""

import json
import os
import pickle

import numpy as np
import pytest

from vbdm.errors import InputError, OutOfMemoryError
from vbdm.io import prepare, read

ROWS = 1000


def names_of(options):
    """Name a case by its options; of objects the type, since addresses differ between processes."""
    return ", ".join(f"{name}: {type(value).__name__}" for name, value in options.items())


POINTS = np.random.default_rng(0).standard_normal((ROWS, 3))


def declared_hdf5(folder):
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "a.h5", "w") as file:
        file.create_dataset("points", shape=(10**12, 3), chunks=(1000, 3), dtype="f4")


def declared_zarr(folder):
    zarr = pytest.importorskip("zarr")
    zarr.create_array(folder / "a.zarr", shape=(10**12, 3), chunks=(10**6, 3), dtype="f4")


def declared_npz(folder):
    np.savez(folder / "a.npz", points=POINTS)


def declared_parquet(folder):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"x": POINTS[:, 0], "y": POINTS[:, 1]}), folder / "a.parquet")


def declared_netcdf(folder):
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("netCDF4")
    pytest.importorskip("xarray")
    with h5py.File(folder / "a.nc", "w") as file:
        data = file.create_dataset("u", shape=(10**12, 3), chunks=(1000, 3), dtype="f4")
        for axis, (name, length) in enumerate({"time": 10**12, "x": 3}.items()):
            scale = file.create_dataset(name, shape=(length,), chunks=(1,), dtype="f4")
            scale.make_scale("This is a netCDF dimension but not a netCDF variable.")
            data.dims[axis].attach_scale(scale)


def declared_anndata(folder):
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    anndata.AnnData(POINTS).write_h5ad(folder / "a.h5ad")
    with h5py.File(folder / "a.h5ad", "a") as file:
        del file["X"]
        file.create_dataset("X", shape=(10**12, 3), chunks=(1000, 3), dtype="f4")


DECLARED = {
    "a.h5": declared_hdf5, "a.zarr": declared_zarr, "a.npz": declared_npz,
    "a.parquet": declared_parquet, "a.nc": declared_netcdf, "a.h5ad": declared_anndata,
}  # fmt: skip


@pytest.mark.parametrize("name", DECLARED)
def test_declared_sizes_are_compared_with_the_memory(tmp_path, monkeypatch, name):
    DECLARED[name](tmp_path)
    if name in ("a.npz", "a.parquet"):
        monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: 8 * ROWS)
    with pytest.raises(OutOfMemoryError, match="would not fit into memory"):
        read(tmp_path / name)


def test_delays_are_compared_with_the_memory(tmp_path, monkeypatch):
    np.save(tmp_path / "a.npy", POINTS)
    monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: 8 * ROWS * 10)
    with pytest.raises(OutOfMemoryError, match="The array of points"):
        prepare(read(tmp_path / "a.npy"), delays=9)


def to_the_secret(file, folder, kind):
    """Make a dataset "points" that lies in another file."""
    h5py = pytest.importorskip("h5py")
    secret = folder / "secret"
    with h5py.File(secret, "w") as other:
        other["d"] = POINTS
    if kind == "external storage":
        file.create_dataset("points", (60, 2), dtype="u1", external=[(str(secret), 0, 120)])
    elif kind == "link":
        file["points"] = h5py.ExternalLink(str(secret), "/d")
    elif kind == "link behind a link":
        file["far"] = h5py.ExternalLink(str(secret), "/")
        file["points"] = h5py.SoftLink("/far/d")
    else:
        layout = h5py.VirtualLayout(POINTS.shape, "f8")
        layout[:] = h5py.VirtualSource(str(secret), "d", shape=POINTS.shape)
        file.create_virtual_dataset("points", layout)


@pytest.mark.parametrize("kind", ["external storage", "link", "link behind a link", "virtual"])
@pytest.mark.parametrize("suffix", ["h5", "h5ad", "nc"])
def test_no_other_file_is_read(tmp_path, kind, suffix):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / f"a.{suffix}"
    with h5py.File(path, "w") as file:
        place = file.create_group("obsm") if suffix == "h5ad" else file
        to_the_secret(place, tmp_path, kind)
        file["good"] = POINTS
    if suffix != "h5":
        pytest.importorskip("anndata" if suffix == "h5ad" else "netCDF4")
    with pytest.raises(InputError, match="leads to another file"):
        read(path, **({"key": "good"} if suffix == "h5" else {}))


def test_a_virtual_dataset_of_the_same_file_is_read(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["half"] = POINTS
        layout = h5py.VirtualLayout(POINTS.shape, "f8")
        layout[:] = h5py.VirtualSource(file["half"])
        file.create_virtual_dataset("points", layout)
    np.testing.assert_array_equal(read(tmp_path / "a.h5", key="points").values, POINTS)


def test_a_store_does_not_lead_out_of_its_folder(tmp_path):
    zarr = pytest.importorskip("zarr")
    zarr.save(tmp_path / "a.zarr", POINTS)
    (tmp_path / "secret").write_bytes(b"root")
    (tmp_path / "a.zarr" / "more").symlink_to(tmp_path / "secret")
    with pytest.raises(InputError, match="leads to another file"):
        read(tmp_path / "a.zarr")


PICKLES = [[{"id": "pickle"}], [{"id": "vlen-utf8"}, {"id": "pickle", "protocol": 5}]]


@pytest.mark.parametrize("filters", PICKLES, ids=["alone", "behind another"])
@pytest.mark.parametrize("option", [{}, {"variable": "u"}, {"key": "u"}, {"key": "time"}])
def test_a_store_is_never_unpickled(tmp_path, filters, option):
    """Old libraries would run what a pickle says, for an axis even if nobody asks for it."""
    pytest.importorskip("zarr")
    pytest.importorskip("xarray")
    folder = tmp_path / "a.zarr"
    for name, kind, shape, packed in (("u", "<f8", [4, 2], None), ("time", "|O", [4], filters)):
        (folder / name).mkdir(parents=True)
        about = {
            "zarr_format": 2, "shape": shape, "chunks": shape, "dtype": kind, "order": "C",
            "fill_value": None, "compressor": None, "filters": packed,
        }  # fmt: skip
        (folder / name / ".zarray").write_text(json.dumps(about))
        dims = {"_ARRAY_DIMENSIONS": ["time", "x"][: len(shape)]}
        (folder / name / ".zattrs").write_text(json.dumps(dims))
    (folder / ".zgroup").write_text('{"zarr_format": 2}')
    (folder / "u" / "0.0").write_bytes(np.ones((4, 2)).tobytes())
    (folder / "time" / "0").write_bytes(pickle.dumps(Attack(tmp_path / "attacked")))
    with pytest.raises(InputError, match=r"pickles, by 'time/\.zarray'"):
        read(folder, **option)
    assert not (tmp_path / "attacked").exists()


class Attack:
    """A folder appears where this is unpickled."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize(
    "option",
    [
        {"format": 3}, {"format": []}, {"key": 3}, {"key": b"x"}, {"selection": 5}, {"stride": "2"},
        {"variable": 3}, {"variable": [1]}, {"sample_dims": {}}, {"columns": object()},
        {"columns": {}}, {"columns": b"x"}, {"columns": None, "header": []}, {"topology": 3},
        {"features": 3}, {"header": np.ones(3)}, {"columns": 10**400}, {"columns": np.ones(3)},
    ],
    ids=names_of,
)  # fmt: skip
def test_options_of_the_wrong_type_are_refused_in_words(tmp_path, option):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n")
    with pytest.raises(InputError, match="received"):
        read(path, **option)


@pytest.mark.parametrize(
    "option",
    [
        {"columns": object()}, {"delays": "2"}, {"delays": None}, {"subsample": 2.5}, {"seed": "x"},
        {"missing": 3}, {"missing": []}, {"period": "x"}, {"period": {}}, {"lengths": "x"},
        {"lengths": [object()]}, {"standardize": "yes"}, {"every": [1]},
        {"delays": 10**400}, {"period": 10**400}, {"period": object()},
        {"delays": 2, "delay_step": 10**30}, {"standardize": np.ones(3)},
        {"seed": 10**400}, {"subsample": 10**400},
    ],
    ids=names_of,
)  # fmt: skip
def test_steps_of_the_wrong_type_are_refused_in_words(tmp_path, option):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n3,4\n2,5\n")
    if option in ({"seed": 10**400}, {"subsample": 10**400}):
        assert len(prepare(read(path), **option)[0].points) == 3
        return
    with pytest.raises(InputError, match="received"):
        prepare(read(path), **option)


def test_a_table_is_needed():
    with pytest.raises(InputError, match=r"vbdm\.io\.read"):
        prepare(POINTS)


def test_a_variable_is_taken_once(tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    xarray.Dataset({"u": (("time", "x"), POINTS)}).to_netcdf(tmp_path / "a.nc")
    for option in ({"variable": "u,u"}, {"sample_dims": "time,time"}):
        with pytest.raises(InputError, match="once"):
            read(tmp_path / "a.nc", **option)
