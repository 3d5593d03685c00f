"""The solver of equations: few iterations, the solution of a direct solver, its bounds."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import spsolve
from tests.support.estimates import estimate_with
from tests.support.slow import with_slow

import vbdm
from vbdm.equations.solved import energy_of_edges

RNG = np.random.default_rng(0)
N = 1200
WELLS = RNG.uniform(-1.5, 1.5, size=(N, 1))
CLOUDS = {
    "line": (RNG.normal(size=(N, 1)), {}),
    "plane": (RNG.normal(size=(N, 2)), {}),
    "space": (RNG.normal(size=(N // 2, 3)), {}),
    "five": (RNG.normal(size=(N // 2, 5)), {}),
    "outliers": (RNG.standard_cauchy(size=(N // 2, 2)), {}),
    "narrow": (RNG.normal(size=(N, 2)), {"epsilon": 3e-4}),
    "square": (RNG.uniform(size=(N, 2)), {"operator": "laplacian"}),
    "bridge": (
        np.concatenate([
            RNG.normal(size=(N // 2, 2)) * 0.3, RNG.normal(size=(N // 2, 2)) * 0.3 + [4, 0],
            RNG.uniform(0, [4, 0.05], size=(40, 2)),
        ]),
        {},
    ),
    "barrier": (WELLS, {"weights": np.exp(-8 * (WELLS[:, 0] ** 2 - 1) ** 2)}),
}  # fmt: skip


def directly(found):
    """Return the solution of the same system by a direct solver, in the order inside."""
    system, network = found.system, found.system.network
    factor, kernel = diags_array(network.weights.factor), sum(network.weights.parts)
    matrix = diags_array(network.degrees + system.killing) - factor @ kernel @ factor
    right = network.mass * found.source + sum(edge.pull[:, 0] for edge in system.edges)
    free = np.flatnonzero(system.free)
    values = found.operator.graph.order.to_inside(found.values)
    values[free] = spsolve(csc_array(csc_array(matrix)[:, free].tocsr()[free]), right[free])
    return values


@pytest.mark.parametrize("name", with_slow(CLOUDS, "narrow"))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_few_iterations_on_sets_of_all_sizes(name):
    points, named = CLOUDS[name]
    op = estimate_with(points, **{"operator": "generator"} | named)
    x = points[:, 0]
    few, some, half, most = np.quantile(x, [0.03, 0.3, 0.5, 0.95])
    solutions = [
        op.committor(x < few, x > most),
        op.committor(x < some, x > half),
        op.mean_first_passage(x < half),
        op.mean_first_passage(x < most),
        op.mean_first_passage(np.arange(len(x)) % 20 == 0),
        op.solve(x, screen=1.0),
        op.solve(x, fixed=[(x < some, 1.0)], screen=0.1),
    ]
    for found in solutions:
        assert found.iterations <= (14 if name == "narrow" else 12)
        assert found.residual <= 1e-6
        known = directly(found)
        mine = op.graph.order.to_inside(found.values)
        np.testing.assert_allclose(mine, known, atol=3e-5 * np.nanmax(np.abs(known)))
    assert op.solve(x).iterations <= 14
    for found, low, high in zip(solutions, (few, some), (most, half), strict=False):
        assert found.values.min() == 0
        assert found.values.max() == 1
        strict = op.committor(x < low, x > high, tol=1e-12)
        assert strict.flux.value == pytest.approx(found.flux.value, rel=1e-5)


def test_several_coarse_levels_of_all_equations():
    x = np.random.default_rng(0).normal(size=8000)
    op = vbdm.estimate_operator(x[:, None], "generator")
    assert len(op.equations.network.coarse.levels) > 1
    found = op.solve(x - op.equations.measure @ x, tol=1e-10)
    assert found.iterations <= 12
    # The truth is x: the operator's own noise is all that is left.
    assert np.sqrt(np.mean((found.values - x) ** 2)) < 0.12
    assert op.committor(x < -1, x > 1, tol=1e-10).iterations <= 15


@pytest.mark.slow
@pytest.mark.parametrize("dim", [1, 2, 3])
def test_as_few_iterations_on_many_points(dim):
    counts = []
    for n in (10_000, 100_000):
        points = np.random.default_rng(n).normal(size=(n, dim))
        op = vbdm.estimate_operator(points, "generator")
        found = op.committor("x0 < -1", "x0 > 1"), op.solve(points[:, 0])
        counts.append(max(one.iterations for one in found))
    assert counts[1] <= min(15, 1.5 * counts[0])


def test_a_time_step_conserves_the_mass_and_keeps_within_bounds():
    for name in ("plane", "outliers", "line"):
        points = CLOUDS[name][0]
        op = vbdm.estimate_operator(points, "generator")
        indicator, spike = (points[:, 0] > 0).astype(float), (np.arange(len(points)) == 7) * 1.0
        for step in (1e-6, 1e-2, 1.0, 1e6):
            found = op.solve(np.stack([indicator, spike], axis=1) / step, screen=1 / step)
            np.testing.assert_allclose(
                op.equations.measure @ found.values,
                [op.equations.measure @ indicator, op.equations.measure[7]],
                rtol=1e-12,
            )
            assert found.values.min() > -1e-5
            assert found.values.max() < 1 + 1e-5


def test_the_rate_over_high_barriers_does_not_depend_on_the_tolerance():
    for height, rest in ((8, 1e-6), (16, 1e-3)):
        weights = np.exp(-height * (WELLS[:, 0] ** 2 - 1) ** 2)
        op = vbdm.estimate_operator(WELLS, "generator", weights=weights)
        rates = [op.committor("x0 < -1", "x0 > 1", tol=tol).rate.value for tol in (1e-6, 1e-11)]
        assert rates[0] == pytest.approx(rates[1], rel=rest)
        time = op.mean_first_passage("x0 > 1").mean(over="x0 < -1").value
        assert time * rates[1] == pytest.approx(1, rel=0.01)


def test_groups_that_hang_together_by_hardly_any_link():
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.normal(size=(1200, 2)), rng.normal(size=(300, 2)) + 40])
    op = vbdm.estimate_operator(
        np.concatenate([points, rng.normal(size=(3, 2)) * 900]), "generator"
    )
    assert op.equations.network.pieces.max() == 0
    found = op.solve(np.r_[points[:, 0], 0.0, 0.0, 0.0])
    assert found.iterations <= 12
    # The groups exchange mass so slowly that each has a value of its own.
    first, second = found.values[:1200], found.values[1200:1500]
    assert np.ptp(first) < 1e-6 * abs(first.mean() - second.mean())
    assert op.equations.measure @ found.values == pytest.approx(
        0, abs=1e-12 * np.abs(found.values).max()
    )


def test_the_rate_of_a_mode_is_that_of_the_dense_problem():
    """So few points have no cells: the number counts from the slowest mode that is no constant."""
    network = vbdm.estimate_operator(RNG.normal(size=(90, 2)), "generator").equations.network
    assert network.coarse is None
    matrix = np.diag(network.degrees) - network.weights @ np.eye(90)
    exact = eigh(matrix, np.diag(network.mass), eigvals_only=True)
    for number in (1, 2, 9):
        found = network.rate_of_mode(number, network.mass)
        assert found == pytest.approx(exact[number], rel=1e-9)
    assert network.rate_of_mode(90, network.mass) == np.inf


def test_soft_edges_of_both_sets_hold_energy():
    """Where a set ends between points, links across hold what the committor rises there."""
    points = RNG.normal(size=(N, 1))
    op = vbdm.estimate_operator(points, "generator")
    found = op.committor(points[:, 0] + 0.5, 1 - points[:, 0])
    system, q = found.system, op.graph.order.to_inside(found.values)[found.system.free]
    start, end = (edge.extra[system.free] for edge in system.edges)
    assert min(start @ q**2, end @ (1 - q) ** 2) > 0
    whole = energy_of_edges(system, op.graph.order.to_inside(found.values))
    assert whole == pytest.approx(start @ q**2 + end @ (1 - q) ** 2)
    # A quantity and its mirror image have one energy: neither set comes before the other.
    other = op.committor(1 - points[:, 0], points[:, 0] + 0.5)
    mirrored = energy_of_edges(other.system, op.graph.order.to_inside(other.values))
    assert mirrored == pytest.approx(whole, rel=1e-4)


def test_means_are_over_the_measure_where_points_are_a_biased_sample_only():
    points = RNG.normal(size=(400, 1))
    plain = vbdm.estimate_operator(points, "generator").mean_first_passage("x0 > 1")
    weighted = vbdm.estimate_operator(
        points, "generator", weights=np.exp(-0.2 * points[:, 0] ** 2)
    ).mean_first_passage("x0 > 1")
    over = points[:, 0] < -0.5
    assert plain.is_biased is False
    assert plain.mean(over=over).value == pytest.approx(plain.values[over].mean(), rel=1e-12)
    assert weighted.is_biased is True
    measure = weighted.operator.equations.measure[over]
    expected = measure @ weighted.values[over] / measure.sum()
    assert weighted.mean(over=over).value == pytest.approx(expected, rel=1e-12)
