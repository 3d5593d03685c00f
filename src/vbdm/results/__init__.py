"""The results folder: everything about one estimate, written whole or not at all.

==================  ===================================================================
`model.vbdm`        the spectrum with its operator; `vbdm.load` gives it back
`results.npz`       eigenvalues, eigenfunctions, errors, density, … as plain arrays; `results.zarr`
                    where rows live in blocks
`results.json`      settings, what was decided, eigenvalues, findings, versions, the input
`figures/`          an overview as a picture (with matplotlib)
`report.html`       one page to look at, offline
`equations.json`    what was asked later (`vbdm committor`, …), with a table and a picture each
==================  ===================================================================

`write_results` makes such a folder, `load_results` reads it, and ``vbdm fit FILE`` does it all.
"""

from .folder import check_folder, is_results_folder
from .reading import Results, load_results, read_summary
from .summary import Origin
from .writing import can_draw, save_picture, write_arrays, write_report, write_results

__all__ = [
    "Origin",
    "Results",
    "can_draw",
    "check_folder",
    "is_results_folder",
    "load_results",
    "read_summary",
    "save_picture",
    "write_arrays",
    "write_report",
    "write_results",
]
