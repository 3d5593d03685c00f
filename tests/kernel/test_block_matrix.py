"""A matrix in blocks gives what the same matrix in memory gives, to the last bit."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from tests.support.blocks import rows_in

from vbdm.engines.numba_engine import NumbaEngine
from vbdm.engines.scipy_engine import ScipyEngine
from vbdm.kernel.block_matrix import BlockMatrix
from vbdm.kernel.pair_matrix import PairMatrix
from vbdm.rows.block_array import BlockArray

pytestmark = pytest.mark.blocks

N = 1500
RNG = np.random.default_rng(0)


@pytest.fixture(params=["scipy", "numba"])
def engine(request):
    if request.param == "numba":
        pytest.importorskip("numba")
        return NumbaEngine()
    return ScipyEngine()


@pytest.fixture(params=[(1, "memory"), (3, "memory"), (16, "disk")])
def rows(request):
    return rows_in(N, *request.param)


@pytest.fixture
def whole(engine):
    """Symmetric, of 32 bits, most of it near the diagonal as in tree order; a few empty rows."""
    half = random_array((N, N), density=0.02, rng=1, format="coo")
    near = (np.abs(half.row - half.col) < 300) | (RNG.uniform(size=half.nnz) < 0.01)
    near &= (half.row % 500 != 7) & (half.col % 500 != 7)
    kept = csr_array((half.data[near], (half.row[near], half.col[near])), shape=(N, N))
    full = csr_array(kept + kept.T)
    listed = csr_array(
        (full.data.astype(np.float32), full.indices.astype(np.int32), full.indptr), full.shape
    )
    return PairMatrix(listed, engine=engine)


@pytest.fixture(params=["plain", "scaled", "squared"])
def pair(request, whole, rows):
    """The matrix in memory and in blocks."""
    cut, factor = BlockMatrix.cut(whole, rows), RNG.uniform(0.5, 2, N)
    if request.param == "plain":
        return whole, cut
    if request.param == "scaled":
        return whole.scaled(factor, factor), cut.scaled(factor, factor)
    return whole.squared().scaled(factor, 2 * factor), cut.squared().scaled(factor, 2 * factor)


@pytest.mark.parametrize("shape", [(N,), (N, 6)])
@pytest.mark.parametrize("power", [1, 2])
def test_products_of_both_kinds(pair, rows, shape, power):
    expected, found = pair
    f = RNG.normal(size=shape)
    product = expected.product(f, power)
    np.testing.assert_array_equal(found.product(f, power), product)
    in_blocks = found.product(rows.spread(f), power)
    assert isinstance(in_blocks, BlockArray)
    assert in_blocks.shape == shape
    np.testing.assert_array_equal(np.asarray(in_blocks), product)


def test_a_product_subtracted_from_a_diagonal(pair, rows):
    expected, found = pair
    f, diagonal, out = RNG.normal(size=(N, 5)), RNG.uniform(1, 2, N), np.empty((N, 5))
    difference = expected.subtracted_from(diagonal, f)
    assert found.subtracted_from(diagonal, f, out) is out
    np.testing.assert_array_equal(out, difference)
    spread = rows.spread(diagonal), rows.spread(f)
    np.testing.assert_array_equal(np.asarray(found.subtracted_from(*spread)), difference)


def test_figures_of_rows(pair):
    expected, found = pair
    np.testing.assert_array_equal(found.merged().toarray(), expected.merged().toarray())
    assert (found.n_points, found.nnz, found.dtype) == (N, expected.nnz, expected.dtype)
    np.testing.assert_array_equal(found.row_sums(), expected.row_sums())
    np.testing.assert_array_equal(found.pairs_per_row(), expected.pairs_per_row())
    np.testing.assert_array_equal(found.diagonal(), expected.diagonal())
    np.testing.assert_array_equal(found.factor, expected.factor)


@pytest.mark.parametrize("wanted", [[], [7], [1499, 0, 700, 3, 3], list(range(0, N, 7))])
def test_some_rows_in_any_order(pair, wanted):
    expected, found = pair
    wanted = np.array(wanted, dtype=np.intp)
    one, other = found.rows_at(wanted), expected.rows_at(wanted)
    assert one.shape == other.shape
    np.testing.assert_array_equal(one.toarray(), other.toarray())
