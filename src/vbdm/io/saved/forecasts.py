"""Saved forecasters: the training series, and what the hold-out decided.

The operator, the states and the basis follow from the series, and are computed again when a file
is read; choices are not made again. So a file takes 8 bytes for each number of the series, and a
loaded model forecasts what the saved one does, bit by bit on the same machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from zipfile import ZipFile

import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from ...base.arrays import FloatArray, IntArray
from ...base.files import PathLike
from ...base.versions import __version__
from ...errors import InputError, OutOfMemoryError, SolverError
from ...forecast.choose import Trial
from ...forecast.holdout import HoldOut
from ...forecast.learn import Decided
from ...forecast.modes import Basis, Modes
from ...forecast.neighbours import Neighbours
from ...forecast.predictor import ByLead, Learned, Predictor
from ...forecast.record import Record
from ...forecast.times import Cycle, TimeAxis, seasons, waves_of
from ...forecaster import Forecaster, estimate
from ...operator.operator import Operator
from ...prepare.delays import Delays
from .archive import Arrays, read_arrays, refuse_large, require, write_archive
from .persistence import check_notes
from .schema import FORECAST_ARRAYS, LARGEST_OF_SERIES, MOST, Count, pack, unpack

#: Times that NumPy can tell, in seconds and in months from 1970.
SECONDS, MONTHS = 1e12, 4e5


class SeriesParts(Struct):
    """A training series."""

    values: FloatArray
    lengths: IntArray
    names: tuple[str, ...]
    last_step: Annotated[int, Meta(ge=-(2**40), le=2**40)]


class DelayScore(Struct):
    """How well a number of delays did."""

    delays: Count
    score: float


class DecidedParts(Struct, kw_only=True):
    """What a hold-out decided; what is absent is that of the other predictor."""

    predictor: Literal["modes", "neighbours"]
    delays: Count
    delay_step: Count
    # 0 where the predictor is not that of modes.
    n_modes: Annotated[int, Meta(ge=0, le=MOST)]
    n_functions: Annotated[int, Meta(ge=0, le=MOST)]
    direct: bool
    n_starts: Count
    leads: NDArray[np.intp]
    spread: FloatArray
    score: FloatArray
    sharpness: FloatArray | None = None
    share: FloatArray | None = None
    scores: dict[str, float]
    delay_scores: tuple[DelayScore, ...]


class ForecasterModel(Struct):
    """All that a file says of a forecaster."""

    series: SeriesParts
    axis: TimeAxis
    cycle: Cycle
    decided: DecidedParts
    parameters: dict[str, Any]


def save_forecaster(
    model: Forecaster, path: PathLike, notes: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted forecaster into one file; `vbdm.load` gives it back."""
    arrays: Arrays = {}
    record = model.learned_.record
    # Without the cycle of the seasons.
    series = {
        "values": record.values, "lengths": np.bincount(record.series_of),
        "names": model.names_, "last_step": model.last_step_,
    }  # fmt: skip
    parts = {
        "series": series, "axis": model.axis_, "cycle": model.cycle_,
        "decided": decided_by(model), "parameters": model.get_params(),
    }  # fmt: skip
    head = {"vbdm": __version__, "kind": "forecaster", **pack(parts, "", arrays)}
    write_archive(path, {**head, "notes": None if notes is None else check_notes(notes)}, arrays)


def decided_by(model: Forecaster) -> dict[str, Any]:
    """Return what the hold-out decided, as the file has it."""
    learned = model.learned_
    predictor, record = learned.predictor, learned.record
    found: dict[str, Any] = {"n_modes": 0, "n_functions": 0, "direct": False}
    # Parameters of the model may have been set to others since it was fitted.
    if isinstance(predictor, Modes):
        found["n_functions"], found["direct"] = predictor.functions.n_functions, predictor.direct
        found["n_modes"] = predictor.n_modes
    elif isinstance(predictor, Neighbours):
        found["sharpness"], found["share"] = predictor.sharpness.values, predictor.share.values
    return {
        **found, "predictor": predictor.name,
        "delays": record.delays.count, "delay_step": record.delays.step,
        "leads": learned.score.leads.astype(np.int64), "score": learned.score.values,
        "spread": learned.spread.values, "n_starts": len(model.decided_.chosen.held.states),
        "scores": model.scores_,
        "delay_scores": [
            {"delays": own, "score": score} for own, score in model.delay_scores_.items()
        ],
    }  # fmt: skip


