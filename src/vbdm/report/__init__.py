"""The page of a result: one HTML file that opens anywhere, without a network.

========================  =============================================================
`page`                    the page as text
`write_page`              the page as a file
`sensitivity`             the eigenpairs at several ε around the chosen one, for its slider
========================  =============================================================

>>> spectrum = vbdm.estimate_operator(vbdm.datasets.circle(300, random_state=0).points).spectrum(4)
>>> vbdm.report.page(spectrum).startswith("<!doctype html>")
True
"""

from ..trust.sensitivity import Sensitivity, sensitivity, why_no_sensitivity
from ._page import page, write_page

__all__ = ["Sensitivity", "page", "sensitivity", "why_no_sensitivity", "write_page"]
