"""Absurd arguments to public functions: a result or words, and never an exception of a library.

Every public callable is in `calls` with sensible arguments. One argument at a time is replaced by
each of the `ABSURD` values. Allowed are a result, an error of this package, an error of the
operating system about a file, and for the estimator scikit-learn's own words.
"""

import atexit
import inspect
import os
import shutil
import tempfile
import traceback
import warnings
from functools import cache
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError
from tests.support.estimates import estimate_with, model_with
from tests.support.fuzz.budget import budget, some
from tests.support.fuzz.trial import attempt, run
from tests.support.stand_ins import Cells

import vbdm
from vbdm.base.estimate import Estimate
from vbdm.errors import InputError, VbdmWarning

pytestmark = pytest.mark.fuzz

ABSURD = {
    "none": None,
    "true": True,
    "empty text": "",
    "text": "nonsense",
    "text with a zero byte": "a\0b",
    "digits": "3",
    "bytes": b"",
    "minus one": -1,
    "zero": 0,
    "large": 2**31,
    "larger": 2**63,
    "huge": 10**400,
    "half": 0.5,
    "minus half": -0.5,
    "nan": float("nan"),
    "inf": float("inf"),
    "minus inf": float("-inf"),
    "1e308": 1e308,
    "1e-308": 1e-308,
    "1e12": 1e12,
    "imaginary": 1j,
    "empty tuple": (),
    "empty list": [],
    "dictionary": {},
    "set": {1},
    "list of None": [None],
    "mixed list": [1, "x"],
    "ragged": [[1.0], [1.0, 2.0]],
    "object": object(),
    "class": int,
    "function of nothing": lambda: 1.0,
    "function to None": lambda *_: None,
    "function to text": lambda *_: "text",
    "empty array": np.array([]),
    "zero-dimensional array": np.array(3.0),
    "two numbers": np.array([1.0, 2.0]),
    "array with nan": np.array([[np.nan, 1.0], [1.0, 2.0]]),
    "array of text": np.array(["a", "b"]),
    "array of objects": np.array([None, {}], dtype=object),
    "date": np.datetime64("2020-01-01"),
    "slice": slice(None),
    "module": np,
}


def cloud():
    return np.random.default_rng(0).standard_normal((60, 2))


@cache
def things():
    """Return everything that sensible arguments are made of."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    np.savetxt(folder / "points.csv", cloud(), delimiter=",", header="x,y", comments="")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", VbdmWarning)
        operator = vbdm.estimate_operator(cloud(), "generator")
        spectrum = operator.spectrum(4)
        estimator = vbdm.DiffusionMap().fit(cloud())
        # A walk that is pulled back: each row keeps nine tenths of the one before it.
        walk = np.array([cloud()[i::-1].T @ 0.9 ** np.arange(i + 1) for i in range(60)])
        series = vbdm.estimate_operator(walk, "generator", series=True).spectrum(4)
        clock = series.clock(step=0.1)
        model = vbdm.Forecaster("neighbours", delays=1).fit(walk)
        forecast, filtered = model.predict(leads=[1, 2]), model.filter(walk[:9], 0.5)
    spectrum.save(folder / "model.vbdm")
    vbdm.results.write_results(folder / "results", spectrum, figures=False, page=False)
    table = vbdm.io.read(folder / "points.csv")
    prepared, _ = vbdm.io.prepare(table)
    return {
        "folder": folder, "graph": vbdm.neighbors(cloud(), 16), "operator": operator,
        "spectrum": spectrum, "findings": vbdm.diagnose(spectrum),
        "table": table, "cloud": prepared, "sample": vbdm.datasets.circle(40),
        "trajectory": vbdm.datasets.lorenz63(40, burn_in=0.1, random_state=0),
        "map": estimator, "series": series, "clock": clock,
        "walk": walk, "model": model,
        "forecast": forecast, "filtered": filtered, "skill": model.skill(walk, leads=[1, 2]),
    }  # fmt: skip


def used(make, argument):
    """Return a function of an option's class that also uses it in an estimate."""

    def use(**fields):
        return estimate_with(cloud(), **{argument: make(**fields)})

    use.__signature__ = inspect.signature(make)
    return use


def solved_by(make):
    """Return a function of a solver's class that also solves with it."""

    def use(**fields):
        return vbdm.estimate_operator(cloud()).spectrum(3, solver=make(**fields))

    use.__signature__ = inspect.signature(make)
    return use


