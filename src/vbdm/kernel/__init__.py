"""The kernel room: the bandwidth ρ, the dimension d, ε, and K on every pair of neighbours.

It takes a graph and gives a `Kernel`: the matrix K = h(|x-y|²/(ε ρ(x) ρ(y))), symmetric, with its
row sums and the density. It knows no normalisation yet; the shapes h are in `vbdm.shapes`.

==============  ====================================================================================
`bandwidth`     how wide the kernel is at each point, and the rules for it
`dimension`     the dimension d, given or read from distances to neighbours
`scaled`        scaled distances t = |x-y|²/(ρρ), and a sample of rows of them
`tuning`        the choice of ε, with the curves by which it can be judged
`epsilon`       rules for ε: by degree, by the paper's slope, or given
`pair_matrix`   a sparse matrix on pairs, symmetric without ever being merged, factors beside it
`block_matrix`  the same on pairs within reach, its rows in blocks
`kernel`        the kernel with its ingredients, on lists of neighbours; the density it measures
`within_reach`  sums and the kernel on all pairs within its reach, found as such
`pilot`         a first look at the density
==============  ====================================================================================
"""
