"""Each light must turn amber or red when its trouble is there, and only then."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.neighbors import kneighbors_graph
from tests.support.estimates import estimate_with
from tests.support.findings import found_in, light_of, with_errors

import vbdm
from vbdm.spectrum.pieces import Pieces
from vbdm.trust.diagnose import diagnose
from vbdm.trust.findings import runs
from vbdm.trust.operator_checks import boundary, remedy
from vbdm.trust.spectrum_checks import solver_residuals


@pytest.fixture(scope="module")
def sphere():
    return vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points).spectrum(5)


def test_a_sound_result_is_green(sphere):
    assert {d.light for d in diagnose(sphere)} == {"green"}
    assert len({d.name for d in diagnose(sphere)}) == len(diagnose(sphere)) == 13


def test_pieces(sphere):
    points = np.concatenate([vbdm.datasets.circle(200, random_state=i).points for i in (0, 1)])
    points[200:] += 30
    halves = vbdm.estimate_operator(points).spectrum(5)
    assert light_of(halves, "Connected pieces") == "amber"
    assert "raise `epsilon`; otherwise" in found_in(halves, "Connected pieces").words
    listed = vbdm.estimate_operator(points, method=vbdm.Resolved(n_neighbors=60)).spectrum(5)
    assert "`epsilon` or `n_neighbors`" in found_in(listed, "Connected pieces").words
    strays = np.where(np.arange(600) < 60, np.arange(600), 0)
    assert light_of(replace(sphere, pieces=Pieces(strays, 1)), "Connected pieces") == "red"


def test_unresolved_points(sphere):
    name = "Unresolved points"
    half = np.arange(600) < 300
    assert light_of(replace(sphere, unresolved=half), name) == "red"
    assert light_of(replace(sphere, left_out=np.array([-3.0])), name) == "amber"
    # A few points, which no mode rests on, are nothing to worry about.
    assert light_of(replace(sphere, unresolved=np.arange(600) < 6), name) == "green"


def test_an_eigenvalue_that_could_not_be_given(sphere):
    values = sphere.eigenvalues.copy()
    values[4] = np.nan
    broken = replace(sphere, eigenvalues=values)
    assert light_of(broken, "Unresolved points") == "red"


@pytest.mark.parametrize(("share", "light"), [(0.01, "green"), (0.1, "amber"), (0.6, "red")])
def test_neighbour_lists(sphere, share, light):
    operator = sphere.operator
    kernel = replace(operator.kernel, saturated=share, by_reach=False)
    operator = replace(operator, kernel=kernel)
    assert light_of(replace(sphere, operator=operator), "Neighbour lists") == light


def test_pairs_within_reach_end_nowhere(sphere):
    (found,) = (finding for finding in diagnose(sphere) if finding.name == "Neighbour lists")
    assert found.light == "green"
    assert "all pairs within its reach" in found.words
    assert "nothing can end inside it" in found.words


@pytest.mark.parametrize(
    ("error", "converged", "light"),
    [(1e-6, True, "green"), (5e-3, True, "amber"), (0.5, True, "red"), (1e-6, False, "red")],
)
def test_solver(sphere, error, converged, light):
    log = replace(sphere.log, error_estimate=error, converged=converged)
    found = replace(sphere, log=log)
    assert light_of(found, "Solver") == light


def test_pieces_left_out_on_request_are_not_small(sphere):
    circles = [vbdm.datasets.circle(n, random_state=n).points + n for n in (250, 200)]
    operator = vbdm.estimate_operator(np.concatenate(circles))
    found = diagnose(operator.spectrum(4, components="largest"))
    pieces = next(d for d in found if d.name == "Connected pieces")
    assert (pieces.light, pieces.value, pieces.limit) == ("amber", 2, 1)
    assert "only the largest was solved, and 200 points of others left out" in pieces.words
    assert "small pieces" not in pieces.words
    assert next(d for d in found if d.name == "Unresolved points").value < 0.05


def test_the_error_of_a_group_is_that_of_its_mean(sphere):
    found = sphere.operator.spectrum(4)
    assert [group.tolist() for group in found.errors.groups] == [[0], [1, 2, 3]]
    assert "the mean of λ₁ to λ₃" in found_in(found, "Error bars").words


def test_error_bars(sphere):
    assert light_of(with_errors(sphere, sampling=0.05), "Error bars") == "green"
    assert light_of(with_errors(sphere, sampling=0.2), "Error bars") == "amber"
    assert light_of(with_errors(sphere, epsilon=0.5), "Error bars") == "red"
    # The total is judged: neither part alone is above a tenth.
    both = found_in(with_errors(sphere, sampling=0.08, epsilon=0.08), "Error bars")
    assert (both.light, both.value) == ("amber", pytest.approx(0.08 * np.sqrt(2)))


@pytest.mark.parametrize(
    ("part", "source", "advice"),
    [
        ("sampling", "from sampling.", "More data would make it smaller."),
        ("tail", "from points too sparse", "`spectrum.unresolved`"),
        ("epsilon", "from the width of the kernel", "move with ε"),
        ("noise", "from noise around the manifold", "Remove noise"),
        ("boundary", "from an edge of the data", "Neumann conditions at the edge"),
    ],
)
def test_the_part_that_dominates_is_named_with_what_to_do(sphere, part, source, advice):
    others = {"sampling": 0.05, "epsilon": 0.05}
    words = found_in(with_errors(sphere, **{**others, part: 0.2}), "Error bars").words
    assert f"most of it {source}" in words
    assert advice in words
    # A small error needs no advice, but its source is told.
    words = found_in(with_errors(sphere, **{part: 0.02}), "Error bars").words
    assert f"total error is 2.0 %, of λ₄; most of it {source}" in words.replace(
        "the mean of λ₁ to λ₃", "λ₄"
    )
    assert advice not in words


def test_where_no_part_dominates_the_two_largest_are_named(sphere):
    found = found_in(with_errors(sphere, sampling=0.22, tail=0.2, noise=0.18), "Error bars")
    assert "from sampling and points too sparse to resolve the modes." in found.words


def test_weak_links(sphere):
    thin = replace(sphere, extent=np.array([np.inf, 50, 50, 3, 50]))
    found = next(d for d in diagnose(thin) if d.name == "Weak links")
    assert found.light == "amber"
    assert "Eigenvalue 3 hangs" in found.words
    assert found.words.endswith("before you trust it (see `spectrum.errors.weak_links`).")
    thin = replace(sphere, extent=np.array([np.inf, 50, 3, 3, 50]))
    assert "Eigenvalues 2 and 3 hang on" in found_in(thin, "Weak links").words
    assert found_in(thin, "Weak links").words.endswith(
        "before you trust them (see `spectrum.errors.weak_links`)."
    )


def test_error_exponents_follow_the_theory():
    points = vbdm.datasets.ou(600, dim=2, random_state=0).points
    fixed = vbdm.estimate_operator(
        points, "generator", bandwidth=vbdm.rules.PowerOfDensity(0)
    ).spectrum(3)
    assert light_of(fixed, "Error exponents") in ("amber", "red")
    moving = vbdm.estimate_operator(points, "generator").spectrum(3)
    assert light_of(moving, "Error exponents") == "green"


def test_dimension_that_depends_on_the_scale(sphere):
    noisy = replace(sphere.operator.dimension, by_scale=np.array([3.5, 2.5, 2.0]))
    operator = replace(sphere.operator, dimension=noisy)
    assert light_of(replace(sphere, operator=operator), "Dimension") == "amber"


def test_the_tail_matters_to_the_laplacian_only():
    points = vbdm.datasets.ou(2000, dim=2, random_state=0).points
    laplacian = vbdm.estimate_operator(points).spectrum(3)
    assert light_of(laplacian, "Density at the edge") == "red"
    generator = vbdm.estimate_operator(points, "generator").spectrum(3)
    assert "Density at the edge" not in {d.name for d in diagnose(generator)}


@pytest.mark.slow
def test_the_judgement_on_the_tail_is_that_of_the_warning():
    for seed, sample in enumerate((vbdm.datasets.ou, vbdm.datasets.sphere)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            spectrum = vbdm.estimate_operator(sample(1500, dim=2, random_state=seed).points)
        warned = any(w.category is vbdm.errors.DensityTailWarning for w in caught)
        light = light_of(spectrum.spectrum(3), "Density at the edge")
        assert (light == "red") == warned


def test_unsymmetric_forms_and_single_eigenvalues():
    points = vbdm.datasets.circle(150, random_state=0).points
    left = vbdm.estimate_operator(points, method=vbdm.Paper(form="left")).spectrum(4)
    assert {"Neighbour lists", "Solver"} <= {d.name for d in diagnose(left)}
    one = vbdm.estimate_operator(points).spectrum(1)
    assert light_of(one, "Error bars") == "amber"


def test_complex_eigenvalues_are_marked(sphere):
    """The unsymmetric forms may have some: what is shown is their real part."""
    complex_ones = replace(sphere, eigenvalues=sphere.eigenvalues + 0j)
    flags = solver_residuals(complex_ones).flags
    assert flags == dict.fromkeys(range(5), "real part of a complex value")
    assert not solver_residuals(sphere).flags


def test_only_a_spectrum_is_judged(sphere):
    with pytest.raises(vbdm.InputError, match=r"judges a spectrum.*received Operator"):
        vbdm.diagnose(sphere.operator)


def test_one_point_is_one_point(sphere):
    one = found_in(replace(sphere, unresolved=np.arange(600) < 1), "Unresolved points").words
    assert "1 point (0.2 %) is too sparse" in one
    left = found_in(replace(sphere, left_out=np.array([-3.0])), "Unresolved points").words
    assert left.startswith("1 mode, at -3, sat on")
    assert "and was left out" in left


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([1, 2, 3, 6], "1 to 3, 6"),
        ([1, 4, 5, 6], "1, 4 to 6"),
        ([2], "2"),
        ([1, 2, 5, 6], "1 to 2, 5 to 6"),
    ],
)
def test_runs_of_numbers_are_told_in_short(numbers, words):
    assert runs(numbers) == words


def test_without_an_edge_there_is_nothing_beyond_a_limit_of_nothing():
    found = boundary(vbdm.estimate_operator(vbdm.datasets.sphere(1000, random_state=0).points))
    assert (found.light, found.value, found.limit) == ("green", 0, 0)


@pytest.mark.parametrize(
    ("given", "asked", "words"),
    [
        (120, {}, "Raise `n_neighbors`"),
        (40, {"n_neighbors": 10}, "Raise `n_neighbors`"),
        (15, {}, "only 15 distances were given"),
    ],
)
def test_lists_that_end_too_early_are_made_longer_by_who_made_them(given, asked, words):
    points = vbdm.datasets.circle(200, random_state=0).points
    distances = kneighbors_graph(points, given, mode="distance")
    assert words in remedy(estimate_with(distances, metric="precomputed", **asked))
