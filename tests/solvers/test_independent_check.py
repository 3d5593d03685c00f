"""The solver finds every eigenvalue of its matrix: checked by factorising and by counting.

The problems and the table are those of ``benchmarks/independent.py``.
"""

import numpy as np
import pytest
from tests.support.scripts import load_benchmark

pytestmark = pytest.mark.truth

independent = load_benchmark("independent")


def assert_passes(row, n):
    theta = row.spectrum.log.pencil_eigenvalues
    assert len(theta) == n
    assert row.verification.missing == 0
    assert row.verification.error <= 1e-4
    assert row.spectrum.log.converged
    assert row.spectrum.log.error_estimate <= 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", independent.PROBLEMS)
def test_first_eigenvalues_with_their_copies(name):
    row = independent.check(name)
    assert row.spectrum.log.solver == "Multilevel"
    assert row.verification.solver == "ShiftInvert"
    assert "counted" in row.verification.note
    assert_passes(row, independent.PROBLEMS[name].n)


@pytest.mark.slow
def test_the_second_eigenvalue_of_two_clusters_is_tiny_and_right():
    """About 1e-8, and right to its own size, not only to 1e-6 of the last."""
    row = independent.check("two clusters")
    second = np.sort(row.spectrum.log.pencil_eigenvalues)[1]
    assert 1e-9 < second < 1e-7
    assert second == pytest.approx(row.verification.reference[1], rel=1e-3)


@pytest.mark.parametrize(
    "name",
    ["OU R", "sphere", "two clusters", "far outliers", pytest.param("S3", marks=pytest.mark.slow)],
)
def test_the_same_on_fewer_points(name):
    assert_passes(independent.check(name, n_points=2600), 20)


@pytest.mark.slow
def test_modes_among_those_of_many_limited_points_are_found():
    """Two percent of these points are limited: more than fifty modes with θ within one percent."""
    assert_passes(independent.check("300 copies", n_points=3000, seed=1), 20)


@pytest.mark.slow
@pytest.mark.parametrize("tol", [1e-4, 1e-6])
@pytest.mark.parametrize("seed", range(4))
def test_the_same_with_other_seeds(seed, tol):
    assert_passes(independent.check("300 copies", n_points=3000, seed=seed, tol=tol), 20)


def test_the_table_is_printed(capsys):
    rows = independent.print_table(["circle"], n_points=1800, seeds=(1, 2), tol=1e-6)
    lines = capsys.readouterr().out.splitlines()
    assert len(rows) == 2
    assert len(lines) == 3
    assert all("Multilevel, Dense" in line for line in lines[1:])
