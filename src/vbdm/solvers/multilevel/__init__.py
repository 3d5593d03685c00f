"""The multilevel solver: a few products with K on the points, everything else on cells of points.

===========  =======================================================================================
`solver`     the solver, and what it prepares for several masses
`start`      what to start from: eigenpairs of the first cells, or what an earlier solve left
`finest`     products with K itself, sums of K over the first cells, and the way to and from these
`cells`      nested cells of near points, from a k-d tree, or from the graph alone
`hierarchy`  coarse levels, built from sums over cells
`lobpcg`     the iteration on each level
`blocks`     dense algebra on tall blocks of vectors
===========  =======================================================================================
"""
