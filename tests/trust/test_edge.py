"""Where data ends: found at edges of all kinds, never on closed surfaces or in thin tails."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import erf
from tests.support.findings import found_in

import vbdm
from vbdm.trust.edge import (
    SAMPLE,
    STRIP,
    boundary_shifts,
    edge_of,
    find_edge,
    mass_exponents,
    mean_inward,
    overhang,
    surroundings,
)

D = vbdm.datasets
UNEVEN = (1.0, 0.5, 0.3)


def disk(n, rng, inner=0.0):
    radius, angle = np.sqrt(rng.uniform(inner**2, 1, n)), rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


def arc(n, rng):
    angle = rng.uniform(0, np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)])


def cut_off(n, rng, dim, radius=1.5):
    """Gaussian points within a radius: the density at the edge is a third of that in the middle."""
    points = rng.standard_normal((8 * n, dim))
    return points[np.linalg.norm(points, axis=1) < radius][:n]


def projective_plane(n, rng):
    x = D.sphere(n, random_state=rng).points
    return np.column_stack([x**2, np.sqrt(2) * x * np.roll(x, 1, axis=1)])


def rotations(n, rng):
    frames, triangles = np.linalg.qr(rng.standard_normal((n, 3, 3)))
    frames *= np.sign(np.einsum("ijj->ij", triangles))[:, None]
    frames[:, :, 0] *= np.linalg.det(frames)[:, None]
    return frames.reshape(n, 9)


# Points from their number and a random generator, and their dimension.
WITHOUT = {
    "circle": (lambda n, rng: D.circle(n, sampling="random", random_state=rng).points, 1),
    "ellipse": (lambda n, rng: D.ellipse(n, random_state=rng).points, 1),
    "sphere": (lambda n, rng: D.sphere(n, random_state=rng).points, 2),
    "uneven sphere": (lambda n, rng: D.sphere(n, axes=UNEVEN, random_state=rng).points, 2),
    "long ellipsoid": (lambda n, rng: D.sphere(n, random_state=rng).points * [3, 1, 0.7], 2),
    "torus": (lambda n, rng: D.torus(n, random_state=rng).points, 2),
    "uneven torus": (
        lambda n, rng: D.torus(n, density="exponential", random_state=rng).points,
        2,
    ),
    "S³": (lambda n, rng: D.sphere(n, dim=3, random_state=rng).points, 3),
    "S⁴": (lambda n, rng: D.sphere(n, dim=4, random_state=rng).points, 4),
    "projective plane": (projective_plane, 2),
    "rotations": (rotations, 3),
    "OU R": (lambda n, rng: D.ou(n, dim=1, random_state=rng).points, 1),
    "OU R²": (lambda n, rng: D.ou(n, dim=2, random_state=rng).points, 2),
    "OU R³": (lambda n, rng: D.ou(n, dim=3, random_state=rng).points, 3),
    "narrow OU": (lambda n, rng: rng.standard_normal((n, 2)) * [1, 0.3], 2),
    "double well": (lambda n, rng: D.double_well(n, random_state=rng).points, 1),
    "heavy tail": (lambda n, rng: rng.standard_t(4, (n, 2)), 2),
}
WITH = {
    "interval": (lambda n, rng: rng.random((n, 1)), 1),
    "arc": (arc, 1),
    "hemisphere": (lambda n, rng: D.hemisphere(n, random_state=rng).points, 2),
    "disk": (disk, 2),
    "annulus": (lambda n, rng: disk(n, rng, inner=0.5), 2),
    "square": (lambda n, rng: rng.random((n, 2)), 2),
    "rolled sheet": (lambda n, rng: D.swiss_roll(n, random_state=rng).points, 2),
    "cube": (lambda n, rng: rng.random((n, 3)), 3),
    "cube in R⁴": (lambda n, rng: rng.random((n, 4)), 4),
    "part of a line": (lambda n, rng: cut_off(n, rng, 1), 1),
    "part of a plane": (lambda n, rng: cut_off(n, rng, 2), 2),
    "half a line": (lambda n, rng: np.abs(rng.standard_normal((n, 1))), 1),
}


def looked_for(made, n, seed):
    """Return the edge that is found in points of a known dimension, without an estimate."""
    points, dim = made[0](n, np.random.default_rng(seed)), made[1]
    known = SimpleNamespace(drift=0.0)
    graph = vbdm.neighbors(points, 4)
    return find_edge(SimpleNamespace(graph=graph, dim=dim, dimension=known))


@pytest.mark.parametrize("name", WITHOUT)
def test_no_edge_where_there_is_none(name):
    for seed in range(4100, 4106):
        edge = looked_for(WITHOUT[name], 1000, seed)
        assert edge is None or not edge.found
        assert edge is None or edge.n_sure <= 3  # half of what would be an edge


@pytest.mark.parametrize("name", WITH)
def test_edges_are_found(name):
    for seed in range(4100, 4106):
        edge = looked_for(WITH[name], 1000, seed)
        assert edge.found
        assert len(edge.rows) == len(edge.distances) == len(edge.strips) == len(edge.normals)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1000, 3000, 30_000])
@pytest.mark.parametrize("name", [*WITHOUT, *WITH])
def test_edges_at_many_sizes(name, n):
    for seed in range(4110, 4120):
        edge = looked_for({**WITHOUT, **WITH}[name], n, seed)
        assert (edge is not None and edge.found) == (name in WITH)


@pytest.mark.parametrize(
    ("sample", "operator"),
    [(D.ou, "generator"), (D.double_well, "generator"), (D.noisy_circle, "laplacian")],
)
def test_no_boundary_in_the_errors_of_clouds_that_thin_out(sample, operator):
    op = vbdm.estimate_operator(sample(1000, random_state=4100).points, operator)
    assert edge_of(op) is None or not edge_of(op).found
    assert not op.spectrum(5).errors.parts.boundary.any()


def test_points_near_the_edge_of_a_disk():
    """They are the points near the edge, and know how far it is and in which direction."""
    near = []
    for seed in range(4100, 4104):
        operator = vbdm.estimate_operator(disk(2000, np.random.default_rng(seed)))
        edge, points = edge_of(operator), operator.graph.point_set.coordinates
        radius = np.linalg.norm(points, axis=1)
        distance = 1 - radius[edge.rows]
        assert np.abs(edge.distances - distance).mean() < 0.3 * edge.strips.mean()
        assert np.abs(np.mean(edge.distances - distance)) < 0.2 * edge.strips.mean()
        outward = (edge.normals * points[edge.rows]).sum(axis=1) / radius[edge.rows]
        assert np.quantile(outward, 0.05) > 0.9
        strip = edge.strips.mean()
        near.append(len(edge.rows) / (1 - radius < strip).sum())
        share = edge.share_within(np.full(len(edge.rows), strip / 2))
        assert share == pytest.approx((1 - radius < strip / 2).mean(), rel=0.25)
    assert np.mean(near) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("dim", [1, 2, 3, 5])
@pytest.mark.parametrize("end", [0.0, 0.1, STRIP])
def test_mean_of_a_ball_that_is_cut_off(dim, end):
    def heights(v):
        return (1 - v * v) ** ((dim - 1) / 2)

    expected = -quad(lambda v: v * heights(v), -1, end)[0] / quad(heights, -1, end)[0]
    assert mean_inward(np.array([end]), dim) == pytest.approx(expected, rel=1e-9)


def test_many_columns_and_many_points():
    frame = np.linalg.qr(np.random.default_rng(0).standard_normal((60, 3)))[0]

    def wide(points):
        return (lambda n, rng: points @ frame.T), 2

    whole = looked_for(wide(D.sphere(5000, random_state=4100).points), 5000, 0)
    assert not whole.found
    assert whole.n_judged > 0.95 * SAMPLE
    half = looked_for(wide(D.hemisphere(5000, random_state=4100).points), 5000, 0)
    assert half.found
    assert np.quantile((half.normals @ frame)[:, 2], 0.95) < -0.9  # the rim looks down


def test_columns_that_come_back_have_no_edge():
    points = np.random.default_rng(4100).random((1500, 2))

    def seen(period):
        graph, known = vbdm.neighbors(points, 4, period=period), SimpleNamespace(drift=0.0)
        return find_edge(SimpleNamespace(graph=graph, dim=2, dimension=known))

    assert seen(None).found
    assert not seen(1.0).found
    one = seen([1.0, None])
    assert one.found
    assert np.quantile(np.abs(one.normals[:, 1]), 0.05) > 0.9


def test_where_it_cannot_be_told():
    points = np.random.default_rng(4100).random((800, 2))
    assert edge_of(vbdm.estimate_operator(points)).found
    assert edge_of(vbdm.estimate_operator(points[:639])) is None
    assert edge_of(vbdm.estimate_operator(vbdm.neighbors(points, metric="manhattan"))) is None
    graph = vbdm.neighbors(points)
    bare = vbdm.NeighborGraph.from_arrays(graph.indices, graph.sqdist)
    assert edge_of(vbdm.estimate_operator(bare)) is None
    known = vbdm.NeighborGraph.from_arrays(graph.indices, graph.sqdist, points)
    assert edge_of(vbdm.estimate_operator(known)).found
    operator = vbdm.estimate_operator(points)
    for drift, told in ((0.149, True), (0.151, False)):
        dimension = replace(operator.dimension, by_scale=np.array([2.0 * (1 + drift), 2.0]))
        assert (find_edge(replace(operator, dimension=dimension)) is not None) == told


def test_the_finding():
    square = np.random.default_rng(4100).random((800, 2))
    found = found_in(vbdm.estimate_operator(square).spectrum(3), "Boundary")
    assert found.light == "amber"
    assert "Neumann" in found.words
    assert "intervals are wider" in found.words
    assert 0.15 < found.value < 0.5
    sphere = D.sphere(700, random_state=4100).points
    assert found_in(vbdm.estimate_operator(sphere).spectrum(3), "Boundary").light == "green"


def test_surroundings_end_at_the_last_neighbour():
    points = np.random.default_rng(0).standard_normal((300, 2))
    graph = vbdm.neighbors(points, 10)
    neighbors, radii = surroundings(points, graph.point_set)
    far = np.linalg.norm(points[neighbors] - points[:, None], axis=2)
    np.testing.assert_allclose(radii, far.max(axis=1))
    np.testing.assert_array_equal(np.sort(neighbors, axis=1)[:, 0] >= 0, True)


# --- How far an edge moves eigenvalues, against the first order of the theory and against truth ---


def share(z):
    return 0.5 * (1 + erf(z))


def excess(of_kernel, of_pilot=0.0, ratio=1.0, end=np.inf):
    def weight(z):
        return share(z) ** of_kernel * share(ratio * z) ** of_pilot - 1

    return quad(weight, 0, end)[0]


@pytest.mark.parametrize("powers", [(1.0, -2.0, 1.0), (1.0, -2.0, 2.0), (2.0, -2.0, 0.5)])
@pytest.mark.parametrize("depth", [0.1, 1.0, 3.0, 30.0])
def test_the_part_of_the_kernel_that_hangs_over(powers, depth):
    whole = excess(*powers, end=20.0)
    expected = whole / (depth + excess(*powers, end=min(depth, 20.0)))
    assert overhang(np.array([depth]), *powers) == pytest.approx(expected, rel=0.01)
    if powers[1:] == (-2.0, 1.0):
        assert whole == pytest.approx(0.41, abs=0.005)  # the Laplacian, of the page


def test_a_measure_that_is_right_at_an_edge():
    points = np.random.default_rng(4100).random((800, 2))
    for name, c1 in (("laplacian", 0), ("generator", 1)):
        powers = mass_exponents(vbdm.estimate_operator(points, name))
        assert sum(powers) == pytest.approx(c1 - 1)
    assert overhang(np.ones(3), 2.0, -2.0, 1.0) == pytest.approx(0)
    given = vbdm.estimate_operator(
        points, bandwidth=np.full(800, 0.1), method=vbdm.Resolved(alpha=0.3)
    )
    assert mass_exponents(given) == pytest.approx((0.4, 0.0))


@pytest.mark.parametrize(("side", "dim"), [(6000, 1), (50, 2)])
def test_the_first_order_on_a_lattice(side, dim):
    """For cos πx the ends x = 0, 1 give δλ/λ = -4 h I; faces along x give nothing."""
    points = D.lattice(side, dim=dim).points
    operator = vbdm.estimate_operator(points, dim=dim, method=vbdm.Resolved(leave_one_out=False))
    spectrum = operator.spectrum(dim + 1)
    rows = edge_of(operator).rows
    width = np.median(operator.widths[operator.graph.order.caller_rows[rows]])
    ratio = width / (np.sqrt(2) * np.median(operator.inside.pilot.rho0[rows]))
    powers = (
        1 - 2 * operator.settings.exponents.alpha,
        operator.settings.exponents.beta * (operator.dim + 2),
    )
    expected = -4 * width * excess(*powers, ratio, end=20.0) * spectrum.eigenvalues[1:]
    assert boundary_shifts(spectrum)[1:] == pytest.approx(expected, rel=0.12)


def test_the_laplacian_of_a_square():
    """The estimate agrees with the mean error, and intervals hold the truth because of it."""
    truth, seen, estimated, without, within = np.pi**2 * np.array([1, 1, 2]), [], [], [], []
    for seed in (4100, 4101, 4102):
        points = np.random.default_rng(seed).random((2500, 2))
        spectrum = vbdm.estimate_operator(points).spectrum(4)
        errors, parts = truth + spectrum.eigenvalues[1:], spectrum.errors.parts
        seen.append(errors)
        estimated.append(boundary_shifts(spectrum)[1:])
        assert (parts.boundary == np.abs(boundary_shifts(spectrum))).all()
        without.append(np.abs(errors) < 1.96 * np.sqrt(parts.total**2 - parts.boundary**2)[1:])
        within.append(np.abs(errors) < 1.96 * parts.total[1:])
    # Errors that have nothing to do with the edge are among those seen.
    assert np.mean(estimated) == pytest.approx(np.mean(seen), rel=0.25)
    assert np.mean(without) < 0.5
    assert np.all(within)
