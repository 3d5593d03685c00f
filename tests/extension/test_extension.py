"""Rows at new points: all training points within reach, their own rows at training points."""

import numpy as np
import pytest
from tests.support.estimates import estimate_with
from tests.support.reference import squared_distances

import vbdm
from vbdm.extension.rows import RIM, kernel_rows, new_rows
from vbdm.kernel.scaled import NEGLIGIBLE
from vbdm.shapes import radius_of

TURN = 2 * np.pi


def line_with_strays():
    """Return a dense line, and two points far beyond its ends."""
    line = np.random.default_rng(0).standard_normal((800, 1))
    return np.vstack([line, [[25.0], [-40.0]]])


def copies():
    points = np.random.default_rng(1).standard_normal((500, 2))
    return np.vstack([points, np.repeat(points[:40], 3, axis=0)])


#: Points, and settings of the estimate.
CLOUDS = {
    "line": (line_with_strays(), {}),
    "plane": (vbdm.datasets.ou(1500, dim=2, random_state=0).points, {}),
    "space": (vbdm.datasets.ou(1500, dim=3, random_state=0).points, {}),
    "copies": (copies(), {}),
    "angle": (np.random.default_rng(2).beta(2, 2, (600, 1)) * TURN, {"period": TURN}),
    "torus": (np.random.default_rng(3).random((900, 2)) * TURN, {"period": TURN}),
    "generator": (vbdm.datasets.ou(900, dim=2, random_state=4).points, {"operator": "generator"}),
    "broad shape": (vbdm.datasets.sphere(900, random_state=5).points, {"shape": "broad"}),
}


@pytest.fixture(scope="module", params=CLOUDS)
def cloud(request):
    """Return an operator, and new points: fresh ones, some training points, and some far away."""
    points, settings = CLOUDS[request.param]
    op = estimate_with(points, **settings)
    assert op.kernel.by_reach
    fresh = points[:200] + 0.05 * np.random.default_rng(9).standard_normal(points[:200].shape)
    away = points[:20] * np.linspace(1, 30, 20)[:, None]
    return op, np.vstack([fresh, points[50:90], away])


def distances(op, new):
    """Return squared distances from new points to the points inside, (m, M)."""
    inside, period = op.graph.point_set.coordinates, op.graph.period
    gap = new[:, None, :] - inside
    if period is not None:
        gap -= period * np.rint(gap / period)
    return (gap**2).sum(axis=2)


