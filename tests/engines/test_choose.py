"""Which engine computes: by name, by the number of points, and what happens where numba fails."""

import importlib
import sys
import warnings

import numpy as np
import pytest

import vbdm
from vbdm.cli.info import engine_lines
from vbdm.engines import choose
from vbdm.engines.choose import REPAYS, check_engine, chosen_engine, engines_here
from vbdm.engines.numba_engine import NumbaEngine
from vbdm.engines.scipy_engine import ScipyEngine

POINTS = vbdm.datasets.circle(300, sampling="random", random_state=0).points


@pytest.fixture(autouse=True)
def _fresh_look():
    """What is known of numba is forgotten, before a test and after it."""
    choose.numba_state.cache_clear()
    yield
    choose.numba_state.cache_clear()


@pytest.fixture
def unloaded(monkeypatch):
    """Forget numba, and what was compiled with it, until the end of the test."""
    for name in list(sys.modules):
        if name == "numba" or name.startswith("vbdm.engines.compiled"):
            monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def absent(unloaded, monkeypatch):
    """Make numba look as if it were not installed."""
    monkeypatch.setitem(sys.modules, "numba", None)
    monkeypatch.setattr(choose, "find_spec", lambda name: None)
    monkeypatch.setattr(choose, "library_versions", dict)


@pytest.fixture
def broken(unloaded, monkeypatch, tmp_path):
    """Put a numba in front that cannot be imported."""
    (tmp_path / "numba.py").write_text("raise OSError('libLLVM is missing')\n")
    monkeypatch.syspath_prepend(tmp_path)


@pytest.fixture
def homeless(monkeypatch):
    """Let numba find no folder for compiled code."""
    pytest.importorskip("numba")
    module = importlib.import_module("vbdm.engines.compiled.compile")
    monkeypatch.setattr(module, "NOT_KEPT", ["cannot cache function: no locator available"])


