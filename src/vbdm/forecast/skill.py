"""How good forecasts are, beside what they must beat: errors, scores, and coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..base.arrays import BoolArray, FloatArray
from ..errors import InputError
from .ensemble import Ensemble
from .holdout import HoldOut, mean_known
from .learn import Decided
from .predictor import Learned
from .record import Record
from .references import ENDS, MEASURES, NAMES, Empirical, Marginal, Normal, Reference, References

#: Who is compared: the forecast and the references.
METHODS = ("forecast", *NAMES)
#: Number of classes of a histogram of probabilities.
CLASSES = 10
#: The least density that counts in ignorance, as a share of that of climatology.
LEAST_DENSITY = 1e-6
#: Values that differ by less than this share are the same.
SAME = 1e-12
#: What a data set says of its leads.
STEPS = {"long_name": "lead", "units": "1", "description": "steps of the series ahead"}
#: Skill in CRPS up to which climatology is not beaten, on new series and on what is held out.
NO_GAIN = 0.01


@dataclass(frozen=True, eq=False, kw_only=True)
class Skill:
    """Scores of forecasts and of references at each lead; arrays are (methods, leads, columns).

    Attributes
    ----------
    leads : (L,) array of int
        Steps ahead.
    names : tuple of str
        Names of the columns.
    n_cases : (L,) array of int
        Number of forecasts that were compared with what came.
    rmse : array
        Root mean square error of the mean, in the unit of the column.
    acc : array
        Anomaly correlation: that of mean and truth, both without the cycle of the seasons; NaN for
        climatology, which does not change.
    crps : array
        Mean continuous ranked probability score, in the unit of the column; small is good.
    coverage50, coverage90 : arrays
        Shares of what came that central intervals of 50 and 90 % held.
    ignorance : array
        Mean of -log₂ of the density at what came, in bits.
    histogram : (L, columns, 10) array
        Shares of forecasts with F(y) in each tenth from 0 to 1: .1 each if they are reliable.
    """

    leads: NDArray[np.intp]
    names: tuple[str, ...]
    n_cases: NDArray[np.intp]
    rmse: FloatArray = field(repr=False)
    acc: FloatArray = field(repr=False)
    crps: FloatArray = field(repr=False)
    coverage50: FloatArray = field(repr=False)
    coverage90: FloatArray = field(repr=False)
    ignorance: FloatArray = field(repr=False)
    histogram: FloatArray = field(repr=False)

    @property
    def methods(self) -> tuple[str, ...]:
        """Who is compared, in the order of the first dimension."""
        return METHODS

    @property
    def crpss(self) -> FloatArray:
        """Skill in CRPS against climatology, 1 - crps/crps of climatology, (leads, columns).

        NaN for a column that does not change.
        """
        least = np.where(self.crps[1] > 0, self.crps[1], np.nan)
        return np.asarray(1 - self.crps[0] / least)

    @property
    def beaten(self) -> BoolArray:
        """Where climatology is beaten in CRPS, (leads, columns)."""
        return np.asarray(self.crpss > NO_GAIN)

    @property
    def not_beaten(self) -> NDArray[np.intp]:
        """Leads at which climatology is not beaten, in the mean of the columns.

        Leads without a case are not among them, nor columns that do not change.
        """
        gain = mean_known(self.crpss, axis=1)
        return np.asarray(self.leads[np.isfinite(gain) & ~(gain > NO_GAIN)])

    def to_dataframe(self) -> Any:
        """Return one row for each method, lead and column, as a frame of pandas."""
        import pandas as pd

        method, lead, column = (index.ravel() for index in np.indices(self.rmse.shape))
        return pd.DataFrame({
            "method": np.array(self.methods, dtype=object)[method],
            "lead": self.leads[lead],
            "column": np.array(self.names, dtype=object)[column],
            "n_cases": self.n_cases[lead],
            **{name: getattr(self, name).ravel() for name in MEASURES},
        })  # fmt: skip

    def to_xarray(self) -> Any:
        """Return all measures as a data set of xarray, along model, lead and column.

        Methods stand along ``model``: ``sel(method=...)`` means something else to xarray.
        """
        dims = ("model", "lead", "column")
        variables = {
            **{name: (dims, getattr(self, name)) for name in MEASURES},
            "crpss": (dims[1:], self.crpss),
            "histogram": ((*dims[1:], "probability"), self.histogram),
            "n_cases": ("lead", self.n_cases),
        }
        middles, about = (np.arange(CLASSES) + 0.5) / CLASSES, "middle of a class of F(y)"
        return data_set(variables, {
            "model": list(self.methods),
            "lead": ("lead", self.leads, STEPS),
            "column": list(self.names),
            "probability": ("probability", middles, {"long_name": about}),
        })  # fmt: skip

    def plot(self, *args: Any, **kwargs: Any) -> Any:
        """Draw scores against the lead, and how reliable probabilities are."""
        from ..plot import skill

        return skill(self, *args, **kwargs)

    def __str__(self) -> str:
        """Return a table of the first column, or of the mean over columns."""
        from .words import skill_in_words

        return skill_in_words(self)


def data_set(variables: dict[str, Any], coords: dict[str, Any]) -> Any:
    """Return a data set of xarray, or raise with how to install it."""
    try:
        import xarray
    except ImportError as error:
        raise InputError(
            f"Data sets need the library xarray, which cannot be imported here ({error}). Install "
            "it with: pip install 'vbdm[netcdf]'"
        ) from error
    return xarray.Dataset(variables, coords)


@dataclass(frozen=True, eq=False)
class Case:
    """Forecasts of one lead: distributions of each column, references, and what came, (n, m)."""

    lead: int
    members: Sequence[Ensemble]
    references: Mapping[str, Reference]
    truths: FloatArray


def skill_of(cases: Sequence[Case], names: tuple[str, ...]) -> Skill:
    """Return the scores of forecasts at some leads."""
    tables = np.stack([measure_all(case) for case in cases], axis=2)
    return Skill(
        leads=np.array([case.lead for case in cases], dtype=np.intp), names=names,
        n_cases=np.array([int(np.isfinite(case.truths).any(axis=1).sum()) for case in cases]),
        histogram=np.array([histogram(case) for case in cases]),
        **dict(zip(MEASURES, tables, strict=True)),
    )  # fmt: skip


def measure_all(case: Case) -> FloatArray:
    """Return all measures of all methods at one lead, (measures, methods, columns)."""
    found = np.empty((len(MEASURES), len(METHODS), case.truths.shape[1]))
    for j, y in enumerate(case.truths.T):
        members = case.members[j]
        density = members.density(y[:, None])[:, 0]
        own = Marginal(members.mean, members.crps(y), members.quantile(ENDS), density)
        told = [own, *(case.references[name].marginal(j, y) for name in NAMES)]
        found[:, :, j] = np.transpose([measures_of(one, y) for one in told])
    # Climatology does not change; on what is held out it does a little, from block to block.
    found[MEASURES.index("acc"), METHODS.index("climatology")] = np.nan
    return found


def measures_of(told: Marginal, y: FloatArray) -> tuple[float, ...]:
    """Return all measures of one method, lead and column."""
    use = np.isfinite(y) & np.isfinite(told.mean)
    if not use.any():
        return (np.nan,) * len(MEASURES)
    mean, crps, ends, density = (part[use] for part in told)
    y = y[use]
    inner = (ends[:, 1] <= y) & (y <= ends[:, 2])
    outer = (ends[:, 0] <= y) & (y <= ends[:, 3])
    spread = y.std()
    least = LEAST_DENSITY / (spread if spread > 0 else 1.0)
    bits = -np.log2(np.maximum(density, least)).mean()
    rmse = np.sqrt(((mean - y) ** 2).mean())
    # What is left of a column that does not change is rounding errors.
    score = crps.mean() if crps.mean() > SAME * np.abs(y).max() else 0.0
    return (
        float(rmse), correlation(mean, y), float(score), float(inner.mean()),
        float(outer.mean()), float(bits),
    )  # fmt: skip


def correlation(a: FloatArray, b: FloatArray) -> float:
    """Return the correlation of two series; NaN if one of them is constant."""
    if np.ptp(a) <= SAME * np.abs(a).max() or np.ptp(b) <= SAME * np.abs(b).max():
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    return float((a * b).sum() / np.sqrt((a**2).sum() * (b**2).sum()))


def histogram(case: Case) -> FloatArray:
    """Return shares of F(y) in classes from 0 to 1, (columns, classes)."""
    found = []
    for j, members in enumerate(case.members):
        level = members.probability_below(case.truths[:, j])
        # Weights add up to 1 but for rounding: above all members F may be a little more.
        known = np.clip(level[np.isfinite(level)], 0.0, 1.0)
        counts = np.histogram(known, bins=CLASSES, range=(0.0, 1.0))[0]
        found.append(counts / max(len(known), 1))
    return np.array(found)


def skill_on(
    learned: Learned,
    values: FloatArray,
    lengths: Sequence[int],
    leads: Sequence[int],
    names: tuple[str, ...],
) -> Skill:
    """Return the scores of forecasts from each row of new series, (N, n), without their cycle."""
    record = learned.record
    test = Record.of(values, lengths, record.delays, at_least=1)
    _, states = record.states_in(values, lengths)
    begun = learned.predictor.begin(states)
    told = References(record, np.zeros(record.n_rows, dtype=np.bool_))
    climatology = Empirical((told.climatology(),), np.zeros(len(test.rows), dtype=np.intp))
    cases = []
    for lead in leads:
        ahead = test.later(lead)
        truths = np.where((ahead >= 0)[:, None], values[ahead], np.nan)
        references: dict[str, Reference] = {
            "climatology": climatology,
            "persistence": told.persistence(values[test.rows], lead),
            "linear": told.linear(states, lead),
        }
        cases.append(Case(lead, learned.members(begun, lead), references, truths))
    return skill_of(cases, names)


def skill_held_out(decided: Decided, names: tuple[str, ...]) -> Skill:
    """Return the scores of forecasts on what was held out, with the spread that was learned.

    The same rows have chosen the predictor and set its spread: they flatter it a little.
    """
    chosen = decided.chosen
    held, leads = chosen.held, chosen.leads
    found = held.members(chosen.predictor, leads)
    cases = []
    for lead, plain in zip(leads, found, strict=True):
        factors = decided.learned.spread.at(lead)
        members = [own.spread(by) for own, by in zip(plain, factors, strict=True)]
        cases.append(Case(lead, members, references_outside(held, lead), held.truths(lead)))
    return skill_of(cases, names)


def references_outside(held: HoldOut, lead: int) -> dict[str, Reference]:
    """Return the references of all held-out starts, learned outside their blocks."""
    start = held.record.values[held.rows]
    normal: dict[str, list[Normal]] = {"persistence": [], "linear": []}
    which = np.empty(len(start), dtype=np.intp)
    for number, block in enumerate(held.blocks):
        told = References(held.record, block.left_out)
        normal["persistence"].append(told.persistence(start[block.starts], lead))
        normal["linear"].append(told.linear(held.points[block.starts], lead))
        which[block.starts] = number
    found: dict[str, Reference] = {
        "climatology": Empirical(tuple(block.climatology for block in held.blocks), which)
    }
    for name, parts in normal.items():
        mean = np.concatenate([own.mean for own in parts])
        found[name] = Normal(mean, np.concatenate([own.deviation for own in parts]))
    return found
