"""Equations with L on the points: L u = f, committors, passage times, fluxes and rates.

It knows an `Operator`, and solves with it; results are frozen, in the caller's order.

=====================  =============================================================================
`network`              corrected links between the points, their mass, the invariant measure
`region`               sets of points as masks, from row numbers, distances or masks
`sets`                 sets of points, in any of the ways in which people name them
`conditions`           conditions on columns, such as "phi < -1.2"
`problem`              which points can be solved for, and which are left out
`edges`                held sets, and how strongly they pull at free points: soft edges
`system`               the symmetric system with values held on sets
`multigrid`            an approximate inverse, from the cells of the eigenvalue solver
`conjugate_gradients`  the solver
`error_bars`           standard errors of sums over a solution, by one adjoint solve
`solved`               the results: values, sums with errors, flux and rates, moments of times
`equations`            `op.equations`: all questions, documented there
=====================  =============================================================================
"""
