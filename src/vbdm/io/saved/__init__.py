"""Saved models: one file of named arrays and plain text, no pickle, read with suspicion.

===================  ===============================================================================
`persistence`        `save`, `load`, `read_notes`
`archive`            the zip file: written whole or not at all; entries checked before they are read
`older`              files of older versions, as the present version would say them
`fields`             what a field may hold: how it is written and checked; what cannot be saved
`consistency`        whether the numbers fit each other: what follows from others is computed again
`graph_section`      points, order, lists of neighbours, and the search engine that found them
`settings_section`   rules, switches, credits
`operator_section`   pilot, dimension, bandwidth, kernel, tuning, operator
`spectrum_section`   eigenpairs, and how they were solved
`forecasts`          forecasters: their training series, and what the hold-out decided
`zarr_group`         results alone, as a group of Zarr, also larger than memory
===================  ===============================================================================

What stands in a file is written in docs/file-format.md; `tests/io/test_file_format.py` keeps
both together.
"""
