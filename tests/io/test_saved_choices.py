"""What the user chose or brought along, in a saved model: it comes back, or is refused."""

import copy
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.support.saved_models import CLOUD, MODELS, spectrum_of

import vbdm
from vbdm.base.references import Citation, Credit
from vbdm.kernel.within_reach import at_epsilon, at_half_epsilon
from vbdm.operator.normalise import with_kernel


def test_settings_of_an_estimator_come_back(tmp_path):
    model = vbdm.DiffusionMap(n_components=2, period=[None, 9.0], outside="nan", effort=2.0)
    model.fit(CLOUD).save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    assert loaded.n_features_in_ == 2


@dataclass(frozen=True)
class Twice:
    """A rule for ε: twice what the degrees say."""

    factor: float = 2.0

    def choose(self, pairs):
        found = vbdm.rules.ByDegree().choose(pairs)
        return vbdm.rules.Tuning(self.factor * found.epsilon, rule="twice", words="by doubling")


class Flat:
    """A rule for the dimension that is no dataclass."""

    def estimate(self, graph, rho0):
        return vbdm.rules.Dimension(2.0)


@dataclass(frozen=True)
class Own(vbdm.solvers.Dense):
    """A solver with a credit of its own."""

    credit = Credit("mine", "a solver of mine", (Citation("Me2026", "@misc{}", "Me."),))


def test_rules_of_the_user_are_remembered_in_words(tmp_path):
    spectrum = spectrum_of(CLOUD, epsilon=Twice(3.0), dim=Flat())
    for path in (tmp_path / "model", tmp_path / "again"):
        spectrum.save(path)
        loaded = vbdm.load(path)
        assert loaded.settings.as_dict() == spectrum.settings.as_dict()
        assert loaded.settings.as_dict()["epsilon_rule"] == "Twice(factor=3.0)"
        assert loaded.settings.as_dict()["dimension_rule"] == "Flat"
        assert (loaded.operator.tuning.rule, loaded.operator.tuning.words) == (
            "twice",
            "by doubling",
        )
        np.testing.assert_array_equal(loaded.eigenvalues, spectrum.eigenvalues)
        spectrum = copy.deepcopy(loaded)
    with pytest.raises(vbdm.InputError, match="A rule of your own") as caught:
        vbdm.estimate_operator(CLOUD, epsilon=loaded.settings.method.epsilon)
    assert "Twice(factor=3.0)" in str(caught.value)
    with pytest.raises(vbdm.InputError, match="received Flat"):
        vbdm.estimate_operator(CLOUD, dim=loaded.settings.method.dimension)


def test_credits_of_the_user_come_back(tmp_path):
    spectrum = vbdm.estimate_operator(CLOUD).spectrum(3, solver=Own())
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert loaded.log.solvers == spectrum.log.solvers
    assert loaded.settings.given == spectrum.settings.given
    assert dict(loaded.settings.versions) == dict(spectrum.settings.versions)


def test_a_bandwidth_rule_of_the_user_is_refused(tmp_path):
    class Wide(vbdm.rules.GivenBandwidth):
        pass

    spectrum = spectrum_of(CLOUD, bandwidth=Wide(np.ones(80)))
    with pytest.raises(vbdm.InputError, match="`bandwidth` cannot be saved"):
        spectrum.save(tmp_path / "model")


