"""What modes say about time, against processes that are known exactly."""

from functools import cache

import numpy as np
import pytest
from tests.support.blocks import solved_in_blocks

import vbdm
from vbdm.errors import InputError, ShortTimeWarning

pytestmark = pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning")
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
        mass = spectrum.operator.measure[own]
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
    mean = spectrum.operator.measure @ mode
    np.testing.assert_allclose(later, mean + np.exp(0.7 * rate) * (mode - mean), atol=1e-9)


def test_projection_is_the_inverse_of_evaluation():
    _, spectrum = two_pieces()
    c = np.random.default_rng(1).normal(size=(9, 3))
    np.testing.assert_allclose(spectrum.project(np.nan_to_num(spectrum.evaluate(c))), c, atol=1e-9)
    assert spectrum.evaluate(c[:, 0]).shape == (len(spectrum.eigenfunctions),)


def test_projection_keeps_the_mean():
    points, spectrum = ou()
    f = np.exp(points[:, 0])
    mass = spectrum.operator.measure
    assert mass @ spectrum.evaluate(spectrum.project(f)) == pytest.approx(mass @ f, rel=1e-12)


def test_modes_without_eigenvalue_are_left_out():
    from dataclasses import replace

    points, spectrum = ou()
    values = spectrum.eigenvalues.copy()
    values[-2] = np.nan
    lost = replace(spectrum, eigenvalues=values)
    c = lost.project(points[:, 0])
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
        (lambda s: s.evolve(np.full(3000, np.nan), 1.0), "finite"),
        (lambda s: s.evaluate(np.ones(3)), r"shape \(20,\)"),
        (lambda s: s.project("f"), "function on the points"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_in_words(call, words):
    with pytest.raises(InputError, match=words):
        call(ou()[1])


def test_unsymmetric_forms_are_refused():
    points = np.random.default_rng(0).normal(size=(200, 2))
    spectrum = vbdm.estimate_operator(points, method="paper", form="left").spectrum(4)
    with pytest.raises(InputError, match="form='left'"):
        spectrum.evolve(points[:, 0], 1.0)
