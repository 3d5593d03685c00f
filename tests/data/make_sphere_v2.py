"""Make sphere-v2.vbdm, a model in version 2 of the file format: python tests/data/make_sphere_v2.py

It was made once. `tests/io/test_file_format.py` has its numbers, and sees to it that later
versions of vbdm still read it: do not make it again, but a file of its own for another version.
"""

import sys
import warnings
from pathlib import Path

import vbdm


def main(path):
    """Estimate the Laplacian from 60 points of the sphere, and save three eigenpairs."""
    warnings.simplefilter("ignore", vbdm.VbdmWarning)
    points = vbdm.datasets.sphere(60, random_state=0).points
    op = vbdm.estimate_operator(points, "laplacian", n_neighbors=30)
    vbdm.save(op.spectrum(3), path, notes={"made by": "tests/data/make_sphere_v2.py"})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).with_name("sphere-v2.vbdm"))
