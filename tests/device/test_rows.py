"""Matrices on a device: the same as SciPy's, on matrices of all sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

from vbdm.engines.cuda.csr import DeviceCsr
from vbdm.engines.numba_engine import NumbaEngine
from vbdm.engines.scipy_engine import ScipyEngine

from .emulated import needs_compiler

pytestmark = needs_compiler


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
            for other in (ScipyEngine(), NumbaEngine()):
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
        for other in (ScipyEngine(), NumbaEngine()):
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
