"""Rules for ε, the dimension and the bandwidth: ours as objects, and rules of the user's own."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest
from scipy.optimize import brentq
from tests.support.estimates import estimate_with

import vbdm
from vbdm.rules import (
    ByDegree,
    ByRatios,
    BySlope,
    Dimension,
    DimensionBySlope,
    FromPotential,
    GivenBandwidth,
    GivenDimension,
    GivenEpsilon,
    PowerOfDensity,
    Tuning,
    tuned,
)


@pytest.fixture(scope="module")
def circle():
    return vbdm.datasets.circle(300, random_state=0).points


@pytest.fixture(scope="module")
def sphere():
    return vbdm.datasets.sphere(1200, axes=(1, 0.6, 0.4), random_state=0).points


def assert_same(first, second):
    """Two operators are equal bit for bit."""
    assert first.epsilon == second.epsilon
    assert first.dim == second.dim
    assert first.n_neighbors == second.n_neighbors
    np.testing.assert_array_equal(first.bandwidth, second.bandwidth)
    assert abs(first.matrix - second.matrix).max() == 0


def potential(points):
    """Return U, a double well."""
    return points[:, 0] ** 4 - points[:, 0] ** 2


RHO = np.linspace(0.5, 2, 1200)


@pytest.mark.parametrize(
    ("rule", "argument"),
    [
        ({"bandwidth": PowerOfDensity(-0.25)}, {"beta": -0.25}),
        ({"bandwidth": PowerOfDensity(0.0)}, {"beta": 0}),
        ({"bandwidth": PowerOfDensity()}, {}),
        ({"bandwidth": GivenBandwidth(RHO)}, {"bandwidth": RHO}),
        (
            {"method": "paper", "bandwidth": FromPotential(potential)},
            {"method": "paper", "potential": potential},
        ),
        ({"epsilon": GivenEpsilon(0.01)}, {"epsilon": 0.01}),
        ({"epsilon": ByDegree()}, {}),
        ({"epsilon": ByDegree(), "effort": 2}, {"effort": 2}),
        ({"dim": GivenDimension(2.0)}, {"dim": 2}),
        ({"dim": ByRatios()}, {}),
        (
            {"method": "paper", "bandwidth": PowerOfDensity(-0.5), "epsilon": BySlope()},
            {"method": "paper"},
        ),
        ({"method": "paper", "dim": DimensionBySlope()}, {"method": "paper"}),
    ],
)
def test_a_rule_is_what_the_argument_means(sphere, rule, argument):
    by_rule = estimate_with(sphere, **rule)
    by_argument = estimate_with(sphere, **argument)
    assert_same(by_rule, by_argument)
    noted, same = (op.settings.as_dict() for op in (by_rule, by_argument))
    assert {**noted, "given": None} == {**same, "given": None}


def test_another_target(sphere):
    op = vbdm.estimate_operator(sphere, epsilon=ByDegree(30))
    assert (op.tuning.rule, op.tuning.target) == ("degree", 30)
    # What the radius cuts off is 1e-3 of the kernel's peak, at some hundred points.
    assert np.quantile(op.kernel.row_sums, 0.01) == pytest.approx(30, rel=0.03)
    assert op.kernel.saturated < 0.05
    assert "neighbours of 30;" in vbdm.report.methods_paragraph(op.spectrum(3))
    with pytest.raises(vbdm.InputError, match="target"):
        vbdm.estimate_operator(sphere, epsilon=ByDegree(-1))


def test_the_slope_for_the_default_method(sphere):
    """The paper's ε, with lists as long as the default method makes them."""
    op = vbdm.estimate_operator(sphere, epsilon=BySlope())
    assert op.tuning.rule == "slope"
    assert np.log2(op.epsilon) == round(np.log2(op.epsilon))
    assert op.kernel.saturated < 0.05
    assert "grows fastest" in vbdm.report.methods_paragraph(op.spectrum(3))


def test_another_number_of_neighbours_for_the_dimension(sphere):
    op = vbdm.estimate_operator(sphere, dim=ByRatios(16))
    assert op.dimension.scales.tolist() == [4, 8, 16]
    default = vbdm.estimate_operator(sphere)
    assert op.dim == pytest.approx(default.dimension.by_scale[1], rel=1e-12)
    assert op.dim != default.dim


