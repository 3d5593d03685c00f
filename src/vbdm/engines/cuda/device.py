"""The device: its memory, its compiler, and the sources of the kernels.

A kernel gets addresses, and reads whatever lies there: numbers of another type would be garbage, in
silence. So the types of its arguments are read from its source, and each launch is checked.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from threading import Lock, local
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...base.versions import __version__
from ...progress import announce

#: Threads in a block: four warps.
BLOCK = 128
WARP = 32
#: Bytes of fast memory that a block can have without asking.
USUAL_SHARED = 48 * 1024
#: Types in the sources.
TYPES = {
    "double": np.float64, "float": np.float32, "int": np.int32, "i64": np.int64, "u64": np.uint64,
    "bool": np.bool_,
}  # fmt: skip


#: The device of each kind of array.
DEVICES: dict[type, Any] = {}


def device_of(array: Any) -> Device:
    """Return the device on which an array lives."""
    found: Device = DEVICES[type(array)]
    return found


def dotted(number: int) -> str:
    """Return a version of CUDA as people write it.

    >>> dotted(12090)
    '12.9'
    """
    return f"{number // 1000}.{number % 1000 // 10}"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a kernel: its name and type, and whether it is an array of that type."""

    name: str
    type: np.dtype[Any]
    is_array: bool

    def takes(self, value: Any) -> bool:
        """Tell whether a value is handed over as this parameter."""
        if self.is_array:
            return value is None or getattr(value, "dtype", None) == self.type
        if isinstance(value, float):
            return self.type == np.float64
        return bool(self.type == (np.int32 if isinstance(value, np.int32) else np.int64))


@cache
def source_of(name: str) -> str:
    """Return the text of a source file, what all share in front."""
    folder = files(__package__)
    return (folder / "prelude.cu").read_text("utf-8") + (folder / f"{name}.cu").read_text("utf-8")


@cache
def parameters(source: str, columns: int) -> dict[str, tuple[Parameter, ...]]:
    """Return the parameters of all kernels of a source, compiled for a number of columns."""
    text = source_of(source)
    short = dict(re.findall(r"^#define ([A-Z]+) (.*)$", text, re.MULTILINE))
    types = TYPES | {"value": np.float32 if columns == 32 else np.float64}
    found = {}
    for kernel, listed in re.findall(r"^KERNEL\((\w+),([^)]*)\)", text, re.MULTILINE):
        whole = re.sub(r"\b[A-Z]+\b", lambda word: short[word.group()], listed)
        found[kernel] = tuple(parameter(part, types) for part in whole.split(","))
    return found


def parameter(declared: str, types: dict[str, Any]) -> Parameter:
    """Return a parameter as it is declared, such as ``const double* x``."""
    *_, kind, name = re.findall(r"\w+", declared)
    return Parameter(name, np.dtype(types[kind]), "*" in declared)


def check_arguments(source: str, columns: int, kernel: str, args: tuple[Any, ...]) -> None:
    """Raise unless the arguments have the types that a kernel reads."""
    for wanted, value in zip(parameters(source, columns)[kernel], args, strict=True):
        if not wanted.takes(value):
            given = getattr(value, "dtype", type(value).__name__)
            raise TypeError(f"kernel {kernel} takes {wanted.type} as {wanted.name}, not {given}")


@dataclass
class FirstUse:
    """Whether work of some kind is done for the first time with this device and these versions.

    It compiles then, for up to a minute, which is said once. CuPy keeps compiled code in a folder,
    and so do we keep a note for each kind of work that was done with that code.
    """

    device: str
    # Where compiled code is kept, and what it was compiled for and by.
    folder: Path
    versions: str
    # Threads of the user's do work of their own.
    _thread: local = field(default_factory=local)
    _seen: set[str] = field(default_factory=set)

    @contextmanager
    def of(self, work: str) -> Iterator[None]:
        """Do some work; when it is done, a note is left that its code has been compiled."""
        if self.current_work:
            # A part of other work.
            yield
            return
        self._thread.work = work
        try:
            yield
        finally:
            self._thread.work = ""
        if work in self._seen and not self.note(work).exists():
            self.leave_note(work)

    def launched(self) -> None:
        """Say that code is compiled, if this is the first launch for work never done before."""
        work = self.current_work
        if work and work not in self._seen:
            self._seen.add(work)
            if not self.note(work).exists():
                announce(f"compiling for {self.device}, first use only: up to a minute ({work})")

    @property
    def current_work(self) -> str:
        """The work that this thread does; empty: none."""
        return str(getattr(self._thread, "work", ""))

    def note(self, work: str) -> Path:
        """Return the path of the note for some work."""
        return self.folder / f"vbdm-{self.versions}-{work.replace(' ', '-')}"

    def leave_note(self, work: str) -> None:
        """Write a note; without a folder to write to there is none, and code is compiled again."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.note(work).touch()
        except OSError:
            pass


class Device:
    """An NVIDIA GPU, through CuPy, with the little that is needed beside its arrays."""

    def __init__(self) -> None:
        import cupy  # type: ignore[import-not-found]

        self.cupy = cupy
        self.modules: dict[tuple[str, int], Any] = {}
        self.functions: dict[tuple[str, int, str], Any] = {}
        self.number: int = cupy.cuda.Device().id
        self.properties: dict[str, Any] = cupy.cuda.runtime.getDeviceProperties(self.number)
        self.first_use = FirstUse(self.name, self.folder, self.versions)
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
    def most_shared(self) -> int:
        """Bytes of fast memory that each warp can have for itself."""
        return int(self.properties["sharedMemPerBlockOptin"]) // (BLOCK // WARP)

    def launch(
        self, source: str, kernel: str, n_units: int, *args: Any,
        columns: int = 0, per_warp: bool = False, shared_bytes: int = 0,
    ) -> None:  # fmt: skip
        """Run a kernel of a source file for `n_units` units of work, a thread or a warp each.

        Arguments are arrays on the device, None, Python floats (double), `np.int32` (int), and
        other whole numbers (64 bits). The source is compiled for a number of `columns` of the data,
        if it has such loops. `shared_bytes` of memory are shared by each warp.
        """
        if n_units == 0:
            return
        self.first_use.launched()
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
