"""Each format gives back what was written into it; one choice of the format by name."""

import hashlib
import subprocess
import sys

import numpy as np
import pytest

from vbdm.errors import InputError
from vbdm.io import formats, prepare, read
from vbdm.io.reading import is_plumed, is_there


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((40, 3))


def test_npy_is_mapped_and_read_only(tmp_path, points):
    np.save(tmp_path / "a.npy", points)
    table = read(tmp_path / "a.npy")
    assert isinstance(table.values, np.memmap)
    assert not table.values.flags.writeable
    np.testing.assert_array_equal(table.values, points)
    assert table.names == ("x0", "x1", "x2")
    # Neither neighbouring columns nor the preparation of the whole make a copy.
    assert isinstance(read(tmp_path / "a.npy", columns="1-2").values, np.memmap)
    cloud, _ = prepare(table)
    assert np.shares_memory(cloud.points, table.values)


def test_source_recognises_the_file(tmp_path, points):
    np.save(tmp_path / "a.npy", points)
    contents = (tmp_path / "a.npy").read_bytes()
    source = read(str(tmp_path / "a.npy")).source
    assert source.as_dict() == {
        "name": "a.npy",
        "format": "npy",
        "size": len(contents),
        "sha256": hashlib.sha256(contents).hexdigest(),
        "selection": {},
    }


@pytest.mark.parametrize("dtype", [np.float32, np.int16, np.uint8, ">f8"])
def test_all_real_numbers_become_points(tmp_path, dtype):
    values = np.arange(12).reshape(6, 2).astype(dtype)
    np.save(tmp_path / "a.npy", values)
    cloud, _ = prepare(read(tmp_path / "a.npy"))
    assert cloud.points.dtype == np.float64
    assert cloud.points.dtype.isnative
    np.testing.assert_array_equal(cloud.points, values.astype(float))


def test_fortran_order_becomes_rows(tmp_path, points):
    np.save(tmp_path / "a.npy", np.asfortranarray(points))
    cloud, _ = prepare(read(tmp_path / "a.npy"))
    assert cloud.points.flags.c_contiguous
    np.testing.assert_array_equal(cloud.points, points)


def test_one_axis_is_one_column(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5.0))
    assert read(tmp_path / "a.npy").values.shape == (5, 1)


def test_npz_takes_the_only_array_or_the_named_one(tmp_path, points):
    np.savez(tmp_path / "one.npz", points)
    np.testing.assert_array_equal(read(tmp_path / "one.npz").values, points)
    np.savez_compressed(tmp_path / "two.npz", other=np.zeros(3), points=points)
    table = read(tmp_path / "two.npz", key="points")
    np.testing.assert_array_equal(table.values, points)
    assert table.source.selection == {"key": "points"}
    # Of the two, only one can be a table.
    with pytest.raises(InputError, match=r"other, points.*key='points'"):
        read(tmp_path / "two.npz")
    with pytest.raises(InputError, match=r"key='ponts'.*key='points'"):
        read(tmp_path / "two.npz", key="ponts")


@pytest.mark.parametrize("suffix", ["csv", "npy", "npz", "parquet", "h5", "nc"])
def test_truth_values_are_refused_alike(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    flags = np.array([True, False] * 10)
    if suffix == "csv":
        path.write_text("x\n" + "".join(f"{flag}\n" for flag in flags))
    elif suffix == "npy":
        np.save(path, flags)
    elif suffix == "npz":
        np.savez(path, flags)
    elif suffix == "parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table({"x": flags}), path)
    elif suffix == "h5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file["x"] = flags
    else:
        pytest.importorskip("netCDF4")
        xarray = pytest.importorskip("xarray")
        xarray.Dataset({"x": ("time", flags)}).to_netcdf(path)
    with pytest.raises(InputError, match="True and False are labels"):
        read(path)


def test_parquet(tmp_path, points):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    with_gap = [None, *range(1, 40)]
    columns = {
        "x": points[:, 0], "y": points[:, 1].astype(np.float32), "n": with_gap,
        "b": [True, False] * 20, "label": ["a", "b"] * 20,
    }  # fmt: skip
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet", columns="n,x")
    assert table.names == ("n", "x")
    assert np.isnan(table.values[0, 0])
    np.testing.assert_array_equal(table.values[1:, 0], np.arange(1.0, 40))
    np.testing.assert_array_equal(table.values[:, 1], points[:, 0])
    with pytest.raises(InputError, match=r"'label' \(string\).*with numbers: x, y, n\."):
        read(tmp_path / "a.parquet", columns="x,label,b")


def test_parquet_without_rows_is_refused(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.table({"x": np.zeros(0)}), tmp_path / "a.parquet")
    for scratch in (None, tmp_path):
        with pytest.raises(InputError, match="0 rows and 1 columns"):
            read(tmp_path / "a.parquet", scratch=scratch)


def test_another_parquet_file_needs_the_coordinates_only(tmp_path, points):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"x": points[:, 0], "y": points[:, 1], "label": ["a", "b"] * 20}
    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet")
    table = read(tmp_path / "a.parquet", columns="x")
    assert set(table.about_rows.labels) == {"label"}
    _, preparation = prepare(table)
    assert not read(tmp_path / "a.parquet", columns=preparation).about_rows


