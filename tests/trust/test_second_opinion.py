"""Second opinions about ε: eigenvalues over ε, two other rules, and a warning if they differ."""

import warnings

import numpy as np
import pytest

import vbdm

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
    op = vbdm.estimate_operator(points, n_neighbors=n_neighbors)
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
