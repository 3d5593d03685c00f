"""Equations against analytic truth, in one, two and three dimensions."""

import numpy as np
import pytest

import vbdm

pytestmark = pytest.mark.truth


def root_mean_square(values):
    return float(np.sqrt(np.mean(np.square(values))))


def integral(x, y):
    return np.concatenate([[0], np.cumsum((y[1:] + y[:-1]) / 2 * np.diff(x))])


def double_well(n, seed):
    grid = np.linspace(-3, 3, 200_001)
    share = integral(grid, np.exp(-2 * (grid**2 - 1) ** 2))
    draws = np.random.default_rng(seed).random(n)
    return np.interp(draws, share / share[-1], grid)[:, None]


def committor_on_line(x, log_density):
    grid = np.linspace(-1, 1, 20_001)
    resistance = integral(grid, np.exp(-log_density(grid)))
    return np.interp(x, grid, resistance / resistance[-1])


LINES = {
    "gaussian": (lambda x: -(x**2) / 2, lambda n, s: np.random.default_rng(s).normal(size=(n, 1))),
    "double well": (lambda x: -2 * (x**2 - 1) ** 2, double_well),
}


@pytest.mark.parametrize("name", LINES)
def test_committor_on_a_line(name):
    log_density, draw = LINES[name]
    for seed in (1, 2):
        X = draw(4000, seed)
        x = X[:, 0]
        found = vbdm.estimate_operator(X, "generator").committor(x <= -1, x >= 1)
        free = np.abs(x) < 1
        error = found.values[free] - committor_on_line(x[free], log_density)
        assert root_mean_square(error) < 0.02
        assert (found.values[x <= -1] == 0).all()
        assert (found.values[x >= 1] == 1).all()


def test_flux_rates_and_passage_time_of_a_double_well():
    for seed in (1, 2, 3):
        X = double_well(4000, seed)
        x = X[:, 0]
        op = vbdm.estimate_operator(X, "generator")
        found = op.committor("x0 <= -1", "x0 >= 1")
        truths = (found.flux, 0.09748), (found.rate, 0.19496), (found.rate_back, 0.19496)
        times = op.mean_first_passage(x >= 1).mean(over=x <= -1)
        for (value, error), truth in (*truths, (times, 5.16)):
            assert abs(value - truth) < 3.5 * error
            assert 0.01 * truth < error < 0.15 * truth


def test_time_to_reach_a_disc_is_a_logarithm():
    X = np.random.default_rng(0).standard_normal((5000, 2))
    r = np.hypot(*X.T)
    found = vbdm.estimate_operator(X, "generator").mean_first_passage(r < 0.5)
    outside = r > 0.5
    truth = np.log(r[outside] / 0.5)
    assert found.values[outside].mean() == pytest.approx(truth.mean(), rel=0.06)
    assert (found.values[~outside] == 0).all()
    assert (found.second_moment[outside] > found.values[outside] ** 2 / 2).all()


def test_exit_from_a_cap_of_a_sphere():
    X = vbdm.datasets.sphere(4000, random_state=0).points
    angle = np.arccos(X[:, 2])
    inside = angle < 1.0
    op = vbdm.estimate_operator(X)
    truth = 2 * np.log(np.cos(angle / 2) / np.cos(0.5))[inside]
    for region in (inside, angle - 1.0):
        found = op.equations.exit_time(region)
        assert root_mean_square(found.values[inside] - truth) < 0.08 * root_mean_square(truth)


@pytest.mark.parametrize("dim", [2, 3])
def test_poisson_on_spheres(dim):
    Z = np.random.default_rng(dim).standard_normal((5000, dim + 1))
    X = Z / np.linalg.norm(Z, axis=1)[:, None]
    z = X[:, -1]
    op = vbdm.estimate_operator(X)
    for screen in (0.0, 1.0):
        found = op.solve(z - z @ op.equations.measure, screen=screen)
        truth = z / (screen + dim)
        assert root_mean_square(found.values - truth) < 0.08 * root_mean_square(truth)
        assert found.iterations <= 15
        assert found.residual <= 1e-6
    both = op.solve(np.stack([z, 2 * z], axis=1), screen=1.0).values
    np.testing.assert_allclose(both[:, 1], 2 * both[:, 0], atol=1e-5)


def test_hitting_probabilities_sum_to_one_and_contain_the_committor():
    X = np.random.default_rng(0).standard_normal((4000, 2))
    angle = np.arctan2(X[:, 1], X[:, 0])
    far = np.hypot(*X.T) > 1.5
    sector = np.floor((angle + np.pi) / (2 * np.pi / 3)).astype(int).clip(0, 2)
    sets = {f"sector {j}": far & (sector == j) for j in range(3)}
    op = vbdm.estimate_operator(X, "generator")
    found = op.equations.hitting_probabilities(sets)
    assert found.names == tuple(sets)
    assert found.values.shape == (4000, 3)
    np.testing.assert_allclose(found.values.sum(axis=1), 1.0, atol=1e-5)
    rest = sets["sector 1"] | sets["sector 2"]
    np.testing.assert_allclose(
        found.values[:, 0], op.committor(rest, sets["sector 0"]).values, atol=0.02
    )
    middle = np.hypot(*X.T) < 0.2
    assert found.entropy[middle].min() > 0.9
    assert found.entropy[sets["sector 1"]].max() < 1e-6


@pytest.mark.parametrize("jumping", [False, True], ids=["smooth", "jumping"])
def test_rates_and_times_from_a_biased_sample(jumping):
    known = vbdm.datasets.line_transition(LINES["double well"][0], -1.0, 1.0, low=-6.0, high=6.0)
    for seed in (1, 2):
        sample = vbdm.datasets.double_well(3000, beta_sampling=0.5, random_state=seed)
        noise = np.random.default_rng(seed).exponential(size=3000).clip(0.05)
        weights = sample.weights * noise if jumping else sample.weights
        op = vbdm.estimate_operator(sample.points, "generator", weights=weights)
        x = sample.points[:, 0]
        found = op.committor(x <= -1, x >= 1)
        times = op.mean_first_passage(x >= 1).mean(over=x <= -1)
        free = np.abs(x) < 1
        assert root_mean_square(found.values[free] - known.committor(x[free])) < 0.03
        for (value, error), truth in (
            (found.rate, known.rate), (times, known.mean_passage_time)
        ):  # fmt: skip
            assert abs(value - truth) < 3.5 * error
            assert error < 0.12 * truth
