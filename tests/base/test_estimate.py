"""Products and quotients of numbers with errors."""

import numpy as np
import pytest

import vbdm
from vbdm.base.estimate import Estimate


def test_errors_of_products_and_quotients_are_those_of_draws():
    rng = np.random.default_rng(0)
    one, two = Estimate(-3.0, 0.06), Estimate(0.5, 0.02)
    first, second = (rng.normal(*own, size=200_000) for own in (one, two))
    for found, draws in ((one.times(two), first * second), (one.over(two), first / second)):
        assert found.value == pytest.approx(draws.mean(), rel=0.005)
        assert found.error == pytest.approx(draws.std(), rel=0.02)


def test_both_are_written_with_the_digits_of_the_error():
    """Where nothing is known of the error, or there is none, it says nothing about digits."""
    assert str(Estimate(2.04321, 0.0213)) == "2.043 ± 0.021"
    assert str(Estimate(2.04321, np.nan)) == "2.04321 ± nan"
    assert str(Estimate(2.5, 0.0)) == "2.5 ± 0"
    assert str(Estimate(np.nan, np.inf)) == "nan ± inf"


def test_zero_has_errors_too():
    assert Estimate(0.0, 0.1).times(Estimate(2.0, 0.5)) == pytest.approx((0.0, 0.2))
    assert Estimate(0.0, 0.1).over(Estimate(-2.0, 0.5)) == pytest.approx((0.0, 0.05))
    assert Estimate(0.0, 0.0).times(Estimate(2.0, 0.5)) == (0.0, 0.0)
    with pytest.raises(vbdm.InputError, match=r"`other`.*diffusivity of a clock"):
        Estimate(1.0, 0.1).times(0.5)