def test_one_table_with_two_names_is_one(tmp_path, points):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["first"] = points
        file["second"] = file["first"]
    np.testing.assert_array_equal(read(tmp_path / "a.h5").values, points)


def test_hdf5(tmp_path, points):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["run/points"] = points
        file["time"] = np.arange(40.0)
        file["labels"] = [b"a"] * 40
    table = read(tmp_path / "a.h5")
    np.testing.assert_array_equal(table.values, points)
    assert table.source.selection["key"] == "run/points"
    assert read(tmp_path / "a.h5", key="/time").values.shape == (40, 1)
    with h5py.File(tmp_path / "a.h5", "a") as file:
        file["more"] = points
    with pytest.raises(InputError, match=r"more, run/points"):
        read(tmp_path / "a.h5")
    with pytest.raises(InputError, match="no such dataset"):
        read(tmp_path / "a.h5", key="run")


def test_zarr(tmp_path, points):
    zarr = pytest.importorskip("zarr")
    zarr.save(tmp_path / "one.zarr", points)
    table = read(tmp_path / "one.zarr")
    np.testing.assert_array_equal(table.values, points)
    group = zarr.open_group(tmp_path / "two.zarr", mode="w")
    for name, scale in (("a/points", 1), ("b", 2)):
        array = group.create_array(name, shape=points.shape, dtype="f4")
        array[...] = scale * points
    chosen = read(tmp_path / "two.zarr", key="a/points", columns=[2])
    np.testing.assert_array_equal(chosen.values[:, 0], points[:, 2].astype(np.float32))
    with pytest.raises(InputError, match="a/points, b"):
        read(tmp_path / "two.zarr")


def test_zarr_hash_is_that_of_all_files_inside(tmp_path, points):
    zarr = pytest.importorskip("zarr")
    zarr.save(tmp_path / "a.zarr", points)
    zarr.save(tmp_path / "copy.zarr", points)
    points[-1, -1] += 1
    zarr.save(tmp_path / "other.zarr", points)
    first, copy, other = (read(tmp_path / f"{n}.zarr").source for n in ("a", "copy", "other"))
    assert first.sha256 == copy.sha256 != other.sha256
    files = [path for path in (tmp_path / "a.zarr").rglob("*") if path.is_file()]
    assert first.size == sum(path.stat().st_size for path in files)


@pytest.fixture
def sea(tmp_path):
    """Temperatures over time and space, with land in one place and a gap at one time."""
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    values = np.random.default_rng(1).standard_normal((3, 10, 2)).astype(np.float32)
    values[1, :, 0] = np.nan
    values[0, 4, 1] = np.nan
    coords = {"lat": [10.5, 20.0, 30.0], "time": np.arange(10), "lon": [0, 180]}
    dataset = xarray.Dataset(
        {"sst": (("lat", "time", "lon"), values), "depth": (("lat", "lon"), np.ones((3, 2)))},
        coords,
    )
    dataset["time"].attrs["units"] = "days since 2000-01-01"
    return dataset


def test_netcdf_flattens_space(tmp_path, sea):
    sea.to_netcdf(tmp_path / "a.nc")
    table = read(tmp_path / "a.nc")
    assert table.values.shape == (10, 5)
    assert table.names[0] == "sst[lat=10.5,lon=0]"
    assert "sst[lat=20,lon=0]" not in table.names
    assert table.source.selection["dropped"].startswith("1 of 6 columns")
    assert prepare(table, missing="drop")[0].notes[0].startswith("1 of 6 columns have no value")
    last = table.names.index("sst[lat=30,lon=180]")
    np.testing.assert_array_equal(table.values[:, last], sea["sst"].values[2, :, 1])
    assert prepare(table, missing="drop")[0].rows.tolist() == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_netcdf_takes_other_dimensions_and_variables(tmp_path, sea):
    sea["wind"] = ("time", np.arange(10.0))
    sea.to_netcdf(tmp_path / "a.nc")
    with pytest.raises(InputError, match=r"wind\(time\).*variable='sst'"):
        read(tmp_path / "a.nc")
    with pytest.raises(InputError, match=r"variable='wnd'. In the file: depth, sst, wind\.") as e:
        read(tmp_path / "a.nc", variable="wnd")
    assert str(e.value).endswith("such as variable='wind'.")
    both = read(tmp_path / "a.nc", variable="sst,wind")
    np.testing.assert_array_equal(both.values[:, -1], np.arange(10.0))
    assert both.names[-1] == "wind"
    flat = read(tmp_path / "a.nc", variable="depth", sample_dims="lat,lon")
    assert flat.values.shape == (6, 1)
    with pytest.raises(InputError, match=r"no dimension 'time'.*sample_dims='lat'"):
        read(tmp_path / "a.nc", variable="depth")


