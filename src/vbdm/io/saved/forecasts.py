"""Saved forecasters: the training series, and what the hold-out decided.

The operator, the states and the basis follow from the series, and are computed again when a file
is read; choices are not made again. So a file takes 8 bytes for each number of the series, and a
loaded model forecasts what the saved one does, bit by bit on the same machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...base.files import PathLike
from ...base.versions import __version__
from ...errors import InputError, OutOfMemoryError, SolverError
from ...forecast.holdout import HoldOut
from ...forecast.learn import Decided, Trial
from ...forecast.modes import Basis, Modes
from ...forecast.neighbours import Neighbours
from ...forecast.predictor import ByLead, Learned, Predictor
from ...forecast.record import Record
from ...forecast.times import Cycle, TimeAxis, seasons, waves_of
from ...forecaster import Forecaster, estimate
from ...operator.operator import Operator
from ...prepare.delays import Delays
from .archive import Source, check_notes, refuse_large, write_archive
from .fields import POSITIVE, Array, Arrays, Many, Maybe, Number, count, pack, part, require, unpack

#: Largest numbers of the series: their squares, and those of distances, are numbers as well.
LARGEST = 1e140
#: Times that NumPy can tell, in seconds and in months from 1970; and steps.
SECONDS, MONTHS, STEPS = 1e12, 4e5, 2**40
SCORE = Number(0, np.inf, missing=True)
MOST = 2**31 - 1

SERIES = part(
    dict, values=Array(("N", "n"), low=-LARGEST, high=LARGEST, missing=True),
    lengths=Array(("series",), "i", low=1, high=MOST), names=Many(str),
    last_step=count(-STEPS, STEPS),
)  # fmt: skip
AXIS = part(
    TimeAxis, kind=("rows", "numbers", "months", "dates"), origin=Number(), step=Number(POSITIVE),
    day=count(-1, 27),
)  # fmt: skip
CYCLE = part(Cycle, period=Number(0, 1e9), waves=Array(("waves", "n")))
#: What may be None is that of the other predictor.
DECIDED = part(
    dict, predictor=("modes", "neighbours"), delays=count(1), delay_step=count(1),
    n_modes=Maybe(count(1)), n_functions=Maybe(count(1)), direct=bool,
    n_starts=count(1),
    leads=Array(("L",), "i", low=1, high=MOST), spread=Array(("L", "n"), low=1e-3, high=1e3),
    score=Array(("L",), low=0, high=np.inf, missing=True),
    sharpness=Maybe(Array(("L",), low=-10, high=10)), share=Maybe(Array(("L",), low=0, high=1)),
    scores=part(dict, modes=Maybe(SCORE), neighbours=Maybe(SCORE)),
    delay_scores=Many(part(dict, delays=count(1), score=SCORE)),
)  # fmt: skip
NAMES = ("modes", "neighbours")


def save_forecaster(
    model: Forecaster, path: PathLike, notes: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted forecaster into one file; `vbdm.load` gives it back.

    Parameters
    ----------
    model : Forecaster
        The model. Its parameters, its training series and what the hold-out decided are kept.
    path : path
        The file, replaced if it exists: it is written under a temporary name and then renamed.
    notes : mapping, optional
        What else should travel with the file, as in `vbdm.save`.
    """
    arrays: Arrays = {}
    parameters = {name: as_plain(value) for name, value in model.get_params().items()}
    head = {
        "vbdm": __version__,
        "kind": "forecaster",
        "series": pack(SERIES, series_of(model), "series", arrays),
        "axis": pack(AXIS, model.axis_, "axis", arrays),
        "cycle": pack(CYCLE, model.cycle_, "cycle", arrays),
        "decided": pack(DECIDED, decided_by(model), "decided", arrays),
        "model": {"parameters": parameters},
        "notes": None if notes is None else check_notes(notes),
    }
    write_archive(path, head, arrays)


def as_plain(value: Any) -> Any:
    """Return a parameter as JSON has it; they are numbers, words and None."""
    return value.item() if isinstance(value, np.generic) else value


def series_of(model: Forecaster) -> dict[str, Any]:
    """Return the training series, without the cycle of the seasons, as the file has it."""
    record = model.learned_.record
    return {
        "values": record.values, "lengths": np.bincount(record.series_of),
        "names": model.names_, "last_step": model.last_step_,
    }  # fmt: skip


def decided_by(model: Forecaster) -> dict[str, Any]:
    """Return what the hold-out decided, as the file has it."""
    learned = model.learned_
    predictor, record = learned.predictor, learned.record
    found: dict[str, Any] = dict.fromkeys(("n_modes", "n_functions", "sharpness", "share"))
    found["direct"] = False
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
        "scores": {name: model.scores_.get(name) for name in NAMES},
        "delay_scores": [
            {"delays": own, "score": score} for own, score in model.delay_scores_.items()
        ],
    }  # fmt: skip


