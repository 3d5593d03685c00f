"""The multilevel solver against factorising ones, on smooth, degenerate and nasty clouds."""

from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

import vbdm
from vbdm import datasets
from vbdm.engines.scipy_engine import ScipyEngine
from vbdm.errors import SolverError
from vbdm.graph.point_set import tree_order
from vbdm.solvers import Dense, Multilevel, Pencil, ShiftInvert
from vbdm.solvers.multilevel.cells import graph_cells, tree_cells
from vbdm.solvers.multilevel.finest import parts_of
from vbdm.solvers.multilevel.lobpcg import SAFETY, Outlook

N = 2000
MOST = 60


def far_outliers():
    points = datasets.ou(N, dim=2, random_state=0).points.copy()
    points[:5] *= 20
    points[5:8] *= 300
    return points


def far_group():
    # Twelve points a long way off: a mode of their own with θ = 1e-10 of the others.
    points = datasets.ou(N, dim=2, random_state=1).points.copy()
    points[:12] = [8, 0] + 0.05 * np.random.default_rng(5).standard_normal((12, 2))
    return points


def cluster_case(separation):
    return lambda: datasets.clusters(N, separation=separation, random_state=0).points


# Name: points, operator, dimension, neighbours.
CASES = {
    "ou in R2": (lambda: datasets.ou(N, dim=2, random_state=0).points, "generator", 2, 104),
    "ou in R3": (lambda: datasets.ou(N, dim=3, random_state=0).points, "generator", 3, 204),
    "S2": (lambda: datasets.sphere(N, dim=2, random_state=0).points, "laplacian", 2, 104),
    "S3": (lambda: datasets.sphere(N, dim=3, random_state=0).points, "laplacian", 3, 204),
    "curve": (lambda: datasets.closed_curve(N, random_state=0).points, "laplacian", 1, 46),
    "clusters 4": (cluster_case(4.0), "generator", 2, 104),
    "clusters 6": (cluster_case(6.0), "generator", 2, 104),
    "clusters 8": (cluster_case(8.0), "generator", 2, 104),
    "lattice": (lambda: np.argwhere(np.ones((45, 45))) / 45.0, "laplacian", 2, 104),
    "rounded": (
        lambda: datasets.ou(N, dim=2, random_state=0).points.round(2),
        "generator",
        2,
        104,
    ),
    "outliers": (far_outliers, "generator", 2, 104),
    "far group": (far_group, "generator", 2, 104),
}


@cache
def pencil_of(name):
    """The pencil as `vbdm.spectrum` makes it, with ε such that K sums up to 15 in the median."""
    make, operator, dim, k = CASES[name]
    graph = vbdm.neighbors(make(), k)
    low, high = 1e-6, 1e6
    for _ in range(20):
        epsilon = np.sqrt(low * high)
        op = vbdm.estimate_operator(graph, operator, dim=dim, epsilon=epsilon, method="paper")
        low, high = (epsilon, high) if np.median(op.kernel.row_sums) < 15 else (low, epsilon)
    return Pencil(
        op.alpha_kernel,
        op.inside.degrees,
        op.inside.degrees * op.inside.steps,
        graph.point_set.coordinates,
    )


@cache
def reference(name):
    return Dense().solve(pencil_of(name), MOST, 0.0)


def error(pairs, exact, pencil):
    """Largest error against max(θ, 1e-6 θ_n), beyond the rounding of the dense reference."""
    n = len(pairs.values)
    gap = np.abs(pairs.values - exact.values[:n])
    noise = 10 * np.finfo(float).eps * (pencil.degrees / pencil.mass).max()
    scale = np.maximum(exact.values[:n], 1e-6 * exact.values[n - 1])
    return (np.maximum(gap - noise, 0) / scale)[1:].max()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("n", [2, 10, pytest.param(20, marks=pytest.mark.slow), MOST])
def test_eigenvalues_match_the_dense_solver(name, n):
    pencil = pencil_of(name)
    prepared = Multilevel().prepare(pencil, n)
    exact = reference(name)
    assert error(prepared.solve(pencil.mass, n, 1e-4), exact, pencil) <= 1e-4
    # The estimate carries a factor of safety, and near 1e-8 it is still right within 10.
    assert error(prepared.solve(pencil.mass, n, 1e-8), exact, pencil) <= 1e-7


