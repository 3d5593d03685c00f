"""Limits of their own for slow modes: resolved tails are left alone, outliers are not let in."""

import dataclasses
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.linalg import eigh

import vbdm
from vbdm.spectrum.limiter import Limit, Limits
from vbdm.spectrum.passes import rate_of_held, rungs
from vbdm.spectrum.vectors import vectors_of
from vbdm.trust.eigenfunction_errors import held_for
from vbdm.trust.influences import response

D = vbdm.datasets


def points_of(spectrum):
    op = spectrum.operator
    return op.graph.order.to_caller(op.graph.point_set.coordinates)


def error_of(function, exact):
    exact = exact / np.sqrt(np.mean(exact**2))
    return np.mean((vbdm.align(function, exact) - exact) ** 2)


@pytest.fixture(scope="module")
def grid():
    """The first example of the paper: a clean tail, without any chance in it."""
    points = D.ou(2000, sampling="grid").points
    op = vbdm.estimate_operator(
        points, "generator", dim=1, method=vbdm.Resolved(leave_one_out=False)
    )
    return op.spectrum(5)


def test_the_clean_tail_of_a_grid_is_left_alone(grid):
    """One limit for all modes gives .034 and .147; no limit, .0014 for the cubic."""
    x = points_of(grid)[:, 0]
    assert error_of(grid.eigenfunctions[:, 2], x**2 - 1) < 0.002
    assert error_of(grid.eigenfunctions[:, 3], x**3 - 3 * x) < 0.005
    np.testing.assert_allclose(grid.eigenvalues[1:4], [-1, -2, -3], rtol=0.05)


def test_own_limits_follow_from_the_shared_ones(grid):
    for j, limit in enumerate(grid.limits.of_modes[1:4], start=1):
        assert limit.reference < grid.limits.shared.reference / 5
        assert limit.cut == pytest.approx(2 * limit.reference)
        assert limit.kappa == pytest.approx(3.0)
        assert limit.reference == pytest.approx(-1.1 * grid.eigenvalues[j], rel=0.1)


def test_a_mode_with_a_limit_of_its_own_is_held_elsewhere(grid):
    assert grid.unresolved.sum() > 0
    own = held_for(grid, 2)
    assert own.sum() < grid.unresolved.sum()
    assert not (own & ~grid.unresolved).any()
    shared = dataclasses.replace(grid, limits=Limits(grid.limits.shared, (grid.limits.shared,) * 5))
    np.testing.assert_array_equal(held_for(shared, 2), grid.unresolved)


def test_rates_solve_the_balance_of_their_own_limit(grid):
    op, u = grid.operator, vectors_of(grid)
    energy = np.einsum("ij,ij->j", u, op.inside.degrees[:, None] * u - op.alpha_kernel @ u)
    for j, limit in enumerate(grid.limits.of_modes[1:], start=1):
        theta, rate = grid.log.pencil_eigenvalues[j], -grid.eigenvalues[j] * grid.correction[j]
        slowest = np.maximum(1 / op.inside.steps, min(3 * theta, limit.highest))
        lost = -np.expm1(-rate / slowest)
        assert (op.inside.degrees * u[:, j] ** 2) @ lost == pytest.approx(energy[j], rel=1e-8)
        time = (
            -np.expm1(-limit.reference / np.maximum(1 / op.inside.steps, limit.cut))
            / limit.reference
        )
        assert theta * ((op.inside.degrees * time) @ u[:, j] ** 2) == pytest.approx(
            energy[j], rel=1e-6
        )


@pytest.mark.slow
def test_new_points_and_another_solver_agree(grid):
    at_points = grid.extend(points_of(grid)).values
    np.testing.assert_allclose(at_points, grid.eigenfunctions, atol=2e-3)
    assert vbdm.verify(grid).passed


def test_first_eigenvalues_do_not_depend_on_how_many_are_asked_for(grid):
    for n in (2, 3, 4, 9):
        again = grid.operator.spectrum(n).eigenvalues
        m = min(n, 5)
        np.testing.assert_allclose(again[:m], grid.eigenvalues[:m], rtol=1e-4)


