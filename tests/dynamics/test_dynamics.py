"""What modes say about time, against processes that are known exactly."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy.special import erf
from tests.support.blocks import solved_in_blocks

import vbdm
from vbdm.equations.solver import Multigrid
from vbdm.errors import InputError, RootWarning, ShortTimeWarning, UnreachedWarning
from vbdm.spectrum.vectors import function_of

pytestmark = pytest.mark.truth
TIMES = np.array([0.05, 0.1, 0.2, 0.5, 1.0])


@cache
def ou(n=3000, dim=2, seed=0, modes=20):
    """Return points of the Ornstein-Uhlenbeck process, and its modes."""
    points = vbdm.datasets.ou(n, dim=dim, random_state=seed).points
    return points, vbdm.estimate_operator(points, "generator").spectrum(modes)


@cache
def sphere(n=3000, seed=0, modes=30):
    """Return points of the sphere, and its modes."""
    points = vbdm.datasets.sphere(n, random_state=seed).points
    return points, vbdm.estimate_operator(points).spectrum(modes)


@cache
def two_pieces():
    """Return two clouds far apart, with copies and a stray, and their modes."""
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=(500, 2)), rng.normal(size=(300, 2)) + 40
    points = np.concatenate([one, other, one[:100], [[300.0, 300.0]]])
    return points, vbdm.estimate_operator(points, "generator").spectrum(9)


def share_of(error, truth):
    """Return root mean squares of errors, over those of the truth."""
    return np.sqrt((error**2).mean(axis=0) / (truth**2).mean(axis=0))


def on_sphere(points):
    """Return a function on the sphere, and what becomes of it."""
    x, y, z = points.T
    return z + x * y, np.outer(z, np.exp(-2 * TIMES)) + np.outer(x * y, np.exp(-6 * TIMES))


def in_the_well(points):
    """Return a function in a parabolic well, and what becomes of it."""
    x, y = points[:, 0], points[:, -1]
    return x + y**2, np.outer(x, np.exp(-TIMES)) + 1 + np.outer(y**2 - 1, np.exp(-2 * TIMES))


def test_heat_on_the_sphere():
    points, spectrum = sphere()
    f, truth = on_sphere(points)
    assert share_of(spectrum.evolve(f, TIMES) - truth, truth).max() < 0.045


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_a_function_in_a_parabolic_well(dim):
    points, spectrum = ou(dim=dim)
    f, truth = in_the_well(points)
    bound = {1: 0.13, 2: 0.12, 3: 0.20}[dim]
    assert share_of(spectrum.evolve(f, TIMES) - truth, truth).max() < bound


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9100, 9104))
def test_the_full_figures_of_evolution(seed):
    points, spectrum = sphere(10_000, seed)
    f, truth = on_sphere(points)
    assert share_of(spectrum.evolve(f, TIMES) - truth, truth).max() < 0.035
    points, spectrum = ou(10_000, seed=seed, modes=30)
    f, truth = in_the_well(points)
    assert share_of(spectrum.evolve(f, TIMES) - truth, truth).max() < 0.10


@pytest.mark.parametrize("dim", [1, 2])
def test_short_times_in_steps(dim):
    points, spectrum = ou(1000, dim=dim, seed=1)
    x, times = points[:, 0], np.array([0.05, 0.01])
    start = np.sign(x)
    found = spectrum.evolve(start, times, by="steps")
    spread = np.sqrt(2 * (1 - np.exp(-2 * times)))
    truth = erf(np.outer(x, np.exp(-times)) / spread)
    assert share_of(found - truth, truth).max() < {1: 0.03, 2: 0.12}[dim]
    assert np.abs(found).max() < 1 + 1e-4
    mass = spectrum.operator.equations.measure
    np.testing.assert_allclose(mass @ found, mass @ start, atol=1e-10)
    np.testing.assert_array_equal(spectrum.evolve(start, 0.0, by="steps"), start)


def test_steps_on_pieces():
    points, spectrum = two_pieces()
    lonely = np.bincount(spectrum.components)[spectrum.components] == 1
    found = spectrum.evolve(np.c_[spectrum.components, points], 0.1, by="steps")
    assert found.shape == (len(points), 3)
    np.testing.assert_allclose(found[~lonely, 0], spectrum.components[~lonely], atol=1e-4)
    assert np.isnan(found[lonely]).all()


def test_steps_are_screened_equations_whose_system_is_made_once(monkeypatch):
    points, spectrum = two_pieces()
    expected = points
    for _ in range(16):
        expected = np.nan_to_num(spectrum.operator.solve(160 * expected, screen=160.0).values)
    made, of = [], Multigrid.of
    monkeypatch.setattr(Multigrid, "of", lambda *own: made.append(own) or of(*own))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = spectrum.evolve(points, [0.1, 0.2, 0.3, 0.7], by="steps")
    known = ~spectrum.pieces.strays
    np.testing.assert_allclose(found[known, :, 0], expected[known], rtol=1e-9)
    # Three steps of 0.1 share a system, and the one of 0.4 has its own.
    assert len(made) == 2
    assert [one.category for one in said] == [UnreachedWarning]


def test_evolution_keeps_the_mean_on_every_piece():
    points, spectrum = two_pieces()
    f = np.c_[points[:, 0] ** 2, np.random.default_rng(0).normal(size=len(points))]
    later = spectrum.evolve(f, [0.0, 0.3, 2.0, 500.0])
    assert later.shape == (len(points), 2, 4)
    strays = spectrum.pieces.strays
    assert strays.sum() == 1
    assert np.isnan(later[strays]).all()
    for piece in range(2):
        own = spectrum.components == piece
        mass = spectrum.operator.equations.measure[own]
        mean = (mass @ f[own] / mass.sum())[:, None]
        found = np.einsum("i,imt->mt", mass, later[own]) / mass.sum()
        np.testing.assert_allclose(found, np.repeat(mean, 4, axis=1), rtol=1e-10, atol=1e-10)
        # After a long time each point has its piece's mean, and no other's.
        same = np.broadcast_to(mean.T, later[own, :, 3].shape)
        np.testing.assert_allclose(later[own, :, 3], same, rtol=1e-8, atol=1e-8)


def test_evolution_of_modes_is_what_eigenvalues_say():
    _, spectrum = ou(dim=1)
    mode, rate = spectrum.eigenfunctions[:, 2], spectrum.eigenvalues[2]
    later = spectrum.evolve(mode, 0.7)
    mean = spectrum.operator.equations.measure @ mode
    np.testing.assert_allclose(later, mean + np.exp(0.7 * rate) * (mode - mean), atol=1e-9)


def test_projection_is_the_inverse_of_evaluation():
    _, spectrum = two_pieces()
    c = np.random.default_rng(1).normal(size=(9, 3))
    np.testing.assert_allclose(
        spectrum.dynamics.project(np.nan_to_num(spectrum.dynamics.evaluate(c))), c, atol=1e-9
    )
    assert spectrum.dynamics.evaluate(c[:, 0]).shape == (len(spectrum.eigenfunctions),)


def test_projection_keeps_the_mean():
    points, spectrum = ou()
    f = np.exp(points[:, 0])
    mass = spectrum.operator.equations.measure
    assert mass @ spectrum.dynamics.evaluate(spectrum.dynamics.project(f)) == pytest.approx(
        mass @ f, rel=1e-12
    )


def test_modes_without_eigenvalue_are_left_out():
    from dataclasses import replace

    points, spectrum = ou()
    values = spectrum.eigenvalues.copy()
    values[-2] = np.nan
    lost = replace(spectrum, eigenvalues=values)
    c = lost.dynamics.project(points[:, 0])
    assert c[-2] == 0
    assert np.isfinite(lost.evolve(points[:, 0], 0.3)).all()


def test_short_times_are_named():
    points, spectrum = ou()
    with pytest.warns(ShortTimeWarning, match="missing.*more modes"):
        spectrum.evolve(np.sign(points[:, 0]), 0.001)


@pytest.mark.filterwarnings("error::vbdm.errors.ShortTimeWarning")
def test_nothing_is_said_where_nothing_is_missing():
    points, spectrum = ou()
    spectrum.evolve(np.sign(points[:, 0]), 2.0)
    spectrum.evolve(spectrum.eigenfunctions[:, 3], 0.0)
    spectrum.evolve(np.ones(len(points)), 0.0)


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_blocks_say_the_same(place):
    points, spectrum = two_pieces()
    cut = solved_in_blocks(spectrum, 4, place)
    for f in (points[:, 0], points):
        expected, found = spectrum.evolve(f, [0.2, 1.0]), cut.evolve(f, [0.2, 1.0])
        assert isinstance(found, np.ndarray)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s: s.evolve(np.ones(3), 1.0), r"shape \(3000,\)"),
        (lambda s: s.evolve(np.ones(3000), -1.0), "`t`.*backwards"),
        (lambda s: s.evolve(np.ones(3000), np.nan), "`t`"),
        (lambda s: s.evolve(np.ones(3000), "soon"), "`t`"),
        (lambda s: s.evolve(np.ones(3000), 1.0, by="magic"), "`by`.*steps"),
        (lambda s: s.evolve(np.full(3000, np.nan), 1.0), "finite"),
        (lambda s: s.dynamics.evaluate(np.ones(3)), r"shape \(20,\)"),
        (lambda s: s.dynamics.evaluate("c"), "Coefficients.*str"),
        (lambda s: s.dynamics.project("f"), "function on the points"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(InputError, match=words):
        call(ou()[1])


def test_unsymmetric_forms_are_refused():
    points = np.random.default_rng(0).normal(size=(200, 2))
    spectrum = vbdm.estimate_operator(points, method=vbdm.Paper(form="left")).spectrum(4)
    with pytest.raises(InputError, match="form='left'"):
        spectrum.evolve(points[:, 0], 1.0)


def test_correlations_of_the_parabolic_well():
    points, spectrum = ou(dim=1)
    x, times = points[:, 0], np.array([0.0, 0.3, 1.0])
    values = np.c_[x, x**2]
    found = spectrum.dynamics.correlation(values, times=times)
    truth = np.array([np.exp(-times), 2 * np.exp(-2 * times)])
    assert (np.abs(found - truth) < [[0.1], [0.35]]).all()
    # As functions of time they are right to much more than their size is.
    np.testing.assert_allclose(found[0] / found[0, 0], np.exp(-times), atol=0.03)
    cross = spectrum.dynamics.correlation(values, values[:, ::-1], times=times)
    np.testing.assert_allclose(cross[0], cross[1], rtol=1e-9)
    assert spectrum.dynamics.correlation(x, times=0.3).shape == ()
    mass = spectrum.operator.equations.measure
    assert found[0, 0] == pytest.approx(mass @ x**2 - (mass @ x) ** 2, rel=0.02)


def test_the_power_spectrum_is_the_transform_of_the_correlation():
    points, spectrum = ou(dim=1)
    x = points[:, 0]
    waves = np.linspace(-200, 200, 20_001)
    found = spectrum.dynamics.power_spectrum(x, waves)
    power = found.sum() * (waves[1] - waves[0])
    assert power == pytest.approx(spectrum.dynamics.correlation(x, times=0.0), rel=0.01)
    middle = spectrum.dynamics.power_spectrum(x, [0.0, 0.2])
    truth = 2 / (1 + (2 * np.pi * np.array([0, 0.2])) ** 2)
    np.testing.assert_allclose(middle, truth, rtol=0.12)


@pytest.mark.parametrize("dim", [1, 2])
def test_means_relax_from_a_density(dim):
    points, spectrum = ou(dim=dim)
    x, times = points[:, 0], np.array([0.2, 1.0, 30.0])
    start = (x > 0.5) & (x < 1.5)
    found = spectrum.dynamics.relax(start, np.c_[x, x**2], times)
    np.testing.assert_allclose(found[0], x[start].mean() * np.exp(-times), atol=0.08)
    truth = 1 + ((x[start] ** 2).mean() - 1) * np.exp(-2 * times)
    np.testing.assert_allclose(found[1], truth, atol=0.12)
    # The invariant density stays what it is.
    mass = spectrum.operator.equations.measure
    still = spectrum.dynamics.relax(7 * mass, x, times)
    np.testing.assert_allclose(still, mass @ x, atol=1e-10)


def test_response_to_a_force_and_to_a_stiffer_well():
    points, spectrum = ou(dim=1)
    x, times = points[:, 0], np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(
        spectrum.dynamics.respond(x, -x, times), 1 - np.exp(-times), atol=0.09
    )
    stiffer = spectrum.dynamics.respond(x**2, x**2 / 2, times)
    np.testing.assert_allclose(stiffer, np.exp(-2 * times) - 1, atol=0.2)
    assert spectrum.dynamics.respond(x, -x, 0.0) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(9100, 9104))
@pytest.mark.parametrize("dim", [1, 2])
def test_the_full_figures_of_response(seed, dim):
    points, spectrum = ou(10_000, dim, seed)
    x, times = points[:, 0], np.array([0.5, 1.0, 2.0])
    assert np.abs(spectrum.dynamics.respond(x, -x, times) - (1 - np.exp(-times))).max() < 0.05
    stiffer = spectrum.dynamics.respond(x**2, x**2 / 2, times)
    # In 10⁴ points the variance of x² alone scatters by 3.7 %.
    assert np.abs(stiffer + 1 - np.exp(-2 * times)).max() < 0.1
    static = np.cov(x**2, x**2 / 2)[0, 1]
    assert np.abs(stiffer / static + 1 - np.exp(-2 * times)).max() < 0.05


def test_a_clock_turns_times_into_your_unit():
    from tests.dynamics.test_clock import modes

    spectrum = modes()
    clock = spectrum.clock(step=0.2)
    f = function_of(spectrum, 1)
    speed = clock.diffusivity.value
    same = spectrum.evolve(f, 2.0 * speed)
    np.testing.assert_allclose(spectrum.evolve(f, 2.0, clock=clock), same)
    one = spectrum.dynamics.correlation(f, times=[1.0], clock=clock)
    np.testing.assert_allclose(one, spectrum.dynamics.correlation(f, times=[speed]))
    slow = spectrum.dynamics.power_spectrum(f, 0.5 / speed)
    assert spectrum.dynamics.power_spectrum(f, 0.5, clock=clock) == pytest.approx(slow / speed)


def test_diffusion_distance_is_that_of_two_densities():
    """For the circle, Σ 2 e^{-2k²t} (1 - cos kθ) · 2 over k, with orthonormal cosines and sines."""
    angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 2000)
    points = np.c_[np.cos(angle), np.sin(angle)]
    spectrum = vbdm.estimate_operator(points).spectrum(11)
    found = spectrum.dynamics.diffusion_distance([0, 5], 0.4)
    k = np.arange(1, 6)
    apart = angle[:, None] - angle[[0, 5]]
    squares = 4 * (np.exp(-2 * k**2 * 0.4) * (1 - np.cos(apart[..., None] * k))).sum(axis=-1)
    np.testing.assert_allclose(found, np.sqrt(squares), atol=0.15)
    assert found[0, 0] == 0
    np.testing.assert_array_equal(spectrum.dynamics.diffusion_distance(5, 0.4), found[:, 1])


def test_commute_distance_on_an_interval_is_the_root_of_the_way():
    """On a line of length 1 it takes the time y²/2 from 0 to y, and y - y²/2 back: y in all."""
    x = np.random.default_rng(0).random((2000, 1))
    spectrum = vbdm.estimate_operator(x).spectrum(25)
    end = int(x.argmin())
    found = spectrum.dynamics.commute_distance(end)
    far = x[:, 0] > 0.2
    truth = np.sqrt(np.abs(x[:, 0] - x[end, 0]))
    ratio = found[far] / truth[far]
    assert np.abs(ratio / np.median(ratio) - 1).max() < 0.1
    assert np.median(ratio) == pytest.approx(1.0, abs=0.1)


def test_pseudotime_grows_from_its_root():
    points = np.random.default_rng(2).uniform(size=(1500, 2)) * [6, 1]
    spectrum = vbdm.estimate_operator(points).spectrum(8)
    root = int(points[:, 0].argmin())
    time = spectrum.dynamics.pseudotime(root)
    assert time[root] == 0
    assert time.max() == 1
    order = np.argsort(points[:, 0])
    assert np.corrcoef(np.argsort(np.argsort(time)), np.argsort(order))[0, 1] > 0.99
    middle = int(np.abs(points[:, 0] - 3).argmin())
    with pytest.warns(RootWarning, match="is no end"):
        spectrum.dynamics.pseudotime(middle)


@pytest.mark.filterwarnings("error::vbdm.errors.RootWarning")
def test_without_modes_no_root_is_in_the_middle():
    points = two_pieces()[0]
    zeros = vbdm.estimate_operator(points, "generator").spectrum(2)
    assert np.abs(zeros.eigenvalues).max() < 1e-9
    own = zeros.components == zeros.components[0]
    np.testing.assert_array_equal(zeros.dynamics.pseudotime(0)[own], 0)
    assert np.isnan(zeros.dynamics.pseudotime(0)[~own]).all()


@pytest.mark.filterwarnings("error::vbdm.errors.RootWarning")
def test_distances_on_pieces():
    points, spectrum = two_pieces()
    slowest = next(j for j in range(2, 9) if np.ptp(function_of(spectrum, j)[:500]) > 0.1)
    root = int(function_of(spectrum, slowest)[:500].argmin())
    time = spectrum.dynamics.pseudotime(root)
    commute = spectrum.dynamics.commute_distance([root, 600])
    own = spectrum.components == spectrum.components[root]
    assert np.isfinite(time[own]).all()
    assert np.isnan(time[~own]).all()
    assert np.isinf(commute[own, 1]).all()
    assert np.isfinite(commute[own, 0]).all()
    assert np.isnan(commute[spectrum.pieces.strays]).all()
    with pytest.raises(InputError, match="piece was solved"):
        spectrum.dynamics.diffusion_distance(len(points) - 1, 1.0)
    with pytest.raises(InputError, match="not solved"):
        spectrum.dynamics.relax(np.ones(len(points)), points[:, 0], 1.0)


@pytest.mark.parametrize("place", ["memory", "disk"])
def test_blocks_give_the_same_distances(place):
    points, spectrum = two_pieces()
    cut = solved_in_blocks(spectrum, 4, place)
    for name, options in {
        "diffusion_distance": {"rows": [3, 600], "t": 0.3},
        "commute_distance": {"rows": 3},
        "pseudotime": {"root": 3},
    }.items():
        one, other = (getattr(s.dynamics, name)(**options) for s in (spectrum, cut))
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-6)
    one = spectrum.dynamics.correlation(points, times=[0.5])
    np.testing.assert_allclose(cut.dynamics.correlation(points, times=[0.5]), one, rtol=1e-9)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda s, f: s.dynamics.correlation(f, times=[-1.0]), "`times`"),
        (lambda s, f: s.dynamics.correlation(f, f[:, None], times=[1.0]), "same shape"),
        (lambda s, f: s.dynamics.correlation(f, times=[1.0], clock=2.0), "`clock`"),
        (lambda s, f: s.dynamics.power_spectrum(f, "high"), "`frequencies`"),
        (lambda s, f: s.dynamics.relax(-f, f, 1.0), "`density`"),
        (lambda s, f: s.dynamics.relax(0 * f, f, 1.0), "`density`"),
        (lambda s, f: s.dynamics.relax(f[:3] ** 2, f, 1.0), "`density`"),
        (lambda s, f: s.dynamics.respond(f, f[:9], 1.0), "function on the points"),
        (lambda s, _: s.dynamics.diffusion_distance(3000, 1.0), "`rows`"),
        (lambda s, _: s.dynamics.diffusion_distance(-1, 1.0), "`rows`"),
        (lambda s, _: s.dynamics.diffusion_distance([0.5], 1.0), "`rows`"),
        (lambda s, _: s.dynamics.diffusion_distance(0, [1.0, 2.0]), "one time"),
        (lambda s, _: s.dynamics.commute_distance("first"), "`rows`"),
        (lambda s, _: s.dynamics.pseudotime(-1), "`root`"),
        (lambda s, _: s.dynamics.pseudotime([1, 2]), "`root`"),
    ],
)  # fmt: skip
def test_bad_questions_are_refused_in_words(call, words):
    points, spectrum = ou()
    with pytest.raises(InputError, match=words):
        call(spectrum, points[:, 0])