@pytest.mark.parametrize("name", ["ou in R2", "S3", "clusters 8", "outliers"])
def test_vectors_are_orthonormal_and_span_the_right_space(name):
    pencil, exact = pencil_of(name), reference(name)
    pairs = Multilevel().solve(pencil, 20, 1e-8)
    assert pairs.values[0] == 0
    assert (np.diff(pairs.values) >= 0).all()
    assert np.ptp(pairs.vectors[:, 0]) == 0
    weighted = pencil.mass[:, None] * pairs.vectors
    np.testing.assert_allclose(pairs.vectors.T @ weighted, np.eye(20), atol=1e-10)
    # Up to the last gap of at least 2 %, the spaces agree; errors of vectors go like √tol.
    last = np.flatnonzero(exact.values[1:20] > 1.02 * exact.values[:19])[-1] + 1
    overlap = np.linalg.svd(exact.vectors[:, :last].T @ weighted[:, :last], compute_uv=False)
    assert overlap.min() > 1 - 1e-4


@pytest.mark.parametrize("name", ["ou in R2", "S3", "curve", "lattice", "outliers"])
def test_a_graph_without_points_works_too(name):
    pencil = pencil_of(name)
    bare = Pencil(pencil.weights, pencil.degrees, pencil.mass)
    for tol in (1e-4, 1e-8):
        assert error(Multilevel().solve(bare, 10, tol), reference(name), pencil) <= max(tol, 1e-7)


def test_any_sparse_matrix_in_any_order_works():
    pencil, exact = pencil_of("ou in R2"), reference("ou in R2")
    shuffle = np.random.default_rng(0).permutation(pencil.n_points)
    weights = pencil.weights.merged()[shuffle][:, shuffle].tocoo()
    shuffled = Pencil(
        weights, pencil.degrees[shuffle], pencil.mass[shuffle], pencil.points[shuffle]
    )
    assert error(Multilevel().solve(shuffled, 10, 1e-8), exact, pencil) <= 1e-7


def test_a_graph_with_a_hub_is_coarsened():
    weights = pencil_of("S2").weights.merged().tolil()
    weights[0, :] = 0.05
    weights[:, 0] = 0.05
    weights = csr_array(weights)
    degrees = np.asarray(weights.sum(axis=1))
    pencil = Pencil(weights, degrees, degrees)
    exact = Dense().solve(pencil, 10, 0.0)
    assert error(Multilevel().solve(pencil, 10, 1e-4), exact, pencil) <= 1e-4


def test_larger_curve_against_shift_invert():
    points = datasets.closed_curve(8000, random_state=1).points
    op = vbdm.estimate_operator(points, "laplacian", dim=1, method=vbdm.Paper(n_neighbors=46))
    pencil = Pencil(
        op.alpha_kernel,
        op.inside.degrees,
        op.inside.degrees * op.inside.steps,
        op.graph.point_set.coordinates,
    )
    exact = ShiftInvert().solve(pencil, 12, 1e-10)
    pairs = Multilevel().solve(pencil, 12, 1e-4)
    assert error(pairs, exact, pencil) <= 1e-4
    assert pairs.iterations <= 8
    assert pairs.products == 2 + 2 * pairs.iterations


def test_tight_tolerances_are_reached_and_reported():
    pencil = pencil_of("S2")
    pairs = Multilevel().solve(pencil, 10, 1e-10)
    assert pairs.converged
    assert pairs.error_estimate <= 1e-10
    assert error(pairs, reference("S2"), pencil) <= 1e-10


def test_another_mass_and_a_warm_start_reuse_the_preparation():
    pencil = pencil_of("ou in R2")
    other = pencil.degrees * np.minimum(pencil.mass / pencil.degrees, 0.05)
    prepared = Multilevel().prepare(pencil)
    first = prepared.solve(pencil.mass, 10, 1e-4)
    changed = Pencil(pencil.weights, pencil.degrees, other)
    exact = Dense().solve(changed, 10, 0.0)
    cold = prepared.solve(other, 10, 1e-6)
    warm = prepared.solve(other, 10, 1e-6, start=first)
    again = prepared.solve(other, 10, 1e-6, start=warm)
    assert max(error(pairs, exact, changed) for pairs in (cold, warm, again)) <= 1e-6
    assert again.iterations < cold.iterations


def test_same_input_same_output_and_nothing_is_changed():
    pencil = pencil_of("S2")
    before = [pencil.weights.listed.data.copy(), pencil.degrees.copy(), pencil.mass.copy()]
    first, second = (Multilevel().solve(pencil, 10, 1e-4) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, second.vectors)
    after = [pencil.weights.listed.data, pencil.degrees, pencil.mass]
    for old, new in zip(before, after, strict=True):
        np.testing.assert_array_equal(old, new)


def test_failure_is_said_with_numbers_and_advice():
    solver = Multilevel(max_iterations=1)
    with pytest.raises(SolverError, match=r"tol=1e-08 for 10 eigenpairs in 1 iteration.*error is"):
        solver.solve(pencil_of("S2"), 10, 1e-8)


