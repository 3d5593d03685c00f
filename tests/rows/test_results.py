"""Arrays in the caller's order: of NumPy, of rows in the scratch file, of Dask."""

import gc

import numpy as np
import pytest

import vbdm
from vbdm.graph.order import Copies, InCallerOrder, Order, as_caller_sees
from vbdm.rows.block_array import Rows
from vbdm.rows.dask import OnDask
from vbdm.rows.disk import OnDisk
from vbdm.rows.place import InMemory, Partition

pytestmark = pytest.mark.blocks

PARTITION = Partition.into(3000, 5)
RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((3000, 40))
#: The caller has copies of some rows.
POINT_OF = np.concatenate([RANDOM.permutation(3000), RANDOM.integers(0, 3000, 501)])
FIRST = np.unique(POINT_OF, return_index=True)[1]
ORDER = Order(RANDOM.permutation(3000), Copies(POINT_OF, FIRST, np.bincount(POINT_OF) * 1.0))
WHERE = ORDER.inside_rows(np.arange(3501))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr("vbdm.rows.dask.ROWS_PER_CHUNK", 1000)


@pytest.mark.parametrize("values", [X, X[:, 0], X.astype(np.float32), X[:, 0] > 0])
def test_on_disk_it_is_an_array_that_fetches_rows(values, tmp_path):
    array = as_caller_sees(Rows(PARTITION, OnDisk(tmp_path)).spread(values), ORDER)
    assert isinstance(array, InCallerOrder)
    assert array.shape == (3501, *values.shape[1:])
    assert array.dtype == values.dtype
    assert repr(array) == f"array of shape {array.shape}, on disk"
    expected = values[WHERE]
    for key in (slice(None), slice(995, 1005), [3500, 2, 999], 7):
        assert isinstance(array[key], type(expected[key]))
        assert np.array_equal(array[key], expected[key])
    assert np.array_equal(np.asarray(array), expected)
    assert np.array_equal(array * 2, expected * 2)
    assert np.max(array) == expected.max()
    if values.ndim == 2:
        assert np.array_equal(array[:, 7], expected[:, 7])
        assert np.array_equal(array[:, 1:3], expected[:, 1:3])
    with pytest.raises(TypeError):
        array[0] = 0
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("values", [pytest.param(X, marks=pytest.mark.slow), X[:, 0]])
def test_on_a_cluster_it_is_an_array_of_dask(values, cluster):
    import dask.array

    rows = Rows(PARTITION, OnDask(cluster, PARTITION))
    array = as_caller_sees(rows.spread(values), ORDER)
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
    array = as_caller_sees(Rows(PARTITION).spread(X), ORDER)
    assert isinstance(array, np.ndarray)
    assert np.array_equal(array, X[WHERE])