def test_what_is_known_of_the_rows_of_netcdf(tmp_path, sea):
    sea.to_netcdf(tmp_path / "a.nc")
    rows = read(tmp_path / "a.nc", variable="depth", sample_dims="lat").about_rows
    assert rows.times is None
    assert rows.numbers["lat"].tolist() == [10.5, 20, 30]
    # Names are no times; dates of a calendar that nobody knows stay numbers.
    sea.assign_coords(time=[f"run {i}" for i in range(10)]).to_netcdf(tmp_path / "b.nc")
    rows = read(tmp_path / "b.nc", variable="sst").about_rows
    assert rows.times is None
    assert not rows.numbers
    sea["time"].attrs["calendar"] = "martian"
    sea.to_netcdf(tmp_path / "c.nc")
    rows = read(tmp_path / "c.nc", variable="sst").about_rows
    assert rows.times.tolist() == list(range(10))
    assert rows.time_name == "time (days since 2000-01-01)"


def test_netcdf_of_the_old_kind(tmp_path, sea):
    sea.to_netcdf(tmp_path / "a.nc", format="NETCDF3_CLASSIC")
    assert (tmp_path / "a.nc").read_bytes()[:3] == b"CDF"
    assert read(tmp_path / "a.nc").values.shape == (10, 5)


def test_netcdf_without_a_number_is_refused(tmp_path, sea):
    (sea["sst"] * np.nan).to_dataset(name="sst").to_netcdf(tmp_path / "a.nc")
    with pytest.raises(InputError, match="missing values only"):
        read(tmp_path / "a.nc")
    sea.isel(time=slice(0)).to_netcdf(tmp_path / "b.nc")
    with pytest.raises(InputError, match=r"shape \(0, 6\)"):
        read(tmp_path / "b.nc")


def test_zarr_of_xarray_by_variable(tmp_path, sea):
    pytest.importorskip("zarr")
    sea.to_zarr(tmp_path / "a.zarr", consolidated=False)
    table = read(tmp_path / "a.zarr", variable="sst")
    assert table.source.format == "netcdf"
    assert table.values.shape == (10, 5)


def test_format_by_name_and_by_suffix(tmp_path, points):
    np.savetxt(tmp_path / "data.out", points)
    with pytest.raises(InputError, match=r"Known are: npy .*format='text'"):
        read(tmp_path / "data.out")
    for name in ("text", "csv"):
        np.testing.assert_allclose(read(tmp_path / "data.out", format=name).values, points)
    with pytest.raises(InputError, match="no such format"):
        read(tmp_path / "data.out", format="excel")


def test_options_of_other_formats_are_refused(tmp_path, points):
    np.save(tmp_path / "a.npy", points)
    with pytest.raises(InputError, match="`key` has no meaning for npy"):
        read(tmp_path / "a.npy", key="points")
    with pytest.raises(InputError, match="`stride` has no meaning for npy"):
        read(tmp_path / "a.npy", stride=2)


@pytest.mark.parametrize("kind", [k for k in formats() if k.needs], ids=lambda kind: kind.name)
def test_a_missing_library_names_its_install_command(tmp_path, monkeypatch, kind):
    for module in kind.needs:
        monkeypatch.setitem(sys.modules, module, None)
    assert not kind.installed
    path = tmp_path / "data.any"
    path.write_bytes(b"anything")
    with pytest.raises(InputError, match=rf"pip install 'vbdm\[{kind.extra}\]'"):
        read(path, format=kind.name)


def test_libraries_that_are_broken_are_not_there(monkeypatch):
    assert is_there("numpy")
    assert not is_there("no_such_library.part")
    monkeypatch.setitem(sys.modules, "h5py", None)
    assert not is_there("h5py")


def test_a_file_that_cannot_be_opened_is_not_taken_for_one_of_plumed(tmp_path, monkeypatch):
    (tmp_path / "COLVAR").write_text("#! FIELDS time phi\n0 1\n")
    assert is_plumed(tmp_path / "COLVAR")

    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    assert not is_plumed(tmp_path / "COLVAR")


def test_base_formats_need_nothing():
    ready = {kind.name for kind in formats() if not kind.needs}
    assert ready == {"npy", "npz", "text", "plumed"}
    assert all(kind.installed and not kind.install_command for kind in formats() if not kind.needs)
    suffixes = [suffix for kind in formats() for suffix in kind.suffixes]
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in suffixes)


def test_libraries_are_loaded_only_for_their_files(tmp_path, points):
    np.save(tmp_path / "a.npy", points)
    libraries = sorted({module for kind in formats() for module in kind.needs})
    code = (
        f"import sys, vbdm, vbdm.io; vbdm.io.prepare(vbdm.io.read({str(tmp_path / 'a.npy')!r})); "
        f"print([name for name in {libraries} if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"
