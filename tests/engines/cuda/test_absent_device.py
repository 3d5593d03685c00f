"""A device that is not there, cannot be used, or does not do what is asked for."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from tests.support.estimates import estimate_with

import vbdm
from vbdm.engines import choose
from vbdm.engines.cuda import availability
from vbdm.engines.cuda.availability import errors_in_words, in_words

from .cupy_errors import error_of_cupy
from .strict_array import StrictArray

pytestmark = pytest.mark.usefixtures("fresh_look")
POINTS = np.random.default_rng(0).standard_normal((300, 2))


class Runtime:
    """What is asked of the driver."""

    def __init__(self, driver=13000, made_for=13000, n_devices=1, error=None, age=(6, 1)):
        self.numbers, self.error, self.age = (driver, made_for, n_devices), error, age

    def driverGetVersion(self):
        return self.numbers[0]

    def runtimeGetVersion(self):
        return self.numbers[1]

    def getDeviceCount(self):
        if self.error is not None:
            raise self.error
        return self.numbers[2]

    def getDeviceProperties(self, number):
        return {"name": b"An Old One", "major": self.age[0], "minor": self.age[1]}


def cupy_with(monkeypatch, runtime):
    """Put a CuPy with this driver in front of all others."""
    cupy = ModuleType("cupy")
    cupy.__version__ = "14.0"
    cupy.ndarray = type("ndarray", (), {})
    cupy.cuda = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(availability, "find_spec", lambda name: True)


def refusal():
    with pytest.raises(vbdm.errors.DeviceError) as caught:
        vbdm.estimate_operator(POINTS, run="cuda")
    text = str(caught.value)
    assert "; received " in text
    return text


def test_without_cupy(monkeypatch):
    monkeypatch.setattr(availability, "find_spec", lambda name: None)
    text = refusal()
    assert text.startswith("The engine 'cuda' needs CuPy; received a Python in which it is not ")
    assert "pip install 'vbdm[cuda]', for drivers of version 580 and later (CUDA 13)" in text
    assert "'vbdm[cuda12]'" in text
    assert text.endswith("or leave `engine` out: the processor computes the same.")
    assert choose.engines_here()["device"]["why_not"] == "CuPy is not installed"


def test_a_broken_cupy(monkeypatch, tmp_path):
    (tmp_path / "cupy.py").write_text("raise OSError('libcublas is missing.\\nLook')\n")
    monkeypatch.delitem(sys.modules, "cupy", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    text = refusal()
    assert text.startswith(
        "CuPy is installed, but cannot be loaded; received OSError: libcublas is "
    )
    assert "pip uninstall cupy-cuda13x cupy-cuda12x cupy" in text


TOO_OLD = error_of_cupy("CUDARuntimeError", "cudaErrorInsufficientDriver: CUDA driver version is")
NO_DEVICE = error_of_cupy("CUDARuntimeError", "cudaErrorNoDevice: no CUDA-capable device")
STRANGE = error_of_cupy("CUDARuntimeError", "cudaErrorUnknown: unknown error")


@pytest.mark.parametrize(("runtime", "received", "words"), [
    (Runtime(driver=0, error=TOO_OLD), "no driver", "Run nvidia-smi: it must name the device"),
    (Runtime(driver=12020, error=TOO_OLD), "a driver for CUDA 12.2, and a CuPy for CUDA 13.0",
     "pip install 'vbdm[cuda12]'"),
    (Runtime(error=NO_DEVICE), "a driver that sees none", "CUDA_VISIBLE_DEVICES"),
    (Runtime(n_devices=0), "a driver that sees none", "CUDA_VISIBLE_DEVICES"),
    (Runtime(error=STRANGE), "CUDARuntimeError: cudaErrorUnknown: unknown error", "nvidia-smi"),
    (Runtime(), "An Old One, of compute capability 6.1", "7.0 is the least"),
    (Runtime(age=(7, 0)), "An Old One, of compute capability 7.0, and a CuPy for CUDA 13.0",
     "pip install 'vbdm[cuda12]'"),
])  # fmt: skip
def test_drivers_and_devices_that_cannot_be_used(monkeypatch, runtime, received, words):
    cupy_with(monkeypatch, runtime)
    text = refusal()
    assert f"; received {received}. " in text
    assert words in text
    facts = choose.engines_here()["device"]
    assert facts["why_not"] == received


def test_info_names_the_device(emulated, monkeypatch):
    engine_lines = pytest.importorskip("vbdm.cli.info").engine_lines
    monkeypatch.setattr(availability, "library_versions", lambda: {"cupy": "14.2.0"})
    (*_, line) = engine_lines(choose.engines_here())
    assert line == (
        "  cuda, if asked for: an emulated device, 8.6 of 8.6 GB free, compute capability 9.0, "
        "driver for CUDA 13.0, CuPy 14.2.0; compiled code is kept in none"
    )


def test_compilers_and_failures_in_words():
    missing = error_of_cupy("DynamicLibNotFoundError", 'Failure finding "libnvrtc.so.13"')
    assert "compiler (NVRTC)" in str(in_words(missing))
    broken = error_of_cupy("CompileException", "kernel.cu(3): error: identifier\nmore", Exception)
    assert "received CompileException: kernel.cu(3): error: identifier. " in str(in_words(broken))
    for absent in (
        RuntimeError("CuPy failed to load libnvrtc.so.13: OSError: libnvrtc.so.13: cannot open "
                     "shared object file: No such file or directory"),
        ImportError("libcublas.so.13: cannot open shared object file: No such file or directory"),
        OSError("libnvrtc-builtins.so.13.0: cannot open shared object file: No such file"),
        RuntimeError("CuPy failed to load nvrtc64_120_0.dll: FileNotFoundError: Could not find "
                     "module 'nvrtc64_120_0.dll' (or one of its dependencies)"),
    ):  # fmt: skip
        text = str(in_words(absent))
        assert text.startswith("The code for the GPU could not be compiled, or not be loaded; ")
        assert f"; received {type(absent).__name__}: " in text
        assert "pip install 'vbdm[cuda]'" in text
    for other in (
        OSError("libown.so: cannot open shared object file: No such file or directory"),
        RuntimeError("something of the user's"),
    ):
        assert in_words(other) is None
    failed = error_of_cupy("CUDARuntimeError", "cudaErrorIllegalAddress: an illegal memory access")
    assert str(in_words(failed)).startswith("The GPU failed; received CUDARuntimeError: cudaError")
    assert in_words(ValueError("x")) is None
    with pytest.raises(KeyError), errors_in_words():
        raise KeyError("not of the device")


@pytest.mark.parametrize(("options", "words"), [
    ({"metric": "manhattan"}, "Other distances than Euclidean ones .*metric='manhattan'"),
    ({"metric": "precomputed"}, "Other distances"),
    ({"search": "brute"}, "This search .*Leave it out"),
    ({"placement": "disk"}, "Rows in blocks .*placement='disk'"),
    ({"placement": vbdm.placement.Memory(blocks=4)}, "Rows in blocks"),
])  # fmt: skip
def test_what_a_device_does_not_do(emulated, options, words):
    with pytest.raises(vbdm.errors.DeviceError, match=words) as caught:
        estimate_with(POINTS, engine="cuda", **options)
    assert "Pass run='numba', or 'scipy'" in str(caught.value)
    if "placement" not in options:
        with pytest.raises(vbdm.errors.DeviceError, match=words):
            estimate_with(StrictArray(POINTS), **options)


def test_columns_and_graphs_that_a_device_does_not_take(emulated, tmp_path):
    np.save(tmp_path / "wide.npy", np.zeros((100, 65)))
    with pytest.raises(vbdm.errors.DeviceError, match="65 columns"):
        vbdm.estimate_operator(tmp_path / "wide.npy", run="cuda")
    with pytest.raises(
        vbdm.errors.DeviceError, match=r"More than 64 columns .*65 columns.*vbdm.pca"
    ):
        vbdm.estimate_operator(np.zeros((100, 65)), run="cuda")
    with pytest.raises(
        vbdm.errors.DeviceError, match=r"found elsewhere .*NeighborGraph.*Pass the points"
    ):
        vbdm.estimate_operator(vbdm.neighbors(POINTS), run="cuda")


def test_the_command_speaks_of_its_options(monkeypatch, tmp_path):
    pytest.importorskip("click")
    from tests.support.commands import vbdm_command

    monkeypatch.setattr(availability, "find_spec", lambda name: None)
    np.save(tmp_path / "points.npy", POINTS)
    done = vbdm_command("fit", tmp_path / "points.npy", "--engine", "cuda", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "needs CuPy" in done.stderr
    assert "or leave --engine out" in done.stderr
    assert not (tmp_path / "out").exists()


def test_results_on_a_device_where_none_computes():
    for engine, received in (("auto", "'auto' and points in this machine's memory"),
                             ("scipy", "'scipy'")):  # fmt: skip
        for X in (POINTS, StrictArray(POINTS)) if engine == "scipy" else (POINTS,):
            with pytest.raises(vbdm.errors.DeviceError, match=r"Pass run='cuda'") as caught:
                vbdm.estimate_operator(X, run=vbdm.Run(engine=engine, output="device"))
            assert f"; received output='device' with engine={received}. " in str(caught.value)
    with pytest.raises(vbdm.InputError, match="'numpy', 'device'"):
        vbdm.estimate_operator(POINTS, run=vbdm.Run(output="cupy"))
