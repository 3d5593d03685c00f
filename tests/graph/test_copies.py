"""Copies of points: merged with weights, expanded again, and never a wrong number."""

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
from vbdm.graph import order
from vbdm.graph.order import find_copies, row_hashes

SPHERE = vbdm.datasets.sphere(1200, random_state=3).points


def test_equal_rows_are_found_and_others_are_not():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 30, (2000, 2)).astype(float)
    copies = find_copies(X)
    distinct = np.unique(X, axis=0)
    assert len(copies.counts) == len(distinct)
    np.testing.assert_array_equal(X[copies.first][copies.point_of], X)
    np.testing.assert_array_equal(copies.counts, np.bincount(copies.point_of))
    assert find_copies(rng.standard_normal((2000, 2))) is None


def test_different_rows_with_one_hash_are_told_apart(monkeypatch):
    """Such a collision hardly ever happens: here, all rows have the same hash."""
    monkeypatch.setattr(order, "row_hashes", lambda points: np.zeros(len(points), dtype=np.uint64))
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    copies = find_copies(X)
    np.testing.assert_array_equal(X[copies.first][copies.point_of], X)
    assert sorted(copies.counts) == [1, 1, 2]
    assert find_copies(X[:2]) is None


def test_zeros_of_either_sign_are_the_same_point():
    assert row_hashes(np.array([[0.0, 1.0]])) == row_hashes(np.array([[-0.0, 1.0]]))
    # Columns are not interchangeable.
    assert row_hashes(np.array([[2.0, 1.0]])) != row_hashes(np.array([[1.0, 2.0]]))


def test_averages_over_copies():
    copies = find_copies(np.array([[0.0], [1.0], [0.0]]))
    mean = copies.average(np.array([1.0, 5.0, 3.0]))
    np.testing.assert_allclose(mean[copies.point_of], [2.0, 5.0, 2.0])
    block = copies.average(np.array([[1.0, 0.0], [5.0, 1.0], [3.0, 2.0]]))
    np.testing.assert_allclose(block[copies.point_of], [[2, 1], [5, 1], [2, 1]])


