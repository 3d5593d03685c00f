"""Trust: how sure a result is.

It knows a `Spectrum` and gives error bars, errors of eigenfunctions, a
scan over ε, findings (each with a light, words and, where it is serious, a warning) and an
independent verification.

======================  ============================================================================
`error_bars`            `ErrorBars`, which is `spectrum.errors`: total errors of eigenvalues, what
                        they consist of, groups that cannot be told apart, and intervals
`influences`            what each point adds to the error of an eigenvalue
`series`                sampling errors from them, also of time series, and whether points are
                        independent and random
`epsilon`               how far eigenvalues move with ε, and two other ways to choose it
`epsilon_scan`          eigenpairs at several ε, each mode followed: one scan for all its readers
`edge`                  whether the data ends at an edge, and how far that moves eigenvalues
`eigenfunction_errors`  how sure eigenfunctions are, and where: unresolved points, weak links
`findings`              what a check found, and what errors come from, in words
`operator_checks`       checks of an operator
`spectrum_checks`       checks of a spectrum
`diagnose`              the table of checks, and its readers
`verification`          the same matrix solved in another way, and counted
======================  ============================================================================
"""
