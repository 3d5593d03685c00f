"""How much memory of a GPU an estimate takes, and a refusal before its kernel is made."""

from __future__ import annotations

from ..errors import OutOfMemoryError

#: Bytes per pair of the kernel: a column, and a value, in single precision unless told otherwise.
PER_COLUMN, PER_VALUE = 4, 4
#: Bytes per pair of coarse levels of the solver, sums over cells.
PER_COARSE_PAIR = 3
#: Most pairs that are worked on at a time, and the bytes that each takes then: distances, columns
#: and values in double precision.
PAIRS_ON_DEVICE, PER_PAIR_AT_WORK = 1 << 27, 24
#: Neighbours per point whose distances and numbers are kept for the density, and bytes of each.
LISTED, PER_LISTED = 33, 12
#: Copies of the coordinates, and arrays with one number of 8 bytes per point.
COPIES, ARRAYS = 3, 60
#: Sets of vectors that the solver holds, and columns of each: so many per eigenpair, and more.
BLOCKS, PER_PAIR_OF_THE_SOLVER, EXTRA = 12, 1.2, 12
#: Bytes that the driver and the libraries take, however few the points are.
FIXED = 600_000_000


def device_memory(n_points: int, n_neighbors: int, n_columns: int, n_eigen: int) -> int:
    """Return the bytes on the GPU at the peak."""
    before = n_points * (8 * (COPIES * n_columns + ARRAYS) + LISTED * PER_LISTED)
    return FIXED + before + from_the_kernel_on(n_points, n_neighbors, n_eigen)


def from_the_kernel_on(
    n_points: int, n_neighbors: int, n_eigen: int, per_value: int = PER_VALUE
) -> int:
    """Return the bytes that the kernel and the solver take beside what is there before them."""
    pairs = n_points * n_neighbors
    made = PER_PAIR_AT_WORK * min(pairs, PAIRS_ON_DEVICE)
    # What the kernel is made in is given back before the solver begins.
    return (PER_COLUMN + per_value) * pairs + max(made, of_the_solver(n_points, pairs, n_eigen))


def of_the_solver(n_points: int, n_pairs: int, n_eigen: int) -> int:
    """Return the bytes that the solver takes beside the kernel."""
    columns = PER_PAIR_OF_THE_SOLVER * n_eigen + EXTRA
    return int(PER_COARSE_PAIR * n_pairs + 8 * BLOCKS * n_points * columns)


def refuse_on_device(
    n_points: int, n_neighbors: int, free: int, n_eigen: int = 10, per_value: int = PER_VALUE
) -> None:
    """Raise before the kernel is made, if it and the spectrum would not fit into the free bytes."""
    needed = from_the_kernel_on(n_points, n_neighbors, min(n_eigen, n_points), per_value)
    if needed <= free:
        return
    raise OutOfMemoryError(
        f"The estimate would not fit into the memory of the GPU; received {n_points} points with "
        f"{n_neighbors} neighbours each: about {needed / 1000000000.0:.1f} GB more, where "
        f"{free / 1000000000.0:.1f} GB are free there. Memory grows with points times neighbours, "
        "and all pairs live on the GPU. Pass effort=0.5 (half of it), a random subset of the "
        "points, and new points through the extension, or engine='numba', which has this "
        "machine's memory and disk; vbdm.estimate_memory(..., engine='cuda') tells what an "
        "estimate takes."
    )


def refuse_spectrum(n_points: int, n_neighbors: int, n_eigen: int, free: int | None) -> None:
    """Raise before so many eigenpairs are solved for, if they would not fit into the free bytes.

    None are the free bytes of this machine, where an estimate was refused that leaves too few.
    """
    needed = of_the_solver(n_points, n_points * n_neighbors, n_eigen)
    if free is None or needed <= free:
        return
    raise OutOfMemoryError(
        f"The spectrum would not fit into the memory of the GPU; received {n_eigen} eigenpairs of "
        f"{n_points} points: about {needed / 1000000000.0:.1f} GB more, where "
        f"{free / 1000000000.0:.1f} GB are free there. Ask for fewer, delete results that are "
        "still there, or solve in this machine's memory: op.on_host.spectrum(n)."
    )
