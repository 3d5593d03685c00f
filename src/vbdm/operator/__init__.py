"""The operator room: from the kernel to L.

It knows K, α and d. It takes a `Kernel` and gives an `Operator`: L f = Δf + c1 ∇f·∇q/q on the
points, ready to be applied.

===============  ===================================================================================
`operator`       the result, and the normalisation that makes it
`sample_theory`  by how much a random sample shifts eigenvalues
`weighted`       factors that a potential or weights put on pairs
`verbs`          questions to an operator, answered by later rooms
`views`          a table and a picture of an operator, by later rooms
`theory`         which exponents give which operator, and which errors stay bounded
===============  ===================================================================================
"""
