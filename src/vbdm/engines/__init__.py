"""Engines: who computes what the rooms ask for.

They know points, pairs and matrices by blocks of rows, and nothing of densities or operators. Every
engine gives the same pairs exactly, and sums that differ by rounding.

=================  =================================================================================
`engine`           the protocol: the operations that a machine must supply
`choose`           which engine computes: by name, by where points live, by their number
`at_work`          what engines put around each piece of work
`off_device`       what the engine of a GPU does not take, in words
`tree`             the k-d tree of all engines, made of arithmetic, and the relation "within reach"
`tree_part`        a block of leaves with those near it, as a tree of its own
`near_leaves`      which leaves are near a block of leaves
`scipy_engine`     the reference, on NumPy and SciPy alone
`numpy_order`      tree order with NumPy
`numpy_pairs`      pairs within reach with NumPy
`numpy_new_pairs`  pairs within reach of new points with NumPy
`scipy_graph`      connected pieces and parts of cells with SciPy
`sparse`           sparse matrices where their arrays live: SciPy's, or a device's
`dense`            dense matrices where they live
`numba_engine`     the fast one, an extra
`compiled/`        its inner loops
`cuda/`            the engine of a GPU, an extra
=================  =================================================================================
"""
