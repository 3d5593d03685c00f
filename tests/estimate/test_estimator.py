"""The scikit-learn contract: its own checks, awkward data, frames, grids, files, bits."""

import hashlib
import pickle
import subprocess
import sys
import warnings

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.support.estimates import model_with
from tests.support.scripts import load_benchmark

import vbdm
from vbdm import DiffusionMap

digits = load_benchmark("digits")


CIRCLE = vbdm.datasets.circle(300, sampling="random", random_state=0).points
NEW = vbdm.datasets.circle(40, sampling="random", random_state=1).points


#: A point of weight 0 has no place in the wanted density, and is refused; and widths follow the
#: distances between points, not their weights, so that a point of weight 2 is no pair of copies.
NOT_COPIES = "check_sample_weight_equivalence_on_dense_data"


# No other check is expected to fail.
@parametrize_with_checks(
    [DiffusionMap(), DiffusionMap(method="paper"), DiffusionMap(metric="precomputed")]
)
def test_scikit_learn_contract(estimator, check):
    if check.func.__name__ == NOT_COPIES:
        pytest.xfail("weights are no numbers of copies")
    check(estimator)


# --- Awkward data: the right answer or the right message -----------------------------------------

GAUSSIAN = np.random.default_rng(3).standard_normal((10, 2))
#: name: points, settings, what comes: eigenvalues (to 15 %; None: any) or part of the message,
#: and the warning that must be given.
AWKWARD = {
    "two clusters": (np.vstack([CIRCLE, CIRCLE + 100]), {"n_components": 5},
                     [0, 0, -1, -1, -1, -1], vbdm.errors.DisconnectedWarning),
    "only the largest": (np.vstack([CIRCLE, CIRCLE[:100] + 100]), {"components": "largest"},
                         [0, -1, -1], vbdm.errors.DisconnectedWarning),
    "no pieces, please": (np.vstack([CIRCLE, CIRCLE + 100]), {"components": "error"},
                          "pieces", None),
    "30 % duplicates": (np.vstack([CIRCLE, CIRCLE[:90]]), {}, [0, -1, -1], None),
    "constant column": (np.column_stack([CIRCLE, np.ones(300)]), {}, [0, -1, -1], None),
    "far outlier": (np.vstack([CIRCLE, [[50.0, 50.0]]]), {},
                    [0, -1, -1], vbdm.errors.DisconnectedWarning),
    "ten points": (GAUSSIAN, {"n_components": 1}, None, vbdm.errors.WeakLinkWarning),
    "ten points, too many": (GAUSSIAN, {"n_components": 10}, "at most 9", None),
    "two points": (GAUSSIAN[:2], {"n_components": 1}, "Give `dim` or more points", None),
    "two points, known dimension": (GAUSSIAN[:2], {"n_components": 1, "dim": 2},
                                    None, vbdm.errors.UnresolvedWarning),
    "two points, too many": (GAUSSIAN[:2], {}, "at most 1", None),
    "one point": (GAUSSIAN[:1], {}, "minimum of 2 is required", None),
    "all points equal": (np.ones((10, 2)), {}, "All points are the same", None),
    "integers": (np.rint(1000 * CIRCLE).astype(int), {}, [0, -1e-6, -1e-6], None),
    "Fortran order": (np.asfortranarray(CIRCLE), {}, [0, -1, -1], None),
    "float32": (CIRCLE.astype(np.float32), {}, [0, -1, -1], None),
    "lists": (CIRCLE.tolist(), {}, [0, -1, -1], None),
    "missing value": (np.where(np.eye(300, 2) == 1, np.nan, CIRCLE), {}, "NaN", None),
}  # fmt: skip


@pytest.mark.parametrize("name", AWKWARD)
def test_awkward_data(name):
    points, settings, expected, category = AWKWARD[name]
    model = model_with(**settings)
    if isinstance(expected, str):
        with pytest.raises(ValueError, match=expected):
            model.fit(points)
        return
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        model.fit(points)
    if category is not None:
        assert any(issubclass(warning.category, category) for warning in raised)
    if expected is not None:
        np.testing.assert_allclose(model.eigenvalues_, expected, rtol=0.15)
    assert model.eigenvalues_[0] == 0
    np.testing.assert_array_equal(model.transform(points), model.embedding_)
    # A mode without an eigenvalue is no coordinate.
    finite = np.isfinite(model.embedding_)
    assert (finite == np.isfinite(model.eigenvalues_[1:])).all()


