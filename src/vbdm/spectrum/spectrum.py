"""Eigenvalues and eigenfunctions of an operator: the result of the spectrum room."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..base.arrays import BoolArray, FloatArray, beside_array, frozen, to_host
from ..base.checks import a_count
from ..base.threads import one_blas_thread
from ..engines.at_work import at_work
from ..graph.caller_order import as_caller_sees
from ..graph.on_host import in_memory, state_in_memory
from ..operator.operator import Operator
from ..operator.record import Settings
from ..rows.block_array import BlockArray, Tall, beside, mapped, total
from . import error_verbs, time_verbs, verbs, views
from .in_doubt import held_inside, products_of, unresolved_share, weak_links, without_columns
from .limiter import Limit, local_times
from .pieces import Pieces
from .solve_log import SolveLog

if TYPE_CHECKING:
    from ..extension.extension import Extension
    from ..trust.intervals import ErrorParts
    from ..trust.series import Sampling

#: Cached properties that a copy of a spectrum in memory takes over.
KNOWN = (
    "sampling", "covariance", "groups", "standard_errors", "error_parts", "bias", "mixing",
    "unresolved_share", "overlaps", "eigenfunction_errors", "weak_links", "findings_so_far",
)  # fmt: skip
#: The columns of all modes.
EVERY = slice(None)
#: Numbers of eigenvalues that belong together, one array for each group.
Groups = tuple[NDArray[np.intp], ...]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Spectrum:
    """Eigenvalues of L (0 first, then downwards), and its eigenfunctions on the points.

    Attributes
    ----------
    operator : Operator
        The operator L that was solved.
    eigenvalues : (n,) array
        Eigenvalues λ of L, all <= 0; NaN where a mode decays within one step of the kernel.
    eigenfunctions : (N, n) array
        Eigenfunctions by columns, mean square 1 over the points. The sign is fixed: the value
        that is largest in size (the first one, if several are within 1e-6) is positive. Where the
        eigenvalue is NaN, it is the vector that the solver found (see `known_eigenfunctions`).
        If they live in blocks outside this process's memory, an array that fetches what it is
        asked for.
    pieces : Pieces
        The connected pieces of the data, and how many of them were solved.
    unresolved : (N,) bool array
        Points whose surroundings are too sparse to resolve the first ten modes (the limiter holds
        them to their neighbours), and strays outside the pieces that were solved.
    limit : Limit or None
        λ_ref and cut that all modes share; None: there was no limiter.
    limits : tuple of Limit
        The limit in force for each mode: slow modes have their own in a clean tail. Empty without
        limiter.
    correction : (n,) array
        The finite-sample correction: the factor λ̂/λ by which the eigenvalues were divided.
    extent : (n,) array
        Extent of each mode: the number of kernels' worth of points that hold its energy. Modes
        of small extent are fragile. Empty for the unsymmetric forms of the kernel.
    left_out : (m,) array
        Eigenvalues of modes that sat on a handful of unresolved points and are not listed above.
    solve : SolveLog
        How it was solved: solver, iterations, residuals.
    in_blocks : BlockArray or None
        The eigenfunctions in the order inside, (M, n), if they live in blocks; else None.
    inside : array or None
        The eigenfunctions in the order inside, (M, n), if they live on a device; else None.
    """

    operator: Operator
    eigenvalues: FloatArray
    eigenfunctions: FloatArray
    pieces: Pieces
    unresolved: BoolArray
    limit: Limit | None
    limits: tuple[Limit, ...]
    correction: FloatArray
    extent: FloatArray
    left_out: FloatArray
    solve: SolveLog
    in_blocks: BlockArray | None = None
    inside: Any = None

    @property
    def on_host(self) -> Spectrum:
        """The same spectrum in this machine's memory; itself, unless it lives on a device."""
        return in_memory(self, self.operator.order.n_points, KNOWN, left_out="inside")

    def __getstate__(self) -> dict[str, Any]:
        """Return what copies and pickles keep: a spectrum on a device is copied into memory."""
        return state_in_memory(self)

    @property
    def settings(self) -> Settings:
        """What was asked for and what was decided; the solver is in `solve`."""
        return self.operator.settings

    @property
    def solver(self) -> str:
        """Name of the solver, or names, if pieces were solved by several."""
        return self.solve.solver

    @property
    def residuals(self) -> FloatArray:
        """Residuals of the pairs, (n,): the error of the solver alone (see `SolveLog`)."""
        return self.solve.residuals

    @property
    def components(self) -> NDArray[np.intp]:
        """The connected piece of each point, (N,), the largest piece being 0."""
        return self.pieces.labels

    @property
    def n_components(self) -> int:
        """Number of connected pieces; 1 is healthy."""
        return self.pieces.n_pieces

    @property
    def timescales(self) -> FloatArray:
        """Relaxation times -1/λ, (n,), if the diffusion coefficient is 1; infinite for λ = 0.

        Points alone cannot tell that coefficient; ratios of times do not need it.
        """
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.abs(self.eigenvalues))

    @cached_property
    def vectors(self) -> Tall:
        """The eigenfunctions in the order inside, (M, n)."""
        kept: Tall | None = self.inside if self.in_blocks is None else self.in_blocks
        return self.operator.order.to_inside(self.eigenfunctions) if kept is None else kept

    @at_work("results")
    def function(self, j: int) -> FloatArray:
        """Return eigenfunction j at all points, (N,), in memory wherever the others are."""
        if self.in_blocks is None:
            return np.asarray(to_host(self.eigenfunctions[:, j]))
        return self.operator.order.to_caller(self.in_blocks[:, j])

    @at_work("results")
    def functions_at(self, rows: NDArray[np.intp]) -> FloatArray:
        """Return all eigenfunctions at some of the points, (m, n), in memory."""
        if self.in_blocks is None:
            return np.asarray(to_host(self.eigenfunctions[rows]))
        return np.asarray(self.in_blocks[self.operator.order.inside_rows(rows)])

    @at_work("results")
    def sum_over_points(self, function: Callable[..., Any], *values: NDArray[Any]) -> Any:
        """Return a sum over the points: `function` adds up what eigenfunctions give on some rows.

        It gets their values (m, n), how often each row counts, or None, and `values`, which are
        given in the caller's order and equal on copies of a point.
        """
        if self.in_blocks is None and self.inside is None:
            return function(self.eigenfunctions, None, *values)
        u, order = self.vectors, self.operator.order
        rows = order.caller_rows
        inside = [beside(u, beside_array(own, rows)[rows]) for own in values]
        return total(function, u, beside(u, order.counts), *inside)

    def local_times(self, steps: FloatArray, columns: slice = EVERY) -> FloatArray:
        """Return g of some modes, (M, m) or (M, 1): ε m ρ², or what the limiter makes of it.

        `steps`, (M,), are ε m ρ² at the points that are asked for.
        """
        return local_times(self.limits[columns], steps)

    @property
    def known_eigenfunctions(self) -> Any:
        """Eigenfunctions, (N, n), with NaN in the columns of modes whose eigenvalue is NaN.

        Such a mode decays within one step of the kernel: its vector shows the scatter of the points
        and is no coordinate. Results that are written have these columns.
        """
        lost = np.isnan(self.eigenvalues)
        if not lost.any():
            return self.eigenfunctions
        if self.in_blocks is None:
            marked = beside_array(lost, self.eigenfunctions)
            return without_columns(self.eigenfunctions, marked)
        known = mapped(without_columns, self.in_blocks, lost)
        return as_caller_sees(known, self.operator.order)

    @cached_property
    @at_work("error bars")
    def sampling(self) -> Sampling:
        """How the eigenvalues scatter with the sample; rows may be steps of a time series."""
        from ..trust.error_bars import sampling_of

        return sampling_of(self)

    @cached_property
    def covariance(self) -> FloatArray:
        """Sampling covariance of the eigenvalues, (n, n)."""
        return self.sampling.covariance

    @property
    def effective_points(self) -> FloatArray:
        """How many independent points know each eigenvalue as well, (n,); N but for time series."""
        return self.sampling.effective_points

    @cached_property
    def groups(self) -> Groups:
        """Numbers of eigenvalues too close to be told apart, by groups; each has one error."""
        from ..trust.error_bars import group_by_size

        return group_by_size(self)

    @cached_property
    def standard_errors(self) -> FloatArray:
        """Sampling error of each eigenvalue, (n,); where several coincide, of their group's mean.

        The standard deviation over samples of as many independent points, or over time series as
        long as this one, and nothing else: what is systematic is in `total_errors`. Single members
        of a group scatter more than their mean (`groups`).
        """
        from ..trust.error_bars import sampling_errors

        return frozen(sampling_errors(self))

    @cached_property
    @at_work("error bars")
    def error_parts(self) -> ErrorParts:
        """What `total_errors` consists of: sampling, tail, ε, noise, boundary."""
        from ..trust.intervals import error_parts

        return error_parts(self)

    @property
    def total_errors(self) -> FloatArray:
        """Total error of each eigenvalue, (n,), a standard deviation: sampling and systematic."""
        return self.error_parts.total

    @cached_property
    @at_work("error bars")
    def bias(self) -> FloatArray:
        """Rough size of the systematic error of each eigenvalue, (n,): λ(ε) - λ(0), from ε/2.

        Read it as a size, not as a correction: it is noisy, and too large on surfaces.
        """
        from ..trust.epsilon_bias import epsilon_bias

        return frozen(epsilon_bias(self))

    @cached_property
    @at_work("error bars")
    def unresolved_share(self) -> FloatArray:
        """Share of each eigenfunction's mean square that lies on unresolved points, (n,).

        For a mode with a limit of its own, these are the points that this limit holds, and strays.
        """
        return frozen(unresolved_share(self))

    @cached_property
    @at_work("error bars")
    def overlaps(self) -> FloatArray:
        """Means over the points of the products of two eigenfunctions, (n, n)."""
        with one_blas_thread():
            return frozen(self.sum_over_points(products_of) / self.operator.n_points)

    @at_work("results")
    def held_for(self, j: int) -> BoolArray:
        """Return the points that mode j does not resolve, (N,): those its limit holds, and strays.

        `unresolved`, unless the mode has a limit of its own.
        """
        j = a_count(0, len(self.eigenvalues) - 1)(j, "j")
        if not self.limits or self.limits[j] == self.limit:
            return self.unresolved
        return np.asarray(to_host(self.operator.order.to_caller(held_inside(self, j))))

    @cached_property
    @at_work("error bars")
    def mixing(self) -> tuple[FloatArray, ...]:
        """How much of its neighbours each mode contains by error: mean products, an array each."""
        from ..trust.eigenfunction_errors import mixing

        return mixing(self)

    @cached_property
    @at_work("error bars")
    def eigenfunction_errors(self) -> FloatArray:
        """Error of each eigenfunction, (n,): root mean square over the points, from 0 to √2.

        From the sample, and from points too sparse to resolve the mode. NaN where a neighbouring
        eigenvalue is closer than four standard errors: the two modes may then be mixed at will, and
        only their span has an error that makes sense (`group_function_error`).
        """
        from ..trust.eigenfunction_errors import function_errors

        return function_errors(self)

    @cached_property
    @at_work("error bars")
    def weak_links(self) -> BoolArray:
        """Points that hold half of the energy of a mode of small extent, (N,).

        Small is an extent of fewer than six kernels (see `extent`): in a thin tail, or in a bridge
        between clusters, a few points then decide the eigenvalue.
        """
        return frozen(weak_links(self))

    @cached_property
    def findings_so_far(self) -> dict[str, Any]:
        """Findings of the checks made so far, by the checks' names (`vbdm.trust.diagnose`)."""
        return {}

    def extend(self, X_new: ArrayLike, *, outside: str = "nan") -> Extension:
        """Return the eigenfunctions at new points (see `vbdm.extend`)."""
        from ..extension.extension import extend

        return extend(self, X_new, outside=outside)

    def save(self, path: str | os.PathLike[str], *, kernel: bool = True) -> None:
        """Write everything into one file, to be read by `vbdm.load` (see `vbdm.save`).

        A path that ends in ``.zarr`` becomes a group of Zarr with the results alone: eigenvalues,
        errors, eigenfunctions, density and bandwidth, also where they do not fit into memory.
        """
        from ..io.saved.persistence import save

        save(self, path, kernel=kernel)

    group_error, group_interval = error_verbs.group_error, error_verbs.group_interval
    intervals, pointwise_errors = error_verbs.intervals, error_verbs.pointwise_errors
    group_function_error = error_verbs.group_function_error
    verify, basis = verbs.verify, cached_property(verbs.basis)
    project, evaluate, evolve, clock = verbs.project, verbs.evaluate, verbs.evolve, verbs.clock
    drift = verbs.drift
    states = verbs.states
    correlation, power_spectrum = time_verbs.correlation, time_verbs.power_spectrum
    relax, respond, pseudotime = time_verbs.relax, time_verbs.respond, time_verbs.pseudotime
    diffusion_distance = time_verbs.diffusion_distance
    commute_distance = time_verbs.commute_distance
    plot, table, to_frame = views.plot, views.table, views.to_frame
    _repr_html_ = views.as_html

    def __repr__(self) -> str:
        """Show the first eigenvalues and how they were found."""
        values = ", ".join(f"{value:.4g}" for value in self.eigenvalues[:6])
        more = ", …" if len(self.eigenvalues) > 6 else ""
        return (
            f"Spectrum(eigenvalues=[{values}{more}], {self.n_components} component(s), "
            f"{int(self.unresolved.sum())} unresolved point(s), solver={self.solver!r})"
        )