def unpack_forecaster(source: Source) -> Forecaster:
    """Make a fitted forecaster again."""
    series = unpack(SERIES, source.head["series"], "series", source)
    axis = unpack(AXIS, source.head["axis"], "axis", source)
    cycle = unpack(CYCLE, source.head["cycle"], "cycle", source)
    decided = unpack(DECIDED, source.head["decided"], "decided", source)
    check_series(series, axis, cycle)
    check_decided(decided)
    made = Forecaster(**source.head["model"]["parameters"])
    made._validate_params()
    made.axis_, made.cycle_, made.names_ = axis, cycle, series["names"]
    made.last_step_, made.n_features_in_ = series["last_step"], series["values"].shape[1]
    made._remember(rebuilt(series, decided))
    made.scores_ = {name: own for name, own in decided["scores"].items() if own is not None}
    return made


def check_series(series: dict[str, Any], axis: TimeAxis, cycle: Cycle) -> None:
    """Raise if the parts of a series do not fit each other."""
    values, lengths = series["values"], series["lengths"]
    require(int(lengths.sum()) == len(values), "series/lengths", "are of another series")
    require(len(series["names"]) == values.shape[1], "series/names", "are of other columns")
    require(np.isfinite(values).any(axis=0).all(), "series/values", "have a column without any")
    require(cycle.period == 0 or cycle.period >= 2, "cycle/period", "is no number of steps")
    waves = seasons(np.zeros(1, dtype=np.int64), cycle.period, waves_of(cycle.period)).shape[1]
    require(len(cycle.waves) == waves, "cycle/waves", "are of another period")
    largest = {"months": MONTHS, "dates": SECONDS}.get(axis.kind, LARGEST)
    reach = abs(axis.origin) + axis.step * (abs(series["last_step"]) + len(values))
    require(reach <= largest, "axis", "has no such times")
    require(axis.kind != "months" or axis.step == round(axis.step), "axis/step", "is no month")


def check_decided(decided: dict[str, Any]) -> None:
    """Raise if what was decided does not fit together."""
    own = ("n_modes", "n_functions") if decided["predictor"] == "modes" else ("sharpness", "share")
    require(all(decided[name] is not None for name in own), f"decided/{own[0]}", "is missing")
    require(np.all(np.diff(decided["leads"]) > 0), "decided/leads", "do not ascend")
    tried = decided["scores"][decided["predictor"]]
    require(tried is not None, "decided/scores", "are those of another predictor")


def rebuilt(series: dict[str, Any], decided: dict[str, Any]) -> Decided:
    """Return what was learned, without another choice."""
    try:
        with np.errstate(all="ignore"):
            record = record_of(series, Delays(decided["delays"], decided["delay_step"]))
            predictor = predictor_of(record, estimate(record), decided)
    except OutOfMemoryError:
        raise
    except (InputError, SolverError, ArithmeticError) as error:
        raise ValueError(f"series/values make no states ({error})") from error
    at = decided["leads"].astype(np.float64)
    spread, score = (ByLead(at, decided[name]) for name in ("spread", "score"))
    learned = Learned(predictor=predictor, spread=spread, score=score)
    held = HoldOut.of(record)
    require(decided["n_starts"] <= len(held.states), "decided/n_starts", "are more than there are")
    if decided["n_starts"] < len(held.states):
        held = held.thinned(decided["n_starts"])
    chosen = Trial(predictor, held, tuple(decided["leads"].tolist()), ())
    scores = {own["delays"]: own["score"] for own in decided["delay_scores"]}
    return Decided(learned, chosen, {}, scores)


def record_of(series: dict[str, Any], delays: Delays) -> Record:
    """Return the record of a series; delays that do not fit into it are refused before the work."""
    values = series["values"]
    require(delays.reach < len(values), "decided/delays", "are longer than the series")
    refuse_large(3 * values.nbytes * delays.count)
    return Record.of(values, tuple(series["lengths"].tolist()), delays)


def predictor_of(record: Record, operator: Operator, decided: dict[str, Any]) -> Predictor:
    """Return the predictor with the settings that were decided."""
    if decided["predictor"] == "neighbours":
        at = decided["leads"].astype(np.float64)
        sharpness, share = (ByLead(at, decided[name]) for name in ("sharpness", "share"))
        return Neighbours(record=record, operator=operator, sharpness=sharpness, share=share)
    wanted = min(decided["n_functions"], len(record.rows) // 2)
    refuse_large(3 * 8 * len(record.rows) * wanted)
    functions = Basis.of(operator, record.states, decided["n_functions"])
    modes = Modes(record=record, functions=functions, direct=decided["direct"])
    require(decided["n_modes"] <= modes.n_modes, "decided/n_modes", "are more than there are")
    return modes.truncated(decided["n_modes"])