def test_rows_hold_all_points_within_reach(cloud):
    op, new = cloud
    rows, kernel, sqdist = new_rows(op, new), op.kernel, distances(op, new)
    rho = np.sqrt(rows.steps / (op.epsilon * kernel.moments(op.dim).m))
    scaled = sqdist / (op.epsilon * rho[:, None] * kernel.bandwidth.row)
    values = np.where(scaled < kernel.cutoff, kernel.shape(scaled), 0.0)
    fresh = (rows.training < 0) & ~rows.outside
    assert fresh.sum() > 100
    # Beside a training point, that point is left out by the share w.
    nearest, w = sqdist.argmin(axis=1), rows.beside
    values[np.arange(len(new)), nearest] *= 1 - w
    assert 0 < (w[fresh] > 0).mean() < 1
    counts = (
        np.ones(len(op.inside.degrees)) if op.graph.order.counts is None else op.graph.order.counts
    )
    volume = kernel.moments(op.dim).m0 * (op.epsilon * rho**2) ** (op.dim / 2)
    density = (values * counts).sum(axis=1) / ((op.n_points - w * counts[nearest]) * volume)
    np.testing.assert_allclose(rows.density[fresh], density[fresh], rtol=1e-9)
    weights = values * op.alpha_kernel.factor
    weights /= weights.sum(axis=1, keepdims=True, where=fresh[:, None], initial=1e-300)
    np.testing.assert_allclose(rows.weights.toarray()[fresh], weights[fresh], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(rows.nearest[fresh], sqdist.argmin(axis=1)[fresh])


def test_outside_is_what_the_nearest_kernels_do_not_reach(cloud):
    op, new = cloud
    rows, kernel, sqdist = new_rows(op, new), op.kernel, distances(op, new)
    reach = op.epsilon * kernel.bandwidth.squared * radius_of(kernel.shape, NEGLIGIBLE)
    near = sqdist.argsort(axis=1)[:, :81]
    far = (np.take_along_axis(sqdist, near, axis=1) >= reach[near]).all(axis=1)
    far |= np.diff(rows.weights.indptr) == 0
    fresh = rows.training < 0
    np.testing.assert_array_equal(rows.outside[fresh], far[fresh])
    assert (rows.density[rows.outside] == 0).all()


def test_a_stray_does_not_vouch_for_what_is_far_away():
    """Its kernel is ten times as wide as its distance to the others."""
    cluster = np.random.default_rng(0).standard_normal((800, 2))
    op = vbdm.estimate_operator(np.vstack([cluster, [[25.0, 0.0]]]))
    assert op.widths[800] > 50
    rows = new_rows(op, np.array([[-60.0, 0.0], [0.0, 50.0], [25.0, 0.1], [0.0, 0.1]]))
    assert rows.outside.tolist() == [True, True, False, False]
    # Nor do rows that are not needed cost anything: the first point would reach all others.
    assert np.diff(rows.weights.indptr)[:2].tolist() == [0, 0]


def test_training_points_keep_their_values(cloud):
    op, _ = cloud
    spectrum = op.spectrum(4, solver="dense")
    points = np.asarray(op.graph.points)
    extension = vbdm.extend(spectrum, points)
    inside = ~extension.outside
    assert inside.mean() > 0.99
    values = spectrum.eigenfunctions
    np.testing.assert_allclose(extension.values[inside], values[inside], atol=1e-6)
    np.testing.assert_allclose(extension.density[inside], op.density[inside], rtol=1e-12)
    np.testing.assert_array_equal(points[extension.training], points)


def test_the_order_of_new_points_does_not_matter(cloud):
    op, new = cloud
    spectrum = op.spectrum(3, solver="dense")
    order = np.random.default_rng(0).permutation(len(new))
    first = vbdm.extend(spectrum, new, outside="nearest")
    other = vbdm.extend(spectrum, new[order], outside="nearest")
    for name in ("values", "outside", "undefined", "density", "training"):
        np.testing.assert_array_equal(getattr(first, name)[order], getattr(other, name))


def test_many_batches(monkeypatch):
    op, new = vbdm.estimate_operator(CLOUDS["plane"][0]), CLOUDS["plane"][0][:300] + 0.01
    spectrum = op.spectrum(3)
    whole = vbdm.extend(spectrum, new)
    monkeypatch.setattr("vbdm.extension.extension.BATCH", 7)
    parts = vbdm.extend(spectrum, new)
    np.testing.assert_array_equal(parts.values, whole.values)


@pytest.mark.slow
def test_engines_agree():
    pytest.importorskip("numba")
    train, new = (vbdm.datasets.ou(3000, dim=2, random_state=seed).points for seed in (0, 1))
    first, second = (
        vbdm.estimate_operator(train, run=vbdm.Run(engine=name)) for name in ("scipy", "numba")
    )
    rows, others = new_rows(first, new), new_rows(second, new)
    np.testing.assert_array_equal(rows.weights.indices, others.weights.indices)
    np.testing.assert_allclose(rows.weights.data, others.weights.data, rtol=1e-9)
    function = np.sin(train)
    np.testing.assert_allclose(
        first.extend(function, new, outside="nearest"),
        second.extend(function, new, outside="nearest"),
        rtol=1e-7,
        atol=1e-9,
    )


def test_rows_by_lists_have_the_kernel_of_the_training_points():
    points = vbdm.datasets.ou(400, dim=2, random_state=0).points
    op = vbdm.estimate_operator(points, "generator", method=vbdm.Resolved(n_neighbors=60))
    assert not op.kernel.by_reach
    rows, lost = kernel_rows(op, points[:50])
    assert not lost.any()
    place = op.graph.order.inside_rows(np.arange(50))
    kernel = (op.kernel.weights @ np.eye(400))[place]
    found = rows.toarray()
    own = found[np.arange(50), place]
    known = (found > 0) & (kernel > 0) & (np.arange(400) != place[:, None])
    assert known.sum() > 50 * 50
    np.testing.assert_allclose((found / own[:, None])[known], kernel[known], rtol=1e-5)


def test_lists_stay_lists():
    """With a given number of neighbours, rows hold listed pairs, those of one side by half."""
    points = CLOUDS["plane"][0]
    op = vbdm.estimate_operator(points, method=vbdm.Paper(n_neighbors=40))
    assert not op.kernel.by_reach
    new = points[:100] + 0.01
    rows = new_rows(op, new)
    assert (np.diff(rows.weights.indptr) == 51).all()
    inside = op.graph.point_set.coordinates
    sqdist = squared_distances(np.vstack([new, inside]))[:100, 100:]
    rank = sqdist.argsort(axis=1).argsort(axis=1)
    # A list of k = 40 holds a point and 39 others; a new point beside a training point lists one
    # more by the share w, and fades out of other lists beyond their radii.
    w = rows.beside[:, None]
    by_new = np.clip(39 + w - rank, 0, 1)
    by_training = np.clip(1 - (sqdist / op.graph.radii - 1) / RIM, 0, 1)
    share = (by_new + by_training) / 2
    rho = np.sqrt(rows.steps / (op.epsilon * op.kernel.moments(op.dim).m))
    scaled = sqdist / (op.epsilon * rho[:, None] * op.kernel.bandwidth.row)
    values = share * op.kernel.shape(scaled) * op.alpha_kernel.factor
    values[rank >= 51] = 0.0
    values /= values.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(rows.weights.toarray(), values, rtol=1e-6, atol=1e-12)


def beside(points, share, seed=0):
    """Return points shifted in random directions by a share of the typical nearest distance."""
    rng = np.random.default_rng(seed)
    shift = rng.standard_normal(points.shape)
    sqdist = squared_distances(points)
    typical = np.median(np.sqrt(np.sort(sqdist, axis=1)[:, 1]))
    return points + share * typical * shift / np.linalg.norm(shift, axis=1)[:, None]


#: Points, and settings: outliers that a mode cannot resolve, many columns (by lists), the paper.
UNEVEN = {
    "plane": (CLOUDS["plane"][0][:400], {"operator": "generator"}),
    "outliers": (np.random.default_rng(4).standard_t(2, (300, 3)), {"operator": "generator"}),
    "many columns": (np.random.default_rng(5).standard_t(4, (400, 12)), {}),
    "paper": (CLOUDS["plane"][0][:400], {"method": "paper", "n_neighbors": 40}),
}


@pytest.mark.parametrize("name", UNEVEN)
def test_beside_a_training_point_values_tend_to_its_own(name):
    """Eigenfunctions, other functions and the density, also where rows are unresolved: no NaN."""
    points, settings = UNEVEN[name]
    op = estimate_with(points, **settings)
    spectrum = op.spectrum(6)
    function = np.sign(points[:, 0])
    np.testing.assert_array_equal(vbdm.extend(spectrum, points).values, spectrum.eigenfunctions)
    np.testing.assert_allclose(op.density_at(points), op.density, rtol=1e-12)
    for share, close in ((1e-9, 1e-5), (1e-5, 1e-3)):
        new = beside(points, share)
        near = vbdm.extend(spectrum, new)
        assert np.abs(near.values - spectrum.eigenfunctions).max() < close
        assert not near.undefined.any()
        assert np.abs(op.extend(function, new) - function).max() < close
        held = op.inside.degrees > 0
        np.testing.assert_allclose(near.density[held], op.density[held], rtol=close)


@pytest.mark.parametrize("name", ["plane", "outliers"])
def test_between_training_points_values_do_not_jump(name):
    """In steps of a thousandth of the way values change a little: twice as much in twice the step,
    but for the kernel's end, where it has fallen to a thousandth."""
    points, settings = UNEVEN[name]
    spectrum = estimate_with(points, **settings).spectrum(4)
    ends = squared_distances(points).argsort(axis=1)[:20, 3]
    way = np.linspace(0, 1, 1001)[:, None, None]
    new = ((1 - way) * points[:20] + way * points[ends]).reshape(-1, points.shape[1])
    values = vbdm.extend(spectrum, new, outside="nearest").values.reshape(1001, 20, -1)
    whole = np.abs(np.diff(values[::10], axis=0)).max()
    assert np.abs(np.diff(values, axis=0)).max() < 0.2 * whole + 0.005


@pytest.mark.parametrize("columns", [2, 12])
def test_points_very_far_away(columns):
    X = np.random.default_rng(0).standard_normal((200, columns))
    op = vbdm.estimate_operator(X, dim=min(columns, 5))
    far = np.stack([X[0], np.full(columns, 1e20), np.full(columns, 1e149)])
    with pytest.warns(vbdm.errors.OutsideWarning, match="2 of 3"):
        values = op.extend(X[:, 0], far)
    np.testing.assert_array_equal(np.isnan(values), [False, True, True])
    with pytest.raises(vbdm.InputError, match="too far away"):
        op.extend(X[:, 0], 1e160 * far[:1])
