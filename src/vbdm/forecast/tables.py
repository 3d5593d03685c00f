"""Results of forecasts as others read them: data sets of xarray, frames of pandas, and words."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.accepts import a_count, accepts
from ..errors import InputError
from .scores import MEASURES

if TYPE_CHECKING:
    from .forecast import Forecast
    from .skill import Skill

#: Quantiles that tables have: the ends of intervals of 90 and 50 %, and the median.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
STEPS = {"long_name": "lead", "units": "1", "description": "steps of the series ahead"}


@accepts(members=a_count(0, 10**6), random_state=a_count(0))
def forecast_to_xarray(forecast: Forecast, members: int = 0, random_state: int = 0) -> Any:
    """Return mean, standard deviation, quantiles and drawn members as a data set of xarray."""
    xarray = library("xarray", "pip install 'vbdm[netcdf]'")
    dims = ("init", "lead", "column")
    variables = {
        "mean": (dims, forecast.mean),
        "std": (dims, forecast.std),
        "quantiles": (("quantile", *dims), forecast.quantile(QUANTILES)),
    }
    if members:
        variables["members"] = (("member", *dims), forecast.sample(members, random_state))
    return xarray.Dataset(
        variables,
        coords={
            "init": ("init", forecast.init, {"long_name": "time of the start"}),
            "lead": ("lead", forecast.leads, STEPS),
            "column": list(forecast.names),
            "quantile": list(QUANTILES),
            "valid_time": (
                dims[:2], forecast.valid_times, {"long_name": "time that the forecast is for"}
            ),
            "outside": (
                "init", forecast.outside, {"long_name": "start is unlike all states of the record"}
            ),
            "doubtful": (
                "lead", forecast.doubtful, {"long_name": "no better than climatology, or not tried"}
            ),
        },
    )  # fmt: skip


def forecast_to_frame(forecast: Forecast) -> Any:
    """Return one row for each start, lead and column, as a frame of pandas."""
    pandas = library("pandas", "pip install pandas")
    start, lead, column = (index.ravel() for index in np.indices(forecast.shape))
    quantiles = forecast.quantile(QUANTILES)
    return pandas.DataFrame(
        {
            "init": forecast.init[start],
            "lead": forecast.leads[lead],
            "valid_time": forecast.valid_times[start, lead],
            "column": np.array(forecast.names, dtype=object)[column],
            "mean": forecast.mean.ravel(),
            "std": forecast.std.ravel(),
            **{
                f"q{100 * p:02.0f}": own.ravel()
                for p, own in zip(QUANTILES, quantiles, strict=True)
            },
            "outside": forecast.outside[start],
            "doubtful": forecast.doubtful[lead],
        }
    )


def skill_to_frame(skill: Skill) -> Any:
    """Return one row for each method, lead and column, as a frame of pandas."""
    pandas = library("pandas", "pip install pandas")
    method, lead, column = (index.ravel() for index in np.indices(skill.rmse.shape))
    return pandas.DataFrame(
        {
            "method": np.array(skill.methods, dtype=object)[method],
            "lead": skill.leads[lead],
            "column": np.array(skill.names, dtype=object)[column],
            "n_cases": skill.n_cases[lead],
            **{name: getattr(skill, name).ravel() for name in MEASURES},
        }
    )


def skill_to_xarray(skill: Skill) -> Any:
    """Return all measures along model, lead and column, and the histogram, as a data set.

    Methods stand along ``model``: ``sel(method=...)`` means something else to xarray.
    """
    xarray = library("xarray", "pip install 'vbdm[netcdf]'")
    dims = ("model", "lead", "column")
    classes = skill.histogram.shape[-1]
    return xarray.Dataset(
        {
            **{name: (dims, getattr(skill, name)) for name in MEASURES},
            "crpss": (dims[1:], skill.crpss),
            "histogram": ((*dims[1:], "probability"), skill.histogram),
            "n_cases": ("lead", skill.n_cases),
        },
        coords={
            "model": list(skill.methods),
            "lead": ("lead", skill.leads, STEPS),
            "column": list(skill.names),
            "probability": (
                "probability", (np.arange(classes) + 0.5) / classes,
                {"long_name": "middle of a class of F(y)"},
            ),
        },
    )  # fmt: skip


def library(name: str, install: str) -> Any:
    """Import a library that is optional, or raise with how to install it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise InputError(
            f"This table needs the library {name}, which cannot be imported here; received an "
            f"import of {name} ({error}). Install it with: {install}"
        ) from error