def in_their_words(method):
    """Return a method of the estimator, which may refuse in scikit-learn's words."""

    def use(**arguments):
        try:
            return method(**arguments)
        except (TypeError, ValueError, OverflowError) as error:
            own = traceback.extract_tb(error.__traceback__)[-1].filename
            if isinstance(error, InvalidParameterError) or "sklearn" in own:
                raise InputError(str(error)) from None
            raise

    use.__signature__ = inspect.signature(method)
    return use


def fitted(**options):
    """Make an estimator and fit it."""
    return model_with(**options).fit(cloud())


fitted.__signature__ = inspect.signature(vbdm.DiffusionMap)


def forecasting(**options):
    """Make a forecaster, fit it, and ask what comes next."""
    model = vbdm.Forecaster(**{"delays": 1, "horizon": 2, **options})
    return model.fit(things()["walk"]).predict(leads=1).mean


forecasting.__signature__ = inspect.signature(vbdm.Forecaster)


@cache
def calls():
    """Return each public callable by name, with sensible arguments."""
    have = things()
    op, spectrum, graph = have["operator"], have["spectrum"], have["graph"]
    equations, dynamics = op.equations, spectrum.dynamics
    folder, X = have["folder"], cloud()
    errors = spectrum.errors
    U, box = X[:, 0], np.array([9.0, 9.0])
    low, high = X[:, 0] < -0.5, X[:, 0] > 0.5
    cells = Cells({"X_pca": X}, {"low": low.astype(str)})
    result, of = {"result": spectrum}, {"spectrum": spectrum}
    theory = {"alpha": -0.25, "beta": -0.5, "dim": 2.0}
    named = {
        "DiffusionMap": (in_their_words(fitted), {}),
        "DiffusionMap.transform": (in_their_words(have["map"].transform), {"X": X[:3]}),
        "DiffusionMap.density": (in_their_words(have["map"].density), {"X": X[:3]}),
        "DiffusionMap.extend": (in_their_words(have["map"].extend), {"f": X[:, 0], "X": X[:3]}),
        "Forecaster": (in_their_words(forecasting), {"predictor": "modes"}),
        "Forecaster.fit": (
            vbdm.Forecaster("neighbours", delays=1, horizon=2).fit, {"series": have["walk"]}
        ),
        "Forecaster.predict": (
            have["model"].predict, {"start": have["walk"][:3], "leads": [1, 2]}
        ),
        "Forecaster.skill": (have["model"].skill, {"series": have["walk"], "leads": [1, 2]}),
        "Forecaster.score": (have["model"].score, {"series": have["walk"]}),
        "Forecaster.filter": (
            have["model"].filter, {"observations": have["walk"][:9], "likelihood": 0.5}
        ),
        "Forecast.quantile": (have["forecast"].quantile, {"p": 0.5}),
        "Forecast.interval": (have["forecast"].interval, {"level": 0.9}),
        "Forecast.sample": (have["forecast"].sample, {"n": 3}),
        "Forecast.density": (have["forecast"].density, {"values": [0.0]}),
        "Forecast.crps": (have["forecast"].crps, {"truth": np.zeros((1, 2, 2))}),
        "Filtered.quantile": (have["filtered"].quantile, {"p": 0.5}),
        "Limiter": (used(vbdm.rules.Limiter, "limiter"), {}),
        "Operator.apply": (op.apply, {"f": X[:, 0]}),
        "Estimate.times": (Estimate(2.0, 0.1).times, {"other": Estimate(0.5, 0.1)}),
        "Estimate.over": (Estimate(2.0, 0.1).over, {"other": Estimate(0.5, 0.1)}),
        "Operator.committor": (op.committor, {"A": low, "B": high}),
        "Equations.exit_time": (equations.exit_time, {"inside": ~high}),
        "Equations.hitting_probabilities": (equations.hitting_probabilities, {"sets": [low, high]}),
        "Operator.mean_first_passage": (op.mean_first_passage, {"B": high}),
        "Solved.functional": (op.solve(1.0, screen=1.0).functional, {"weights": X[:, 0]}),
        "Solved.mean": (op.solve(1.0, screen=1.0).mean, {"over": low}),
        "Operator.solve": (op.solve, {"f": X[:, 0], "fixed": [(low, 0.0)], "screen": 1.0}),
        "Calculus.carre_du_champ": (op.calculus.carre_du_champ, {"f": X[:, 0], "g": X[:, 1]}),
        "Operator.gradient": (op.gradient, {"f": X[:, 0]}),
        "Operator.density_at": (op.density_at, {"X_new": X[:3]}),
        "Operator.extend": (op.extend, {"f": X[:, 0], "X_new": X[:3]}),
        "Operator.spectrum": (op.spectrum, {"n": 3}),
        "Spectrum.clock": (have["series"].clock, {"step": 0.1}),
        "Dynamics.drift": (dynamics.drift, {}),
        "Dynamics.commute_distance": (dynamics.commute_distance, {"rows": [0, 1]}),
        "Dynamics.correlation": (dynamics.correlation, {"f": X[:, 0], "times": [0.5]}),
        "Dynamics.diffusion_distance": (dynamics.diffusion_distance, {"rows": 0, "t": 0.5}),
        "Dynamics.evaluate": (dynamics.evaluate, {"c": np.ones(4)}),
        "Spectrum.evolve": (spectrum.evolve, {"f": X[:, 0], "t": 0.5}),
        "Spectrum.extend": (spectrum.extend, {"X_new": X[:3]}),
        "ErrorBars.of_group": (errors.of_group, {"members": [1, 2]}),
        "ErrorBars.function_of_group": (errors.function_of_group, {"members": [1, 2]}),
        "ErrorBars.interval_of_group": (errors.interval_of_group, {"members": [1, 2]}),
        "Spectrum.intervals": (spectrum.intervals, {}),
        "ErrorBars.pointwise": (errors.pointwise, {"j": 1}),
        "Dynamics.power_spectrum": (
            dynamics.power_spectrum, {"f": X[:, 0], "frequencies": [0.0, 0.5]},
        ),
        "Dynamics.project": (dynamics.project, {"f": X[:, 0]}),
        "Dynamics.pseudotime": (dynamics.pseudotime, {"root": 0}),
        "Dynamics.relax": (dynamics.relax, {"density": U > 0, "f": U, "times": [0.5]}),
        "Dynamics.respond": (
            dynamics.respond, {"observable": U, "potential": -U, "times": [0.5]},
        ),
        "Spectrum.save": (spectrum.save, {"path": folder / "again.vbdm"}),
        "Spectrum.states": (spectrum.states, {"n": 2}),
        "align": (vbdm.align, {"eigenfunctions": X, "truth": X}),
        "diagnose": (vbdm.diagnose, of),
        "verify": (vbdm.verify, {"spectrum": spectrum}),
        "estimate_disk": (vbdm.estimate_disk, {"n_points": 100, "n_neighbors": 10}),
        "estimate_memory": (vbdm.estimate_memory, {"n_points": 100, "n_neighbors": 10}),
        "estimate_operator": (vbdm.estimate_operator, {"X": X}),
        "extend": (vbdm.extend, {**of, "X_new": X[:3]}),
        "io.prepare": (vbdm.io.prepare, {"table": have["table"]}),
        "io.read": (vbdm.io.read, {"path": folder / "points.csv"}),
        "load": (vbdm.load, {"path": folder / "model.vbdm"}),
        "neighbors": (vbdm.neighbors, {"X": X, "n_neighbors": 8}),
        "pca": (vbdm.pca, {"points": X, "n": 2}),
        "plot.clock": (vbdm.plot.clock, {"result": have["clock"]}),
        "plot.arrows": (vbdm.plot.arrows, {"result": op, "field": X}),
        "plot.density": (vbdm.plot.density, result),
        "plot.eigenfunctions": (vbdm.plot.eigenfunctions, result),
        "plot.embedding": (vbdm.plot.embedding, result),
        "plot.filtered": (vbdm.plot.filtered, {"result": have["filtered"]}),
        "plot.forecast": (vbdm.plot.forecast, {"forecast": have["forecast"]}),
        "plot.skill": (vbdm.plot.skill, {"skill": have["skill"]}),
        "plot.solution": (vbdm.plot.solution, {"result": op.committor(low, high)}),
        "plot.spectrum": (vbdm.plot.spectrum, result),
        "plot.states": (vbdm.plot.states, {"result": spectrum.states(2)}),
        "plot.summary": (vbdm.plot.summary, {"result": op}),
        "plot.tuning": (vbdm.plot.tuning, result),
        "plot.unresolved": (vbdm.plot.unresolved, result),
        "progress.listening": (vbdm.progress.listening, {"listener": None}),
        "report.citations": (vbdm.report.citations, of),
        "report.methods_paragraph": (vbdm.report.methods_paragraph, of),
        "report.page": (vbdm.report.page, {**of, "findings": have["findings"]}),
        "report.write_page": (vbdm.report.write_page, {"path": folder / "page.html", **of}),
        "results.check_folder": (vbdm.results.check_folder, {"path": folder / "other"}),
        "results.is_results_folder": (vbdm.results.is_results_folder, {"folder": folder}),
        "results.load_results": (vbdm.results.load_results, {"folder": folder / "results"}),
        "results.write_results": (
            vbdm.results.write_results,
            {"folder": folder / "out", **of, "force": True, "figures": False, "page": False},
        ),
        "placement.Dask": (vbdm.placement.Dask, {}),
        "placement.Disk": (used(vbdm.placement.Disk, "placement"), {}),
        "placement.Memory": (used(vbdm.placement.Memory, "placement"), {}),
        "placement.start_workers": (vbdm.placement.start_workers, {"n_workers": 2}),
        "rules.ByDegree": (used(vbdm.rules.ByDegree, "epsilon"), {}),
        "rules.ByRatios": (used(vbdm.rules.ByRatios, "dim"), {}),
        "rules.CutAt": (used(vbdm.rules.CutAt, "truncation"), {"at": 0.01}),
        "rules.CutWhereClean": (used(vbdm.rules.CutWhereClean, "truncation"), {}),
        "rules.FromPotential": (used(vbdm.rules.FromPotential, "bandwidth"), {"potential": U}),
        "rules.GivenBandwidth": (used(vbdm.rules.GivenBandwidth, "bandwidth"), {"values": U + 9}),
        "rules.GivenDimension": (used(vbdm.rules.GivenDimension, "dim"), {"dim": 2.0}),
        "rules.GivenEpsilon": (used(vbdm.rules.GivenEpsilon, "epsilon"), {"epsilon": 0.1}),
        "rules.PowerOfDensity": (used(vbdm.rules.PowerOfDensity, "bandwidth"), {}),
        "save": (vbdm.save, {"result": spectrum, "path": folder / "again.vbdm"}),
        "scan_epsilon": (vbdm.scan_epsilon, {**of, "factors": (0.5, 1.0)}),
        "search.Auto": (used(vbdm.search.Auto, "search"), {}),
        "search.BruteForce": (used(vbdm.search.BruteForce, "search"), {}),
        "search.KDTree": (used(vbdm.search.KDTree, "search"), {}),
        "search.MetricSearch": (used(vbdm.search.MetricSearch, "search"), {"metric": "cityblock"}),
        "search.PeriodicTree": (used(vbdm.search.PeriodicTree, "search"), {"period": box}),
        "search.Projected": (used(vbdm.search.Projected, "search"), {}),
        "second_opinion": (vbdm.second_opinion, {"operator": op, "n": 3}),
        "shapes.Custom": (used(vbdm.shapes.Custom, "shape"), {"function": lambda s: np.exp(-s)}),
        "shapes.as_shape": (vbdm.shapes.as_shape, {"shape": "gaussian"}),
        "single_cell.diffmap": (
            vbdm.single_cell.diffmap, {"adata": cells, "operator": op, "copy": True}
        ),
        "single_cell.fate_probabilities": (
            vbdm.single_cell.fate_probabilities,
            {"adata": cells, "groupby": "low", "groups": ["True", "False"], "operator": op,
             "copy": True},
        ),
        "single_cell.pseudotime": (
            vbdm.single_cell.pseudotime,
            {"adata": cells, "root": 0, "n_components": 3, "operator": op, "copy": True},
        ),
        "solvers.Auto": (solved_by(vbdm.solvers.Auto), {}),
        "solvers.Lanczos": (solved_by(vbdm.solvers.Lanczos), {}),
        "solvers.Multilevel": (solved_by(vbdm.solvers.Multilevel), {}),
        "solvers.ShiftInvert": (solved_by(vbdm.solvers.ShiftInvert), {}),
        "theory.c1": (vbdm.theory.c1, theory),
        "theory.c2": (vbdm.theory.c2, theory),
        "theory.bounded": (vbdm.theory.bounded, theory),
        "theory.alpha_for": (vbdm.theory.alpha_for, {"c1": 1.0, "beta": -0.5, "dim": 2.0}),
        "theory.density_response": (vbdm.theory.density_response, {"alpha": -0.25, "dim": 2.0}),
        "tica": (vbdm.tica, {"points": X, "n": 2}),
        "rules.tune": (vbdm.rules.tune, {"graph": graph}),
        "datasets.Sample.truth": (have["sample"].truth, {"n": 3}),
        "datasets.Trajectory.delayed": (have["trajectory"].delayed, {"n_delays": 3}),
        "datasets.lattice": (vbdm.datasets.lattice, {"side": 4}),
        "datasets.line_transition": (
            vbdm.datasets.line_transition,
            {"log_density": lambda x: -(x**2), "a": -1.0, "b": 1.0, "low": -4.0, "high": 4.0},
        ),
        "datasets.muller_brown_potential": (
            vbdm.datasets.muller_brown_potential, {"points": X}
        ),
        "datasets.muller_brown_transition": (
            vbdm.datasets.muller_brown_transition, {"cells": 20}
        ),
        "datasets.prinz_potential": (vbdm.datasets.prinz_potential, {"x": X[:, 0]}),
        "datasets.lorenz63": (vbdm.datasets.lorenz63, {"n_samples": 20, "burn_in": 0.1}),
        "datasets.with_duplicates": (vbdm.datasets.with_duplicates, {"sample": have["sample"]}),
        "datasets.with_outliers": (vbdm.datasets.with_outliers, {"sample": have["sample"]}),
    }  # fmt: skip
    for name in DATA_SETS:
        named[f"datasets.{name}"] = (getattr(vbdm.datasets, name), {"n_samples": 20})
    return named


