"""Matrices on a device: the same as SciPy's, on matrices of all sorts."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from vbdm.engines.cuda import csr
from vbdm.engines.cuda.csr import DeviceCsr
from vbdm.engines.numba_engine import NumbaEngine
from vbdm.engines.scipy_engine import ScipyEngine

from .emulated import needs_device

pytestmark = needs_device


@pytest.fixture(autouse=True, params=[1, 32])
def lanes(request: Any, device: Any, monkeypatch: Any) -> None:
    """Emulate threads that are alone in their warps, and warps as they are on a GPU."""
    if not hasattr(device, "lanes") and request.param == 1:
        pytest.skip("a GPU has its own warps")
    monkeypatch.setattr(device, "lanes", request.param, raising=False)


def sparse(rows: int, columns: int, density: float, seed: int = 0) -> Any:
    """Return a random matrix; its first and last rows are empty, the second is full."""
    rng = np.random.default_rng(seed)
    matrix = random_array((rows, columns), density=density, rng=rng, format="lil")
    matrix[[0, rows - 1]] = 0
    matrix[1] = rng.normal(size=(1, columns))
    return narrow(csr_array(matrix))


def narrow(matrix: Any) -> Any:
    arrays = matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32)
    return csr_array(arrays, shape=matrix.shape)


def on(device: Any, matrix: Any, pointer: Any = np.int64) -> DeviceCsr:
    """Return a matrix of SciPy on the device."""
    arrays = matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(pointer)
    return DeviceCsr(*map(device.array, arrays), matrix.shape)


def others() -> list[Any]:
    """Return the engines of this machine's processor."""
    return [ScipyEngine(), *([NumbaEngine()] if find_spec("numba") else [])]


MATRICES = {
    "square": lambda: sparse(70, 70, 0.1),
    "wide": lambda: sparse(40, 400, 0.3),
    "tall": lambda: sparse(300, 9, 0.2),
    "nearly empty": lambda: narrow(csr_array(([2.0], ([30], [3])), shape=(60, 50))),
    "empty": lambda: narrow(csr_array((5, 6))),
}


@pytest.fixture(params=MATRICES)
def matrix(request: Any) -> Any:
    return MATRICES[request.param]()


@pytest.mark.parametrize("m", [1, 2, 7, 12, 26, 150])
@pytest.mark.parametrize("values", [np.float32, np.float64])
def test_products(engine: Any, matrix: Any, m: int, values: Any) -> None:
    rng = np.random.default_rng(m)
    matrix = matrix.astype(values)
    n, width = matrix.shape
    block, left, right = rng.normal(size=(width, m)), rng.random(n), rng.random(width)
    pointer = np.int32 if m % 2 else np.int64
    stored, x = on(engine.device, matrix, pointer), engine.device.array(block)
    exact = ScipyEngine().multiply(matrix.astype(np.float64), block)
    np.testing.assert_allclose(engine.multiply(stored, x).get(), exact, rtol=1e-13, atol=1e-13)
    f, g = map(engine.device.array, (left, right))
    got = engine.multiply(stored, x, f, g, 2).get()
    exact = ScipyEngine().multiply(matrix.astype(np.float64), block, left, right, 2)
    np.testing.assert_allclose(got, exact, rtol=1e-13, atol=1e-13)
    assert np.array_equal(got, engine.multiply(stored, x, f, g, 2).get())


def test_products_subtracted_from_a_diagonal(engine: Any) -> None:
    rng = np.random.default_rng(1)
    matrix, device = sparse(70, 70, 0.1), engine.device
    block, diagonal, out = rng.normal(size=(70, 5)), rng.random(70), device.empty((70, 5))
    got = engine.multiply(
        on(device, matrix), device.array(block), diagonal=device.array(diagonal), out=out
    )
    assert got is out
    exact = diagonal[:, None] * block - matrix @ block
    np.testing.assert_allclose(got.get(), exact, rtol=1e-13, atol=1e-13)


