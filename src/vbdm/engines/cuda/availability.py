"""Whether a device can be used here; if not, why, and what CuPy and the driver raise, in words.

`the_device` gives the one device of this process, and looks for it when it is first asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from traceback import clear_frames
from typing import Any

import numpy as np

from ...base.versions import CUPY, library_versions
from ...errors import DeviceError, InputError, OutOfMemoryError
from .device import DEVICES, Device, dotted

#: Least compute capability: that of the V100, of 2017.
OLDEST = (7, 0)
#: CUDA 13 compiles for devices from this compute capability on.
OLDEST_OF_CUDA_13 = (7, 5)
#: How to get CuPy.
INSTALL = (
    "Install it with: pip install 'vbdm[cuda]', for drivers of version 580 and later (CUDA 13), or "
    "'vbdm[cuda12]' for those from 525 on (CUDA 12); nvidia-smi tells the version"
)
#: How to get the CuPy for older drivers and devices.
OLDER = "pip uninstall cupy-cuda13x, then pip install 'vbdm[cuda12]'"
#: What anybody can do instead.
OTHERWISE = "or leave `engine` out: the processor computes the same."
#: Modules whose errors are told in words here.
MODULES = ("cupy", "cupy_backends", "cupyx", "cuda")
#: Where an error may begin that was met inside our work.
OURS = (*MODULES, "vbdm", "contextlib")
#: What Python's own errors say where a library of NVIDIA's is missing; other libraries may be too.
NOT_LOADED = re.compile(
    r"CuPy failed to load|"
    r"(nvrtc|cudart|libcuda|cublas|cusolver|cusparse|nvjitlink)\S*: cannot open shared object|"
    r"Could not find module '(nvrtc|cudart|cublas|cusolver|cusparse|nvjitlink)",
    re.IGNORECASE,
)
#: The size in CuPy's message.
WANTED = re.compile(r"allocating ([\d,]+) bytes")


@cache
def the_device() -> Device:
    """Return the device of this process; a `DeviceError` says why it cannot be used."""
    cupy = imported()
    check_driver(cupy)
    with errors_in_words():
        device = Device()
    major, minor = device.capability
    received = f"{device.name}, of compute capability {major}.{minor}"
    if device.capability < OLDEST:
        raise unusable(received, f"{OLDEST[0]}.{OLDEST[1]} is the least: use a later one")
    made_for = cupy.cuda.runtime.runtimeGetVersion()
    if made_for >= 13000 and device.capability < OLDEST_OF_CUDA_13:
        received += f", and a CuPy for CUDA {dotted(made_for)}"
        raise unusable(received, f"CUDA 12 compiles for this device: {OLDER}")
    with errors_in_words():
        # This compiles a line, so a compiler that is missing is found out now.
        works = (device.array(np.arange(3.0)) * 2).get().tolist() == [0.0, 2.0, 4.0]
    if not works:
        raise unusable("one that computes wrong numbers")
    return device


@contextmanager
def around(work: str) -> Iterator[None]:
    """Do some work: what fails on the device is told in words, and so is that code is compiled."""
    device = the_device()
    with errors_in_words(), device.current(), device.first_use.of(work), device.soon_compiled():
        yield


def imported() -> Any:
    """Return CuPy, or raise if it is not installed, or broken."""
    if find_spec("cupy") is None:
        raise DeviceError(
            "The engine 'cuda' needs CuPy; received a Python in which it is not installed. "
            f"{INSTALL}; {OTHERWISE}"
        )
    try:
        return import_module("cupy")
    except Exception as error:  # whatever a broken installation raises
        raise DeviceError(
            f"CuPy is installed, but cannot be loaded; received {first_line(error)}. Remove it "
            f"(pip uninstall {' '.join(CUPY)}). {INSTALL}; {OTHERWISE}"
        ) from None


def check_driver(cupy: Any) -> None:
    """Raise if there is no driver, if it is too old for CuPy, or if it sees no device."""
    runtime = cupy.cuda.runtime
    try:
        driver, made_for = runtime.driverGetVersion(), runtime.runtimeGetVersion()
        if driver == 0:
            hint = "Run nvidia-smi: it must name the device. Containers need --gpus all"
            raise unusable("no driver", hint)
        n_devices = runtime.getDeviceCount()
    except DeviceError:
        raise
    except Exception as error:
        if "InsufficientDriver" in str(error):
            raise unusable(
                f"a driver for CUDA {dotted(driver)}, and a CuPy for CUDA {dotted(made_for)}",
                f"Install a later driver, or the CuPy for this one: {OLDER}",
            ) from None
        if "NoDevice" not in str(error):
            raise in_words(error) or unusable(first_line(error)) from None
        n_devices = 0
    if n_devices == 0:
        hint = "Run nvidia-smi, and look at CUDA_VISIBLE_DEVICES"
        raise unusable("a driver that sees none", hint)


def unusable(received: str, hint: str = "Run nvidia-smi") -> DeviceError:
    """Return the error for a device that is not there, or cannot be used."""
    return DeviceError(f"No GPU can be used here; received {received}. {hint}; {OTHERWISE}")


def device_facts() -> dict[str, Any]:
    """Return what is known of the device, or in `why_not`, why none can be used.

    CuPy is loaded only if it is installed.
    """
    known = library_versions()
    version = next((known[name] for name in CUPY if name in known), None)
    facts: dict[str, Any] = {"cupy": version, "why_not": None}
    try:
        device = the_device()
        with errors_in_words():
            return facts | device.facts()
    except DeviceError as error:
        if find_spec("cupy") is None:
            return facts | {"why_not": "CuPy is not installed"}
        _, _, rest = str(error).partition("; received ")
        return facts | {"why_not": rest.partition(". ")[0] or str(error)}


@contextmanager
def errors_in_words() -> Iterator[None]:
    """Raise what fails on the device inside the block in words; other errors pass.

    When its memory runs out, the arrays of the failed work are given up, and the blocks that CuPy
    holds go back to the device, which can be used on.
    """
    try:
        yield
    except Exception as error:
        told = in_words(error)
        if told is None:
            raise
        raise told from None


def in_words(error: BaseException) -> InputError | None:
    """Return an error of CuPy or the driver in four parts; None: it is none of these."""
    if type(error).__module__.partition(".")[0] not in MODULES:
        own = isinstance(error, RuntimeError | ImportError | OSError)
        return library_missing(error) if own and NOT_LOADED.search(str(error)) else None
    if isinstance(error, MemoryError) or "MemoryAllocation" in str(error):
        return out_of_memory(error)
    text = f"{type(error).__name__} {error}"
    if "nvrtc" in text.lower() or "Compile" in text:
        return library_missing(error)
    return DeviceError(
        f"The GPU failed; received {first_line(error)}. Start Python anew, and look at nvidia-smi; "
        "run='numba' computes the same without the GPU."
    )


def library_missing(error: BaseException) -> DeviceError:
    """Return the error for a compiler, or another library of NVIDIA's, that is missing."""
    return DeviceError(
        "The code for the GPU could not be compiled, or not be loaded; received "
        f"{first_line(error)}. Install NVIDIA's compiler (NVRTC) and its libraries with CuPy: pip "
        "install 'vbdm[cuda]' (CUDA 13) or 'vbdm[cuda12]'; or leave `engine` out."
    )


