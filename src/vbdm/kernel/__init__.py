"""The kernel room: K on every pair of neighbours.

It knows ρ, ε and the shape h, and no normalisation yet. It takes a graph and a bandwidth and gives
a `Kernel`: the matrix K = h(|x-y|²/(ε ρ(x) ρ(y))), symmetric, with its row sums and the density.

==============  ====================================================================================
`kernel`        the kernel with its ingredients, evaluated on the pairs, at one ε or another
`within_reach`  all pairs within reach, found as such, with the kernel's values
`pair_matrix`   a sparse matrix on listed pairs, symmetric without ever being merged
==============  ====================================================================================

The shapes h are in `vbdm.shapes`, because the pilot density and the rules for ε use them before
there is a kernel.
"""