def test_more_pairs_than_prepared_for_are_refused():
    points = datasets.sphere(4000, random_state=0).points
    op = vbdm.estimate_operator(points, dim=2, epsilon=0.003, method=vbdm.Paper(n_neighbors=64))
    pencil = Pencil(
        op.alpha_kernel,
        op.inside.degrees,
        op.inside.degrees * op.inside.steps,
        op.graph.point_set.coordinates,
    )
    with pytest.raises(vbdm.InputError, match=r"prepare\(pencil, n=400\)"):
        Multilevel(coarsest=200).prepare(pencil, 10).solve(pencil.mass, 400, 1e-4)


def test_few_points_are_left_to_the_dense_solver():
    points = datasets.sphere(300, random_state=0).points
    op = vbdm.estimate_operator(points, dim=2, epsilon=0.05, method=vbdm.Paper(n_neighbors=64))
    pencil = Pencil(op.alpha_kernel, op.inside.degrees, op.inside.degrees * op.inside.steps)
    assert Multilevel().solve(pencil, 30, 1e-4).solver == Dense.credit


def test_tree_cells_are_nested_and_follow_the_points():
    points = np.random.default_rng(0).standard_normal((3000, 2))
    points[:500] = points[0]  # copies, more than any cell may hold
    cells = tree_cells(len(points), 8, tree_order(points, ScipyEngine()))
    assert np.bincount(cells[0]).max() <= 8
    spread = [np.ptp(points[cells[0] == cell], axis=0).max() for cell in range(50)]
    assert np.median(spread) < 0.5
    labels = cells[0]
    for grouping in cells[1:]:
        assert len(grouping) == labels.max() + 1
        assert 0.4 < (grouping.max() + 1) / len(grouping) < 0.7
        labels = grouping[labels]


def test_points_without_links_cannot_be_coarsened():
    nothing = csr_array((3000, 3000))
    with pytest.raises(vbdm.errors.SolverError, match="3000 points has too few links"):
        graph_cells([nothing], np.ones(3000), 4)


def test_contraction_ends_where_hardly_any_cells_find_a_partner():
    """Pairs of points are contracted once; after that there is nothing to join."""
    even = np.arange(0, 3000, 2)
    pairs = csr_array((np.ones(1500), (even, even + 1)), shape=(3000, 3000))
    found = graph_cells([pairs + pairs.T], np.ones(3000), 4)
    assert len(found) == 1
    np.testing.assert_array_equal(found[0][even], found[0][even + 1])
    assert len(np.unique(found[0])) == 1500


def test_indices_are_narrowed_where_they_fit():
    wide = csr_array(np.array([[0.0, 2.0], [3.0, 0.0]]))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    (found,), _ = parts_of(wide)
    assert found.indices.dtype == found.indptr.dtype == np.int32
    np.testing.assert_array_equal(found.toarray(), wide.toarray())


def test_too_many_pairs_to_coarsen_are_left_to_the_dense_solver():
    pencil = SimpleNamespace(n_points=2600)
    solver, reason = vbdm.solvers.Auto().choose(pencil, 300)
    assert isinstance(solver, Dense)
    assert reason == "300 pairs of 2600 points: too many to coarsen"
    assert not isinstance(vbdm.solvers.Auto().choose(pencil, 10)[0], Dense)


def test_graph_cells_stay_small_around_a_star():
    hub, leaves = np.zeros(2000, dtype=int), np.arange(1, 2001)
    row, column = np.concatenate([hub, leaves]), np.concatenate([leaves, hub])
    star = csr_array((np.ones(4000), (row, column)))
    cells = graph_cells([star], np.asarray(star.sum(axis=1)), 8)
    assert np.bincount(cells[0]).max() <= 16


@pytest.mark.parametrize("coarsest", [150, 220])
@pytest.mark.parametrize("name", ["ou in R2", "ou in R3", "S2"])
def test_the_coarsest_level_does_not_fall_far_below_its_size(name, coarsest):
    levels = Multilevel(coarsest=coarsest).prepare(pencil_of(name), 10).levels
    assert 0.75 * coarsest <= levels[-1].size <= 1.6 * coarsest


def test_small_gains_in_a_slow_iteration_are_not_the_end():
    """Gains fall by a tenth per step, but every third one is tiny; nine times a gain is to come."""
    outlook = Outlook()
    for step in range(1, 31):
        usual = 0.9**step
        drops = np.array([0.05 * usual if step % 3 == 0 else usual, 0.01 * usual])
        errors = outlook.errors(drops)
        if step > 10:
            assert errors[0] >= 0.9 * usual / 0.1


def test_fast_iterations_are_judged_by_their_last_steps():
    outlook = Outlook()
    for step in range(1, 15):
        errors = outlook.errors(np.array([0.1**step]))
    np.testing.assert_allclose(errors, SAFETY * 0.1 / 0.9 * 0.1**14)
