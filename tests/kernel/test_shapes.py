"""Moments of shape functions for real d, and the refusal of those that do not decay."""

import numpy as np
import pytest

from vbdm.errors import InputError
from vbdm.kernel.within_reach import stored_type
from vbdm.shapes import SHAPES, Compact, Custom, Gaussian, as_shape, radial_moments


@pytest.mark.parametrize("dim", [0.7, 1.0, 1.84, 2.0, 3.0, 6.5])
@pytest.mark.parametrize("name", SHAPES)
def test_moments_by_quadrature(name, dim):
    shape = SHAPES[name]
    numeric = radial_moments(shape, dim, reach=16.0 if name == "compact" else 600.0)
    exact = shape.moments(dim)
    assert exact.m0 == pytest.approx(numeric.m0, rel=1e-8)
    assert exact.m2 == pytest.approx(numeric.m2, rel=1e-8)


def test_gaussian_convention():
    assert Gaussian().moments(2).m0 == pytest.approx(4 * np.pi)
    assert Gaussian().moments(1.7).m == 1


def test_moments_are_plain_integrals_in_two_dimensions():
    """m0 = ∫h(|z|²)dz and m2 = ½∫z1² h(|z|²)dz, on a grid."""
    z = np.linspace(-5, 5, 801)
    x, y = np.meshgrid(z, z)
    area = (z[1] - z[0]) ** 2
    values = SHAPES["compact"](x**2 + y**2)
    moments = SHAPES["compact"].moments(2)
    assert moments.m0 == pytest.approx(values.sum() * area, rel=1e-5)
    assert moments.m2 == pytest.approx((x**2 * values).sum() * area / 2, rel=1e-5)


def test_custom_function_has_the_gaussians_moments():
    custom = as_shape(lambda s: np.exp(-s / 4))
    assert isinstance(custom, Custom)
    assert custom.moments(2.3).m0 == pytest.approx(Gaussian().moments(2.3).m0, rel=1e-8)
    assert custom.moments(2.3).m == pytest.approx(1, rel=1e-8)


@pytest.mark.parametrize(
    "function",
    [
        lambda s: 1 / (1 + s) ** 5,
        lambda s: np.exp(-np.sqrt(s)),
        lambda s: np.cos(s) * np.exp(-s),
        lambda s: 0 * s,
        lambda s: np.full_like(s, np.nan),
        lambda s: 1.0,
    ],
    ids=["power law", "stretched", "negative", "zero", "nan", "scalar"],
)
def test_shapes_outside_the_theory_are_refused(function):
    with pytest.raises(InputError, match="decay exponentially"):
        as_shape(function)


def test_values_that_single_precision_might_lose_are_stored_in_double():
    """A Gaussian at s = 400 is e^-100, and its powers underflow; a compact shape ends at 0."""
    assert stored_type("single", Gaussian(), 400.0) is np.float64
    assert stored_type("single", Gaussian(), 40.0) is np.float32
    assert stored_type("double", Gaussian(), 40.0) is np.float64
    assert stored_type("single", Compact(), 1e6) is np.float32
