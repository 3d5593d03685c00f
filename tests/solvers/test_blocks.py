"""The multilevel solver on a kernel in blocks: the same cells, the same eigenvalues."""

import numpy as np
import pytest
from tests.support.blocks import in_blocks

import vbdm
from vbdm.rows.block_array import BlockArray
from vbdm.solvers import Multilevel
from vbdm.solvers.multilevel import start
from vbdm.spectrum.pieces import connected_pieces
from vbdm.spectrum.solve import pencil_of

pytestmark = pytest.mark.blocks

BLOCKS = [(1, "memory"), (3, "memory"), (16, "disk")]


@pytest.fixture(scope="module", params=["scipy", "numba"])
def operator(request):
    if request.param == "numba":
        pytest.importorskip("numba")
    X = np.random.default_rng(1).normal(size=(2500, 2))
    return vbdm.estimate_operator(X, "generator", run=vbdm.Run(engine=request.param))


@pytest.fixture(scope="module")
def expected(operator):
    return Multilevel().solve(pencil_of(operator), 8, 1e-10)


@pytest.mark.parametrize("blocks", BLOCKS)
def test_the_same_pairs(operator, expected, blocks):
    pencil = pencil_of(in_blocks(operator, *blocks))
    found = Multilevel().solve(pencil, 8, 1e-10)
    assert found.iterations == expected.iterations
    assert isinstance(found.vectors, BlockArray)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-12, atol=1e-13)
    overlap = expected.vectors.T @ (pencil.mass[:, None] * np.asarray(found.vectors))
    np.testing.assert_allclose(np.abs(overlap), np.eye(8), atol=1e-6)


def test_vectors_on_many_cells_in_blocks(operator, expected, monkeypatch):
    """The start that comes from the cells is the same, wherever its vectors live."""
    starts = []

    def noted(*args):
        starts.append(start.coarse_pairs(*args))
        return starts[-1]

    monkeypatch.setattr("vbdm.solvers.multilevel.solver.coarse_pairs", noted)
    monkeypatch.setattr(start, "MANY_CELLS", 100)
    monkeypatch.setattr(start, "COLUMNS_AT_ONCE", 3)
    solver = Multilevel(coarsest=100)
    solver.solve(pencil_of(operator), 8, 1e-10)
    found = solver.solve(pencil_of(in_blocks(operator, 3)), 8, 1e-10)
    np.testing.assert_allclose(found.values, expected.values, rtol=1e-9, atol=1e-12)
    (values, vectors), (others, cut) = starts
    np.testing.assert_allclose(others, values, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.abs(cut), np.abs(vectors), atol=1e-6 * np.abs(vectors).max())


def test_from_the_solution_for_another_mass(operator):
    pencil = pencil_of(operator)
    cut = pencil_of(in_blocks(operator, 5))
    values = []
    for problem in (pencil, cut):
        prepared = Multilevel().prepare(problem, 10)
        first = prepared.solve(problem.mass, 6, 1e-2, extra=3)
        second = prepared.solve(problem.mass * (1 + pencil.mass), 6, 1e-9, first)
        values.append(second.values)
    np.testing.assert_allclose(values[1], values[0], rtol=1e-12, atol=1e-13)


def test_from_near_vectors(operator, expected):
    pencil = pencil_of(in_blocks(operator, 5))
    start = vbdm.solvers.EigenPairs(expected.values, expected.vectors, "start")
    found = Multilevel().prepare(pencil, 6).solve(pencil.mass, 6, 1e-8, start)
    np.testing.assert_allclose(found.values, expected.values[:6], rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("engine", ["scipy", "numba"])
def test_connected_pieces_across_blocks(blocks, engine):
    """A ring runs through all blocks; lone points and a second cloud are pieces of their own."""
    rng = np.random.default_rng(2)
    angle = rng.uniform(0, 2 * np.pi, 1500)
    ring = 4 * np.stack([np.cos(angle), np.sin(angle)], 1) + 0.1 * rng.normal(size=(1500, 2))
    X = np.concatenate([ring, 0.3 * rng.normal(size=(600, 2)), [[40.0, 0.0], [0.0, 60.0]]])
    operator = vbdm.estimate_operator(X, run=vbdm.Run(engine=engine))
    expected = connected_pieces(pencil_of(operator))
    assert expected.max() >= 1
    found = connected_pieces(pencil_of(in_blocks(operator, *blocks)))
    np.testing.assert_array_equal(found, expected)


def test_many_columns_have_cells_of_the_tree():
    """In memory the cells come from the graph: equal eigenvalues, up to the tolerance."""
    t = np.random.default_rng(0).uniform(0, 2 * np.pi, 2000)
    X = np.stack([f(k * t) / k for k in range(1, 13) for f in (np.cos, np.sin)], 1)
    operator = vbdm.estimate_operator(X)
    found, expected = in_blocks(operator, 4).spectrum(5, tol=1e-9), operator.spectrum(5, tol=1e-9)
    np.testing.assert_allclose(found.eigenvalues[1:], expected.eigenvalues[1:], rtol=1e-8)


@pytest.mark.slow
def test_vectors_on_very_many_cells_live_in_blocks(monkeypatch):
    points = np.random.default_rng(3).standard_normal((6000, 2))
    op = vbdm.estimate_operator(
        points, "generator", run=vbdm.Run(placement=vbdm.placement.Disk(blocks=3))
    )
    expected = op.spectrum(6, tol=1e-10)
    monkeypatch.setattr(start, "MANY_CELLS", 100)
    found = op.spectrum(6, tol=1e-10)
    assert np.abs(found.eigenvalues - expected.eigenvalues).max() < 1e-9
