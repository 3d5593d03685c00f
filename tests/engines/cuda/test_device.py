"""What is asked of CuPy, with a stand-in for it: the device, its memory, and its settings."""

from __future__ import annotations

import sys
from threading import Barrier, Thread
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from vbdm.engines.cuda.device import DEVICES, Device


class Array:
    def __init__(self, number: int) -> None:
        self.device = SimpleNamespace(id=number)

    def copy(self) -> Array:
        return Array(StandIn.numbers[-1])


class StandIn:
    """The device of CuPy's own that is chosen, as a block."""

    numbers: ClassVar[list[int]] = [1]

    def __init__(self, number: int | None = None) -> None:
        self.id = self.numbers[-1] if number is None else number
        self.mem_info = (1000 * (self.id + 1), 5000)

    def __enter__(self) -> None:
        self.numbers.append(self.id)

    def __exit__(self, *error: object) -> None:
        self.numbers.pop()


@pytest.fixture
def cupy(monkeypatch: Any) -> Any:
    sums = {"used": ["cub"]}
    core = SimpleNamespace(
        get_reduction_accelerators=lambda: list(sums["used"]),
        set_reduction_accelerators=lambda names: sums.update(used=list(names)),
    )
    pool = SimpleNamespace(free_bytes=lambda: 50, used_bytes=lambda: 300, get_limit=lambda: 0)
    properties = {"name": b"stand-in", "major": 9, "minor": 0, "sharedMemPerBlockOptin": 1 << 16}
    runtime = SimpleNamespace(getDeviceProperties=lambda number: properties)
    found = SimpleNamespace(
        ndarray=Array, _core=core, cuda=SimpleNamespace(Device=StandIn, runtime=runtime),
        asarray=lambda values: values if isinstance(values, Array) else Array(StandIn.numbers[-1]),
        get_default_memory_pool=lambda: pool, __version__="14", pool=pool,
    )  # fmt: skip
    monkeypatch.setitem(sys.modules, "cupy", found)
    monkeypatch.setattr(StandIn, "numbers", [1])
    yield found
    DEVICES.pop(Array, None)


def test_work_is_done_on_the_device_that_was_found_first(cupy: Any) -> None:
    device = Device()
    with StandIn(0):
        assert device.array(np.zeros(3)).device.id == 1
        assert device.array(Array(0)).device.id == 1
        with device.current():
            assert StandIn().id == 1
        assert device.free_bytes() == 2050
        assert StandIn().id == 0


def test_a_limit_of_the_users_is_kept(cupy: Any) -> None:
    cupy.pool.get_limit = lambda: 700
    assert Device().free_bytes() == 400


def test_threads_at_work_leave_the_settings_of_cupy_as_they_were(cupy: Any) -> None:
    device, step = Device(), Barrier(2)
    seen = []

    def first() -> None:
        with device.soon_compiled():
            step.wait()
            step.wait()
        step.wait()

    def second() -> None:
        step.wait()
        with device.soon_compiled():
            step.wait()
            step.wait()
            # The other one is done.
            seen.append(cupy._core.get_reduction_accelerators())

    threads = [Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [[]]
    assert cupy._core.get_reduction_accelerators() == ["cub"]