@pytest.mark.parametrize(
    ("rule", "written"),
    [
        (ByDegree(30), "ByDegree(target=30)"),
        (ByDegree(), "ByDegree(target=None)"),
        (BySlope(), "BySlope()"),
        (GivenEpsilon(0.5), "GivenEpsilon(epsilon=0.5, looks=True)"),
        (ByRatios(16), "ByRatios(n_neighbors=16)"),
        (DimensionBySlope(), "DimensionBySlope()"),
        (GivenDimension(1.5), "GivenDimension(dim=1.5)"),
        (PowerOfDensity(-0.25), "PowerOfDensity(beta=-0.25)"),
    ],
)
def test_rules_are_pickled_and_printed(rule, written):
    assert repr(rule) == written
    again = pickle.loads(pickle.dumps(rule))
    assert again == rule
    assert hash(again) == hash(rule)
    with pytest.raises(AttributeError):
        rule.target = 3


@pytest.mark.parametrize("rule", [GivenBandwidth(RHO), FromPotential(potential)])
def test_rules_with_data_are_pickled(rule, sphere):
    again = pickle.loads(pickle.dumps(rule))
    first, second = (vbdm.estimate_operator(sphere, bandwidth=part) for part in (rule, again))
    np.testing.assert_array_equal(first.bandwidth, second.bandwidth)


def test_rules_in_a_diffusion_map(sphere):
    embed = vbdm.DiffusionMap(n_components=2, epsilon=ByDegree(30), dim=ByRatios(16))
    embed.fit(sphere)
    op = vbdm.estimate_operator(sphere, epsilon=ByDegree(30), dim=ByRatios(16))
    assert embed.spectrum_.operator.epsilon == op.epsilon
    assert embed.spectrum_.operator.dim == op.dim


@pytest.mark.parametrize("number", [np.float64(0.01), np.float32(0.01), np.array(0.01)])
def test_numbers_of_numpy_are_no_rules(circle, number):
    """They have a method `choose`, as a rule for ε has."""
    op = vbdm.estimate_operator(circle, epsilon=number)
    assert op.tuning.rule == "given"
    assert op.epsilon == float(number)
    with pytest.raises(vbdm.InputError, match="epsilon"):
        vbdm.estimate_operator(circle, epsilon=np.array([0.01, 0.02]))


@dataclass(frozen=True)
class MedianDegree:
    """ε at which the median point has `target` neighbours inside its kernel."""

    target: float = 40.0

    def choose(self, pairs):
        def epsilon(rows):
            median = lambda log: np.median(rows.degrees(2.0**log, pairs.shape)) - self.target  # noqa: E731
            return 2.0 ** brentq(median, -30, 20)

        return tuned(pairs, epsilon, rule="median degree", words="by <the> median")


@dataclass(frozen=True)
class TenthNeighbor:
    """ε from the typical scaled distance of the tenth neighbour; it says nothing about itself."""

    factor: float = 0.25

    def choose(self, pairs):
        distances = np.concatenate([scaled[:, 10] for scaled in pairs.blocks()])
        return Tuning(self.factor * float(np.median(distances)))


@dataclass(frozen=True)
class NextWhole:
    """The estimate from neighbour distances, rounded."""

    def estimate(self, graph, rho0):
        return Dimension(float(round(ByRatios().estimate(graph, rho0).value)))


@dataclass(frozen=True)
class Capped:
    """ρ = q^(-1/2), but at most `most`."""

    most: float = 3.0
    beta: None = None

    def settled(self, graph, dim):
        return self

    def on_data(self, graph, pilot):
        return self.at(None, pilot)

    def at(self, points, pilot):
        return np.minimum(pilot**-0.5, self.most)


