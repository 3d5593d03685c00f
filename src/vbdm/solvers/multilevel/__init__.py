"""The multilevel solver: a few products with K on the points, everything else on cells of points.

===============  ===================================================================================
`solver`         the solver, and what it prepares for several masses
`warm_start`     how many vectors it works with, and what one solve leaves for the next
`finest`         products with K itself, and the way to and from the first cells
`first_cells`    sums of K over the first cells, and the matrix of the first coarse level
`tree_cells`     cells of near points, from a k-d tree
`matching`       cells from the graph alone, where there are no usable points
`hierarchy`      coarse levels, built from sums over cells
`coarse_pairs`   eigenpairs of the first cells, to start from
`lobpcg`         the iteration on each level
`blocks`         dense algebra on tall blocks of vectors
===============  ===================================================================================
"""
