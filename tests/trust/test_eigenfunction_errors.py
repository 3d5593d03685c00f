"""Errors of eigenfunctions: each formula against a direct computation, and what must not matter."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import eigh
from tests.support.estimates import estimate_with
from tests.support.findings import knowing

import vbdm
from vbdm.operator.sums import row_sums_of
from vbdm.spectrum import passes
from vbdm.spectrum.vectors import vectors_of
from vbdm.trust import eigenfunction_errors as errors
from vbdm.trust.influences import (
    PairRows,
    held_together,
    modes_cut_at_highest,
    pair_influences,
    pair_noise,
    response,
)

D = vbdm.datasets


def solved(points, n=6, c1=1.0, **options):
    return estimate_with(points, c1, **options).spectrum(n, tol=1e-9)


@pytest.fixture(scope="module")
def plane():
    """A flat Gaussian with a tail: some points are unresolved. All modes share one limit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "REACHES", np.inf)
        return solved(D.ou(300, dim=2, covariance=[1.0, 0.3], random_state=4001).points)


def dense(spectrum):
    """Return K, the plain kernel and the mass, as they enter the formulas."""
    op = spectrum.operator
    one = np.eye(op.n_points)
    times = spectrum.limits.times(op.inside.steps)[:, 0]
    return op.alpha_kernel @ one, op.kernel.weights @ one, op.inside.degrees * times


def direct_influences(spectrum, j, k):
    """Return I of the docstring, by sums over all pairs."""
    op, (K, plain, _) = spectrum.operator, dense(spectrum)
    u, v, g = (
        vectors_of(spectrum)[:, j],
        vectors_of(spectrum)[:, k],
        spectrum.limits.times(op.inside.steps)[:, j],
    )
    theta = spectrum.log.pencil_eigenvalues[j]
    p = np.zeros(len(u))
    for i in range(len(u)):
        held = g[i] * u[i] * v[i] + g * u * v
        p[i] = K[i] @ ((u[i] - u) * (v[i] - v) - theta * held)
    return p - (1 - op.settings.exponents.c1 / 2) * plain @ (p / plain.sum(axis=1))


@pytest.mark.parametrize(("c1", "epsilon"), [(0.0, "auto"), (1.0, "auto"), (1.0, 0.001)])
def test_influences_on_pairs_of_modes(c1, epsilon):
    found = solved(D.ou(200, dim=2, random_state=4002).points, c1=c1, dim=2, epsilon=epsilon)
    assert (row_sums_of(found.operator) < 1).any() == (
        epsilon != "auto"
    )  # few neighbours, and far away
    u, products = vectors_of(found), found.operator.alpha_kernel @ vectors_of(found)
    theta, times = found.log.pencil_eigenvalues, found.limits.times(found.operator.inside.steps)
    for j, k in [(1, 0), (1, 2), (2, 1), (4, 3), (3, 3)]:
        one, two = (u[:, [j]], products[:, [j]]), (u[:, [k]], products[:, [k]])
        held = held_together(one[0], two[0], theta[[j]], times[:, [j]])
        together = held, found.operator.alpha_kernel @ held
        computed = pair_influences(found, one, two, together, PairRows.of(found))[:, 0]
        expected = direct_influences(found, j, k)
        np.testing.assert_allclose(computed, expected, atol=1e-6 * np.abs(expected).max())


def test_influences_of_single_modes_are_those_of_the_eigenvalues(plane):
    """The eigenvalues' own errors are the diagonal case, where no cut moves with the sample."""
    assert not modes_cut_at_highest(plane)[1]
    variance = plane.errors.covariance[1, 1] + pair_noise(plane)[1, 1]
    scale = np.sqrt(variance) / np.linalg.norm(direct_influences(plane, 1, 1))
    by = response(plane, vectors_of(plane)[:, [1]], slice(1, 2))[0]
    assert scale == pytest.approx(1 / (by * plane.correction[1]), rel=1e-6)


def test_mixing_is_the_sum_over_points_and_the_tail(plane):
    theta, u, mass = plane.log.pencil_eigenvalues, vectors_of(plane), dense(plane)[2]
    held = plane.operator.graph.order.to_inside(plane.unresolved)
    assert held.any()
    size = mass @ u**2
    for j in (1, 2):
        amounts, tail = np.zeros((len(u), 6)), np.zeros(6)
        for k in set(range(6)) - {j}:
            amounts[:, k] = direct_influences(plane, j, k) / (size[k] * (theta[k] - theta[j]))
            overlap = np.mean(mass) * np.sum(u[held, j] * u[held, k])
            tail[k] = theta[j] * overlap / (size[k] * (theta[k] - theta[j]))
        expected = amounts.T @ amounts + np.outer(tail, tail)
        np.testing.assert_allclose(
            plane.errors.mixing[j], expected, atol=1e-6 * np.abs(expected).max()
        )


