"""Where the rows live: one block in memory, or many blocks in memory, on disk, on a cluster.

Inside, points stand in the order of a k-d tree, so a block of consecutive rows is a region of the
data. What has one number per point (widths, densities, degrees) stays with the walk, as NumPy
arrays. What is large (pairs, neighbour lists, sets of vectors) lives in blocks, and a *place* says
where: it runs functions of one block each, and keeps what they return. One block in memory is the
ordinary case: there the arrays are NumPy's own, and the same functions are called on them directly.

`partition`      consecutive rows, cut where leaves of the tree begin
`block_array`    an array whose rows live in blocks: functions of blocks, sums in their order
`halo`           the rows of other blocks that a block needs
`sparse_blocks`  sparse matrices whose rows live in blocks
`fetching`       products that fetch only the rows that occur
`refused`        what cannot be had from rows in blocks, in words
`place`          what a place must do, and the simplest one: blocks in memory
`disk`           blocks in a scratch file that no longer has a name
`dask`           blocks on the workers of a Dask cluster
`connection`     how a cluster is reached, and what is said when it cannot be
`cluster`        how a cluster is checked, where blocks live on it, and what its failures mean
`workers`        workers on this machine, and what workers have used
`store`          a folder in which workers keep what took long
`results`        arrays in the caller's order, as arrays of Dask or Zarr
`zarr_array`     an array of Zarr over blocks in a scratch file
`sources`        points in files and in arrays of other libraries, read chunk by chunk
`stores`         folders of Zarr from strangers
`placement`      from what a user asks for to blocks and their place
"""
