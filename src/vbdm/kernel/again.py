"""The same kernel at another ε."""

from __future__ import annotations

from dataclasses import replace

from ..graph.neighbor_graph import NeighborGraph
from ..shapes import Gaussian
from .kernel import Kernel
from .listed import evaluate_kernel
from .within_reach import kernel_within_reach


def at_epsilon(kernel: Kernel, epsilon: float, graph: NeighborGraph | None = None) -> Kernel:
    """Evaluate the same kernel at another ε; if by lists, on this or another graph."""
    if kernel.by_reach:
        return kernel_within_reach(
            kernel.graph, kernel.bandwidth, epsilon, kernel.shape, cutoff=kernel.cutoff,
            leave_one_out=kernel.leave_one_out, precision=kernel.precision,
        )  # fmt: skip
    return evaluate_kernel(
        graph or kernel.graph, kernel.bandwidth, epsilon, kernel.shape,
        leave_one_out=kernel.leave_one_out, cutoff=kernel.cutoff,
        one_way_share=kernel.one_way_share,
    )  # fmt: skip


def halved(kernel: Kernel) -> Kernel:
    """Return the kernel at ε/2; for a Gaussian, without evaluating it.

    A Gaussian at half the ε is the square of itself, cut at the same distance. But the square of a
    one-way pair of weight 1/2 has weight 1/4: then the kernel is evaluated.
    """
    if not isinstance(kernel.shape, Gaussian) or kernel.one_way_share != 1.0:
        return at_epsilon(kernel, kernel.epsilon / 2)
    return replace(
        kernel, weights=kernel.weights.squared(), epsilon=kernel.epsilon / 2,
        cutoff=2 * kernel.cutoff, known_sums=None,
    )  # fmt: skip
