"""Pieces, signs, residuals, timescales, warnings, alignment."""

import time
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_limits

import vbdm
from vbdm import DiffusionMap
from vbdm.operator.sums import relative_variance_of, row_sums_of
from vbdm.solvers import Auto, Dense, ShiftInvert
from vbdm.solvers.pencil import Unprepared
from vbdm.spectrum.solve import n_solves
from vbdm.spectrum.vectors import known_eigenfunctions


def test_timescales_and_residuals(cloud):
    spectrum = vbdm.estimate_operator(
        cloud, dim=2, epsilon=0.01, method=vbdm.Paper(n_neighbors=120)
    ).spectrum(5)
    assert spectrum.timescales[0] == np.inf
    np.testing.assert_allclose(spectrum.timescales[1:], -1 / spectrum.eigenvalues[1:])
    assert (spectrum.residuals < 1e-8).all()
    assert spectrum.pieces.n_pieces == 1
    assert "…" not in repr(spectrum)
    assert ", …], 1 component(s)" in repr(spectrum.operator.spectrum(7))


def test_sparse_solver_matches_the_dense_one():
    X = np.random.default_rng(0).standard_normal((600, 2))
    op = vbdm.estimate_operator(X, method="paper", dim=2, epsilon=2.0**-8)
    dense, sparse = op.spectrum(12, solver=Dense()), op.spectrum(12, solver=ShiftInvert())
    np.testing.assert_allclose(sparse.eigenvalues, dense.eigenvalues, rtol=1e-8, atol=1e-10)
    overlap = np.abs((dense.eigenfunctions * sparse.eigenfunctions).mean(axis=0))
    np.testing.assert_allclose(overlap, 1, atol=1e-6)
    solver, reason = Auto().choose(type("P", (), {"n_points": 100})(), 5)
    assert isinstance(solver, Dense)
    assert "100 points" in reason


@pytest.mark.parametrize("limiter", [True, False])
@pytest.mark.parametrize("finite_sample", [True, False])
def test_eigenvalues_are_as_accurate_as_tol_says(limiter, finite_sample):
    """Whatever reads rates off the vectors, whose errors are roots of those of the eigenvalues."""
    points = vbdm.datasets.ou(3000, dim=2, random_state=0).points
    op = vbdm.estimate_operator(
        points, "generator", method=vbdm.Resolved(limiter=limiter, finite_sample=finite_sample)
    )
    found, exact = (op.spectrum(8, tol=tol).eigenvalues[1:] for tol in (1e-6, 1e-12))
    np.testing.assert_allclose(found, exact, rtol=1e-6)


def test_separate_clusters_are_named_and_solved_apart():
    sample = vbdm.datasets.clusters(600, separation=50.0, random_state=0)
    op = vbdm.estimate_operator(
        sample.points, "generator", dim=2, epsilon=0.001, method=vbdm.Paper(n_neighbors=40)
    )
    with pytest.warns(vbdm.errors.DisconnectedWarning, match="2 pieces.*sizes 300, 300"):
        spectrum = op.spectrum(5)
    assert spectrum.pieces.n_pieces == 2
    np.testing.assert_array_equal(spectrum.eigenvalues[:2], 0)
    assert (spectrum.eigenvalues[2:] < -0.1).all()
    first = spectrum.eigenfunctions[:, 0]
    np.testing.assert_allclose(np.unique(first.round(12)), [0, np.sqrt(2)])
    assert (spectrum.residuals < 1e-8).all()


def test_a_shattered_cloud_costs_no_time():
    """ε so small that every point is alone: hundreds of zeros, no minutes lost."""
    X = np.random.default_rng(0).standard_normal((3000, 2))
    op = vbdm.estimate_operator(X, method="paper", dim=2, epsilon=1e-12)
    started = time.perf_counter()
    with pytest.warns(vbdm.errors.DisconnectedWarning):
        spectrum = op.spectrum(10)
    assert time.perf_counter() - started < 20
    np.testing.assert_array_equal(spectrum.eigenvalues, 0)