def chosen(name, n_points):
    """Return the engine's class, the reason, and the texts of all warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        engine, reason = chosen_engine(name, n_points)
    assert all(warning.category is vbdm.errors.EngineWarning for warning in caught)
    return type(engine), reason, [str(warning.message) for warning in caught]


def test_few_points_are_left_to_scipy():
    assert chosen("auto", REPAYS - 1) == (
        ScipyEngine, "19999 points: too few for compiled loops to pay", [],
    )  # fmt: skip


def test_many_points_are_for_numba():
    pytest.importorskip("numba")
    assert chosen("auto", REPAYS) == (NumbaEngine, "20000 points: compiled loops pay", [])


def test_engines_by_name_whatever_the_number_of_points():
    for n in (2, 10**7):
        assert chosen("scipy", n) == (ScipyEngine, "chosen by the user", [])
    pytest.importorskip("numba")
    for n in (2, 10**7):
        assert chosen("numba", n) == (NumbaEngine, "chosen by the user", [])


@pytest.mark.parametrize("bad", ["CUDA", "Numba", "", None, 3, NumbaEngine, ScipyEngine()])
def test_unknown_engines(bad):
    with pytest.raises(vbdm.InputError, match="'auto', 'scipy', 'numba'"):
        check_engine(bad)
    with pytest.raises(vbdm.InputError, match=r"`engine` must be 'auto', .*; received"):
        vbdm.estimate_operator(POINTS, run=vbdm.Run(engine=bad))


@pytest.mark.parametrize("bad", ["half", "float32", None, 32, np.float32])
def test_unknown_precisions(bad):
    with pytest.raises(vbdm.InputError, match="`precision`"):
        vbdm.estimate_operator(POINTS, run=vbdm.Run(precision=bad))


@pytest.mark.usefixtures("absent")
def test_without_numba_scipy_computes_and_nothing_is_said():
    assert chosen("auto", 10**6) == (ScipyEngine, "numba is not installed", [])


@pytest.mark.parametrize("state", ["absent", "broken"])
def test_asking_for_a_numba_that_cannot_be_used_is_an_error(state, request):
    request.getfixturevalue(state)
    with pytest.raises(vbdm.InputError) as caught:
        vbdm.estimate_operator(POINTS, run="numba")
    message = str(caught.value)
    assert message.startswith("The engine 'numba' cannot be used; received ")
    assert "pip install 'vbdm[fast]'" in message
    what = {"absent": "ModuleNotFoundError", "broken": "OSError: libLLVM is missing"}
    assert what[state] in message


@pytest.mark.usefixtures("broken")
def test_a_broken_numba_is_named_once_and_scipy_computes():
    kind, reason, (words,) = chosen("auto", 10**6)
    assert kind is ScipyEngine
    assert reason == "numba cannot be used: OSError: libLLVM is missing"
    assert "OSError: libLLVM is missing" in words
    assert "run='scipy' silences this" in words
    assert chosen("scipy", 10**6)[2] == []


def test_a_numba_that_computes_nonsense_is_not_used(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setattr(NumbaEngine, "order", lambda self, columns, depth: np.array([0, 1]))
    kind, reason, words = chosen("auto", 10**6)
    assert (kind, len(words)) == (ScipyEngine, 1)
    assert reason == "numba cannot be used: it computes wrong numbers"
    with pytest.raises(vbdm.InputError, match="it computes wrong numbers"):
        chosen_engine("numba", 10)


@pytest.mark.usefixtures("homeless")
def test_without_a_folder_for_its_code_numba_is_used_only_if_asked_for():
    kind, reason, (words,) = chosen("auto", 10**6)
    assert kind is ScipyEngine
    assert "no folder for it can be written to" in reason
    assert "NUMBA_CACHE_DIR" in words
    kind, reason, (words,) = chosen("numba", 10)
    assert (kind, reason) == (NumbaEngine, "chosen by the user")
    assert "NUMBA_CACHE_DIR" in words


def test_code_that_cannot_be_kept_is_compiled_all_the_same(monkeypatch):
    numba = pytest.importorskip("numba")
    module = importlib.import_module("vbdm.engines.compiled.compile")
    njit = numba.njit

    def without_a_folder(*arguments, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*arguments, **options)

    monkeypatch.setattr(numba, "njit", without_a_folder)
    monkeypatch.setattr(module, "NOT_KEPT", [])
    assert module.compiled(lambda x: x + 1)(2) == 3
    assert module.NOT_KEPT == ["cannot cache function: no locator available"]


@pytest.mark.parametrize("state", ["broken", "homeless"])
def test_an_estimate_warns_once_at_the_users_line(state, request, monkeypatch):
    request.getfixturevalue(state)
    monkeypatch.setattr(choose, "REPAYS", 100)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        op = vbdm.estimate_operator(POINTS)
        op.spectrum(3)
    (warning,) = (w for w in caught if w.category is vbdm.errors.EngineWarning)
    assert warning.filename == __file__
    assert op.settings.engine == ScipyEngine.credit
    assert op.settings.engine_reason.startswith("numba cannot be used")


# --- What `vbdm info` says -----------------------------------------------------------------------


def test_engines_here():
    pytest.importorskip("numba")
    here = engines_here()
    assert (here["few_points"], here["many_points"]) == ("scipy", "numba")
    assert here["keeps_compiled_code"]
    lines = list(engine_lines(here))
    assert lines[0] == "  scipy below 20,000 points"
    assert lines[1].startswith(f"  numba {here['numba']} from there on; compiled code is kept in ")
    assert here["folder"] in lines[1]


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("absent", "numba is not installed"),
        ("broken", "OSError: libLLVM is missing"),
        ("homeless", "no folder for compiled code can be written to; set NUMBA_CACHE_DIR"),
    ],
)
def test_engines_where_numba_cannot_be_used(state, words, request):
    request.getfixturevalue(state)
    here = engines_here()
    assert here["few_points"] == here["many_points"] == "scipy"
    assert not here["keeps_compiled_code"]
    assert here["folder"] is None
    first, of_device = engine_lines(here)
    assert first == f"  scipy computes, whatever the number of points: {words}"
    assert of_device.startswith("  cuda")