def read_forecaster(head: dict[str, Any], archive: ZipFile) -> Forecaster:
    """Make a fitted forecaster again."""
    model: ForecasterModel = unpack(head, read_arrays(archive, FORECAST_ARRAYS), ForecasterModel)
    series = model.series
    check_series(series, model.axis, model.cycle)
    check_decided(model.decided)
    made = Forecaster(**model.parameters)
    made._validate_params()
    made.axis_, made.cycle_, made.names_ = model.axis, model.cycle, series.names
    made.last_step_, made.n_features_in_ = series.last_step, series.values.shape[1]
    made._remember(rebuilt(series, model.decided))
    made.scores_ = dict(model.decided.scores)
    return made


def check_series(series: SeriesParts, axis: TimeAxis, cycle: Cycle) -> None:
    """Raise if the parts of a series do not fit each other."""
    values = series.values
    require(int(series.lengths.sum()) == len(values), "series/lengths", "are of another series")
    require(len(series.names) == values.shape[1], "series/names", "are of other columns")
    require(np.isfinite(values).any(axis=0).all(), "series/values", "have a column without any")
    period = cycle.period
    require(period == 0 or 2 <= period <= 1e9, "cycle/period", "is no number of steps")
    waves = seasons(np.zeros(1, dtype=np.int64), period, waves_of(period)).shape[1]
    require(cycle.waves.shape == (waves, values.shape[1]), "cycle/waves", "are of another period")
    known = axis.kind in ("rows", "numbers", "months", "dates") and -1 <= axis.day <= 27
    require(known and axis.step > 0, "axis", "is none")
    largest = {"months": MONTHS, "dates": SECONDS}.get(axis.kind, LARGEST_OF_SERIES)
    reach = abs(axis.origin) + axis.step * (abs(series.last_step) + len(values))
    require(reach <= largest, "axis", "has no such times")
    require(axis.kind != "months" or axis.step == round(axis.step), "axis/step", "is no month")


def check_decided(decided: DecidedParts) -> None:
    """Raise if what was decided does not fit together."""
    if decided.predictor == "modes":
        require(min(decided.n_modes, decided.n_functions) > 0, "decided/n_modes", "is missing")
    else:
        there = decided.sharpness is not None and decided.share is not None
        require(there, "decided/sharpness", "is missing")
    require(np.all(np.diff(decided.leads) > 0), "decided/leads", "do not ascend")
    require(decided.predictor in decided.scores, "decided/scores", "are those of another predictor")


def rebuilt(series: SeriesParts, decided: DecidedParts) -> Decided:
    """Return what was learned, without another choice."""
    try:
        with np.errstate(all="ignore"):
            record = record_of(series, Delays(decided.delays, decided.delay_step))
            predictor = predictor_of(record, estimate(record), decided)
    except OutOfMemoryError:
        raise
    except (InputError, SolverError, ArithmeticError) as error:
        raise ValueError(f"series/values make no states ({error})") from error
    at = decided.leads.astype(np.float64)
    spread, score = (ByLead(at, getattr(decided, name)) for name in ("spread", "score"))
    learned = Learned(predictor=predictor, spread=spread, score=score)
    held = HoldOut.of(record)
    require(decided.n_starts <= len(held.states), "decided/n_starts", "are more than there are")
    if decided.n_starts < len(held.states):
        held = held.thinned(decided.n_starts)
    chosen = Trial(predictor, held, tuple(decided.leads.tolist()), ())
    scores = {own.delays: own.score for own in decided.delay_scores}
    return Decided(learned, chosen, {}, scores)


def record_of(series: SeriesParts, delays: Delays) -> Record:
    """Return the record of a series; delays that do not fit into it are refused before the work."""
    values = series.values
    require(delays.reach < len(values), "decided/delays", "are longer than the series")
    refuse_large(3 * values.nbytes * delays.count)
    return Record.of(values, tuple(series.lengths.tolist()), delays)


def predictor_of(record: Record, operator: Operator, decided: DecidedParts) -> Predictor:
    """Return the predictor with the settings that were decided."""
    if decided.predictor == "neighbours":
        at = decided.leads.astype(np.float64)
        sharpness, share = (ByLead(at, getattr(decided, name)) for name in ("sharpness", "share"))
        return Neighbours(record=record, operator=operator, sharpness=sharpness, share=share)
    wanted = min(decided.n_functions, len(record.rows) // 2)
    refuse_large(3 * 8 * len(record.rows) * wanted)
    functions = Basis.of(operator, record.states, decided.n_functions)
    modes = Modes(record=record, functions=functions, direct=decided.direct)
    require(decided.n_modes <= modes.n_modes, "decided/n_modes", "are more than there are")
    return modes.truncated(decided.n_modes)
