"""The engine of an NVIDIA GPU, an extra: kernels of our own, and CuPy's arrays.

Nothing above this folder knows of it: rooms find out from the arrays where they live
(`vbdm.base.arrays`), and ask their engine. `availability` finds the device or says why there is
none, `failures` tells in words what CuPy and the driver raise, and `first_use` that code has to be
compiled, which takes up to a minute.

============  ======================================================================================
`device`      the device: its memory, its compiler, and what is needed of CuPy
`sources`     sources of kernels, and the types of their arguments
`csr`         a sparse matrix on the device, with 64-bit row pointers
`order`       the order of the tree; kernels in `order.cu`
`nearest`     nearest points
`pairs`       pairs within reach
`walks.cu`    their kernels: walks on the tree
`engine`      the engine: what all engines supply
`products`    matrices times blocks of vectors
`algebra`     sums, products and transposes of matrices
`cells`       sums over cells, connected pieces
`rows.cu`     their kernels
`prelude.cu`  what all kernels share
============  ======================================================================================
"""
