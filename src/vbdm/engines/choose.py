"""Which engine computes: by name, or by the number of points."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..base.errors import EngineWarning, InputError, bad_input, warn_user
from ..base.versions import library_versions
from .engine import Engine
from .numba_engine import NumbaEngine
from .scipy_engine import ScipyEngine

#: Fewest points for which compiled code is worth loading.
REPAYS = 20_000
NAMES = ("auto", "scipy", "numba")


def check_engine(engine: Any) -> str:
    """Return the name of an engine, or refuse it."""
    if isinstance(engine, str) and engine in NAMES:
        return engine
    raise bad_input(
        "`engine` must be the name of an engine.",
        received=repr(engine),
        because="It says who computes: NumPy and SciPy, or loops compiled by numba.",
        hint="Choose one of: " + ", ".join(map(repr, NAMES)) + ".",
    )


def chosen_engine(engine: str, n_points: int) -> tuple[Engine, str]:
    """Return the engine for this many points, and the reason in words."""
    name = check_engine(engine)
    if name == "scipy":
        return ScipyEngine(), "chosen by the user"
    if name == "numba":
        return asked_for_numba(), "chosen by the user"
    if n_points < REPAYS:
        return ScipyEngine(), f"{n_points} points: too few for compiled loops to pay"
    if find_spec("numba") is None:
        return ScipyEngine(), "numba is not installed"
    failure, kept = numba_state()
    if failure or not kept:
        why = failure or "it can keep no compiled code: no folder for it can be written to"
        warn_user(
            f"numba is installed but not used ({why}). NumPy and SciPy compute the same, only "
            "slower. Mend the installation, or set NUMBA_CACHE_DIR to a folder of yours; "
            "engine='scipy' silences this.",
            EngineWarning,
        )
        return ScipyEngine(), f"numba cannot be used: {why}"
    return NumbaEngine(), f"{n_points} points: compiled loops pay"


def asked_for_numba() -> Engine:
    """Return the compiled engine; refuse if numba is missing or broken."""
    failure, kept = numba_state()
    if failure:
        raise engine_missing(failure)
    if not kept:
        warn_user(
            "numba can keep no compiled code, so every process compiles anew, which takes some ten "
            "seconds. No folder for it can be written to: set NUMBA_CACHE_DIR to one of "
            "yours.",
            EngineWarning,
        )
    return NumbaEngine()


def engine_missing(failure: str) -> InputError:
    """Return the error for an engine that cannot be loaded."""
    return bad_input(
        "The engine 'numba' cannot be used.",
        received=failure,
        because="It needs the package numba, which is an extra.",
        hint="Install it with: pip install 'vbdm[fast]'; or leave `engine` out.",
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

    `folder` is where numba keeps compiled code; None where it keeps none.
    """
    installed = find_spec("numba") is not None
    failure, kept = numba_state() if installed else ("numba is not installed", False)
    if not failure and not kept:
        failure = "no folder for compiled code can be written to; set NUMBA_CACHE_DIR"
    return {
        "few_points": ScipyEngine.credit.name,
        "many_points": (ScipyEngine if failure else NumbaEngine).credit.name,
        "many_from": REPAYS,
        "numba": library_versions().get("numba"),
        "why_not_numba": failure or None,
        "keeps_compiled_code": kept,
        "folder": folder_of_code() if kept else None,
    }


def folder_of_code() -> str:
    """Return the folder in which numba keeps compiled code."""
    from .compiled.order import split_below

    return str(split_below.stats.cache_path)
