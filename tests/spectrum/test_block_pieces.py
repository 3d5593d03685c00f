"""Data in several pieces, and strays, with a kernel in blocks."""

import numpy as np
import pytest
from tests.support.blocks import in_blocks, rows_in

import vbdm
from vbdm.errors import InputError
from vbdm.kernel.block_matrix import BlockMatrix
from vbdm.rows.block_array import BlockArray
from vbdm.spectrum import limited
from vbdm.spectrum.pieces import matrix_of_members
from vbdm.spectrum.vectors import vectors_of

pytestmark = pytest.mark.blocks


@pytest.fixture(scope="module")
def operator():
    """Two clouds, and a few points that belong to neither."""
    rng = np.random.default_rng(5)
    near, far = rng.normal(size=(2200, 2)), rng.normal(size=(1600, 2)) + 60
    strays = np.array([[300.0, 0.0], [0.0, -400.0], [700.0, 700.0]])
    return vbdm.estimate_operator(np.concatenate([near, far, strays]), "generator")


@pytest.fixture(scope="module")
def expected(operator):
    return operator.spectrum(6, tol=1e-10)


def test_rows_and_columns_of_members(operator):
    matrix = BlockMatrix.cut(operator.alpha_kernel, rows_in(operator.graph.order.n_points, 7))
    members = np.flatnonzero(np.random.default_rng(0).uniform(size=matrix.n_points) < 0.3)
    members = members[(members < 600) | (members > 1700)]
    found = matrix_of_members(matrix.squared(), members)
    assert found.rows.n_blocks < 7
    whole = operator.alpha_kernel.squared().merged()[members][:, members]
    np.testing.assert_array_equal(found.merged().toarray(), whole.toarray())
    np.testing.assert_allclose(found.row_sums(), whole.sum(axis=1), rtol=1e-14)


@pytest.mark.parametrize(
    ("fetched", "blocks"), [(100_000, (3, "memory")), (1900, (16, "disk")), (0, (3, "memory"))]
)
def test_pieces_fetched_or_in_blocks(operator, expected, blocks, fetched, monkeypatch):
    monkeypatch.setattr(limited, "FETCHED", fetched)
    found = in_blocks(operator, *blocks).spectrum(6, tol=1e-10)
    assert isinstance(vectors_of(found), BlockArray)
    assert found.pieces.n_pieces == expected.pieces.n_pieces
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-9, atol=1e-12)
    functions = np.asarray(found.eigenfunctions)
    np.testing.assert_allclose(functions, expected.eigenfunctions, rtol=0, atol=1e-5)


def test_only_zeros(operator):
    found = in_blocks(operator, 5).spectrum(2)
    np.testing.assert_array_equal(found.eigenvalues, 0)
    functions = np.asarray(found.eigenfunctions)
    np.testing.assert_array_equal(functions, operator.spectrum(2).eigenfunctions)


@pytest.mark.parametrize("solver", ["dense", "shift-invert", "lanczos"])
def test_other_solvers_are_refused_in_words(solver):
    X = np.random.default_rng(0).normal(size=(1600, 2))
    with pytest.raises(InputError, match="rows in blocks") as refused:
        in_blocks(vbdm.estimate_operator(X), 3).spectrum(4, solver=solver)
    assert "solver='multilevel'" in str(refused.value)


def test_large_cells_are_refused_in_words():
    X = np.random.default_rng(0).normal(size=(1600, 2))
    solver = vbdm.solvers.Multilevel(cell_size=32)
    with pytest.raises(InputError, match="leaves of 16"):
        in_blocks(vbdm.estimate_operator(X), 3).spectrum(4, solver=solver)


def test_few_points_are_solved_densely():
    X = np.random.default_rng(0).normal(size=(700, 2))
    operator = vbdm.estimate_operator(X)
    found, expected = in_blocks(operator, 3).spectrum(5), operator.spectrum(5)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-11, atol=1e-14)
    assert found.log.solver == "Dense"
    assert isinstance(vectors_of(found), BlockArray)


def test_another_solver_takes_over_from_few_points():
    X = np.random.default_rng(0).normal(size=(1600, 2))
    operator = vbdm.estimate_operator(X, "generator")
    solver = vbdm.solvers.Auto(large=vbdm.solvers.Multilevel(max_iterations=1))
    with pytest.warns(vbdm.errors.SolverWarning, match="ShiftInvert took over"):
        found = in_blocks(operator, 4).spectrum(5, solver=solver, tol=1e-8)
    expected = operator.spectrum(5, tol=1e-8)
    np.testing.assert_allclose(found.eigenvalues, expected.eigenvalues, rtol=1e-6, atol=1e-12)
