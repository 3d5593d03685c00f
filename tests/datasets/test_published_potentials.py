"""Published potentials: samples, weights and series, and truths that agree with each other."""

import numpy as np
import pytest

from vbdm import datasets as ds
from vbdm.datasets._plane_grid import Disc, PlaneGrid


def double_well_passage(**ends):
    return ds.line_transition(
        lambda x: -2 * (x**2 - 1) ** 2, -1, 1, **{"low": -2.6, "high": 2.6, **ends}
    )


def test_the_double_well_has_the_known_rates():
    known = double_well_passage()
    assert known.flux == pytest.approx(0.09748, abs=5e-6)
    assert known.rate == pytest.approx(0.19496, abs=5e-6)
    assert known.rate_back == pytest.approx(known.rate, rel=1e-10)
    assert known.mean_passage_time == pytest.approx(5.16, abs=0.005)
    x = np.linspace(-2.5, 2.5, 51)
    assert np.allclose(known.committor(x) + known.committor(-x), 1, atol=1e-12)
    assert (known.passage_time(x[x >= 1]) == 0).all()


def test_where_the_line_is_cut_off_does_not_matter():
    near, far = double_well_passage(), double_well_passage(low=-6.0, high=6.0)
    assert far.rate == pytest.approx(near.rate, rel=1e-9)
    assert far.mean_passage_time == pytest.approx(near.mean_passage_time, rel=1e-8)


def test_on_a_flat_line_all_is_elementary():
    """Committor and time of Brownian motion on [0, 3] with walls, A below 1, B above 2."""
    known = ds.line_transition(lambda x: 0 * x, 1, 2, low=0, high=3)
    x = np.linspace(0, 3, 31)
    assert np.allclose(known.committor(x), np.clip(x - 1, 0, 1), atol=1e-12)
    assert np.allclose(known.passage_time(x), np.maximum(4 - x**2, 0) / 2, atol=1e-8)
    # ⟨1 - q⟩ = 1/2, and a gradient of 1 with a density of 1/3.
    assert known.flux == pytest.approx(1 / 3, rel=1e-12)
    assert known.rate == pytest.approx(2 / 3, rel=1e-12)
    assert known.mean_passage_time == pytest.approx(2 - 1 / 6, rel=1e-9)


def test_the_passage_time_satisfies_its_equation():
    """L T = -1 once integrated: π T' is minus the mass below."""
    known = ds.line_transition(lambda x: -ds.prinz_potential(x), -0.75, 0.75, low=-1.5, high=1.5)
    line = np.linspace(-1.5, 0.7, 2201)
    density = np.exp(-ds.prinz_potential(line))
    below = np.cumsum(density) * 1e-3 - density * 5e-4
    h = 1e-3
    slope = (known.passage_time(line + h) - known.passage_time(line - h)) / (2 * h)
    inner = line > -0.9
    assert np.abs(density * slope / below + 1)[inner].max() < 2e-3


def test_the_rate_over_a_high_barrier_is_the_eigenvalue():
    """Two wells far below the barrier: λ1 is minus the sum of both rates."""
    known = ds.line_transition(lambda x: -8 * (x**2 - 1) ** 2, -1, 1, low=-2.6, high=2.6)
    first = ds.double_well(10, barrier=8.0).truth(2).eigenvalues[1]
    assert first == pytest.approx(-4.575e-3, rel=1e-3)
    assert known.rate + known.rate_back == pytest.approx(-first, rel=0.02)


def test_muller_brown_converges_on_finer_grids():
    coarse, fine = (ds.muller_brown_transition(cells=cells) for cells in (100, 200))
    assert fine.mean_passage_time == pytest.approx(27.27, abs=0.01)
    assert coarse.mean_passage_time == pytest.approx(fine.mean_passage_time, rel=1e-3)
    assert coarse.flux == pytest.approx(fine.flux, rel=1e-3)
    assert fine.flux == pytest.approx(0.030097, abs=5e-6)
    points = ds.muller_brown(2000, random_state=0).points
    difference = coarse.committor(points) - fine.committor(points)
    assert np.sqrt((difference**2).mean()) < 5e-4
    assert fine.committor(points).min() == 0
    assert fine.committor(points).max() == 1


def test_on_a_flat_plane_two_discs_are_alike():
    grid = PlaneGrid(lambda p: 0 * p[:, 0], ((-4, 4), (-4, 4)), 100)
    known = grid.transition(Disc((-2, 0), 0.5), Disc((2, 0), 0.5))
    x = np.column_stack([np.zeros(5), np.linspace(-3, 3, 5)])
    assert np.allclose(known.committor(x), 0.5, atol=1e-6)
    assert known.rate == pytest.approx(known.rate_back, rel=1e-6)
    # Inside the discs the values are those of the sets.
    assert known.committor(np.array([[-2.0, 0.4], [2.0, 0.4]])).tolist() == [0, 1]


