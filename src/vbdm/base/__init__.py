"""What every room uses; it knows nothing of the method.

================  ==================================================================================
`arrays`          names for the types of arrays, read-only views, and where arrays live
`accepts`         arguments of public functions, checked by a decorator
`array_hints`     what people pass in place of an array of numbers, and words that help
`checks`          every array, number and name that comes in from a user is checked here
`estimate`        a number with its standard error
`errors`          one error for bad input, one warning class per kind of doubt
`shapes`          shape functions h of the kernel, with their moments
`credit`          name, words and references that a solver, an engine or a rule carries
`references`      the works to cite
`handing_out`     results as users get them, here or on a device
`threads`         work on blocks of rows, on all cores
`progress`        how far the work is
`memory`          how much memory an estimate takes, and a refusal before it is too late
`device_memory`   the same for the memory of a GPU
`names`           names that both the library and the command know
`files`           files that are written whole or not at all
`libraries`       libraries that are optional, and files that they cannot read
`plain`           any value as strict JSON
`row_notes`       what a file says about its rows: labels, times, further numbers
`versions`        of this package and of the libraries under it
`wording`         numbers and counts as words
================  ==================================================================================
"""