def amounts_after(spectrum, K, mass, j):
    """Return how much of each old mode the new mode j contains, by a dense solve."""
    vectors = eigh(np.diag(K.sum(axis=1)) - K, np.diag(mass), subset_by_index=[0, 5])[1]
    u, weight = vectors_of(spectrum), dense(spectrum)[2]
    amounts = u.T @ (weight * vectors[:, j]) / (weight @ u**2)
    return amounts / amounts[j]


def test_first_order_is_what_a_solve_finds(plane):
    """Pairs of one point with a little more weight: c = -T/(B (θ_k - θ_j))."""
    (K, _, mass), theta = dense(plane), plane.log.pencil_eigenvalues
    g = plane.limits.times(plane.operator.inside.steps)[:, 0]
    u, j, point, little = vectors_of(plane), 2, 17, 1e-5
    more = np.ones_like(K)
    more[point], more[:, point] = 1 + little, 1 + little
    found = amounts_after(plane, K * more, (K * more).sum(axis=1) * g, j)
    for k in (0, 1, 3, 5):
        pairs = (u[point, j] - u[:, j]) * (u[point, k] - u[:, k])
        held = g[point] * u[point, j] * u[point, k] + g * u[:, j] * u[:, k]
        T = little * K[point] @ (pairs - theta[j] * held)
        expected = -T * errors.first_order(theta, j)[k] / (mass @ u[:, k] ** 2)
        # Lists are cut at the sixth mode: only modes below 2j stand in for others, none here.
        assert found[k] == pytest.approx(expected, rel=0.01, abs=1e-9)


def test_the_tail_is_what_another_mass_there_would_do(plane):
    (K, _, mass), little = dense(plane), 1e-5
    held = plane.operator.graph.order.to_inside(plane.unresolved)
    found = amounts_after(plane, K, mass + little * held * mass.mean(), 2)
    theta, u = plane.log.pencil_eigenvalues, vectors_of(plane)
    expected = little * theta[2] * mass.mean() * (u[held].T @ u[held, 2]) / (mass @ u**2)
    expected *= errors.first_order(theta, 2)
    np.testing.assert_allclose(np.delete(found, 2), np.delete(expected, 2), rtol=0.01)


def test_modes_stand_in_for_the_missing_ones():
    """Errors from few modes are near those from many; without stand-ins they are 30 % less."""
    sample = D.double_well(1000, random_state=4003)
    op = vbdm.estimate_operator(sample.points, "generator")
    few, many = op.spectrum(5), op.spectrum(12)
    for j in (3, 4):
        ratio = few.errors.function_of_group([j]) / many.errors.function_of_group([j])
        assert 0.8 < ratio < 1.2
    theta = np.array([0.0, 1.0, 2.0, 4.0])
    np.testing.assert_allclose(errors.first_order(theta, 1), [-1, 0, 1, 1 / 3])
    root = np.sqrt(2)
    np.testing.assert_allclose(errors.first_order(theta, 3), [-root / 4, -root / 3, -root / 2, 0])


def test_points_and_modes_agree(plane):
    assert plane.errors.functions[0] == 0
    assert (plane.errors.pointwise(0) == 0).all()
    size = np.sqrt(np.mean(plane.errors.pointwise(1) ** 2))
    assert size == pytest.approx(plane.errors.functions[1], rel=1e-10)
    assert plane.errors.function_of_group([1]) == plane.errors.functions[1]


def test_pointwise_errors_are_those_of_a_sum_of_modes():
    """At c1 = 0 modes are not orthogonal over the points; the mean square stays 1 all the same."""
    sample = D.circle(400, density="exponential", sampling="random", random_state=4004)
    found = solved(sample.points, c1=0.0)
    functions = found.eigenfunctions
    # The first mode is not isolated: what is tested is the sum, so the rule is set aside.
    forced = with_covariance(found, np.zeros((6, 6)))
    rng = np.random.default_rng(0)
    amounts = rng.multivariate_normal(np.zeros(6), found.errors.mixing[1], size=4000)
    moved = functions[:, [1]] + 1e-4 * functions @ amounts.T
    moved /= np.sqrt(np.mean(moved**2, axis=0))
    spread = np.std((moved - functions[:, [1]]) / 1e-4, axis=1)
    np.testing.assert_allclose(forced.errors.pointwise(1), spread, rtol=0.1)


def with_covariance(spectrum, matrix):
    """Return the same spectrum with another covariance of its eigenvalues."""
    changed = replace(spectrum)
    knowing(changed, covariance=matrix, mixing=spectrum.errors.mixing)
    return changed


@pytest.mark.parametrize(("error", "known"), [(0.99, True), (1.01, False)])
def test_gaps_of_four_standard_errors_isolate(plane, error, known):
    """Variances a and b with a common part: the gap scatters by √(a + b - 2 common)."""
    gap = plane.eigenvalues[1] - plane.eigenvalues[2]
    matrix, one = np.zeros((6, 6)), (error * gap / 4) ** 2
    matrix[1:3, 1:3] = [[0.1 * one, 0.15 * one], [0.15 * one, 1.2 * one]]
    changed = with_covariance(plane, matrix)
    assert np.isfinite(changed.errors.functions[1]) == known
    assert np.isfinite(changed.errors.pointwise(1)).all() == known


