"""The page of a result: one HTML file that opens anywhere, without a network.

========================  =============================================================
`page`                    the page as text
`write_page`              the page as a file
`citations`               works to cite for a result
`methods_paragraph`       what was done, in sentences for a paper
========================  =============================================================

>>> spectrum = vbdm.estimate_operator(vbdm.datasets.circle(300, random_state=0).points).spectrum(4)
>>> vbdm.report.page(spectrum).startswith("<!doctype html>")
True
"""

from ._page import page, write_page
from .citing import citations, methods_paragraph

__all__ = ["citations", "methods_paragraph", "page", "write_page"]
