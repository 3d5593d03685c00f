"""Exponents: printed values, their inverses, and the two versions of c2."""

from inspect import signature

import pytest

import vbdm
from vbdm import theory


@pytest.mark.parametrize(
    ("c1", "beta", "dim", "alpha"),
    [
        (1, -0.5, 1, -0.25),  # OU on the line, Section 4
        (1, -0.5, 2, -0.5),  # OU on the plane
        (1, 0, 2, 0.5),  # the fixed kernel
        (0, -0.5, 1, 0.25),  # the circle
        (0, -0.5, 2, 0),  # the sphere
        (0, 0, 5, 1),
    ],
)
def test_alpha_of_the_papers_examples(c1, beta, dim, alpha):
    assert theory.alpha_for(c1, beta, dim) == pytest.approx(alpha)
    assert theory.c1(alpha, beta, dim) == pytest.approx(c1)


def test_the_left_kernel_has_no_drift():
    assert theory.alpha_for(0.6, -0.5, 3, form="left") == pytest.approx(0.7)
    assert theory.c1(0.7, -0.5, 3, form="left") == pytest.approx(0.6)
    assert theory.c1(0.7, -0.5, 3, form="right") == theory.c1(0.7, -0.5, 3)


def test_both_versions_of_c2():
    assert theory.c2(-0.25, -0.5, 1) == theory.c2(-0.25, -0.5, 1, derived=False) == -0.25
    assert theory.c2(0.3, -0.5, 4) == -1.0
    # At β = -1/d the printed one turns positive for the Laplacian at d = 2.618, the other never.
    for dim in (2.5, 2.7, 4.0):
        alpha = theory.alpha_for(0, -1 / dim, dim)
        assert theory.c2(alpha, -1 / dim, dim, derived=False) == pytest.approx(dim - 3 + 1 / dim)
        assert theory.c2(alpha, -1 / dim, dim) == pytest.approx(-1 / dim)
    assert theory.c2(0.5, 0, 2, derived=False) == pytest.approx(1.5)


def test_bounded_names_the_terms():
    fixed = theory.bounded(0.5, 0, 1)
    assert fixed.normaliser
    assert not fixed.gradient
    assert not fixed
    assert theory.bounded(-0.25, -0.5, 1)
    assert not theory.bounded(0, 0.8, 2).normaliser


def test_bad_names():
    with pytest.raises(vbdm.InputError, match="form"):
        theory.c1(0, 0, 1, form="middle")
    with pytest.raises(vbdm.InputError, match="dim"):
        theory.c2(0, 0, -1)


def test_response_has_no_effect_without_normalisation():
    assert theory.density_response(0, 2) == 1
    assert theory.density_response(1, 1) < 1 < theory.density_response(-0.5, 1)


def test_response_is_the_square_root_of_a_sum_of_squares():
    """1 - 2a(4/3)^p + a²2^p with p = 1 + d/2 and a = α/2^p, worked out by hand."""
    assert theory.density_response(1, 1) == pytest.approx(0.51, abs=0.005)
    assert theory.density_response(1, 3) == pytest.approx(0.672, abs=0.001)


@pytest.mark.parametrize("wrong", ["alpha", "beta", "dim", "derived"])
@pytest.mark.parametrize(
    "function", [theory.c1, theory.c2, theory.bounded, theory.density_response]
)
@pytest.mark.parametrize("value", ["many", [1, 2], float("nan")])
def test_what_is_no_number_is_named(function, wrong, value):
    known = {"alpha": 0.5, "beta": -0.5, "dim": 2, "derived": True}
    taken = {name: known[name] for name in known if name in signature(function).parameters}
    if wrong in taken:
        with pytest.raises(vbdm.InputError, match=f"`{wrong}`"):
            function(**taken | {wrong: value})
