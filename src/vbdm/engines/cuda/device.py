"""The device: its memory, its compiler, and the little of CuPy that is needed beside its arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from ...base.versions import __version__
from .first_use import FirstUse
from .sources import check_arguments, source_of

#: Threads in a block: four warps.
BLOCK = 128
WARP = 32
#: Bytes of fast memory that a block can have without asking.
USUAL_SHARED = 48 * 1024


class Device(Protocol):
    """What the engine needs of a device beside arrays that answer to NumPy's protocols."""

    @property
    def name(self) -> str:
        """The device's name, in words."""

    def array(self, values: Any) -> Any:
        """Return values as an array on the device; what is there already is not copied."""

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> Any:
        """Return an array on the device that holds anything."""

    def free_bytes(self) -> int:
        """Return how many bytes can still be had."""

    @property
    def most_shared(self) -> int:
        """Bytes of fast memory that each warp can have for itself."""

    def facts(self) -> dict[str, Any]:
        """Return name, memory, age and driver of the device, for reports."""

    def give_back(self) -> None:
        """Give memory that is held unused back to the device."""

    def current(self) -> AbstractContextManager[None]:
        """Return a block in which this is the device that the library computes on."""

    def soon_compiled(self) -> AbstractContextManager[None]:
        """Return a block in which the library's own code takes little time to compile."""

    @property
    def first_use(self) -> FirstUse:
        """Whether work is done for the first time, so that code is compiled."""

    def launch(
        self, source: str, kernel: str, n_units: int, *args: Any,
        columns: int = 0, per_warp: bool = False, shared_bytes: int = 0,
    ) -> None:  # fmt: skip
        """Run a kernel of a source file for `n_units` units of work, a thread or a warp each.

        Arguments are arrays on the device, None, Python floats (double), `np.int32` (int), and
        other whole numbers (64 bits). The source is compiled for a number of `columns` of the data,
        if it has such loops. `shared_bytes` of memory are shared by each warp.
        """

    def eigh(self, matrix: Any) -> tuple[Any, Any]:
        """Return eigenvalues and eigenvectors of a symmetric matrix."""


#: The device of each kind of array.
DEVICES: dict[type, Device] = {}


def device_of(array: Any) -> Device:
    """Return the device on which an array lives."""
    return DEVICES[type(array)]


def dotted(number: int) -> str:
    """Return a version of CUDA as people write it.

    >>> dotted(12090)
    '12.9'
    """
    return f"{number // 1000}.{number % 1000 // 10}"