def test_two_clusters_are_told_apart():
    model = DiffusionMap(n_components=3).fit(np.vstack([CIRCLE, CIRCLE[:200] + 100]))
    first = model.embedding_[:, 0]
    assert (first[:300] == 0).all()
    assert (first[300:] > 0).all()
    np.testing.assert_array_equal(model.transform(NEW + 100)[:, 0] > 0, True)


def test_number_types_do_not_matter():
    exact = CIRCLE.astype(np.float32).astype(np.float64)
    model = DiffusionMap().fit(exact)
    for other in (exact.astype(np.float32), np.asfortranarray(exact), exact.tolist()):
        np.testing.assert_array_equal(DiffusionMap().fit_transform(other), model.embedding_)


# --- New points ----------------------------------------------------------------------------------


def test_outside_is_flagged_never_invented():
    model = DiffusionMap().fit(CIRCLE)
    far = np.vstack([NEW[:2], [[30.0, 0.0]]])
    with pytest.warns(vbdm.errors.OutsideWarning, match="1 of 3"):
        values = model.transform(far)
    np.testing.assert_array_equal(np.isnan(values).any(axis=1), [False, False, True])
    assert model.density(far)[2] == 0
    nearest = np.argmin(np.linalg.norm(CIRCLE - far[2], axis=1))
    values = model.set_params(outside="nearest").transform(far)
    np.testing.assert_array_equal(values[2], model.embedding_[nearest])
    with pytest.raises(vbdm.InputError, match="outside the data"):
        model.set_params(outside="error").transform(far)


def test_nearest_leaves_no_gap():
    """Modes too fast to be extended are NaN, or on request the nearest point's."""
    points, new = np.split(np.random.default_rng(0).standard_normal((400, 6)), [300])
    model = DiffusionMap(n_components=30, bandwidth=vbdm.rules.PowerOfDensity(-0.5)).fit(points)
    assert np.isnan(model.transform(new)).any()
    assert np.isfinite(model.set_params(outside="nearest").transform(new)).all()


def test_diffusion_time_scales_coordinates():
    model = DiffusionMap().fit(CIRCLE)
    plain = model.transform(NEW)
    late = model.set_params(diffusion_time=0.5)
    np.testing.assert_allclose(late.transform(NEW), plain * np.exp(0.5 * model.eigenvalues_[1:]))
    np.testing.assert_allclose(late.embedding_, late.transform(CIRCLE))


def test_before_fit_and_wrong_columns():
    for call in (DiffusionMap().transform, DiffusionMap().density):
        with pytest.raises(NotFittedError):
            call(CIRCLE)
    failed = DiffusionMap(components="error")
    with pytest.raises(vbdm.InputError):
        failed.fit(np.vstack([CIRCLE, CIRCLE + 100]))
    with pytest.raises(NotFittedError):  # it knows its columns, but nothing else
        failed.transform(CIRCLE)
    model = DiffusionMap().fit(CIRCLE)
    with pytest.raises(ValueError, match="2 features as input"):
        model.transform(np.ones((3, 5)))
    with pytest.raises(ValueError, match="outside"):
        model.set_params(outside="zero").transform(NEW)


