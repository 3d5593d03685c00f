"""What was asked for and what was decided: one record that travels with every result."""

import json
import pickle
import platform
import re
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from tests.support.estimates import estimate_with

import vbdm
from vbdm.operator.normalise import with_epsilon
from vbdm.operator.record import in_words
from vbdm.operator.sums import pairs_of, quantiles

POINTS = vbdm.datasets.circle(300, sampling="random", random_state=0).points


def fixed(points):
    """Return the same bandwidth everywhere."""
    return np.ones(len(points))


def decided(points=POINTS, **arguments):
    """Return the settings of an estimate in plain words and numbers."""
    return estimate_with(points, **arguments).settings.as_dict()


def table_of(page):
    """Return the page's table of settings."""
    found = re.findall(r"<tr><th scope='row'>(.*?)</th><td>(.*?)</td></tr>", page)
    return dict(found)


#: Arguments, the method that they ask for, and its switches: leave-one-out, limiter, correction.
SWITCHED = pytest.mark.parametrize(
    ("arguments", "method", "switches"),
    [
        ({}, "resolved", (True, True, True)),
        ({"limiter": False, "leave_one_out": False}, "resolved", (False, False, False)),
        ({"limiter": False}, "resolved", (True, False, True)),
        ({"leave_one_out": False, "finite_sample": True}, "resolved", (False, True, True)),
        ({"method": "paper"}, "paper", (False, False, False)),
        ({"method": "paper", "limiter": True}, "paper", (False, True, False)),
        ({"method": "paper", "leave_one_out": True}, "paper", (True, False, False)),
    ],
)


@SWITCHED
def test_the_method_is_the_one_that_was_asked_for(arguments, method, switches):
    """Neither switch makes the one method the other: it is remembered, not guessed."""
    spectrum = estimate_with(POINTS, **arguments).spectrum(3)
    shown = table_of(vbdm.report.page(spectrum))
    assert shown["method"] == method
    leave_one_out, limited, corrected = switches
    assert shown["a point left out of its own sums"] == ("yes" if leave_one_out else "no")
    told = vbdm.report.methods_paragraph(spectrum)
    assert ("corrected for the finite sample" in told) == corrected
    record = spectrum.settings.as_dict()
    assert record["method"] == method
    assert record["leave_one_out"] is leave_one_out
    assert record["finite_sample"] is corrected
    assert (record["limiter"] is not None) == limited
    assert spectrum.settings is spectrum.operator.settings
    assert (spectrum.limits.shared is not None) == limited
    assert bool(spectrum.operator.kernel.leave_one_out) == leave_one_out
    assert (spectrum.correction[1:] != 1).all() == corrected


@SWITCHED
def test_results_json_has_the_record(arguments, method, switches):
    from vbdm.results.summary import describe_estimate

    spectrum = estimate_with(POINTS, **arguments).spectrum(3)
    record = describe_estimate(spectrum)["decided"]
    assert record == spectrum.settings.as_dict()
    assert (record["method"], record["leave_one_out"]) == (method, switches[0])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, {"effort": 1.0, "n_density_neighbors": 16, "one_way_share": 1.0}),
        ({"effort": 2}, {"effort": 2.0, "n_density_neighbors": 32}),
        ({"method": "paper"}, {"n_density_neighbors": 8, "one_way_share": 0.5}),
        ({"method": "paper"}, {"copies_merged": False, "smallest_piece": 1, "truncation": None}),
        ({"n_density_neighbors": 9}, {"n_density_neighbors": 9, "smallest_piece": 9}),
        ({}, {"truncation": 1e-3, "copies_merged": True, "form": "symmetric"}),
        ({"truncation": None}, {"truncation": None}),
        ({"truncation": 0.01}, {"truncation": 0.01}),
        ({"method": "paper", "form": "left"}, {"form": "left"}),
        ({"shape": "compact"}, {"shape": "Compact()"}),
        (
            {"limiter": vbdm.rules.Limiter(kappa=3.0)},
            {"limiter": "Limiter(kappa=3.0, cap=0.02, n_reference=9, passes=1)"},
        ),
    ],
)
def test_every_switch_is_noted(arguments, expected):
    found = decided(**arguments)
    assert {name: found[name] for name in expected} == expected


