"""What the user chose or brought along, in a saved model: it comes back, or is refused."""

import copy
from dataclasses import dataclass, replace

import numpy as np
import pytest
from tests.support.saved_models import CLOUD, SPHERE, spectrum_of

import vbdm
from vbdm.base.credit import Credit
from vbdm.base.references import Citation

pytestmark = pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning", "ignore::RuntimeWarning")


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
    with pytest.raises(vbdm.InputError, match="Received Flat"):
        vbdm.estimate_operator(CLOUD, dim=loaded.settings.method.dimension)


def test_credits_of_the_user_come_back(tmp_path):
    spectrum = vbdm.estimate_operator(CLOUD).spectrum(3, solver=Own())
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert loaded.solve.solvers == spectrum.solve.solvers
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
    spectrum = vbdm.load(SPHERE)
    steps = replace(spectrum.operator, steps=np.full(60, wrong))
    tuning = replace(spectrum.operator, tuning=vbdm.rules.Tuning(wrong))
    for broken, path in ((steps, "operator/steps"), (tuning, "tuning/epsilon")):
        with pytest.raises(vbdm.InputError, match=f"broken.*{path}"):
            vbdm.save(broken, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_numbers_of_any_kind_are_saved(tmp_path):
    """Lists, integers and NumPy's numbers are what they were."""
    rho = (1 + np.arange(80) % 3).tolist()
    spectrum = spectrum_of(CLOUD, bandwidth=rho, epsilon=vbdm.rules.ByDegree(30))
    spectrum.save(tmp_path / "model")
    loaded = vbdm.load(tmp_path / "model")
    assert loaded.settings.as_dict() == spectrum.settings.as_dict()
    assert loaded.settings.method.bandwidth.values.tolist() == rho
