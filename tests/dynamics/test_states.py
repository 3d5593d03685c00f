"""Metastable states, where they are known."""

import tracemalloc
from functools import cache
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.dynamics.test_clock import ou
from tests.support.blocks import solved_in_blocks

import vbdm
from vbdm.dynamics.states import (
    corners,
    memberships_of,
    orthonormal,
    outermost,
    rate_errors,
    simplex,
)
from vbdm.errors import InputError

WELLS = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.2]])
SHARES = [0.5, 0.3, 0.2]


def three_wells(n=2000, seed=0, dim=2):
    """Return points of three wells in a plane with known populations, and their wells."""
    rng = np.random.default_rng(seed)
    well = rng.choice(3, p=SHARES, size=n)
    centre = np.pad(WELLS[well], [(0, 0), (0, dim - 2)])
    return centre + rng.standard_normal((n, dim)), well


@cache
def wells():
    """Return the wells of points, and the spectrum."""
    points, well = three_wells()
    return well, vbdm.estimate_operator(points, "generator").spectrum(6)


@cache
def double_well(seed=0, n=1500):
    """Return points of a double well, and the spectrum."""
    points = vbdm.datasets.double_well(n, random_state=seed).points
    return points, vbdm.estimate_operator(points, "generator").spectrum(5)


def is_partition(members):
    """Tell whether shares are not negative and sum to 1."""
    return (members >= 0).all() and np.allclose(members.sum(axis=1), 1, atol=1e-12)


def test_three_wells_are_found_with_their_populations():
    well, spectrum = wells()
    states = spectrum.states()
    assert len(states) == 3
    assert is_partition(states.memberships)
    assert (states.labels == well).mean() > 0.99
    for found, known in zip(states.populations, SHARES, strict=True):
        assert abs(found.value - known) < 3 * found.error + 0.01
        assert 0.005 < found.error < 0.015
    assert states.crispness > 0.9
    assert states.gap > 20


@pytest.mark.slow
def test_three_wells_in_four_dimensions():
    points, well = three_wells(1500, seed=1, dim=4)
    states = vbdm.estimate_operator(points, "generator").spectrum(5).states(3)
    assert (states.labels == well).mean() > 0.97
    assert is_partition(states.memberships)


def test_rates_keep_the_eigenvalues_and_the_populations():
    _, spectrum = wells()
    states = spectrum.states()
    rates = states.rates
    np.testing.assert_allclose(rates.sum(axis=1), 0, atol=1e-12)
    assert (rates[~np.eye(3, dtype=bool)] > 0).all()
    found = np.sort(np.linalg.eigvals(rates).real)[::-1]
    np.testing.assert_allclose(found, spectrum.eigenvalues[:3], atol=1e-9)
    np.testing.assert_allclose(states.timescales, -1 / spectrum.eigenvalues[1:3])
    shares = np.array([one.value for one in states.populations])
    np.testing.assert_allclose(shares @ rates, 0, atol=2e-4)
    assert ((states.rate_errors > 0) & (states.rate_errors < np.abs(rates).max())).all()


def test_the_double_well_has_two_states_and_half_of_its_rate_each_way():
    points, spectrum = double_well()
    states = spectrum.states()
    assert len(states) == 2
    right = points[:, 0] > 0
    assert max((states.labels == right).mean(), (states.labels != right).mean()) > 0.98
    for rate, error in zip(states.rates[[0, 1], [1, 0]], states.rate_errors[0], strict=True):
        assert abs(rate - 0.2273) < 3 * error + 0.01


def test_three_modes_are_enough_to_see_a_gap():
    states = double_well()[1].operator.spectrum(3).states()
    assert len(states) == 2


@pytest.mark.slow
def test_the_bars_of_states_cover():
    found = []
    for seed in range(9100, 9130):
        points, spectrum = double_well(seed)
        states = spectrum.states(2)
        left = int(states.memberships[points[:, 0].argmin(), 1] > 0.5)
        own = states.populations[left]
        found.append([*own, states.rates[left, 1 - left], states.rate_errors[left, 1 - left]])
    share, share_error, rate, rate_error = np.array(found).T
    assert 0.7 < share_error.mean() / share.std() < 1.4
    assert 0.7 < rate_error.mean() / rate.std() < 1.4


