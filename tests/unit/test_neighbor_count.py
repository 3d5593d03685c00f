"""The guess of k: it costs time if it is wrong, never accuracy."""

import numpy as np
import pytest
from vbdm.shapes import Gaussian

import vbdm
from vbdm import estimate
from vbdm.bandwidth.scaled import guess_neighbors
from vbdm.graph.point_set import PointSet

D = vbdm.datasets


def beta(dim):
    return -min(0.5, 1 / dim)


@pytest.mark.parametrize(
    "sample",
    [D.sphere(12_000, random_state=0), D.ou(12_000, dim=3, random_state=0),
     D.circle(12_000, sampling="random", random_state=0)],
)  # fmt: skip
def test_the_guess_is_near_what_is_needed(sample):
    cloud = PointSet.of(sample.points, 64)
    guess = guess_neighbors(cloud, beta, 17.0, Gaussian(), 20.0)
    needed = vbdm.estimate_operator(sample.points, sample.operator).n_neighbors
    # Enough, so that one search does; not much more, which would be searched in vain.
    assert 16 / 17 <= guess / needed < 1.25


@pytest.mark.parametrize("wrong", [70, 350])
def test_a_wrong_guess_changes_nothing_but_time(monkeypatch, wrong):
    points = D.sphere(6000, random_state=1).points
    right = vbdm.estimate_operator(points)
    monkeypatch.setattr(estimate, "guess_neighbors", lambda *arguments: wrong)
    other = vbdm.estimate_operator(points)
    # ε is read off lists of another length: what is beyond the kernel's reach is 1e-3 of it.
    assert other.epsilon == pytest.approx(right.epsilon, rel=2e-3)
    assert abs(other.n_neighbors - right.n_neighbors) <= 2


def test_order_place_and_direction_do_not_matter():
    points = D.sphere(6000, axes=(1, 0.5, 0.3), random_state=1).points
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    chosen = vbdm.estimate_operator(points)
    for other in (rng.permutation(points), points @ turn, points + 7.0):
        op = vbdm.estimate_operator(other)
        assert op.n_neighbors == chosen.n_neighbors
        # ε is bisected to 1e-12; the dimension adds rounding.
        assert op.epsilon == pytest.approx(chosen.epsilon, rel=1e-8)


def test_more_effort_more_neighbours_less_error():
    sample = D.circle(20_000, sampling="random", random_state=2)
    truth = sample.truth(4).eigenvalues
    found = {}
    for effort in (0.5, 1, 2):
        op = vbdm.estimate_operator(sample.points, effort=effort)
        error = np.abs(op.spectrum(4).eigenvalues[1:] / truth[1:] - 1).max()
        found[effort] = op.n_neighbors, error
    neighbors, errors = zip(*found.values(), strict=True)
    assert list(neighbors) == sorted(neighbors)
    # Measured: .020, .005, .002; the last is at the level of the sampling error.
    assert errors[0] > 2 * errors[1]
    assert errors[1] > errors[2]
