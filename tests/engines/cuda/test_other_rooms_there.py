"""A result that lives on a device, in the rooms that compute in memory."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import issparse
from tests.support.estimates import estimate_with

import vbdm
from vbdm.base.arrays import is_elsewhere, to_host
from vbdm.engines.cuda import availability
from vbdm.operator.normalise import with_epsilon, with_kernel
from vbdm.spectrum.vectors import function_of, functions_at, sum_over_points, vectors_of

from .emulated import needs_device, some_slow
from .strict_array import StrictArray
from .strict_engine import StrictEngine
from .there import results_stay, there

pytestmark = needs_device

#: Objects that answer for a result, each in a room of its own.
ACCESSORS = ("calculus", "dynamics", "equations")
#: What an operator is asked, by the names of its methods; `x` are its points.
ASKED: dict[str, Callable[[Any, Any], Any]] = {
    "apply": lambda op, x: op.apply(x, return_std=True),
    "at_epsilon": lambda op, x: with_epsilon(op, op.epsilon / 2).on_host.inside.degrees,
    "carre_du_champ": lambda op, x: op.calculus.carre_du_champ(x[:, 0]),
    "committor": lambda op, x: op.committor(x[:, 0] < -1, x[:, 0] > 1).values,
    "density_at": lambda op, x: op.density_at(x[:5] + 0.01),
    "exit_time": lambda op, x: op.equations.exit_time(np.abs(x[:, 0]) < 1).values,
    "extend": lambda op, x: op.extend(x, x[:5] + 0.01),
    "gradient": lambda op, x: op.gradient(x[:, 0]),
    "hitting_probabilities": lambda op, x: (
        op.equations.hitting_probabilities(
            [x[:, 0] < -1, x[:, 0] > 1, (x[:, 1] > 1) & (np.abs(x[:, 0]) < 0.5)]
        ).values
    ),
    "mean_first_passage": lambda op, x: op.mean_first_passage(x[:, 0] > 1).values,
    "plot": lambda op, x: len(op.plot().axes),
    "solve": lambda op, x: op.solve(x[:, 0], [(x[:, 0] > 1, 1.0)]).values,
    "spectrum": lambda op, x: op.spectrum(4, tol=1e-10).eigenvalues,
    "with_kernel": lambda op, x: with_kernel(op, op.kernel).on_host.inside.degrees,
}
#: What a spectrum is asked.
ASKED_OF_SPECTRUM: dict[str, Callable[[Any, Any], Any]] = {
    "clock": lambda s, x: s.clock(step=1.0).diffusivity.value,
    "commute_distance": lambda s, x: s.dynamics.commute_distance(3),
    "correlation": lambda s, x: s.dynamics.correlation(x[:, 0], times=[1.0, 2.0]),
    "diffusion_distance": lambda s, x: s.dynamics.diffusion_distance(3, 1.0),
    "drift": lambda s, x: s.dynamics.drift(),
    "evaluate": lambda s, x: s.dynamics.evaluate(np.ones(6)),
    "evolve": lambda s, x: s.evolve(x[:, 0], [2.0]),
    "extend": lambda s, x: s.extend(x[:5] + 0.01).values,
    "function": lambda s, x: function_of(s, 1),
    "functions_at": lambda s, x: functions_at(s, np.arange(4)),
    "group_error": lambda s, x: s.errors.of_group([1, 2]),
    "group_function_error": lambda s, x: s.errors.function_of_group([1, 2]),
    "group_interval": lambda s, x: s.errors.interval_of_group([1, 2]),
    "intervals": lambda s, x: s.intervals(0.9),
    "local_times": lambda s, x: s.limits.times(np.ones(3)),
    "plot": lambda s, x: len(s.plot().axes),
    "pointwise_errors": lambda s, x: s.errors.pointwise(2),
    "power_spectrum": lambda s, x: s.dynamics.power_spectrum(x[:, 0], [0.1, 0.2]),
    "project": lambda s, x: s.dynamics.project(x),
    "pseudotime": lambda s, x: s.dynamics.pseudotime(3),
    "relax": lambda s, x: s.dynamics.relax(np.exp(-((x[:, 0] - 1) ** 2)), x[:, 0], [1.0]),
    "respond": lambda s, x: s.dynamics.respond(x[:, 0], x[:, 0], [1.0]),
    "save": lambda s, x: None,
    "states": lambda s, x: s.states(2).memberships,
    "sum_over_points": lambda s, x: sum_over_points(s, squares),
    "table": lambda s, x: s.table(),
    "to_frame": lambda s, x: s.to_frame().to_numpy(),
    "verify": lambda s, x: vbdm.verify(s).reference,
}


def squares(values: Any, counts: Any) -> Any:
    square = values**2 if counts is None else counts[:, None] * values**2
    return square.T @ np.ones_like(square[:, 0])


@cache
def result(cloud: str) -> Any:
    """Return an ordinary spectrum."""
    rng = np.random.default_rng(3)
    points, options = rng.standard_normal((300, 2)), {"operator": "generator"}
    for t in range(1, len(points)):
        points[t] = 0.8 * points[t - 1] + 0.6 * points[t]
    if cloud == "copies":
        points = np.concatenate([points, points[:100]])
    if cloud == "periodic":
        points, options = rng.random((300, 2)) * [1.0, 3.0], {"period": [1.0, 0.0]}
    return estimate_with(points, **options).spectrum(6)


def assert_same(here: Any, back: Any, path: str = "") -> None:
    """Compare all that two results consist of, bit by bit."""
    if path.endswith((".index", ".index.inner.tree")):
        return
    assert not is_elsewhere(back), path
    assert type(here) is type(back), path
    if isinstance(here, np.ndarray):
        np.testing.assert_array_equal(here, back, err_msg=path)
        assert here.dtype == back.dtype, path
    elif issparse(here):
        for name in ("data", "indices", "indptr"):
            assert_same(getattr(here, name), getattr(back, name), f"{path}.{name}")
    elif isinstance(here, tuple | list):
        assert len(here) == len(back), path
        for number, pair in enumerate(zip(here, back, strict=True)):
            assert_same(*pair, f"{path}[{number}]")
    elif is_dataclass(here) and not isinstance(here, type):
        for one in fields(here):
            assert_same(getattr(here, one.name), getattr(back, one.name), f"{path}.{one.name}")


@pytest.mark.parametrize("cloud", ["plane", "copies", "periodic"])
def test_back_in_memory_every_bit_is_as_it_was(cloud: str) -> None:
    here = result(cloud)
    away = there(here)
    assert is_elsewhere(away.operator.inside.degrees)
    assert is_elsewhere(vectors_of(away))
    assert_same(here, away.on_host)
    assert_same(here.operator.graph, away.operator.graph.on_host)


def test_it_is_copied_once_and_shared() -> None:
    away = there(result("plane"))
    assert away.on_host is away.on_host
    assert away.on_host.operator is away.operator.on_host
    assert away.on_host.operator.graph is away.operator.graph.on_host
    assert away.on_host.on_host is away.on_host


def test_an_ordinary_result_is_its_own_copy() -> None:
    here = result("plane")
    assert here.on_host is here
    assert here.operator.on_host is here.operator
    assert here.operator.graph.on_host is here.operator.graph


@dataclass(frozen=True)
class OwnShape:
    """A user's shape whose fields have names that arrays, engines and results have, too."""

    device: str = "probe 7"
    placed: bool = True
    get: float = 2.0
    data: str = "hall"
    on_host: str = "hotel"

    def __call__(self, s: Any) -> Any:
        return np.exp(-s)


