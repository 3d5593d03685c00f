"""Every light changes exactly at its limit: values just below and just above it."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.findings import made_up_scan, with_errors

import vbdm
from vbdm.graph.build import LOW_RECALL
from vbdm.spectrum.modes import THIN
from vbdm.spectrum.pieces import Pieces
from vbdm.trust import operator_checks, series, spectrum_checks
from vbdm.trust.spectrum_checks import plateau

LESS, MORE = 0.999, 1.001


def with_pilot(operator, density):
    """Return the operator with another first density."""
    pilot = replace(operator.inside.pilot, density=density)
    return replace(operator, inside=replace(operator.inside, pilot=pilot))


@pytest.fixture(scope="module")
def sphere():
    return vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points).spectrum(5)


@pytest.mark.parametrize(
    ("share", "light"),
    [(0.05, "green"), (0.05 * MORE, "amber"), (0.3, "amber"), (0.3 * MORE, "red")],
)
def test_neighbour_lists(sphere, share, light):
    kernel = replace(sphere.operator.kernel, saturated=share, by_reach=False)
    assert operator_checks.neighbor_lists(replace(sphere.operator, kernel=kernel)).light == light


@pytest.mark.parametrize(
    ("share", "light"),
    [(0.1 * LESS, "green"), (0.1 * MORE, "amber"), (0.3 * LESS, "amber"), (0.3 * MORE, "red")],
)
def test_error_bars(sphere, share, light):
    for part in ("sampling", "tail", "epsilon", "noise", "boundary"):
        wide = with_errors(sphere, **{part: share})
        assert spectrum_checks.error_bars(wide).light == light


@pytest.mark.parametrize(
    ("recall", "light"),
    [(LOW_RECALL, "green"), (LOW_RECALL * LESS, "amber"), (0.8, "amber"), (0.8 * LESS, "red")],
)
def test_recall(sphere, recall, light):
    kernel = replace(sphere.operator.kernel, graph=replace(sphere.operator.graph, recall=recall))
    assert operator_checks.search_recall(replace(sphere.operator, kernel=kernel)).light == light


@pytest.mark.parametrize(
    ("error", "light"), [(1e-3, "green"), (1.01e-3, "amber"), (1e-2, "amber"), (1.01e-2, "red")]
)
def test_solver(sphere, error, light):
    solved = replace(sphere, log=replace(sphere.log, error_estimate=error))
    assert spectrum_checks.solver_residuals(solved).light == light


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (1e-12, "known to rounding error"),
        (1e-5, "known to about 10⁻⁵ of its"),
        (np.inf, "to no digit"),
    ],
)
def test_words_of_the_solver(sphere, error, words):
    solved = replace(sphere, log=replace(sphere.log, error_estimate=error))
    assert words in spectrum_checks.solver_residuals(solved).words


@pytest.mark.parametrize(
    ("move", "error", "light"),
    [
        (0.1, 0.05 * MORE, "green"),  # twice the error bar
        (0.1, 0.05 * LESS, "amber"),
        (0.05 * LESS, 0.0, "green"),  # little in itself
        (0.05 * MORE, 0.0, "amber"),
        (0.2 * LESS, 0.0, "amber"),
        (0.2 * MORE, 0.0, "red"),
    ],
)
def test_plateau(sphere, move, error, light):
    scan = made_up_scan([[0, 1 + move], [0, 1], [0, 1]], errors=error)
    assert plateau(sphere, scan).light == light


@pytest.mark.parametrize(
    ("readings", "light"),
    [
        ([2.0, 2.5 * LESS], "green"),
        ([2.0, 2.5], "amber"),
        ([2.5 * LESS, 2.0], "green"),
        ([2.5, 2.0], "amber"),
    ],
)
def test_dimension(sphere, readings, light):
    dimension = replace(sphere.operator.dimension, by_scale=np.array(readings))
    assert operator_checks.dimension(replace(sphere.operator, dimension=dimension)).light == light


@pytest.mark.parametrize(("mode", "light"), [(1, "red"), (2, "amber"), (4, "amber")])
def test_a_mode_that_rests_on_unresolved_points(sphere, mode, light):
    functions, sparse = sphere.eigenfunctions.copy(), np.arange(600) < 6
    functions[:, mode] = np.where(sparse, 10.0, 0.0)
    resting = replace(sphere, eigenfunctions=functions, unresolved=sparse)
    assert spectrum_checks.unresolved_points(resting).light == light


@pytest.mark.parametrize(("span", "light"), [(1.0, "amber"), (MORE, "red")])
def test_growing_errors(span, light):
    operator = vbdm.estimate_operator(
        vbdm.datasets.circle(100).points, bandwidth=vbdm.rules.PowerOfDensity(0)
    )
    density = np.array([1.0, span * operator_checks.WIDE_SPAN])
    operator = with_pilot(operator, density)
    assert operator_checks.error_exponents(operator).light == light


@pytest.mark.parametrize(("strays", "light"), [(30, "amber"), (31, "red")])
def test_strays(sphere, strays, light):
    components = np.maximum(np.arange(600) - (599 - strays), 0)
    pieces = replace(sphere, pieces=Pieces(components, 1))
    assert spectrum_checks.connected_pieces(pieces).light == light


@pytest.mark.parametrize(("thin", "light"), [(0, "green"), (2, "amber"), (3, "red")])
def test_weak_links(sphere, thin, light):
    extent = np.where(np.arange(5) < thin, LESS, 1.0) * THIN
    assert spectrum_checks.weak_links(replace(sphere, extent=extent)).light == light


@pytest.mark.parametrize(("share", "light"), [(0.3 * LESS, "green"), (0.3 * MORE, "amber")])
def test_the_weight_of_a_mode_on_unresolved_points(sphere, share, light):
    functions, sparse = sphere.eigenfunctions.copy(), np.arange(600) < 6
    functions[:, 3] = np.where(sparse, np.sqrt(share / 0.01), np.sqrt((1 - share) / 0.99))
    resting = replace(sphere, eigenfunctions=functions, unresolved=sparse)
    assert resting.errors.unresolved_share[3] == pytest.approx(share)
    assert spectrum_checks.unresolved_points(resting).light == light


def on_six_points(spectrum, mode, share):
    """Return the spectrum with a share of a mode's square on the first six of 600 points."""
    functions, few = spectrum.eigenfunctions.copy(), np.arange(600) < 6
    functions[:, mode] = np.where(few, np.sqrt(share / 0.01), np.sqrt((1 - share) / 0.99))
    return replace(spectrum, eigenfunctions=functions)


