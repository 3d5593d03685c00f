"""Spectra of a kernel in blocks: limits, corrections and errors as in one block."""

import numpy as np
import pytest
from tests.support.blocks import in_blocks

import vbdm

pytestmark = pytest.mark.blocks
RNG = np.random.default_rng(3)


def heavy_tail():
    """Two dimensions with a tail: some points are limited, slow modes get limits of their own."""
    return RNG.standard_t(4, size=(3000, 2))


def curve():
    t = RNG.uniform(0, 2 * np.pi, 2500)
    return np.stack([f(k * t) / k for k in range(1, 4) for f in (np.cos, np.sin)], 1)


def with_copies():
    points = RNG.normal(size=(2000, 2))
    return np.concatenate([points, points[:500], points[:200]])


@pytest.fixture(scope="module", params=[heavy_tail, curve, with_copies])
def operator(request):
    return vbdm.estimate_operator(request.param(), "generator")


@pytest.fixture(scope="module")
def expected(operator):
    return operator.spectrum(8)


@pytest.mark.parametrize("blocks", [(1, "memory"), (3, "memory"), (16, "disk")])
def test_the_same_spectrum(operator, expected, blocks):
    found = in_blocks(operator, *blocks).spectrum(8)
    for name, tol in {"eigenvalues": 1e-11, "correction": 1e-11, "extent": 1e-10}.items():
        one, other = getattr(found, name)[1:], getattr(expected, name)[1:]
        np.testing.assert_allclose(one, other, rtol=tol, err_msg=name)
    assert len(set(found.limits.of_modes)) == len(set(expected.limits.of_modes))
    references = [[limit.reference for limit in one.limits.of_modes] for one in (found, expected)]
    np.testing.assert_allclose(*references, rtol=1e-12)
    np.testing.assert_array_equal(found.unresolved, expected.unresolved)
    np.testing.assert_allclose(found.residuals, expected.residuals, rtol=1e-6, atol=1e-12)
    functions = np.asarray(found.eigenfunctions)
    np.testing.assert_allclose(functions, expected.eigenfunctions, rtol=0, atol=1e-7)


def test_bits_do_not_depend_on_the_place(operator):
    first, second = (in_blocks(operator, 5, place).spectrum(6) for place in ("memory", "disk"))
    np.testing.assert_array_equal(first.eigenvalues, second.eigenvalues)
    np.testing.assert_array_equal(first.eigenfunctions, np.asarray(second.eigenfunctions))