@pytest.mark.parametrize(("error", "known"), [(0.99, True), (1.01, False)])
def test_the_last_mode_looks_at_the_next_one(plane, error, known):
    """The next one is 1 % faster, and taken to be as uncertain as the last."""
    beyond = np.array([1.01 * plane.log.pencil_eigenvalues[5]])
    near = replace(plane, log=replace(plane.log, set_aside=beyond))
    matrix = np.zeros((6, 6))
    matrix[5, 5] = (error * 0.01 * plane.eigenvalues[5] / 4) ** 2 / 2
    knowing(near, covariance=matrix, mixing=plane.errors.mixing)
    assert np.isfinite(near.errors.functions[5]) == known


def test_equal_eigenvalues_have_an_error_together():
    """On a regular circle pairs are equal up to rounding: only their spans have an error."""
    found = solved(D.circle(200, density="uniform", offset="periodic").points, 7, c1=0.0)
    assert np.isfinite([found.errors.function_of_group(pair) for pair in ([1, 2], [3, 4])]).all()
    assert np.isnan(found.errors.functions[1:]).all()
    assert 0 < found.errors.function_of_group([1, 2]) < 0.02
    assert found.errors.function_of_group(range(7)) == 0


def test_errors_end_where_functions_are_unrelated(plane):
    huge = replace(plane)
    knowing(huge, mixing=tuple(1e6 * part for part in plane.errors.mixing))
    assert huge.errors.function_of_group([1]) == pytest.approx(np.sqrt(2))


def test_units_directions_and_order_do_not_matter():
    X = D.ou(400, dim=2, covariance=[1.0, 0.3], random_state=4005).points
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])
    order = np.random.default_rng(0).permutation(len(X))
    first = solved(X)
    for other in (solved(X @ turn), solved(1000 * X), solved(X[order])):
        np.testing.assert_allclose(other.errors.functions, first.errors.functions, rtol=1e-3)
    np.testing.assert_allclose(
        solved(X[order]).errors.pointwise(1), first.errors.pointwise(1)[order], rtol=1e-2
    )
    assert (solved(X).errors.pointwise(1) == first.errors.pointwise(1)).all()


def test_copies_of_points_share_their_errors():
    X = D.ou(300, dim=1, random_state=4006).points
    found = solved(np.r_[X, X[:50]])
    at = found.errors.pointwise(1)
    assert (at[:50] == at[300:]).all()


def test_what_cannot_be_answered(plane):
    with pytest.raises(vbdm.InputError, match="`j` must be an integer, from 0 to 5"):
        plane.errors.pointwise(6)
    X = D.circle(100).points
    left = vbdm.estimate_operator(X, "laplacian", method=vbdm.Paper(form="left")).spectrum(3)
    with pytest.raises(vbdm.InputError, match="Error bars need the symmetric form"):
        _ = left.errors.functions


def test_a_mode_is_mixed_with_as_many_before_as_after():
    spectrum, reach = SimpleNamespace(eigenvalues=-np.arange(100.0)), errors.REACH
    assert errors.partners(spectrum, 50) == slice(50 - reach, 51 + reach)
    assert errors.partners(spectrum, 1) == slice(0, 2 + reach)
    assert errors.partners(spectrum, 99) == slice(99 - reach, 100)


@pytest.mark.parametrize("zeros", [1, 2, 3])
@pytest.mark.parametrize(("after", "alone"), [(4.3, False), (9.0, True), (None, True)])
def test_the_last_mode_is_isolated_if_the_next_one_is_far(zeros, after, alone):
    """The next eigenvalue is known where the solver set one aside; slower ones say nothing."""
    rates = np.array([0.0] * zeros + [1.0, 4.0])
    aside = np.array([0.5] if after is None else [0.5, after])
    log = SimpleNamespace(pencil_eigenvalues=rates / 100, set_aside=aside / 100)
    covariance = np.diag((0.1 * (rates > 0)) ** 2)
    spectrum = SimpleNamespace(eigenvalues=-rates, log=log)
    bars = SimpleNamespace(spectrum=spectrum, covariance=covariance)
    assert errors.isolated(bars).tolist() == [True] * (zeros + 1) + [alone]


def test_a_gap_that_scatters_by_rounding_alone_is_wide():
    """Two eigenvalues whose errors are one and the same: their difference is known."""
    log = SimpleNamespace(pencil_eigenvalues=np.array([0.0, 1.0, 4.0]), set_aside=np.empty(0))
    covariance = np.full((3, 3), 0.01) + 1e-15 * (1 - np.eye(3))
    spectrum = SimpleNamespace(eigenvalues=-np.array([0.0, 1.0, 4.0]), log=log)
    bars = SimpleNamespace(spectrum=spectrum, covariance=covariance)
    assert errors.isolated(bars).all()
