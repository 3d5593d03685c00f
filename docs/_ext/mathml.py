"""Formulas as MathML, made when the pages are built: browsers draw it without script or font."""

from __future__ import annotations

from docutils.nodes import SkipNode
from latex2mathml.converter import convert


def visit_inline(self, node):
    """Write a formula inside a line."""
    self.body.append(convert(node.astext(), display="inline"))
    raise SkipNode


def visit_block(self, node):
    """Write a formula on a line of its own, with an anchor if it has a label."""
    anchor = f' id="{node["ids"][0]}"' if node["ids"] else ""
    formula = convert(node.astext().strip(), display="block")
    self.body.append(f'<div class="formula"{anchor}>{formula}</div>\n')
    raise SkipNode


def setup(app):
    """Make `mathml` known as a way to render mathematics."""
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