@pytest.mark.parametrize(
    "wrong",
    [{"operator": "heat"}, {"n_components": 0}, {"beta": "best"}, {"epsilon": -1}, {"tol": 0},
     {"effort": 100}, {"components": "all"}, {"outside": "zero"}, {"search": "hash"}],
)  # fmt: skip
def test_parameters_come_from_a_table(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        model_with(**wrong).fit(CIRCLE)


# --- At home -------------------------------------------------------------------------------------


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_in_and_out(library, tmp_path):
    frames = pytest.importorskip(library)
    frame = frames.DataFrame({"x": CIRCLE[:, 0], "y": CIRCLE[:, 1]})
    model = DiffusionMap().set_output(transform=library)
    embedding = model.fit_transform(frame)
    assert isinstance(embedding, frames.DataFrame)
    assert list(embedding.columns) == ["diffusionmap0", "diffusionmap1"]
    assert list(model.feature_names_in_) == ["x", "y"]
    np.testing.assert_array_equal(embedding.to_numpy(), DiffusionMap().fit_transform(CIRCLE))
    np.testing.assert_array_equal(model.transform(frame).to_numpy(), embedding.to_numpy())
    model.save(tmp_path / "model.vbdm")
    loaded = vbdm.load(tmp_path / "model.vbdm")
    assert list(loaded.feature_names_in_) == ["x", "y"]
    np.testing.assert_allclose(loaded.transform(frame), embedding.to_numpy(), atol=1e-12)
    with pytest.raises(ValueError, match="feature names"):
        loaded.transform(frame.rename({"x": "z"}, **({"axis": 1} if library == "pandas" else {})))


def test_pipeline_and_columns():
    pipeline = make_pipeline(StandardScaler(), DiffusionMap())
    assert pipeline.fit(CIRCLE).transform(NEW).shape == (40, 2)
    assert pipeline.get_feature_names_out().tolist() == ["diffusionmap0", "diffusionmap1"]
    table = np.column_stack([CIRCLE, np.arange(300)])
    columns = ColumnTransformer([("map", DiffusionMap(), [0, 1])], remainder="passthrough")
    embedding = columns.fit_transform(table)
    np.testing.assert_array_equal(embedding[:, :2], DiffusionMap().fit_transform(CIRCLE))
    assert columns.get_feature_names_out()[0] == "map__diffusionmap0"


def test_grid_search():
    labels = CIRCLE[:, 0] > 0
    pipeline = make_pipeline(DiffusionMap(outside="nearest"), KNeighborsClassifier(5))
    grid = {
        "diffusionmap__method": ["resolved", vbdm.Resolved(n_neighbors=40)],
        "diffusionmap__operator": ["laplacian", 1.0],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(CIRCLE, labels)
    assert search.best_score_ > 0.95


@pytest.mark.parametrize("n_neighbors", ["auto", 16])
@pytest.mark.slow
@pytest.mark.parametrize("n_rows", [500, None])
def test_digits(n_rows, n_neighbors):
    """Within a point of SpectralEmbedding, which has seen the test folds, or better.

    All 1,797 images take most of a minute: five folds of the whole grid.
    """
    X, y = digits.load(n_rows)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    grid = digits.GRID | {"diffusionmap__method": [vbdm.Resolved(n_neighbors=n_neighbors)]}
    if n_rows is not None:
        grid |= {"diffusionmap__bandwidth": ["auto"]}
    scores = digits.grid_search(folds, grid).fit(X, y).cv_results_["mean_test_score"]
    theirs = digits.spectral_embedding_scores(X, y, folds, {"auto": None}.get(n_neighbors, 16))
    # Not the best of the grid, which was chosen on these folds: the first, automatic β and c1 = 0.
    assert scores[0] > theirs.mean() - 0.01


@pytest.mark.parametrize("method", ["resolved", "paper"])
def test_copies_transform_alike(method, tmp_path):
    model = DiffusionMap(method=method, n_components=3).fit(CIRCLE)
    joblib.dump(model, tmp_path / "model.joblib")
    model.save(tmp_path / "model.vbdm")
    copies = {
        "pickle": pickle.loads(pickle.dumps(model)),
        "joblib": joblib.load(tmp_path / "model.joblib"),
        "saved": vbdm.load(tmp_path / "model.vbdm"),
    }
    for copy in copies.values():
        assert copy.get_params() == model.get_params()
        assert copy.n_features_in_ == 2
        np.testing.assert_array_equal(copy.transform(NEW), model.transform(NEW))
        np.testing.assert_array_equal(copy.density(NEW), model.density(NEW))
        for name in ("eigenvalue_errors_", "total_errors_", "intervals_"):
            np.testing.assert_array_equal(getattr(copy, name), getattr(model, name))
        np.testing.assert_array_equal(copy.intervals_, model.spectrum_.intervals(0.95))
        np.testing.assert_array_equal(copy.total_errors_, model.spectrum_.total_errors)
    assert not hasattr(clone(model), "spectrum_")


def test_engine_and_precision_are_passed_on(tmp_path):
    model = DiffusionMap(run=vbdm.Run(engine="scipy", precision="double")).fit(CIRCLE)
    settings = model.operator_.settings
    assert (settings.engine.name, settings.engine_reason) == ("scipy", "chosen by the user")
    assert settings.precision == model.operator_.kernel.precision == "double"
    model.save(tmp_path / "model.vbdm")
    again = vbdm.load(tmp_path / "model.vbdm")
    assert again.run == model.run
    for wrong in ({"engine": "opencl"}, {"precision": "half"}):
        with pytest.raises(ValueError, match=f"`{next(iter(wrong))}` must be 'auto'"):
            vbdm.Run(**wrong)


def test_search_once():
    graph = vbdm.neighbors(CIRCLE, 100)
    for settings in ({"beta": 0.0}, {"operator": "generator"}, {"epsilon": 0.02}):
        model = model_with(**settings).fit(graph)
        found = model.operator_.graph
        assert found.lists is graph.lists
        assert found.point_set.index is graph.point_set.index
        assert found.point_set.coordinates is graph.point_set.coordinates
        assert model.n_neighbors_ == 100
        assert model.transform(NEW).shape == (40, 2)
        np.testing.assert_array_equal(model.transform(CIRCLE), model.embedding_)


def test_precomputed_distances():
    distances = np.linalg.norm(CIRCLE[:, None] - CIRCLE, axis=2)
    table = KNeighborsTransformer(n_neighbors=100).fit_transform(CIRCLE)
    points = DiffusionMap().fit(CIRCLE)
    for X in (distances, table):
        model = DiffusionMap(metric="precomputed").fit(X)
        np.testing.assert_allclose(model.eigenvalues_, points.eigenvalues_, rtol=0.05)
    tags = DiffusionMap(metric="precomputed").__sklearn_tags__().input_tags
    assert tags.pairwise
    assert tags.sparse
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        DiffusionMap().fit(table)
    # New points by their distances to the training points; at those the training value.
    model = DiffusionMap(metric="precomputed").fit(distances)
    np.testing.assert_array_equal(model.transform(distances[:3]), model.embedding_[:3])
    apart = np.linalg.norm(NEW[:, None] - CIRCLE, axis=2)
    np.testing.assert_allclose(model.transform(apart), points.transform(NEW), rtol=1e-6, atol=1e-6)
    with pytest.raises(ValueError, match="features"):
        model.transform(apart[:, :-1])
    with pytest.raises(vbdm.InputError, match="distances to all 300"):
        vbdm.extend(model.spectrum_, apart[:, :-1])
    with pytest.raises(vbdm.InputError, match="not negative"):
        vbdm.extend(model.spectrum_, -apart)


# --- Reproducible --------------------------------------------------------------------------------

PROCESS = """
import hashlib, vbdm
points = vbdm.datasets.sphere(2500, random_state=0).points
print(hashlib.sha256(vbdm.DiffusionMap(n_components=5).fit_transform(points).tobytes()).hexdigest())
"""


@pytest.mark.slow
def test_bit_by_bit():
    def in_a_process():
        command = [sys.executable, "-c", PROCESS]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    points = vbdm.datasets.sphere(2500, random_state=0).points
    first, second = (DiffusionMap(n_components=5).fit_transform(points) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    digest = hashlib.sha256(first.tobytes()).hexdigest()
    assert in_a_process().strip() == digest
    assert in_a_process().strip() == digest


@pytest.mark.parametrize("method", ["resolved", "paper"])
def test_order_of_points_does_not_matter(method):
    points = vbdm.datasets.sphere(600, axes=(1, 0.5, 0.3), random_state=0).points
    order = np.random.default_rng(0).permutation(600)
    model, other = (
        DiffusionMap(method=method, n_components=5, tol=1e-12).fit(X)
        for X in (points, points[order])
    )
    np.testing.assert_allclose(other.eigenvalues_, model.eigenvalues_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(other.density_, model.density_[order], rtol=1e-8)


# --- Weights of the points -----------------------------------------------------------------------


def wide():
    """Return points of a wide Gaussian, and the weights that make it the standard one."""
    points = 1.5 * np.random.default_rng(5).standard_normal((1500, 2))
    return points, np.exp(-(points**2).sum(axis=1) / 2 * (1 - 1.5**-2))


def test_sample_weight_is_weights():
    points, weights = wide()
    model = DiffusionMap(operator="generator").fit(points, sample_weight=weights)
    op = vbdm.estimate_operator(points, "generator", weights=weights)
    np.testing.assert_array_equal(model.eigenvalues_, op.spectrum(3).eigenvalues)
    np.testing.assert_allclose(model.eigenvalues_[1:], -1, rtol=0.12)
    again = clone(model).fit_transform(points, sample_weight=weights)
    np.testing.assert_array_equal(again, model.embedding_)
    np.testing.assert_allclose(model.transform(points[:9]), again[:9], atol=1e-12)


def test_sample_weight_goes_through_a_pipeline_and_a_file(tmp_path):
    points, weights = wide()
    steps = make_pipeline(StandardScaler(with_std=False), DiffusionMap(operator="generator"))
    steps.fit(points, diffusionmap__sample_weight=weights)
    model = steps[-1]
    np.testing.assert_allclose(model.eigenvalues_[1:], -1, rtol=0.12)
    model.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    new = points[:5] + 0.1
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    assert (
        loaded.operator_.settings.weighting.effective_points
        == model.operator_.settings.weighting.effective_points
    )


def test_sample_weight_of_another_length_is_refused():
    with pytest.raises(ValueError, match="one number per point"):
        DiffusionMap(operator="generator").fit(CIRCLE, sample_weight=np.ones(299))
