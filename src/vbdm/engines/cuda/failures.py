"""What CuPy and the driver raise, in the words of this package."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import clear_frames

from ...errors import DeviceError, InputError, OutOfMemoryError
from .device import DEVICES

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


@contextmanager
def explained() -> Iterator[None]:
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
        return library_missing(error) if is_not_loaded(error) else None
    if isinstance(error, MemoryError) or "MemoryAllocation" in str(error):
        return out_of_memory(error)
    text = f"{type(error).__name__} {error}"
    if "nvrtc" in text.lower() or "Compile" in text:
        return library_missing(error)
    return DeviceError(
        f"The GPU failed; received {first_line(error)}. Another program, the driver or the device "
        "itself may be at fault; if it happens again with the same data, it is a mistake in "
        "vbdm. Start Python anew, and look at nvidia-smi; engine='numba' computes the same "
        "without the GPU."
    )


def is_not_loaded(error: BaseException) -> bool:
    """Tell whether an error of Python's own says that a library of NVIDIA's is missing."""
    return isinstance(error, RuntimeError | ImportError | OSError) and bool(
        NOT_LOADED.search(str(error))
    )


def library_missing(error: BaseException) -> DeviceError:
    """Return the error for a compiler, or another library of NVIDIA's, that is missing."""
    return DeviceError(
        "The code for the GPU could not be compiled, or not be loaded; received "
        f"{first_line(error)}. NVIDIA's compiler (NVRTC) or its header files are missing, or "
        "another of its libraries, or they are of another version than CuPy. Install them with "
        "CuPy: pip install 'vbdm[cuda]' (CUDA 13) or 'vbdm[cuda12]'; or leave `engine` out."
    )


def out_of_memory(error: BaseException) -> OutOfMemoryError:
    """Return the error for a device whose memory ran out, after its memory was given back."""
    give_up_frames(error)
    free, total = emptied()
    found = WANTED.search(str(error))
    wanted = f"a request for {gigabytes(int(found[1].replace(',', '')))}" if found else "a request"
    return OutOfMemoryError(
        f"The GPU's memory ran out; received {wanted}; of {gigabytes(total)}, {gigabytes(free)} "
        "are free now. Memory grows with points times neighbours; other programs use the device, "
        "too. Pass effort=0.5 (half of the pairs), fewer points, or engine='numba', which has "
        "this machine's memory; vbdm.estimate_memory(..., engine='cuda') tells what an estimate "
        "takes."
    )


def give_up_frames(error: BaseException) -> None:
    """Forget the arrays in functions that ended with an error, and with those met before it.

    What the user was dealing with when our work began is left as it is.
    """
    clear_frames(error.__traceback__)
    before = error.__context__
    if before is not None and begins_inside(before):
        give_up_frames(before)


def begins_inside(error: BaseException) -> bool:
    """Tell whether an error was met inside our work."""
    trace = error.__traceback__
    name = "" if trace is None else str(trace.tb_frame.f_globals.get("__name__", ""))
    return name.partition(".")[0] in OURS


def emptied() -> tuple[int, int]:
    """Give back the memory that is held unused; return the free bytes, and all of them."""
    free, total = 0, 0
    for device in DEVICES.values():
        device.give_back()
        facts = device.facts()
        free, total = facts["memory_free"], facts["memory"]
    return free, total


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
