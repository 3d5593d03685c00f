"""Rates from the exponential row balance: right to rounding, however fast the local rates are."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
from vbdm.solvers.pencil import EigenPairs
from vbdm.spectrum.limited import on_unresolved_points, without_vectors
from vbdm.spectrum.limiter import Limit, exponential_rates, first_limit, next_limit
from vbdm.spectrum.modes import Modes, without
from vbdm.spectrum.vectors import vectors_of
from vbdm.trust import influences
from vbdm.trust.influences import modes_cut_at_highest, moves_of_cut, pull_of_cut, response

LIMIT = Limit(reference=1.0, cut=1.0, highest=1.0, kappa=2.0)
DECAY = np.array([0.3, 1.0, 7.0])  # λ of three modes
MASS = np.random.default_rng(0).random((5000, 3))


def solved(energies, rates):
    """Return the rates of vectors with D u² = MASS, one after the other: θ u'Mu is the energy."""
    one = np.ones(len(MASS))
    return np.array([
        exponential_rates(
            np.sqrt(MASS[:, [j]]), DECAY[[j]], one, one * energies[j] / DECAY[j] / MASS[:, j].sum(),
            rates, LIMIT,
        )[0]
        for j in range(len(DECAY))
    ])  # fmt: skip


@pytest.mark.parametrize("rate", [1e2, 1e7, 1e9, 1e11, 1e13])
def test_equal_local_rates_have_a_closed_form(rate):
    total = MASS.sum(axis=0)
    energies = -np.expm1(-DECAY / rate) * total
    exact = -rate * np.log1p(-energies / total)
    np.testing.assert_allclose(solved(energies, np.full(len(MASS), rate)), exact, rtol=1e-12)


@pytest.mark.parametrize("slowest", [20.0, 1e7, 1e10, 1e13])
def test_the_rate_that_made_the_energies_comes_back(slowest):
    """Local rates over three decades; all lie above the cut."""
    rates = slowest * 10 ** (3 * np.random.default_rng(1).random(len(MASS)))
    energies = (MASS * -np.expm1(-DECAY / rates[:, None])).sum(axis=0)
    np.testing.assert_allclose(solved(energies, rates), DECAY, rtol=1e-12)


def test_a_mode_that_loses_more_than_it_has_has_no_rate():
    rates = np.full(len(MASS), 2.0)
    energies = MASS.sum(axis=0) * [0.5, 1.0, 1.5]
    found = solved(energies, rates)
    assert found[0] > 0
    assert np.isnan(found[1:]).all()


@pytest.mark.parametrize(
    "wrong", [{"kappa": -1}, {"kappa": 1e308}, {"cap": 2}, {"n_reference": 0}, {"passes": 0.5}]
)
def test_options_out_of_bounds_are_refused(wrong):
    with pytest.raises(vbdm.InputError, match=f"`{next(iter(wrong))}` must"):
        vbdm.rules.Limiter(**wrong)


def test_the_next_limit_follows_the_largest_rate_but_never_cuts_higher():
    limiter = vbdm.rules.Limiter(kappa=2.0)
    assert next_limit(0.0, LIMIT, limiter) is LIMIT
    assert next_limit(0.25, LIMIT, limiter) == Limit(0.25, 0.5, 1.0, 2.0)
    assert next_limit(3.0, LIMIT, limiter) == Limit(3.0, 1.0, 1.0, 2.0)


def test_solutions_to_start_from_keep_no_vectors():
    """They would stay in memory beside those of the next solve; what keeps them warm is enough."""
    pairs = EigenPairs(np.ones(2), np.ones((50, 2)), "a solver", warm="state")
    (kept,) = without_vectors([pairs])
    assert kept.vectors.shape == (0, 2)
    assert kept.warm == "state"


def some_modes(rates, vectors=None, extent=None):
    """Return modes with these rates, whose θ are the rates as well."""
    rates = np.array(rates)
    return Modes(
        rates=rates, theta=rates, vectors=np.ones((4, len(rates))) if vectors is None else vectors,
        mass=np.ones(4), limit=LIMIT, limits=(LIMIT,) * len(rates), pairs=None,
        extent=np.full(len(rates), 1e9) if extent is None else extent,
    )  # fmt: skip


def test_modes_left_out_are_those_before_the_last_that_is_kept():
    modes = some_modes([0.0, 1.0, 2.0, 3.0, 4.0, 5.0])
    kept = without(modes, np.array([False, True, False, True, False, True]), 3)
    assert kept.rates.tolist() == [0.0, 2.0, 4.0]
    assert kept.left_out.tolist() == [1.0, 3.0]  # 5 is beyond the list, whatever it sits on
    assert kept.set_aside.tolist() == [1.0, 3.0, 5.0]


