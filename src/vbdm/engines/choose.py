"""Which engine computes: by name, by where the points live, or by their number."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..base.arrays import is_elsewhere, shape_of, to_host
from ..base.checks import check_choice
from ..base.memory import TREE_COLUMNS
from ..base.versions import ENGINE_NAMES, library_versions
from ..errors import DeviceError, EngineWarning, InputError, warn_user
from .engine import Engine, surround
from .numba_engine import NumbaEngine
from .scipy_engine import ScipyEngine

#: Fewest points for which compiled code is worth loading.
REPAYS = 20_000
#: Numbers by which DLPack calls the memory of NVIDIA's devices.
DLPACK_CUDA = (2, 13)


def check_engine(engine: Any) -> str:
    """Return the name of an engine, or refuse it."""
    return check_choice(engine, "engine", ENGINE_NAMES)


def chosen_engine(engine: str, n_points: int, points: Any = None) -> tuple[Engine, str]:
    """Return the engine for this many points, and the reason in words.

    Points that live on a device are computed with there, unless another engine is asked for.
    """
    name = check_engine(engine)
    if name == "scipy":
        return ScipyEngine(), "chosen by the user"
    if name == "cuda" or (name == "auto" and is_elsewhere(points)):
        found: Any = device_engine()
        why = "chosen by the user" if name == "cuda" else "the points are there"
        return found, f"{why} ({found.device.name})"
    if name == "auto" and n_points < REPAYS:
        return ScipyEngine(), f"{n_points} points: too few for compiled loops to pay"
    if name == "auto" and find_spec("numba") is None:
        return ScipyEngine(), "numba is not installed"
    failure, kept = numba_state()
    if name == "numba" and failure:
        raise InputError(
            f"The engine 'numba' cannot be used; received {failure}. Install it with: pip install "
            "'vbdm[fast]'; or leave `engine` out."
        )
    if name == "numba":
        if not kept:
            warn_user(
                "numba can keep no compiled code, so every process compiles anew, which takes some "
                "ten seconds. Set NUMBA_CACHE_DIR to a folder of yours.",
                EngineWarning,
            )
        return NumbaEngine(), "chosen by the user"
    if failure or not kept:
        why = failure or "it can keep no compiled code: no folder for it can be written to"
        warn_user(
            f"numba is installed but not used ({why}). NumPy and SciPy compute the same, only "
            "slower. Mend the installation, or set NUMBA_CACHE_DIR to a folder of yours; "
            "run='scipy' silences this.",
            EngineWarning,
        )
        return ScipyEngine(), f"numba cannot be used: {why}"
    return NumbaEngine(), f"{n_points} points: compiled loops pay"


def device_engine() -> Engine:
    """Return the engine of the device; refuse if there is none."""
    from .cuda import availability
    from .cuda.engine import CudaEngine

    engine = CudaEngine(availability.the_device())
    surround(availability.around)
    return engine


def computes_on_device(X: Any, engine: str) -> bool:
    """Tell whether a device will compute: asked for by name, or because the points are there."""
    parts = X if isinstance(X, list | tuple) else [X]
    return engine == "cuda" or any(map(is_elsewhere, parts))


def is_on_device(X: Any) -> bool:
    """Tell whether an array of any library lives on a GPU."""
    if isinstance(X, np.ndarray):
        return False
    if is_elsewhere(X):
        return True
    where = getattr(X, "__dlpack_device__", None)
    if not callable(where):
        # The older of the two protocols.
        return not isinstance(X, type) and hasattr(X, "__cuda_array_interface__")
    try:
        return int(where()[0]) in DLPACK_CUDA
    except (TypeError, ValueError, RuntimeError, IndexError):
        return False


def to_engine(X: Any, engine: str) -> Any:
    """Return points as the engine takes them; those of other libraries on a GPU as its own arrays.

    The processor's engines, asked for by name, get a copy in this machine's memory. Whatever does
    not live on a GPU comes back as it is.
    """
    if isinstance(X, list | tuple) and any(map(is_on_device, X)):
        return type(X)(to_engine(part, engine) for part in X)
    if not is_on_device(X):
        return X
    if is_elsewhere(X) and engine in ("scipy", "numba"):
        return to_host(X)
    from .cuda.availability import the_device

    try:
        # Those of our own library, too: they may be on another device of this machine.
        there = the_device().array(X)
    except DeviceError as error:
        raise DeviceError(
            f"{error} Or pass a copy of the points in this machine's memory, such as X.cpu()."
        ) from None
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise DeviceError(
            f"The points on the GPU cannot be shared; received {type(X).__name__} ({error}). Pass "
            "a plain copy: X.detach().clone() does it in torch."
        ) from None
    return to_host(there) if engine in ("scipy", "numba") else there


def not_on_device(what: str, received: str, hint: str = "") -> DeviceError:
    """Return the error for something that the engine of a GPU does not do."""
    return DeviceError(
        f"{what} cannot be had on the GPU; received {received}. {hint}Pass run='numba', or "
        "'scipy': the processor computes with anything."
    )


def refuse_off_device(X: Any, metric: Any, search: Any, placement: Any) -> None:
    """Refuse what the engine of a GPU does not take: it walks over a k-d tree of points there.

    `placement` is None unless rows are to live in blocks.
    """
    if not (isinstance(metric, str) and metric == "euclidean"):
        raise not_on_device("Other distances than Euclidean ones", f"metric={metric!r:.60}")
    if hasattr(X, "point_set"):
        what = "An estimate from neighbours that were found elsewhere"
        raise not_on_device(what, "a NeighborGraph", "Pass the points. ")
    if not (search is None or (isinstance(search, str) and search in ("auto", "kd-tree"))):
        raise not_on_device("This search", f"search={search!r:.60}", "Leave it out. ")
    if placement is not None:
        what = f"placement={placement!r:.80}"
        raise not_on_device("Rows in blocks", what)


def refuse_many_columns(X: Any) -> None:
    """Refuse points in more columns than a tree is of use for."""
    shape = shape_of(X)
    if len(shape) == 2 and shape[1] > TREE_COLUMNS:
        what = f"More than {TREE_COLUMNS} columns"
        raise not_on_device(what, f"{shape[1]} columns", "`vbdm.pca` makes fewer of them. ")


def no_device_output(engine: str) -> DeviceError:
    """Return the error for results that are wanted on a GPU where none computes."""
    points = " and points in this machine's memory" if engine == "auto" else ""
    return DeviceError(
        "Results stay on a GPU only if it computes; received output='device' with "
        f"engine={engine!r}{points}. Pass run='cuda', or points that are on the GPU; or leave "
        "`output` out."
    )


@cache
def numba_state() -> tuple[str, bool]:
    """Return why numba cannot be used, empty if it can, and whether it keeps compiled code."""
    try:
        from .compiled.compile import NOT_KEPT

        order = NumbaEngine().order(np.array([[1.0, 0.0]]), 1)
    except Exception as error:  # whatever a broken installation raises
        return f"{type(error).__name__}: {error}".splitlines()[0], False
    if order.tolist() != [1, 0]:
        return "it computes wrong numbers", False
    return "", not NOT_KEPT


def engines_here() -> dict[str, Any]:
    """Return which engine computes for few points and for many, and what is known of numba here.

    `folder` is where numba keeps compiled code; None where it keeps none. `device` is what is known
    of the GPU, with a reason in `why_not` where none can be used.
    """
    from .cuda.availability import device_facts

    installed = find_spec("numba") is not None
    failure, kept = numba_state() if installed else ("numba is not installed", False)
    if not failure and not kept:
        failure = "no folder for compiled code can be written to; set NUMBA_CACHE_DIR"
    folder = None
    if kept:
        from .compiled.order import split_below

        folder = str(split_below.stats.cache_path)
    return {
        "few_points": ScipyEngine.credit.name,
        "many_points": (ScipyEngine if failure else NumbaEngine).credit.name,
        "many_from": REPAYS,
        "numba": library_versions().get("numba"),
        "why_not_numba": failure or None,
        "keeps_compiled_code": kept,
        "folder": folder,
        "device": device_facts(),
    }
