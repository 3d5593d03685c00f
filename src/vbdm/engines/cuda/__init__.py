"""The engine of an NVIDIA GPU, an extra: kernels of our own, and CuPy's arrays.

Nothing above this folder knows of it: rooms find out from the arrays where they live
(`vbdm.base.arrays`), and ask their engine.

==============  ====================================================================================
`availability`  finds the device or says why there is none, and tells failures in words
`device`        the device: its memory, its compiler, and what is needed of CuPy
`csr`           a sparse matrix on the device: products, sums, transposes; kernels in `rows.cu`
`walks`         order of the tree, nearest points, pairs; kernels in `order.cu` and `walks.cu`
`engine`        the engine: what all engines supply; cells and pieces
`prelude.cu`    what all kernels share
==============  ====================================================================================
"""
