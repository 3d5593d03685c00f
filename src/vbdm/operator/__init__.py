"""The operator room: from the kernel to L.

It knows K, α and d. It takes a `Kernel` and gives an `Operator`: L f = Δf + c1 ∇f·∇q/q on the
points, ready to be applied.

===============  ===================================================================================
`arguments`      what is wanted: the arguments of `estimate_operator`, checked
`method`         the two methods, and what a user may choose of them
`run`            where an estimate runs
`weights`        weights of the points: how they enter
`operator`       the result
`normalise`      from the kernel to the result
`record`         what was asked for and what was decided
`sample_theory`  by how much a random sample shifts eigenvalues
`weighted`       factors that a potential or weights put on pairs
`sums`           sums over the rows of the kernel, each point counted by copies and by weight
===============  ===================================================================================
"""
