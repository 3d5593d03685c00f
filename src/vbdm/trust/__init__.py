"""Trust: how sure a result is.

It knows a `Spectrum` and gives error bars, errors of eigenfunctions, a
scan over ε, findings (each with a light, words and, where it is serious, a warning) and an
independent verification.

======================  ============================================================================
`error_bars`            `ErrorBars`, which is `spectrum.errors`: total errors of eigenvalues, what
                        they consist of, groups that cannot be told apart, and intervals
`influences`            what each point adds to the error of an eigenvalue
`series`                sampling errors from them, also of time series
`epsilon_bias`          how far eigenvalues move with ε, read off the kernel at ε/2
`in_doubt`              where modes are in doubt: on unresolved points, on weak links
`error_sources`         what a total error consists of, in words
`eigenfunction_errors`  how sure each eigenfunction is: how much of the others is mixed into it
`epsilon_scan`          eigenpairs at several ε, each mode followed: one scan for all its readers
`second_opinion`        two other ways to choose ε, read off eigenvalues at several ε
`findings`              what a check found: light, limit, words, warning
`operator_checks`       checks of an operator
`spectrum_checks`       checks of a spectrum
`columns`               whether a few columns, by their scale, hide the others
`plateau`               the check of the scan over ε
`diagnose`              the table of checks, and its readers
`edge`                  whether the data ends at an edge, and which points are near it
`boundary`              how far an edge moves eigenvalues
`randomness`            whether the points are independent and random
`verification`          the same matrix solved in another way, and counted
======================  ============================================================================
"""