def out_of_memory(error: BaseException) -> OutOfMemoryError:
    """Return the error for a device whose memory ran out, after its memory was given back."""
    give_up_frames(error)
    free, total = 0, 0
    for device in DEVICES.values():
        device.give_back()
        facts = device.facts()
        free, total = facts["memory_free"], facts["memory"]
    found = WANTED.search(str(error))
    wanted = f"a request for {gigabytes(int(found[1].replace(',', '')))}" if found else "a request"
    return OutOfMemoryError(
        f"The GPU's memory ran out; received {wanted}; of {gigabytes(total)}, {gigabytes(free)} "
        "are free now. Pass effort=0.5 (half of the pairs), fewer points, or run='numba'; "
        "vbdm.estimate_memory(..., engine='cuda') tells what an estimate takes."
    )


def give_up_frames(error: BaseException) -> None:
    """Forget the arrays in functions that ended with an error, and with those met before it.

    What the user was dealing with when our work began is left as it is.
    """
    clear_frames(error.__traceback__)
    before = error.__context__
    trace = None if before is None else before.__traceback__
    name = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    if before is not None and name.partition(".")[0] in OURS:
        give_up_frames(before)


def first_line(error: BaseException) -> str:
    """Return the class and the first line of an error, without the full stop."""
    lines = str(error).splitlines()
    text = f"{type(error).__name__}: {lines[0] if lines else ''}"
    return text.rstrip(". :")[:300]


def gigabytes(number: int) -> str:
    """Return a number of bytes in words.

    >>> gigabytes(1_500_000_000)
    '1.5 GB'
    """
    return f"{number / 1e9:.3g} GB"
