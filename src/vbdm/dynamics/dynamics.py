"""`spectrum.dynamics`: what the process does in time."""

from __future__ import annotations

from ..base.kept import Accessor, kept
from ..spectrum.spectrum import Spectrum
from . import correlations, diffusivity, distances, evolution, states
from .basis import Basis, basis_of


class Dynamics(Accessor):
    """What the process does in time, by the modes of a spectrum: `spectrum.dynamics`.

    Times are in units in which the diffusivity is 1, unless a `clock` is passed, which knows it
    from a time series. A spectrum that lives on a device is copied into this machine's memory
    first.
    """

    def __init__(self, spectrum: Spectrum) -> None:
        super().__init__(spectrum)
        self.spectrum = spectrum

    @kept
    def basis(self) -> Basis:
        """The span of the modes, with the inner product of the invariant measure."""
        return basis_of(self.spectrum)

    # Each method stands beside its mathematics.
    project, evaluate = evolution.project, evolution.evaluate
    evolve, drift = evolution.evolve, evolution.drift
    correlation, power_spectrum = correlations.correlation, correlations.power_spectrum
    relax, respond = correlations.relax, correlations.respond
    diffusion_distance = distances.diffusion_distance
    commute_distance, pseudotime = distances.commute_distance, distances.pseudotime
    clock, states = diffusivity.clock, states.states
