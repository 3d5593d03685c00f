"""Arrays in the caller's order: of NumPy, of Zarr over the scratch file, of Dask."""

import gc

import numpy as np
import pytest

from vbdm.rows import results
from vbdm.rows.block_array import Rows
from vbdm.rows.dask import OnDask
from vbdm.rows.disk import OnDisk
from vbdm.rows.partition import Partition
from vbdm.rows.results import in_callers_order

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


def test_the_store_of_zarr_lists_what_it_holds(tmp_path):
    import zarr

    rows = Rows(PARTITION, OnDisk(tmp_path))
    array = in_callers_order(rows.spread(X), WHERE)
    assert array.nchunks_initialized == 4
    assert zarr.open_array(array.store, mode="r").shape == (3501, 40)
    assert repr(array.store) == "rows on disk"


@pytest.mark.parametrize("values", [X, X[:, 0]])
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


def test_in_memory_it_is_an_array_of_numpy():
    array = in_callers_order(Rows(PARTITION).spread(X), WHERE)
    assert isinstance(array, np.ndarray)
    assert np.array_equal(array, X[WHERE])
