"""The door: a short list of names, each found when it is first used."""

import importlib
import subprocess
import sys

import pytest

import vbdm

MODULES = [
    "errors", "placement", "progress", "results", "rules", "search", "shapes", "single_cell",
    "solvers", "theory",
]  # fmt: skip
ERRORS = [
    "ClockWarning", "ClusterError", "ClusterWarning", "DeviceError", "ScratchError",
    "DensityTailWarning", "DisconnectedWarning", "EngineWarning", "InputError", "NoiseWarning",
    "OutOfMemoryError", "OutsideWarning", "ProjectedWarning", "RecallWarning", "RootWarning",
    "SaturatedNeighborsWarning", "ScaleWarning", "ShortTimeWarning", "SmallSetWarning",
    "FilterWarning", "SkillWarning", "SolverError", "SolverWarning", "TuningWarning",
    "UnboundedErrorWarning", "UnreachedWarning",
    "UnresolvedWarning", "VbdmWarning", "WeakLinkWarning",
    "WeightsWarning",
]  # fmt: skip


def run(code):
    """Run code in a fresh interpreter and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_list_is_short_and_every_name_is_there():
    assert len(vbdm.__all__) == len(set(vbdm.__all__)) <= 36
    for name in vbdm.__all__:
        assert getattr(vbdm, name) is not None


def test_nothing_else_is_shown():
    """Not even modules that happen to be loaded."""
    importlib.import_module("vbdm.spectrum.solve")
    assert dir(vbdm) == sorted([*vbdm.__all__, "__version__"])
    code = "import vbdm, vbdm.estimate; print(sorted(set(dir(vbdm)) - set(vbdm.__all__)))"
    assert run(code) == "['__version__']"


def test_stars_bring_the_list_and_no_more():
    code = (
        "before = set(globals()); from vbdm import *; import vbdm; "
        "print(set(globals()) - before - {'before', 'vbdm'} == set(vbdm.__all__))"
    )
    assert run(code) == "True"


@pytest.mark.parametrize("name", ["InputError", "VbdmWarning"])
def test_what_is_caught_most_is_found_at_the_top_too(name):
    assert getattr(vbdm, name) is getattr(vbdm.errors, name)
    assert name not in vbdm.__all__


def test_all_errors_are_in_one_place():
    kinds = [kind for kind in vars(vbdm.errors).values() if isinstance(kind, type)]
    own = {kind.__name__ for kind in kinds if kind.__module__ == "vbdm.errors"}
    assert own == set(ERRORS)


@pytest.mark.parametrize("name", ["Nonsense", "NonsenseError", "_private", "sorted_cloud"])
def test_other_names_are_missing_as_names_are(name):
    assert not hasattr(vbdm, name)
    with pytest.raises(ImportError):
        exec(f"from vbdm import {name}")


@pytest.mark.parametrize("name", MODULES)
def test_a_public_module_is_a_file_at_its_name(name):
    assert getattr(vbdm, name) is importlib.import_module(f"vbdm.{name}")
    assert run(f"import vbdm; print(vbdm.{name}.__name__)") == f"vbdm.{name}"


def test_the_import_is_light():
    edge = ["scipy", "sklearn", "click", "matplotlib", "vbdm.io", "vbdm.report", "vbdm.graph"]
    code = f"import sys, vbdm; print([m for m in {edge} if m in sys.modules])"
    assert run(code) == "[]"
    # Nor do errors and versions need more.
    assert run(code.replace("vbdm;", "vbdm; vbdm.InputError; vbdm.__version__;")) == "[]"


def test_operators_and_spectra_show_what_users_need_and_no_more():
    """Fields, properties, methods and accessors: plumbing is in functions of the rooms."""
    operator = vbdm.estimate_operator(vbdm.datasets.sphere(300, random_state=0).points)
    for one in (operator, operator.spectrum(3)):
        assert len([name for name in dir(one) if not name.startswith("_")]) <= 28
