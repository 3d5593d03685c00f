"""How Sphinx builds the documentation: offline, and with every warning taken seriously."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

# The gallery runs the examples: pictures go to files, and one thread each is fastest here.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

import matplotlib  # noqa: E402

import vbdm  # noqa: E402

matplotlib.use("Agg")
# Examples show the named warnings in words where they matter.
warnings.filterwarnings("ignore", category=vbdm.VbdmWarning)

project = "vbdm"
author = "the vbdm developers"
copyright = author
version = release = vbdm.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "produced",
]
exclude_patterns = ["_build", "claims.md"]
templates_path = ["_templates"]
nitpicky = True
# A name in single backticks in a docstring is code, and a link where there is something to link to.
default_role = "py:obj"
nitpick_ignore_regex = [("py:obj", ".*")]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_attributes_as_param_list = True

# `sphinx-build -D plot_gallery=0` builds the pages without running the examples.
sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"plot_",
    "within_subsection_order": "gallery_order.ReadingOrder",
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1_000_000,
    "doc_module": ("vbdm",),
}

html_theme = "pydata_sphinx_theme"
html_title = "vbdm"
html_static_path = ["_static"]
html_css_files = ["vbdm.css"]
# Pages without others below them need no list of these.
html_sidebars = {name: [] for name in ("index", "paper", "changelog")}
html_show_sourcelink = False
html_copy_source = False
html_math_renderer = "mathml"
html_theme_options = {
    "show_prev_next": True,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": [],
    "logo": {"text": "vbdm"},
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
