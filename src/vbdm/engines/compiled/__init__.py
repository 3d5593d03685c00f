"""Inner loops compiled by numba, for the engine `vbdm.engines.numba_engine`.

All of them work on points in tree order and on a block of rows, release the interpreter's lock, and
give the same bits whatever block a row is in. This package is imported only where numba is used.

=============  =====================================================================================
`compile`      the decorator: compiled once per machine, kept in numba's cache
`order`        tree order: splits at medians
`walk`         gaps between boxes, and distances from a point to a leaf
`nearest`      the k nearest points
`pairs`        pairs within reach: counted, written down
`products`     sparse matrices times blocks of vectors, and sums over cells
=============  =====================================================================================
"""
