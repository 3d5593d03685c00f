"""Equations on odd data and with odd arguments: words, and NaN nowhere but where it is told."""

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
from vbdm.errors import ProjectedWarning, SmallSetWarning, UnreachedWarning

RNG = np.random.default_rng(0)
N = 500
X = RNG.normal(size=(N, 2))
x, r = X[:, 0], np.hypot(*X.T)
CORE, RIM = r < 0.5, r > 1.5


@pytest.fixture(scope="module")
def op():
    return vbdm.estimate_operator(X, "generator")


@pytest.fixture(scope="module")
def two():
    """Two pieces, 300 points each, and two points alone."""
    square = np.random.default_rng(1).uniform(-2, 2, size=(300, 2))
    points = np.concatenate([square, square + 1000.0, [[0.0, 1e5], [0.0, 2e5]]])
    width = np.full(602, 0.3)
    return vbdm.estimate_operator(points, "generator", bandwidth=width, epsilon=0.3, dim=2)


def refused(words, function, *args, **named):
    with pytest.raises(vbdm.InputError, match=words):
        function(*args, **named)


def test_right_hand_sides(op):
    refused(rf"shape \({N},\) or .*received shape \({N - 1},\)", op.solve, x[1:])
    refused(
        "must be finite.*1 row.*NaN.*at row 7", op.solve, np.where(np.arange(N) == 7, np.nan, x)
    )
    refused("There is no right-hand side", op.solve, np.empty((N, 0)))
    refused("A function on the points", op.solve, "x0")
    refused("must be finite", op.solve, np.inf)


def test_screens(op):
    refused("`screen` must not be negative.*-1", op.solve, x, screen=-1)
    refused("`screen` must not be negative", op.solve, x, screen=x)
    refused("screen must be finite", op.solve, x, screen=np.where(x > 0, np.nan, 1.0))
    refused("screen must be finite", op.solve, x, screen=np.where(x > 0, np.inf, 1.0))
    refused("`screen` must be a finite real number", op.solve, x, screen=np.nan)
    refused("`screen` must hold one number per point", op.solve, x, screen=r[1:])
    refused("`screen` must be a finite real number", op.solve, x, screen="1")


def test_values_on_sets(op):
    for wrong in ({"x0 > 1": 1}, "", b""):
        refused("`fixed` is a list of pairs", op.solve, x, fixed=wrong)
    refused("`fixed` is a list of pairs", op.solve, x, fixed=[(CORE, 1, 2)])
    refused("a finite number, or one for each", op.solve, x, fixed=[(CORE, np.nan)])
    refused("number, or one for each", op.solve, x, fixed=[(CORE, np.where(CORE, np.nan, 1.0))])
    refused(rf"The value of a set.*shape \({N - 1},\)", op.solve, x, fixed=[(CORE, x[1:])])
    refused("The value of a set is a finite number.*'much'", op.solve, x, fixed=[(CORE, "much")])
    refused(r"`fixed\[0\]` and `fixed\[1\]` overlap", op.solve, x, fixed=[(CORE, 1), (r < 1, 0)])
    refused(r"The set `fixed\[1\]` is empty", op.solve, x, fixed=[(CORE, 1), ([], 0)])
    # Off the set, values do not count.
    found = op.solve(0.0, fixed=[(CORE, np.where(CORE, 2.0, np.nan)), (RIM, 2)])
    np.testing.assert_allclose(found.values, 2.0)


def test_tolerances(op):
    for tol in (0, 1, -1e-6, np.nan, "1e-6", 1e-16, None):
        refused("`tol` must", op.solve, x, screen=1.0, tol=tol)
    values = [op.committor(CORE, RIM, tol=tol).values for tol in (1e-6, 1e-12)]
    np.testing.assert_allclose(*values, atol=1e-5)