def test_a_clock_gives_rates_in_its_unit():
    rng = np.random.default_rng(0)
    x, rows = 1.0, []
    for kick in rng.standard_normal(20_000) * 0.1:
        x += -8 * x * (x * x - 1) * 0.005 + kick
        rows.append(x)
    rows = np.array(rows)[::10, None]
    spectrum = vbdm.estimate_operator(rows, "generator", series=True).spectrum(6)
    clock = spectrum.clock(step=0.5, unit="ns")
    states = spectrum.states(clock=clock)
    assert states.timescales[0] == pytest.approx(clock.timescales[1])
    assert states.timescale_errors[0] == clock.timescale_errors[1]
    alone = spectrum.states()
    relative = spectrum.standard_errors[1] / abs(spectrum.eigenvalues[1])
    assert alone.timescale_errors[0] == pytest.approx(relative * alone.timescales[0])
    assert " ns, gap" in repr(states)
    assert f" {alone.timescales[0]:.3g}, gap" in repr(alone)
    relative = states.rate_errors[0, 1] / states.rates[0, 1]
    assert relative >= 0.9 * clock.rate_errors[1] / clock.rates[1]
    # Steps that follow each other know populations less well than independent points.
    assert states.populations[0].error > 2 * 0.5 / np.sqrt(len(rows))


def test_errors_of_populations_are_those_of_the_generator_alone():
    """The measure of other operators responds to the sample: a mean over rows does not know it."""
    states = vbdm.estimate_operator(three_wells(900)[0], "laplacian").spectrum(5).states(3)
    assert np.isnan([population.error for population in states.populations]).all()
    assert sum(population.value for population in states.populations) == pytest.approx(1)


def test_pieces_are_states():
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.normal(size=(500, 2)), rng.normal(size=(300, 2)) + 40, [[999, 0]]])
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(8)
    states = spectrum.states()
    assert len(states) == 2
    np.testing.assert_allclose(states.memberships[:500], [[1, 0]] * 500, atol=1e-9)
    np.testing.assert_allclose(states.memberships[500:800], [[0, 1]] * 300, atol=1e-9)
    assert states.labels[800] == -1
    assert np.isnan(states.memberships[800]).all()
    np.testing.assert_allclose(states.rates, 0, atol=1e-12)
    assert states.timescales[0] == np.inf
    assert states.gap == np.inf


def test_copies_of_points_know_no_more_than_the_points():
    points, _ = double_well(n=400)
    copied = np.repeat(points, 4, axis=0)
    own = vbdm.estimate_operator(copied, "generator", series=False).spectrum(5).states(2)
    alone = vbdm.estimate_operator(points, "generator", series=False).spectrum(5).states(2)
    for one, other in zip(own.populations, alone.populations, strict=True):
        assert one.value == pytest.approx(other.value, abs=1e-3)
        assert one.error == pytest.approx(other.error, rel=0.01)


def test_points_of_pieces_that_are_left_out_know_nothing_of_populations():
    """With half of the points far away, the bars are those of the other half alone."""
    points, _ = double_well(n=400)
    both = np.concatenate([points, 3 * points[:350] + 90])
    whole = vbdm.estimate_operator(both, "generator", series=False)
    found = whole.spectrum(5, components="largest")
    assert found.pieces.strays.sum() == 350
    alone = vbdm.estimate_operator(points, "generator", series=False).spectrum(5).states(2)
    error = found.states(2).populations[0].error
    assert error == pytest.approx(alone.populations[0].error, rel=0.1)


def test_blocks_say_the_same():
    _, spectrum = wells()
    cut = solved_in_blocks(spectrum, 4, "disk")
    one, other = spectrum.states(), cut.states()
    np.testing.assert_allclose(other.memberships, one.memberships, atol=1e-6)
    np.testing.assert_allclose(other.rates, one.rates, atol=1e-6)