def test_a_piece_of_unresolved_points_keeps_its_zero():
    """Its constant sits on them, and is known; other thin modes there are in doubt."""
    alone = np.array([[1.0, 1, 0, 0], [1.0, -1, 0, 0], [0, 0, 1.0, 1], [0, 0, 1.0, -1]]).T
    modes = some_modes([0.0, 0.5, 0.0, 0.5], alone, np.array([1.0, 1.0, 9.0, 9.0]))
    steps = 1 / np.array([0.5, 0.5, 2.0, 2.0])  # the first two points are held at the cut of 1
    found = on_unresolved_points(SimpleNamespace(inside=SimpleNamespace(steps=steps)), modes, LIMIT)
    assert found.tolist() == [False, True, False, False]


def marked(count, seen):
    """Return a judgement that leaves out the first modes that are no constants."""

    def judged(operator, modes, limit):
        seen.append(len(modes.theta))
        return (np.arange(len(modes.theta)) > 0) & (np.arange(len(modes.theta)) <= count)

    return judged


@pytest.mark.parametrize("count", [1, 100])
def test_modes_in_doubt_are_replaced_while_there_are_others(monkeypatch, count):
    """Where there are not enough others, all stay in the list, and the search ends."""
    op = vbdm.estimate_operator(vbdm.datasets.circle(100, random_state=0).points)
    plain, seen = op.spectrum(8), []
    monkeypatch.setattr("vbdm.spectrum.passes.on_unresolved_points", marked(count, seen))
    found = op.spectrum(8)
    assert len(seen) <= 5
    assert len(found.eigenvalues) == 8
    if count == 100:
        assert found.left_out.size == 0
        np.testing.assert_allclose(found.eigenvalues, plain.eigenvalues)
    else:
        assert found.left_out.size == 1
        np.testing.assert_allclose(found.eigenvalues[1:7], plain.eigenvalues[2:], rtol=1e-3)


def test_the_last_mode_that_there_is_may_replace_one_in_doubt(monkeypatch):
    monkeypatch.setattr("vbdm.spectrum.passes.on_unresolved_points", marked(1, []))
    points = vbdm.datasets.ou(12, dim=1, random_state=0).points
    found = vbdm.estimate_operator(points, "generator").spectrum(11)
    assert len(found.eigenvalues) == 11
    assert found.left_out.size == 1


# --- The limiter's highest cut is a quantile of the sample: how far it moves, and rates with it ---


def operator(dim, seed, **settings):
    points = np.random.default_rng(seed).standard_normal((1000, dim))
    # With ε and d given, the local rates respond to the density alone.
    return estimate_with(points, "generator", epsilon=0.002, dim=float(dim), **settings)


def limit_of(op):
    return first_limit(1 / op.inside.steps, op.settings.method.limiter, op.dim)


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
    moves, tail = moves_of_cut(op, limit_of(op)), 1 / op.inside.steps < limit_of(op).highest
    assert tail.sum() == 20
    assert moves[tail].mean() < 0 < moves[~tail].mean()


def test_rates_follow_the_cut_as_their_derivative_says():
    op = operator(3, 1)
    spectrum = op.spectrum(6)
    moved = modes_cut_at_highest(spectrum)
    assert moved.any()
    u, everything = np.asarray(vectors_of(spectrum)), slice(None)
    by = response(spectrum, u, everything) * spectrum.correction
    slope = pull_of_cut(spectrum, u, everything) / by
    for j in np.flatnonzero(moved):
        limit = spectrum.limits.of_modes[j]
        one = slice(j, j + 1)
        mass = op.inside.degrees * limit.time(1 / op.inside.steps)
        arguments = (
            u[:, one],
            spectrum.log.pencil_eigenvalues[one],
            op.inside.degrees,
            mass,
            1 / op.inside.steps,
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
    moves = moves_of_cut(spectrum.operator, spectrum.limits.of_modes[0])
    for column in added[:, moved].T:
        assert np.corrcoef(column, moves)[0, 1] == pytest.approx(1)


def test_no_limiter_has_no_cut():
    points = np.random.default_rng(3).standard_normal((300, 2))
    spectrum = vbdm.estimate_operator(points, method=vbdm.Resolved(limiter=False)).spectrum(4)
    assert not modes_cut_at_highest(spectrum).any()
    assert (spectrum.standard_errors[1:] > 0).all()
