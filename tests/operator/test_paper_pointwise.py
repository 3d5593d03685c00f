"""The operators applied to smooth functions, against their analytic limits (the appendices)."""

import numpy as np
import pytest

import vbdm

pytestmark = pytest.mark.truth


@pytest.fixture(scope="module")
def uniform_circle():
    sample = vbdm.datasets.circle(3000, density="uniform", offset="periodic")
    angle = sample.parameters[:, 0]
    return vbdm.neighbors(sample.points, 1200), angle


def limit(angle, form, dim=1):
    drift = 0 if form == "left" else (dim + 2) * np.cos(angle) * -np.sin(angle)
    return -np.sin(angle) + drift


# The largest error at ε = 0.01 and 0.001, as measured before this code was written.
PRINTED = {"left": (0.0076, 0.00073), "right": (0.252, 0.030), "symmetric": (0.49, 0.072)}


@pytest.mark.parametrize("form", PRINTED)
def test_given_bandwidth_on_a_circle(uniform_circle, form):
    graph, angle = uniform_circle
    for epsilon, printed in zip((0.01, 0.001), PRINTED[form], strict=True):
        op = vbdm.estimate_operator(
            graph,
            bandwidth=np.exp(np.cos(angle)),
            dim=1,
            epsilon=epsilon,
            method=vbdm.Paper(alpha=0, form=form),
        )
        error = np.abs(op @ np.sin(angle) - limit(angle, form)).max()
        # Two printed digits.
        assert error == pytest.approx(printed, rel=0.02)


@pytest.mark.parametrize("form", PRINTED)
@pytest.mark.parametrize("alpha", [0, 1])
def test_first_order_in_epsilon(uniform_circle, form, alpha):
    graph, angle = uniform_circle
    errors = []
    for epsilon in (0.001, 0.0005):
        op = vbdm.estimate_operator(
            graph,
            bandwidth=np.exp(np.cos(angle)),
            dim=1,
            epsilon=epsilon,
            method=vbdm.Paper(alpha=alpha, form=form),
        )
        errors.append(np.abs(op @ np.sin(angle) - limit(angle, form)).max())
    # First order: halving ε halves the error, up to the next order (a few per cent here).
    assert 0.9 < np.log2(errors[0] / errors[1]) < 1.1


def test_two_sided_limit_sees_only_the_second_bandwidth(uniform_circle):
    graph, angle = uniform_circle
    rho1, rho2 = np.exp(np.sin(angle)), np.exp(np.cos(angle))
    expected = -np.sin(angle) - 3 * np.sin(angle) * np.cos(angle)
    errors = []
    for epsilon in (0.001, 0.0005):
        op = vbdm.estimate_operator(
            graph,
            bandwidth=(rho1, rho2),
            dim=1,
            epsilon=epsilon,
            method=vbdm.Paper(alpha=1, form="two-sided"),
        )
        errors.append(np.abs(op @ np.sin(angle) - expected).max())
    assert errors[1] < 0.05
    assert 0.85 < np.log2(errors[0] / errors[1]) < 1.15


@pytest.fixture(scope="module")
def uneven_circle():
    sample = vbdm.datasets.circle(4000, density="exponential", offset="midpoint")
    return vbdm.neighbors(sample.points, 1500), sample.parameters[:, 0]


@pytest.mark.parametrize(("c1", "allowed"), [(0, 0.023), (1, 0.010)])
def test_estimated_density(uneven_circle, c1, allowed):
    graph, angle = uneven_circle
    expected = -np.sin(angle) - c1 * np.sin(angle) * np.cos(angle)
    epsilons = np.array([0.004, 0.002, 0.001])
    errors = [
        np.abs(
            vbdm.estimate_operator(graph, c1, dim=1, epsilon=e, method="paper") @ np.sin(angle)
            - expected
        ).max()
        for e in epsilons
    ]
    assert errors[-1] <= allowed
    assert 0.75 <= np.polyfit(np.log(epsilons), np.log(errors), 1)[0] <= 1.2


@pytest.mark.parametrize("as_function", [True, False])
def test_known_potential(uneven_circle, as_function):
    """U = sin 2θ has nothing to do with the sampling density, and the limit is Δf - ∇U·∇f."""
    graph, angle = uneven_circle
    expected = -np.sin(angle) - 2 * np.cos(2 * angle) * np.cos(angle)
    potential = np.sin(2 * angle)
    if as_function:
        potential = lambda X: 2 * X[:, 0] * X[:, 1]  # noqa: E731
    errors = []
    for epsilon in (0.001, 0.0005):
        op = vbdm.estimate_operator(
            graph, method="paper", potential=potential, dim=1, epsilon=epsilon
        )
        errors.append(np.abs(op @ np.sin(angle) - expected).max())
    assert op.settings.exponents.alpha == 1
    assert op.settings.exponents.c1 is None
    assert errors[1] < 0.02
    assert 0.85 < np.log2(errors[0] / errors[1]) < 1.15


@pytest.mark.parametrize("shape", [*vbdm.shapes.SHAPES, lambda s: np.exp(-s)])
def test_every_shape_has_the_same_limit(uneven_circle, shape):
    graph, angle = uneven_circle
    errors = []
    for epsilon in (0.001, 0.0005):
        op = vbdm.estimate_operator(
            graph, 1, dim=1, epsilon=epsilon, method=vbdm.Paper(shape=shape)
        )
        expected = -np.sin(angle) - np.sin(angle) * np.cos(angle)
        errors.append(np.abs(op @ np.sin(angle) - expected).max())
    assert errors[1] < 0.01
    assert 0.8 < np.log2(errors[0] / errors[1]) < 1.2


@pytest.mark.slow
@pytest.mark.parametrize("form", PRINTED)
def test_torus(form):
    """62,500 grid points in R⁴ with 500 neighbours: the appendix's second column."""
    sample = vbdm.datasets.torus(62_500, sampling="grid")
    angle = sample.parameters[:, 0]
    graph = vbdm.neighbors(sample.points, 500)
    errors = []
    for epsilon in (0.001, 0.0005):  # at larger ε 500 neighbours cut the kernel
        op = vbdm.estimate_operator(
            graph,
            bandwidth=np.exp(np.cos(angle)),
            dim=2,
            epsilon=epsilon,
            method=vbdm.Paper(alpha=0, form=form),
        )
        errors.append(np.abs(op @ np.sin(angle) - limit(angle, form, dim=2)).max())
    assert errors[1] < {"left": 0.0004, "right": 0.021, "symmetric": 0.17}[form]
    assert errors[1] < 0.65 * errors[0]