def test_sets_of_committors_and_times(op):
    refused("The sets `A` and `B` overlap", op.committor, CORE, r < 1)
    refused("The set `B` is empty", op.committor, CORE, r < 0)
    refused("All points lie in `inside`", op.equations.exit_time, r >= 0)
    refused("All points lie in `inside`", op.equations.exit_time, "x0 > -1e9")
    refused("There must be two sets or more", op.equations.hitting_probabilities, [CORE])
    refused("`sets` is a list of sets", op.equations.hitting_probabilities, "x0 < 1")
    refused("`sets` is a list of sets", op.equations.hitting_probabilities, 3)
    refused("is there twice", op.equations.hitting_probabilities, ["x0 < -1", "x0 < -1"])
    refused(
        "The sets `set 0` and `x0 > -9` overlap",
        op.equations.hitting_probabilities,
        [CORE, "x0 > -9"],
    )
    names = np.where(CORE, 0, np.where(RIM, 1, 2))
    for sets in ([0, 1], np.array([0, 1])):
        found = op.equations.hitting_probabilities(sets, labels=names)
        assert found.names == ("0", "1")
        np.testing.assert_allclose(found.values[:, 1], op.committor(CORE, RIM).values, atol=1e-5)


def test_sums_and_means(op):
    found = op.mean_first_passage(RIM)
    refused("`weights` must hold one number per point", found.functional, x[1:])
    refused("`sampled`", found.functional, x, sampled="yes")
    refused("The set `over` is empty", found.mean, over=r < 0)
    refused("There are several solutions", op.solve(X, screen=1.0).mean)
    assert found.mean(over=RIM) == (0, 0)
    middle = int(np.argmin(r))
    one = found.functional(np.arange(N) == middle)
    assert one.value == pytest.approx(found.values[middle])
    assert 0 < one.error < 0.3


def test_sets_that_cover_everything(op):
    found = op.committor(x < 0, x >= 0)
    np.testing.assert_array_equal(found.values, x >= 0)
    assert np.isfinite([*found.flux, *found.rate]).all()
    assert found.flux.value > 0
    values = op.solve(5.0, fixed=[(x < 0, 1), (x >= 0, X[:, 1])]).values
    np.testing.assert_allclose(values, np.where(x < 0, 1, X[:, 1]))


def test_a_set_smaller_than_a_kernel(op):
    words = r"The set `B` has 1 point, fewer than .* in 2 dimensions .* 499 points get NaN"
    with pytest.warns(SmallSetWarning, match=words):
        found = op.mean_first_passage([5])
    np.testing.assert_array_equal(found.unreached, np.arange(N) != 5)
    np.testing.assert_array_equal(np.isnan(found.values), found.unreached)
    assert np.isnan(found.mean()).all()
    with pytest.warns(SmallSetWarning, match="The set `A` has 2 points"):
        found = op.committor(np.flatnonzero(CORE)[:2], RIM)
    assert np.isnan([found.flux, found.rate, found.rate_back]).all()
    line = vbdm.estimate_operator(X[:, :1], "generator").mean_first_passage([5])
    assert np.isfinite(line.values).all()
    assert np.isfinite(op.solve(x, fixed=[([5], 1.0)], screen=1.0).values).all()


def test_pieces_without_a_set(two):
    words = r"302 of 602 points have no solution.* 300 of them lie in 1 piece where nothing is held"
    with pytest.warns(UnreachedWarning, match=words + "; 2 have no neighbour"):
        found = two.committor("x0 < -1", "1 < x0 < 9")
    np.testing.assert_array_equal(found.unreached, np.arange(602) >= 300)
    np.testing.assert_array_equal(np.isnan(found.values), found.unreached)
    assert np.isfinite([found.flux, found.rate, found.rate_back, found.mean()]).all()
    assert repr(found).startswith("Committor(602 points, 302 of them unreached, ")
    assert repr(found).endswith(f" iterations, residual {found.residual:.0e})")
    refused("counts points without a solution.*302 of them", found.functional, np.ones(602))
    with pytest.warns(UnreachedWarning):
        times = two.mean_first_passage("x0 < -1")
    assert np.isnan(times.mean(over="x0 > 900")).all()
    with pytest.warns(UnreachedWarning, match="302 of the .* points in `over` have no solution"):
        both = times.mean(over="x0 > -0.5")
    assert both.value == pytest.approx(times.mean(over="-0.5 < x0 < 9 and x1 < 9").value)
    np.testing.assert_array_equal(np.isnan(times.second_moment), times.unreached)
    assert np.nanmin(times.deviation) >= 0


def test_pieces_one_after_the_other_are_no_steps_in_time():
    """Rows are in the order of the pieces, one of which has no solution: that is no memory."""
    points = np.concatenate([X[:300], X[300:] + 100])
    near = points[:, 0] < 50
    estimates = []
    for series in ("auto", False):
        op = vbdm.estimate_operator(points, "generator", series=series)
        with pytest.warns(UnreachedWarning):
            times = op.mean_first_passage("x0 < -0.7")
        estimates.append(times.mean(over=near))
    assert estimates[0] == estimates[1]


