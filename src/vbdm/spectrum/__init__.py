"""The spectrum room: eigenvalues and eigenfunctions.

It knows an `Operator`. It gives a `Spectrum`: the modes nearest 0, the solver's log, the connected
pieces, and which points are too sparse to be trusted.

=================  =================================================================================
`spectrum`         the result of this room
`solve_log`        the solver's own account of a solve
`solve`            from an operator to its spectrum
`passes`           solve for the modes, pass by pass of the limiter; leave out unresolved ones
`limiter`          keep points that cannot resolve a mode from carrying one
`limited`          one solve under a limit
`own_limits`       slow modes again, under limits of their own, where the tail resolves them
`modes`            what was found: rates, vectors, and what their energies tell
`normalisation`    size and sign of eigenfunctions
`by_pieces`        solve piece by piece
`members`          pieces of a kernel in blocks, and their vectors among those of all points
`finite_sample`    the correction of eigenvalues for the randomness of the sample: computed here,
                   applied in `modes.corrected` (and, for the bias, in `trust/epsilon_bias`)
`pieces`           connected pieces of the data
`verbs`            questions to a spectrum, answered by later rooms
`time_verbs`       more of them, about time
`views`            tables and pictures of a spectrum, by later rooms
`alignment`        compare eigenfunctions up to sign and rotation
`solvers/`         several ways to solve (D - K) u = θ M u, behind one small protocol
=================  =================================================================================
"""
