"""Where an estimate runs: engine, precision, place of the rows, search, and what is handed out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..base.parameters import Options
from ..base.versions import ENGINE_NAMES
from ..errors import InputError
from ..placement import ADDRESS, Dask, as_placement
from ..search import NeighborSearch
from ..search.auto import as_search


@dataclass(frozen=True, kw_only=True, repr=False)
class Run(Options):
    """Who computes an estimate, and where its arrays live; the numbers do not depend on it.

    In place of an object with one choice `vbdm.estimate_operator` takes a word for it: "scipy",
    "numba" and "cuda" are engines, "memory", "disk" and "dask" placements.

    Parameters
    ----------
    engine : {"auto", "scipy", "numba", "cuda"}
        Who computes: NumPy and SciPy, loops compiled by numba (``pip install vbdm[fast]``), which
        are faster, or an NVIDIA GPU (``pip install vbdm[cuda]``), faster by far; it takes points
        with Euclidean distances and up to 64 columns. By default the GPU if X lives there, else
        numba from 20,000 points on, if it is installed. All give the same pairs, and the same
        eigenvalues up to rounding.
    precision : {"auto", "single", "double"}
        How kernel values are stored where the pairs are those within reach; single by default,
        which moves eigenvalues by less than 1e-8 of their size. They are computed and summed up in
        double precision. Values on lists are always stored in double precision.
    placement : {"auto", "memory", "disk"}, Dask client, address or `vbdm.placement` object
        Where the rows of large arrays live: in memory, in a scratch file, or on the workers of a
        Dask cluster, by its client or by the address of its scheduler, "tcp://…". By default in
        memory if the estimate fits there, else on disk; of an array of Dask, with the current
        client if there is one; an estimate that needs lists of neighbours stays in memory. Where
        rows live elsewhere, eigenfunctions, density and bandwidth are arrays of Zarr (disk) or Dask
        (cluster). All give the same numbers, up to rounding and the solver's tolerance.
    output : {"numpy", "device"}
        What results are handed out as: NumPy arrays or, if a GPU computes, CuPy arrays that stay
        there. In both cases rows are in the order of X.
    search : {"auto", "kd-tree", "brute", "projected", "pynndescent"} or NeighborSearch, optional
        Who finds the nearest neighbours; by default the fastest exact search (`vbdm.search`). If it
        is brute force, or misses neighbours, its lists are the kernel's pairs, too.

    Examples
    --------
    >>> vbdm.Run(engine="numba", precision="double")
    Run(engine='numba', precision='double')
    """

    engine: str = "auto"
    precision: str = "auto"
    placement: Any = "auto"
    output: str = "numpy"
    search: NeighborSearch | str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        as_placement(self.placement)
        as_search(self.search)

    def __deepcopy__(self, memo: Any) -> Run:
        """Return the object itself: scikit-learn copies parameters, and clients of Dask resist."""
        return self


def as_run(run: Any) -> Run:
    """Return how to run by a name, a placement, a client or its address, or a `Run`.

    Examples
    --------
    >>> as_run("numba"), as_run("disk")
    (Run(engine='numba'), Run(placement='disk'))
    """
    if run is None or isinstance(run, Run):
        return run or Run()
    if isinstance(run, str) and run in ENGINE_NAMES[1:]:
        return Run(engine=run)
    if isinstance(run, str) and run == "dask":
        return Run(placement=Dask())
    if not isinstance(run, str) or run in ("memory", "disk") or ADDRESS.fullmatch(run):
        return Run(placement=run)
    raise InputError(
        f"`run` says where the estimate runs; received {run!r:.80}. Pass 'scipy', 'numba', 'cuda', "
        "'memory', 'disk', 'dask', a client of Dask, or vbdm.Run(…)."
    )
