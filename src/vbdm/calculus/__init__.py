"""Derivatives on the points: ∇f, ∇f·∇g, tangent spaces, and the drift.

`carre_du_champ` has products of gradients from differences of neighbours, `gradient` regresses
these on the points themselves. The verbs are `op.gradient`, `op.carre_du_champ`, `op.tangents`.
"""
