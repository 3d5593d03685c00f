"""Doors: whatever users ask for, what fails on the device is told in words."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

import vbdm

from . import strict_array
from .emulated import ON_GPU, needs_compiler
from .strict_array import StrictArray
from .test_other_rooms_there import ASKED, ASKED_OF_SPECTRUM, public, result
from .there import results_stay

pytestmark = [
    needs_compiler,
    pytest.mark.skipif(ON_GPU, reason="what the arrays of the tests do is watched"),
]


def test_failures_there_are_told_in_words_whatever_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All that is computed on the device is computed inside a block that explains failures."""
    blocks: list[str] = []
    outside: set[str] = set()
    computed, fetched = strict_array.wrapped, StrictArray.get

    @contextmanager
    def block(work: str) -> Iterator[None]:
        blocks.append(work)
        yield
        blocks.pop()

    def noted(work: Callable[..., Any], name: str) -> Callable[..., Any]:
        def done(*args: Any, **options: Any) -> Any:
            if not blocks:
                outside.add(name)
            return work(*args, **options)

        return done

    x = result("copies").operator.graph.points
    for what, asked in questions().items():
        for name, ask in asked.items():
            # What was asked before is known already.
            away = results_stay(result("copies"))
            one = away.operator if what == "operator" else away
            with monkeypatch.context() as watched:
                watched.setattr("vbdm.engines.engine.SURROUNDINGS", [block])
                watched.setattr(strict_array, "wrapped", noted(computed, name))
                watched.setattr(StrictArray, "get", noted(fetched, name))
                ask(one, x)
    assert outside == set()


def questions() -> dict[str, dict[str, Callable[[Any, Any], Any]]]:
    """Return all that an operator and a spectrum can be asked, by name."""
    found = {}
    for what, kind, asked in (
        ("operator", vbdm.Operator, ASKED),
        ("spectrum", vbdm.Spectrum, ASKED_OF_SPECTRUM),
    ):
        plain = {name: partial(seen, name) for name in public(kind, methods=False)}
        found[what] = asked | plain | {"pickle": lambda one, x: pickle.dumps(one)}
    found["spectrum"]["diagnose"] = lambda one, x: vbdm.diagnose(one)
    return found


def seen(name: str, one: Any, x: Any) -> Any:
    return getattr(one, name)


def test_the_models_of_scikit_learn_have_such_doors(
    emulated: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    works = []

    @contextmanager
    def block(work: str) -> Iterator[None]:
        works.append(work)
        yield

    monkeypatch.setattr("vbdm.engines.engine.SURROUNDINGS", [block])
    points = result("plane").operator.graph.points
    model = vbdm.DiffusionMap("generator", 2, run="cuda")
    for work, ask in {
        "the model": lambda: model.fit(StrictArray(points)),
        "the extension": lambda: model.transform(StrictArray(points[:3])),
        "results": lambda: model.embedding_,
    }.items():
        works.clear()
        ask()
        assert works[0] == work
