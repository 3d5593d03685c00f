"""The fast solver: a few matrix products on the points, everything else on cells of points."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ...base.arrays import FloatArray, beside_array, contiguous, is_elsewhere, to_host
from ...base.memory import give_back
from ...base.references import LOBPCG, Credit
from ...base.threads import one_blas_thread
from ...engines.tree import LEAF
from ...errors import SolverError
from ...graph.point_set import tree_order
from ...kernel.block_matrix import BlockMatrix
from ...rows.block_array import Tall, mapped, of_width
from ...rows.place import not_in_blocks
from ..direct import Dense
from ..pencil import EigenPairs, Pencil, PreparedSolver, prepare_solver
from .blocks import combination, rayleigh_ritz, remove_constant
from .cells import Cells, Labels, cells_of_members, graph_cells, tree_cells
from .finest import Finest, engine_of, finest_level, parts_of
from .hierarchy import Hierarchy, Level, build_levels
from .lobpcg import Block, Problem, Progress, iterate
from .start import COARSE_TOL, GROWTH, GUARDS, Warm, block_end, block_size, check_room, coarse_pairs

#: Beyond this many columns a k-d tree has no near cells to offer: the graph itself is used.
TREE_COLUMNS = 20
#: All coarse modes up to GROWTH times the last wanted θ are carried up, MOST_CARRIED at most: a
#: block that cuts through a group of near θ, such as those of single limited points, misses some.
#: A kernel that averages over fewer than NARROW points makes cells stiffen some modes so much that
#: the factor is STIFFENED instead.
NARROW, STIFFENED, MOST_CARRIED = 16, 3.5, 150
#: Most steps on the points that put the vectors of a narrow kernel into order.
NARROW_STEPS = 3


@dataclass(frozen=True)
class Multilevel:
    """Multigrid for the lowest modes of a kernel on many points: some ten products with K.

    Notes
    -----
    Averaging with D⁻¹K over some 15 neighbours removes at once whatever functions constant on cells
    of 8 points cannot represent. So one undamped Jacobi step after one coarse correction makes a
    good approximate inverse, and LOBPCG with it needs 2 to 5 steps for an accuracy of 1e-4, each
    one product with K and one with its sums over cells. The start comes from the coarsest level,
    improved level by level. Nothing is random.

    Two kinds of modes would be invisible to cells and are taken care of: groups of points that
    hardly communicate with the rest are never put into one cell with others, and points with a
    large mass for their links, which can carry a mode alone, are cells of their own.

    Cost O(N k n + N n²) time; besides K, about a third of its memory and 8 arrays (N, 1.2 n).

    Examples
    --------
    >>> points = vbdm.datasets.sphere(2000, random_state=0).points
    >>> operator = vbdm.estimate_operator(points)
    >>> solver = vbdm.solvers.Multilevel()
    >>> operator.spectrum(5, solver=solver, tol=1e-4).eigenvalues.round(0).tolist()
    [0.0, -2.0, -2.0, -2.0, -6.0]
    """

    #: The most points in a cell of the first coarse level. About half the number of points that the
    #: kernel averages over is best; anything from 4 to 16 works.
    cell_size: int = 8
    #: Unknowns on the coarsest level (or 8n, if that is more), from three quarters to one and a
    #: half times that many
    coarsest: int = 600
    #: Iterations on the finest level after which the solver gives up, with a `SolverError`
    max_iterations: int = 100
    on_devices: ClassVar[bool] = True
    credit: ClassVar[Credit] = Credit(
        "Multilevel", "a multilevel preconditioned LOBPCG iteration (Knyazev 2001)", (LOBPCG,)
    )

    def solve(self, pencil: Pencil, n: int, tol: float) -> EigenPairs:
        """Return the n smallest pairs; the relative error of each θ is at most about `tol`."""
        return self.prepare(pencil, n).solve(pencil.mass, n, tol)

    def prepare(self, pencil: Pencil, n: int = 50) -> PreparedSolver:
        """Build all that depends on K and D, to solve for several masses.

        Its mass only tells which points are heavy. `n` is the most pairs that will be asked for:
        the coarsest level must be large enough to start them. With too few points to coarsen, the
        dense solver steps in.
        """
        if pencil.n_points < 8 * block_size(n):
            return prepare_solver(Dense(), pencil, n)
        parts, factor = parts_of(pencil.weights)
        diagonal = pencil.degrees - pencil.weights.diagonal()
        # If a point has hardly any links but to itself, its diagonal may vanish in rounding.
        diagonal = np.maximum(diagonal, np.finfo(np.float64).eps * pencil.degrees)
        # Cells only need ratios such as K_ij / √(A_ii A_jj). These do not change if the parts take
        # the place of K = diag(f) (parts) diag(f), and the diagonals are divided by f².
        square = factor**2
        cells = Cells(
            self.groupings(pencil, parts, factor),
            n_apart=max(100, 2 * n),
            engine=engine_of(pencil.weights),
        )
        labels = cells.take(1, parts, diagonal / square, pencil.mass / square)
        finest, stiffness = finest_level(pencil.weights, pencil.degrees, labels)
        room, mass = max(self.coarsest, 8 * n), finest.summed(finest.spread(pencil.mass))
        levels = build_levels(stiffness, mass, cells, room, finest.engine)
        narrow = points_averaged(pencil.weights, pencil.degrees) < NARROW
        if not is_elsewhere(pencil.degrees):
            give_back()
        return PreparedMultilevel(finest, levels, self.max_iterations, narrow)

    def groupings(self, pencil: Pencil, parts: list[Any], factor: FloatArray) -> list[Labels]:
        """Find nested cells in the points or, without usable points, in the graph.

        In blocks they are cells of the tree whose leaves make up the blocks.
        """
        if isinstance(pencil.weights, BlockMatrix):
            # In many columns, too: the graph of all pairs is in no single place.
            if self.cell_size > LEAF:
                raise not_in_blocks(
                    "Cells of that size", f"Multilevel(cell_size={self.cell_size})",
                    "A cell must not have points of two blocks, which consist of leaves of "
                    f"{LEAF} points.",
                )  # fmt: skip
            if pencil.members_of is None:
                return tree_cells(pencil.n_points, self.cell_size)
            n_points, members = pencil.members_of
            return cells_of_members(tree_cells(n_points, self.cell_size), members)
        if pencil.points is None or pencil.points.shape[1] > TREE_COLUMNS:
            here = [to_host(part) for part in (pencil.degrees, factor)]
            links = [part.get() if is_elsewhere(part.data) else part for part in parts]
            labels = graph_cells(links, here[0], self.cell_size, here[1])
            return [beside_array(grouping, pencil.degrees) for grouping in labels]
        order = (
            None if pencil.in_tree_order else tree_order(pencil.points, engine_of(pencil.weights))
        )
        return tree_cells(pencil.n_points, self.cell_size, order, pencil.degrees)


@dataclass(frozen=True, eq=False)
class PreparedMultilevel:
    """What `Multilevel.prepare` built: it solves for any mass, also from an earlier solution."""

    finest: Finest  # K and D on the points, and the way to the first cells
    levels: list[Level]  # the coarse problems, from fine to coarse, without a mass
    max_iterations: int  # iterations on the finest level after which the solver gives up
    # Whether the kernel averages over so few points that cells stiffen some modes much
    narrow: bool = False

    def solve(
        self, mass: FloatArray, n: int, tol: float, start: EigenPairs | None = None, extra: int = 0
    ) -> EigenPairs:
        """Return the n + extra smallest pairs of (D - K) u = θ M u.

        `n` (2 or more) counts the constant; a θ below 1e-6 of the largest counts as that much for
        `tol`. `start` is the solution for another mass, or holds vectors near those that are
        sought. The `extra` pairs come back as accurate as they are once the first n have reached
        `tol`. Raises `SolverError` if that takes more than the allowed iterations.
        """
        with one_blas_thread():
            warm = None if start is None else start.warm
            if start is not None and warm is None and start.vectors.shape[1] > n:
                warm = Warm.of_vectors(self.finest, start.vectors)
            return self.solve_alone(mass, n, tol, warm, extra)

    def solve_alone(
        self, mass: FloatArray, n: int, tol: float, warm: Warm | None, extra: int
    ) -> EigenPairs:
        """Solve, from the coarsest level to the finest."""
        diagonal = self.finest.spread(mass)
        hierarchy = Hierarchy.with_mass(self.levels, self.finest.summed(diagonal))
        sorted_start = warm is not None and warm.is_sorted
        n_block = block_size(n + extra) if sorted_start else self.n_carried(hierarchy, n + extra)
        check_room(hierarchy, n + extra)
        coarse_values, coarse = coarse_pairs(hierarchy, n_block, self.finest.cell_rows)
        basis, images = self.basis(
            warm, coarse_values, coarse, diagonal, hierarchy.masses[0], n + extra
        )
        values, mix = rayleigh_ritz(basis, images, diagonal, sum(part.shape[1] for part in basis))
        n_wanted = n - 1
        # Cells are stiffer than points: by this factor their corrections come out too small.
        positive = np.maximum(values, 1e-12 * values[-1])
        stiffer = np.median(coarse_values[:n_wanted] / positive[:n_wanted])
        correct = partial(self.correct, hierarchy, diagonal, float(np.clip(stiffer, 1.0, 2.0)))
        problem = Problem(self.finest.stiffness, diagonal, correct, self.finest.degrees)
        if self.narrow and not sorted_start:
            # The vectors are too rough to stand in the right order: improve all, then sort.
            whole = Block(combination(basis, mix), combination(images, mix), values)
            iterate(problem, whole, len(values), len(values), COARSE_TOL, NARROW_STEPS)
            basis, images, values = [whole.vectors], [whole.images], whole.values
            order = np.argsort(values, kind="stable")
            values, mix = values[order], np.eye(len(order))[:, order]
        n_active = block_end(values, n_wanted)
        end = max(n_active, n_wanted + extra) + GUARDS
        # The first solve keeps its surplus vectors for the second one, with another mass.
        parts = [slice(end), slice(end, None)] if warm is None else [slice(end)]
        mix = mix[:, : len(values) if warm is None else end]
        vectors, images_of_them = combination(basis, mix), combination(images, mix)
        del basis, images
        if len(parts) == 1:
            blocks = [Block(vectors, images_of_them, values[parts[0]])]
        else:
            blocks = [
                Block(columns_of(vectors, part), columns_of(images_of_them, part), values[part])
                for part in parts
            ]
        block = blocks[0]
        progress = iterate(
            problem, block, n_wanted, n_active, tol, self.max_iterations, room="eigenpairs"
        )
        if not progress.converged:
            raise SolverError(
                f"Multilevel did not reach tol={tol:g} for {n} eigenpairs in {progress.steps} "
                f"iteration(s); the estimated relative error is {progress.error:.1e}. Raise ε, "
                "`tol` or Multilevel(max_iterations=...), ask for other numbers of pairs, or use "
                "vbdm.solvers.ShiftInvert() for curves and vbdm.solvers.Dense() for small data."
            )
        block.moves, block.move_images, block.spare = None, None, (None, None)
        # A copy of what is kept: a view would hold all columns.
        kept = coarse[:, : sum(len(part.values) for part in blocks)].copy(order="K")
        left = Warm(blocks, kept, is_sorted=sorted_start)
        return with_constant(block, mass, n + extra, progress, left)

    def n_carried(self, hierarchy: Hierarchy, n: int) -> int:
        """Return how many vectors to carry up from the coarse levels to find n pairs."""
        usual, values = block_size(n), hierarchy.mode_values
        if len(values) < usual:
            return usual
        reach = STIFFENED if self.narrow else GROWTH
        near = int(np.searchsorted(values, reach * values[n - 1]))
        return max(usual, min(near, MOST_CARRIED, len(values) // 2))

    def basis(
        self,
        warm: Warm | None,
        values: FloatArray,
        coarse: FloatArray,
        mass: Tall,
        coarse_mass: FloatArray,
        n: int,
    ) -> tuple[list[Tall], list[Tall]]:
        """Return the vectors to start from, in parts, and (D - K) times them.

        Vectors that an earlier solve left cost no product. Of the n lowest coarse vectors, those
        are added that the earlier ones do not contain.
        """
        basis: list[Tall] = []
        images: list[Tall] = []
        if warm is not None and warm.blocks:
            low = slice(n - 1)
            values, coarse = warm.unknown(values[low], coarse[:, low], coarse_mass)
            basis = [block.vectors for block in warm.blocks]
            images = [block.images for block in warm.blocks]
            warm.blocks = []
        if coarse.shape[1]:
            basis.append(self.finest.interpolated(coarse, values, mass))
            images.append(self.finest.stiffness(basis[-1]))
        # The constant is known, and its image is 0. Vectors of an earlier solve are orthogonal to
        # it with another mass, so it is removed from these, too.
        return [remove_constant(part, mass) for part in basis], images

    def correct(
        self,
        hierarchy: Hierarchy,
        mass: Tall,
        stiffer: float,
        residual: Tall,
        values: FloatArray,
        out: FloatArray | None,
    ) -> Any:
        """Return roughly (D - K - θM)⁻¹ residual: a coarse correction, then a Jacobi step."""
        coarse = hierarchy.correct(self.finest.summed(residual), stiffer * values)
        return self.finest.corrected(residual, stiffer * coarse, values, mass, out)


def columns_of(vectors: Tall, part: slice) -> Any:
    """Return some columns: a view, or on a device, which is slow on those, a copy."""
    return contiguous(vectors[:, part]) if is_elsewhere(vectors) else vectors[:, part]


def points_averaged(weights: Any, degrees: FloatArray) -> float:
    """Return over how many points the kernel averages, 1/s² = (ΣK)²/ΣK²: median of 1,000 rows."""
    n = len(degrees)
    rows = np.linspace(0, n - 1, min(n, 1000)).round().astype(np.intp)
    if is_elsewhere(degrees):
        squares = to_host(weights.row_sums(power=2)[rows])
    else:
        some = weights.rows_at(rows) if hasattr(weights, "rows_at") else weights[rows]
        squares = np.asarray(some.power(2).sum(axis=1))
    sums = to_host(degrees[rows])
    return float(np.median(sums**2 / np.maximum(squares, np.finfo(np.float64).tiny)))


def with_constant(
    block: Block, mass: FloatArray, n: int, progress: Progress, warm: Warm
) -> EigenPairs:
    """Return the pairs with the constant in front, and the work: two products, and two per step."""
    order = np.argsort(block.values[: n - 1], kind="stable")
    vectors = mapped(constant_in_front, block.vectors, order, 1 / np.sqrt(float(mass.sum())))
    values = np.concatenate([[0.0], np.maximum(block.values[order], 0.0)])
    done = progress.steps, 2 + 2 * progress.steps, True, progress.error
    return EigenPairs(values, of_width(vectors, n), Multilevel.credit, *done, warm=warm)


def constant_in_front(vectors: FloatArray, order: NDArray[np.intp], constant: float) -> FloatArray:
    """Return a constant column followed by some columns of `vectors`."""
    result = np.empty((len(vectors), len(order) + 1), like=vectors)
    result[:, 0] = constant
    result[:, 1:] = vectors[:, order]
    return result