@pytest.mark.parametrize("wrong", [np.nan, 0.0, -1.0, np.inf])
def test_what_could_not_be_read_is_not_saved(wrong, tmp_path):
    spectrum = MODELS["plain"]()
    inside = replace(spectrum.operator.inside, steps=np.full(60, wrong))
    steps = replace(spectrum.operator, inside=inside)
    tuning = replace(spectrum.operator, tuning=vbdm.rules.Tuning(wrong))
    for broken, path in ((steps, "operator/steps"), (tuning, "tuning.epsilon")):
        with pytest.raises(vbdm.InputError, match=f"broken.*{path}"):
            vbdm.save(broken, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_any_kind_are_saved(tmp_path):
    """Lists, integers and NumPy's numbers are what they were."""
    rho = (1 + np.arange(80) % 3).tolist()
    spectrum = spectrum_of(CLOUD, bandwidth=rho, epsilon=vbdm.rules.ByDegree(30.0))
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert loaded.settings.as_dict() == spectrum.settings.as_dict()
    assert loaded.settings.method.bandwidth.values.tolist() == rho


def computed_by(spectrum):
    """Return the names of who computes: pairs, products, and nearest points."""
    points = spectrum.operator.graph.point_set
    index = getattr(points.index, "inner", points.index)
    engines = (points.engine, spectrum.operator.alpha_kernel.engine)
    return [engine.credit.name for engine in engines] + [type(index).__name__]


@pytest.mark.parametrize("period", [None, pytest.param(9.0, marks=pytest.mark.slow)])
def test_whoever_saved_it_the_engine_is_chosen_anew(period, tmp_path, monkeypatch):
    """The file of a compiled engine is read with it, and where it is missing or does not pay."""
    pytest.importorskip("numba")
    spectrum = spectrum_of(CLOUD, engine="numba", period=period)
    assert computed_by(spectrum) == ["numba", "numba", "CompiledIndex"]
    for kernel in (True, False):
        spectrum.save(tmp_path / "model", kernel=kernel)
        few = vbdm.load(tmp_path / "model")
        with monkeypatch.context() as changed:
            changed.setattr("vbdm.engines.choose.REPAYS", 80)
            same = vbdm.load(tmp_path / "model")
            changed.setattr("vbdm.engines.choose.find_spec", lambda name: None)
            missing = vbdm.load(tmp_path / "model")
        assert computed_by(same) == computed_by(spectrum)
        assert computed_by(few) == computed_by(missing) == ["scipy", "scipy", "TreeIndex"]
        for loaded in (few, same, missing):
            assert loaded.settings.search.name == "k-d tree (numba)"
            assert loaded.settings.engine == spectrum.settings.engine
            assert loaded.settings.engine_reason == "chosen by the user"
            assert_same_matrix(loaded, spectrum)
            np.testing.assert_allclose(
                loaded.extend(CLOUD + 0.01).values, spectrum.extend(CLOUD + 0.01).values, rtol=1e-9
            )
        f = np.sin(np.arange(80))
        np.testing.assert_array_equal(same.operator @ f, spectrum.operator @ f)
        np.testing.assert_array_equal(
            same.extend(CLOUD + 0.01).values, spectrum.extend(CLOUD + 0.01).values
        )


@pytest.mark.parametrize("kernel", [True, False])
def test_nothing_is_compiled_again_for_loaded_models(kernel, tmp_path, monkeypatch):
    pytest.importorskip("numba")
    from vbdm.engines.compiled import nearest, pairs, rows

    monkeypatch.setattr("vbdm.engines.choose.REPAYS", 80)
    spectrum = spectrum_of(CLOUD, engine="numba")
    used = [rows.product, pairs.count_within, pairs.write_within, nearest.nearest]
    spectrum.save(tmp_path / "model", kernel=kernel)
    compiled = []
    for made in (lambda: spectrum, lambda: vbdm.load(tmp_path / "model")):
        result = made()
        result.extend(CLOUD + 0.01)
        at_epsilon(result.operator.kernel, 0.01)
        compiled.append([list(function.signatures) for function in used])
    assert compiled[0] == compiled[1]


def assert_same_matrix(one, two):
    """The kernels have the same pairs and numbers, bit by bit."""
    first, second = (spectrum.operator.kernel.weights.listed for spectrum in (one, two))
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


def test_a_search_that_was_chosen_stays(tmp_path, monkeypatch):
    """Who asked for SciPy's tree gets it again, whoever computes."""
    pytest.importorskip("numba")
    spectrum = spectrum_of(CLOUD, search="kd-tree")
    spectrum.save(tmp_path / "model")
    monkeypatch.setattr("vbdm.engines.choose.REPAYS", 80)
    loaded = vbdm.load(tmp_path / "model")
    assert computed_by(loaded) == ["numba", "numba", "TreeIndex"]
    assert loaded.operator.graph.point_set.engine_reason == "80 points: compiled loops pay"
    assert loaded.settings.engine.name == "scipy"


def test_lists_are_searched_for_again_where_pairs_are_within_reach(tmp_path):
    """They are not in the file; nobody who asks for them can tell."""
    spectrum = spectrum_of(CLOUD)
    spectrum.save(tmp_path / "model")
    with np.load(tmp_path / "model") as arrays:
        assert "graph/neighbors" not in arrays.files
    loaded = vbdm.load(tmp_path / "model")
    for name in ("indices", "sqdist", "radii"):
        np.testing.assert_array_equal(
            getattr(loaded.operator.graph, name), getattr(spectrum.operator.graph, name)
        )
    again = vbdm.estimate_operator(loaded.operator.graph)
    first = vbdm.estimate_operator(spectrum.operator.graph)
    np.testing.assert_array_equal(again.inside.degrees, first.inside.degrees)


@pytest.mark.parametrize("settings", [{}, {"precision": "double"}, {"n_neighbors": 40}], ids=str)
@pytest.mark.parametrize("kernel", [True, False])
def test_a_loaded_kernel_can_be_evaluated_at_another_epsilon(settings, kernel, tmp_path):
    spectrum = spectrum_of(CLOUD, **settings)
    spectrum.save(tmp_path / "model", kernel=kernel)
    loaded = vbdm.load(tmp_path / "model")
    for other in (lambda k: at_epsilon(k, 0.7 * k.epsilon), at_half_epsilon):
        one, two = other(spectrum.operator.kernel), other(loaded.operator.kernel)
        assert one.weights.listed.dtype == two.weights.listed.dtype
        np.testing.assert_array_equal(one.row_sums, two.row_sums)


def test_a_kernel_that_was_squared_keeps_its_numbers(tmp_path):
    """It stands for another ε, and cannot be evaluated again from its own."""
    op = vbdm.estimate_operator(CLOUD)
    half = with_kernel(op, at_half_epsilon(op.kernel))
    vbdm.save(half, tmp_path / "model", kernel=False)
    loaded = vbdm.load(tmp_path / "model")
    assert loaded.kernel.weights.power == 2
    np.testing.assert_array_equal(loaded.kernel.row_sums, half.kernel.row_sums)
