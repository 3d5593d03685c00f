"""The kernel room: K on every pair of neighbours.

It knows ρ, ε and the shape h, and no normalisation yet. It takes a graph and a bandwidth and gives
a `Kernel`: the matrix K = h(|x-y|²/(ε ρ(x) ρ(y))), symmetric, with its row sums and the density.

==============  ====================================================================================
`kernel`        the kernel with its ingredients, and the density that it measures
`listed`        the kernel on the pairs of lists of nearest neighbours
`within_reach`  the kernel on all pairs within its reach, found as such
`again`         the same kernel at another ε
`pair_matrix`   a sparse matrix on listed pairs, symmetric without ever being merged
`block_matrix`  the same on pairs within reach, its rows in blocks
`factored`      what both have in common: factors beside the entries
==============  ====================================================================================

The shapes h are in `vbdm.shapes`, because the pilot density and the rules for ε use them before
there is a kernel.
"""
