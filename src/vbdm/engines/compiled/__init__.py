"""Inner loops compiled by numba, for the engine `vbdm.engines.numba_engine`.

All of them work on points in tree order and on a block of rows, release the interpreter's lock, and
give the same bits whatever block a row is in. A module is imported when it is first used: only then
numba must be there.

=============  =====================================================================================
`compile`      the decorator: compiled once per machine, kept in numba's cache; gaps and distances
`order`        tree order: splits at medians
`nearest`      the k nearest points
`pairs`        pairs within reach: counted, written down, those of new points
`rows`         rows of sparse matrices: products, sums over cells, connected pieces
=============  =====================================================================================
"""

import lazy_loader  # type: ignore[import-untyped]

__getattr__, __dir__, __all__ = lazy_loader.attach(
    __name__, submodules=["compile", "nearest", "order", "pairs", "rows"]
)
