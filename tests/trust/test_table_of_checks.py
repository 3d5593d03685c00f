"""One table of checks: each looks once, and its finding is the warning, the light and the flag."""

import warnings
from collections import Counter
from dataclasses import replace
from functools import wraps
from importlib import import_module

import numpy as np
import pytest
from sklearn.datasets import load_wine
from tests.support import estimates
from tests.support.estimates import estimate_with

import vbdm
from vbdm.errors import VbdmWarning
from vbdm.operator.normalise import with_epsilon
from vbdm.trust.diagnose import CHECKS, doubtful_modes, flags_of
from vbdm.trust.findings import Finding

D = vbdm.datasets
table = import_module("vbdm.trust.diagnose")


def bridge():
    rng = np.random.default_rng(0)
    squares = rng.uniform(0, 1, (1400, 2))
    squares[700:, 0] += 2
    return np.concatenate([squares, np.c_[np.linspace(1.02, 1.98, 30), np.full(30, 0.5)]])


def outliers():
    return D.with_outliers(D.ou(3000, dim=2, random_state=2), box=30.0, random_state=3).points


# Warning: points, arguments of the estimate.
TROUBLED = {
    "SaturatedNeighborsWarning": (
        lambda: D.circle(300, sampling="random", random_state=0).points,
        {"epsilon": 0.1, "n_neighbors": 20},
    ),
    "UnboundedErrorWarning": (
        lambda: D.ou(20_000, sampling="grid").points,
        {"operator": "generator", "method": "paper", "beta": 0, "dim": 1, "epsilon": 1e-7},
    ),
    "ScaleWarning": (lambda: load_wine().data, {"operator": "generator"}),
    "NoiseWarning": (lambda: D.noisy_circle(2000, random_state=3).points, {}),
    "DensityTailWarning": (lambda: D.ou(1500, dim=2, random_state=2).points, {}),
    "DisconnectedWarning": (
        lambda: D.clusters(800, separation=60.0, random_state=7).points,
        {"operator": "generator"},
    ),
    "WeightsWarning": (
        lambda: D.circle(300).points,
        {"weights": np.exp(D.circle(300).points[:, 0])},
    ),
    "WeakLinkWarning": (bridge, {"dim": 2}),
    "UnresolvedWarning": (outliers, {"operator": "generator"}),
}


def test_every_check_has_a_name_of_its_own():
    names = [check.judge.__name__ for check in CHECKS]
    assert len(set(names)) == len(names) == 16
    assert {check.subject for check in CHECKS} == {"operator", "spectrum"}
    for check in CHECKS:
        assert check.judge.__module__ == f"vbdm.trust.{check.subject}_checks"
        assert check.judge.__doc__.startswith("Judge ")


def test_every_warning_of_a_check_is_tried_here():
    raised_elsewhere = {
        "ClockWarning", "ClusterWarning", "EngineWarning", "FilterWarning", "OutsideWarning",
        "ProjectedWarning", "RecallWarning", "RootWarning", "ShortTimeWarning", "SkillWarning",
        "SmallSetWarning", "SolverWarning", "TuningWarning", "UnreachedWarning", "VbdmWarning",
    }  # fmt: skip
    known = {name for name in vars(vbdm.errors) if name.endswith("Warning")}
    assert set(TROUBLED) == known - raised_elsewhere


@pytest.mark.parametrize("name", TROUBLED)
def test_a_finding_is_issued_once_as_its_warning_at_the_users_line(name):
    make, arguments = TROUBLED[name]
    points = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        operator = estimate_with(points, **arguments)
        spectrum = operator.spectrum(6)
    issued = [warning for warning in caught if issubclass(warning.category, VbdmWarning)]
    # `estimate_with` is a user, too.
    assert {warning.filename for warning in issued} <= {__file__, estimates.__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error", VbdmWarning)
        findings = vbdm.diagnose(spectrum)  # says it, and warns of nothing again
    said = [(f.warning, f.words) for f in findings if f.warning is not None]
    told = [(warning.category, str(warning.message)) for warning in issued]
    assert Counter(told) == Counter(said)
    assert set(Counter(told).values()) == {1}
    assert getattr(vbdm.errors, name) in dict(said)
    assert all(f.light in ("amber", "red") for f in findings if f.warning is not None)


@pytest.fixture
def counted(monkeypatch):
    """Count how often each check is made."""
    calls = Counter()

    def counting(judge):
        @wraps(judge)
        def count(subject):
            calls[judge.__name__] += 1
            return judge(subject)

        return count

    checks = tuple(replace(check, judge=counting(check.judge)) for check in CHECKS)
    monkeypatch.setattr(table, "CHECKS", checks)
    return calls


def test_each_check_is_made_once(counted):
    spectrum = vbdm.estimate_operator(D.sphere(400, random_state=0).points).spectrum(4)
    assert set(counted) == {check.judge.__name__ for check in CHECKS if check.warns}
    first = vbdm.diagnose(spectrum)
    assert vbdm.diagnose(spectrum) == first
    doubtful_modes(spectrum)
    vbdm.report.page(spectrum)
    assert counted == {check.judge.__name__: 1 for check in CHECKS}


def test_another_result_is_judged_afresh(counted):
    operator = vbdm.estimate_operator(D.sphere(400, random_state=0).points)
    for n in (4, 5):
        vbdm.diagnose(operator.spectrum(n))
    assert counted["dimension"] == counted["neighbor_lists"] == 1  # of the operator: known
    assert counted["connected_pieces"] == counted["error_bars"] == 2
    vbdm.diagnose(with_epsilon(operator, 2 * operator.epsilon).spectrum(4))
    assert counted["neighbor_lists"] == 2
    changed = replace(operator.spectrum(4), unresolved=np.ones(400, dtype=bool))
    found = {finding.name: finding.light for finding in vbdm.diagnose(changed)}
    assert found["Unresolved points"] == "red"


def test_a_check_that_is_added_is_read_by_all(monkeypatch):
    class MyWarning(VbdmWarning):
        pass

    def odd_name(spectrum):
        """Judge nothing, in words."""
        return Finding("Mine", "amber", "It is odd.", warning=MyWarning, flags={2: "odd"})

    check = table.Check(odd_name, "spectrum", warns=True)
    monkeypatch.setattr(table, "CHECKS", (*CHECKS, check))
    operator = vbdm.estimate_operator(D.sphere(400, random_state=0).points)
    with pytest.warns(MyWarning, match=r"^It is odd\.$"):
        spectrum = operator.spectrum(4)
    assert vbdm.diagnose(spectrum)[-1].words == "It is odd."
    assert doubtful_modes(spectrum) == {2: ["odd"]}
    shown = vbdm.report.page(spectrum)
    assert "<p>It is odd.</p>" in shown
    assert '<span class="doubt">odd</span>' in shown


def test_flags_of_several_findings_stand_together():
    findings = [Finding("a", "amber", "", flags={1: "x", 3: "y"}), Finding("b", "green", "")]
    findings.append(Finding("c", "red", "", flags={3: "z"}))
    assert flags_of(findings) == {1: ["x"], 3: ["y", "z"]}
