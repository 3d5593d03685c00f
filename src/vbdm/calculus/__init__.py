"""Derivatives on the points: ∇f, ∇f·∇g, tangent spaces; all of it is asked for by `op.calculus`.

`surroundings` lays out the neighbours of blocks of points, wherever rows live; `calculus` has
products of gradients from their differences, and regresses these on the points themselves.
"""