def test_sets_in_different_pieces(two):
    with (
        pytest.warns(UnreachedWarning, match="2 have no neighbour"),
        pytest.warns(UnreachedWarning, match="A and B lie in different pieces.* the flux is 0"),
    ):
        found = two.committor("x0 < -1", "x0 > 900")
    np.testing.assert_allclose(found.values[:300], 0, atol=1e-6)
    np.testing.assert_allclose(found.values[300:600], 1, atol=1e-6)
    assert found.rates == ((0, 0),) * 3


def test_without_sets_each_piece_has_the_mean_0(two):
    f = np.where(np.arange(602) < 300, 1.0, -3.0)
    with (
        pytest.warns(UnreachedWarning, match="2 of 602 points have no solution"),
        pytest.warns(ProjectedWarning, match="100% of f was left out, its mean under"),
    ):
        found = two.solve(f)
    assert found.projected_out == pytest.approx(1)
    np.testing.assert_allclose(found.values[:600], 0, atol=1e-9)
    f[:600] = two.graph.order.to_caller(two.graph.point_set.coordinates)[:600, 1] % 1000
    with pytest.warns(ProjectedWarning):
        u = two.solve(f).values
    for piece in (slice(300), slice(300, 600)):
        assert two.equations.measure[piece] @ u[piece] == pytest.approx(0, abs=1e-12)
    assert np.isnan(u[600:]).all()
    assert np.isfinite(two.equations.measure).all()


def test_a_screen_on_one_piece_leaves_out_the_other(two):
    here = np.arange(602) < 300
    with pytest.warns(UnreachedWarning, match="1 piece where nothing is held"):
        found = two.solve(1.0, screen=np.where(here, 0.5, 0.0))
    np.testing.assert_allclose(found.values[here], 2.0)
    np.testing.assert_array_equal(found.unreached, ~here)
    with pytest.warns(UnreachedWarning, match="2 have no neighbour"):
        two.solve(1.0, screen=0.5)


@pytest.mark.parametrize("kappa", [1e-300, 1e-30, 1e-15, 1e-9, 1.0, 1e9, 1e100])
def test_any_screen_conserves_the_mean(op, kappa):
    u = op.solve(1 + x, screen=kappa, tol=1e-3).values
    assert op.equations.measure @ u * kappa == pytest.approx(
        1 + op.equations.measure @ x, rel=1e-12
    )


@pytest.mark.parametrize("size", [1e-250, 1e250])
def test_right_hand_sides_of_any_size(op, size):
    found = op.solve(size * x, screen=1.0).values
    np.testing.assert_allclose(found / size, op.solve(x, screen=1.0).values, rtol=1e-9)


def test_columns_of_different_difficulty(op):
    right = np.stack([np.ones(N), 0 * x, x, 1e-9 * X[:, 1]], axis=1)
    found = op.solve(right, screen=2.0, tol=1e-11).values
    np.testing.assert_allclose(found[:, 0], 0.5, rtol=1e-12)
    assert (found[:, 1] == 0).all()
    for j in (2, 3):
        alone = op.solve(right[:, j], screen=2.0, tol=1e-11).values
        np.testing.assert_allclose(found[:, j], alone, atol=1e-9 * np.abs(alone).max())


def test_copies_have_one_value():
    points = np.concatenate([X[:400], X[:50], X[:20]])
    op = vbdm.estimate_operator(points, "generator")
    found = op.committor([*np.flatnonzero(r[:400] < 0.6), 450], "x0 > 0.8")
    for values in (found.values, op.equations.measure, op.solve(points[:, 0], screen=1.0).values):
        np.testing.assert_array_equal(values[400:450], values[:50])
        np.testing.assert_array_equal(values[450:470], values[:20])
    assert op.equations.measure.sum() == pytest.approx(1)
    assert np.isfinite([found.flux, found.mean()]).all()


