"""The spectrum of an operator that lives on a device: the same as that of the one in memory.

The operators are ordinary ones, moved; arrays are a GPU's, or as strict. Both ways compute the same
sums in another order, so eigenvalues agree far better than the solver is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vbdm
from vbdm.base.arrays import is_elsewhere
from vbdm.operator.normalise import with_epsilon
from vbdm.spectrum.solve import compute_spectrum
from vbdm.spectrum.vectors import vectors_of

from .emulated import needs_device, some_slow
from .there import there

pytestmark = [needs_device, pytest.mark.filterwarnings("ignore")]


def plane(seed: int, n: int) -> Any:
    return np.random.default_rng(seed).normal(size=(n, 2))


def copied() -> Any:
    points = plane(4, 1000)
    return np.concatenate([points, points[:300], points[:100]])


def tails(seed: int, freedom: float, shape: tuple[int, int]) -> Any:
    return np.random.default_rng(seed).standard_t(freedom, size=shape)


def strays() -> Any:
    far = np.random.default_rng(6).normal(size=(7, 2)) * 5 + 400
    return np.concatenate([plane(5, 1500), far])


#: Clouds, with the error of eigenvalues that rounding may make. Heavy tails have modes on a few
#: points whose rates lie close together.
CLOUDS = {
    "plane": (plane(1, 2400), 1e-11),
    "space with tails": (tails(3, 3.0, (1500, 3)), 1e-7),
    "heavy tails": (tails(1, 1.5, (1500, 2)), 1e-7),
    "two pieces": (np.concatenate([plane(5, 800), plane(6, 600) + 40]), 1e-11),
    "strays": (strays(), 1e-11),
    "copies": (copied(), 1e-11),
}


@pytest.mark.parametrize(
    "name", some_slow(CLOUDS, "plane", "space with tails", "heavy tails", "strays")
)
def test_the_same_spectrum_as_in_memory(name: str) -> None:
    points, error = CLOUDS[name]
    operator = vbdm.estimate_operator(points, "generator", run="scipy")
    # Few points, but several coarse levels; heavy tails need a larger coarsest one.
    solver = vbdm.solvers.Multilevel(4, 100) if error < 1e-9 else vbdm.solvers.Multilevel()
    here = compute_spectrum(operator, 10, solver=solver, tol=1e-8)
    away = compute_spectrum(there(operator), 10, solver=solver, tol=1e-8)
    assert np.allclose(away.eigenvalues, here.eigenvalues, rtol=error, atol=1e-9, equal_nan=True)
    assert np.allclose(away.eigenfunctions, here.eigenfunctions, atol=1e-6 + 300 * error)
    assert away.log.iterations == here.log.iterations
    assert away.log.passes == here.log.passes
    assert len(set(away.limits.of_modes)) == len(set(here.limits.of_modes))
    assert np.array_equal(away.unresolved, here.unresolved)
    assert np.array_equal(away.components, here.components)
    assert np.allclose(away.correction, here.correction, rtol=1e-6)
    assert np.allclose(away.errors.unresolved_share, here.errors.unresolved_share, atol=1e-6)
    assert np.allclose(away.errors.overlaps, here.errors.overlaps, atol=1e-6)
    assert np.array_equal(away.errors.weak_links, here.errors.weak_links)
    # What users see is NumPy's; what later rooms compute with stays where it is.
    for seen in (away.eigenvalues, away.eigenfunctions, away.unresolved, away.components):
        assert isinstance(seen, np.ndarray)
    assert is_elsewhere(vectors_of(away))
    assert np.allclose(vectors_of(away).get(), vectors_of(here), atol=1e-6 + 300 * error)


@pytest.mark.parametrize("solver", some_slow(["dense", "lanczos", "auto"], "auto"))
def test_other_solvers_take_a_copy_in_memory(solver: str) -> None:
    operator = vbdm.estimate_operator(plane(7, 300), run="scipy")
    here = compute_spectrum(operator, 6, solver=solver)
    away = compute_spectrum(there(operator), 6, solver=solver)
    assert np.allclose(away.eigenvalues, here.eigenvalues, rtol=1e-9, atol=1e-12)
    assert np.allclose(away.eigenfunctions, here.eigenfunctions, atol=1e-7)
    assert away.log.solver == here.log.solver
    assert is_elsewhere(vectors_of(away))


def test_components_and_a_start_from_another_width() -> None:
    points = np.concatenate([plane(8, 500), plane(9, 400) + 40])
    operator = vbdm.estimate_operator(points, run="scipy")
    here = compute_spectrum(operator, 6, solver="multilevel", components="largest")
    away = compute_spectrum(there(operator), 6, solver="multilevel", components="largest")
    assert np.allclose(away.eigenvalues, here.eigenvalues, rtol=1e-10, atol=1e-12)
    assert np.array_equal(away.unresolved, here.unresolved)
    with pytest.raises(vbdm.InputError, match="not connected"):
        compute_spectrum(there(operator), 6, components="error")
    single = vbdm.estimate_operator(plane(8, 600), run="scipy")
    wider = with_epsilon(single, 1.5 * single.epsilon)
    first = compute_spectrum(single, 6, solver="multilevel")
    here = compute_spectrum(wider, 6, solver="multilevel", start=first)
    start = compute_spectrum(there(single), 6, solver="multilevel")
    away = compute_spectrum(there(wider), 6, solver="multilevel", start=start)
    assert np.allclose(away.eigenvalues, here.eigenvalues, rtol=1e-10, atol=1e-12)


def test_no_limiter() -> None:
    operator = vbdm.estimate_operator(
        plane(10, 600), method=vbdm.Resolved(limiter=False), run="scipy"
    )
    here = compute_spectrum(operator, 6, solver="multilevel")
    away = compute_spectrum(there(operator), 6, solver="multilevel")
    assert np.allclose(away.eigenvalues, here.eigenvalues, rtol=1e-10, atol=1e-12)
    assert here.limits.shared is None
    assert not away.unresolved.any()


def test_an_unsymmetric_form_is_solved_in_memory() -> None:
    operator = vbdm.estimate_operator(plane(11, 400), method=vbdm.Paper(form="left"), run="scipy")
    here = compute_spectrum(operator, 4)
    away = compute_spectrum(there(operator), 4)
    assert np.array_equal(away.eigenvalues, here.eigenvalues)
    assert np.array_equal(away.eigenfunctions, here.eigenfunctions)


def test_without_points_cells_come_from_the_graph() -> None:
    points = np.random.default_rng(12).normal(size=(600, 3))
    many = np.hstack([points, np.zeros((600, 20))])
    operator = vbdm.estimate_operator(many, run="scipy")
    here = compute_spectrum(operator, 5, solver="multilevel", tol=1e-8)
    away = compute_spectrum(there(operator), 5, solver="multilevel", tol=1e-8)
    assert np.allclose(away.eigenvalues, here.eigenvalues, rtol=1e-10, atol=1e-12)
    assert away.log.iterations == here.log.iterations


@pytest.mark.slow
def test_where_the_fast_solver_fails_another_takes_over() -> None:
    operator = vbdm.estimate_operator(plane(13, 1501), run="scipy")
    slow = vbdm.solvers.Auto(vbdm.solvers.Multilevel(max_iterations=1))
    here = compute_spectrum(operator, 5, solver=slow, tol=1e-6)
    away = compute_spectrum(there(operator), 5, solver=slow, tol=1e-6)
    assert np.allclose(away.eigenvalues, here.eigenvalues, rtol=1e-6, atol=1e-12)
    assert "took over" in away.log.reason


def test_from_points_by_the_kernels_themselves(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vbdm.engines.choose, "device_engine", lambda: engine)
    points = np.concatenate([tails(14, 4.0, (900, 3)), tails(15, 4.0, (500, 3)) + 300])
    here, away = (
        vbdm.estimate_operator(points, "generator", run=vbdm.Run(engine=name)).spectrum(
            8, solver="multilevel", tol=1e-6
        )
        for name in ("scipy", "cuda")
    )
    assert type(away.operator.inside.degrees) is not np.ndarray
    assert np.allclose(away.eigenvalues, here.eigenvalues, rtol=1e-6, atol=1e-9)
    assert np.allclose(away.eigenfunctions, here.eigenfunctions, atol=1e-3)
    assert np.array_equal(away.components, here.components)
    assert np.array_equal(away.unresolved, here.unresolved)