@pytest.mark.parametrize("seed", [4100, 4101])
def test_outliers_that_hold_together_keep_the_shared_limit(seed):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((4000, 2))
    points[:40] = rng.uniform(-8, 8, (40, 2))
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(4)
    assert set(spectrum.limits.of_modes) == {spectrum.limits.shared}
    x = points[:, :2] * (np.abs(points[:, :1]) < 4)
    assert error_of(spectrum.eigenfunctions[:, 1:3], x) < 0.08


@pytest.mark.parametrize("seed", [4100, 4101])
def test_eigenfunctions_of_a_random_cloud_gain(seed):
    """The quadratic in the long direction, against the same with one limit for all modes."""
    points = np.random.default_rng(seed).standard_normal((10_000, 2)) * [1, 0.5]
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(4)
    assert error_of(spectrum.eigenfunctions[:, 2], points[:, 0] ** 2 - 1) < 0.02
    assert spectrum.limits.of_modes[2] != spectrum.limits.shared


@pytest.mark.parametrize("sample", [D.sphere, D.torus, lambda n, **k: D.sphere(n, dim=3, **k)])
def test_closed_manifolds_are_solved_as_before(sample):
    spectrum = vbdm.estimate_operator(sample(2000, random_state=0).points).spectrum(6)
    assert spectrum.log.passes == 2
    assert set(spectrum.limits.of_modes) == {spectrum.limits.shared}
    assert spectrum.log.shared_eigenvalues.size == 0


def test_the_share_on_unresolved_points_is_that_of_the_own_limit(grid):
    """Slow modes are resolved everywhere under their own limit; the last one is not."""
    rates = grid.operator.graph.order.to_caller(1 / grid.operator.inside.steps)
    for j, limit in enumerate(grid.limits.of_modes[1:], start=1):
        held = rates < limit.cut
        assert grid.errors.unresolved_share[j] == pytest.approx(
            np.sum(grid.eigenfunctions[held, j] ** 2) / 2000, abs=1e-12
        )
    assert grid.errors.unresolved_share[1] == 0 < grid.errors.unresolved_share[4] < 0.2
    assert grid.unresolved.sum() == 16


def test_the_rate_of_held_points_is_that_of_the_pencil_on_them():
    op = vbdm.estimate_operator(D.ou(700, dim=2, random_state=4100).points, "generator")
    local = 1 / op.inside.steps
    limit = Limit(reference=4.0, cut=float(np.quantile(local, 0.1)), highest=1e9, kappa=2.0)
    held = np.flatnonzero(local < limit.cut)
    assert len(held) == 70
    stiffness = (
        np.diag(op.inside.degrees[held]) - op.alpha_kernel.merged().toarray()[np.ix_(held, held)]
    )
    exact = eigh(
        stiffness, np.diag((op.inside.degrees * limit.time(local))[held]), eigvals_only=True
    )[0]
    task = SimpleNamespace(
        operator=op, local_rates=local, pencil=SimpleNamespace(degrees=op.inside.degrees),
        pieces=SimpleNamespace(strays=np.zeros(700, dtype=bool)),
        mass=lambda limit: op.inside.degrees * limit.time(local),
    )  # fmt: skip
    assert rate_of_held(task, limit) == pytest.approx(exact, rel=1e-6)
    assert rate_of_held(task, Limit(4.0, 0.0, 1e9, 2.0)) == np.inf


def test_equal_rates_share_a_rung():
    rates = np.array([0, 0, 1, 1.2, 1.3, 1.42, 2, 2.1, 2.2, 4.0])
    assert list(rungs(rates, 2)) == [slice(2, 6), slice(6, 9), slice(9, 10)]
    assert list(rungs(np.array([0.0, 1.0, 1.26]), 1)) == [slice(1, 2), slice(2, 3)]


def test_the_response_of_error_bars_is_the_slope_of_the_balance(grid):
    op, u, rates = grid.operator, vectors_of(grid), -grid.eigenvalues * grid.correction
    found = response(grid, u[:, 1:], slice(1, 5))
    for j, limit in enumerate(grid.limits.of_modes[1:], start=1):
        slowest = np.maximum(1 / op.inside.steps, limit.balance_cut(grid.log.pencil_eigenvalues[j]))
        ends = rates[j] * np.array([1 - 1e-4, 1 + 1e-4])
        lost = [(op.inside.degrees * u[:, j] ** 2) @ -np.expm1(-end / slowest) for end in ends]
        assert found[j - 1] == pytest.approx(np.diff(lost)[0] / np.diff(ends)[0], rel=1e-5)
