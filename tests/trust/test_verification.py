"""The check of the check: counting is exact, and a spectrum with a flaw does not pass."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.support.slow import with_slow

import vbdm
from vbdm import datasets
from vbdm.solvers import Dense, Pencil, ShiftInvert, direct
from vbdm.solvers.direct import affordable, count_below, elimination_work
from vbdm.spectrum.limiter import Limits
from vbdm.spectrum.pieces import Pieces
from vbdm.spectrum.solve import pencil_of
from vbdm.trust import verification
from vbdm.trust.verification import Verification, clear_gap, compare, overlooked_by


def two_clusters(n):
    return datasets.clusters(n, separation=40.0, random_state=0).points


def with_far_points(n):
    points = datasets.ou(n, dim=2, random_state=0).points.copy()
    points[:5] *= 20
    points[5:8] *= 300
    return points


# Name: points from N, operator, method.
CASES = {
    "sphere": (lambda n: datasets.sphere(n, random_state=0).points, "laplacian", "resolved"),
    "torus": (lambda n: datasets.torus(n, random_state=0).points, "laplacian", "resolved"),
    "torus grid": (
        lambda n: datasets.torus(round(n**0.5) ** 2, sampling="grid").points,
        "laplacian",
        "paper",
    ),
    "ou in R": (lambda n: datasets.ou(n, random_state=0).points, "generator", "resolved"),
    "ou in R3": (lambda n: datasets.ou(n, dim=3, random_state=0).points, "generator", "resolved"),
    "two pieces": (two_clusters, "generator", "resolved"),
    "two pieces, paper": (two_clusters, "generator", "paper"),
    "far points": (with_far_points, "generator", "resolved"),
    "far points, paper": (with_far_points, "generator", "paper"),
}


def operator(name, n):
    make, kind, method = CASES[name]
    return vbdm.estimate_operator(make(n), kind, method=method)


def with_log(spectrum, **entries):
    """Return the spectrum with another account of its solve."""
    return replace(spectrum, log=replace(spectrum.log, **entries))


def shortened(spectrum, place):
    """Return the spectrum as a solver would give it that has missed one eigenvalue."""
    limits = (*spectrum.limits.of_modes[:place], *spectrum.limits.of_modes[place + 1 :])
    values = np.delete(spectrum.eigenvalues, place)
    listed = replace(spectrum, eigenvalues=values, limits=Limits(spectrum.limits.shared, limits))
    theta = np.delete(spectrum.log.pencil_eigenvalues, place)
    shared = spectrum.log.shared_eigenvalues
    shared = np.delete(shared, place) if shared.size else shared
    return with_log(listed, pencil_eigenvalues=theta, shared_eigenvalues=shared)


def changed(spectrum, place, factor):
    theta = spectrum.log.pencil_eigenvalues.copy()
    theta[place] *= factor
    return with_log(spectrum, pencil_eigenvalues=theta)


@pytest.mark.parametrize("name", CASES)
def test_counting_agrees_with_all_eigenvalues(name):
    pencil = pencil_of(operator(name, 700))
    exact = Dense().solve(pencil, 300, 0.0).values
    wide = np.flatnonzero(np.diff(exact) > 1e-6 * np.maximum(exact[1:], 1e-3))
    # The first gap, those of the first groups, and far up, where hundreds of pivots are negative.
    for place in (*wide[:12], wide[len(wide) // 2], wide[-1]):
        level = 0.5 * (exact[place] + exact[place + 1])
        assert count_below(pencil, level) == place + 1


def test_a_count_that_cannot_be_trusted_is_refused(monkeypatch):
    swap = csr_array(np.array([[0.0, 1.0], [1.0, 0.0]]))
    pencil = Pencil(swap, np.ones(2), np.ones(2))
    assert count_below(pencil, 0.9) == 1
    assert count_below(pencil, 2.1) == 2
    # At 1 the diagonal vanishes, and no elimination without pivoting can start.
    with pytest.raises(vbdm.errors.SolverError, match="slightly different level"):
        count_below(pencil, 1.0)
    # At an eigenvalue the last pivot is 0.
    path = csr_array(np.array([[1.0, 1.0], [1.0, 1.0]]))
    with pytest.raises(vbdm.errors.SolverError, match="slightly different level"):
        count_below(Pencil(path, np.full(2, 2.0), np.ones(2)), 0.0)
    # Factors that do not solve a system are not believed.
    monkeypatch.setattr(direct, "TRUSTED", -1.0)
    with pytest.raises(vbdm.errors.SolverError, match="its solutions have a relative error of"):
        count_below(pencil, 0.9)


@pytest.mark.slow
def test_work_grows_with_the_dimension():
    curve, surface, space = (
        pencil_of(vbdm.estimate_operator(sample.points, sample.operator))
        for sample in (
            datasets.circle(4000, random_state=0),
            datasets.sphere(4000, random_state=0),
            datasets.ou(4000, dim=3, random_state=0),
        )
    )
    assert 20 * elimination_work(curve) < elimination_work(surface) < elimination_work(space)
    assert affordable(space)


@pytest.mark.parametrize(
    "dense", [pytest.param(True, marks=pytest.mark.slow), False], ids=["dense", "counted"]
)
@pytest.mark.parametrize(
    "name", with_slow(CASES, "ou in R3", "two pieces", "far points", "torus grid")
)
def test_spectra_pass_and_a_lost_copy_is_found(name, dense, monkeypatch):
    monkeypatch.setattr(verification, "DENSE_POINTS", 2500 if dense else 500)
    spectrum = operator(name, 1600).spectrum(12)
    result = vbdm.verify(spectrum)
    assert result.passed, result
    assert 0 < result.error < 1e-4
    assert result.solver == ("Dense" if dense else "ShiftInvert")
    if not dense:
        assert "counted below" in result.note
    assert result.reference[0] == 0
    # Not the last: without it the list is that of eleven.
    theta = spectrum.log.pencil_eigenvalues
    for place in (0, 1, 5, 9) if dense else (0, 5):
        result = vbdm.verify(shortened(spectrum, place))
        if theta[place] < 0.999 * np.delete(theta, place).max():
            assert result.missing == 1, (place, result)
            assert not result.passed
            assert result.error < 1e-4  # what is there is right


def test_wrong_values_and_too_many_copies_do_not_pass():
    spectrum = operator("sphere", 1600).spectrum(12)
    result = vbdm.verify(changed(spectrum, 5, 1.001))
    assert not result.passed
    assert result.error == pytest.approx(1e-3, rel=0.1)
    theta = spectrum.log.pencil_eigenvalues
    doubled = with_log(spectrum, pencil_eigenvalues=np.r_[theta, theta[1]])
    assert not vbdm.verify(doubled).passed


@pytest.mark.slow
def test_only_the_largest_piece():
    op = operator("two pieces", 3000)
    spectrum = op.spectrum(8, components="largest")
    assert spectrum.pieces.n_solved == 1
    assert vbdm.verify(spectrum).passed
    assert op.spectrum(8).pieces.n_solved == 2


def test_modes_that_were_left_out_are_not_missing():
    clean = datasets.ou(3000, dim=2, random_state=2)
    sample = datasets.with_outliers(clean, box=30.0, random_state=3)
    spectrum = vbdm.estimate_operator(sample.points, "generator").spectrum(10)
    assert 0 < spectrum.left_out.size <= spectrum.log.set_aside.size
    assert vbdm.verify(spectrum).passed
    assert not vbdm.verify(with_log(spectrum, set_aside=np.empty(0))).passed


@pytest.mark.parametrize("name", with_slow(["sphere", "ou in R3"], "ou in R3"))
def test_without_factors_lanczos_checks_and_says_so(name, monkeypatch):
    spectrum = operator(name, 2600).spectrum(12)
    monkeypatch.setattr(verification, "affordable", lambda pencil: False)
    result = vbdm.verify(spectrum)
    assert result.passed
    assert result.solver == "Lanczos"
    assert result.note == "not counted, too large to factorise"
    assert vbdm.verify(shortened(spectrum, 4)).missing == 1


@pytest.mark.parametrize(
    "name", with_slow(["sphere", "torus grid", "two pieces"], "torus grid", "two pieces")
)
def test_what_both_solvers_overlook_is_counted(name):
    """The reference itself lacks one copy: only the count can tell."""
    op = operator(name, 2600)
    pencil = pencil_of(op)
    labels = op.spectrum(3).components
    pieces = Pieces(op.graph.order.to_inside(labels), int(labels.max()) + 1)
    theta = Dense().solve(pencil, 18, 0.0).values
    assert overlooked_by(theta, 12, pencil, pieces)[0] == 0
    for place in (1, 4, 8):
        assert overlooked_by(np.delete(theta, place), 11, pencil, pieces)[0] == 1


def test_where_nothing_can_be_counted_this_is_said(monkeypatch):
    path = csr_array(np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]))
    pencil = Pencil(path, np.array([1.0, 1.0, 0.0]), np.ones(3))  # θ = 0, 0, 2
    pieces = Pieces(np.array([0, 0, 1]), 2)
    # A point alone is a piece with one eigenvalue, 0.
    assert overlooked_by(np.array([0.0, 0.0, 2.0]), 1, pencil, pieces)[0] == 0
    assert overlooked_by(np.array([0.0, 2.0]), 0, pencil, pieces)[0] == 1
    equal = overlooked_by(np.zeros(3), 1, pencil, pieces)
    assert equal == (0, "nothing to count between equal values")

    def broken(pencil, pieces, piece, level):
        levels.append(level)
        raise vbdm.errors.SolverError("on purpose")

    levels = []
    monkeypatch.setattr(verification, "count_in_piece", broken)
    found = overlooked_by(np.array([0.0, 0.0, 2.0]), 1, pencil, pieces)
    assert found == (0, "not counted, the factorisation broke down")
    assert levels == pytest.approx([1.0, 0.8, 1.2])


def test_a_copy_overlooked_by_both_fails(monkeypatch):
    spectrum = shortened(operator("torus", 2600).spectrum(12), 3)
    complete = vbdm.verify(spectrum).reference

    def careless(self, pencil, n, tol):
        pairs = honest(self, pencil, n + 1, tol)
        place = np.argmin(np.abs(pairs.values - complete[3]))
        kept = np.delete(np.arange(n + 1), place)
        return replace(pairs, values=pairs.values[kept], vectors=pairs.vectors[:, kept])

    honest = ShiftInvert.solve
    monkeypatch.setattr(ShiftInvert, "solve", careless)
    result = vbdm.verify(spectrum)
    assert result.error < 1e-4
    assert result.missing == 1
    assert not result.passed


def test_one_to_one_matching():
    reference = np.array([0.0, 1.0, 1.0002, 1.0005, 2.0, 3.0])
    nothing = np.empty(0)
    assert compare(np.array([0.0, 1.0, 1.0002, 1.0005]), nothing, reference) == (0.0, 3, 0)
    # Of three near copies the middle one is lost; a set-aside one is not lost.
    error, last, absent = compare(np.array([0.0, 1.00001, 1.0005, 2.0]), nothing, reference)
    assert (last, absent) == (4, 1)
    assert error == pytest.approx(1e-5)
    some = np.array([0.0, 1.0, 1.0005, 2.0])
    assert compare(some, np.array([1.0002, 2.9]), reference)[1:] == (4, 0)
    # Which copy of the last value is listed does not matter.
    twice = np.array([0.0, 1.0, 2.0, 2.0])
    assert compare(np.array([0.0, 1.0, 2.0]), nothing, twice)[2] == 0
    # θ far below the last counts as 1e-6 of it.
    tiny = np.array([0.0, 1e-12, 1.0])
    assert compare(np.array([0.0, 1e-11, 1.0]), nothing, tiny)[0] == pytest.approx(9e-6)
    assert compare(np.zeros(3), nothing, np.zeros(4))[::2] == (0.0, 0)


def test_where_to_count():
    values = np.array([0.0, 0.0, 1.0, 1.0, 1.0, 2.0])
    assert clear_gap(values, 2) == 4  # above the group of the last one
    assert clear_gap(values, 5) == 4  # nothing above: below it
    assert clear_gap(values, 0) == 1
    assert clear_gap(np.zeros(4), 2) is None
    assert clear_gap(np.array([0.0, 1e-16, 1.0]), 0) == 1  # not between zeros


def test_zeros_only():
    X = np.random.default_rng(0).standard_normal((600, 2))
    op = vbdm.estimate_operator(X, method="paper", dim=2, epsilon=1e-12)
    assert vbdm.verify(op.spectrum(10)).passed
    assert vbdm.verify(operator("sphere", 600).spectrum(1)).passed


def test_unsymmetric_forms_have_residuals_instead():
    X = np.random.default_rng(0).standard_normal((200, 2))
    spectrum = vbdm.estimate_operator(X, dim=2, method=vbdm.Paper(form="left")).spectrum(4)
    assert 0 <= spectrum.log.error_estimate < 1e-6
    with pytest.raises(vbdm.InputError, match=r"spectrum\.residuals"):
        vbdm.verify(spectrum)


def test_the_verdict_in_words():
    good = Verification(3e-6, 0, np.zeros(3), "Dense", "complete by construction")
    assert repr(good).startswith("Verification(passed: error=3.0e-06, missing=0, solver='Dense'")
    assert "FAILED" in repr(replace(good, missing=1))
    assert not replace(good, error=2e-4).passed
    assert replace(good, error=2e-4, tolerance=1e-3).passed
