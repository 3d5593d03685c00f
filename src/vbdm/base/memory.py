"""How much memory an estimate will take, and a refusal before it starts if there is too little."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import OutOfMemoryError
from .checks import check_choice, check_count
from .device_memory import PER_VALUE, device_memory, refuse_on_device
from .names import ENGINE_NAMES

#: Bytes per pair within reach: 8 for an entry of the kernel, and about 3.5 for the sums over cells
#: in the solver.
PER_PAIR = 11.5
#: Bytes per entry of neighbour lists, where these are the kernel's pairs: 12 for an entry of the
#: kernel, of which two thirds lie within its reach, and the sums over cells.
PER_LISTED_PAIR = 13
#: The same where the distances are kept as well.
PER_KEPT_PAIR = PER_LISTED_PAIR + 8
#: Bytes per pair of the longest lists, which many dimensions need: neighbours and distances, which
#: are kept up to 10⁴ points, an entry of the kernel, and the sums over cells, as many as the pairs
#: there; compiled loops store these in single precision.
PER_LIST_ENTRY, PER_DISTANCE, PER_ENTRY, PER_SUM, PER_COMPILED_SUM = 4, 8, 12, 46, 50
#: Most pairs per point that are found by reach, and most columns for which there is a tree.
MOST_BY_REACH, TREE_COLUMNS = 1024, 64
#: Numbers of points from which lists are given up, and from which loops are compiled.
LISTS_GIVEN_UP, COMPILED = 10_000, 20_000
#: Fewest pairs per point of large clouds, those of a curve, at effort 1.
FEWEST_PAIRS = 75
#: Rows that are sampled for the choice of ε, and the bytes that each pair of theirs takes on lists.
SAMPLED_ROWS, PER_SAMPLED_PAIR = 4000, 48
#: Where pairs are found by reach: how many times as long as the mean row the sampled ones are, the
#: bytes per pair while they are made, and those that are kept.
LONGER, PER_PAIR_AT_FIRST, PER_PAIR_KEPT = 4, 24, 8
#: Bytes per pair that pieces take which are solved apart: each has its own copy of them.
PER_COPIED_PAIR = 22
#: Arrays of vectors that the solver holds at a time, and columns in each beyond the n asked for.
BLOCKS, EXTRA = 10, 8
#: Copies of the coordinates, arrays with one number per point, and bytes of what is left.
COPIES, ARRAYS, LEAST = 4, 12, 5_000_000
#: The same where rows live on disk: there are fewer vectors at a time, and coarse levels of the
#: solver take so many columns per point. Fitted to peaks at 10⁵ to 10⁶ points.
BLOCKS_BESIDE, EXTRA_BESIDE, ARRAYS_BESIDE, COARSE = 4.8, 14, 20, 1.7
#: Bytes per pair in the scratch file, and sets of vectors there; fitted alike.
PER_PAIR_ON_DISK, BLOCKS_ON_DISK = 8.5, 6.8
#: Points per block on disk, where nobody says how many blocks: one block's pairs are worked on at
#: a time, in some 100 MB.
POINTS_PER_BLOCK = 60_000
#: Bytes per pair while a block of the kernel is made, and while blocks become one matrix.
PER_MADE_PAIR, PER_MERGED_PAIR = 14, 60
#: Up to this many columns, distances are computed again when needed instead of being kept: that
#: takes a few nanoseconds and saves 8 bytes per pair.
MEASURED_COLUMNS = 16


def estimate_memory(
    n_points: int,
    n_neighbors: int,
    n_columns: int = 3,
    n_eigen: int = 10,
    *,
    n_distinct: int | None = None,
    n_pieces: int = 1,
    placement: str = "memory",
    n_blocks: int | None = None,
    engine: str = "auto",
) -> int:
    """Return the bytes that an operator and its spectrum take at the peak, to within 30 %.

    That is so from 10,000 points on; fewer may take less than half.

    Parameters
    ----------
    n_points : int
        Number of points N.
    n_neighbors : int
        Mean number of pairs per point, as in `op.n_neighbors`. The default grows with N; from 10⁴
        points on it is about 75 on curves, 96 on surfaces and 150 in three dimensions, times
        `effort`.
    n_columns : int
        Number of coordinates of each point.
    n_eigen : int
        Number of eigenpairs.
    n_distinct : int, optional
        Number of different points, where some occur several times: copies are merged.
    n_pieces : int
        Number of pieces that are not connected, as in `spectrum.pieces`.
    placement : {"memory", "disk"}
        Where the rows of large arrays live; what they take on disk, `estimate_disk` tells.
    n_blocks : int, optional
        Number of blocks on disk; by default one for every 60,000 points.
    engine : {"auto", "scipy", "numba", "cuda"}
        Who computes; of "cuda" these are the bytes in the memory of the GPU, where
        ``precision="double"`` takes 4 more per pair.

    Notes
    -----
    This is for pairs within reach, in single precision, some 11 bytes each. More than 1,024 per
    point, or more than 64 columns, mean lists of neighbours, with 60 to 110 bytes per entry;
    shorter lists that were asked for take 13, and 8 more in more than 16 columns. The interpreter
    and the libraries take some 150 MB on top. The constants were fitted to the peaks that
    `benchmarks/speed.py` and `benchmarks/memory.py` measure.

    Examples
    --------
    >>> round(estimate_memory(1_000_000, 96, n_columns=2) / 1e9, 1)
    2.7
    >>> round(estimate_memory(1_000_000, 96, n_columns=2, engine="cuda") / 1e9, 1)
    4.9
    """
    N = check_count(n_points, "n_points", low=1, high=2**40)
    if n_distinct is not None:
        N = check_count(n_distinct, "n_distinct", low=1, high=N)
    n_neighbors = check_count(n_neighbors, "n_neighbors", low=1, high=N)
    n_columns = check_count(n_columns, "n_columns", low=1, high=2**40)
    on_disk = check_choice(placement, "placement", ("memory", "disk")) == "disk"
    if check_choice(engine, "engine", ENGINE_NAMES) == "cuda":
        return device_memory(
            N, n_neighbors, n_columns, check_count(n_eigen, "n_eigen", low=1, high=N)
        )
    if on_disk:
        return memory_beside(N, n_neighbors, n_columns, n_eigen, n_blocks)
    per_pair = bytes_per_pair(N, n_neighbors, n_columns)
    if check_count(n_pieces, "n_pieces", low=1, high=N) > 1:
        per_pair += PER_COPIED_PAIR
    return memory_taken(N, n_neighbors, n_columns, n_eigen, per_pair)


def memory_beside(
    n_points: int, n_neighbors: int, n_columns: int, n_eigen: int, n_blocks: int | None = None
) -> int:
    """Return the bytes in memory at the peak where rows live on disk.

    These are the points and what has one number per point, the coarse levels of the solver, and one
    block.
    """
    n = check_count(n_eigen, "n_eigen", low=1, high=n_points) + EXTRA_BESIDE
    usual = -(-n_points // POINTS_PER_BLOCK)
    blocks = usual if n_blocks is None else check_count(n_blocks, "n_blocks", low=1, high=n_points)
    per_point = 8 * (ARRAYS_BESIDE + COPIES * n_columns + COARSE * n)
    block = n_points / blocks * (PER_MADE_PAIR * n_neighbors + 8 * BLOCKS_BESIDE * n)
    return int(n_points * per_point + block)


def estimate_disk(n_points: int, n_neighbors: int, n_columns: int = 3, n_eigen: int = 10) -> int:
    """Return the bytes of the scratch file where rows live on disk, to within 30 %.

    Parameters
    ----------
    n_points : int
        Number of points N.
    n_neighbors : int
        Mean number of pairs per point, as in `estimate_memory`.
    n_columns : int
        Number of coordinates of each point, which are on disk, too, if they come from a file.
    n_eigen : int
        Number of eigenpairs.

    Examples
    --------
    >>> round(estimate_disk(1_000_000, 96, n_columns=2) / 1e9, 1)
    2.1
    """
    N = check_count(n_points, "n_points", low=1, high=2**40)
    k = check_count(n_neighbors, "n_neighbors", low=1, high=N)
    columns = check_count(n_columns, "n_columns", low=1, high=2**40)
    n = check_count(n_eigen, "n_eigen", low=1, high=N) + EXTRA_BESIDE
    return int(N * (PER_PAIR_ON_DISK * k + 8 * (BLOCKS_ON_DISK * n + columns)))


def bytes_per_pair(n_points: int, n_neighbors: int, n_columns: int) -> float:
    """Return the bytes per pair of a kernel: by reach, or on lists where these are needed."""
    if n_neighbors <= MOST_BY_REACH and n_columns <= TREE_COLUMNS:
        return PER_PAIR
    kept = PER_LIST_ENTRY + PER_DISTANCE * (n_columns > MEASURED_COLUMNS)
    solver = PER_SUM if n_points < COMPILED else PER_COMPILED_SUM
    sampled = PER_SAMPLED_PAIR * min(SAMPLED_ROWS, n_points) / n_points
    return PER_ENTRY + solver + sampled + (kept if n_points <= LISTS_GIVEN_UP else 0)


def memory_taken(
    n_points: int, n_neighbors: int, n_columns: int, n_eigen: int, per_pair: float
) -> int:
    """Return the bytes at the peak, given the bytes per pair: in the solver, or before it."""
    N = check_count(n_points, "n_points", low=1, high=2**40)
    k = check_count(n_neighbors, "n_neighbors", low=1, high=N)
    columns = check_count(n_columns, "n_columns", low=1, high=2**40)
    n = check_count(n_eigen, "n_eigen", low=1, high=N)
    per_point = 8 * (BLOCKS * (n + EXTRA) + COPIES * columns + ARRAYS)
    sampled = min(SAMPLED_ROWS, N) * min(LONGER * k, MOST_BY_REACH, N)
    solver = N * (per_pair * k + per_point) + PER_PAIR_KEPT * sampled
    return LEAST + int(max(solver, PER_PAIR_AT_FIRST * sampled))


def refuse_if_too_large(
    n_points: int,
    n_neighbors: int,
    n_columns: int,
    per_pair: float | None = None,
    available: int | None = None,
) -> None:
    """Raise before the search if operator and spectrum would not fit into the free memory.

    `per_pair` are the bytes per pair; by default those of lists. `available` are the free bytes
    where the arrays are to live; by default those of this machine.

    Raises
    ------
    OutOfMemoryError
        The message says how much is needed, how much is free, and what to try.
    """
    needed = memory_needed(n_points, n_neighbors, n_columns, per_pair)
    free = available_memory() if available is None else available
    if free is None or needed <= free:
        return
    where = "memory" if available is None else "the memory of the GPU"
    raise OutOfMemoryError(
        f"The estimate would not fit into {where}; received {n_points} points with {n_neighbors} "
        f"neighbours each: about {needed / 1e9:.1f} GB, where {free / 1e9:.1f} GB are free. "
        "Memory grows with points times neighbours. Pass effort=0.5 (half of it), a smaller "
        "`n_neighbors`, or a random subset of the points, and new points through the extension; "
        "vbdm.estimate_memory tells what an estimate takes."
    )


def memory_needed(
    n_points: int, n_neighbors: int, n_columns: int, per_pair: float | None = None
) -> int:
    """Return the bytes of operator and spectrum; `per_pair` are by default those of lists."""
    if per_pair is None:
        listed = PER_LISTED_PAIR if n_columns <= MEASURED_COLUMNS else PER_KEPT_PAIR
        per_pair = max(listed, bytes_per_pair(n_points, n_neighbors, n_columns))
    return memory_taken(n_points, n_neighbors, n_columns, min(10, n_points), per_pair)


def memory_at_least(n_points: int, n_columns: int, effort: float = 1.0) -> int:
    """Return the bytes that operator and spectrum take at least, in whatever dimension."""
    pairs = min(n_points, max(1, int(effort * FEWEST_PAIRS)))
    return memory_taken(n_points, pairs, n_columns, min(10, n_points), PER_PAIR)


def lists_fit(n_points: int, n_neighbors: int, n_columns: int) -> bool:
    """Tell whether lists of this length, with operator and spectrum, fit into the free memory."""
    free = available_memory()
    return free is None or memory_needed(n_points, n_neighbors, n_columns) <= free


def available_memory() -> int | None:
    """Return the bytes that are free for this process, or None if the system does not say."""
    known = [free for free in (free_in_system(), free_in_group()) if free is not None]
    return min(known, default=None)


def free_in_system(table: str = "/proc/meminfo") -> int | None:
    """Return the free bytes that Linux lists in `table`; on other systems, the whole memory."""
    try:
        for line in Path(table).read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        return int(os.sysconf("SC_PAGE_SIZE")) * int(os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return None


def free_in_group(folder: str = "/sys/fs/cgroup") -> int | None:
    """Return the bytes left below a container's memory limit (cgroup), or None without a limit."""
    try:
        limit = int(Path(folder, "memory.max").read_text())
        used = int(Path(folder, "memory.current").read_text())
        cached = 0
        for line in Path(folder, "memory.stat").read_text().splitlines():
            if line.startswith("inactive_file "):
                cached = int(line.split()[1])  # cached file pages, dropped on demand
    except (OSError, ValueError, IndexError):
        return None
    return max(0, limit - used + cached)


