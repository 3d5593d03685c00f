"""The spectrum room: eigenvalues and eigenfunctions.

It knows an `Operator`. It gives a `Spectrum`: the modes nearest 0, the solver's log, the connected
pieces, and which points are too sparse to be trusted.

=================  =================================================================================
`spectrum`         the result of this room, and the solver's own account
`solve`            from an operator to its spectrum, with eigenfunctions of known size and sign
`passes`           solve for the modes, pass by pass of the limiter; slow ones under own limits
`limited`          one solve, piece by piece, under a limit
`limiter`          keep points that cannot resolve a mode from carrying one
`modes`            what was found: rates, vectors, and the finite-sample correction
`pieces`           connected pieces of the data, and their vectors among those of all points
`vectors`          the eigenfunctions wherever they live
`alignment`        compare eigenfunctions up to sign and rotation
=================  =================================================================================
"""
