"""Engines: who computes what the rooms ask for.

They know points, pairs and matrices by blocks of rows, and nothing of densities or operators. Every
engine gives the same pairs exactly, and sums that differ by rounding.

==============  ====================================================================================
`engine`        the protocol: the operations that a machine must supply; what is put around work
`choose`        which engine computes: by name, by where points live, by their number
`tree`          the k-d tree of all engines, made of arithmetic, and the relation "within reach"
`tree_part`     a block of leaves with those near it, as a tree of its own
`sparse`        matrices where their arrays live: SciPy's, or a device's
`scipy_engine`  the reference, on NumPy and SciPy alone
`numpy_pairs`   pairs within reach with NumPy
`numba_engine`  the fast one, an extra
`compiled/`     its inner loops
`cuda/`         the engine of a GPU, an extra
==============  ====================================================================================
"""
