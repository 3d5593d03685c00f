"""The graph room: who is near whom.

It knows points and how distances are measured. It takes an (N, n) array, or distances, and gives a
`NeighborGraph`: the nearest neighbours of every point.

================  ==================================================================================
`order`           in which order points stand inside, copies merged, and the way back to the caller
`distance`        metric and periods
`point_set`       the points, sorted, with an index to be searched by
`search/`         engines that find the nearest points: exact ones, approximate ones, any metric
`neighbor_graph`  the result of this room: lists of neighbours, kept or given up
`build`           from points or distances to a graph
`one_way`         pairs that only one of their ends lists
`precomputed`     neighbours and distances found elsewhere, checked
================  ==================================================================================
"""