def test_rules_of_users_are_left_alone_whatever_their_fields_are_called() -> None:
    own, away = OwnShape(), there(result("plane")).operator
    marked = replace(away, kernel=replace(away.kernel, shape=own))
    assert is_elsewhere(marked.inside.degrees)
    assert not is_elsewhere(marked.on_host.inside.degrees)
    assert marked.on_host.kernel.shape is own


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_and_pickles_are_ordinary(copied: Any) -> None:
    here = result("copies")
    away = there(here)
    assert_same(here, copied(away))
    assert_same(here.operator, copied(away.operator))
    assert_same(here.operator.graph, copied(away.operator.graph))
    same = copied(away).extend(here.operator.graph.points[:7])
    np.testing.assert_array_equal(same.values, here.eigenfunctions[:7])


def public(kind: type, methods: bool) -> list[str]:
    """Return the names that users see: methods, or what is asked for without a call."""
    names = [name for name in dir(kind) if not name.startswith("_")]
    return [name for name in names if callable(getattr(kind, name)) == methods]


def parts(one: Any) -> list[Any]:
    """Return a result and its accessors, which are asked as it is itself."""
    return [one, *(getattr(one, name) for name in ACCESSORS if hasattr(type(one), name))]


def seen_alike(found: Any, known: Any, path: str = "") -> None:
    """Compare what users see: arrays are NumPy's, and equal up to rounding."""
    assert not is_elsewhere(found), path
    if isinstance(known, np.ndarray):
        assert isinstance(found, np.ndarray), path
        if known.dtype.kind in "fc":
            size = np.abs(known[np.isfinite(known)]).max(initial=0.0)
            np.testing.assert_allclose(found, known, rtol=1e-7, atol=1e-9 * size, err_msg=path)
        elif known.dtype.kind in "biu":
            np.testing.assert_array_equal(found, known, err_msg=path)
    elif isinstance(known, tuple | list):
        assert len(found) == len(known), path
        for number, pair in enumerate(zip(found, known, strict=True)):
            seen_alike(*pair, f"{path}[{number}]")
    elif isinstance(known, float):
        assert found == pytest.approx(known, rel=1e-7, nan_ok=True), path
    elif isinstance(known, str | int):
        assert found == known, path


