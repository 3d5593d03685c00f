"""The limiter's highest cut is a quantile of the sample: how far it moves, and rates with it."""

from dataclasses import replace

import numpy as np
import pytest

import vbdm
from vbdm.spectrum.limiter import exponential_rates, first_limit
from vbdm.trust import influences
from vbdm.trust.influences import modes_cut_at_highest, moves_of_cut, pull_of_cut, response


def operator(dim, seed, **settings):
    points = np.random.default_rng(seed).standard_normal((1000, dim))
    # With ε and d given, the local rates respond to the density alone.
    return vbdm.estimate_operator(points, "generator", epsilon=0.002, dim=float(dim), **settings)


def limit_of(op):
    return first_limit(1 / op.steps, op.settings.method.limiter, op.dim)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_cut_scatters_as_its_influences_say(dim):
    """Forty samples leave 11 %; without the response of the density it would be 1.4 in d = 2."""
    ops = [operator(dim, seed) for seed in range(40)]
    seen = np.std([np.log(limit_of(op).highest) for op in ops], ddof=1)
    moves = [moves_of_cut(op, limit_of(op)) for op in ops]
    predicted = np.sqrt(np.mean([np.square(each).sum() for each in moves]))
    assert 0.7 < predicted / seen < 1.35
    assert max(abs(each.sum()) for each in moves) < 1e-12


def test_a_fixed_bandwidth_has_a_cut_that_does_not_move():
    op = operator(2, 0, beta=0.0)
    assert not moves_of_cut(op, limit_of(op)).any()


def test_points_in_the_tail_lower_the_cut():
    op = operator(2, 0)
    moves, tail = moves_of_cut(op, limit_of(op)), 1 / op.steps < limit_of(op).highest
    assert tail.sum() == 20
    assert moves[tail].mean() < 0 < moves[~tail].mean()


def test_rates_follow_the_cut_as_their_derivative_says():
    op = operator(3, 1)
    spectrum = op.spectrum(6)
    moved = modes_cut_at_highest(spectrum)
    assert moved.any()
    u, everything = np.asarray(spectrum.vectors), slice(None)
    by = response(spectrum, u, everything) * spectrum.correction
    slope = pull_of_cut(spectrum, u, everything) / by
    for j in np.flatnonzero(moved):
        limit = spectrum.limits[j]
        one = slice(j, j + 1)
        mass = op.degrees * limit.time(1 / op.steps)
        arguments = (
            u[:, one],
            spectrum.log.pencil_eigenvalues[one],
            op.degrees,
            mass,
            1 / op.steps,
        )
        low, high = (
            exponential_rates(*arguments, replace(limit, highest=limit.highest * np.exp(h)))[0]
            for h in (-1e-4, 1e-4)
        )
        # Points between the two cuts change sides.
        change = (high - low) / 2e-4 / spectrum.correction[j]
        assert slope[j] == pytest.approx(change, rel=0.02)


def test_influences_hold_that_of_the_cut(monkeypatch):
    spectrum = operator(3, 1).spectrum(6)
    moved, with_cut = modes_cut_at_highest(spectrum), influences.influences(spectrum)
    monkeypatch.setattr(influences, "modes_cut_at_highest", lambda spectrum: np.zeros(6, bool))
    added = with_cut - influences.influences(spectrum)
    assert not added[:, ~moved].any()
    moves = moves_of_cut(spectrum.operator, spectrum.limits[0])
    for column in added[:, moved].T:
        assert np.corrcoef(column, moves)[0, 1] == pytest.approx(1)


def test_no_limiter_has_no_cut():
    points = np.random.default_rng(3).standard_normal((300, 2))
    spectrum = vbdm.estimate_operator(points, limiter=False).spectrum(4)
    assert not modes_cut_at_highest(spectrum).any()
    assert (spectrum.standard_errors[1:] > 0).all()
