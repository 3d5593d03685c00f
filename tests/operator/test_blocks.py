"""From points to the operator: in blocks all numbers are those of one block, to the last bit."""

import pickle
from itertools import product
from operator import attrgetter

import numpy as np
import pytest
from tests.support.estimates import estimate_with
from tests.support.slow import with_slow

import vbdm
from vbdm.errors import InputError, OutOfMemoryError
from vbdm.estimate import estimate_again
from vbdm.operator.normalise import with_epsilon
from vbdm.operator.sums import pairs_of, relative_variance_of, row_sums_of
from vbdm.placement import Dask, Disk, Memory


def on_a_curve(n, rng):
    angle = rng.uniform(0, 2 * np.pi, n)
    waves = [f(k * angle) / k for k in range(1, 6) for f in (np.cos, np.sin)]
    return np.stack(waves, axis=1)


def some_points(name):
    """Return a small cloud."""
    rng = np.random.default_rng(3)
    if name == "space":
        return rng.normal(size=(2500, 3))
    if name == "curve":
        # Fewer points would be searched by brute force, which rounds distances otherwise.
        return on_a_curve(4000, rng)
    if name == "lattice":
        return np.stack(np.meshgrid(np.arange(60.0), np.arange(40.0)), -1).reshape(-1, 2)
    if name == "cell":
        return rng.uniform(size=(2000, 2))
    plane = rng.normal(size=(2000, 2))
    beside = {"copies": plane[:700], "two": 40 + plane[:900], "outliers": 1e3 * plane[:15]}
    return np.concatenate([plane, beside.get(name, plane[:0])])


pytestmark = pytest.mark.blocks
CLOUDS = ["plane", "space", "curve", "lattice", "copies", "two", "cell", "outliers"]
PLACEMENTS = [Memory(3), Disk(blocks=16)]


def estimated(name, engine="numba", **options):
    """Return the operator of a cloud."""
    period = 1.0 if name == "cell" else None
    return estimate_with(some_points(name), period=period, engine=engine, **options)


@pytest.mark.parametrize(
    ("name", "engine"),
    with_slow(product(CLOUDS, ["scipy", "numba"]), ("space", "scipy")),
)
def test_blocks_change_no_bit(name, engine):
    one = estimated(name, engine)
    everything = np.arange(one.graph.order.n_points)
    f = np.cos(np.arange(2 * one.n_points)).reshape(-1, 2)
    for placement in PLACEMENTS:
        op = estimated(name, engine, placement=placement)
        assert op.graph.point_set.rows.n_blocks == placement.blocks
        assert (op.epsilon, op.dim) == (one.epsilon, one.dim)
        assert repr(op).startswith(repr(one)[:-1])
        for part in ("density", "bandwidth", "inside.degrees", "inside.steps"):
            np.testing.assert_array_equal(attrgetter(part)(op), attrgetter(part)(one))
        np.testing.assert_array_equal(pairs_of(op), pairs_of(one))
        np.testing.assert_array_equal(op.kernel.known_sums, one.kernel.known_sums)
        np.testing.assert_array_equal(op.graph.radii, one.graph.radii)
        ours, theirs = (each.alpha_kernel.rows_at(everything) for each in (op, one))
        np.testing.assert_array_equal(ours.indices, theirs.indices)
        np.testing.assert_array_equal(ours.data, theirs.data)
        np.testing.assert_array_equal(op.apply(f), one.apply(f))


@pytest.mark.parametrize("n_points", [12, 33, 65, 200])
def test_few_points_and_many_blocks(n_points):
    points = some_points("plane")[:n_points]
    one = vbdm.estimate_operator(points)
    for placement in (Disk(blocks=1), Memory(2), Memory(1000)):
        op = vbdm.estimate_operator(points, run=vbdm.Run(placement=placement))
        assert op.epsilon == one.epsilon
        np.testing.assert_array_equal(op.inside.degrees, one.inside.degrees)


@pytest.mark.parametrize("placement", PLACEMENTS, ids=["memory", "disk"])
def test_other_epsilons_and_options(placement):
    points = some_points("plane")
    options = {"precision": "double", "n_density_neighbors": 20, "leave_one_out": False}
    potential = {"potential": lambda X: (X**2).sum(axis=1)}
    one = estimate_with(points, **options, **potential)
    op = estimate_with(points, **options, **potential, placement=placement)
    np.testing.assert_array_equal(op.inside.degrees, one.inside.degrees)
    ours, theirs = with_epsilon(op, 2 * op.epsilon), with_epsilon(one, 2 * one.epsilon)
    np.testing.assert_array_equal(ours.inside.degrees, theirs.inside.degrees)
    np.testing.assert_array_equal(op.apply(points, True)[1], one.apply(points, True)[1])
    new = points[:20] + 1e-3
    np.testing.assert_array_equal(op.density_at(new), one.density_at(new))


@pytest.mark.parametrize(
    "options",
    [
        {"n_neighbors": 50},
        {"method": "paper"},
        {"truncation": None},
        {"metric": "manhattan"},
        {"search": "brute"},
        {"epsilon": vbdm.rules.BySlope()},
        {"dim": vbdm.rules.DimensionBySlope()},
        {"dim": 9},
    ],
    ids=repr,
)
def test_what_needs_lists_is_refused_in_words(options):
    with pytest.raises(InputError, match="cannot be had from rows in blocks"):
        estimate_with(some_points("plane"), placement=Memory(3), **options)


