"""Every room of the paper's method against full matrices: with k = N they are equal."""

import numpy as np
import pytest
from tests.support import reference

import vbdm
from vbdm.kernel.bandwidth import Bandwidth
from vbdm.kernel.kernel import evaluate_kernel
from vbdm.kernel.pilot import pilot_bandwidth
from vbdm.shapes import Gaussian


def all_pairs(X):
    return vbdm.neighbors(X, len(X))


def test_pilot_density(cloud):
    graph = all_pairs(cloud)
    rho0, q0 = reference.pilot(cloud, 8, 1.7)
    ours = pilot_bandwidth(graph, 8)
    np.testing.assert_allclose(graph.order.to_caller(ours), rho0, rtol=1e-12)
    kernel = evaluate_kernel(graph, Bandwidth.of_form("symmetric", ours), 0.5, Gaussian())
    np.testing.assert_allclose(graph.order.to_caller(kernel.density(1.7)), q0, rtol=1e-12)


@pytest.mark.parametrize("fixed", [True, False])
def test_tuning_curve(cloud, fixed):
    rho = np.ones(len(cloud)) if fixed else 1 + np.hypot(*cloud.T)
    S, slopes = reference.slopes(reference.squared_distances(cloud), rho)
    tuning = vbdm.rules.tune(all_pairs(cloud), None if fixed else rho)
    np.testing.assert_allclose(tuning.sums, S, rtol=1e-12)
    np.testing.assert_allclose(tuning.slopes, slopes, rtol=1e-9, atol=1e-12)
    assert tuning.epsilon == 2.0 ** (np.argmax(slopes) - 30)
    assert tuning.dim == pytest.approx(2 * slopes.max())


def test_tuning_by_other_shapes_uses_that_shape(cloud):
    compact = vbdm.rules.tune(all_pairs(cloud), shape="compact")
    as_function = vbdm.rules.tune(
        all_pairs(cloud), shape=lambda s: np.clip(1 - s / 16, 0, None) ** 4
    )
    np.testing.assert_allclose(compact.sums, as_function.sums, rtol=1e-12)


@pytest.mark.parametrize("c1", [0.0, 1.0, -0.7])
@pytest.mark.parametrize(("beta", "d"), [(-0.5, 2.0), (-0.5, 1.3), (0.0, 2.0), (-0.25, 3.0)])
def test_operator_and_conjugate(cloud, c1, beta, d):
    expected = reference.operator(cloud, c1=c1, beta=beta, d=d, epsilon=0.03, k0=9)
    op = vbdm.estimate_operator(
        cloud,
        c1,
        dim=d,
        epsilon=0.03,
        bandwidth=vbdm.rules.PowerOfDensity(beta),
        method=vbdm.Paper(n_density_neighbors=9, n_neighbors=len(cloud)),
    )
    L, Lhat, density, alpha = expected
    assert op.settings.exponents.alpha == pytest.approx(alpha)
    assert op.settings.exponents.c1 == pytest.approx(c1)
    np.testing.assert_allclose(op.density, density, rtol=1e-10)
    np.testing.assert_allclose(op.matrix.toarray(), L, atol=1e-10 * abs(L).max())
    np.testing.assert_allclose(op.symmetric.toarray(), Lhat, atol=1e-10 * abs(Lhat).max())
    np.testing.assert_allclose(op @ cloud, L @ cloud, atol=1e-9)
    values = np.linalg.eigvalsh(Lhat)[::-1][:6]
    np.testing.assert_allclose(op.spectrum(6).eigenvalues, values, atol=1e-9)


def test_fully_automatic_paper_method(cloud):
    """Dimension from ρ0's slope, then ε from ρ's: the order that the conventions fix."""
    D2 = reference.squared_distances(cloud)
    rho0, _ = reference.pilot(cloud, 8, 1.0)
    d = 2 * reference.slopes(D2, rho0)[1].max()
    _, q0 = reference.pilot(cloud, 8, d)
    epsilon = 2.0 ** (np.argmax(reference.slopes(D2, q0**-0.5)[1]) - 30)
    op = vbdm.estimate_operator(cloud, method=vbdm.Paper(n_neighbors=len(cloud)))
    assert op.dim == pytest.approx(d)
    assert op.epsilon == epsilon
    np.testing.assert_allclose(op.bandwidth, q0**-0.5, rtol=1e-9)
    L, *_ = reference.operator(cloud, c1=0, beta=-0.5, d=d, epsilon=epsilon, k0=8)
    np.testing.assert_allclose(op.matrix.toarray(), L, atol=1e-9 * abs(L).max())


def test_sparse_kernel_is_the_average_with_its_transpose(cloud):
    graph = vbdm.neighbors(cloud, 15)
    rho = np.exp(0.3 * cloud[:, 0])
    bandwidth = Bandwidth.of_form("symmetric", graph.order.to_inside(rho))
    weights = evaluate_kernel(graph, bandwidth, 0.1, Gaussian()).weights
    dense = np.exp(-reference.squared_distances(cloud) / (0.4 * np.outer(rho, rho)))
    listed = np.zeros_like(dense)
    np.put_along_axis(listed, graph.indices, np.take_along_axis(dense, graph.indices, 1), axis=1)
    ours = graph.order.matrix_to_caller(weights.merged()).toarray()
    np.testing.assert_allclose(ours, (listed + listed.T) / 2, atol=1e-15)
    vector = np.cos(np.arange(len(cloud)))
    product = graph.order.to_caller(weights @ graph.order.to_inside(vector))
    np.testing.assert_allclose(product, ours @ vector, rtol=1e-12)


@pytest.mark.parametrize("form", ["left", "right", "two-sided"])
def test_unsymmetric_forms(cloud, form):
    rho1, rho2 = np.exp(0.3 * cloud[:, 0]), np.exp(-0.2 * cloud[:, 1])
    one, d, epsilon, alpha = np.ones(len(cloud)), 2.0, 0.05, 0.6
    a, b = {"left": (rho1, one), "right": (one, rho1), "two-sided": (rho1, rho2)}[form]
    K = np.exp(-reference.squared_distances(cloud) / (4 * epsilon * np.outer(a, b)))
    q = K.sum(axis=1) / (a * b) ** (d / 2)
    Ka = K / np.outer(q, q) ** alpha
    L = (Ka / Ka.sum(axis=1)[:, None] - np.eye(len(cloud))) / (epsilon * a * b)[:, None]
    op = vbdm.estimate_operator(
        cloud,
        dim=d,
        epsilon=epsilon,
        bandwidth=(rho1, rho2) if form == "two-sided" else rho1,
        method=vbdm.Paper(alpha=alpha, form=form, n_neighbors=len(cloud)),
    )
    np.testing.assert_allclose(op.matrix.toarray(), L, atol=1e-10 * abs(L).max())
    np.testing.assert_allclose(op.widths, np.sqrt(4 * epsilon * a * b), rtol=1e-12)
    with pytest.raises(vbdm.InputError, match="Symmetric conjugates need"):
        _ = op.symmetric
    values = np.sort(np.linalg.eigvals(L).real)[::-1][:4]
    np.testing.assert_allclose(op.spectrum(4).eigenvalues.real, values, atol=1e-8)
