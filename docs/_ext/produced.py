"""Show what a command has produced; where it has not been run, warn and say which command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from docutils.parsers.rst import directives
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)


class Produced(SphinxDirective):
    """Include a page or a picture, if it is there: ``{produced} claims.md`` with ``:by:``."""

    required_arguments = 1
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "by": directives.unchanged_required,
        "alt": directives.unchanged,
    }

    def run(self):
        """Return the picture with its caption, or the page's contents."""
        name = self.arguments[0]
        path = Path(self.env.srcdir, name)
        self.env.note_dependency(str(path))
        if not path.exists():
            logger.warning(
                "%s has not been made: run %s",
                name,
                self.options["by"],
                location=self.get_location(),
            )
            return []
        if path.suffix == ".md":
            # The page that includes it has a heading already, and its own sections.
            text = re.sub(r"\A# .*\n", "", path.read_text(encoding="utf-8"))
            text = re.sub(r"^## ", "### ", text, flags=re.MULTILINE)
            return self.parse_text_to_nodes(text, allow_section_headings=True)
        picture = f"```{{figure}} /{name}\n:alt: {self.options.get('alt', path.stem)}\n\n"
        return self.parse_text_to_nodes(picture + "\n".join(self.content) + "\n```")


def setup(app):
    """Make the directive known."""
    app.add_directive("produced", Produced)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