def test_exponents_are_those_of_the_operator():
    op = vbdm.estimate_operator(
        POINTS, "generator", dim=1, bandwidth=vbdm.rules.PowerOfDensity(-0.25)
    )
    found = op.settings.as_dict()
    assert (found["c1"], found["beta"], found["dim"]) == (1.0, -0.25, 1.0)
    # α = 1 + β(d/2 + 1) - c1/2
    assert found["alpha"] == op.settings.exponents.alpha == pytest.approx(1 - 0.25 * 1.5 - 0.5)
    given = vbdm.estimate_operator(
        POINTS, dim=1, bandwidth=vbdm.rules.PowerOfDensity(0), method=vbdm.Resolved(alpha=0.5)
    )
    assert given.settings.exponents.c1 == pytest.approx(1.0)
    own = vbdm.estimate_operator(POINTS, bandwidth=np.ones(300), dim=1).settings.exponents
    assert (own.c1, own.beta, own.alpha) == (None, None, 1.0)


@pytest.mark.parametrize(
    ("arguments", "bandwidth", "dimension", "epsilon"),
    [
        ({"dim": 2}, "PowerOfDensity(beta=-0.5)", "GivenDimension(dim=2.0)", "ByDegree()"),
        (
            {"method": "paper"},
            "PowerOfDensity(beta=-0.5)",
            "DimensionBySlope()",
            "BySlope()",
        ),
        (
            {"beta": 0, "epsilon": 0.01},
            "PowerOfDensity(beta=0.0)",
            "ByRatios(n_neighbors=32)",
            "GivenEpsilon(epsilon=0.01, looks=True)",
        ),
        (
            {"bandwidth": np.ones(300), "epsilon": vbdm.rules.ByDegree(20)},
            "GivenBandwidth(values=300 numbers)",
            "ByRatios(n_neighbors=32)",
            "ByDegree(target=20)",
        ),
        (
            {"bandwidth": fixed, "dim": vbdm.rules.ByRatios(16)},
            "GivenBandwidth(values=fixed)",
            "ByRatios(n_neighbors=16)",
            "ByDegree()",
        ),
    ],
)
def test_rules_are_noted_as_python_writes_them(arguments, bandwidth, dimension, epsilon):
    found = decided(**arguments)
    assert found["bandwidth_rule"] == bandwidth
    assert found["dimension_rule"] == dimension
    assert found["epsilon_rule"] == epsilon


def test_rules_in_words():
    @dataclass(frozen=True)
    class Nested:
        inside: object = vbdm.rules.ByDegree(3)
        nothing: object = None
        flag: bool = True

    class Plain:
        pass

    assert in_words(Nested()) == "Nested(inside=ByDegree(target=3), flag=True)"
    assert in_words(Plain()) == "Plain"
    assert in_words(vbdm.rules.FromPotential(lambda x: x)) == "FromPotential(potential=<lambda>)"


@pytest.mark.parametrize(
    ("points", "arguments", "words"),
    [
        (POINTS, {}, "all pairs within the kernel's reach"),
        (POINTS, {"period": 7.0}, "all pairs within the kernel's reach"),
        (POINTS, {"search": "projected"}, "all pairs within the kernel's reach"),
        (POINTS, {"search": "brute"}, "all pairs within the kernel's reach"),
        (np.random.default_rng(0).standard_normal((1500, 12)), {}, "as many as ε needs"),
        (POINTS, {"metric": "manhattan"}, "as many as ε needs"),
        (POINTS, {"truncation": None}, "as many as ε needs"),
        (POINTS, {"n_neighbors": 90}, "given"),
        (POINTS, {"method": "paper"}, "the method's own number"),
        (vbdm.neighbors(POINTS, 70), {}, "those of the given graph"),
        (cdist(POINTS, POINTS), {"metric": "precomputed"}, "as many as ε needs"),
        (cdist(POINTS, POINTS), {"metric": "precomputed", "n_neighbors": 90}, "given"),
    ],
    ids=[
        "resolved",
        "periodic",
        "projected",
        "brute",
        "twelve dimensions",
        "metric",
        "uncut",
        "given",
        "paper",
        "graph",
        "distances",
        "distances, given",
    ],
)
def test_what_decided_the_number_of_neighbours(points, arguments, words):
    op = estimate_with(points, **arguments)
    assert op.settings.neighbors_from == op.settings.as_dict()["neighbors_from"] == words
    number = {"given": 90, "the method's own number": 64, "those of the given graph": 70}
    assert op.n_neighbors == number.get(words, op.n_neighbors)
    assert op.kernel.by_reach == (words == "all pairs within the kernel's reach")


