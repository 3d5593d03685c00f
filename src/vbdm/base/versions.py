"""The version of this package and of the libraries under it, and names of engines."""

from __future__ import annotations

from functools import cache

__version__ = "0.1.0.dev0"

#: What `engine` takes.
ENGINE_NAMES = ("auto", "scipy", "numba", "cuda")
#: Names under which CuPy is installed.
CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")
#: Libraries whose versions are recorded with a result, by their names in pip.
LIBRARIES = (
    "numpy", "scipy", "scikit-learn", "threadpoolctl", "numba", *CUPY, "pynndescent", "matplotlib",
)  # fmt: skip


@cache
def library_versions() -> dict[str, str]:
    """Return the versions of Python and of each of the `LIBRARIES` that is installed.

    Examples
    --------
    >>> found = library_versions()
    >>> list(found)[:3], found["numpy"] == np.__version__
    (['python', 'numpy', 'scipy'], True)
    """
    # Imported here, so that ``import vbdm`` stays quick.
    import platform
    from importlib.metadata import PackageNotFoundError, version

    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
