r"""How far an edge of the data moves eigenvalues.

Near an edge part of the kernel hangs over: at z kernel widths from it only the share
:math:`m(z) = (1 + \mathrm{erf}\,z)/2` is inside, and the density is found too low by this factor.
The pilot density, with a kernel r times narrower, is too low by m(rz). The measure
:math:`D g ∝ q_S^{1-2α} ρ^{d+2}`, which should be :math:`q^{c_1-1}`, is then wrong by

.. math:: w(z) = m(z)^{1-2α} m(rz)^{β(d+2)},

for r = 1 by :math:`m^{c_1-1}`: twice too heavy at the edge for a Laplacian, right for a generator.
An eigenfunction that is smooth on the scale of the kernel has no slope across a reflecting edge,
and both its energy there, :math:`|∇u|^2`, and its square are weighed by w. So

.. math:: -δλ = h I \frac{\int_{edge} (|∇u|^2 - |λ| u^2)}{\int u^2}, \qquad
          I = \int_0^∞ (w(z) - 1)\, dz,

for a kernel of width h = √(4ε) ρ: the first order in h. With r = 1, I is 0.41 for c1 = 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import erf

from ..base.arrays import FloatArray, is_elsewhere, to_host
from ..kernel.pilot import PILOT_EPSILON
from ..operator.operator import Operator
from ..rows.fetching import occurring
from ..spectrum.spectrum import Spectrum
from .influences import masses

#: Kernel widths, and steps, up to which the integrals over z are taken. The pilot may be twice as
#: wide, and 1 - m(4) is 1e-8.
FARTHEST, STEPS = 8.0, 800


def boundary_shifts(spectrum: Spectrum) -> FloatArray:
    r"""Estimate how far an edge of the data moved each eigenvalue, (n,): found minus true λ.

    0 if no edge was found.

    Notes
    -----
    The integral over the edge is a sum over those points of the sample of `vbdm.trust.edge` that
    lie in a strip of width τ along it. With the weight w inside the strip divided out, it is

    .. math:: -δλ_j = \frac{N}{n} Σ_i \frac{I}{J(τ_i/h_i)} (e_{ij} - θ_j D_i g_i u_{ij}^2)
              \Big/ Σ_i D_i g_i u_{ij}^2, \qquad J(x) = \int_0^x w(z)\, dz,

    :math:`e_i = ½ Σ_j K_{ij}(u_i-u_j)^2`, for a sample of n out of N points. Cost O(N n) for the
    sum of squares, and products of K with some rows.
    """
    operator, n = spectrum.operator, len(spectrum.eigenvalues)
    edge = operator.edge
    if edge is None or not edge.found:
        return np.zeros(n)
    rows, tall = edge.rows, (operator.kernel.bandwidth.squared, operator.pilot.rho0)
    squared, rho0 = to_host([values[rows] for values in tall])
    widths = np.sqrt(4 * operator.epsilon * squared)
    ratio = np.median(widths / (np.sqrt(4 * PILOT_EPSILON) * rho0))
    weights = overhang(edge.strips / widths, *mass_exponents(operator), float(ratio))
    degrees = to_host(operator.degrees[rows, None])
    mass = degrees * spectrum.local_times(to_host(operator.steps[rows]))
    at, product = to_host(spectrum.vectors[rows]), products_at(operator, rows, spectrum.vectors)
    energy = 0.5 * (degrees * at**2 - 2 * at * product[:, :n] + product[:, n:])
    theta = spectrum.log.pencil_eigenvalues
    changes = weights @ (energy - theta * mass * at**2)
    total = masses(spectrum) * edge.n_judged / operator.order.n_points
    # The rates are -λ.
    return np.asarray(-changes / total)


def products_at(operator: Operator, rows: NDArray[np.intp], u: Any) -> FloatArray:
    """Return K u and K u² at some points, (m, 2n)."""
    if is_elsewhere(u):
        found: FloatArray = to_host(operator.alpha_kernel.product_at(rows, np.hstack([u, u**2])))
        return found
    links, reached = occurring(operator.alpha_kernel.rows_at(rows))
    near = u[reached]
    return np.asarray(links @ np.hstack([near, near**2]))


def mass_exponents(operator: Operator) -> tuple[float, float]:
    """Return 1 - 2α and β(d+2): the powers of the kernel's and the pilot's density in D g.

    The second is 0 where the bandwidth is given.
    """
    return 1 - 2 * operator.alpha, (operator.beta or 0.0) * (operator.dim + 2)


def overhang(depths: FloatArray, of_kernel: float, of_pilot: float, ratio: float) -> FloatArray:
    """Return I/J(x) for strips of the depths x, in kernel widths (see the module).

    `of_kernel` and `of_pilot` are the exponents in w, and `ratio` is r.
    """
    step = FARTHEST / STEPS
    z = np.linspace(step / 2, FARTHEST - step / 2, STEPS)
    weight = np.power(inside(z), of_kernel) * np.power(inside(ratio * z), of_pilot)
    excess = np.concatenate([[0.0], np.cumsum(weight - 1) * step])
    partial = np.interp(depths, np.arange(STEPS + 1) * step, excess)
    return np.asarray(excess[-1] / (depths + partial))


def inside(z: FloatArray) -> FloatArray:
    """Return m(z), the share of a Gaussian kernel inside the data at z widths from the edge."""
    return np.asarray(0.5 * (1 + erf(z)))
