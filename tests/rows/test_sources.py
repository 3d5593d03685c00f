"""Points in files and in arrays of other libraries give what the array in memory gives."""

import numpy as np
import pytest

import vbdm
from vbdm.errors import InputError, OutOfMemoryError, ScratchError
from vbdm.placement import Dask, Disk, Memory, automatic, placed_points
from vbdm.rows import sources

pytestmark = pytest.mark.blocks

zarr = pytest.importorskip("zarr")
dask_array = pytest.importorskip("dask.array")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
h5py = pytest.importorskip("h5py")


@pytest.fixture(scope="module")
def points():
    return vbdm.datasets.ou(1500, dim=3, random_state=0).points


@pytest.fixture
def as_source(points, tmp_path):
    """Return a function that puts the points somewhere else, by the name of the place."""

    def npy(values):
        np.save(tmp_path / "x.npy", values)
        return tmp_path / "x.npy"

    def parquet(values):
        columns = {f"x{i}": column for i, column in enumerate(values.T)}
        pq.write_table(pa.table(columns), tmp_path / "x.parquet", row_group_size=400)
        return tmp_path / "x.parquet"

    def zarr_path(values):
        zarr.create_array(tmp_path / "x.zarr", data=values, chunks=(400, 2))
        return str(tmp_path / "x.zarr")

    def zarr_group(values):
        group = zarr.open_group(tmp_path / "g.zarr", mode="w")
        group.create_array("time", data=np.arange(len(values)))
        group.create_array("run/points", data=values, chunks=(400, 3))
        return tmp_path / "g.zarr"

    def hdf5(values):
        return h5py.File(tmp_path / "x.h5", "w").create_dataset("x", data=values, chunks=(400, 3))

    return {
        "npy": npy,
        "npy, single": lambda values: npy(values.astype(np.float32)),
        "npy, by columns": lambda values: npy(np.asfortranarray(values)),
        "parquet": parquet,
        "zarr path": zarr_path,
        "zarr group": zarr_group,
        "zarr array": lambda values: zarr.open(zarr_path(values)),
        "zarr group object": lambda values: zarr.open(zarr_group(values)),
        "hdf5": hdf5,
        "dask": lambda values: dask_array.from_array(values, chunks=(400, 2)),
    }


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch):
    monkeypatch.setattr(sources, "AT_A_TIME", 1600)


NAMES = (
    "npy", "npy, single", "npy, by columns", "parquet", "zarr path", "zarr group", "zarr array",
    "zarr group object", "hdf5", "dask",
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("placement", [Memory(), Disk()], ids=["memory", "disk"])
def test_points_are_read_as_they_are(name, placement, points, as_source):
    values = points.astype(np.float32).astype(float) if "single" in name else points
    X, placed = placed_points(as_source[name](points), placement)
    assert placed is placement
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X, values)
    mapped = isinstance(placement, Disk) or name == "npy"
    assert isinstance(X, np.memmap) == mapped


@pytest.mark.parametrize("name", ["parquet", "zarr path", "dask"])
def test_an_estimate_takes_them(name, points, as_source):
    points = points[:600]
    expected = vbdm.estimate_operator(points, "generator")
    X = as_source[name](points)
    found = vbdm.estimate_operator(X, "generator", run=vbdm.Run(placement=Disk(blocks=2)))
    np.testing.assert_allclose(found.epsilon, expected.epsilon, rtol=1e-12)
    np.testing.assert_allclose(found.density, expected.density, rtol=1e-9)
    model = vbdm.DiffusionMap("generator", 1).fit(X)
    np.testing.assert_allclose(model.epsilon_, expected.epsilon, rtol=1e-12)


@pytest.mark.parametrize(("name", "reduced"), [("dask", 2), *((name, None) for name in NAMES)])
def test_a_model_takes_them_as_new_points(name, reduced, points, as_source, models):
    model, values = models[reduced], points[700:]
    values = values.astype(np.float32).astype(float) if "single" in name else values
    X = as_source[name](points[700:])
    np.testing.assert_allclose(model.transform(X), model.transform(values), rtol=1e-12)
    np.testing.assert_allclose(model.density(X), model.density(values), rtol=1e-12)
    f = points[:800, 0]
    np.testing.assert_allclose(model.extend(f, X), model.extend(f, values), rtol=1e-12)


@pytest.fixture(scope="module")
def models(points):
    """Return models of some of the points, with their columns and with two directions."""
    kinds = (None, 2)
    return {
        n: vbdm.DiffusionMap("generator", 1, pca=n, outside="nearest").fit(points[:800])
        for n in kinds
    }


def test_new_points_with_other_columns_or_wrong_numbers_are_refused(points, models, as_source):
    with pytest.raises(ValueError, match="2 features"):
        models[None].transform(as_source["dask"](points[:, :2]))
    values = points.copy()
    values[1203, 1] = np.nan
    with pytest.raises(InputError, match=r"finite.*row 1203"):
        models[2].transform(as_source["dask"](values))


def test_each_chunk_is_reported_once(points, as_source):
    seen = []
    with vbdm.progress.listening(seen.append):
        placed_points(as_source["dask"](points), Memory())
    assert [progress.done for progress in seen] == [400, 800, 1200, 1500]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_wrong_number_is_named_by_its_row(name, wrong, points, as_source):
    values = points.copy()
    values[1203, 1] = wrong
    with pytest.raises(InputError, match=r"finite.*row 1203"):
        vbdm.estimate_operator(as_source[name](values))


