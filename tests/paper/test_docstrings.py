"""Examples in the docstrings of the figures run."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import paper
import vbdm

MODULES = sorted(m.name for m in pkgutil.iter_modules(paper.__path__, "paper."))


@pytest.mark.parametrize("name", ["paper", *MODULES])
def test_examples_in_docstrings(name):
    module = importlib.import_module(name)
    assert doctest.testmod(module, extraglobs={"vbdm": vbdm, "np": np}).failed == 0
