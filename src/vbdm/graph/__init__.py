"""The graph room: which points are near which.

It knows points and how distances are measured. It takes an (N, n) array, or distances, and gives a
`NeighborGraph`: the nearest neighbours of every point.

================  ==================================================================================
`distance`        metric and periods
`order`           the order inside, in which copies are merged, and the way back to the caller's
`point_set`       the distinct points in the order inside, with an index to search them
`caller_order`    arrays in blocks as the caller sees them
`search/`         engines that find the nearest points: exact ones, approximate ones, any metric
`block_search`    nearest neighbours of rows in blocks
`lists`           lists of neighbours, searched, and kept or released to save memory
`neighbourhood`   rows with all points within their reach, of all points or of a block
`neighbor_graph`  the result of this room: the points with lists of their neighbours
`build`           from points or distances to a graph
`one_way`         one-way pairs: j is among i's neighbours, but i is not among j's
`delays`          time-delay embedding: a row of a series with rows before it is one point
`projection`      fewer columns before the estimate: principal or slow directions
`long_lists`      whether the longest lists will be needed, so that one search does
`on_host`         results that live on a device, brought into this machine's memory
`precomputed`     neighbours and distances found elsewhere, checked
================  ==================================================================================
"""
