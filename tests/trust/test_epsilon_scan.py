"""One scan over ε: modes are followed from the ε in use, on all points or on a fair part."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.support.findings import knowing

import vbdm
from vbdm.estimate import estimate_again
from vbdm.kernel.epsilon import degree_target
from vbdm.progress import listening
from vbdm.report import page
from vbdm.trust import epsilon_scan
from vbdm.trust.epsilon_scan import (
    EpsilonScan,
    drawn_rows,
    followed,
    matched,
    why_no_scan,
    wide_enough,
)


@pytest.fixture(scope="module")
def sphere():
    return vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points).spectrum(9)


@pytest.fixture(scope="module")
def moved(sphere):
    return vbdm.scan_epsilon(sphere, (0.5, 1, 2), n_drawn=400)


@pytest.fixture(scope="module")
def large():
    points = vbdm.datasets.ou(21_000, dim=2, random_state=0).points
    return vbdm.estimate_operator(points, "generator", effort=0.5).spectrum(10)


def test_the_chosen_epsilon_is_the_result_itself(sphere, moved):
    assert moved.epsilons[moved.chosen] == sphere.operator.epsilon
    np.testing.assert_allclose(moved.eigenvalues[moved.chosen], sphere.eigenvalues)
    np.testing.assert_allclose(moved.standard_errors[moved.chosen], sphere.standard_errors)
    for group in sphere.errors.by_group:
        totals = moved.total_errors[moved.chosen, list(group.members)]
        np.testing.assert_allclose(totals, group.total_error)
    assert moved.n_points == 600
    assert len(moved.rows) == 400


def test_a_given_bandwidth_is_given_again_to_some_of_the_points():
    points = vbdm.datasets.circle(300, random_state=0).points
    rho, rows = 2 + points[:, 0], np.arange(0, 300, 2)
    operator = vbdm.estimate_operator(points, bandwidth=rho, dim=1)
    again = estimate_again(operator, rows)
    expected = vbdm.estimate_operator(points[rows], bandwidth=rho[rows], dim=1)
    np.testing.assert_array_equal(again @ points[rows], expected @ points[rows])


def test_modes_keep_their_signs_and_rotations(sphere, moved):
    own = sphere.eigenfunctions[moved.rows]
    for step in range(len(moved.epsilons)):
        seen = moved.eigenfunctions[step]
        likeness = [np.corrcoef(seen[:, j], own[:, j])[0, 1] for j in (1, 2, 3)]
        # Three times degenerate: without the rotation it would be anything from -1 to 1.
        assert min(likeness) > 0.97


def test_a_mode_is_followed_through_a_change_of_order(sphere):
    truth = sphere.eigenfunctions
    # The group 4 to 8 overtakes the group 1 to 3, with other signs.
    order = np.array([0, 4, 5, 6, 7, 8, 1, 2, 3])
    other = replace(sphere, eigenvalues=sphere.eigenvalues[order], eigenfunctions=-truth[:, order])
    knowing(other, standard=sphere.standard_errors[order])
    values, errors, totals, functions = followed(other, other.eigenfunctions, truth, sphere)
    np.testing.assert_allclose(values, sphere.eigenvalues)
    np.testing.assert_allclose(errors, sphere.standard_errors)
    np.testing.assert_allclose(totals[4:], other.errors.total_of_group([1, 2, 3, 4, 5]))
    np.testing.assert_allclose(functions, truth, atol=1e-8)


def test_a_mode_without_likeness_is_a_gap(sphere):
    truth = sphere.eigenfunctions
    functions = truth.copy()
    functions[:, 8] = np.random.default_rng(0).standard_normal(len(truth))
    values, errors, totals, seen = followed(sphere, functions, truth, sphere)
    assert np.isnan(values[8])
    assert np.isnan(errors[8])
    assert np.isnan(totals[8])
    assert np.isnan(seen[:, 8]).all()
    assert np.isfinite(values[:8]).all()
    fewer = followed(sphere, truth[:, :5], truth, sphere)[0]
    assert np.isfinite(fewer[:4]).all()
    assert np.isnan(fewer).sum() >= 4
    # Without a counterpart of any member, the whole group is a gap.
    first, last = followed(sphere, truth[:, :4], truth, sphere)[0], np.arange(9) >= 4
    np.testing.assert_array_equal(np.isnan(first), last)


def test_matching_gives_every_mode_a_partner_of_its_own():
    q = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 5)))[0]
    assert matched(q[:, [2, 0, 1, 4, 3]], q).tolist() == [1, 2, 0, 4, 3]
    assert matched(q[:, :3], q).tolist() == [0, 1, 2, -1, -1]


def test_beyond_some_number_of_points_a_part_is_estimated_from(sphere, monkeypatch):
    monkeypatch.setattr(epsilon_scan, "ALL_POINTS", 599)
    found = vbdm.scan_epsilon(sphere, (1, 2), n_drawn=300)
    assert found.n_points == len(found.rows) == 300
    alone = estimate_again(sphere.operator, found.rows)
    np.testing.assert_array_equal(found.epsilons, alone.epsilon * np.array([1, 2]))
    values = alone.spectrum(9 + epsilon_scan.SPARE_MODES).eigenvalues[:4]
    np.testing.assert_allclose(found.eigenvalues[found.chosen][:4], values, rtol=1e-6, atol=1e-9)


def test_an_epsilon_that_needs_too_many_neighbours_is_left_out(sphere, monkeypatch):
    operator = sphere.operator
    monkeypatch.setattr(epsilon_scan, "MOST_NEIGHBORS", operator.n_neighbors)
    assert epsilon_scan.wide_enough(operator, 0.5 * operator.epsilon) is not None
    assert epsilon_scan.wide_enough(operator, 2 * operator.epsilon) is None
    found = vbdm.scan_epsilon(sphere, (0.5, 1, 2))
    np.testing.assert_array_equal(found.epsilons, operator.epsilon * np.array([0.5, 1]))
    opinions = vbdm.second_opinion(operator, n=4)
    assert opinions.epsilons.max() == operator.epsilon
    assert len(opinions.epsilons) > 1


@pytest.mark.slow
def test_large_clouds_are_estimated_from_a_fair_part(large):
    found = vbdm.scan_epsilon(large, (1, 2), n_drawn=1500)
    assert found.n_points == len(found.rows) == 1500
    # The truth is -1, -1; a part that preferred sparse points would give -0.7.
    np.testing.assert_allclose(found.eigenvalues[found.chosen][1:3], -1, atol=0.15)
    assert "1,500 of the 21,000 points" in page(large, scan=found)
    # Fewer points need a wider kernel: the grid is around the ε of the part.
    assert found.epsilons[found.chosen] == estimate_again(large.operator, found.rows).epsilon
    assert found.epsilons[found.chosen] > 1.5 * large.operator.epsilon
    assert len(drawn_rows(large, 30_000, fair=True)) == 21_000


def test_parts_have_the_numbers_of_neighbours_of_the_whole():
    points, some = vbdm.datasets.circle(800, random_state=0).points, np.arange(0, 800, 2)
    wide = vbdm.estimate_operator(points, effort=2, method=vbdm.Resolved(n_density_neighbors=24))
    part = estimate_again(wide, some)
    assert part.settings.n_density_neighbors == 24
    assert part.tuning.target == pytest.approx(2 * degree_target(400, 1.0))
    paper = vbdm.estimate_operator(
        points, method=vbdm.Paper(n_neighbors=100, n_density_neighbors=70)
    )
    part = estimate_again(paper, some)
    assert (part.n_neighbors, part.settings.n_density_neighbors) == (100, 70)


def test_only_the_largest_piece_is_followed_where_only_it_was_solved():
    circles = [vbdm.datasets.circle(150 - i, random_state=i).points + 30 * i for i in range(6)]
    operator = vbdm.estimate_operator(np.concatenate(circles))
    found = vbdm.scan_epsilon(operator.spectrum(4, components="largest"), (0.5, 1, 2))
    assert np.isfinite(found.eigenvalues).all()
    # The truth for a circle: 0, -1, -1, -4.
    np.testing.assert_allclose(found.eigenvalues[:, 1:3], -1, atol=0.3)


def test_arrays_there_and_back(moved):
    back = EpsilonScan.from_arrays(moved.as_arrays())
    for name, value in vars(moved).items():
        np.testing.assert_array_equal(getattr(back, name), value)
    assert back.n_points == moved.n_points
    assert type(back.chosen) is int


def test_arrays_that_are_not_all_there_are_no_scan(moved):
    some = {k: v for k, v in moved.as_arrays().items() if k != "scan_standard_errors"}
    assert EpsilonScan.from_arrays(some) is None


def test_progress_is_reported(sphere):
    seen = []
    with listening(seen.append):
        vbdm.scan_epsilon(sphere, (0.5, 1, 2), n_drawn=50)
    own = [p for p in seen if p.room == "sensitivity"]
    assert [p.share for p in own] == [0.0, 0.5, 1.0]


def test_where_epsilon_cannot_be_varied():
    points = vbdm.datasets.circle(150, random_state=0).points
    left = vbdm.estimate_operator(points, method=vbdm.Paper(form="left")).spectrum(3)
    assert vbdm.scan_epsilon(left) is None
    assert "left form" in why_no_scan(left)


def test_a_wider_kernel_on_lists_has_lists_that_are_longer_in_proportion():
    """Twice the ε hold 2^(d/2) times as many points."""
    points = np.random.default_rng(0).standard_normal((1500, 3))
    op = vbdm.estimate_operator(points, dim=2.0, method=vbdm.Resolved(n_neighbors=40))
    assert not op.kernel.by_reach
    assert wide_enough(op, 2 * op.epsilon).graph.n_neighbors == 80
    assert wide_enough(op, op.epsilon / 2).graph.n_neighbors == 40


# --- Second opinions about ε: eigenvalues over ε, two other rules, and a warning if they differ ---


D = vbdm.datasets


def test_second_opinion_agrees_on_a_sphere_and_keeps_its_table():
    op = vbdm.estimate_operator(D.sphere(1000, random_state=9).points)
    opinions = vbdm.second_opinion(op, n=5)
    assert opinions.eigenvalues.shape == opinions.standard_errors.shape
    assert len(opinions.epsilons) >= 5
    assert not opinions.disagree


def test_second_opinion_warns_when_rules_disagree():
    points = D.sphere(1000, random_state=9).points
    chosen = vbdm.estimate_operator(points).epsilon
    far_off = vbdm.estimate_operator(points, epsilon=chosen / 16)
    with pytest.warns(vbdm.errors.TuningWarning, match="Three ways"):
        vbdm.second_opinion(far_off, n=4)


@pytest.mark.parametrize("share", [1 / 32, 1 / 200])
def test_modes_that_are_like_no_other_are_compared_all_the_same(share):
    """Where ε shatters the cloud no mode can be followed; eigenvalues still have their order."""
    points = D.sphere(1000, random_state=9).points
    chosen = vbdm.estimate_operator(points).epsilon
    opinions = vbdm.second_opinion(vbdm.estimate_operator(points, epsilon=share * chosen), n=4)
    assert np.isfinite([opinions.stationary, opinions.balanced]).all()
    assert np.isfinite(opinions.eigenvalues[3:, 0]).all()
    np.testing.assert_allclose(np.diff(np.log2(opinions.epsilons)), 1)


@pytest.mark.slow
@pytest.mark.parametrize(("n_neighbors", "n_searches"), [("auto", 0), (110, 1)])
def test_lists_that_were_given_up_are_searched_for_once(monkeypatch, n_neighbors, n_searches):
    """By reach there is nothing to search for."""
    points = D.sphere(12_000, random_state=0).points
    op = vbdm.estimate_operator(points, method=vbdm.Resolved(n_neighbors=n_neighbors))
    searches = []
    original = vbdm.NeighborGraph.with_lists
    monkeypatch.setattr(
        vbdm.NeighborGraph,
        "with_lists",
        lambda graph: searches.append(graph.lists) or original(graph),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vbdm.second_opinion(op, n=3)
    given_up = [lists for lists in searches if not hasattr(lists, "indices")]
    assert len(given_up) == n_searches


def test_one_mode_says_nothing():
    """The first eigenvalue is 0, whatever ε."""
    op = vbdm.estimate_operator(D.sphere(300, random_state=9).points)
    with pytest.raises(vbdm.InputError, match="`n` must"):
        vbdm.second_opinion(op, n=1)
    assert vbdm.second_opinion(op, n=2).eigenvalues.shape[1] == 1