CLOUDS = {
    "outliers": (np.concatenate([X, 1e4 * X[:6]]), {}),
    "cauchy": (RNG.standard_cauchy(size=(N, 2)), {}),
    "narrow": (X, {"epsilon": 3e-4}),
    "few": (X[:40], {}),
    "line": (X[:, :1], {}),
    "laplacian": (X, {"operator": "laplacian"}),
    "half": (X, {"operator": 0.5}),
    "paper": (X, {"method": "paper"}),
    "bandwidth": (X, {"bandwidth": np.full(N, 0.3)}),
    "period": (X % 3, {"period": 3.0}),
    "weights": (X, {"weights": 1 / (0.1 + r)}),
}


@pytest.mark.parametrize("name", CLOUDS)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_numbers_are_finite_on_all_clouds(name):
    points, named = CLOUDS[name]
    op = estimate_with(points, **{"operator": "generator"} | named)
    low, high = np.quantile(points[:, 0], [0.3, 0.7])
    found = op.committor(f"x < {low}", f"x > {high}", columns={"x": points[:, 0]})
    times = op.mean_first_passage(points[:, 0] > high)
    screened = op.solve(points[:, 0], screen=1.0)
    for one in (found, times, screened, op.solve(points[:, 0])):
        np.testing.assert_array_equal(np.isnan(one.values), one.unreached)
        assert one.unreached.mean() < 0.2
        assert np.isfinite(one.mean()).all()
    assert np.isfinite([found.flux, found.rate, found.rate_back]).all()
    assert found.flux.error > 0
    known = found.values[~found.unreached]
    assert 0 <= known.min() < known.max() <= 1
    assert times.values[~times.unreached].min() >= 0
    assert np.isfinite(op.equations.measure).all()
    assert op.equations.measure.sum() == pytest.approx(1)


def test_far_points_leave_error_bars_at_many_points():
    points = np.random.default_rng(2).normal(size=(10_000, 2))
    points[:5] *= 1e4
    op, radius = vbdm.estimate_operator(points, "generator"), np.hypot(*points.T)
    with pytest.warns(UnreachedWarning, match="5 of 10000 points"):
        found = op.committor(radius < 0.5, (radius > 1.5) & (radius < 9))
    with pytest.warns(UnreachedWarning):
        times = op.mean_first_passage(radius < 0.5)
    with pytest.warns(UnreachedWarning, match="5 of the"):
        time = times.mean(over=radius > 1)
    estimates = np.array([found.flux, found.rate, found.rate_back, time])
    assert (estimates[:, 1] / estimates[:, 0] < 0.05).all()
    assert (estimates[:, 1] / estimates[:, 0] > 0.005).all()


def test_distances_instead_of_points(op):
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    given = vbdm.estimate_operator(distances, "generator", metric="precomputed")
    found = given.committor(CORE, RIM)
    np.testing.assert_allclose(found.values, op.committor(CORE, RIM).values, atol=1e-4)


def test_only_the_symmetric_form_has_equations():
    op = vbdm.estimate_operator(X, "generator", method=vbdm.Paper(form="left"))
    refused("Equations need the symmetric form", op.committor, CORE, RIM)


def test_probabilities_out_of_bounds_are_an_error(op, monkeypatch):
    from vbdm.equations.equations import within_bounds

    assert within_bounds(np.array([-1e-7, np.nan, 1 + 1e-7]), 1e-6)[[0, 2]].tolist() == [0, 1]
    assert np.isnan(within_bounds(np.full(3, np.nan), 1e-6)).all()
    for wrong in (-0.01, 1.01):
        with pytest.raises(vbdm.errors.SolverError, match="probabilities that are off by"):
            within_bounds(np.array([wrong, 0.5]), 1e-6)
    monkeypatch.setattr("vbdm.equations.solver.MOST_ITERATIONS", 2)
    with pytest.raises(
        vbdm.errors.SolverError, match="2 steps of conjugate gradients left an error"
    ):
        op.committor(CORE, RIM)


def test_the_mass_is_limited_by_the_limiters_own_mode():
    X = np.random.default_rng(0).standard_normal((1500, 2))
    slow, fast = (
        vbdm.estimate_operator(
            X, "generator", method=vbdm.Resolved(limiter=vbdm.rules.Limiter(n_reference=n))
        ).equations.measure
        for n in (1, 9)
    )
    # A slower mode lets outliers keep more of their mass.
    far = np.hypot(*X.T) > 3.2
    assert slow[far].sum() > 1.2 * fast[far].sum()
