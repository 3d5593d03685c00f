"""Long arrays some rows at a time: so many that they fit the cache, or the memory."""

from __future__ import annotations

from collections.abc import Iterator

#: Numbers in one slice, 8 bytes each, that stay in the cache of a core.
IN_CACHE = 1 << 17


def slices(n_rows: int, size: int) -> Iterator[slice]:
    """Yield slices of `size` rows that cover range(n_rows), in order; the last may be shorter.

    Examples
    --------
    >>> list(slices(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def rows_that_fit(n_entries: int, n_rows: int = 1, *, most: int = IN_CACHE, least: int = 1) -> int:
    """Return how many rows hold at most `most` numbers, where `n_rows` of them hold `n_entries`.

    Parameters
    ----------
    n_entries, n_rows : int
        A table has as many entries per row as columns, and n_rows can be left out; a sparse matrix
        has nnz entries in all its rows.
    most : int
        Numbers at a time.
    least : int
        Rows at the least, whatever they hold.

    Examples
    --------
    >>> rows_that_fit(64), rows_that_fit(3_200_000, 100_000), rows_that_fit(10**9, least=256)
    (2048, 4096, 256)
    """
    return max(least, most * n_rows // max(n_entries, n_rows))