def test_a_rule_of_ones_own_for_epsilon(sphere):
    spectrum = vbdm.estimate_operator(sphere, epsilon=MedianDegree(50)).spectrum(4)
    op = spectrum.operator
    assert np.median(op.kernel.row_sums) == pytest.approx(50, rel=0.03)
    assert op.kernel.saturated < 0.05
    assert (op.tuning.rule, op.tuning.curve.quantiles.shape) == ("median degree", (4, 41))
    assert op.settings.as_dict()["epsilon_rule"] == "MedianDegree(target=50)"
    assert "was chosen automatically, by <the> median;" in vbdm.report.methods_paragraph(spectrum)
    # Words from outside stand on the page as text.
    assert "ε was chosen by &lt;the&gt; median. The curves show" in vbdm.report.page(spectrum)


@pytest.mark.parametrize("factor", [0.25, 1.0])
def test_lists_hold_the_kernel_of_an_epsilon_that_did_not_ask_for_them(sphere, factor):
    op = vbdm.estimate_operator(sphere, epsilon=TenthNeighbor(factor))
    assert op.tuning.n_neighbors == 0
    assert op.kernel.saturated < 0.05
    given = vbdm.estimate_operator(sphere, epsilon=op.epsilon)
    assert_same(op, given)
    assert op.n_neighbors > 64  # the length of the first lists


def test_lists_stay_as_the_user_wants_them(sphere):
    op = vbdm.estimate_operator(
        sphere, epsilon=TenthNeighbor(1.0), method=vbdm.Resolved(n_neighbors=70)
    )
    assert op.n_neighbors == 70
    assert op.kernel.saturated > 0.5


def test_a_rule_of_ones_own_for_the_dimension(sphere):
    op = vbdm.estimate_operator(sphere, dim=NextWhole())
    assert op.dim == 2
    assert_same(op, vbdm.estimate_operator(sphere, dim=2))
    assert op.settings.as_dict()["dimension_rule"] == "NextWhole()"


def test_a_rule_of_ones_own_for_the_bandwidth(sphere):
    wide = vbdm.estimate_operator(sphere, dim=2, bandwidth=vbdm.rules.PowerOfDensity(-0.5))
    most = float(np.median(wide.bandwidth))
    op = vbdm.estimate_operator(sphere, bandwidth=Capped(most), dim=2)
    np.testing.assert_array_equal(op.bandwidth, np.minimum(wide.bandwidth, most))
    assert (op.settings.exponents.beta, op.settings.exponents.c1) == (None, None)
    assert op.settings.as_dict()["bandwidth_rule"] == f"Capped(most={most})"


def test_a_bandwidth_of_ones_own_at_new_points(sphere):
    """Where the rule is that of ρ = q^β, new points are extended to as with β."""
    # The first lists are longer where ρ is known to be a power of q, which moves ε by 1e-3.
    fixed = {"alpha": 0.25, "dim": 2, "epsilon": 0.002, "n_neighbors": 200}
    power = estimate_with(sphere, beta=-0.5, **fixed).spectrum(4)
    own = estimate_with(sphere, bandwidth=Capped(np.inf), **fixed).spectrum(4)
    fresh = vbdm.datasets.sphere(200, axes=(1, 0.6, 0.4), random_state=1).points
    expected, found = (vbdm.extend(part, fresh) for part in (power, own))
    # Only the first has the finite-sample correction, which divides eigenvalues and leaves vectors
    # as they are: both solve the same pencils.
    np.testing.assert_array_equal(own.log.pencil_eigenvalues, power.log.pencil_eigenvalues)
    np.testing.assert_allclose(found.values, expected.values, atol=1e-9)
    np.testing.assert_array_equal(found.density, expected.density)
    capped = estimate_with(sphere, bandwidth=Capped(1.0), **fixed).spectrum(4)
    assert np.nanmax(np.abs(vbdm.extend(capped, fresh).values - expected.values)) > 0.01
    at_home = vbdm.extend(capped, sphere)
    np.testing.assert_allclose(at_home.values, capped.eigenfunctions, atol=1e-3)


