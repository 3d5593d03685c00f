"""What will not fit into the memory that a device has free is refused before it begins."""

from __future__ import annotations

import numpy as np
import pytest

import vbdm
from vbdm.base.memory import GPU_SOLVER, kernel_on_device
from vbdm.kernel import within_reach

from .emulated import needs_compiler

pytestmark = [
    needs_compiler, pytest.mark.usefixtures("fresh_look"),
]  # fmt: skip
POINTS = np.random.default_rng(0).random((500, 2))


def test_more_eigenpairs_than_fit_are_refused(emulated):
    op = vbdm.estimate_operator(POINTS, run="cuda")
    emulated.limit = GPU_SOLVER.bytes(500, op.n_neighbors, n_eigen=20)
    assert op.spectrum(20).eigenvalues.shape == (20,)
    with pytest.raises(vbdm.errors.OutOfMemoryError) as caught:
        op.spectrum(60)
    text = str(caught.value)
    assert text.startswith(
        "The spectrum would not fit into the memory of the GPU; received 60 eigenpairs of 500 "
        "points: about 0.00"
    )
    assert "op.on_host.spectrum(n)" in text
    assert op.on_host.spectrum(60).eigenvalues.shape == (60,)
    # Other solvers work in this machine's memory.
    assert op.spectrum(60, solver="dense").eigenvalues.shape == (60,)


def test_values_in_double_precision_take_more(emulated, monkeypatch):
    k = vbdm.estimate_operator(POINTS, run="cuda").n_neighbors
    monkeypatch.setattr(within_reach, "free_bytes", lambda _: kernel_on_device(500, k + 1, 10))
    assert vbdm.estimate_operator(POINTS, run="cuda").settings.precision == "single"
    with pytest.raises(vbdm.errors.OutOfMemoryError, match="would not fit"):
        vbdm.estimate_operator(POINTS, run=vbdm.Run(engine="cuda", precision="double"))
