"""How much memory an estimate will take, before it is made."""

from __future__ import annotations

from .arrays import check_count

#: Bytes per listed pair: its index and distance (12), the kernel within its reach (about 9), and
#: the kernel's sums over cells in the solver (about 4).
PER_PAIR = 25
#: Blocks of vectors that the solver holds at a time, and columns in each beyond those asked for.
BLOCKS, EXTRA = 8, 16
#: Copies of the coordinates, and arrays with one number per point.
COPIES, ARRAYS = 4, 16


def estimate_memory(n_points: int, n_neighbors: int, n_columns: int = 3, n_eigen: int = 10) -> int:
    """Return the bytes that an operator and its spectrum take at the peak, to within 30 %.

    Parameters
    ----------
    n_points : int
        N.
    n_neighbors : int
        k, as in `op.n_neighbors`. The resolved method's k grows like N^{1/4}.
    n_columns : int
        Coordinates of each point.
    n_eigen : int
        How many eigenpairs are sought.

    Notes
    -----
    What the interpreter and the libraries take (some 150 MB) comes on top. Calibrated on the
    peaks that `benchmarks/speed.py` measures.

    Examples
    --------
    >>> round(estimate_memory(100_000, 374, n_columns=2) / 1e9, 1)
    1.1
    """
    N = check_count(n_points, "n_points", low=1, high=2**40)
    k = check_count(n_neighbors, "n_neighbors", low=1, high=N)
    columns = check_count(n_columns, "n_columns", low=1, high=2**40)
    n = check_count(n_eigen, "n_eigen", low=1, high=N)
    per_point = 8 * (BLOCKS * (n + EXTRA) + COPIES * columns + ARRAYS)
    return N * (PER_PAIR * k + per_point)
