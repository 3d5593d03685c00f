"""Whether a device can be used here; if not, why, in words.

`the_device` gives the one device of this process, and looks for it when it is first asked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ...base.versions import CUPY, library_versions
from ...errors import DeviceError
from .device import CupyDevice, Device, dotted
from .failures import explained, first_line, in_words

#: Least compute capability: that of the V100, of 2017.
OLDEST = (7, 0)
#: CUDA 13 compiles for devices from this compute capability on.
OLDEST_OF_CUDA_13 = (7, 5)
#: How to get CuPy.
INSTALL = (
    "Install it with: pip install 'vbdm[cuda]', for drivers of version 580 and later (CUDA 13), or "
    "'vbdm[cuda12]' for those from 525 on (CUDA 12); nvidia-smi tells the version"
)
#: What anybody can do instead.
OTHERWISE = "or leave `engine` out: the processor computes the same."


@cache
def the_device() -> Device:
    """Return the device of this process.

    Raises
    ------
    DeviceError
        If there is none, or it cannot be used; the message says why.
    """
    cupy = imported()
    check_driver(cupy)
    with explained():
        device = CupyDevice()
    check_age(device)
    with explained():
        # This compiles a line, so a compiler that is missing is found out now.
        works = (device.array(np.arange(3.0)) * 2).get().tolist() == [0.0, 2.0, 4.0]
    if not works:
        raise unusable("it computes wrong numbers", "Its memory, or the driver, is damaged.")
    return device


@contextmanager
def around(work: str) -> Iterator[None]:
    """Do some work: what fails on the device is told in words, and so is that code is compiled."""
    device = the_device()
    with explained(), device.current(), device.first_use.of(work), device.soon_compiled():
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
            raise unusable(
                "no driver",
                "There is no NVIDIA GPU, its driver is not installed, or a container hides both.",
                "Run nvidia-smi: it must name the device. Containers need --gpus all",
            )
        n_devices = runtime.getDeviceCount()
    except DeviceError:
        raise
    except Exception as error:
        if "InsufficientDriver" in str(error):
            raise unusable(
                f"a driver for CUDA {dotted(driver)}, and a CuPy for CUDA {dotted(made_for)}",
                "The driver is older than CuPy.",
                "Install a later driver, or the CuPy for this one: pip uninstall cupy-cuda13x, "
                "then pip install 'vbdm[cuda12]'",
            ) from None
        if "NoDevice" not in str(error):
            raise in_words(error) or unusable(first_line(error), "The driver fails.") from None
        n_devices = 0
    if n_devices == 0:
        raise unusable(
            "a driver that sees none",
            "There is none, another program holds it alone, or CUDA_VISIBLE_DEVICES hides it.",
            "Run nvidia-smi, and look at CUDA_VISIBLE_DEVICES",
        )


def check_age(device: CupyDevice) -> None:
    """Raise if the device is too old, for us or for the CUDA that CuPy is made for."""
    major, minor = device.capability
    received = f"{device.name}, of compute capability {major}.{minor}"
    if device.capability < OLDEST:
        raise unusable(
            received,
            f"It is too old: {OLDEST[0]}.{OLDEST[1]} is the least, that of the V100.",
            "Use a later one",
        )
    made_for = device.cupy.cuda.runtime.runtimeGetVersion()
    if made_for >= 13000 and device.capability < OLDEST_OF_CUDA_13:
        raise unusable(
            f"{received}, and a CuPy for CUDA {dotted(made_for)}",
            "CUDA 13 no longer compiles for this device; CUDA 12 does.",
            "Install the CuPy for it: pip uninstall cupy-cuda13x, then pip install 'vbdm[cuda12]'",
        )


def unusable(received: str, because: str, hint: str = "Run nvidia-smi") -> DeviceError:
    """Return the error for a device that is not there, or cannot be used."""
    return DeviceError(
        f"No GPU can be used here; received {received}. {because} {hint}; {OTHERWISE}"
    )


def device_facts() -> dict[str, Any]:
    """Return what is known of the device, or in `why_not`, why none can be used.

    CuPy is loaded only if it is installed.
    """
    facts: dict[str, Any] = {"cupy": cupy_version(), "why_not": None}
    try:
        device = the_device()
        with explained():
            return facts | device.facts()
    except DeviceError as error:
        return facts | {"why_not": reason_of(error)}


def reason_of(error: DeviceError) -> str:
    """Return one line of an error: what was received, and the likely cause."""
    if find_spec("cupy") is None:
        return "CuPy is not installed"
    _, _, rest = str(error).partition("; received ")
    return rest.partition(". ")[0] or str(error)


def cupy_version() -> str | None:
    """Return the version of CuPy that is installed; None without one."""
    known = library_versions()
    return next((known[name] for name in CUPY if name in known), None)
