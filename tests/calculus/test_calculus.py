"""Gradients, tangents, products of gradients and drift against their closed forms."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.support.blocks import in_blocks
from tests.support.estimates import estimate_with

import vbdm
from vbdm import datasets as ds
from vbdm.calculus import calculus, surroundings
from vbdm.calculus.calculus import leading
from vbdm.errors import InputError
from vbdm.operator.normalise import with_epsilon
from vbdm.operator.sums import pairs_of
from vbdm.placement import Dask, Disk

pytestmark = pytest.mark.truth


def uneven_sphere(n, seed, dim=2):
    """Return points of the unit sphere with a density that grows with the last coordinate."""
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((4 * n, dim + 1))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return z[rng.random(4 * n) < (1 + 0.8 * z[:, -1]) / 1.8][:n]


def on_sphere(points, vectors):
    """Return the parts of vectors that lie in the tangent spaces of the unit sphere."""
    return vectors - points * (points * vectors).sum(axis=1, keepdims=True)


def relative(found, truth):
    return np.sqrt(((found - truth) ** 2).sum() / (truth**2).sum())


@pytest.fixture(scope="module")
def sphere():
    points = uneven_sphere(10_000, seed=9001)
    return points, vbdm.estimate_operator(points)


@pytest.fixture(scope="module")
def plane():
    points = ds.ou(10_000, dim=2, random_state=9002).points
    return points, vbdm.estimate_operator(points, "generator")


def test_gradients_on_an_uneven_sphere(sphere):
    X, op = sphere
    x, y, z = X.T
    truth = on_sphere(X, np.column_stack([y + x, x, np.ones_like(x)]))
    assert relative(op.gradient(x * y + z + x**2 / 2), truth) < 0.015


def test_tangents_of_the_sphere(sphere):
    X, op = sphere
    V = op.calculus.tangents
    assert V.shape == (10_000, 3, 2)
    assert np.allclose(np.swapaxes(V, 1, 2) @ V, np.eye(2), atol=1e-12)
    sines = np.linalg.norm(np.einsum("in,ind->id", X, V), axis=1)
    assert np.sqrt((sines**2).mean()) < 0.01
    assert abs(op.calculus.carre_du_champ(X).sum(axis=1).mean() - 2) < 0.1


def test_gradients_in_a_gaussian(plane):
    X, op = plane
    x, y = X.T
    inner = np.linalg.norm(X, axis=1) < 2
    found = op.gradient(np.column_stack([np.sin(x) + x * y, x**2]))
    assert found.shape == (10_000, 2, 2)
    truth = np.column_stack([np.cos(x) + y, x])
    assert relative(found[inner, :, 0], truth[inner]) < 0.015
    assert relative(found[inner, :, 1], np.column_stack([2 * x, 0 * x])[inner]) < 0.015
    assert abs(op.calculus.carre_du_champ(X)[inner].sum(axis=1).mean() - 2) < 0.1


def test_products_of_gradients(plane):
    """Γ(f, g) with its error of a kernel mean, and from gradients with less."""
    X, op = plane
    x, y = X.T
    inner = np.linalg.norm(X, axis=1) < 2
    truth = (x + y)[inner]
    direct = op.calculus.carre_du_champ(x * y, x + y)[inner]
    by_gradients = (op.gradient(x * y) * op.gradient(x + y)).sum(axis=1)[inner]
    assert relative(direct, truth) < 0.15
    assert relative(by_gradients, truth) < 0.02


def test_the_definition(plane):
    """Γ(f, g) is ½(L(fg) - f Lg - g Lf), the same sums in another order."""
    X, op = plane
    f, g = np.sin(X[:, 0]), X[:, 1] ** 2
    expanded = (op @ (f * g) - f * (op @ g) - g * (op @ f)) / 2
    assert np.allclose(op.calculus.carre_du_champ(f, g), expanded, atol=1e-9)
    columns = op.calculus.carre_du_champ(np.column_stack([f, g]), g)
    assert np.allclose(columns[:, 0], op.calculus.carre_du_champ(f, g))
    assert np.allclose(columns[:, 1], op.calculus.carre_du_champ(g))


def test_a_constant_far_away_costs_no_digits(plane):
    X, op = plane
    assert np.allclose(
        op.calculus.carre_du_champ(1e8 + X[:, 0]), op.calculus.carre_du_champ(X[:, 0]), rtol=1e-6
    )


def test_linear_functions_are_exact(plane):
    X, op = plane
    assert np.allclose(op.gradient(3 * X[:, 0] - 2 * X[:, 1] + 5), [3, -2], atol=1e-9)


@pytest.mark.parametrize(("dim", "bound"), [(1, 0.005), (3, 0.1)])
def test_gradients_in_other_dimensions(dim, bound):
    """A circle in space, and the three-dimensional sphere in four."""
    X = uneven_sphere(4000, seed=9003, dim=dim)
    wide = X if dim == 3 else np.column_stack([X, 0.0 * X[:, 0]])
    op = vbdm.estimate_operator(wide)
    assert op.calculus.tangents.shape == (4000, wide.shape[1], dim)
    truth = on_sphere(X, np.column_stack([X[:, 1], X[:, 0], *0 * X.T[2:]]))
    found = op.gradient(X[:, 0] * X[:, 1])
    assert relative(found[:, : dim + 1], truth) < bound
    assert np.allclose(found[:, dim + 1 :], 0)


def test_many_columns_have_the_same_gradients():
    """A sphere turned into 60 columns: nothing else changes."""
    X = uneven_sphere(1500, seed=9004)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 3)))[0]
    few, many = vbdm.estimate_operator(X), vbdm.estimate_operator(X @ turn.T)
    f = X[:, 0] * X[:, 2]
    assert np.allclose(many.gradient(f) @ turn, few.gradient(f), atol=1e-5)
    assert np.allclose(many.gradient(f), few.gradient(f) @ turn.T, atol=1e-5)


def test_a_periodic_column_is_crossed_by_its_nearest_image():
    X = np.random.default_rng(9005).uniform(0, 1, (6000, 2)) * [1.0, 2.0]
    op = vbdm.estimate_operator(X, period=[1.0, 2.0])
    angle = 2 * np.pi * X / [1, 2]
    found = op.gradient(np.sin(angle[:, 0]) + np.cos(angle[:, 1]))
    truth = np.column_stack([2 * np.pi * np.cos(angle[:, 0]), -np.pi * np.sin(angle[:, 1])])
    assert relative(found, truth) < 0.02
    edge = (X < 0.02).any(axis=1)
    assert relative(found[edge], truth[edge]) < 0.04


def test_copies_share_a_gradient():
    X = ds.ou(1500, dim=2, random_state=9006).points
    twice = np.concatenate([X, X[:500]])
    op = vbdm.estimate_operator(twice, "generator")
    found = op.gradient(twice[:, 0] ** 2)
    assert found.shape == (2000, 2)
    assert np.array_equal(found[:500], found[1500:])
    assert np.array_equal(op.calculus.tangents[:500], op.calculus.tangents[1500:])


def test_points_without_neighbours_have_no_derivatives():
    """With so narrow a kernel half of the points are alone, and others have one neighbour."""
    X = ds.ou(800, dim=2, random_state=0).points
    op = with_epsilon(vbdm.estimate_operator(X, "generator"), 1e-5)
    alone = pairs_of(op) == 0
    assert 100 < alone.sum() < 700
    for found in (op.calculus.carre_du_champ(X), op.calculus.tangents.reshape(800, -1)):
        assert np.array_equal(np.isnan(found).any(axis=1), alone)
    assert np.array_equal(np.isnan(op.gradient(X[:, 0])).any(axis=1), pairs_of(op) < 2)


@pytest.mark.parametrize("make", [lambda op: in_blocks(op, 5), lambda op: in_blocks(op, 3, "disk")])
def test_in_blocks_derivatives_are_the_same(make):
    X = uneven_sphere(2000, seed=9007)
    op = vbdm.estimate_operator(X)
    cut = make(op)
    f = X[:, :2] ** 2
    assert np.allclose(cut.gradient(f), op.gradient(f), atol=1e-10)
    assert np.allclose(cut.calculus.carre_du_champ(f), op.calculus.carre_du_champ(f), rtol=1e-12)
    across = np.swapaxes(cut.calculus.tangents, 1, 2) @ op.calculus.tangents
    assert np.allclose(np.abs(np.linalg.det(across)), 1)


def test_on_disk_and_by_lists():
    X = uneven_sphere(2500, seed=9008)
    truth = on_sphere(X, np.array([[0.0, 0.0, 1.0]]) + 0 * X)
    for options in ({"placement": Disk(blocks=4)}, {"method": "paper"}):
        assert relative(estimate_with(X, **options).gradient(X[:, 2]), truth) < 0.05


def test_small_blocks_change_nothing(monkeypatch):
    X = uneven_sphere(600, seed=9009)
    op = vbdm.estimate_operator(X)
    whole = op.gradient(X[:, 0])
    monkeypatch.setattr(surroundings, "MOST_NUMBERS", 1000)
    assert np.allclose(op.gradient(X[:, 0]), whole, atol=1e-12)


def test_leading_pairs_of_larger_matrices():
    """By a few products where they stand out, by solving for all where they do not."""
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((20, 40, 40)))[0]
    for rest in (0.01, 0.98):
        spread = np.concatenate([[2.0, 1.5, 1.0], np.full(37, rest)])
        values, vectors = calculus.top_pairs((turn * spread) @ np.swapaxes(turn, 1, 2), 3)
        assert np.allclose(values, [2, 1.5, 1])
        assert np.allclose(np.abs((turn[..., :3] * vectors).sum(axis=1)), 1)


@pytest.mark.parametrize("shape", [(5, 12), (12, 5), (2, 12), (2, 3)])
def test_leading_directions_of_many_columns_or_few_neighbours(shape):
    """Fewer neighbours than directions leave some open: those have no spread."""
    x = np.random.default_rng(1).standard_normal((20, *shape))
    values, vectors = leading(x, 3)
    spread = np.linalg.eigvalsh(np.swapaxes(x, 1, 2) @ x)[:, ::-1][:, :3]
    assert np.allclose(values, spread, atol=1e-9)
    assert np.allclose(np.swapaxes(vectors, 1, 2) @ vectors, np.eye(3), atol=1e-9)
    along = np.square(x @ vectors).sum(axis=1)
    assert np.allclose(along, spread, atol=1e-9)


def test_drift_by_modes(plane):
    """12 modes are enough for the drift -x of a Gaussian; `op @ x` is noise."""
    X, op = plane
    assert relative(op.spectrum(12).dynamics.drift(), -X) < 0.2
    assert relative(op @ X, -X) > 2


def test_the_drift_of_an_angle():
    """On a circle as a periodic column, with the density exp(cos θ): the drift is -sin θ."""
    sample = ds.circle(4000, density=lambda a: np.exp(np.cos(a)), sampling="random", random_state=1)
    angle = sample.parameters % (2 * np.pi)
    op = vbdm.estimate_operator(angle, "generator", period=2 * np.pi)
    assert relative(op.spectrum(9).dynamics.drift(7), -np.sin(angle)) < 0.1


def test_arrows(plane):
    X, op = plane
    ax = vbdm.plot.arrows(op, op.gradient(X[:, 0] ** 2), squares=10)
    drawn = ax.collections[-1]
    inner = np.hypot(drawn.X, drawn.Y) < 2
    assert inner.sum() > 10
    assert np.allclose(drawn.U[inner], 2 * drawn.X[inner], atol=0.1)
    assert np.abs(drawn.V[inner]).max() < 0.1
    plt.close("all")


def precomputed():
    X = np.random.default_rng(0).standard_normal((200, 2))
    return vbdm.estimate_operator(np.linalg.norm(X[:, None] - X, axis=2), metric="precomputed")


def test_without_coordinates_there_are_products_only():
    op = precomputed()
    assert op.calculus.carre_du_champ(np.arange(200.0)).shape == (200,)
    for call in (
        lambda: op.calculus.tangents,
        lambda: op.gradient(np.ones(200)),
        op.spectrum(3).dynamics.drift,
    ):
        with pytest.raises(InputError, match="need coordinates"):
            call()
    with pytest.raises(InputError, match="points are needed to be drawn"):
        vbdm.plot.arrows(op, np.ones((200, 2)))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda op, X: op.gradient(X[:3, 0]), "shape"),
        (lambda op, X: op.gradient(np.full(300, np.nan)), "finite"),
        (lambda op, X: op.gradient("x"), "shape"),
        (lambda op, X: op.calculus.carre_du_champ(X, X[:, [0, 1, 1]]), "as many columns"),
        (lambda op, X: op.calculus.carre_du_champ(X[:, 0], X[:3]), "shape"),
        (lambda op, X: op.spectrum(3).dynamics.drift(1), "n_modes"),
        (lambda op, X: op.spectrum(3).dynamics.drift(9), "n_modes"),
        (lambda op, X: vbdm.plot.arrows(op, X[:, 0]), "vector for each point"),
        (lambda op, X: vbdm.plot.arrows(op, X, columns=(0, 2)), "two different columns"),
        (lambda op, X: vbdm.plot.arrows(op, X, columns=(1, 1)), "two different columns"),
        (lambda op, X: vbdm.plot.arrows(op, X, squares=0), "squares"),
        (lambda op, X: vbdm.plot.arrows(op, X, ax=3), "axes of matplotlib"),
        (lambda op, X: vbdm.plot.arrows("op", X), "no operator"),
    ],
)
def test_errors_say_what_is_wrong(call, words):
    X = np.random.default_rng(0).standard_normal((300, 2))
    with pytest.raises(InputError, match=words):
        call(vbdm.estimate_operator(X), X)


# --- Derivatives where rows live on workers -------------------------------------------------------


@pytest.mark.blocks
def test_on_workers_derivatives_are_the_same(cluster):
    X = vbdm.datasets.sphere(1500, random_state=0).points
    here = vbdm.estimate_operator(X)
    there = vbdm.estimate_operator(X, run=vbdm.Run(placement=Dask(cluster, blocks=3)))
    assert np.allclose(there.gradient(X[:, :2]), here.gradient(X[:, :2]), atol=1e-9)
    assert np.allclose(there.calculus.carre_du_champ(X), here.calculus.carre_du_champ(X), rtol=1e-9)
    across = np.swapaxes(there.calculus.tangents, 1, 2) @ here.calculus.tangents
    assert np.allclose(np.abs(np.linalg.det(across)), 1)
