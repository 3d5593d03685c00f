"""The default method: right eigenvalues from nothing but points and the operator's name.

Seeds here were never used to choose a setting. Bounds are for the worst seed at this small N; the
full table at N = 10,000 is made by `benchmarks/accuracy.py`.
"""

import numpy as np
import pytest
from tests.support.measures import function_error, relative_errors
from tests.support.slow import with_slow

import vbdm

pytestmark = pytest.mark.truth

D = vbdm.datasets
#: Problem, and the largest mean relative error of the first five eigenvalues at N = 2000.
PROBLEMS = {
    "OU R²": (lambda n, s: D.ou(n, dim=2, random_state=s), 0.10),
    "OU R³": (lambda n, s: D.ou(n, dim=3, random_state=s), 0.12),
    "circle": (lambda n, s: D.circle(n, sampling="random", random_state=s), 0.03),
    "ellipse": (lambda n, s: D.ellipse(n, random_state=s), 0.03),
    "sphere": (lambda n, s: D.sphere(n, axes=(1, 0.5, 0.3), random_state=s), 0.08),
    "torus": (lambda n, s: D.torus(n, random_state=s), 0.04),
    "S³": (lambda n, s: D.sphere(n, dim=3, axes=(1, 0.8, 0.6, 0.7), random_state=s), 0.06),
    "double well": (lambda n, s: D.double_well(n, random_state=s), 0.07),
    "noisy circle": (lambda n, s: D.noisy_circle(n, random_state=s), 0.06),
    "interval": (lambda n, s: D.interval(n, random_state=s), 0.04),
    "hemisphere": (lambda n, s: D.hemisphere(n, random_state=s), 0.09),
}


@pytest.mark.parametrize("name", with_slow(PROBLEMS, "noisy circle"))
def test_eigenvalues_without_tuning(name):
    make, allowed = PROBLEMS[name]
    for seed in (901, 902):
        sample = make(2000, seed)
        spectrum = vbdm.estimate_operator(sample.points, sample.operator).spectrum(6)
        errors = relative_errors(spectrum.eigenvalues, sample.truth(6).eigenvalues)
        assert errors.mean() < allowed


@pytest.mark.parametrize(
    ("name", "group", "allowed"),
    [("OU R²", [1, 2], 0.03), ("sphere", [1, 2, 3], 0.02), ("S³", [1, 2, 3, 4], 0.02)],
)
def test_first_eigenspace(name, group, allowed):
    sample = PROBLEMS[name][0](2000, 903)
    spectrum = vbdm.estimate_operator(sample.points, sample.operator).spectrum(6)
    exact = sample.truth(6).eigenfunctions(sample.parameters)
    assert function_error(spectrum.eigenfunctions[:, group], exact[:, group]) < allowed


@pytest.mark.parametrize("c1", with_slow([0.0, 0.5, 1.0, 2.0], 2.0))
def test_any_drift(c1):
    """The finite-sample correction depends on c1; without it c1 = 2 would be 13 % too small."""
    sample = D.torus(4000, density="exponential", random_state=904)
    spectrum = vbdm.estimate_operator(sample.points, c1).spectrum(6)
    ratio = spectrum.eigenvalues[1:] / sample.truth(6, c1).eigenvalues[1:]
    # Members of a degenerate pair repel each other: their mean is what counts.
    assert abs(ratio.mean() - 1) < 0.04


def test_first_eigenvalues_do_not_depend_on_how_many_are_asked_for():
    for sample in (D.ou(2000, random_state=905), D.ou(2000, dim=2, random_state=905)):
        op = vbdm.estimate_operator(sample.points, "generator")
        few, many = op.spectrum(10).eigenvalues, op.spectrum(20).eigenvalues
        np.testing.assert_allclose(few, many[:10], rtol=0.02, atol=1e-12)


def test_no_spurious_mode_where_the_paper_has_one():
    sample = D.ou(10_000, dim=2, random_state=906)
    paper = vbdm.estimate_operator(sample.points, "generator", "paper").spectrum(4)
    ours = vbdm.estimate_operator(sample.points, "generator").spectrum(4)
    assert paper.eigenvalues[1] > -0.6
    assert relative_errors(ours.eigenvalues, sample.truth(4).eigenvalues).max() < 0.10


@pytest.mark.parametrize("make", with_slow([D.with_outliers, D.with_duplicates], D.with_duplicates))
def test_outliers_and_duplicates(make):
    """No mode slower than the first true one, -1."""
    for n in (2000, 10_000):
        sample = make(D.ou(n, dim=2, random_state=907), random_state=908)
        spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(6)
        assert spectrum.eigenvalues[1] < -0.8


def test_stretched_exponential():
    sample = D.stretched(10_000, random_state=909)
    spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(3)
    assert relative_errors(spectrum.eigenvalues, sample.truth(3).eigenvalues).max() < 0.12


def test_pieces_of_two_clusters():
    sample = D.clusters(2000, separation=50.0, random_state=910)
    spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(6)
    np.testing.assert_array_equal(spectrum.eigenvalues[:2], 0)
    assert np.abs(spectrum.eigenvalues[2:] + 1).max() < 0.2


@pytest.mark.slow
def test_cov_and_error_bars():
    """Truths lie within two standard errors and the bias."""
    inside = []
    for seed in range(911, 917):
        sample = D.sphere(1500, axes=(1, 0.5, 0.3), random_state=seed)
        spectrum = vbdm.estimate_operator(sample.points).spectrum(6)
        room = 2 * spectrum.standard_errors + np.abs(spectrum.errors.bias)
        inside.append(np.abs(spectrum.eigenvalues - sample.truth(6).eigenvalues)[1:] <= room[1:])
    assert np.mean(inside) >= 0.85


def test_boundary_of_an_interval():
    """Neumann: the eigenfunctions are cosines up to the edge."""
    sample = D.interval(2000, random_state=917)
    spectrum = vbdm.estimate_operator(sample.points).spectrum(3)
    exact = sample.truth(3).eigenfunctions(sample.parameters)
    assert function_error(spectrum.eigenfunctions[:, 1], exact[:, 1]) < 0.01
