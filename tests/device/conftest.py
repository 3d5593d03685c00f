"""The device of the tests: emulated, or the real one where VBDM_DEVICE=cuda says so."""

from __future__ import annotations

import os
from typing import Any

import pytest

from vbdm.engines.cuda.availability import the_device
from vbdm.engines.cuda.engine import CudaEngine

from .emulated import EmulatedDevice


@pytest.fixture(scope="session")
def device() -> Any:
    return the_device() if os.environ.get("VBDM_DEVICE") == "cuda" else EmulatedDevice()


@pytest.fixture(scope="session")
def engine(device: Any) -> CudaEngine:
    return CudaEngine(device)
