"""The device of the tests: emulated, or the real one where VBDM_DEVICE=cuda says so."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from vbdm.engines.cuda import availability
from vbdm.engines.cuda.availability import the_device
from vbdm.engines.cuda.device import DEVICES
from vbdm.engines.cuda.engine import CudaEngine

from .emulated import ON_GPU, EmulatedDevice


@pytest.fixture(scope="session")
def device() -> Any:
    return the_device() if ON_GPU else EmulatedDevice()


@pytest.fixture(scope="session")
def engine(device: Any) -> CudaEngine:
    return CudaEngine(device)


@pytest.fixture
def fresh_look(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What is known of the device is forgotten, before a test and after it."""
    found = getattr(availability.the_device, "cache_clear", lambda: None)
    found()
    monkeypatch.setattr("vbdm.engines.engine.SURROUNDINGS", [])
    known = dict(DEVICES)
    DEVICES.clear()
    yield
    found()
    DEVICES.clear()
    DEVICES.update(known)


@pytest.fixture
def emulated(fresh_look: None, monkeypatch: pytest.MonkeyPatch) -> EmulatedDevice:
    """An emulated device, whatever this machine has."""
    device = EmulatedDevice()
    monkeypatch.setattr(availability, "the_device", lambda: device)
    return device
