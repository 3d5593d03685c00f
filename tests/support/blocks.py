"""Blocks for tests: places, partitions, and operators whose kernel is cut into blocks."""

from dataclasses import replace

from vbdm.kernel.block_matrix import BlockMatrix
from vbdm.rows.block_array import Rows
from vbdm.rows.disk import OnDisk
from vbdm.rows.place import InMemory, Partition
from vbdm.spectrum.solve import functions_of
from vbdm.spectrum.vectors import vectors_of

PLACES = {"memory": InMemory, "disk": OnDisk}


def rows_in(n_rows, n_blocks, place="memory"):
    """Return rows in blocks, at a place given by its name."""
    return Rows(Partition.into(n_rows, n_blocks), PLACES[place]())


def in_blocks(operator, n_blocks, place="memory"):
    """Return an operator with its kernel matrix cut into blocks."""
    rows = rows_in(operator.graph.order.n_points, n_blocks, place)
    matrix = BlockMatrix.cut(operator.kernel.weights, rows)
    kernel = replace(operator.kernel, weights=matrix)
    weights = replace(matrix, left=operator.alpha_kernel.left, right=operator.alpha_kernel.right)
    return replace(operator, kernel=kernel, alpha_kernel=weights)


def solved_in_blocks(spectrum, n_blocks, place="memory"):
    """Return a spectrum in memory as if it had been solved in blocks."""
    operator = in_blocks(spectrum.operator, n_blocks, place)
    vectors = operator.alpha_kernel.rows.spread(vectors_of(spectrum).copy())
    functions, stored = functions_of(vectors, operator.graph.order)
    return replace(spectrum, operator=operator, eigenfunctions=functions, _stored=stored)