@pytest.mark.parametrize(
    ("mode", "share", "light"),
    [(2, 0.12 * LESS, "green"), (2, 0.12 * MORE, "amber"), (1, 0.12 * MORE, "red")],
)
def test_the_weight_of_a_mode_on_its_largest_points(sphere, mode, share, light):
    finding = spectrum_checks.tail(on_six_points(sphere, mode, share))
    assert finding.light == light
    # Faster modes are flagged with it.
    flagged = [] if light == "green" else list(range(mode, 5))
    assert finding.flags == dict.fromkeys(flagged, "rests on the tail")


@pytest.mark.parametrize(("share", "light"), [(0.25 * LESS, "green"), (0.25 * MORE, "amber")])
def test_the_weight_of_a_mode_on_held_points(sphere, share, light):
    """Half of the points hold a quarter of the third mode, evenly: no point is large."""
    functions, held = sphere.eigenfunctions.copy(), np.arange(600) >= 300
    functions[:, 3] = np.where(held, np.sqrt(2 * share), np.sqrt(2 * (1 - share)))
    for mode in (1, 2, 4):
        functions[:, mode] = np.where(held, 0.0, np.sqrt(2))
    resting = replace(sphere, eigenfunctions=functions, unresolved=held)
    finding = spectrum_checks.tail(resting)
    assert finding.light == light
    assert list(finding.flags) == ([] if light == "green" else [3, 4])


@pytest.mark.parametrize(("share", "light"), [(1.0, "green"), (MORE, "amber")])
def test_independence(monkeypatch, sphere, share, light):
    limit = series.LONG + series.NOISE / np.sqrt(600)
    monkeypatch.setattr(series, "autocorrelation_time", lambda values, lengths: share * limit)
    assert spectrum_checks.independence(replace(sphere)).light == light


@pytest.mark.parametrize(("evenness", "light"), [(0.85, "green"), (0.85 * MORE, "amber")])
def test_spacing(monkeypatch, sphere, evenness, light):
    monkeypatch.setattr(operator_checks, "regularity", lambda graph: evenness)
    assert operator_checks.spacing(sphere.operator).light == light


@pytest.mark.parametrize(
    ("ratio", "n_points", "light"),
    [(4 * LESS, 200, "green"), (4 * MORE, 200, "red"), (4 * MORE, 199, "green")],
)
def test_density_tail(sphere, ratio, n_points, light):
    """The lowest points are so much sparser; the quantiles at 0.2 and 5 % fall on both sides."""
    density = np.where(np.arange(n_points) < 0.02 * n_points, 1.0, ratio)
    operator = with_pilot(sphere.operator, density)
    assert operator_checks.density_tail(operator).light == light


@pytest.mark.parametrize(("c1", "judged"), [(0.05, True), (0.05 * MORE, False)])
def test_the_tail_matters_up_to_a_small_c1(sphere, c1, judged):
    settings = sphere.operator.settings
    settings = replace(settings, exponents=replace(settings.exponents, c1=c1))
    found = operator_checks.density_tail(replace(sphere.operator, settings=settings))
    assert (found is not None) == judged
