"""The clock of a process: its diffusivity, times of the modes, and what is said about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import FloatArray, frozen
from ..base.estimate import Estimate
from ..base.wording import listed
from ..errors import InputError


class Timescales(np.ndarray):
    """Times of modes, an array that can also be called, as models of packages for Markov models.

    As an array these are -1/(D λ), in the user's unit: `times[1]`. The call is for the plots of
    such packages, which draw implied times over the lag, both in rows: `times(k)` are the implied
    times -τ/log C of the first k modes that decay, in rows, at the one lag `clock.lagtime`. They
    are those of single modes, which need no diffusivity; NaN where a mode is forgotten by then.

    Examples
    --------
    >>> times = Timescales.of([np.inf, 4.0, 0.5], implied=[21.0, 2.4])
    >>> times[1].item(), times(1).tolist(), times().tolist()
    (4.0, [21.0], [21.0, 2.4])
    """

    implied: FloatArray

    @classmethod
    def of(cls, values: Any, implied: Any) -> Timescales:
        """Return an array as one that can be called, and then gives the implied times in rows."""
        result: Timescales = frozen(np.asarray(values, dtype=np.float64)).view(cls)
        result.implied = frozen(np.asarray(implied, dtype=np.float64))
        return result

    def __array_finalize__(self, made_from: Any) -> None:
        """Keep the implied times in copies and parts."""
        self.implied = getattr(made_from, "implied", np.empty(0))

    def __reduce__(self) -> Any:
        """Keep them in pickles."""
        return type(self).of, (np.asarray(self), self.implied)

    def __call__(self, k: int | None = None) -> FloatArray:
        """Return implied times of the first k modes that decay, in rows; of all by default."""
        return np.asarray(self.implied[:k])


@dataclass(frozen=True, kw_only=True)
class ModeClock:
    """What one mode says about time, C being how alike it is after a time τ of `lag` rows."""

    mode: int
    lag: int
    correlation: float
    #: D = log C / (τ λ), with its error.
    diffusivity: Estimate
    #: The time -τ / log C in which the mode decays, whatever λ is: it needs no diffusivity, and
    #: holds for one mode even if there is none.
    implied_time: Estimate


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Clock:
    """How fast the process runs: from eigenvalues, in 1/length², to times in the user's unit.

    Attributes
    ----------
    diffusivity : Estimate
        D in length² per unit of time, and its standard error.
    timescales : (n,) array
        Times -1/(D λ_j) in which modes decay; infinite where λ = 0. It may be called, too, as
        packages for Markov models do: `clock.timescales(3)` are implied times -τ/log C of the
        first three modes that decay, at the lag `lagtime` and in rows, as that is.
    timescale_errors : (n,) array
        Their standard errors.
    rates : (n,) array
        Rates -D λ_j per unit of time.
    rate_errors : (n,) array
        Their standard errors.
    consistent : bool
        Whether the modes agree on one diffusivity.
    reason : str
        What speaks against it, or how well they agree, in words.
    disagreement : float
        χ² of the modes' diffusivities, divided by its degrees of freedom; above 3 they disagree.
    by_mode : tuple of ModeClock
        What the modes say, one by one. Where they disagree, use their implied times.
    lagtime : int
        The lag from which the diffusivity was read, in rows.
    lags : (m,) int array
        All lags that were looked at, in rows.
    implied_times : (m, k) array
        Implied times of the modes in `by_mode` at these lags, in the user's unit; NaN where C is
        too small to tell, or not positive.
    step : float
        Time from one row to the next.
    unit : str
        Name of the unit of time; empty if none was given.
    """

    diffusivity: Estimate
    timescales: Timescales
    timescale_errors: FloatArray
    rates: FloatArray
    rate_errors: FloatArray
    consistent: bool
    reason: str
    disagreement: float
    by_mode: tuple[ModeClock, ...]
    lagtime: int
    lags: NDArray[np.intp]
    implied_times: FloatArray
    step: float
    unit: str

    def plot(self, ax: Any = None) -> Any:
        """Draw the implied times of the modes over the lag (see `vbdm.plot.clock`)."""
        from ..plot import clock

        return clock(self, ax=ax)

    def __repr__(self) -> str:
        """Give the diffusivity, the first times, and whether the modes agree."""
        unit = f" {self.unit}" if self.unit else ""
        finite = self.timescales[np.isfinite(self.timescales)]
        times = ", ".join(f"{time:.3g}" for time in finite[:4])
        agree = "the modes agree" if self.consistent else "THE MODES DISAGREE"
        per = " per" * bool(unit) + unit
        return f"Clock(D = {self.diffusivity} length²{per}, times {times}{unit}, {agree})"


def nothing_seen(modes: Any, lag: int, correlations: FloatArray, fast: bool) -> InputError:
    """Return the error for a series along which no mode forgets at a rate that can be read."""
    if not len(modes):
        return InputError(
            "No mode tells how fast the process is; received a spectrum without a mode that "
            "decays. Ask for more eigenvalues: `op.spectrum(6)`."
        )
    advice = (
        "Rows are as good as independent: use a shorter `step`, or shorter `lags`."
        if fast
        else "All modes change too little over the whole series: pass a longer one."
    )
    return InputError(
        "No mode tells how fast the process is; received correlations of modes "
        f"{listed(modes[:4])} after {lag} row(s) of "
        f"{', '.join(f'{value:.2g}' for value in correlations[:4])}. {advice}"
    )


def reason(by_mode: tuple[ModeClock, ...], *, steady: bool, agree: bool, c1: float | None) -> str:
    """Return in words whether there is one diffusivity."""
    each = "; ".join(f"mode {one.mode}: {one.diffusivity}" for one in by_mode[:4])
    if not steady:
        return (
            f"The diffusivity changes with the lag until modes are forgotten ({each}), as it "
            "does with inertia, with memory, or with noise in the measurements. Pass longer "
            "`lags`, or use the implied times of single modes (`by_mode`)."
        )
    if not agree:
        words = (
            f"The modes do not decay with one diffusivity ({each}): the process is no "
            "diffusion that is the same in all directions of these columns. Divide each "
            "column by the square root of its own diffusivity, or use the implied times of "
            "single modes (`by_mode`)."
        )
        if c1 is not None and not np.isclose(c1, 1):
            words += ' A process that samples its own density needs operator="generator".'
        return words
    if len(by_mode) == 1:
        return f"Only mode {by_mode[0].mode} is seen, with no other to compare it with."
    return f"{len(by_mode)} modes agree on one diffusivity ({each})."
