"""What every room uses; it knows nothing of the method.

================  ==================================================================================
`arrays`          names for the types of arrays, read-only views, and where arrays live
`checks`          arguments of public functions: kinds of them, and a decorator
`points`          points and functions on them, as users pass them
`estimate`        a number with its standard error
`references`      the works to cite, and what a solver, an engine or a rule says of itself
`threads`         work on blocks of rows, on all cores
`memory`          how much memory an estimate takes, and a refusal before it is too late
`parameters`      the parameters of an estimate in one table
`kept`            accessors of a result, whose answers it keeps
`files`           libraries that read files, files that are written whole or not at all, plain JSON
`row_notes`       what a file says about its rows: labels, times, further numbers
`versions`        of this package and of the libraries under it
`sklearn_types`   what estimators inherit from scikit-learn, with types
`wording`         numbers and counts as words
================  ==================================================================================
"""
