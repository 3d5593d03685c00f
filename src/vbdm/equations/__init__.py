"""Equations with L on the points: L u = f, committors, passage times, fluxes and rates.

From the bottom up: `sets` says which points are held, `system` makes the symmetric problem with its
three corrections, `multigrid` and `conjugate_gradients` solve it, `solve` is the verb, and
`committor`, `passage` ask the questions; `error_bars` has their standard errors.
"""