def test_a_simplex_is_found_as_it_is():
    """Points inside a triangle: memberships are their barycentric coordinates."""
    rng = np.random.default_rng(0)
    shares = np.concatenate([rng.dirichlet([0.2] * 3, 500), np.eye(3)])
    corner = np.array([[1.0, 2.0, 0.0], [1.0, -1.0, 1.0], [1.0, -1.0, -1.5]])
    modes = shares @ corner
    assert set(corners(modes)) == {500, 501, 502}
    found = modes @ memberships_of(modes)
    order = found[500:].argmax(axis=1)
    np.testing.assert_allclose(found[:, order], shares, atol=1e-6)


def test_the_outermost_points_are_found_in_little_memory():
    """Products with all directions are made for some rows at a time, in 1 MB."""
    modes = np.random.default_rng(0).standard_normal((60_000, 3))
    modes[40_000] = [1, 50, 50]
    tracemalloc.start()
    found = outermost(modes)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6e6
    assert 40_000 in found
    assert {*modes[:, 1:].argmin(axis=0)} <= {*found}
    angles = np.linspace(0, 2 * np.pi, 50)
    far = (modes[:, 1:] @ [np.cos(angles), np.sin(angles)]).argmax(axis=0)
    assert {*far} <= {*found}


def test_the_picture():
    ax = wells()[1].states().plot()
    assert "3 metastable states" in ax.get_title(loc="left") + ax.get_title()
    plt.close("all")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n": 1}, "from 2 to 6"),
        ({"n": 7}, "from 2 to 6.*more modes"),
        ({"n": 2.5}, "`n`"),
        ({"n": "many"}, "`n`"),
        ({"clock": 3.0}, "`clock`"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_words(options, words):
    with pytest.raises(InputError, match=words):
        wells()[1].states(**options)


def test_fewer_states_than_pieces_are_refused():
    rng = np.random.default_rng(3)
    points = np.concatenate([rng.normal(size=(200, 2)) + 40 * k for k in range(3)])
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(6)
    with pytest.raises(InputError, match="at least 3 states"):
        spectrum.states(2)


@pytest.mark.parametrize("points", [ou(800, 1), np.random.default_rng(0).random((800, 1))])
def test_without_gap_there_are_no_states(points):
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(6)
    with pytest.raises(InputError, match=r"no metastable states.*factor of 5"):
        spectrum.states()
    assert len(spectrum.states(2)) == 2
    for n, words in [(3, r"with a largest ratio of \d"), (2, "with two modes from one")]:
        with pytest.raises(InputError, match=words):
            spectrum.operator.spectrum(n).states()


def test_rates_of_two_states_know_the_errors_of_their_populations():
    """The rate from a state to the other is |λ| p: errors of p count with |λ|."""
    spectrum = SimpleNamespace(errors=SimpleNamespace(covariance=np.diag([0.0, 0.3**2])))
    basis = SimpleNamespace(numbers=np.arange(2), spectrum=spectrum)
    matrix, values = np.array([[0.5, 0.5], [0.5, -0.5]]), np.array([0.0, -3.0])
    known, unsure = (
        rate_errors(basis, matrix, values, np.array([[p, p], [0, 0]]), None) for p in (0.0, 0.1)
    )
    np.testing.assert_allclose(unsure**2 - known**2, 0.3**2)


def test_points_that_resolve_no_mode_have_no_say_in_the_corners():
    spectrum = vbdm.estimate_operator(three_wells()[0], "generator").spectrum(6)
    basis = spectrum.dynamics.basis
    turn = orthonormal(basis, 3)
    modes = np.asarray(basis.functions[:, :3]) @ turn
    sound = ~spectrum.unresolved[spectrum.operator.graph.order.caller_rows]
    assert not sound.all()
    np.testing.assert_array_equal(simplex(basis, 3), turn @ memberships_of(modes[sound]))
    assert not np.allclose(simplex(basis, 3), turn @ memberships_of(modes))
