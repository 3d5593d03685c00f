"""How much memory an estimate will take, and a refusal before it starts if there is too little."""

from __future__ import annotations

import ctypes
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ..errors import OutOfMemoryError
from .checks import a_count, check_choice
from .versions import ENGINE_NAMES


class Cost(NamedTuple):
    """Bytes at a peak, fitted to what `benchmarks/speed.py` and `benchmarks/memory.py` measured."""

    # Bytes per pair; numbers of 8 bytes per point, per coordinate of a point, and per column of
    # vectors, of which there are so many more than eigenpairs; bytes however few the points are.
    pair: float = 0.0
    number: float = 0.0
    coordinate: float = 0.0
    vector: float = 0.0
    extra: float = 0.0
    fixed: float = 0.0

    def bytes(self, N: float, n_neighbors: float, n_columns: int = 0, n_eigen: int = 0) -> int:
        """Return the bytes for so many points, pairs per point, coordinates and eigenpairs."""
        numbers = self.number + self.coordinate * n_columns + self.vector * (n_eigen + self.extra)
        return int(self.fixed + N * (self.pair * n_neighbors + 8 * numbers))


#: In memory, with pairs within reach: 8 bytes for an entry of the kernel, and some 3.5 for the sums
#: over cells in the solver.
IN_MEMORY = Cost(pair=11.5, number=12, coordinate=4, vector=10, extra=8, fixed=5e6)
#: Beside rows on disk: what has one number per point, and the coarse levels of the solver; of the
#: block that is worked on; in the scratch file.
BESIDE_DISK = Cost(number=20, coordinate=4, vector=1.7, extra=14)
IN_BLOCK = Cost(pair=14, vector=4.8, extra=14)
ON_DISK = Cost(pair=8.5, coordinate=1, vector=6.8, extra=14)
#: On a GPU: what is there before the kernel, with the driver and lists of 33 neighbours; the
#: solver, beside a kernel whose columns take 4 bytes per pair and its values as many.
ON_GPU = Cost(number=109.5, coordinate=3, fixed=6e8)
GPU_SOLVER = Cost(pair=3, vector=14.4, extra=10)
PER_COLUMN, PER_VALUE = 4, 4
#: Most pairs that a GPU works on at a time, and the bytes that each takes then: distances, columns
#: and values in double precision.
PAIRS_ON_DEVICE, PER_PAIR_AT_WORK = 1 << 27, 24
#: Bytes per entry of lists that were asked for, 12 for an entry of the kernel and the sums over
#: cells, and of distances that are kept; up to so many columns they are computed again when needed,
#: which takes a few nanoseconds.
PER_LISTED_PAIR, PER_KEPT_DISTANCE, MEASURED_COLUMNS = 13, 8, 16
#: Most pairs per point that are found by reach, and most columns for which there is a tree. Beyond
#: are the longest lists: bytes per entry, and those of entries of the rows that are sampled and of
#: distances that are kept, over so many points, but at most so many.
MOST_BY_REACH, TREE_COLUMNS = 1024, 64
PER_LONG_PAIR, SAMPLED_LISTS, MOST_SAMPLED = 62, 270_000, 56
#: Rows that are sampled for ε; by reach they are so many times longer than the mean row.
SAMPLED_ROWS, LONGER = 4000, 4
#: Bytes per pair of copies that pieces take which are solved apart, and while blocks become one.
PER_COPIED_PAIR, PER_MERGED_PAIR = 22, 60
#: Fewest pairs per point of large clouds, those of a curve, at effort 1.
FEWEST_PAIRS = 75
#: Points per block on disk, where nobody says how many blocks: one block's pairs are worked on at
#: a time, in some 100 MB.
POINTS_PER_BLOCK = 60_000


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

    That is so from 10,000 points on; fewer may take less than half. The interpreter and the
    libraries take some 150 MB on top.

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
        ``vbdm.Run(precision="double")`` takes 4 more per pair.

    Examples
    --------
    >>> round(estimate_memory(1_000_000, 96, n_columns=2) / 1e9, 1)
    2.7
    >>> round(estimate_memory(1_000_000, 96, n_columns=2, engine="cuda") / 1e9, 1)
    4.9
    """
    N = a_count()(n_points, "n_points")
    if n_distinct is not None:
        N = a_count(1, N)(n_distinct, "n_distinct")
    sizes = checked_sizes(N, n_neighbors, n_columns, n_eigen)
    a_count(1, N)(n_pieces, "n_pieces")
    if check_choice(placement, "placement", ("memory", "disk")) == "disk":
        blocks = -(-N // POINTS_PER_BLOCK)
        if n_blocks is not None:
            blocks = a_count(1, N)(n_blocks, "n_blocks")
        return BESIDE_DISK.bytes(*sizes) + IN_BLOCK.bytes(N / blocks, *sizes[1:])
    if check_choice(engine, "engine", ENGINE_NAMES) == "cuda":
        return ON_GPU.bytes(*sizes) + kernel_on_device(N, sizes[1], sizes[3])
    per_pair = bytes_per_pair(*sizes[:3]) + PER_COPIED_PAIR * (n_pieces > 1)
    return bytes_in_memory(*sizes, per_pair)


def estimate_disk(n_points: int, n_neighbors: int, n_columns: int = 3, n_eigen: int = 10) -> int:
    """Return the bytes of the scratch file where rows live on disk, to within 30 %.

    The arguments are those of `estimate_memory`.

    Examples
    --------
    >>> round(estimate_disk(1_000_000, 96, n_columns=2) / 1e9, 1)
    2.1
    """
    N = a_count()(n_points, "n_points")
    return ON_DISK.bytes(*checked_sizes(N, n_neighbors, n_columns, n_eigen))


def checked_sizes(N: int, k: Any, n_columns: Any, n_eigen: Any) -> tuple[int, int, int, int]:
    """Return the arguments of the estimates as whole numbers within their bounds."""
    few = a_count(1, N)
    columns = a_count()(n_columns, "n_columns")
    return N, few(k, "n_neighbors"), columns, few(n_eigen, "n_eigen")


def bytes_per_pair(n_points: int, n_neighbors: int, n_columns: int) -> float:
    """Return the bytes per pair of a kernel: by reach, or on lists where these are needed."""
    if n_neighbors <= MOST_BY_REACH and n_columns <= TREE_COLUMNS:
        return IN_MEMORY.pair
    return PER_LONG_PAIR + min(SAMPLED_LISTS / n_points, MOST_SAMPLED)


def bytes_in_memory(
    n_points: int, n_neighbors: int, n_columns: int, n_eigen: int, per_pair: float
) -> int:
    """Return the bytes at the peak, given the bytes per pair."""
    sampled = min(SAMPLED_ROWS, n_points) * min(LONGER * n_neighbors, MOST_BY_REACH, n_points)
    cost = IN_MEMORY._replace(pair=per_pair)
    return cost.bytes(n_points, n_neighbors, n_columns, n_eigen) + 8 * sampled


def bytes_of_lists(n_points: int, n_neighbors: int, n_columns: int) -> int:
    """Return the bytes of operator and spectrum with lists of neighbours."""
    listed = PER_LISTED_PAIR + PER_KEPT_DISTANCE * (n_columns > MEASURED_COLUMNS)
    per_pair = max(listed, bytes_per_pair(n_points, n_neighbors, n_columns))
    return bytes_in_memory(n_points, n_neighbors, n_columns, min(10, n_points), per_pair)


def memory_at_least(n_points: int, n_columns: int, effort: float = 1.0) -> int:
    """Return the bytes that operator and spectrum take at least, in whatever dimension."""
    pairs = min(n_points, max(1, int(effort * FEWEST_PAIRS)))
    return bytes_in_memory(n_points, pairs, n_columns, min(10, n_points), IN_MEMORY.pair)


def kernel_on_device(
    n_points: int, n_neighbors: int, n_eigen: int, per_value: int = PER_VALUE
) -> int:
    """Return the bytes that kernel and solver take on a GPU beside what is there before them."""
    pairs = n_points * n_neighbors
    made = PER_PAIR_AT_WORK * min(pairs, PAIRS_ON_DEVICE)
    # What the kernel is made in is given back before the solver begins.
    solver = GPU_SOLVER.bytes(n_points, n_neighbors, n_eigen=n_eigen)
    return (PER_COLUMN + per_value) * pairs + max(made, solver)


def lists_fit(n_points: int, n_neighbors: int, n_columns: int) -> bool:
    """Tell whether lists of this length, with operator and spectrum, fit into the free memory."""
    free = available_memory()
    return free is None or bytes_of_lists(n_points, n_neighbors, n_columns) <= free


def refuse(needed: float, free: int | None, what: str, received: str, advice: str) -> None:
    """Raise an `OutOfMemoryError` if more bytes are needed than are free, as far as is known."""
    if free is not None and needed > free:
        raise OutOfMemoryError(
            f"{what}; received {received}: about {needed / 1e9:.3g} GB, where {free / 1e9:.1f} GB "
            f"are free. {advice}"
        )


def refuse_lists(
    n_points: int, n_neighbors: int, n_columns: int, available: int | None = None
) -> None:
    """Raise before the search if lists, operator and spectrum would not fit into the free memory.

    `available` are the free bytes of a device on which they are to live.
    """
    needed = bytes_of_lists(n_points, n_neighbors, n_columns)
    refuse_estimate(needed, n_points, n_neighbors, available)


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
    k, n = max(1, -(-n_pairs // n_points)), min(10, n_points)
    if available is None:
        needed = bytes_in_memory(n_points, k, n_columns, n, IN_MEMORY.pair)
    else:
        needed = kernel_on_device(n_points, k, n, per_value)
    refuse_estimate(needed, n_points, k, available)


def refuse_estimate(needed: int, n_points: int, n_neighbors: int, available: int | None) -> None:
    """Raise if an estimate does not fit into the free memory, of a device if that is given."""
    where = "memory" if available is None else "the memory of the GPU"
    also = "" if available is None else ", or run='numba'"
    refuse(
        needed, available_memory() if available is None else available,
        f"The estimate would not fit into {where}",
        f"{n_points} points with {n_neighbors} neighbours each",
        f"Pass effort=0.5 (half of it), a random subset of the points{also}; "
        "vbdm.estimate_memory tells what an estimate takes.",
    )  # fmt: skip


def refuse_spectrum(n_points: int, n_neighbors: int, n_eigen: int, free: int | None) -> None:
    """Raise before so many eigenpairs are solved for on a GPU, if they would not fit there.

    None are the free bytes of this machine, where an estimate was refused that leaves too few.
    """
    refuse(
        GPU_SOLVER.bytes(n_points, n_neighbors, n_eigen=n_eigen), free,
        "The spectrum would not fit into the memory of the GPU",
        f"{n_eigen} eigenpairs of {n_points} points",
        "Ask for fewer, or solve in this machine's memory: op.on_host.spectrum(n).",
    )  # fmt: skip


def refuse_block(n_pairs: int) -> None:
    """Raise before the pairs of one block are stored, if they would not fit while it is made."""
    refuse(
        IN_BLOCK.pair * n_pairs, available_memory(), "A block would not fit into memory",
        f"{n_pairs:,} pairs of points",
        "Pass more `blocks`, for example vbdm.placement.Disk(blocks=64), or effort=0.5.",
    )  # fmt: skip


def refuse_merging(n_pairs: int) -> None:
    """Raise before all blocks of a matrix are fetched, if they would not fit into memory."""
    refuse(
        PER_MERGED_PAIR * n_pairs, available_memory(), "The whole matrix would not fit into memory",
        f"{n_pairs:,} pairs of points",
        "`op.apply` and `op.spectrum` work on its blocks: use them instead.",
    )  # fmt: skip


def refuse_array(n_numbers: int, what: str, bytes_each: int = 8) -> None:
    """Raise before an array of so many numbers is made, if it would not fit into the free memory.

    A small file may declare an array of any size.
    """
    refuse(
        n_numbers * bytes_each, available_memory(), f"{what} would not fit into memory",
        f"{n_numbers:,} numbers",
        "Try fewer columns, or thin the file first; it may also be damaged.",
    )  # fmt: skip


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


def free_on_disk(folder: Any = None) -> int:
    """Return the free bytes of a folder's disk; by default, of the folder for temporary files."""
    return shutil.disk_usage(tempfile.gettempdir() if folder is None else folder).free
