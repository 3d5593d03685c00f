"""The default method: right eigenvalues from nothing but points and the operator's name.

Seeds here were never used to choose a setting. Bounds are for the worst seed at this small N; the
full table at N = 10,000 is made by `benchmarks/accuracy.py`.
"""

import numpy as np
import pytest
from tests.support.measures import function_error, relative_errors
from tests.support.slow import with_slow

import vbdm
from vbdm.kernel.epsilon import degree_target
from vbdm.spectrum.limiter import may_be_limited

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
    paper = vbdm.estimate_operator(sample.points, "generator", method="paper").spectrum(4)
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


# --- Many dimensions: no sample resolves them, and the estimate stays smooth and near the truth ---


@pytest.fixture(scope="module")
def gaussian():
    points = np.random.default_rng(4100).normal(size=(1000, 8))
    return points, vbdm.estimate_operator(points, "generator").spectrum(9)


def test_modes_of_a_gaussian_are_its_coordinates(gaussian):
    points, spectrum = gaussian
    basis, _ = np.linalg.qr(points - points.mean(axis=0))
    found = spectrum.eigenfunctions[:, 1:] / np.sqrt(len(points))
    assert np.square(basis.T @ found).sum() / 8 > 0.95  # it was 0.85
    largest = np.sort(np.square(found), axis=0)[-10:].sum(axis=0)
    assert largest.max() < 0.2  # it was 0.46; that of a coordinate is 0.07


def test_its_eigenvalues_are_near_the_truth_and_inside_their_intervals(gaussian):
    spectrum = gaussian[1]
    np.testing.assert_allclose(spectrum.eigenvalues[1:9].mean(), -1, atol=0.15)
    lower, upper = spectrum.intervals().T[:, 1:9]
    assert ((lower < -1) & (upper > -1)).all()
    # The change with ε is read off masses that follow it.
    assert (np.abs(spectrum.errors.bias[1:]) < 0.3).all()


def test_few_dimensions_are_as_they_were():
    assert may_be_limited(vbdm.rules.Limiter(), 6) == vbdm.rules.Limiter().cap
    assert degree_target(10_000, 6) == pytest.approx(17)
    assert degree_target(10_000, 7.5) == pytest.approx(1.5 * 17)
    points = vbdm.datasets.ou(800, dim=2, random_state=0).points
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(5)
    assert spectrum.limits.shared.cut <= spectrum.limits.shared.highest
    assert spectrum.limits.shared.without_many is spectrum.limits.shared


def test_a_model_of_many_dimensions_can_be_kept(gaussian, tmp_path):
    spectrum = gaussian[1]
    assert spectrum.limits.shared.cut > spectrum.limits.shared.highest
    spectrum.save(tmp_path / "model.vbdm")
    again = vbdm.load(tmp_path / "model.vbdm")
    np.testing.assert_array_equal(again.eigenvalues, spectrum.eigenvalues)
    assert again.limits == spectrum.limits
    np.testing.assert_array_equal(again.total_errors, spectrum.total_errors)


# --- Promised rates, measured: bias O(ε) on deterministic points, sampling error O(N^{-1/2}) ------


def test_eigenvalue_bias_is_first_order():
    sample = vbdm.datasets.circle(600, density="uniform", offset="periodic")
    graph = vbdm.neighbors(sample.points, 600)
    epsilons = np.array([0.08, 0.04, 0.02])
    bias = []
    for epsilon in epsilons:
        op = vbdm.estimate_operator(
            graph, dim=1, epsilon=epsilon, bandwidth=vbdm.rules.PowerOfDensity(0), method="paper"
        )
        bias.append(abs(op.spectrum(3).eigenvalues[2] + 1))
    slope = np.polyfit(np.log(epsilons), np.log(bias), 1)[0]
    assert 0.85 < slope < 1.15


@pytest.mark.slow
def test_sampling_error_of_the_operator_falls_with_n():
    """At fixed ε the standard deviation of L f at a point is ∝ N^{-1/2} (Theorem "mainresult")."""
    target = np.array([[1.0, 0.0]])
    spreads, sizes = [], [200, 800]
    for n in sizes:
        values = []
        for seed in range(60):
            angle = np.random.default_rng(seed).uniform(0, 2 * np.pi, n - 1)
            X = np.concatenate([target, np.c_[np.cos(angle), np.sin(angle)]])
            op = vbdm.estimate_operator(
                X,
                dim=1,
                epsilon=0.02,
                bandwidth=vbdm.rules.PowerOfDensity(0),
                method=vbdm.Paper(n_neighbors=n),
            )
            values.append((op @ X[:, 1])[0])
        spreads.append(np.std(values))
    slope = np.log(spreads[1] / spreads[0]) / np.log(sizes[1] / sizes[0])
    # 60 draws leave 9 % on each spread, so 0.09 on the slope: three of these either way.
    assert -0.77 < slope < -0.23
