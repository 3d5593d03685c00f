"""Equations with L on the points: L u = f, committors, passage times, fluxes and rates.

It knows an `Operator`, and solves with it; results are frozen, in the caller's order.

=====================  =============================================================================
`equations`            `op.equations`: all questions, documented there
`sets`                 sets of points, in any of the ways in which people name them
`network`              corrected links between the points, their mass
`system`               the symmetric system, with values held on sets that have soft edges
`solver`               conjugate gradients, with the cells of the eigenvalue solver
`error_bars`           standard errors of sums over a solution, by one adjoint solve
`solved`               the results: values, sums with errors, flux and rates, moments of times
=====================  =============================================================================
"""
