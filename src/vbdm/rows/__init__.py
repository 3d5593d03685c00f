"""Where the rows live: one block in memory, or many blocks in memory, on disk, on a cluster.

Inside, points stand in the order of a k-d tree, so a block of consecutive rows is a region of the
data. What has one number per point (widths, densities, degrees) stays with the walk, as NumPy
arrays. What is large (pairs, neighbour lists, sets of vectors) lives in blocks, and a *place* says
where: it runs functions of one block each, and keeps what they return. One block in memory is the
ordinary case: there the arrays are NumPy's own, and the same functions are called on them directly.

`place`          blocks, what a place must do, and the simplest one: blocks in memory
`block_array`    an array whose rows live in blocks: functions of blocks, sums in their order
`sparse_blocks`  sparse matrices whose rows live in blocks, and the rows that each needs of others
`disk`           blocks in a scratch file that no longer has a name
`dask`           blocks on the workers of a Dask cluster
`cluster`        how a cluster is reached and checked, and what its failures mean
`workers`        workers on this machine, what workers have used, and what they keep in a folder
`sources`        points in files and in arrays of other libraries, read chunk by chunk
"""
