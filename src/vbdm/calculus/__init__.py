"""Derivatives on the points: ∇f, ∇f·∇g, tangent spaces, and the drift.

`surroundings` lays out the neighbours of blocks of points, wherever rows live; `carre_du_champ` has
products of gradients from their differences; `gradient` regresses these on the points themselves,
with tangents from `small_matrices`; `drift` is L x, by modes. The verbs are `op.gradient`,
`op.carre_du_champ`, `op.tangents` and `spectrum.drift`.
"""
