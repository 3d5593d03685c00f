"""Names that both the library and the command know; it loads nothing, as the command begins so."""

from __future__ import annotations

#: What `engine` takes.
ENGINE_NAMES = ("auto", "scipy", "numba", "cuda")
