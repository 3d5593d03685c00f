"""Arrays in the caller's order: of NumPy, of Zarr over the scratch file, of Dask."""

import asyncio
import gc
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import vbdm
from vbdm.rows import results
from vbdm.rows.block_array import Rows
from vbdm.rows.dask import OnDask
from vbdm.rows.disk import OnDisk
from vbdm.rows.partition import Partition
from vbdm.rows.place import InMemory
from vbdm.rows.results import in_callers_order

pytestmark = pytest.mark.blocks

PARTITION = Partition.into(3000, 5)
RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((3000, 40))
#: The caller has copies of some rows.
WHERE = np.concatenate([RANDOM.permutation(3000), RANDOM.integers(0, 3000, 501)])


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(results, "ROWS_PER_CHUNK", 1000)


@pytest.mark.parametrize("values", [X, X[:, 0], X.astype(np.float32), X[:, 0] > 0])
def test_on_disk_it_is_an_array_of_zarr(values, tmp_path):
    import zarr

    rows = Rows(PARTITION, OnDisk(tmp_path))
    array = in_callers_order(rows.spread(values), WHERE)
    assert isinstance(array, zarr.Array)
    assert array.shape == (3501, *values.shape[1:])
    assert array.dtype == values.dtype
    assert array.chunks[0] == 1000
    expected = values[WHERE]
    assert np.array_equal(array[:], expected)
    assert np.array_equal(np.asarray(array), expected)
    assert np.array_equal(array[995:1005], expected[995:1005])
    assert np.array_equal(array[[3500, 2, 999]], expected[[3500, 2, 999]])
    if values.ndim == 2:
        assert np.array_equal(array[:, 7], expected[:, 7])
    with pytest.raises(ValueError, match="read-only"):
        array[0] = 0
    assert list(tmp_path.iterdir()) == []


def test_with_an_older_zarr_there_is_none(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zarr.abc.store", None)  # as in version 2
    monkeypatch.delitem(sys.modules, "vbdm.rows.zarr_array", raising=False)
    rows = Rows(PARTITION, OnDisk(tmp_path))
    assert in_callers_order(rows.spread(X), WHERE) is None


def test_the_store_of_zarr_lists_what_it_holds(tmp_path):
    import zarr

    rows = Rows(PARTITION, OnDisk(tmp_path))
    array = in_callers_order(rows.spread(X), WHERE)
    assert array.nchunks_initialized == 4
    assert zarr.open_array(array.store, mode="r").shape == (3501, 40)
    assert repr(array.store) == "rows on disk"


def test_the_store_of_zarr_answers_as_stores_do(tmp_path):
    """Zarr may ask for parts of a chunk, for what is there, and for what is in a folder."""
    from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest
    from zarr.core.buffer import default_buffer_prototype

    store = in_callers_order(Rows(PARTITION, OnDisk(tmp_path)).spread(X), WHERE).store
    whole = np.concatenate([X[WHERE[3000:]], np.zeros((499, 40))]).tobytes()
    parts = [None, RangeByteRequest(8, 24), OffsetByteRequest(319_000), SuffixByteRequest(16)]
    wanted = [whole, whole[8:24], whole[319_000:], whole[-16:]]

    async def answers():
        prototype = default_buffer_prototype()
        found = await store.get_partial_values(prototype, [("c/3/0", part) for part in parts])
        there = [await store.exists(key) for key in ("zarr.json", "c/3/0", "c/4/0")]
        folders = [[name async for name in store.list_dir(at)] for at in ("", "c", "c/3/")]
        with pytest.raises(ValueError, match="read-only"):
            await store.delete("c/3/0")
        return [buffer.to_bytes() for buffer in found], there, folders

    # In a thread of its own: a browser that is open keeps the loop of this one.
    with ThreadPoolExecutor(1) as pool:
        found, there, folders = pool.submit(asyncio.run, answers()).result()
    assert found == wanted
    assert there == [True, True, False]
    assert list(map(sorted, folders)) == [["c", "zarr.json"], ["0", "1", "2", "3"], ["0"]]
    assert store == store
    assert store != in_callers_order(Rows(PARTITION, OnDisk(tmp_path)).spread(X), WHERE).store


@pytest.mark.parametrize("values", [pytest.param(X, marks=pytest.mark.slow), X[:, 0]])
def test_on_a_cluster_it_is_an_array_of_dask(values, cluster):
    import dask.array

    rows = Rows(PARTITION, OnDask(cluster, PARTITION))
    array = in_callers_order(rows.spread(values), WHERE)
    gc.collect()  # the blocks live as long as the array
    assert isinstance(array, dask.array.Array)
    assert array.chunks[0] == (1000, 1000, 1000, 501)
    assert array.dtype == values.dtype
    expected = values[WHERE]
    assert np.array_equal(array.compute(), expected)
    assert np.array_equal(np.asarray(array), expected)
    assert np.array_equal(array[995:1005].compute(), expected[995:1005])
    assert np.allclose(array.sum(axis=0).compute(), expected.sum(axis=0))


@pytest.mark.parametrize("values", [X, X[:, 0]])
def test_rows_of_blocks_are_fetched_as_numpy_does(values, tmp_path):
    for place in (InMemory(), OnDisk(tmp_path)):
        array = Rows(PARTITION, place).spread(values)
        for key in (
            5,
            -1,
            np.int64(7),
            slice(10, 2900, 7),
            WHERE,
            values.reshape(3000, -1)[:, 0] > 1,
        ):
            np.testing.assert_array_equal(array[key], values[key])
        with pytest.raises(IndexError, match="out of bounds"):
            array[3000]
    if values.ndim == 2:
        np.testing.assert_array_equal(array[5, 1:3], values[5, 1:3])
        np.testing.assert_array_equal(array[WHERE, 3], values[WHERE, 3])
        assert array[5, 2] == values[5, 2]


def test_density_and_bandwidth_are_brought_to_the_disk_once():
    points = vbdm.datasets.ou(600, dim=2, random_state=0).points
    op = vbdm.estimate_operator(
        points, "generator", run=vbdm.Run(placement=vbdm.placement.Disk(blocks=2))
    )
    assert op.density is op.density
    assert op.bandwidth is op.bandwidth
    with pytest.raises(vbdm.InputError, match="looks into lists"):
        op.graph.with_lists()
    whole = vbdm.estimate_operator(points, "generator")
    np.testing.assert_allclose(op.density[:], whole.density, rtol=1e-12)
    np.testing.assert_allclose(op.bandwidth[:], whole.bandwidth, rtol=1e-12)


def test_in_memory_it_is_an_array_of_numpy():
    array = in_callers_order(Rows(PARTITION).spread(X), WHERE)
    assert isinstance(array, np.ndarray)
    assert np.array_equal(array, X[WHERE])