def test_pairs_are_counted():
    """By reach, their mean is the number of neighbours; lists have one length."""
    op = vbdm.estimate_operator(POINTS)
    assert pairs_of(op).shape == (300,)
    assert op.n_neighbors == round(pairs_of(op).mean())
    low, middle, high = quantiles(pairs_of(op))
    assert pairs_of(op).min() <= low <= middle <= high <= pairs_of(op).max()


def test_the_page_tells_pairs_within_reach_from_lists():
    from vbdm.results.summary import describe_estimate

    reach, lists = (estimate_with(POINTS, **a) for a in ({}, {"n_neighbors": 90}))
    shown = table_of(vbdm.report.page(reach.spectrum(3)))
    assert shown["neighbours"] == "all pairs within the kernel&#x27;s reach"
    assert shown["neighbours of a point, mean"] == str(reach.n_neighbors)
    assert shown["neighbours of a point, quantiles"].count("%") == 2
    assert "lists that end inside the kernel" not in shown
    told = vbdm.report.methods_paragraph(reach.spectrum(3))
    assert f"ε ρ(x) ρ(y) were used, {reach.n_neighbors} per point on average" in told
    record = describe_estimate(reach.spectrum(3))
    assert record["by_reach"]
    assert list(record["pairs"].values()) == list(quantiles(pairs_of(reach)))
    shown = table_of(vbdm.report.page(lists.spectrum(3)))
    assert shown["neighbours k"] == "90"
    assert shown["lists that end inside the kernel"].endswith("%")
    assert "neighbours of a point, mean" not in shown
    assert "90 nearest neighbours were used" in vbdm.report.methods_paragraph(lists.spectrum(3))
    assert not describe_estimate(lists.spectrum(3))["by_reach"]


def test_the_engine_is_noted_with_its_reason():
    found = decided()
    assert (found["engine"], found["precision"]) == ("scipy", "single")
    assert found["engine_reason"] == "300 points: too few for compiled loops to pay"
    asked = decided(engine="scipy", precision="double")
    assert (asked["engine"], asked["precision"]) == ("scipy", "double")
    assert asked["engine_reason"] == "chosen by the user"
    assert asked["given"] == ["engine", "precision"]
    assert decided(method="paper")["precision"] == "double"
    for points in (vbdm.neighbors(POINTS, 70), cdist(POINTS, POINTS)):
        metric = "euclidean" if isinstance(points, vbdm.NeighborGraph) else "precomputed"
        assert decided(points, metric=metric)["engine_reason"] == found["engine_reason"]
    spectrum = vbdm.estimate_operator(POINTS, run="scipy").spectrum(3)
    shown = table_of(vbdm.report.page(spectrum))
    assert shown["engine"] == "NumPy and SciPy"
    assert shown["why this engine"] == "chosen by the user"
    assert shown["precision of stored kernel values"] == "single"
    told = vbdm.report.methods_paragraph(spectrum)
    assert "used NumPy and SciPy, with kernel values stored in single precision." in told


def test_the_compiled_engine_is_noted_and_cited():
    pytest.importorskip("numba")
    spectrum = vbdm.estimate_operator(POINTS, run="numba").spectrum(3)
    record = spectrum.settings.as_dict()
    assert (record["engine"], record["engine_reason"]) == ("numba", "chosen by the user")
    assert "numba" in record["versions"]
    assert "LamPitrouSeibert2015" in [c.key for c in vbdm.report.citations(spectrum)]
    assert "loops compiled by numba" in vbdm.report.methods_paragraph(spectrum)
    assert table_of(vbdm.report.page(spectrum))["engine"].startswith("loops compiled by numba")


