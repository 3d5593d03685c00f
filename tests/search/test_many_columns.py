"""Many columns: one search, words that help, and fewer columns by linear preparation."""

from dataclasses import asdict

import numpy as np
import pytest
from tests.support.commands import done

import vbdm
from vbdm.prepare.projection import Projection


def test_advice_at_the_longest_lists():
    """Lists end at a ceiling of ours: nobody is told to raise it."""
    X = np.random.default_rng(4100).standard_normal((1500, 30))
    with pytest.warns(vbdm.errors.SaturatedNeighborsWarning) as caught:
        op = vbdm.estimate_operator(X, "generator")
    words = next(
        str(w.message) for w in caught if w.category is vbdm.errors.SaturatedNeighborsWarning
    )
    assert op.n_neighbors == 1088
    assert "pca" in words
    assert "n_neighbors" not in words


def test_one_search_for_all(monkeypatch):
    """Dimension, density, ε and kernel use the same lists: all points are searched once."""
    from vbdm.graph import lists, neighbor_graph

    lengths = []
    original = neighbor_graph.search_all

    def counted(index, cloud, k, *, keep):
        lengths.append(k)
        return original(index, cloud, k, keep=keep)

    for module in (lists, neighbor_graph):
        monkeypatch.setattr(module, "search_all", counted)
    X = np.random.default_rng(4101).standard_normal((1200, 25))
    with pytest.warns(vbdm.errors.SaturatedNeighborsWarning):
        vbdm.estimate_operator(X, "generator")
    assert lengths == [1088]
    # Where these would not fit into the memory, the search begins with short ones.
    monkeypatch.setattr("vbdm.graph.lists.lists_fit", lambda *sizes: False)
    with pytest.warns(vbdm.errors.SaturatedNeighborsWarning):
        vbdm.estimate_operator(X, "generator")
    assert lengths[1] < 1088


@pytest.mark.slow
def test_lists_that_are_given_up_change_nothing(monkeypatch, tmp_path):
    """Beyond 10,000 points the longest lists are released once the kernel is there."""
    X = np.random.default_rng(4107).standard_normal((1200, 20))
    with pytest.warns(vbdm.errors.SaturatedNeighborsWarning):
        kept = vbdm.estimate_operator(X, "generator").spectrum(4)
    monkeypatch.setattr("vbdm.estimate.walk.ENOUGH_POINTS", 100)
    with pytest.warns(vbdm.errors.SaturatedNeighborsWarning):
        given_up = vbdm.estimate_operator(X, "generator").spectrum(4)
    assert not hasattr(given_up.operator.graph.lists, "indices")
    np.testing.assert_array_equal(given_up.eigenvalues, kept.eigenvalues)
    np.testing.assert_array_equal(given_up.total_errors, kept.total_errors)
    new = X[:20] + 0.01
    values = [vbdm.extend(each, new, outside="nearest").values for each in (kept, given_up)]
    np.testing.assert_array_equal(*values)
    assert [each.light for each in vbdm.diagnose(given_up)] == [
        each.light for each in vbdm.diagnose(kept)
    ]
    vbdm.save(given_up, tmp_path / "m.vbdm")
    again = vbdm.load(tmp_path / "m.vbdm")
    np.testing.assert_array_equal(again.eigenvalues, kept.eigenvalues)
    np.testing.assert_array_equal(again.operator.graph.indices, kept.operator.graph.indices)


def mixture(n_points=4000, n_columns=12, seed=4102):
    """Return a slow AR(1) coordinate, and columns in which it is mixed with fast, larger ones."""
    rng = np.random.default_rng(seed)
    rates = np.array([0.98, 0.3, 0.2, 0.1])
    hidden = np.zeros((n_points, 4))
    for t in range(1, n_points):
        kick = rng.standard_normal(4)
        hidden[t] = rates * hidden[t - 1] + np.sqrt(1 - rates**2) * kick
    hidden[:, 1:] *= 5
    return hidden[:, 0], hidden @ rng.standard_normal((4, n_columns))


def test_pca_finds_the_wide_directions():
    rng = np.random.default_rng(4103)
    turn = np.linalg.qr(rng.standard_normal((20, 3)))[0]
    X = rng.standard_normal((800, 3)) * [9, 3, 1] @ turn.T + 5
    found = vbdm.pca(X, 0.98)
    assert found.n_columns == 2
    assert sum(found.values) == pytest.approx(90 / 91, abs=0.01)
    assert abs(np.array(found.axes) @ turn[:, :2]) == pytest.approx(np.eye(2), abs=0.05)
    whole = vbdm.pca(X, 3).apply(X)
    gaps = [np.linalg.norm(Y[:50, None] - Y[:50], axis=2) for Y in (X, whole)]
    np.testing.assert_allclose(*gaps, atol=1e-9)


@pytest.mark.parametrize("n", [0, 4, 1.5, -0.2, True, "2", None])
def test_directions_that_there_are_not(n):
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(vbdm.InputError, match="from 1 to 3"):
        vbdm.pca(X, n)


