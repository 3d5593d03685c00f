"""A device without a GPU: arrays as strict, and the same kernels compiled for this processor.

Each thread is alone in its warp, which is quick. With VBDM_LANES=32 in the environment warps are
whole, and their lanes take turns as in `lanes.h`: slower, and what the device does.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import eigh

from vbdm.engines.cuda.device import BLOCK, DEVICES, WARP, FirstUse, check_arguments, source_of

from .strict_array import StrictArray

COMPILER = shutil.which("g++") or shutil.which("c++")
#: Lets the lanes of a warp take turns.
WARPS = Path(__file__).with_name("lanes.h")
#: Whether these tests run on a real device.
ON_GPU = os.environ.get("VBDM_DEVICE") == "cuda"
#: For tests on the emulated device, and for those on whichever the fixture `device` returns.
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
needs_device = pytest.mark.skipif(
    not (COMPILER or ON_GPU), reason="there is no C++ compiler, and no GPU"
)


def some_slow(cases: Iterable[str], *slow: str) -> list[Any]:
    """Return cases as parameters of a test; some only run where there is time, or a GPU."""
    cases = list(cases)
    assert set(slow) <= set(cases)
    return [pytest.param(case, marks=[pytest.mark.slow] * (case in slow)) for case in cases]


@cache
def library(source: str, columns: int, lanes: int) -> ctypes.CDLL:
    """Compile a source for a number of columns, and warps of one or 32 lanes, once for all."""
    text = source_of(source) if lanes == 1 else WARPS.read_text("utf-8") + source_of(source)
    key = hashlib.sha256(f"{columns}{text}".encode()).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"vbdm-emulated-{os.getuid()}"
    folder.mkdir(exist_ok=True, mode=0o700)
    built = folder / f"{source}-{key}.so"
    if not built.exists():
        with tempfile.TemporaryDirectory(dir=folder) as own:
            made = Path(own) / "made.so"
            flags = [
                "-std=c++17",
                "-O1",
                "-w",
                "-ffp-contract=off",
                "-DEMU" if lanes == 1 else "-UEMU",
                f"-DDIM={columns}",
                "-shared",
                "-fPIC",
            ]
            subprocess.run(
                [str(COMPILER), *flags, "-x", "c++", "-o", str(made), "-"],
                input=text.encode(),
                check=True,
            )
            made.rename(built)
    return ctypes.CDLL(str(built))


class EmulatedDevice:
    """What `vbdm.engines.cuda.device.Device` does, on this processor."""

    name = "an emulated device"
    most_shared = 32 * 1024

    def __init__(self) -> None:
        #: Lanes of a warp. Warps of 32 do what those of the device do, but slowly.
        self.lanes = int(os.environ.get("VBDM_LANES", "1"))
        self.limit: int | None = None
        self.launched: list[str] = []
        self.given_back = False
        self.first_use = FirstUse(self.name, Path(tempfile.gettempdir()), "emulated")
        DEVICES[StrictArray] = self

    def current(self) -> Any:
        return nullcontext()

    def soon_compiled(self) -> Any:
        return nullcontext()

    def array(self, values: Any) -> StrictArray:
        return (
            values if isinstance(values, StrictArray) else StrictArray(np.array(values, order="C"))
        )

    def empty(self, shape: Any, dtype: Any = np.float64) -> StrictArray:
        result = np.empty(shape, dtype)
        # What is not written to must not look right by chance.
        result.view(np.uint8).reshape(-1)[:] = (
            0xA5 if result.size and result.itemsize == 1 else 0x5A
        )
        return StrictArray(result)

    def facts(self) -> Any:
        memory = 8 << 30
        return {"name": self.name, "memory_free": self.free_bytes(), "memory": memory,
                "compute_capability": "9.0", "driver": "CUDA 13.0", "folder": "none"}  # fmt: skip

    def give_back(self) -> None:
        self.given_back = True

    def free_bytes(self) -> int:
        return 8 << 30 if self.limit is None else self.limit

    def launch(
        self, source: str, kernel: str, n_units: int, *args: Any,
        columns: int = 0, per_warp: bool = False, shared_bytes: int = 0,
    ) -> None:  # fmt: skip
        if n_units == 0:
            return
        assert shared_bytes <= self.most_shared, "more shared memory than a warp can have"
        self.launched.append(kernel)
        check_arguments(source, columns, kernel, args)
        function = getattr(library(source, columns, self.lanes), kernel)
        function.restype = None
        # Whole blocks run, as on the device: kernels must stop at their last unit themselves.
        block = BLOCK // WARP if per_warp else BLOCK
        units = -(-int(n_units) // block) * block
        if per_warp:
            units *= self.lanes
        function(ctypes.c_longlong(units), *map(passed, args))

    def eigh(self, a: StrictArray) -> Any:
        values, vectors = eigh(a.values)
        return StrictArray(values), StrictArray(vectors)


def passed(value: Any) -> Any:
    if value is None:
        return ctypes.c_void_p(None)
    if isinstance(value, StrictArray):
        assert value.values.flags.c_contiguous, "kernels take contiguous arrays"
        return ctypes.c_void_p(value.values.ctypes.data)
    assert not isinstance(value, np.ndarray), "kernels take arrays of the device"
    if isinstance(value, float):
        return ctypes.c_double(value)
    return (
        ctypes.c_int(int(value)) if isinstance(value, np.int32) else ctypes.c_longlong(int(value))
    )


# Warps of one thread: the walks below are compiled so.
assert WARP == 32
