"""Libraries that are optional, and files that they cannot read: the words for both."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import Any

from ..errors import InputError


def need(module: str, path: str | os.PathLike[str], extra: str, doing: str = "Reading") -> Any:
    """Import a library that a file needs, or raise with how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise missing_library(module, path, extra, str(error), doing) from error


def missing_library(
    module: str,
    path: str | os.PathLike[str],
    extra: str,
    why: str = "",
    doing: str = "Reading",
) -> InputError:
    """Return the error that names the install command."""
    library = module.split(".")[0]
    return InputError(
        f"{doing} {Path(path).name!r} needs the library {library}, which cannot be imported here; "
        f"received an import of {module}{(f' ({why})' if why else '')}. Install it with: pip "
        f"install 'vbdm[{extra}]'"
    )


def damaged(
    path: str | os.PathLike[str],
    format: str,
    error: Exception,
    hint: str = "Copy it again, or write it again.",
) -> InputError:
    """Return the error for a file that its library cannot read."""
    words = " ".join(str(error).split())[:200]
    return InputError(
        f"The file cannot be read as {format}; received {Path(path).name!r} "
        f"({type(error).__name__}: {words}). {hint}"
    )