def refuse_pairs(
    n_points: int,
    n_pairs: int,
    n_columns: int,
    available: int | None = None,
    per_value: int = PER_VALUE,
) -> None:
    """Raise before the pairs within reach are stored, if they and the spectrum would not fit.

    `available` are the free bytes of a device on which they are to live, with values of so many
    bytes each.
    """
    mean = max(1, -(-n_pairs // n_points))
    if available is None:
        refuse_if_too_large(n_points, mean, n_columns, PER_PAIR)
    else:
        refuse_on_device(n_points, mean, available, per_value=per_value)


def refuse_block(n_pairs: int) -> None:
    """Raise before the pairs of one block are stored, if they would not fit while it is made."""
    refuse_many(
        n_pairs, PER_MADE_PAIR, "A block",
        "Memory for one block is needed at a time. Pass more `blocks`, for example "
        "vbdm.placement.Disk(blocks=64), or effort=0.5.",
    )  # fmt: skip


def refuse_merging(n_pairs: int) -> None:
    """Raise before all blocks of a matrix are fetched, if they would not fit into memory."""
    refuse_many(
        n_pairs, PER_MERGED_PAIR, "The whole matrix",
        "Its rows live in blocks for this reason. `op.apply` and `op.spectrum` work on these: use "
        "them instead, or estimate from a random subset of the points.",
    )  # fmt: skip


def refuse_many(n_pairs: int, bytes_each: int, what: str, advice: str) -> None:
    """Raise if so many pairs would not fit into the free memory."""
    free, needed = available_memory(), bytes_each * n_pairs
    if free is not None and needed > free:
        raise OutOfMemoryError(
            f"{what} would not fit into memory; received {n_pairs:,} pairs of points: about "
            f"{needed / 1e9:.3g} GB, where {free / 1e9:.1f} GB are free. {advice}"
        )


def give_back() -> None:
    """Give memory that was freed back to the system, where the C library keeps it (Linux).

    Blocks that threads worked on are too small to go back by themselves, and would count at the
    peak.
    """
    trim = getattr(c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


@cache
def c_library() -> Any:
    """Return the C library of this process, or None where there is none to be found."""
    try:
        return ctypes.CDLL(None) if sys.platform == "linux" else None
    except OSError:
        return None


def refuse_array(n_numbers: int, what: str, bytes_each: int = 8) -> None:
    """Raise before an array is made, if it would not fit into the free memory.

    A small file may declare an array of any size.

    Parameters
    ----------
    n_numbers : int
        Number of entries.
    what : str
        Name of the array in the message, such as "The dataset 'a/b'".
    bytes_each : int
        Bytes per entry.
    """
    free, needed = available_memory(), n_numbers * bytes_each
    if free is None or needed <= free:
        return
    raise OutOfMemoryError(
        f"{what} would not fit into memory; received {n_numbers:,} numbers, about "
        f"{needed / 1e9:.3g} GB, where {free / 1e9:.1f} GB are free. Either it is too large for "
        "this machine, or the file is damaged. Try fewer columns, or thin the file first."
    )


def free_on_disk(folder: Any = None) -> int:
    """Return the free bytes of a folder's disk; by default, of the folder for temporary files."""
    return shutil.disk_usage(tempfile.gettempdir() if folder is None else folder).free
