"""A result that lives on a device, in the rooms that compute in memory."""

from __future__ import annotations

import copy
import pickle
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.sparse import issparse

import vbdm
from vbdm.base.arrays import is_elsewhere

from .there import there


@cache
def result(cloud: str) -> Any:
    """Return an ordinary spectrum."""
    rng = np.random.default_rng(3)
    points, options = rng.standard_normal((900, 2)), {"operator": "generator"}
    if cloud == "copies":
        points = np.concatenate([points, points[:100]])
    if cloud == "periodic":
        points, options = rng.random((700, 2)) * [1.0, 3.0], {"period": [1.0, 0.0]}
    if cloud == "lists":
        options = {"n_neighbors": 40, "method": "paper"}
    return vbdm.estimate_operator(points, **options).spectrum(6)


def assert_same(here: Any, back: Any, path: str = "") -> None:
    """Compare all that two results consist of, bit by bit."""
    if path.endswith((".index", ".index.inner.tree")):
        return
    assert not is_elsewhere(back), path
    assert type(here) is type(back), path
    if isinstance(here, np.ndarray):
        np.testing.assert_array_equal(here, back, err_msg=path)
        assert here.dtype == back.dtype, path
    elif issparse(here):
        for name in ("data", "indices", "indptr"):
            assert_same(getattr(here, name), getattr(back, name), f"{path}.{name}")
    elif isinstance(here, tuple | list):
        assert len(here) == len(back), path
        for number, pair in enumerate(zip(here, back, strict=True)):
            assert_same(*pair, f"{path}[{number}]")
    elif is_dataclass(here) and not isinstance(here, type):
        for one in fields(here):
            assert_same(getattr(here, one.name), getattr(back, one.name), f"{path}.{one.name}")


@pytest.mark.parametrize("cloud", ["plane", "copies", "periodic", "lists"])
def test_back_in_memory_every_bit_is_as_it_was(cloud: str) -> None:
    here = result(cloud)
    away = there(here)
    assert is_elsewhere(away.operator.degrees)
    assert is_elsewhere(away.vectors)
    assert_same(here, away.on_host)
    assert_same(here.operator.graph, away.operator.graph.on_host)


def test_it_is_copied_once_and_shared() -> None:
    away = there(result("plane"))
    assert away.on_host is away.on_host
    assert away.on_host.operator is away.operator.on_host
    assert away.on_host.operator.graph is away.operator.graph.on_host
    assert away.on_host.on_host is away.on_host


def test_an_ordinary_result_is_its_own_copy() -> None:
    here = result("plane")
    assert here.on_host is here
    assert here.operator.on_host is here.operator
    assert here.operator.graph.on_host is here.operator.graph


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_and_pickles_are_ordinary(copied: Any) -> None:
    here = result("copies")
    away = there(here)
    assert_same(here, copied(away))
    assert_same(here.operator, copied(away.operator))
    assert_same(here.operator.graph, copied(away.operator.graph))
    same = copied(away).extend(here.operator.graph.points[:7])
    np.testing.assert_array_equal(same.values, here.eigenfunctions[:7])
