"""Solvers that need no hierarchy: Lanczos, shift-invert, and who takes over from whom."""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.sparse import block_diag, csr_array, kron

import vbdm
from vbdm import datasets
from vbdm.solvers import Auto, Dense, Lanczos, Multilevel, Pencil, ShiftInvert, direct
from vbdm.solvers.auto import SOLVERS, PreparedAuto
from vbdm.spectrum.solve import pencil_of


@cache
def operator(name):
    sample = {
        "ou in R2": lambda: datasets.ou(1500, dim=2, random_state=0),
        "ou in R3": lambda: datasets.ou(1500, dim=3, random_state=0),
        "sphere": lambda: datasets.sphere(1500, random_state=0),
        "circle": lambda: datasets.circle(1500, sampling="random", random_state=0),
        "clusters": lambda: datasets.clusters(1500, separation=7.0, random_state=0),
    }[name]()
    return vbdm.estimate_operator(sample.points, sample.operator)


def ring(n, width=6, spread=8.0):
    """Every point linked to its neighbours alike: each θ but 0 occurs twice, to the last digit."""
    here, steps = np.arange(n), np.arange(-width, width + 1)
    row, column = np.repeat(here, len(steps)), (here[:, None] + steps).ravel() % n
    return csr_array((np.tile(np.exp(-(steps**2) / spread), n), (row, column)), shape=(n, n))


def of_weights(weights):
    degrees = np.asarray(weights.sum(axis=1))
    return Pencil(csr_array(weights), degrees, degrees)


def relative_errors(pairs, exact):
    n = len(pairs.values)
    scale = np.maximum(exact.values[1:n], 1e-6 * exact.values[n - 1])
    return np.abs(pairs.values - exact.values[:n])[1:] / scale


@pytest.mark.parametrize("solver", [Lanczos(), ShiftInvert()])
@pytest.mark.parametrize(
    "name",
    ["ou in R2", pytest.param("ou in R3", marks=pytest.mark.slow), "sphere", "circle", "clusters"],
)
def test_pairs_are_those_of_the_dense_solver(solver, name):
    pencil = pencil_of(operator(name))
    exact = Dense().solve(pencil, 21, 0.0)
    for tol in (1e-2, 1e-4, 1e-8):
        pairs = solver.solve(pencil, 20, tol)
        assert relative_errors(pairs, exact).max() <= min(tol, 1e-6)
        assert relative_errors(pairs, exact).max() <= 2 * pairs.error_estimate + 1e-11
        assert pairs.error_estimate <= tol
        assert pairs.converged
        assert [credit.name for credit in pairs.credits] == [type(solver).__name__]
        assert pairs.iterations > 20
        assert pairs.products > 20
    assert np.ptp(pairs.vectors[:, 0]) == 0
    assert pairs.values[0] == 0
    gram = pairs.vectors.T @ (pencil.mass[:, None] * pairs.vectors)
    np.testing.assert_allclose(gram, np.eye(20), atol=1e-7)