@pytest.mark.parametrize("c1", [0, 1])
def test_a_cloud_of_which_every_point_occurs_twelve_times_is_the_same_cloud(c1):
    once = vbdm.estimate_operator(SPHERE, c1)
    often = vbdm.estimate_operator(np.repeat(SPHERE, 12, axis=0), c1)
    assert often.n_points == 12 * len(SPHERE)
    # The tree of distinct points is the same whatever order they came in; sums may round.
    np.testing.assert_allclose(often.density[::12], once.density, rtol=1e-12)
    a, b = once.spectrum(6, tol=1e-10), often.spectrum(6, tol=1e-10)
    np.testing.assert_allclose(b.eigenvalues, a.eigenvalues, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(b.standard_errors, a.standard_errors, rtol=1e-6)
    np.testing.assert_allclose(b.errors.bias, a.errors.bias, rtol=1e-6, atol=1e-9)
    assert b.eigenfunctions.shape == (12 * len(SPHERE), 6)
    np.testing.assert_array_equal(b.eigenfunctions[::12], b.eigenfunctions[5::12])


def tails():
    """Return clouds with sparse tails: sums over the neighbours of a point may be small there."""
    rng = np.random.default_rng(4000)
    far = np.where(rng.random((400, 1)) < 0.01, 10.0, 1.0)
    return {
        "thin": rng.normal(size=(400, 2)) * [1, 1e-3],
        "outliers": far * rng.normal(size=(400, 1)),
        "pareto": rng.pareto(2, size=(400, 1)),
        "cauchy": rng.standard_cauchy((300, 2)),
    }


@pytest.mark.parametrize("operator", ["generator", "laplacian"])
@pytest.mark.parametrize(("name", "points"), tails().items())
def test_three_copies_of_every_point_change_nothing_in_a_tail(name, points, operator):
    once = vbdm.estimate_operator(points, operator)
    often = vbdm.estimate_operator(np.repeat(points, 3, axis=0), operator)
    a, b = (op.spectrum(6, solver="dense") for op in (once, often))
    np.testing.assert_allclose(b.eigenvalues, a.eigenvalues, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(b.extent[1:], a.extent[1:], rtol=1e-6)
    np.testing.assert_array_equal(b.errors.weak_links[::3], a.errors.weak_links)
    # At new points, too.
    new = points[:50] + 0.01
    np.testing.assert_allclose(
        vbdm.extend(b, new).values, vbdm.extend(a, new).values, rtol=1e-4, atol=1e-6
    )


#: Changes that leave the distances as they are up to rounding, or multiply all of them.
CHANGES = {
    "+ 1": lambda X: X + 1.0,
    "+ .1": lambda X: X + 0.1,
    "* 3.7": lambda X: 3.7 * X,
    "/ 3": lambda X: X / 3,
    "other order": lambda X: X[np.random.default_rng(0).permutation(len(X))],
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("seed", "columns"), [(4001, 2), (4100, 2), (4101, 10)])
def test_counts_have_many_equal_distances_and_none_is_decided_by_rounding(seed, columns, change):
    counts = np.random.default_rng(seed).poisson(20 / columns, (400, columns)).astype(float)
    changed = CHANGES[change](counts)
    unit = np.ptp(changed, axis=0).max() / np.ptp(counts, axis=0).max()
    a, b = (vbdm.estimate_operator(X, "generator") for X in (counts, changed))
    first, second = (op.spectrum(6, solver="dense").eigenvalues for op in (a, b))
    np.testing.assert_allclose(second * unit**2, first, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    "settings", [{"search": "brute"}, {"engine": "scipy"}, {"engine": "numba"}]
)
def test_search_and_engine_do_not_matter_for_counts(settings):
    if settings.get("engine") == "numba":
        pytest.importorskip("numba")
    counts = np.random.default_rng(4000).poisson(20, (400, 2)).astype(float)
    one, other = vbdm.estimate_operator(counts), estimate_with(counts, **settings)
    first, second = (op.spectrum(6, solver="dense").eigenvalues for op in (one, other))
    np.testing.assert_allclose(second, first, rtol=1e-8, atol=1e-12)


def test_weights_count_as_samples_do():
    """Points drawn twice as often have twice the density."""
    side = SPHERE[:, 0] > 0
    doubled = np.concatenate([SPHERE, SPHERE[side]])
    op = vbdm.estimate_operator(doubled)
    plain = vbdm.estimate_operator(SPHERE)
    inner = np.abs(SPHERE[:, 0]) > 0.5
    ratio = op.density[: len(SPHERE)] / plain.density
    expected = 2 * len(SPHERE) / len(doubled)
    # The bandwidth follows the density, so single points scatter.
    assert np.median(ratio[side & inner]) == pytest.approx(expected, rel=0.05)
    assert np.median(ratio[~side & inner]) == pytest.approx(expected / 2, rel=0.05)


@pytest.fixture(scope="module")
def uneven():
    rng = np.random.default_rng(1)
    rows = np.concatenate([np.arange(1200), rng.integers(0, 1200, 500), np.full(300, 7)])
    return rows, vbdm.estimate_operator(
        SPHERE[rows], method=vbdm.Resolved(limiter=False, finite_sample=False)
    )


def test_the_matrix_is_the_operator(uneven):
    rows, op = uneven
    f = np.random.default_rng(2).standard_normal(len(rows))  # copies may differ
    np.testing.assert_allclose(op.matrix @ f, op @ f, rtol=1e-9, atol=1e-9 * np.abs(op @ f).max())
    assert np.abs(op @ np.ones(len(rows))).max() < 1e-9


@pytest.mark.slow
def test_the_symmetric_conjugate_has_the_spectrum(uneven):
    _, op = uneven
    symmetric = op.symmetric.toarray()
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-12 * np.abs(symmetric).max())
    values = np.linalg.eigvalsh(symmetric)[::-1][:5]
    np.testing.assert_allclose(values, op.spectrum(5, tol=1e-10).eigenvalues, rtol=1e-6, atol=1e-8)


def test_three_hundred_copies_of_one_point(uneven):
    rows, op = uneven
    spectrum = op.spectrum(6)
    assert np.isfinite(spectrum.eigenvalues).all()
    assert vbdm.verify(spectrum).passed
    copies = spectrum.eigenfunctions[rows == 7]
    assert np.ptp(copies, axis=0).max() == 0


def test_given_arrays_have_a_value_for_every_row(uneven):
    rows, _ = uneven
    rho = np.ones(len(rows))
    op = vbdm.estimate_operator(SPHERE[rows], bandwidth=rho, dim=2)
    assert op.bandwidth.shape == (len(rows),)
    with pytest.raises(vbdm.InputError, match="one number per point"):
        vbdm.estimate_operator(SPHERE[rows], bandwidth=rho[:1200], dim=2)


def test_a_graph_names_the_first_of_the_copies(uneven):
    rows, op = uneven
    graph = op.graph
    np.testing.assert_array_equal(graph.points, SPHERE[rows])
    assert "2000 with copies" in repr(graph)
    last = graph.indices[-1]
    assert last[0] == 7
    np.testing.assert_array_equal(graph.indices[7], last)