def test_matrices_are_fetched_or_refused(monkeypatch):
    points = some_points("plane")
    one, op = (
        vbdm.estimate_operator(points, run=vbdm.Run(placement=p)) for p in (Memory(), Memory(5))
    )
    for part in ("matrix", "symmetric"):
        assert abs(getattr(op, part) - getattr(one, part)).max() < 1e-12 * abs(one.matrix).max()
    monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: 10_000_000)
    with pytest.raises(OutOfMemoryError, match="The whole matrix would not fit"):
        _ = op.matrix
    with pytest.raises(OutOfMemoryError, match="A block would not fit"):
        with_epsilon(op, 30 * op.epsilon)


def test_results_on_disk_refuse_to_be_pickled():
    op = vbdm.estimate_operator(some_points("plane"), run=vbdm.Run(placement=Disk(blocks=2)))
    with pytest.raises(InputError, match="by pickle cannot be had"):
        pickle.dumps(op)


def test_the_estimate_from_some_points_is_the_same():
    points = some_points("copies")
    rows = np.arange(0, len(points), 2)
    one, op = (
        vbdm.estimate_operator(points, run=vbdm.Run(placement=p)) for p in (Memory(), Memory(5))
    )
    assert estimate_again(op, rows).epsilon == estimate_again(one, rows).epsilon


@pytest.mark.parametrize("free", [10**5, 10**7])
def test_many_dimensions_are_not_moved_unasked(monkeypatch, free):
    # Whether blocks are tried first or last, what is said is that memory is too small.
    points = np.random.default_rng(0).normal(size=(10_500, 1))
    monkeypatch.setattr("vbdm.base.memory.available_memory", lambda: free)
    monkeypatch.setattr("vbdm.placement.available_memory", lambda: free)
    with pytest.raises(OutOfMemoryError, match="would not fit into memory"):
        vbdm.estimate_operator(points, dim=8, method=vbdm.Resolved(n_density_neighbors=8))


def test_many_columns_and_given_graphs_are_refused():
    wide = np.random.default_rng(0).normal(size=(300, 65))
    graph = vbdm.neighbors(some_points("plane"))
    for X in (wide, graph):
        with pytest.raises(InputError, match="cannot be had from rows in blocks"):
            vbdm.estimate_operator(X, run=vbdm.Run(placement=Memory(3)))


# --- Weighted points in blocks: the numbers are those in memory, to the last bit ------------------


RNG = np.random.default_rng(4400)
POINTS = 1.5 * RNG.standard_normal((1000, 2))
SMOOTH = np.exp(-(POINTS**2).sum(axis=1) / 2 * (1 - 1.5**-2))
WEIGHTS = {"measure": SMOOTH, "counts": SMOOTH * np.exp(RNG.standard_normal(1000))}


def compare(kind, placement):
    """Compare an estimate in blocks with the one in memory."""
    one, op = (
        vbdm.estimate_operator(
            POINTS, "generator", weights=WEIGHTS[kind], run=vbdm.Run(placement=place)
        )
        for place in ("memory", placement)
    )
    assert op.settings.weighting.kind == one.settings.weighting.kind == kind
    for look in (
        attrgetter("inside.degrees"), attrgetter("inside.steps"), attrgetter("equations.measure"),
        relative_variance_of, row_sums_of,
    ):  # fmt: skip
        np.testing.assert_array_equal(look(op), look(one))
    ours, theirs = with_epsilon(op, 2 * op.epsilon), with_epsilon(one, 2 * one.epsilon)
    np.testing.assert_array_equal(ours.inside.degrees, theirs.inside.degrees)
    first, second = op.spectrum(4), one.spectrum(4)
    np.testing.assert_allclose(first.eigenvalues, second.eigenvalues, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(first.standard_errors[1:], second.standard_errors[1:], rtol=1e-6)
    new = POINTS[:9] + 0.05
    np.testing.assert_allclose(first.extend(new).values, second.extend(new).values, atol=1e-6)
    np.testing.assert_array_equal(op.density_at(new), one.density_at(new))
    rows = np.arange(0, 1000, 2)
    again, fresh = estimate_again(op, rows), estimate_again(one, rows)
    np.testing.assert_array_equal(again.inside.degrees, fresh.inside.degrees)
    assert again.settings.weighting.kind == kind


@pytest.mark.parametrize(
    ("kind", "placement"),
    [("measure", Disk(blocks=4)), pytest.param("counts", Memory(3), marks=pytest.mark.slow)],
)
def test_blocks_change_nothing(kind, placement):
    compare(kind, placement)


@pytest.mark.slow
@pytest.mark.parametrize("kind", WEIGHTS)
def test_a_cluster_changes_nothing(kind, cluster):
    compare(kind, Dask(cluster, blocks=4))


@pytest.mark.parametrize("kind", WEIGHTS)
def test_a_sample_of_the_points_keeps_their_weights(kind):
    op = vbdm.estimate_operator(POINTS, "generator", weights=WEIGHTS[kind], dim=2)
    rows = np.arange(0, 1000, 2)
    again = estimate_again(op, rows)
    direct = vbdm.estimate_operator(
        POINTS[rows],
        "generator",
        weights=WEIGHTS[kind][rows],
        dim=2,
        method=vbdm.Resolved(weights_as=kind),
    )
    np.testing.assert_allclose(
        again.spectrum(3).eigenvalues, direct.spectrum(3).eigenvalues, rtol=1e-6, atol=1e-9
    )