def test_saturated_neighbours_are_reported(cloud):
    with pytest.warns(
        vbdm.errors.SaturatedNeighborsWarning, match="100 % of the points the 10 nearest"
    ):
        vbdm.estimate_operator(cloud, dim=2, epsilon=1.0, method=vbdm.Paper(n_neighbors=10))


def test_fixed_bandwidth_on_a_tail_is_reported():
    X = vbdm.datasets.ou(20_000, sampling="grid").points
    with pytest.warns(vbdm.errors.UnboundedErrorWarning, match="or a negative β"):
        vbdm.estimate_operator(
            X,
            "generator",
            dim=1,
            epsilon=1e-7,
            bandwidth=vbdm.rules.PowerOfDensity(0),
            method="paper",
        )


def test_grid_end_is_reported():
    X = 1e9 * np.random.default_rng(0).standard_normal((200, 1))
    with pytest.warns(vbdm.errors.TuningWarning, match="end of the grid"):
        vbdm.rules.tune(vbdm.neighbors(X, 200))


def test_alignment():
    angle = np.linspace(0, 6.28, 200)
    truth = np.c_[np.cos(angle), np.sin(angle)]
    mixed = truth @ np.array([[1.0, 0.4], [-0.3, 2.0]])
    np.testing.assert_allclose(vbdm.align(mixed, truth), truth, atol=1e-12)
    np.testing.assert_allclose(vbdm.align(-angle, angle, "orthogonal"), angle, atol=1e-12)
    assert np.abs(vbdm.align(mixed, truth, "orthogonal") - truth).max() > 0.1


def test_fewer_eigenvalues_are_the_first_of_more():
    """θ and rates need not have the same order; the list must not skip one."""
    for seed in range(6):
        op = vbdm.estimate_operator(vbdm.datasets.ou(400, dim=2, random_state=seed).points, 1)
        many = op.spectrum(13, tol=1e-12).eigenvalues
        for n in (3, 5, 8):
            few = op.spectrum(n, tol=1e-12).eigenvalues
            np.testing.assert_allclose(few, many[:n], rtol=1e-8, atol=1e-9)


def test_neighbours_with_holes_still_give_a_symmetric_operator(cloud):
    """Approximate engines miss some: those pairs are looked up, not assumed."""
    graph = vbdm.neighbors(cloud, 30)
    rng = np.random.default_rng(0)
    keep = np.array([np.delete(np.arange(30), rng.integers(1, 29)) for _ in cloud])
    rows = np.arange(len(cloud))[:, None]
    holes = vbdm.NeighborGraph.from_arrays(graph.indices[rows, keep], graph.sqdist[rows, keep])
    matrix = vbdm.estimate_operator(holes, method="paper", dim=2, epsilon=0.001).symmetric
    assert abs(matrix - matrix.T).max() < 1e-12 * abs(matrix).max()


def test_wide_data():
    """More columns than points: the rotation works with the smaller matrix."""
    flat = vbdm.datasets.sphere(300, random_state=0).points
    frame = np.linalg.qr(np.random.default_rng(1).standard_normal((3000, 3)))[0]
    wide, plain = (
        vbdm.estimate_operator(points, dim=2, method=vbdm.Resolved(n_neighbors=100))
        .spectrum(4)
        .eigenvalues
        for points in (flat @ frame.T, flat)
    )
    np.testing.assert_allclose(wide, plain, rtol=1e-6, atol=1e-9)


