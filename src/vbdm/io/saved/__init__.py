"""Saved models: one file of named arrays and plain text, no pickle, read with suspicion.

===================  ===============================================================================
`persistence`        `save`, `load`, `read_notes`
`archive`            the zip file: written whole or not at all; its checksum; sizes before reading
`schema`             what arrays may hold, the types of the text, what cannot be saved
`model`              graphs, operators and spectra: taken apart, and made again
`forecasts`          forecasters: their training series, and what the hold-out decided
`zarr_group`         results alone, as a group of Zarr, also larger than memory
===================  ===============================================================================

What stands in a file is written in docs/file-format.md; `tests/io/test_file_format.py` keeps
both together.
"""