@pytest.mark.parametrize("solver", [Lanczos(), ShiftInvert()])
@pytest.mark.parametrize(
    "weights",
    [ring(1200), kron(ring(35), ring(35)), kron(kron(*[ring(10, 3, 3.0)] * 2), ring(10, 3, 3.0))],
    ids=["ring", "torus", "three-torus"],
)
def test_no_copy_of_equal_eigenvalues_is_missed(solver, weights):
    """Plain `eigsh` returns 13 of the 19 on these tori, at any tolerance, and says nothing."""
    pencil = of_weights(weights)
    exact = Dense().solve(pencil, 20, 0.0)
    pairs = solver.solve(pencil, 20, 1e-4)
    np.testing.assert_allclose(pairs.values, exact.values, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("solver", [Dense(), Lanczos(), ShiftInvert()])
def test_the_constant_stays_apart_from_a_mode_that_is_zero_to_rounding(solver):
    weights = block_diag([ring(300), ring(500)]).tolil()
    weights[0, 700] = weights[700, 0] = 1e-14
    pencil = of_weights(weights)
    pairs = solver.solve(pencil, 6, 1e-4)
    assert np.ptp(pairs.vectors[:, 0]) == 0
    second = pairs.vectors[:, 1]
    assert abs(pencil.mass @ second) < 1e-9
    # On each ring a constant, as different as the masses demand.
    assert np.ptp(second[:300]) < 1e-6 * np.ptp(second)
    assert np.ptp(second[300:]) < 1e-6 * np.ptp(second)


def test_same_input_same_output():
    pencil = pencil_of(operator("sphere"))
    first, second = (Lanczos().solve(pencil, 10, 1e-4) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, second.vectors)
    assert first.products == second.products


def test_failure_is_said_with_numbers_and_advice():
    pencil = pencil_of(operator("circle"))
    with pytest.raises(
        vbdm.errors.SolverError, match=r"Lanczos found \d+ of 9 .* in 1 restarts.*raise ε"
    ):
        Lanczos(max_iterations=1).solve(pencil, 10, 1e-8)


@pytest.mark.parametrize("solver", [Lanczos(), ShiftInvert()])
@pytest.mark.parametrize(("n_points", "n"), [(60, 60), (300, 100), (300, 1)])
def test_few_points_or_no_mode_are_left_to_the_dense_solver(solver, n_points, n):
    pencil = of_weights(ring(n_points))
    pairs = solver.solve(pencil, n, 1e-4)
    assert pairs.solver == Dense.credit
    np.testing.assert_allclose(pairs.values, Dense().solve(pencil, n, 0.0).values)
    assert pairs.vectors.shape == (n_points, n)


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_by_name(name):
    spectrum = operator("sphere").spectrum(5, solver=name)
    expected = "dense" if name == "auto" else name
    assert isinstance(Auto(), SOLVERS["auto"])
    assert spectrum.log.solver == SOLVERS[expected].__name__
    assert spectrum.log.converged
    assert bool(spectrum.log.reason) == (name == "auto")
    exact = operator("sphere").spectrum(5, solver=Dense())
    np.testing.assert_allclose(spectrum.eigenvalues, exact.eigenvalues, rtol=1e-4, atol=1e-9)
    assert spectrum.log.error_estimate <= 1e-4
    assert spectrum.residuals.shape == (5,)


@pytest.mark.parametrize("solver", ["Dense", "arpack", 3, Dense, [Dense()], "", object()])
def test_anything_else_is_refused(solver):
    with pytest.raises(vbdm.InputError, match=r"one of 'auto', 'dense'.*received"):
        operator("sphere").spectrum(5, solver=solver)


def test_the_choice_is_said():
    spectrum = vbdm.estimate_operator(datasets.sphere(1600, random_state=0).points).spectrum(5)
    assert spectrum.log.reason.startswith("1600 points: a few products")
    assert operator("sphere").spectrum(5).log.reason.startswith("1500 points: a dense")
    assert operator("sphere").spectrum(5, solver=Dense()).log.reason == ""


def test_a_solver_of_the_users_own():
    @dataclass(frozen=True)
    class Mine:
        def solve(self, pencil, n, tol):
            return Dense().solve(pencil, n, tol)

        def prepare(self, pencil, n):
            return Dense().prepare(pencil, n)

    spectrum = operator("sphere").spectrum(5, solver=Mine())
    assert spectrum.log.solver == "Dense"
    assert spectrum.log.reason == ""


@pytest.mark.parametrize("substitute", [ShiftInvert, Lanczos])
def test_another_solver_takes_over_where_the_fast_one_fails(substitute, monkeypatch):
    if substitute is Lanczos:
        monkeypatch.setattr(direct, "AFFORDABLE", 0.0)
    op = vbdm.estimate_operator(datasets.sphere(1800, random_state=0).points)
    name = substitute.__name__
    with pytest.warns(
        vbdm.errors.SolverWarning, match=rf"{name} took over.*did not reach tol"
    ) as caught:
        spectrum = op.spectrum(10, solver=Auto(Multilevel(max_iterations=1)), tol=1e-9)
    assert len([w for w in caught if w.category is vbdm.errors.SolverWarning]) == 1
    assert spectrum.log.solver == name
    assert f"it failed, and {name} took over" in spectrum.log.reason
    assert spectrum.log.converged
    exact = op.spectrum(10, solver="dense")
    np.testing.assert_allclose(spectrum.eigenvalues, exact.eigenvalues, rtol=1e-8, atol=1e-10)
    assert vbdm.verify(spectrum).passed


def test_the_same_without_a_spectrum():
    pencil = pencil_of(vbdm.estimate_operator(datasets.sphere(1800, random_state=0).points))
    with pytest.warns(vbdm.errors.SolverWarning, match="pass solver='shift-invert'"):
        pairs = Auto(Multilevel(max_iterations=1)).solve(pencil, 10, 1e-9)
    assert pairs.solver == ShiftInvert.credit


def test_if_all_fail_the_error_is_raised():
    pencil = pencil_of(operator("circle"))
    failing = Lanczos(max_iterations=1)
    prepared = PreparedAuto(pencil, failing.prepare(pencil, 10), "a test", replaceable=False)
    with pytest.raises(vbdm.errors.SolverError, match="Lanczos found"):
        prepared.solve(pencil.mass, 10, 1e-8)


def test_no_warning_without_failure():
    with warnings.catch_warnings():
        warnings.simplefilter("error", vbdm.errors.SolverWarning)
        vbdm.estimate_operator(datasets.sphere(1800, random_state=0).points).spectrum(10)