def test_the_search_is_noted_with_its_reason():
    chosen = decided()
    assert chosen["search"] == "KDTree"
    assert chosen["search_reason"]
    asked = decided(search="brute")
    assert (asked["search"], asked["search_reason"]) == ("BruteForce", "chosen by the user")
    assert decided(cdist(POINTS, POINTS), metric="precomputed")["search"] == "given"
    for arguments in ({"period": 7.0}, {"metric": "manhattan"}):
        assert decided(**arguments)["search_reason"] == "it measures such distances"

    @dataclass(frozen=True)
    class MySearch:
        def index(self, cloud, k):
            return vbdm.search.KDTree().index(cloud, k)

    assert decided(search=MySearch())["search"] == "MySearch"


def test_versions_are_those_that_computed():
    versions = decided()["versions"]
    assert versions["vbdm"] == vbdm.__version__
    assert versions["numpy"] == np.__version__
    assert versions["python"] == platform.python_version()
    assert "scipy" in versions


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({}, []),
        ({"operator": "generator", "dim": 1}, ["operator", "dim"]),
        ({"limiter": False, "leave_one_out": False}, ["leave_one_out", "limiter"]),
        ({"truncation": None}, ["truncation"]),
        ({"effort": 1, "shape": "gaussian", "metric": "euclidean", "bandwidth": "auto"}, []),
        ({"effort": 2, "shape": "broad"}, ["effort", "shape"]),
        ({"bandwidth": np.ones(300)}, ["bandwidth"]),
        (
            {"n_neighbors": 80, "n_density_neighbors": 9, "search": "brute"},
            ["n_neighbors", "n_density_neighbors", "search"],
        ),
        ({"period": 7.0}, ["period"]),
        ({"metric": "manhattan"}, ["metric"]),
    ],
)
def test_arguments_that_were_given_are_named(arguments, names):
    assert decided(**arguments)["given"] == names


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"method": "paper"},
        {"method": "paper", "form": "two-sided", "bandwidth": (np.ones(300), np.ones(300))},
        {"potential": lambda x: x[:, 0] ** 2, "dim": np.float64(1.0)},
        {"bandwidth": np.ones(300), "operator": np.int64(1)},
        {"epsilon": np.float64(0.01), "truncation": None, "limiter": False},
    ],
)
def test_the_record_is_strict_json(arguments):
    op = estimate_with(POINTS, **arguments)
    record = op.settings.as_dict()
    assert json.loads(json.dumps(record, allow_nan=False)) == record


def test_settings_are_pickled():
    op = vbdm.estimate_operator(POINTS, "generator", effort=2, epsilon=vbdm.rules.ByDegree(20))
    again = pickle.loads(pickle.dumps(op.settings))
    assert again.as_dict() == op.settings.as_dict()
    assert again.method == op.settings.method
    assert again.exponents == op.settings.exponents
    assert again.search == op.settings.search


def test_settings_stay_at_another_epsilon():
    op = vbdm.estimate_operator(POINTS, effort=2, method=vbdm.Resolved(limiter=False))
    moved = with_epsilon(op, 2 * op.epsilon)
    assert moved.settings is op.settings
    assert moved.epsilon == 2 * op.epsilon
    assert moved.spectrum(3).limits.shared is None
    assert moved.spectrum(3).settings is op.settings


@pytest.mark.parametrize(
    "given", [np.ones(300), vbdm.rules.FromPotential(np.ones(300))], ids=["array", "potential"]
)
def test_a_correction_that_is_not_made_is_not_claimed(given):
    points = vbdm.datasets.circle(300, sampling="random", random_state=0).points
    op = vbdm.estimate_operator(points, bandwidth=given, method=vbdm.Resolved(finite_sample=True))
    spectrum = op.spectrum(3)
    assert (spectrum.correction == 1).all()
    assert not op.settings.method.finite_sample
    assert not op.settings.as_dict()["finite_sample"]
    assert "corrected for the finite sample" not in vbdm.report.methods_paragraph(spectrum)
