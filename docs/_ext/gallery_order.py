"""The order of the examples: as the gallery's first page names them, others behind."""

from __future__ import annotations

import re
from pathlib import Path

HEADER = Path(__file__).parents[2] / "examples" / "GALLERY_HEADER.rst"


class ReadingOrder:
    """Sort scripts by where the header mentions them."""

    def __init__(self, folder: str) -> None:
        """Read the header; there is one folder of examples."""
        self.names = re.findall(r"plot_\w+?\.py", HEADER.read_text(encoding="utf-8"))

    def __call__(self, name: str) -> tuple[int, str]:
        """Return the key of a script."""
        known = name in self.names
        return (self.names.index(name) if known else len(self.names), name)

    def __repr__(self) -> str:
        """Say the same in every run: Sphinx builds everything anew if this changes."""
        return "<ReadingOrder>"