class CupyDevice:
    """An NVIDIA GPU, through CuPy."""

    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found]

        self.cupy = cupy
        self.modules: dict[tuple[str, int], Any] = {}
        self.functions: dict[tuple[str, int, str], Any] = {}
        self.number: int = cupy.cuda.Device().id
        self.properties: dict[str, Any] = cupy.cuda.runtime.getDeviceProperties(self.number)
        self.begun = FirstUse(self.name, self.folder, self.versions)
        self.lock, self.n_at_work = Lock(), 0
        self.usual_sums: list[Any] = []
        DEVICES[cupy.ndarray] = self

    @property
    def name(self) -> str:
        """The device's name."""
        found: bytes = self.properties["name"]
        return found.decode()

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability, such as (9, 0)."""
        return int(self.properties["major"]), int(self.properties["minor"])

    @property
    def folder(self) -> Path:
        """Where CuPy keeps compiled code."""
        own = os.environ.get("CUPY_CACHE_DIR")
        return Path(own) if own else Path.home() / ".cupy" / "kernel_cache"

    @property
    def versions(self) -> str:
        """Versions on which compiled code depends, for the name of a file."""
        major, minor = self.capability
        return f"{__version__}-cupy-{self.cupy.__version__}-sm{major}{minor}"

    @contextmanager
    def current(self) -> Iterator[None]:
        """Let CuPy compute on this device: another thread, or its user, may have chosen another."""
        with self.cupy.cuda.Device(self.number):
            yield

    @contextmanager
    def soon_compiled(self) -> Iterator[None]:
        """Let CuPy add up by kernels of its own.

        Those of CUB, its default, take two seconds each to compile: 27 of them were two thirds of
        the first use. On a million points both are as fast. The setting is that of all threads:
        the first to begin changes it, the last to end changes it back.
        """
        core = self.cupy._core
        with self.lock:
            if self.n_at_work == 0:
                self.usual_sums = core.get_reduction_accelerators()
                core.set_reduction_accelerators([])
            self.n_at_work += 1
        try:
            yield
        finally:
            with self.lock:
                self.n_at_work -= 1
                if self.n_at_work == 0:
                    core.set_reduction_accelerators(self.usual_sums)

    def facts(self) -> dict[str, Any]:
        """Return name, memory, age and driver of the device."""
        free, total = self.cupy.cuda.Device(self.number).mem_info
        driver = self.cupy.cuda.runtime.driverGetVersion()
        return {
            "name": self.name,
            "memory_free": int(free),
            "memory": int(total),
            "compute_capability": ".".join(map(str, self.capability)),
            "driver": f"CUDA {dotted(driver)}",
            "folder": str(self.folder),
        }

    def array(self, values: Any) -> Any:
        """Return values as an array on the device; those of other libraries there are shared."""
        known = np.ndarray, self.cupy.ndarray
        with self.current():
            if hasattr(values, "__dlpack__") and not isinstance(values, known):
                found = self.cupy.from_dlpack(values)
            else:
                found = self.cupy.asarray(values)
            # Arrays on another device of this machine are copied to ours.
            return found if found.device.id == self.number else found.copy()

    def empty(self, shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> Any:
        """Return an array on the device that holds anything."""
        return self.cupy.empty(shape, dtype)

    def free_bytes(self) -> int:
        """Return how many bytes can still be had: free ones, and those that CuPy holds unused.

        Users may limit what CuPy takes, with CUPY_GPU_MEMORY_LIMIT.
        """
        with self.current():
            pool = self.cupy.get_default_memory_pool()
            free = self.cupy.cuda.Device().mem_info[0] + pool.free_bytes()
            limit = pool.get_limit()
            return int(min(free, limit - pool.used_bytes()) if limit else free)

    def give_back(self) -> None:
        """Give memory that CuPy holds unused back to the device."""
        self.cupy.get_default_memory_pool().free_all_blocks()

    @property
    def first_use(self) -> FirstUse:
        """Whether work is done for the first time."""
        return self.begun

    @property
    def most_shared(self) -> int:
        """Bytes of fast memory that each warp can have for itself."""
        return int(self.properties["sharedMemPerBlockOptin"]) // (BLOCK // WARP)

    def launch(
        self, source: str, kernel: str, n_units: int, *args: Any,
        columns: int = 0, per_warp: bool = False, shared_bytes: int = 0,
    ) -> None:  # fmt: skip
        """Run a kernel."""
        if n_units == 0:
            return
        self.begun.launched()
        check_arguments(source, columns, kernel, args)
        threads = int(n_units) * (WARP if per_warp else 1)
        grid = (-(-threads // BLOCK),)
        shared = shared_bytes * (BLOCK // WARP)
        function = self.function(source, columns, kernel)
        if shared > USUAL_SHARED:
            function.max_dynamic_shared_size_bytes = shared
        given = tuple(map(self.passed, args))
        function(grid, (BLOCK,), given, shared_mem=shared)

    def function(self, source: str, columns: int, kernel: str) -> Any:
        """Return a compiled kernel."""
        key = source, columns, kernel
        if key not in self.functions:
            if key[:2] not in self.modules:
                options = ("--std=c++17", "--fmad=false", f"-DDIM={columns}")
                self.modules[key[:2]] = self.cupy.RawModule(
                    code=source_of(source), options=options, backend="nvrtc"
                )
            self.functions[key] = self.modules[key[:2]].get_function(kernel)
        return self.functions[key]

    def passed(self, value: Any) -> Any:
        """Return an argument as CuPy passes it on."""
        if isinstance(value, self.cupy.ndarray):
            if not value.flags.c_contiguous:
                raise TypeError("kernels take contiguous arrays")
            return value
        if value is None:
            return np.uint64(0)
        if isinstance(value, float):
            return np.float64(value)
        return value if isinstance(value, np.int32) else np.int64(value)

    def eigh(self, matrix: Any) -> tuple[Any, Any]:
        """Return eigenvalues and eigenvectors of a symmetric matrix."""
        values, vectors = self.cupy.linalg.eigh(matrix)
        return values, vectors