def test_between_two_circles_the_time_is_that_of_the_plane():
    """From outside r = 1, with a wall at r = 3: T = ln(r) 9/2 - (r² - 1)/4."""

    def walled(points):
        return np.where(np.linalg.norm(points, axis=1) < 3, 0.0, 1e3)

    grid = PlaneGrid(walled, ((-3.1, 3.1), (-3.1, 3.1)), 200)
    r = np.linspace(1, 2.5, 7)
    known = grid.transition(Disc((2.5, 0), 0.2), Disc((0, 0), 1))
    found = known.passage_time(np.column_stack([-r, 0 * r]))
    assert np.allclose(found, 4.5 * np.log(r) - (r**2 - 1) / 4, atol=0.02)


def test_a_valley_of_the_plane_is_a_line():
    """A potential of x alone, with discs much larger than the box is high: the line's committor."""
    far = 1000.0
    grid = PlaneGrid(
        lambda p: 2 * (p[:, 0] ** 2 - 1) ** 2,
        ((-2.4, 2.4), (-0.1, 0.1)),
        200,
    )
    found = grid.transition(Disc((-1 - far, 0.0), far), Disc((1 + far, 0.0), far))
    known = double_well_passage()
    x = np.linspace(-1.5, 1.5, 40)
    points = np.column_stack([x, np.zeros(40)])
    assert np.abs(found.committor(points) - known.committor(x)).max() < 2e-4
    assert np.abs(found.passage_time(points) - known.passage_time(x)).max() < 0.01
    assert found.rate == pytest.approx(known.rate, rel=1e-3)


def test_the_spectrum_of_a_gaussian_in_the_plane():
    """The grid that Müller and Brown's eigenvalues come from, where they are known."""
    found = PlaneGrid(lambda p: (p**2).sum(axis=1) / 2, ((-7, 7), (-7, 7)), 100).spectrum(6, 1.0)
    assert np.allclose(found.eigenvalues, [0, -1, -1, -2, -2, -2], rtol=0.005)
    x = np.random.default_rng(0).standard_normal((20_000, 2))
    functions = found.eigenfunctions(x)
    assert np.allclose(functions.T @ functions / 20_000, np.eye(6), atol=0.1)


def test_muller_brown_has_its_slow_modes():
    """One slow mode, which crosses the highest barrier a little faster than between the discs."""
    truth = ds.muller_brown(10, beta_sampling=1 / 40, random_state=0).truth(3)
    assert truth.eigenvalues == pytest.approx([0, -0.22578, -2.4632], rel=1e-3)
    known = ds.muller_brown_transition(cells=200)
    assert 0.8 < (known.rate + known.rate_back) / -truth.eigenvalues[1] < 1
    ends = truth.eigenfunctions(np.array([[-0.558, 1.441], [0.623, 0.028]]))
    assert ends[0, 1] * ends[1, 1] < 0


@pytest.mark.parametrize("beta_sampling", [None, 1 / 40])
def test_muller_brown_is_sampled_from_its_density(beta_sampling):
    """Weighted means of V and of x against sums on a grid."""
    sample = ds.muller_brown(40_000, beta_sampling=beta_sampling, random_state=1)
    w = np.ones(40_000) if sample.weights is None else sample.weights
    assert (sample.weights is None) == (beta_sampling is None)
    assert w.mean() == pytest.approx(1, abs=0.02)
    axes = np.meshgrid(np.linspace(-2.6, 1.4, 400), np.linspace(-1, 3, 400))
    grid = np.stack(axes, axis=-1).reshape(-1, 2)
    energy = ds.muller_brown_potential(grid)
    mass = np.exp(-energy / 20)
    truths = [energy, grid[:, 0], (grid[:, 0] > 0) * 1.0]
    drawn = ds.muller_brown_potential(sample.points), sample.points[:, 0], sample.points[:, 0] > 0
    for truth, values in zip(truths, drawn, strict=True):
        mean = np.average(truth, weights=mass)
        seen = np.average(values, weights=w)
        error = np.sqrt((w**2 * (values - mean) ** 2).sum()) / w.sum()
        assert abs(seen - mean) < 4 * error


def test_the_density_of_muller_brown_is_normalised():
    """E[1/q] over the points with q above a level is the area of that part of the box."""
    sample = ds.muller_brown(40_000, random_state=2)
    axes = np.meshgrid(np.linspace(-2.6, 1.4, 1001), np.linspace(-1, 3, 1001))
    grid = np.stack(axes, axis=-1).reshape(-1, 2)
    mass = np.exp(-ds.muller_brown_potential(grid) / 20)
    mass /= mass.sum() * 0.004**2
    high = sample.density > 1.0
    assert (high / sample.density).mean() == pytest.approx((mass > 1.0).sum() * 0.004**2, rel=0.02)