DATA_SETS = [
    "circle", "closed_curve", "clusters", "double_well", "double_well_series", "ellipse",
    "hemisphere", "interval", "muller_brown", "muller_brown_series", "noisy_circle", "ou",
    "ou_series", "prinz", "prinz_series", "sphere", "stretched", "student", "swiss_roll", "torus",
]  # fmt: skip


def cases():
    """Return every argument of every callable with every absurd value."""
    return [
        (name, argument, label)
        for name, (function, _) in calls().items()
        for argument in inspect.signature(function).parameters
        for label in ABSURD
        if argument not in NO_OPTIONS.get(name, ())
    ]


#: Arguments that are no options: those of `page` and of Dask, passed on; a function of the
#: caller's own that writes more files; and a field that is always None.
NO_OPTIONS = {
    "results.write_results": ("extras",),
    "placement.start_workers": ("options",),
    "report.write_page": ("options",),
    "rules.FromPotential": ("beta",),
    "rules.GivenBandwidth": ("beta",),
}
#: Public functions that are not called here: they are for those who extend the package, and pass
#: what it gave them.
NOT_CALLED = {
    "io.write_anndata", "progress.announce", "progress.log_stage", "progress.report",
    "progress.showing", "results.pictures_of", "results.read_summary", "results.save_picture",
    "results.write_arrays", "results.write_report", "rules.tuned", "shapes.below",
    "shapes.check_decay", "shapes.falls_to", "shapes.radial_moments", "shapes.radius_of",
    "shapes.values_of", "theory.exponents_for",
}  # fmt: skip


