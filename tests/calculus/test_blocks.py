"""Derivatives where rows live on workers."""

import numpy as np
import pytest

import vbdm
from vbdm.placement import Dask

pytestmark = pytest.mark.blocks


def test_on_workers_derivatives_are_the_same(cluster):
    X = vbdm.datasets.sphere(1500, random_state=0).points
    here = vbdm.estimate_operator(X)
    there = vbdm.estimate_operator(X, placement=Dask(cluster, blocks=3))
    assert np.allclose(there.gradient(X[:, :2]), here.gradient(X[:, :2]), atol=1e-9)
    assert np.allclose(there.calculus.carre_du_champ(X), here.calculus.carre_du_champ(X), rtol=1e-9)
    across = np.swapaxes(there.calculus.tangents, 1, 2) @ here.calculus.tangents
    assert np.allclose(np.abs(np.linalg.det(across)), 1)