def test_products_are_written_to_some_columns_of_an_array(engine: Any) -> None:
    matrix, device = sparse(70, 70, 0.1), engine.device
    block = np.random.default_rng(1).normal(size=(70, 5))
    out = device.array(np.zeros((70, 8)))
    engine.multiply(on(device, matrix), device.array(block), out=out[:, 2:7])
    assert not out.get()[:, [0, 1, 7]].any()
    np.testing.assert_allclose(out.get()[:, 2:7], matrix @ block, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("m", [1, 12])
def test_jacobi(engine: Any, matrix: Any, m: int) -> None:
    rng = np.random.default_rng(m)
    n, width = matrix.shape
    given = rng.normal(size=(width, m)), rng.normal(size=(n, m)), 1 + rng.random(n)
    got = engine.jacobi(on(engine.device, matrix), *map(engine.device.array, given))
    exact = ScipyEngine().jacobi(matrix, *given)
    np.testing.assert_allclose(got.get(), exact, rtol=1e-13, atol=1e-13)


def test_points_are_placed_on_the_device(engine: Any) -> None:
    points = np.asfortranarray(np.arange(6, dtype=np.float32).reshape(3, 2))
    placed = engine.placed(points)
    assert placed.dtype == np.float64
    assert placed.flags.c_contiguous
    assert engine.placed(placed).get().tolist() == points.tolist()
    assert placed.get().tolist() == points.tolist()


def same(found: DeviceCsr, exact: Any, rtol: float = 1e-13) -> None:
    """Check a matrix against one of SciPy: entries, and columns that ascend."""
    got = found.get()
    assert got.shape == exact.shape
    assert got.has_canonical_format
    assert (found.indptr.dtype, found.indices.dtype) == (np.int64, np.int32)
    np.testing.assert_allclose(got.toarray(), exact.toarray(), rtol=rtol, atol=rtol)


@pytest.mark.parametrize("values", [np.float32, np.float64])
def test_entries(device: Any, matrix: Any, values: Any) -> None:
    matrix = matrix.astype(values)
    stored, (n, width) = on(device, matrix), matrix.shape
    assert (stored.nnz, stored.dtype, stored.shape) == (matrix.nnz, values, matrix.shape)
    same(stored, matrix)
    same(-stored, -matrix)
    same(abs(stored), abs(matrix))
    same(stored.power(2), matrix.power(2))
    same(stored.T, csr_array(matrix.T))
    same(stored.astype(np.float64), matrix)
    np.testing.assert_array_equal(stored.toarray().get(), matrix.toarray())
    np.testing.assert_array_equal(stored.diagonal().get(), matrix.diagonal())
    wide = matrix.astype(np.float64)
    np.testing.assert_allclose(stored.sum(axis=1).get(), wide.sum(axis=1), rtol=1e-13, atol=1e-13)
    f, g = np.arange(1.0, n + 1), 1 / np.arange(1.0, width + 1)
    exact = csr_array(f[:, None] * wide.toarray() * g)
    same(stored.scaled(device.array(f), device.array(g)), exact)
    same(stored.scaled(right=device.array(g)), csr_array(wide.toarray() * g))
    nothing = stored.with_data(0 * stored.data)
    nothing.eliminate_zeros()
    assert nothing.nnz == 0
    same(stored, matrix)


def test_zeros_are_dropped(device: Any) -> None:
    matrix = sparse(70, 70, 0.1)
    matrix.data[::3] = 0.0
    stored = on(device, matrix)
    stored.eliminate_zeros()
    matrix.eliminate_zeros()
    assert np.array_equal(stored.indices.get(), matrix.indices)
    same(stored, matrix)


def test_differences(device: Any, matrix: Any) -> None:
    other = narrow(csr_array(sparse(matrix.shape[0], matrix.shape[1], 0.2, 7)).astype(np.float32))
    stored, more = on(device, matrix), on(device, other)
    same(stored - more, matrix - other)
    same(more - stored, other - matrix)


@pytest.mark.parametrize(("workers", "fast"), [(8192, 12288), (7, 1000), (3, 0)])
@pytest.mark.parametrize("density", [0.001, 0.2])
def test_products_of_matrices(
    device: Any, matrix: Any, density: float, workers: int, fast: int, monkeypatch: Any
) -> None:
    monkeypatch.setattr(csr, "WORKERS", workers)
    monkeypatch.setattr(csr, "FAST_TABLE", fast)
    other = sparse(matrix.shape[1], 30, density)
    exact = csr_array(matrix @ other)
    same(on(device, matrix) @ on(device, other), exact)
    same(on(device, csr_array(other.T)) @ on(device, csr_array(matrix.T)), csr_array(exact.T))
    f = np.random.default_rng(0).normal(size=(matrix.shape[1], 3))
    found = on(device, matrix) @ device.array(f[:, 0])
    np.testing.assert_allclose(found.get(), matrix @ f[:, 0], rtol=1e-13, atol=1e-13)
    found = on(device, matrix) @ device.array(np.asfortranarray(f))
    np.testing.assert_allclose(found.get(), matrix @ f, rtol=1e-13, atol=1e-13)


def test_tables_of_products_shrink_with_the_free_memory(device: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(csr, "FAST_TABLE", 0)
    made: list[int] = []
    a, b = (sparse(60, 60, 0.3, seed) for seed in (1, 2))
    left, right = on(device, a), on(device, b)
    # That of the arrays: tests before this one may have opened the same device once more.
    there = left.device
    empty = there.empty

    def noted(shape: Any, dtype: Any = np.float64) -> Any:
        made.append(int(np.prod(shape)) * np.dtype(dtype).itemsize)
        return empty(shape, dtype)

    for free in (1 << 16, 0):
        monkeypatch.setattr(there, "free_bytes", lambda free=free: free)
        monkeypatch.setattr(there, "empty", noted)
        same(left @ right, csr_array(a @ b))
    assert max(made) <= 1 << 15


def test_rows_and_columns(device: Any, matrix: Any) -> None:
    stored, (n, width) = on(device, matrix), matrix.shape
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(n)[: n // 2], rng.permutation(width)[: width // 2]
    same(stored[rows], matrix[rows])
    same(stored[device.array(rows)], matrix[rows])
    same(stored[np.array([1, 1, -1])], matrix[[1, 1, -1]])
    same(stored[:, columns], csr_array(matrix.toarray()[:, columns]))
    same(stored[rows, :], matrix[rows])
    same(stored[np.ix_(rows, columns)], csr_array(matrix.toarray()[np.ix_(rows, columns)]))
    both = map(device.array, (rows, columns))
    same(stored[np.ix_(*both)], csr_array(matrix.toarray()[np.ix_(rows, columns)]))
    same(stored[rows][:, columns], csr_array(matrix.toarray()[rows][:, columns]))
    for part in (slice(1, 3), slice(3), slice(2, None), slice(4, 2), slice(None, None, 2)):
        same(stored[part], matrix[part])
    wanted = rng.random(n) < 0.5
    same(stored[device.array(wanted)], matrix[wanted])


def linked(n: int, n_links: int, seed: int) -> Any:
    """Return symmetric weights on points on a line, in several pieces, with a diagonal."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n, n_links)
    second = np.clip(first + rng.integers(-4, 5, n_links), 0, n - 1)
    same = first * 7 // n == second * 7 // n
    first, second, value = first[same], second[same], rng.random(same.sum())
    matrix = csr_array((value, (first, second)), shape=(n, n))
    return narrow(csr_array(matrix + matrix.T + csr_array(np.eye(n))))


@pytest.mark.parametrize("n_links", [0, 300, 3000])
@pytest.mark.parametrize("values", [np.float32, np.float64])
def test_pieces_are_those_of_the_other_engines(engine: Any, n_links: int, values: Any) -> None:
    matrix = linked(500, n_links, n_links).astype(values)
    stored = on(engine.device, matrix)
    scale = 0.5 + np.random.default_rng(0).random(500)
    for least in (0.0, 0.3, 2.0):
        for few in (2, 4, 500):
            given = scale, least, few
            found = engine.pieces(stored, engine.device.array(scale), least, few).get()
            for other in others():
                assert np.array_equal(found, other.pieces(matrix, *given))


@pytest.mark.parametrize("values", [np.float32, np.float64])
def test_parts_of_cells_are_those_of_the_other_engines(engine: Any, values: Any) -> None:
    matrix, put = linked(500, 3000, 3).astype(values), engine.device.array
    rng = np.random.default_rng(1)
    labels, root = np.repeat(np.arange(63, dtype=np.int32), 8)[:500], 0.5 + rng.random(500)
    apart = rng.random(500) < 0.1
    links = [narrow(csr_array(-matrix)), narrow(csr_array(matrix.T * 0.1).astype(values))]
    stored = [on(engine.device, part) for part in links]
    for least in (0.0, 0.2, 1.0, 9.0):
        found = engine.parts_of_cells(stored, put(labels), put(root), put(apart), least)
        assert found.dtype == np.int32
        for other in others():
            expected = other.parts_of_cells(links, labels, root, apart, least)
            assert np.array_equal(found.get(), expected)


@pytest.mark.parametrize("cells", ["in order", "split", "anywhere"])
@pytest.mark.parametrize("sorted_columns", [True, False])
def test_sums_over_cells(engine: Any, cells: str, sorted_columns: bool) -> None:
    rng, n = np.random.default_rng(2), 500
    matrix, factor = linked(n, 5000, 5), 0.5 + rng.random(n)
    labels = np.repeat(np.arange(63, dtype=np.int32), 8)[:n]
    if cells == "split":
        labels = np.unique(2 * labels + (rng.random(n) < 0.5), return_inverse=True)[1]
    if cells == "anywhere":
        labels = rng.integers(0, 40, n)
    labels = labels.reshape(-1).astype(np.int32)
    if not sorted_columns:
        for row in range(n):
            part = slice(matrix.indptr[row], matrix.indptr[row + 1])
            mixed = rng.permutation(part.stop - part.start)
            matrix.data[part], matrix.indices[part] = (
                matrix.data[part][mixed],
                matrix.indices[part][mixed],
            )
    put = engine.device.array
    for values in (np.float32, np.float64):
        given = matrix.astype(values)
        found = engine.sums_over_cells(on(engine.device, given), put(factor), put(labels)).get()
        exact = ScipyEngine().sums_over_cells(given, factor, labels)
        assert found.dtype == np.float32
        assert found.has_canonical_format
        assert found.nnz == exact.nnz
        np.testing.assert_allclose(found.toarray(), exact.toarray(), rtol=1e-6)
