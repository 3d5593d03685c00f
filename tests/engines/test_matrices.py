"""What engines do with sparse matrices, against dense algebra."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import vbdm
from vbdm.engines.numba_engine import NumbaEngine
from vbdm.engines.scipy_engine import ScipyEngine
from vbdm.kernel.within_reach import sums_of
from vbdm.operator.normalise import with_epsilon
from vbdm.spectrum.passes import solve_modes
from vbdm.spectrum.solve import compute_spectrum
from vbdm.spectrum.vectors import vectors_of

N = 700
RNG = np.random.default_rng(0)


@pytest.fixture(params=["scipy", "numba"])
def engine(request):
    if request.param == "numba":
        pytest.importorskip("numba")
        return NumbaEngine()
    return ScipyEngine()


@pytest.fixture(scope="module", params=[np.float32, np.float64])
def matrix(request):
    half = random_array((N, N), density=0.02, rng=1, format="csr")
    whole = csr_array(half + half.T)
    return csr_array(
        (whole.data.astype(request.param), whole.indices.astype(np.int32), whole.indptr), (N, N)
    )


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("m", [1, 3, 12])
@pytest.mark.parametrize("power", [1, 2, 4])
def test_products_with_factors_and_powers(engine, matrix, m, power):
    block, left, right = RNG.standard_normal((N, m)), RNG.random(N), RNG.random(N)
    dense = matrix.toarray().astype(np.float64) ** power
    close(engine.multiply(matrix, block, power=power), dense @ block)
    scaled = left[:, None] * dense * right
    close(engine.multiply(matrix, block, left, right, power), scaled @ block)
    out = np.full((N, m), np.nan)
    diagonal = RNG.random(N)
    found = engine.multiply(matrix, block, left, right, power, diagonal, out)
    assert found is out
    close(out, diagonal[:, None] * block - scaled @ block)


def test_a_jacobi_step(engine, matrix):
    block, added, divisor = RNG.random((N, 5)), RNG.random((N, 5)), 1 + RNG.random(N)
    expected = (matrix.toarray().astype(np.float64) @ block + added) / divisor[:, None]
    close(engine.jacobi(matrix, block, added, divisor), expected)


def test_sums_over_cells(engine, matrix):
    labels, factor = RNG.integers(0, 60, N).astype(np.int32), RNG.random(N)
    labels[:60] = np.arange(60)
    found = engine.sums_over_cells(matrix, factor, labels)
    cells = (labels[:, None] == np.arange(60)).astype(np.float64)
    expected = (factor[:, None] * matrix.toarray() * factor) @ cells
    # Sums over cells make a preconditioner: single precision is enough for them.
    np.testing.assert_allclose(found.toarray(), expected, rtol=1e-6, atol=1e-7)


def test_connected_pieces_and_parts_of_cells():
    pytest.importorskip("numba")
    sparse = random_array((N, N), density=0.0015, rng=2, format="csr")
    graph = csr_array(sparse + sparse.T)
    labels = (np.arange(N) // 9).astype(np.int32)
    apart, root = np.zeros(N, dtype=bool), np.ones(N)
    apart[::50] = True
    pieces, parts = [], []
    for engine in (ScipyEngine(), NumbaEngine()):
        pieces.append(engine.pieces(graph, root, 0.1, 2))
        parts.append(engine.parts_of_cells([graph], labels, root, apart, 0.2))
    np.testing.assert_array_equal(*pieces)
    np.testing.assert_array_equal(*parts)
    assert 1 < len(np.unique(pieces[0])) < N
    assert len(labels) / 9 < parts[0].max() + 1 <= N


def test_row_sums_with_the_evaluation_are_those_of_the_matrix():
    op = vbdm.estimate_operator(vbdm.datasets.sphere(500, random_state=0).points)
    kernel = op.kernel
    for known, again in zip(kernel.known_sums, sums_of(kernel.weights.listed), strict=True):
        np.testing.assert_array_equal(known, again)
    close(kernel.row_sums, kernel.weights.row_sums())
    close(kernel.known_sums[1], kernel.weights.row_sums(power=2))


@pytest.mark.slow
def test_a_solve_may_start_from_the_result_at_another_epsilon():
    points = vbdm.datasets.ou(3000, dim=2, random_state=0).points
    op = vbdm.estimate_operator(points, "generator")
    other = with_epsilon(op, 0.5 * op.epsilon)
    first = op.spectrum(10)
    cold = compute_spectrum(other, 8, tol=1e-7)
    warm = compute_spectrum(other, 8, tol=1e-7, start=first)
    np.testing.assert_allclose(warm.eigenvalues, cold.eigenvalues, rtol=1e-6, atol=1e-9)
    assert warm.log.iterations <= cold.log.iterations


def test_the_vectors_of_another_result_are_where_a_solve_starts(monkeypatch, cloud):
    seen = []

    def noted(*task):
        seen.append(task[-1])
        return solve_modes(*task)

    monkeypatch.setattr("vbdm.spectrum.solve.solve_modes", noted)
    op = vbdm.estimate_operator(cloud, "generator")
    left = vbdm.estimate_operator(cloud, "laplacian", method=vbdm.Paper(form="left")).spectrum(3)
    first = op.spectrum(3)
    for start in (first, left):
        compute_spectrum(with_epsilon(op, 1.1 * op.epsilon), 3, start=start)
    assert seen[0] is None
    assert seen[1] is vectors_of(first)
    assert seen[2] is None  # of a form that is not symmetric