def public_callables():
    """Yield all functions that a user can reach, by name."""
    for name in set(vbdm.__all__) - {"errors"}:
        found = getattr(vbdm, name)
        if not inspect.ismodule(found):
            yield name, found
            continue
        own = [part for part in vars(found) if not part.startswith("_")]
        for part in getattr(found, "__all__", own):
            thing = getattr(found, part)
            home = getattr(thing, "__module__", None)
            listed = hasattr(found, "__all__") or home == found.__name__
            if callable(thing) and listed:
                yield f"{name}.{part}", thing


def test_every_public_function_is_called():
    for name, thing in public_callables():
        if inspect.isfunction(thing) and inspect.signature(thing).parameters:
            words = f"give {name} sensible arguments, in `calls`"
            assert (name in calls()) != (name in NOT_CALLED), words


def judge(case):
    """Return the outcome of one call."""
    name, argument, label = case
    # Texts are paths, too: what is written goes where it will be removed.
    os.chdir(things()["folder"])
    function, sensible = calls()[name]
    outcome, made = attempt(lambda: function(**{**sensible, argument: ABSURD[label]}))
    plt.close("all")
    points = getattr(made, "points", None)
    if points is not None and not np.isfinite(points).all():
        return "points that are not finite"
    return outcome


@budget(1000, 10**6)
def test_absurd_arguments_are_refused_in_words(n_cases):
    run(judge, some(cases(), n_cases))
