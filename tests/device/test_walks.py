"""Order, nearest points and pairs on a device: the same as on the processor, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vbdm.engines.cuda.order import tree_order
from vbdm.engines.numpy_order import tree_order as order_on_host
from vbdm.engines.tree import levels_to

from .emulated import needs_compiler
from .nasty_clouds import CLOUDS

pytestmark = needs_compiler


def ordered(device: Any, columns: Any, depth: int) -> Any:
    return tree_order(device, device.array(columns), depth).get()


@pytest.mark.parametrize("name", CLOUDS)
@pytest.mark.parametrize("n", [700, 4096])
def test_order_of_nasty_clouds(device: Any, name: str, n: int) -> None:
    columns = np.ascontiguousarray(CLOUDS[name](n).points.T)
    depth = levels_to(columns.shape[1], 8)
    found = ordered(device, columns, depth)
    assert found.dtype == np.intp
    np.testing.assert_array_equal(found, order_on_host(columns, depth))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 17, 127, 128, 129, 1000, 4999, 5000])
@pytest.mark.parametrize("dim", [1, 2, 10])
def test_order_of_any_size(device: Any, n: int, dim: int) -> None:
    rng = np.random.default_rng(n)
    depth = levels_to(n, 8)
    for columns in rng.normal(size=(dim, n)), rng.integers(-2, 3, (dim, n)) * 1.0:
        np.testing.assert_array_equal(
            ordered(device, columns, depth), order_on_host(columns, depth)
        )


def test_order_of_zeros_of_both_signs(device: Any) -> None:
    columns = np.where(np.random.default_rng(0).random((1, 300)) < 0.5, -0.0, 0.0)
    np.testing.assert_array_equal(ordered(device, columns, 5), order_on_host(columns, 5))
