"""The declared minimum versions, which `make test-minimum` installs together."""

import subprocess
import sys
from pathlib import Path

from tests.minima import minima

MINIMA = Path(__file__).parents[1] / "minima.py"
PROJECT = {
    "dependencies": ["numpy>=1.26"],
    "optional-dependencies": {
        "zarr": ["zarr>=3.1"],
        "files": ["vbdm[zarr]"],
        "test": ["pytest>=8", "pandas>=2.2"],
        "docs": ["sphinx>=8"],
    },
}


def test_libraries_are_taken_and_tools_are_not():
    assert minima(PROJECT) == {"numpy": "1.26", "zarr": "3.1", "pandas": "2.2"}


def test_every_library_of_the_project_has_one():
    printed = subprocess.run(
        [sys.executable, "-P", MINIMA], capture_output=True, text=True, check=True
    )
    names = {line.partition("==")[0] for line in printed.stdout.splitlines() if "==" in line}
    assert names >= {"numpy", "scipy", "scikit-learn", "threadpoolctl", "click", "numba"}
    assert names >= {"matplotlib", "pyarrow", "h5py", "zarr", "xarray", "netCDF4", "anndata"}
    assert names >= {"mdtraj", "pynndescent", "pandas"}