def test_wide_data_has_lists_that_hold_the_kernel():
    """Boxes of a tree are of no use in many columns: lists of neighbours come near the same."""
    flat = vbdm.datasets.sphere(300, random_state=0).points
    frame = np.linalg.qr(np.random.default_rng(1).standard_normal((3000, 3)))[0]
    wide, plain = (vbdm.estimate_operator(points, dim=2) for points in (flat @ frame.T, flat))
    assert plain.kernel.by_reach
    assert not wide.kernel.by_reach
    values = [op.spectrum(4).eigenvalues for op in (wide, plain)]
    np.testing.assert_allclose(*values, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("n_points", [1600, pytest.param(3000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", ["circle", "ou", "sphere"])
def test_tight_tolerances_reach_the_rates(name, n_points):
    """Not only θ: the limit, set by a rough pass, and the rates read off the vectors follow."""
    options = {"circle": {"sampling": "random"}, "ou": {"dim": 2}, "sphere": {}}[name]
    sample = getattr(vbdm.datasets, name)(n_points, random_state=0, **options)
    op = vbdm.estimate_operator(sample.points, sample.operator)
    exact = op.spectrum(10, solver="dense").eigenvalues
    for tol in (1e-6, 1e-10):
        found = op.spectrum(10, solver="multilevel", tol=tol).eigenvalues
        np.testing.assert_allclose(found, exact, rtol=max(tol, 1e-9))


@pytest.mark.parametrize("columns", [2, 10])
def test_the_number_of_blas_threads_changes_no_bit(columns):
    """On one core, there is nothing to compare."""
    points = np.random.default_rng(0).standard_normal((400, columns))

    def results(threads):
        with threadpool_limits(threads, user_api="blas"):
            spectrum = vbdm.estimate_operator(points).spectrum(6)
            assert spectrum.log.solver == "Dense"
            new = vbdm.extend(spectrum, points + 0.01).values
        return spectrum.eigenvalues, spectrum.eigenfunctions, spectrum.standard_errors, new

    for one, two in zip(results(1), results(2), strict=True):
        np.testing.assert_array_equal(one, two)


def test_rows_of_isolated_points_are_zero_in_the_matrix(cloud):
    points = np.concatenate([cloud, [[1e5, 0.0], [0.0, 1e5]]])
    op = vbdm.estimate_operator(points, bandwidth=np.full(122, 0.3), epsilon=0.3, dim=2)
    matrix = op.matrix.toarray()
    assert not matrix[120:].any()
    assert (np.diag(matrix)[:120] < 0).all()
    np.testing.assert_allclose(matrix.sum(axis=1), 0, atol=1e-9 * abs(matrix).max())


class Recording(Dense):
    """A solver that notes for how many pairs it was prepared, and how many were asked for."""

    seen = ()

    def prepare(self, pencil, n):
        type(self).seen += (n,)
        return Unprepared(self, pencil)

    def solve(self, pencil, n, tol):
        type(self).seen += (-n,)
        return super().solve(pencil, n, tol)


def test_a_piece_is_solved_for_no_more_modes_than_it_may_have_among_the_first():
    """One zero each is known: of six modes, two pieces can have four others, and their own zero."""
    points = vbdm.datasets.clusters(300, separation=50.0, random_state=0).points
    op = vbdm.estimate_operator(points, "generator", method=vbdm.Resolved(limiter=False))
    n_pieces = op.spectrum(2).pieces.n_pieces
    Recording.seen = ()
    op.spectrum(n_pieces + 4, solver=Recording())
    assert Recording.seen == (5,) * n_pieces + (-5,) * n_pieces


def test_operator_gives_ten_eigenvalues_if_nothing_is_said(cloud):
    assert len(vbdm.estimate_operator(cloud).spectrum().eigenvalues) == 10


def test_solve_of_an_unsymmetric_form_has_the_error_of_its_worst_mode(cloud):
    log = vbdm.estimate_operator(cloud, method=vbdm.Paper(form="right")).spectrum(2).log
    assert 0 < log.error_estimate < 1e-8


def test_solves_of_the_limiter_are_counted():
    modes = [SimpleNamespace(limit=limit, limits=limits)
             for limit, limits in ((None, ()), ("a", ("a", "a")), ("a", ("a", "b")))]  # fmt: skip
    assert [n_solves(each, 1) for each in modes] == [1, 2, 3]


def test_operator_knows_no_variance_where_nothing_links():
    """Counted points have their own sums of squares; a row without links divides by nothing."""
    points = np.r_[np.random.default_rng(0).uniform(size=(200, 2)), [[50.0, 50.0]]]
    often = np.random.default_rng(1).integers(1, 4, len(points))
    op = vbdm.estimate_operator(
        points,
        weights=often,
        epsilon=0.01,
        dim=2,
        bandwidth=vbdm.rules.PowerOfDensity(0.0),
        method=vbdm.Resolved(weights_as="counts"),
    )
    variance = relative_variance_of(op)
    assert (row_sums_of(op) == 0).sum() == (variance == 0).sum() == 1
    assert np.isfinite(variance).all()


# --- Modes whose eigenvalue is NaN, because they decay within one step of the kernel --------------


#: A tail so heavy that only three of five modes have an eigenvalue.
TAIL = np.random.default_rng(0).pareto(2, size=(300, 1))


@pytest.fixture(scope="module")
def spectrum():
    found = vbdm.estimate_operator(TAIL, "generator").spectrum(6)
    assert 0 < np.isnan(found.eigenvalues).sum() < 5
    return found


def test_known_eigenfunctions_leave_them_out(spectrum):
    lost = np.isnan(spectrum.eigenvalues)
    known = known_eigenfunctions(spectrum)
    assert np.isnan(known[:, lost]).all()
    np.testing.assert_array_equal(known[:, ~lost], spectrum.eigenfunctions[:, ~lost])


@pytest.mark.parametrize("time", [None, 0.1])
def test_their_coordinates_are_nan_or_for_a_classifier_0(time):
    model = DiffusionMap("generator", n_components=5, diffusion_time=time)
    embedding = model.fit_transform(TAIL)
    lost = np.isnan(model.eigenvalues_[1:])
    assert lost.any()
    assert np.isnan(embedding[:, lost]).all()
    assert np.isfinite(embedding[:, ~lost]).all()
    assert np.isnan(model.transform(TAIL[:5] + 0.01)[:, lost]).all()
    model.set_params(outside="nearest")
    assert (model.embedding_[:, lost] == 0).all()
    assert (model.transform(TAIL[:5] + 0.01)[:, lost] == 0).all()


def test_a_pipeline_has_no_nan_to_refuse():
    model = make_pipeline(
        DiffusionMap("generator", n_components=5, outside="nearest"), KNeighborsRegressor(3)
    )
    assert np.isfinite(model.fit(TAIL, TAIL[:, 0]).predict(TAIL + 0.01)).all()


def test_results_that_are_written_have_nan_there(spectrum, tmp_path):
    vbdm.results.write_results(tmp_path / "out", spectrum, figures=False, page=False)
    arrays = np.load(tmp_path / "out" / "results.npz")
    lost = np.isnan(arrays["eigenvalues"])
    np.testing.assert_array_equal(np.isnan(arrays["eigenfunctions"]).all(axis=0), lost)
    np.testing.assert_array_equal(np.isnan(arrays["eigenfunctions"]).any(axis=0), lost)


def test_so_do_cells(spectrum, tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(np.zeros((300, 1), dtype=np.float32), obsm={"X_pca": TAIL})
    cells.write_h5ad(tmp_path / "cells.h5ad")
    cloud, _ = vbdm.io.prepare(vbdm.io.read(tmp_path / "cells.h5ad"))
    vbdm.io.write_anndata(tmp_path / "cells.h5ad", tmp_path / "out.h5ad", cloud, spectrum)
    written = anndata.read_h5ad(tmp_path / "out.h5ad")
    lost = np.isnan(written.uns["vbdm"]["eigenvalues"])
    np.testing.assert_array_equal(np.isnan(written.obsm["X_vbdm"]).all(axis=0), lost)