@pytest.mark.parametrize("name", ["double_well", "prinz"])
def test_weights_on_the_line_bring_back_the_density(name):
    draw = getattr(ds, name)
    plain = draw(20_000, random_state=0)
    biased = draw(20_000, beta_sampling=0.3, random_state=1)
    x, w = biased.points[:, 0], biased.weights
    assert plain.weights is None
    assert w.mean() == pytest.approx(1, abs=0.03)
    for power in (1, 2, 4):
        error = np.sqrt((w**2 * x ** (2 * power)).sum()) / w.sum()
        error += plain.points.std() / np.sqrt(20_000)
        assert abs(np.average(x**power, weights=w) - (plain.points**power).mean()) < 4 * error
    # The truth is that of the wanted density.
    assert np.array_equal(biased.truth(4).eigenvalues, plain.truth(4).eigenvalues)


def test_copies_keep_their_weights():
    sample = ds.with_duplicates(ds.prinz(100, beta_sampling=0.5, random_state=0), random_state=0)
    of_point = dict(zip(sample.points[:, 0], sample.weights, strict=True))
    assert all(of_point[x] == w for x, w in zip(sample.points[:, 0], sample.weights, strict=True))


@pytest.mark.parametrize("D", [0.5, 2.0])
def test_a_series_relaxes_at_the_rate_of_the_truth(D):
    """The autocorrelation of φ1 after a time is exp(Dλ1 t)."""
    series = ds.double_well_series(int(5000 / D), step=0.4, diffusivity=D, random_state=0)
    truth = ds.double_well(10).truth(2)
    phi = truth.eigenfunctions(series.points)[:, 1]
    assert (phi**2).mean() == pytest.approx(1, abs=0.1)
    seen = (phi[1:] * phi[:-1]).mean() / (phi**2).mean()
    assert seen == pytest.approx(np.exp(D * truth.eigenvalues[1] * 0.4), abs=0.03)
    assert np.allclose(np.diff(series.times), 0.4)


@pytest.mark.parametrize("name", ["prinz", "muller_brown"])
def test_a_series_moves_by_the_drift_and_the_diffusivity(name):
    """Over a short step the mean square is 2nDt, and the covariance with ∇U is -D⟨∇U·∇U⟩t."""
    points = getattr(ds, f"{name}_series")(4000, step=1e-4, diffusivity=2.0, random_state=0).points
    n, h = points.shape[1], 1e-5

    def energy(x):
        return ds.prinz_potential(x[:, 0]) if n == 1 else ds.muller_brown_potential(x) / 20

    steps = np.diff(points, axis=0)
    assert (steps**2).sum(axis=1).mean() == pytest.approx(4e-4 * n, rel=0.06)
    slopes = [(energy(points + e) - energy(points - e)) / (2 * h) for e in h * np.eye(n)]
    slope = np.column_stack(slopes)[:-1]
    expected, seen = 2e-4 * (slope**2).sum(), -(slope * steps).sum()
    error = np.sqrt(4e-4 * (slope**2).sum())
    assert expected > 4 * error
    assert abs(seen - expected) < 3 * error + 0.05 * expected


def test_a_long_series_has_the_invariant_density():
    series = ds.prinz_series(1500, step=0.1, random_state=0).points[:, 0]
    drawn = ds.prinz(20_000, random_state=0).points[:, 0]
    shares = [((x > -0.5) & (x < 0)).mean() for x in (series, drawn)]
    assert shares[0] == pytest.approx(shares[1], abs=0.06)
    assert series.var() == pytest.approx(drawn.var(), abs=0.06)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ds.line_transition(1.0, -1, 1, low=-3, high=3), "log_density.*function"),
        (lambda: ds.line_transition(lambda x: None, -1, 1, low=-3, high=3), "log_density"),
        (lambda: ds.line_transition(np.sin, 1, -1, low=-3, high=3), "low < a < b < high"),
        (lambda: ds.line_transition(np.sin, -1, 1, low=-3, high=np.nan), "high"),
        (lambda: ds.muller_brown_transition(cells=3), "cells"),
        (lambda: ds.muller_brown_transition(0.0), "beta"),
        (lambda: ds.muller_brown(0), "n_samples"),
        (lambda: ds.muller_brown(10, beta_sampling=-1), "beta_sampling"),
        (lambda: ds.muller_brown(10, random_state=0).truth(operator=0.0), "c1 > 0 only"),
        (lambda: ds.muller_brown(10, random_state=0).truth(operator=0.01), "c1 . beta"),
        (lambda: ds.muller_brown(10, random_state=0).truth(1000), "`n`"),
        (lambda: ds.muller_brown_potential(np.zeros((3, 1))), "two columns"),
        (lambda: ds.prinz_potential("x"), "array of numbers"),
        (lambda: ds.prinz(10, beta_sampling=2.0), "beta_sampling"),
        (lambda: ds.double_well(10, barrier=0.0), "barrier"),
        (lambda: ds.double_well_series(10, step=0.0), "step"),
        (lambda: ds.double_well_series(10, step=1e9), "at most 1e.08 steps"),
        (lambda: ds.prinz_series(10, diffusivity="x"), "diffusivity"),
        (lambda: ds.muller_brown_series(10, beta=1e3), "beta"),
    ],
)
def test_errors_say_what_is_wrong(call, words):
    with pytest.raises(ValueError, match=words):
        call()