@pytest.mark.slow  # the test of doors asks most of it every time
@pytest.mark.filterwarnings("ignore")
def test_no_question_fails_where_results_stay_there() -> None:
    away = results_stay(result("copies"))
    x = to_host(away.operator.graph.points)
    for one, asked in ((away.operator, ASKED), (away, ASKED_OF_SPECTRUM)):
        for ask in asked.values():
            ask(one, x)
        for name in public(type(one), methods=False):
            getattr(one, name)
        assert repr(one)
        assert one._repr_html_()
    vbdm.diagnose(away)
    vbdm.report.page(away)
    for draw in ("density", "eigenfunctions", "embedding", "spectrum", "tuning", "unresolved"):
        getattr(vbdm.plot, draw)(away)
    assert_same(pickle.loads(pickle.dumps(away)).eigenfunctions, result("copies").eigenfunctions)


@pytest.mark.parametrize("cloud", some_slow(["plane", "copies"], "copies"))
@pytest.mark.parametrize("what", ["operator", "spectrum"])
@pytest.mark.filterwarnings("ignore")
def test_every_question_is_answered(what: str, cloud: str) -> None:
    here, away = result(cloud), there(result(cloud))
    x, asked = here.operator.graph.points, ASKED_OF_SPECTRUM
    if what == "operator":
        here, away, asked = here.operator, away.operator, ASKED
    methods = (public(type(part), methods=True) for part in parts(here))
    assert set().union(*methods) <= set(asked)
    for name, ask in asked.items():
        seen_alike(ask(away, x), ask(here, x), name)
    for own, other in zip(parts(here), parts(away), strict=True):
        for name in public(type(own), methods=False):
            if name not in INSIDE:
                seen_alike(getattr(other, name), getattr(own, name), name)
    assert repr(away) == repr(here)
    assert away._repr_html_() == here._repr_html_()


@pytest.mark.parametrize("what", ["operator", "spectrum"])
@pytest.mark.filterwarnings("ignore")
def test_all_that_is_passed_may_live_there(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(availability, "the_device", lambda: StrictEngine.device)
    here, asked = result("plane"), ASKED_OF_SPECTRUM
    x = here.operator.graph.points
    if what == "operator":
        here, asked = here.operator, ASKED
    for name, ask in asked.items():
        seen_alike(ask(here, StrictArray(x)), ask(here, x), name)


def test_sets_and_labels_that_live_there() -> None:
    op = result("plane").operator
    x = op.graph.points
    labels, rows = (x[:, 0] > 0) + 2 * (x[:, 0] > 1), np.flatnonzero(x[:, 0] > 1)

    def answers(to: Callable[[Any], Any]) -> list[Any]:
        return [
            op.mean_first_passage(to(rows)).values,
            op.mean_first_passage(to(1 - x[:, 0])).values,
            op.mean_first_passage(3, labels=to(labels)).values,
            op.mean_first_passage("height > 1", columns={"height": to(x[:, 0])}).values,
        ]

    for found, known in zip(answers(StrictArray), answers(np.array), strict=True):
        np.testing.assert_array_equal(found, known)
    over = x[:, 0] < 0
    passage = op.mean_first_passage(rows)
    assert passage.mean(over=StrictArray(over)) == passage.mean(over=over)
    with pytest.raises(vbdm.InputError, match="`B` is no set of points"):
        op.mean_first_passage(StrictArray(x))


def test_a_saved_file_is_an_ordinary_one(tmp_path: Path) -> None:
    here, away = result("copies"), there(result("copies"))
    for name, one in (("here", here), ("away", away)):
        vbdm.save(one, tmp_path / f"{name}.vbdm")
        vbdm.save(one.operator.graph, tmp_path / f"{name}.graph")
    for kind in ("vbdm", "graph"):
        files = [(tmp_path / f"{name}.{kind}").read_bytes() for name in ("here", "away")]
        assert files[0] == files[1]
    assert_same(vbdm.load(tmp_path / "here.vbdm"), vbdm.load(tmp_path / "away.vbdm"))


def test_a_group_of_zarr_is_an_ordinary_one(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    here = result("copies")
    there(here).save(tmp_path / "away.zarr")
    np.testing.assert_array_equal(
        zarr.open(tmp_path / "away.zarr")["eigenfunctions"][:], here.eigenfunctions
    )


@pytest.mark.filterwarnings("ignore")
def test_functions_of_results_take_it() -> None:
    here, away = result("plane"), there(result("plane"))
    asked: dict[str, Callable[[Any], Any]] = {
        "scan": lambda s: vbdm.scan_epsilon(s, factors=(0.5, 1)).eigenvalues,
        "opinion": lambda s: vbdm.second_opinion(s.operator, n=3).eigenvalues,
        "graph": lambda s: vbdm.estimate_operator(s.operator.graph, epsilon=0.1).inside.degrees,
        "citations": lambda s: [one.key for one in vbdm.report.citations(s)],
        "methods": vbdm.report.methods_paragraph,
        "page": lambda s: vbdm.report.page(s)[:15],
    }
    for name, ask in asked.items():
        seen_alike(ask(away), ask(here), name)
    for draw in ("density", "eigenfunctions", "embedding", "spectrum", "tuning", "unresolved"):
        getattr(vbdm.plot, draw)(away)


#: What is documented to be in the order inside: it lives where the points do.
INSIDE = {"inside"}
