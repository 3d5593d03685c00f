"""The default rule for ε, and the curve that it can be judged by."""

import gc
import weakref
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from tests.support.slow import with_slow

import vbdm
from vbdm.kernel.epsilon import solve_degree
from vbdm.kernel.scaled import SampledRows, sample_rows
from vbdm.kernel.tuning import KeptCurve, far_pairs
from vbdm.shapes import Gaussian

D = vbdm.datasets


def test_the_degree_curve():
    op = vbdm.estimate_operator(D.sphere(1500, random_state=10).points)
    curve = op.tuning.curve
    assert op.tuning.rule == "degree"
    assert (np.diff(curve.quantiles, axis=1) > 0).all()
    at_choice = np.interp(np.log(op.epsilon), np.log(curve.epsilons), curve.quantiles[0])
    assert at_choice == pytest.approx(1.7 * 1500**0.25, rel=0.02)
    # All pairs are seen: for huge ε every point has all the others.
    wide = vbdm.estimate_operator(D.sphere(300, random_state=10).points)
    assert wide.tuning.sums[-1] > 0.5
    # A saved model keeps the values alone, and reads the same dimension from them.
    kept = replace(op.tuning, curve=KeptCurve.of(curve))
    assert kept.curve.dim_at(op.epsilon) == curve.dim_at(op.epsilon)
    # The slope is the derivative of log S.
    numeric = np.gradient(np.log(curve.sums), np.log(curve.epsilons))
    np.testing.assert_allclose(curve.slopes[5:-5], numeric[5:-5], atol=0.03)


@pytest.mark.parametrize("n", with_slow([300, 2000], 2000))
def test_a_target_that_cannot_be_reached_is_said_to_be_out_of_reach(n):
    X = vbdm.datasets.sphere(n, random_state=4100).points
    target = n - 100
    with pytest.warns(
        vbdm.errors.TuningWarning, match=rf"ByDegree\({target}\) cannot be followed"
    ) as caught:
        op = vbdm.estimate_operator(X, epsilon=vbdm.rules.ByDegree(target))
    # The words tell the degree of sparse points, the one the target is for.
    epsilons, (sparse, *_) = op.tuning.curve.epsilons, op.tuning.curve.quantiles
    reached = np.interp(np.log(op.epsilon), np.log(epsilons), sparse)
    told = next(str(one.message) for one in caught if one.category is vbdm.errors.TuningWarning)
    assert f"sparse points have {reached:.0f} inside" in told


def test_a_target_within_reach_is_followed_without_a_word(recwarn):
    X = vbdm.datasets.sphere(2000, random_state=4100).points
    vbdm.estimate_operator(X, epsilon=vbdm.rules.ByDegree(30))
    assert not [one for one in recwarn if one.category is vbdm.errors.TuningWarning]


def test_an_epsilon_that_is_enough_ends_the_search():
    scaled = np.sort(np.random.default_rng(0).random((50, 40)), axis=1)
    rows = SampledRows(np.arange(50), scaled, 1000)
    exact = solve_degree(rows, Gaussian(), 8.0, np.median)
    assert np.median(rows.degrees(exact, Gaussian())) == pytest.approx(8, rel=1e-9)
    assert solve_degree(rows, Gaussian(), 8.0, np.median, enough=1.01 * exact) == 1.01 * exact
    assert solve_degree(rows, Gaussian(), 8.0, np.median, enough=0.99 * exact) == exact


def test_sampled_rows_go_with_the_operator():
    """They take up to 30 MB: no cycle of references may keep them until Python looks for cycles."""
    points, kept = D.sphere(400, random_state=0).points, gc.isenabled()
    gc.disable()
    try:
        op = vbdm.estimate_operator(points)
        rows = weakref.ref(op.tuning.curve.rows)
        del op
        assert rows() is None
    finally:
        if kept:
            gc.enable()


def test_copies_that_fill_every_kernel_are_refused():
    scaled = np.sort(np.random.default_rng(0).random((50, 40)), axis=1)
    scaled[:, :12] = 0.0
    rows = SampledRows(np.arange(50), scaled, 1000)
    assert solve_degree(rows, Gaussian(), 13.0, np.median) > 0
    with pytest.raises(vbdm.InputError, match="12 copies of a typical point"):
        solve_degree(rows, Gaussian(), 12.0, np.median)


@pytest.mark.parametrize("n", [50, 700])
def test_points_beyond_the_lists_stand_for_all_of_them(n):
    """Different ones for each row, whose weights count all that the lists leave out."""
    op = vbdm.estimate_operator(vbdm.neighbors(np.random.default_rng(0).random((n, 2)), 20))
    points, bandwidth = op.graph.points, op.kernel.bandwidth
    rows = sample_rows(op.graph, bandwidth)
    far, weight = far_pairs(points, bandwidth, rows)
    exact = cdist(points, points, "sqeuclidean") / np.outer(bandwidth.row, bandwidth.column)
    exact = exact[rows.index]
    for row, true in zip(far[:20], exact[:20], strict=True):
        assert np.isclose(row[:, None], true, rtol=1e-9).any(axis=0).sum() == min(64, n - 1)
    np.testing.assert_allclose(weight.sum(axis=1), n - rows.n_neighbors)
    assert (weight[far <= rows.scaled.max(axis=1)[:, None]] == 0).all()
    wide = 4 * np.median(exact)
    near = np.exp(-rows.scaled / wide).sum()
    found = near + (weight * np.exp(-far / wide)).sum()
    assert found == pytest.approx((np.exp(-exact / wide).sum() - len(rows.index)), rel=0.02)


def test_nothing_lies_beyond_lists_of_everybody():
    op = vbdm.estimate_operator(vbdm.neighbors(np.random.default_rng(0).random((50, 2)), 50))
    rows = sample_rows(op.graph, op.kernel.bandwidth)
    _, weight = far_pairs(op.graph.points, op.kernel.bandwidth, rows)
    assert not weight.any()
