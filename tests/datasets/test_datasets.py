"""Data sets: the points, the density and the spectrum they promise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipeinc
from scipy.stats import norm, t

import vbdm
from vbdm import datasets as ds
from vbdm.datasets._line import sturm_liouville

FULL_TURN = 2 * np.pi

# name: (sampler, number of ambient coordinates, volume of the manifold if it is finite)
RANDOM = {
    "ou": (lambda n, r: ds.ou(n, random_state=r), 1, None),
    "ou-3": (lambda n, r: ds.ou(n, dim=3, random_state=r), 3, None),
    "circle": (lambda n, r: ds.circle(n, sampling="random", random_state=r), 2, FULL_TURN),
    "circle-perturbed": (
        lambda n, r: ds.circle(n, sampling="perturbed", random_state=r),
        2,
        FULL_TURN,
    ),
    "ellipse": (
        lambda n, r: ds.ellipse(n, random_state=r),
        2,
        float(ellipeinc(FULL_TURN, 1 - 4.0)),
    ),
    "noisy_circle": (lambda n, r: ds.noisy_circle(n, random_state=r), 10, FULL_TURN),
    "torus": (lambda n, r: ds.torus(n, random_state=r), 4, FULL_TURN**2),
    "torus-exponential": (
        lambda n, r: ds.torus(n, density="exponential", random_state=r),
        4,
        FULL_TURN**2,
    ),
    "sphere": (lambda n, r: ds.sphere(n, random_state=r), 3, 2 * FULL_TURN),
    "sphere-axes": (
        lambda n, r: ds.sphere(n, axes=(1.0, 0.5, 0.3), ambient=10, random_state=r),
        10,
        2 * FULL_TURN,
    ),
    "sphere-3": (
        lambda n, r: ds.sphere(n, dim=3, axes=(1.0, 1.0, 0.7, 0.5), random_state=r),
        4,
        2 * np.pi**2,
    ),
    "double_well": (lambda n, r: ds.double_well(n, random_state=r), 1, None),
    "prinz": (lambda n, r: ds.prinz(n, random_state=r), 1, None),
    "stretched": (lambda n, r: ds.stretched(n, random_state=r), 1, None),
    "student": (lambda n, r: ds.student(n, random_state=r), 1, None),
    "interval": (lambda n, r: ds.interval(n, random_state=r), 1, 1.0),
    "hemisphere": (lambda n, r: ds.hemisphere(n, random_state=r), 3, FULL_TURN),
    "swiss_roll": (lambda n, r: ds.swiss_roll(n, random_state=r), 3, None),
    "closed_curve": (lambda n, r: ds.closed_curve(n, random_state=r), 10, None),
    "clusters": (lambda n, r: ds.clusters(n, random_state=r), 2, None),
}

OF_KNOWN_VOLUME = [name for name, (_, _, volume) in RANDOM.items() if volume]
WITH_TRUTH = [name for name in RANDOM if name != "student"]
every_sampler = pytest.mark.parametrize("name", RANDOM)
every_truth = pytest.mark.parametrize("name", WITH_TRUTH)


class TestEverySampler:
    @every_sampler
    def test_shapes(self, name):
        draw, ambient, _ = RANDOM[name]
        sample = draw(57, 0)
        assert sample.points.shape == (57, ambient)
        assert sample.parameters.shape[0] == 57
        assert sample.parameters.ndim == 2
        assert sample.density.shape == (57,)
        assert (sample.density > 0).all()
        assert sample.operator in ("generator", "laplacian")
        assert name.startswith(sample.name)

    @every_sampler
    def test_arrays_are_read_only(self, name):
        sample = RANDOM[name][0](10, 0)
        for array in (sample.points, sample.parameters, sample.density):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0.0

    @every_sampler
    def test_seed_decides(self, name):
        draw = RANDOM[name][0]
        first = draw(40, 3).points
        assert np.array_equal(first, draw(40, 3).points)
        assert np.array_equal(first, draw(40, np.random.default_rng(3)).points)
        assert not np.array_equal(first, draw(40, 4).points)

    @pytest.mark.parametrize("name", OF_KNOWN_VOLUME)
    def test_mean_of_one_over_density_is_the_volume(self, name):
        draw, _, volume = RANDOM[name]
        inverse = 1 / draw(40_000, 0).density
        error = 4 * inverse.std() / np.sqrt(inverse.size)
        assert abs(inverse.mean() - volume) <= error + 1e-9 * volume

    @every_truth
    def test_truth_has_the_promised_form(self, name):
        sample = RANDOM[name][0](200, 0)
        truth = sample.truth(8)
        assert truth.eigenvalues.shape == (8,)
        assert truth.eigenvalues[0] == 0
        assert (np.diff(truth.eigenvalues) <= 1e-9).all()
        values = truth.eigenfunctions(sample.parameters)
        assert values.shape == (200, 8)
        assert np.isfinite(values).all()
        if name != "clusters":
            assert np.allclose(values[:, 0], 1.0, rtol=0, atol=1e-12)
        assert np.array_equal(np.concatenate(truth.groups), np.arange(8))

    @every_truth
    def test_eigenfunctions_are_orthonormal(self, name):
        """In the measure q**c1 dV, which the sample gives by importance weights."""
        sample = RANDOM[name][0](40_000, 0)
        truth = sample.truth(5)
        values = truth.eigenfunctions(sample.parameters)
        weights = sample.density ** (truth.c1 - 1)
        weights = weights / weights.mean()
        products = weights[:, None, None] * values[:, :, None] * values[:, None, :]
        error = 5 * products.std(axis=0) / np.sqrt(len(products))
        assert (np.abs(products.mean(axis=0) - np.eye(5)) <= error + 1e-9).all()

    @every_sampler
    @pytest.mark.parametrize("n", [0, -1, 2.5])
    def test_bad_number_of_points(self, name, n):
        with pytest.raises(ValueError, match="n_samples"):
            RANDOM[name][0](n, 0)


def test_density_on_the_line_integrates_to_the_share_of_points():
    for sample in (
        ds.ou(20_000, random_state=0),
        ds.double_well(20_000, random_state=0),
        ds.stretched(20_000, random_state=0),
        ds.student(20_000, random_state=0),
    ):
        order = np.argsort(sample.points[:, 0])
        x, q = sample.points[order, 0], sample.density[order]
        integral = np.cumsum(np.diff(x) * (q[1:] + q[:-1]) / 2)
        # The Kolmogorov distance is above 2/sqrt(N) less than once in a thousand draws.
        distance = np.abs(integral - np.arange(1, x.size) / x.size).max()
        assert distance < 2 / np.sqrt(x.size), sample.name


def test_densities_in_closed_form():
    x = ds.student(50, degrees=4, random_state=0)
    assert np.allclose(x.density, t.pdf(x.points[:, 0], 4))
    x = ds.ou(50, covariance=[0.25], random_state=0)
    assert np.allclose(x.density, norm.pdf(x.points[:, 0], scale=0.5))


class TestPointsLieOnTheManifold:
    def test_unit_circles_and_spheres(self):
        for sample in (ds.circle(50), ds.hemisphere(50), ds.sphere(50, dim=4, ambient=10)):
            assert np.allclose(np.linalg.norm(sample.points, axis=1), 1.0)
        assert (ds.hemisphere(50).points[:, 2] >= 0).all()

    def test_ambient_frame_is_an_isometry_and_always_the_same(self):
        sample = ds.sphere(20, ambient=10, random_state=1)
        assert np.allclose(sample.points @ sample.points.T, sample.parameters @ sample.parameters.T)
        low = ds.sphere(3, random_state=2)
        high = ds.sphere(3, ambient=10, random_state=2)
        frame = np.linalg.lstsq(sample.parameters, sample.points, rcond=None)[0]
        assert np.allclose(low.points @ frame, high.points)

    def test_ellipse(self):
        x = ds.ellipse(50, axes=(3.0, 0.5)).points
        assert np.allclose((x[:, 0] / 3) ** 2 + (x[:, 1] / 0.5) ** 2, 1.0)

    def test_torus(self):
        x = ds.torus(49, sampling="grid").points
        assert np.allclose((x**2).reshape(49, 2, 2).sum(axis=2), 1.0)
        assert len(np.unique(x.round(9), axis=0)) == 49

    def test_swiss_roll_parameters_measure_length(self):
        sample = ds.swiss_roll(4000, random_state=0)
        order = np.argsort(sample.parameters[:, 0])
        spiral = sample.points[order][:, [0, 2]]
        chords = np.linalg.norm(np.diff(spiral, axis=0), axis=1)
        assert np.allclose(np.diff(sample.parameters[order, 0]), chords, rtol=1e-3, atol=1e-9)
        assert np.array_equal(sample.points[:, 1], sample.parameters[:, 1])

    def test_closed_curve_uses_all_coordinates_and_its_arc_length(self):
        sample = ds.closed_curve(4000, random_state=0)
        assert np.linalg.matrix_rank(sample.points) == min(10, sample.points.shape[1])
        order = np.argsort(sample.parameters[:, 0])
        around = np.append(order, order[0])
        chords = np.linalg.norm(np.diff(sample.points[around], axis=0), axis=1)
        length = FULL_TURN / np.sqrt(-sample.truth(2).eigenvalues[1])
        assert chords.sum() == pytest.approx(length, rel=1e-4)
        volume = 1 / sample.density
        assert volume.mean() == pytest.approx(length, abs=4 * volume.std() / np.sqrt(4000))

    def test_noisy_circle(self):
        sample = ds.noisy_circle(5000, noise=0.02, random_state=0)
        angle = sample.parameters[:, 0]
        noise = sample.points.copy()
        noise[:, 0] -= np.cos(angle)
        noise[:, 1] -= np.sin(angle)
        assert np.allclose(noise.std(axis=0), 0.02, rtol=0.1)

    def test_lattice(self):
        sample = ds.lattice(3, dim=2)
        assert sample.points.shape == (9, 2)
        assert np.allclose(np.unique(sample.points), [1 / 6, 1 / 2, 5 / 6])
        assert np.allclose(sample.truth(4).eigenvalues / np.pi**2, [0, -1, -1, -2])

    def test_clusters_are_equal_in_number(self):
        sample = ds.clusters(100, centers=3, random_state=0)
        labels = sample.parameters[:, -1]
        assert sorted(np.unique(labels, return_counts=True)[1]) == [33, 33, 34]
        assert np.allclose(
            [sample.points[labels == i, 0].mean() for i in range(3)], [-10, 0, 10], atol=0.6
        )


class TestGaussian:
    def test_grid_is_that_of_the_paper(self):
        x = ds.ou(9, sampling="grid").points[:, 0]
        assert np.allclose(norm.cdf(x), np.arange(1, 10) / 10)

    def test_full_covariance(self):
        covariance = np.array([[2.0, 0.6], [0.6, 0.5]])
        sample = ds.ou(100_000, dim=2, covariance=covariance, random_state=0)
        assert np.allclose(np.cov(sample.points.T), covariance, atol=0.03)
        truth = sample.truth(4, operator=0.5)
        rates = 1 / np.linalg.eigvalsh(covariance)
        assert truth.eigenvalues[1] == pytest.approx(-0.5 * rates.min())
        # L f = Δf - c1 x C⁻¹ ∇f by central differences.
        x, step = sample.points[:20], 1e-3
        shifts = step * np.eye(2)
        here = truth.eigenfunctions(x)
        up = [truth.eigenfunctions(x + s) for s in shifts]
        down = [truth.eigenfunctions(x - s) for s in shifts]
        drift = -0.5 * x @ np.linalg.inv(covariance)
        applied = sum(
            (u - 2 * here + d) / step**2 + drift[:, [i]] * (u - d) / (2 * step)
            for i, (u, d) in enumerate(zip(up, down, strict=True))
        )
        assert np.allclose(applied, truth.eigenvalues * here, atol=1e-5)

    def test_multiplicities(self):
        groups = ds.ou(5, dim=3, random_state=0).truth(10).groups
        assert [g.size for g in groups] == [1, 3, 6]

    def test_clusters_repeat_the_spectrum(self):
        sample = ds.clusters(4000, centers=2, random_state=0)
        truth = sample.truth(7)
        assert truth.eigenvalues.tolist() == [0, 0, -1, -1, -1, -1, -2]
        values = truth.eigenfunctions(sample.parameters)
        labels = sample.parameters[:, -1]
        assert ((values[labels == 0] != 0).any(axis=0) != (values[labels == 1] != 0).any(0)).all()


class TestSturmLiouville:
    def test_against_hermite(self):
        solved = sturm_liouville(lambda x: -(x**2) / 2, -11.0, 11.0, 10, 1.0)
        assert np.allclose(solved.eigenvalues, -np.arange(10), rtol=1e-4, atol=1e-12)
        x = np.linspace(-3, 3, 50)[:, None]
        exact = ds.ou(5, random_state=0).truth(10).eigenfunctions(x)
        assert np.abs(solved.eigenfunctions(x) - exact).max() < 2e-3

    def test_against_circle(self):
        solved = sturm_liouville(np.zeros_like, 0.0, FULL_TURN, 11, 1.0, periodic=True)
        k = (np.arange(11) + 1) // 2
        assert np.allclose(solved.eigenvalues, -(k**2), rtol=1e-4)
        assert [g.size for g in solved.groups] == [1, 2, 2, 2, 2, 2]

    def test_neumann_interval(self):
        solved = sturm_liouville(np.zeros_like, 0.0, 1.0, 10, 1.0)
        assert np.allclose(solved.eigenvalues, -((np.arange(10) * np.pi) ** 2), rtol=1e-4)

    def test_converged_for_the_line_densities(self):
        well = ds.double_well(5, random_state=0).truth(10).eigenvalues
        fine = sturm_liouville(lambda x: -2 * (x**2 - 1) ** 2, -3.0, 3.0, 10, 1.0, cells=8000)
        assert np.allclose(well, fine.eigenvalues, rtol=1e-4)
        tails = ds.stretched(5, random_state=0).truth(10).eigenvalues
        fine = sturm_liouville(lambda x: -(np.abs(x) ** 1.5), -30.0, 30.0, 10, 1.0, cells=8000)
        assert np.allclose(tails, fine.eigenvalues, rtol=1e-4)

    def test_finite_far_out_in_the_tails(self):
        values = ds.stretched(5, random_state=0).truth(10).eigenfunctions(np.array([[-1e3], [1e3]]))
        assert np.isfinite(values).all()


class TestCircle:
    @pytest.mark.parametrize("density", ["cosine", "exponential", lambda x: 3 + np.sin(2 * x)])
    @pytest.mark.parametrize("sampling", ["grid", "perturbed"])
    @pytest.mark.parametrize("c1", [0.0, 0.5, 1.0])
    def test_truth_solves_its_equation(self, density, sampling, c1):
        """Weakly: orthonormal in q**c1, and Rayleigh quotients are the eigenvalues."""
        sample = ds.circle(4000, density=density, sampling=sampling, random_state=0)
        truth = sample.truth(7, operator=c1)
        angle = np.linspace(0, FULL_TURN, 1001)[:-1]
        order = np.argsort(sample.parameters[:, 0])
        q = np.interp(angle, sample.parameters[order, 0], sample.density[order], period=FULL_TURN)
        weight = q**c1 / (q**c1).sum()
        values = truth.eigenfunctions(angle[:, None])
        step = 1e-3
        slopes = truth.eigenfunctions(angle[:, None] + step)
        slopes = (slopes - truth.eigenfunctions(angle[:, None] - step)) / (2 * step)
        gram = (values * weight[:, None]).T @ values
        energy = -(slopes * weight[:, None]).T @ slopes
        assert np.abs(gram - np.eye(7)).max() < 1e-3
        assert np.abs(energy - np.diag(truth.eigenvalues)).max() < 2e-2

    def test_levels(self):
        uniform = [
            ds.circle(4, density="uniform", offset=o).parameters[:, 0] / FULL_TURN
            for o in ("paper", "midpoint", "periodic")
        ]
        assert np.allclose(uniform[0], [0.2, 0.4, 0.6, 0.8])
        assert np.allclose(uniform[1], [0.125, 0.375, 0.625, 0.875])
        assert np.allclose(uniform[2], [0, 0.25, 0.5, 0.75])

    def test_cosine_grid_is_quantiles(self):
        angle = ds.circle(50).parameters[:, 0]
        cdf = (2 * angle + np.sin(angle)) / (4 * np.pi)
        assert np.allclose(cdf, np.arange(1, 51) / 51, atol=1e-10)

    def test_perturbed_density_is_the_smoothed_one(self):
        sample = ds.circle(200, sampling="perturbed", random_state=0)
        angle = sample.parameters[:, 0]
        exact = (2 * 0.5 + np.sin(angle) - np.sin(angle - 0.5)) / 0.5 / (4 * np.pi)
        assert np.allclose(sample.density, exact, atol=1e-9)

    def test_callable_and_constant_density(self):
        same = ds.circle(30, density=lambda x: 5 * (2 + np.cos(x)))
        assert np.allclose(same.points, ds.circle(30).points)
        assert np.allclose(ds.circle(30, density=lambda x: 2.0).density, 1 / FULL_TURN)

    def test_truth_does_not_depend_on_c1_when_uniform(self):
        sample = ds.circle(10, density="uniform")
        assert sample.truth(5, operator=3.7).eigenvalues.tolist() == [0, -1, -1, -4, -4]

    def test_torus_with_drift_has_the_spectra_of_its_factors(self):
        values = ds.torus(10, density="exponential", random_state=0).truth(4, 1.0).eigenvalues
        factor = ds.circle(10, density="exponential").truth(3, 1.0).eigenvalues
        assert np.allclose(values, [0, -1, -1, factor[1]])


class TestCurves:
    def test_ellipse_in_arc_length(self):
        sample = ds.ellipse(30, random_state=0)
        length = ellipeinc(FULL_TURN, -3.0)
        truth = sample.truth(3)
        assert np.allclose(truth.eigenvalues[1:], -((FULL_TURN / length) ** 2))
        arc = ellipeinc(sample.parameters[:, 0], -3.0)
        expected = np.sqrt(2) * np.cos(FULL_TURN * arc / length)
        assert np.allclose(truth.eigenfunctions(sample.parameters)[:, 1], expected, atol=1e-9)

    def test_only_the_laplacian(self):
        for sample in (ds.ellipse(5), ds.closed_curve(5), ds.sphere(5, axes=(1, 0.5, 0.3))):
            with pytest.raises(ValueError, match="c1=0 only"):
                sample.truth(operator="generator")


class TestSpheres:
    @pytest.mark.parametrize(
        ("dim", "sizes"), [(1, [1, 2, 2, 2]), (2, [1, 3, 5, 7]), (3, [1, 4, 9, 16])]
    )
    def test_multiplicities(self, dim, sizes):
        truth = ds.sphere(5, dim=dim, random_state=0).truth(sum(sizes))
        assert [g.size for g in truth.groups] == sizes
        levels = truth.eigenvalues[[g[0] for g in truth.groups]]
        assert levels.tolist() == [-k * (k + dim - 1) for k in range(4)]

    def test_hemisphere_multiplicities_and_rim(self):
        sample = ds.hemisphere(5, random_state=0)
        truth = sample.truth(15)
        assert [g.size for g in truth.groups] == [1, 2, 3, 4, 5]
        mirrored = sample.parameters * [1, 1, -1]
        assert np.allclose(truth.eigenfunctions(mirrored), truth.eigenfunctions(sample.parameters))

    @pytest.mark.parametrize("dim", [2, 3])
    def test_polynomials_are_harmonic(self, dim):
        sample = ds.sphere(10, dim=dim, random_state=0)
        truth = sample.truth(14)
        step = 1e-3
        x = sample.parameters
        laplacian = sum(
            truth.eigenfunctions(x + s) + truth.eigenfunctions(x - s) - 2 * truth.eigenfunctions(x)
            for s in step * np.eye(dim + 1)
        )
        assert np.abs(laplacian / step**2).max() < 1e-6

    def test_cut_group_is_listed(self):
        groups = ds.sphere(5, random_state=0).truth(3).groups
        assert [g.tolist() for g in groups] == [[0], [1, 2]]


class TestBoxes:
    def test_interval(self):
        truth = ds.interval(5, random_state=0).truth(3)
        assert np.allclose(truth.eigenvalues, [0, -(np.pi**2), -4 * np.pi**2])
        ends = truth.eigenfunctions(np.array([[0.0], [1.0]]))
        assert np.allclose(ends, np.sqrt(2) * np.array([[0.5**0.5, 1, 1], [0.5**0.5, -1, 1]]))

    def test_swiss_roll(self):
        sample = ds.swiss_roll(50, height=10.0, random_state=0)
        a, b = 1.5 * np.pi, 4.5 * np.pi
        length = sum(s * (x * np.hypot(1, x) + np.arcsinh(x)) / 2 for s, x in ((1, b), (-1, a)))
        assert np.allclose(sample.density, 1 / (10 * length))
        assert sample.truth(2).eigenvalues[1] == pytest.approx(-((np.pi / length) ** 2))


class TestBlemishes:
    def test_outliers(self):
        clean = ds.clusters(200, random_state=0)
        dirty = ds.with_outliers(clean, share=0.05, box=30.0, random_state=0)
        moved = np.isnan(dirty.density)
        assert moved.sum() == 10
        assert np.array_equal(dirty.points[~moved], clean.points[~moved])
        assert (dirty.points[moved] != clean.points[moved]).all()
        assert np.abs(dirty.points[moved]).max() <= 30
        assert np.array_equal(dirty.truth(5).eigenvalues, clean.truth(5).eigenvalues)
        values = dirty.truth(5).eigenfunctions(dirty.parameters)
        assert np.isfinite(values[~moved]).all()
        again = ds.with_outliers(clean, share=0.05, box=30.0, random_state=0)
        assert np.array_equal(again.points, dirty.points)

    def test_duplicates(self):
        clean = ds.circle(100)
        twice = ds.with_duplicates(clean, share=0.3, random_state=0)
        assert len(np.unique(twice.points, axis=0)) == 70
        assert np.allclose(twice.points[:, 0], np.cos(twice.parameters[:, 0]))
        assert np.allclose(twice.density, (2 + twice.points[:, 0]) / (4 * np.pi))

    @pytest.mark.parametrize("share", [-0.1, 1.0, np.nan])
    def test_bad_share(self, share):
        for blemish in (ds.with_outliers, ds.with_duplicates):
            with pytest.raises(ValueError, match="share"):
                blemish(ds.circle(10), share=share)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ds.ou(5, random_state=0).truth(operator="laplacian"), "c1 > 0 only"),
        (lambda: ds.double_well(5).truth(operator=-1.0), "c1 > 0 only"),
        (lambda: ds.ou(5).truth(operator="laplace"), "operator"),
        (lambda: ds.ou(5).truth(operator=np.nan), "operator"),
        (lambda: ds.ou(5).truth(0), "`n`"),
        (lambda: ds.ou(5, dim=2, sampling="grid"), "dim=1"),
        (lambda: ds.ou(5, sampling="sobol"), "sampling"),
        (lambda: ds.ou(5, covariance=[1.0, 2.0]), "covariance"),
        (lambda: ds.ou(5, covariance=[-1.0]), "positive definite"),
        (lambda: ds.ou(5, covariance=[np.nan]), "must be an array of finite numbers"),
        (lambda: ds.ou(5).truth(operator=1e9), "known for c1 from"),
        (lambda: ds.student(5).truth(), "has no truth"),
        (lambda: ds.stretched(5, power=1.0).truth(), "power"),
        (lambda: ds.stretched(5, power=-1.0), "power"),
        (lambda: ds.stretched(5, power=1e-3), "points of 'stretched' would not be finite"),
        (lambda: ds.clusters(5, separation=5.0).truth(), "separation"),
        (lambda: ds.circle(5, density="gauss"), "density"),
        (lambda: ds.circle(5, density=np.cos), "positive"),
        (lambda: ds.circle(5, density=lambda angle: [1.0, 2.0]), "a number for each entry"),
        (lambda: ds.circle(5, offset="half"), "offset"),
        (lambda: ds.circle(5, sampling="half"), "sampling"),
        (lambda: ds.torus(10, sampling="grid"), "square"),
        (lambda: ds.torus(9, sampling="grid", density="exponential"), "uniform"),
        (lambda: ds.sphere(5, axes=(1.0, 2.0)), "axes"),
        (lambda: ds.sphere(5, ambient=2), "ambient"),
        (lambda: ds.closed_curve(5, ambient=2), "ambient"),
        (lambda: ds.noisy_circle(5, noise=-1.0), "noise"),
        (lambda: ds.ellipse(5, axes=(0.0, 1.0)), "axes"),
        (lambda: ds.lattice(0), "side"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("n", "words"), [(10**13, "10,000,000,000,000 points"), (10**20, r"more than 10\^20 points")]
)
def test_more_points_than_fit_into_memory_are_refused(n, words):
    with pytest.raises(vbdm.errors.OutOfMemoryError, match=words):
        ds.circle(n)