def test_what_a_rule_of_ones_own_found_was_not_given(circle):
    spectrum = vbdm.estimate_operator(circle, epsilon=TenthNeighbor(), dim=NextWhole()).spectrum(3)
    op = spectrum.operator
    assert op.tuning.rule == "TenthNeighbor"
    assert op.dimension.credit.name == "NextWhole"
    told = vbdm.report.methods_paragraph(spectrum)
    assert "dimension d = 1 was found by the rule NextWhole." in told
    assert f"= {op.epsilon:.3g} was chosen by the rule TenthNeighbor;" in told
    assert "given" not in told
    shown = vbdm.report.page(spectrum)
    assert "ε was chosen by the rule TenthNeighbor, and no other was looked at" in shown
    assert "<span>found by the rule NextWhole</span>" in shown
    assert "ε was given" not in shown


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("epsilon", vbdm.rules.ByDegree),
        ("dim", vbdm.rules.ByRatios),
        ("bandwidth", vbdm.rules.PowerOfDensity),
        ("truncation", vbdm.rules.CutWhereClean),
    ],
)
def test_a_class_in_place_of_a_rule_is_refused_with_words(name, rule):
    points = np.random.default_rng(0).standard_normal((60, 2))
    with pytest.raises(vbdm.InputError, match=f"`{name}` must be.*{rule.__name__}.*not the class"):
        estimate_with(points, **{name: rule})


def test_rules_for_the_cut_and_for_two_bandwidths_can_be_passed():
    points = np.random.default_rng(0).standard_normal((200, 2))
    by_rule = vbdm.estimate_operator(
        points, method=vbdm.Resolved(truncation=vbdm.rules.CutAt(1e-2))
    )
    assert (
        by_rule.kernel.cutoff
        == vbdm.estimate_operator(points, method=vbdm.Resolved(truncation=1e-2)).kernel.cutoff
    )
    pair = (np.ones(200), np.full(200, 2.0))
    options = {"method": "paper", "form": "two-sided", "epsilon": 0.1}
    one = estimate_with(points, bandwidth=vbdm.rules.TwoBandwidths(*pair), **options)
    other = estimate_with(points, bandwidth=pair, **options)
    assert (one @ points[:, 0] == other @ points[:, 0]).all()


@pytest.mark.parametrize("name", ["bandwidth", "potential"])
def test_a_function_is_asked_at_new_points_and_an_array_is_refused(circle, name):
    """Beside training points, widths and so eigenfunctions are those of the training points."""

    def widths(points):
        return 1 + 0.2 * points[:, 0]

    options = {"method": "paper", "epsilon": 0.02, "dim": 1}
    asked = estimate_with(circle, **{name: widths}, **options).spectrum(3)
    beside = vbdm.extend(asked, circle + 1e-7).values
    np.testing.assert_allclose(beside, asked.eigenfunctions, atol=1e-3)
    known = estimate_with(circle, **{name: widths(circle)}, **options).spectrum(3)
    with pytest.raises(vbdm.InputError, match=f"`{name}`"):
        vbdm.extend(known, circle + 0.01)


@pytest.mark.parametrize("form", ["left", "two-sided"])
def test_unsymmetric_forms_are_not_extended(circle, form):
    rho = np.linspace(1, 2, len(circle))
    given = (rho, rho[::-1]) if form == "two-sided" else rho
    op = vbdm.estimate_operator(circle, bandwidth=given, epsilon=0.02, method=vbdm.Paper(form=form))
    with pytest.raises(vbdm.InputError, match=f"Extensions to new points.*form='{form}'"):
        vbdm.extend(op.spectrum(3), circle)
    if form == "two-sided":
        np.testing.assert_array_equal(op.bandwidth, given)
        with pytest.raises(vbdm.InputError, match="Two bandwidths are not extended"):
            vbdm.rules.TwoBandwidths(*given).at(circle, rho)


def test_without_a_look_at_degrees_there_is_no_curve(circle):
    tuning = vbdm.estimate_operator(circle, method="paper", dim=1, epsilon=0.01).tuning
    assert tuning.curve is None
    assert tuning.epsilons.size == tuning.sums.size == tuning.slopes.size == 0
    assert np.isnan(tuning.dim)


def test_tuning_has_means_over_all_pairs():
    """At the widest kernel all pairs count nearly 1; N - 2 in place of N - 1 would make it more."""
    op = vbdm.estimate_operator(np.random.default_rng(0).standard_normal((60, 2)))
    assert 0.99 < op.tuning.sums.max() <= 1