@pytest.mark.parametrize("sizes", [(400, 400), (400, 700)])
def test_sources_that_hold_other_rows_than_they_declare_are_refused(sizes):
    chunks = [np.zeros((size, 2)) for size in sizes]
    told = sources.Chunks("The file", (1000, 2), lambda: iter(chunks))
    rows = 800 if sum(sizes) == 800 else 400
    with pytest.raises(InputError, match=f"The file does not hold.*{rows} rows, where 1,000"):
        list(told.numbered())
    wider = sources.Chunks("The file", (1000, 3), lambda: iter(chunks))
    with pytest.raises(InputError, match="0 rows, where 1,000"):
        list(wider.numbered())


def archive(path):
    """Write an archive of arrays under the name of a single one."""
    with open(path, "wb") as file:
        np.savez(file, x=np.ones((9, 2)))
    return path


def test_unknown_chunks_are_refused():
    X = dask_array.random.random((100, 2), chunks=20)
    with pytest.raises(InputError, match=r"Call X\.compute_chunk_sizes\(\) first"):
        vbdm.estimate_operator(X[X[:, 0] > 0.5])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda f: f / "missing.npy", "does not exist"),
        (lambda f: (f / "x.npy").write_bytes(b"nothing") and f / "x.npy", "cannot be read as npy"),
        (lambda f: (f / "x.pq").write_bytes(b"nothing") and f / "x.pq", "cannot be read as parq"),
        (lambda f: (f / "x.parquet").mkdir() or f / "x.parquet", "not a folder"),
        (lambda f: (f / "x.zarr").mkdir() or f / "x.zarr", "cannot be read as zarr"),
        (lambda f: zarr.open_group(f / "g.zarr", mode="w"), "The group must hold one table"),
        (lambda f: zarr.create_array(f / "x.zarr", data=np.ones(9)), "one row per point"),
        (lambda f: zarr.create_array(f / "x.zarr", data=np.ones((9, 2), bool)), "truth values"),
        (lambda f: dask_array.ones((9, 2), dtype=complex), "complex numbers"),
        (
            lambda f: dask_array.from_array(np.ones((9, 2), object), chunks=9),
            "array of the type object",
        ),
        (lambda f: archive(f / "x.npy"), "cannot be read as npy"),
        (lambda f: f / "x.csv", "A path is no array of points"),
    ],
)
def test_what_holds_no_points_is_refused_in_words(make, words, tmp_path):
    with pytest.raises(InputError, match=words):
        vbdm.estimate_operator(make(tmp_path))


def test_objects_are_never_unpickled(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[{}]], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="cannot be read as npy"):
        vbdm.estimate_operator(tmp_path / "x.npy")


def test_labels_in_a_table_are_named(tmp_path):
    table = pa.table({"x": [1.0, 2.0], "kind": ["a", "b"]})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(InputError, match=r"'kind' \(string\)"):
        vbdm.estimate_operator(tmp_path / "x.parquet")


def test_a_file_that_declares_too_much_is_refused_before_it_is_read(tmp_path):
    zarr.create_array(tmp_path / "x.zarr", shape=(10**15, 3), chunks=(1000, 3), dtype=float)
    with pytest.raises(OutOfMemoryError, match="would not fit into memory"):
        vbdm.estimate_operator(tmp_path / "x.zarr", run="memory")
    with pytest.raises(ScratchError, match=r"where about 2\.4e"):
        vbdm.estimate_operator(tmp_path / "x.zarr", run="disk")


def test_links_that_lead_out_of_a_store_are_refused(tmp_path):
    zarr.create_array(tmp_path / "x.zarr", data=np.ones((9, 2)))
    (tmp_path / "x.zarr" / "more").symlink_to("/etc")
    with pytest.raises(InputError, match="leads to another file"):
        vbdm.estimate_operator(tmp_path / "x.zarr")


def test_auto_takes_disk_where_memory_is_too_small(monkeypatch, points):
    assert automatic(points, (10**6, 2), 1.0) is None or vbdm.estimate_memory(10**6, 75, 2) > 1e9
    monkeypatch.setattr("vbdm.placement.available_memory", lambda: 10**9)
    assert automatic(points, (10**6, 2), 1.0) == Disk()
    assert automatic(points, (10**5, 2), 1.0) is None
    assert automatic(points, (10**6, 200), 1.0) is None


def test_auto_takes_disk_when_the_pairs_turn_out_to_be_too_many(monkeypatch, points, caplog):
    calls = []
    caplog.set_level("INFO", "vbdm")

    def refuse_once(*sizes):
        calls.append(sizes)
        if len(calls) == 1:
            raise OutOfMemoryError("too large")

    monkeypatch.setattr("vbdm.kernel.within_reach.refuse_pairs", refuse_once)
    found = vbdm.estimate_operator(points, "generator")
    assert found.settings.placement == "1 block on disk"
    assert caplog.messages.count("the estimate does not fit into memory: its rows go to disk") == 1


def test_what_blocks_cannot_do_either_is_refused_for_its_memory(monkeypatch, points):
    monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: 1_000_000)
    with pytest.raises(OutOfMemoryError, match="would not fit into memory"):
        vbdm.estimate_operator(points, "generator", method=vbdm.Resolved(truncation=None))


def test_without_a_client_an_array_of_dask_is_read(monkeypatch, points):
    # Other tests may have clients.
    monkeypatch.setattr("vbdm.placement.current_client", lambda: None)
    assert automatic(dask_array.from_array(points), points.shape, 1.0) is None


def test_with_a_client_an_array_of_dask_goes_to_it(monkeypatch, points):
    client = "tcp://node7:8786"  # what stands for a client must be one, or an address
    monkeypatch.setattr("vbdm.placement.current_client", lambda: client)
    assert automatic(dask_array.from_array(points), points.shape, 1.0) == Dask(client)
    assert automatic(points, points.shape, 1.0) is None