def test_tica_finds_the_slow_coordinate():
    """Four hidden coordinates in twelve columns: the covariance is singular."""
    slow, X = mixture()
    found = vbdm.tica(X, 2, lag=3)
    coordinate = found.apply(X)[:, 0]
    assert abs(np.corrcoef(coordinate, slow)[0, 1]) > 0.99
    assert coordinate.std() == pytest.approx(1, abs=0.02)
    assert found.values[0] == pytest.approx(0.98**3, abs=0.03)
    assert found.values[1] == pytest.approx(0.3**3, abs=0.06)
    wide = vbdm.pca(X, 1).apply(X)[:, 0]
    assert abs(np.corrcoef(wide, slow)[0, 1]) < 0.5
    with pytest.raises(vbdm.InputError, match="from 1 to 4"):
        vbdm.tica(X, 5)


def test_tica_reaches_over_no_joint():
    """Ten short series that jump from one to the next, and one with a gap in time."""
    rng = np.random.default_rng(4104)
    jumps = np.repeat(rng.standard_normal(40) * 10, 50)
    X = np.stack([rng.standard_normal(2000), jumps], axis=1)
    apart = vbdm.tica(X, 2, lag=25, lengths=[50] * 40)
    assert apart.values[0] == pytest.approx(1, abs=1e-9)
    assert vbdm.tica(X, 2, lag=25).values[0] < 0.9
    rows = np.arange(2000) + 7 * (np.arange(2000) // 50)
    assert vbdm.tica(X, 2, lag=25, rows=rows).values == pytest.approx(apart.values)
    with pytest.raises(vbdm.InputError, match="too short"):
        vbdm.tica(X[:30], 1, lag=15)


def test_estimator_projects_new_points_alike(tmp_path):
    rng = np.random.default_rng(4105)
    points = vbdm.datasets.circle(500, sampling="random", random_state=0).points
    X = points @ rng.standard_normal((2, 15)) + 1e-9 * rng.standard_normal((500, 15))
    model = vbdm.DiffusionMap(n_components=2, pca=2).fit(X[:400])
    assert model.n_features_in_ == 15
    assert model.operator_.graph.points.shape == (400, 2)
    np.testing.assert_array_equal(model.transform(X[:400]), model.embedding_)
    coordinates = model.transform(X[400:])
    assert np.isfinite(coordinates).all()
    model.save(tmp_path / "m.vbdm")
    again = vbdm.load(tmp_path / "m.vbdm")
    np.testing.assert_array_equal(again.transform(X[400:]), coordinates)
    assert again.projection_ == model.projection_
    with pytest.raises(vbdm.InputError, match="for points"):
        model.fit(vbdm.neighbors(X, 20))


def test_a_file_is_projected_and_others_alike():
    source = vbdm.io.Source("walk.npy", "npy", 0, "")
    slow, X = mixture(1500)
    table = vbdm.io.Table(X, tuple(f"c{i}" for i in range(12)), source)
    cloud, plan = vbdm.io.prepare(table, tica=1, lag=3, standardize=True, lengths=[700, 800])
    assert cloud.names == ("tic1",)
    assert abs(np.corrcoef(cloud.points[:, 0], slow)[0, 1]) > 0.98
    assert "autocorrelation" in cloud.notes[-1]
    again = vbdm.io.Preparation.from_dict(plan.as_dict())
    assert again == plan
    new = again.apply(vbdm.io.Table(X[:50], table.names, source))
    np.testing.assert_allclose(new.points, cloud.points[:50], rtol=1e-12)
    for wrong in ({"pca": 1, "tica": 1}, {"tica": 1, "subsample": 20}):
        with pytest.raises(vbdm.InputError, match="contradict"):
            vbdm.io.prepare(table, **wrong)


def test_the_command_projects(tmp_path):
    rng = np.random.default_rng(4106)
    X = vbdm.datasets.circle(300, random_state=0).points @ rng.standard_normal((2, 12))
    np.save(tmp_path / "train.npy", X)
    np.save(tmp_path / "new.npy", X[:7])
    out, file = str(tmp_path / "results"), str(tmp_path / "train.npy")
    told = ["--no-figures", "--no-sensitivity", "-n", "3", "--out", out]
    done("fit", file, "--pca", "0.999", *told)
    target = str(tmp_path / "new.npz")
    done("transform", out, str(tmp_path / "new.npy"), "--out", target)
    with np.load(target) as found, np.load(f"{out}/results.npz") as whole:
        np.testing.assert_allclose(found["eigenfunctions"], whole["eigenfunctions"][:7])
    assert "by PCA" in (tmp_path / "results" / "report.html").read_text()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"lengths": (10, 10)}, "whole numbers that add up.*2 length.*sum 20 for 30 rows"),
        ({"lengths": (-5, 35)}, "whole numbers that add up"),
        ({"lengths": (14.5, 15.5)}, "whole numbers that add up"),
        ({"rows": np.arange(29)}, "one number for each point.*29 for 30 points"),
    ],
)
def test_series_that_do_not_fit_the_points(options, words):
    X = np.random.default_rng(0).standard_normal((30, 3))
    with pytest.raises(vbdm.InputError, match=words):
        vbdm.tica(X, 2, lag=1, **options)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "other"),
        ("center", (0.0,)),
        ("values", (1.0,)),
        ("values", (1.0, np.inf)),
        ("axes", ((1.0, 0.0, 0.0), (0.0, 1.0))),
    ],
)
def test_parts_of_a_projection_that_do_not_fit(name, value):
    held = asdict(vbdm.pca(np.random.default_rng(0).standard_normal((30, 3)), 2))
    assert asdict(Projection.from_dict(held)) == held
    with pytest.raises(ValueError, match="do not fit"):
        Projection.from_dict({**held, name: value})
