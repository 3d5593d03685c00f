"""The graph room: which points are near which.

It knows points and how distances are measured. It takes an (N, n) array, or distances, and gives a
`NeighborGraph`: the nearest neighbours of every point.

================  ==================================================================================
`order`           the order inside, in which copies are merged, and the way back to the caller's
`point_set`       the distinct points in that order: how far apart they are, an index to search them
`neighbourhood`   parts of the tree that rows need: all points within reach, or their k nearest
`lists`           lists of neighbours, searched, and kept or released to save memory
`precomputed`     neighbours and distances found elsewhere, checked
`neighbor_graph`  the result of this room: the points with lists of their neighbours
`build`           from points or distances to a graph
`on_host`         results that live on a device, copied into this machine's memory
================  ==================================================================================
"""
