"""What people meet: a device that is not there, broken or full, and points of other libraries."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

import vbdm
from vbdm.base.handing_out import AT_ONCE, fetched, handed_out
from vbdm.engines import at_work, choose
from vbdm.engines.cuda import availability
from vbdm.engines.cuda.device import DEVICES
from vbdm.engines.cuda.failures import explained, in_words
from vbdm.engines.cuda.first_use import FirstUse
from vbdm.progress import announce, listening

from .emulated import EmulatedDevice, needs_compiler
from .strict_array import StrictArray

POINTS = np.random.default_rng(0).standard_normal((300, 2))


def error_of_cupy(name, text, base=RuntimeError):
    """An error as CuPy raises it: what is known of it are its module, its name and its text."""
    return type(name, (base,), {"__module__": "cupy_backends.cuda.api.runtime"})(text)


class Runtime:
    """What is asked of the driver."""

    def __init__(self, driver=13000, made_for=13000, n_devices=1, error=None):
        self.numbers, self.error = (driver, made_for, n_devices), error

    def driverGetVersion(self):
        return self.numbers[0]

    def runtimeGetVersion(self):
        return self.numbers[1]

    def getDeviceCount(self):
        if self.error is not None:
            raise self.error
        return self.numbers[2]

    def getDeviceProperties(self, number):
        return {"name": b"An Old One", "major": 6, "minor": 1}


def cupy_with(monkeypatch, runtime):
    """Put a CuPy with this driver in front of all others."""
    cupy = ModuleType("cupy")
    cupy.__version__ = "14.0"
    cupy.ndarray = type("ndarray", (), {})
    cupy.cuda = SimpleNamespace(runtime=runtime, Device=lambda: SimpleNamespace(id=0))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setattr(availability, "find_spec", lambda name: True)


@pytest.fixture(autouse=True)
def _fresh_look(monkeypatch):
    """What is known of the device is forgotten, before a test and after it."""
    found = getattr(availability.the_device, "cache_clear", lambda: None)
    found()
    monkeypatch.setattr(at_work, "SURROUNDINGS", [])
    known = dict(DEVICES)
    DEVICES.clear()
    yield
    found()
    DEVICES.clear()
    DEVICES.update(known)


@pytest.fixture
def emulated(monkeypatch):
    device = EmulatedDevice()
    monkeypatch.setattr(availability, "the_device", lambda: device)
    return device


def refusal():
    with pytest.raises(vbdm.DeviceError) as caught:
        vbdm.estimate_operator(POINTS, engine="cuda")
    text = str(caught.value)
    assert " Received " in text
    return text


def test_without_cupy(monkeypatch):
    monkeypatch.setattr(availability, "find_spec", lambda name: None)
    text = refusal()
    assert text.startswith("The engine 'cuda' needs CuPy. Received a Python in which it is not ")
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
        "CuPy is installed, but cannot be loaded. Received OSError: libcublas is "
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
    (Runtime(), "An Old One, of compute capability 6.1", "7.0 is the least, that of the V100"),
])  # fmt: skip
def test_drivers_and_devices_that_cannot_be_used(monkeypatch, runtime, received, words):
    cupy_with(monkeypatch, runtime)
    text = refusal()
    assert f" Received {received}. " in text
    assert words in text
    facts = choose.engines_here()["device"]
    assert facts["why_not"] == received


def test_info_names_the_device(emulated, monkeypatch):
    engine_lines = pytest.importorskip("vbdm.cli.info").engine_lines
    monkeypatch.setattr(availability, "cupy_version", lambda: "14.2.0")
    (*_, line) = engine_lines(choose.engines_here())
    assert line == (
        "  cuda, if asked for: an emulated device, 8.6 of 8.6 GB free, compute capability 9.0, "
        "driver for CUDA 13.0, CuPy 14.2.0; compiled code is kept in none"
    )


def test_compilers_and_failures_in_words():
    missing = error_of_cupy("DynamicLibNotFoundError", 'Failure finding "libnvrtc.so.13"')
    assert "compiler (NVRTC) or its header files are missing" in str(in_words(missing))
    broken = error_of_cupy("CompileException", "kernel.cu(3): error: identifier\nmore", Exception)
    assert "Received CompileException: kernel.cu(3): error: identifier. " in str(in_words(broken))
    failed = error_of_cupy("CUDARuntimeError", "cudaErrorIllegalAddress: an illegal memory access")
    assert str(in_words(failed)).startswith("The GPU failed. Received CUDARuntimeError: cudaError")
    assert in_words(ValueError("x")) is None
    with pytest.raises(KeyError), explained():
        raise KeyError("not of the device")


def test_memory_that_ran_out_is_given_back(emulated):
    kept = []

    class Large:
        def __del__(self):
            kept.append("freed")

    def work():
        large = Large()
        raise error_of_cupy(
            "OutOfMemoryError", "Out of memory allocating 12,500,000,000 bytes (allocated so far: "
            "1 bytes).", MemoryError,
        ) if large else None  # fmt: skip

    emulated.limit = 3 * 10**9
    with pytest.raises(vbdm.OutOfMemoryError) as caught, explained():
        work()
    text = str(caught.value)
    assert text.startswith(
        "The GPU's memory ran out. Received a request for 12.5 GB; of 8.59 GB, 3"
    )
    for advice in ("effort=0.5", "fewer points", "engine='numba'", "vbdm.estimate_memory"):
        assert advice in text
    assert kept == ["freed"]
    assert emulated.given_back


@needs_compiler
def test_what_will_not_fit_is_refused_before_the_kernel(emulated):
    emulated.limit = 20_000_000
    with pytest.raises(vbdm.OutOfMemoryError) as caught:
        vbdm.estimate_operator(
            POINTS.repeat(8, axis=0) + np.arange(2400)[:, None] * 1e-3, engine="cuda"
        )
    text = str(caught.value)
    assert text.startswith(
        "The estimate would not fit into the memory of the GPU. Received 2400 points"
    )
    assert "GB more, where 0.0 GB are free there. " in text
    for advice in ("effort=0.5", "random subset", "engine='numba'", "vbdm.estimate_memory"):
        assert advice in text
    assert "kernel" not in " ".join(emulated.launched)


def test_memory_of_a_device():
    def needed(n, k, columns=2, **options):
        return vbdm.estimate_memory(n, k, columns, engine="cuda", **options)

    # A prototype that stored 12 bytes per pair and kept distances took 4.5 to 109 GiB for these.
    for n, k, columns, most in [(10**6, 96, 2, 6), (10**6, 150, 3, 11), (10**7, 150, 3, 110)]:
        assert most / 4 < needed(n, k, columns) / 2**30 < most
    assert needed(10**6, 200) > needed(10**6, 100) > needed(10**5, 100)
    assert needed(10**6, 100, n_eigen=50) > needed(10**6, 100)
    assert needed(10**6, 100, 30) > needed(10**6, 100)
    with pytest.raises(vbdm.InputError, match="'auto', 'scipy', 'numba', 'cuda'"):
        vbdm.estimate_memory(100, 10, engine="gpu")


class FromTorch:
    """An array of another library on the device, as DLPack shows it."""

    def __init__(self, values, place=2, error=None):
        self.values, self.place, self.error = values, place, error
        self.shape = values.shape

    def __dlpack_device__(self):
        return self.place, 0

    def __dlpack__(self, **options):
        raise self.error or NotImplementedError

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


@pytest.fixture
def shared(emulated, monkeypatch):
    """The emulated device takes arrays of other libraries."""
    array = EmulatedDevice.array

    def taken(self, values):
        if isinstance(values, FromTorch):
            if values.error is not None:
                raise values.error
            return StrictArray(values.values)
        return array(self, values)

    monkeypatch.setattr(EmulatedDevice, "array", taken)
    return emulated


def test_where_arrays_live():
    there = StrictArray(POINTS)
    assert choose.is_on_device(there)
    assert choose.is_on_device(FromTorch(POINTS))
    assert choose.is_on_device(FromTorch(POINTS, 13))
    assert choose.is_on_device(SimpleNamespace(__cuda_array_interface__={}))
    for here in (
        POINTS,
        POINTS.tolist(),
        FromTorch(POINTS, 1),
        FromTorch(POINTS, 10),
        None,
        "a.npy",
    ):
        assert not choose.is_on_device(here)
        assert choose.arrived(here, "auto") is here


def test_arrays_of_other_libraries_arrive(shared):
    there = choose.arrived(FromTorch(POINTS), "auto")
    assert isinstance(there, StrictArray)
    parts = choose.arrived([FromTorch(POINTS), FromTorch(POINTS)], "auto")
    assert all(isinstance(part, StrictArray) for part in parts)
    for name in ("scipy", "numba"):
        np.testing.assert_array_equal(choose.arrived(FromTorch(POINTS), name), POINTS)
        np.testing.assert_array_equal(choose.arrived(StrictArray(POINTS), name), POINTS)
    gradient = BufferError("Can't export tensors that require gradient, use tensor.detach()")
    with pytest.raises(vbdm.DeviceError, match=r"cannot be shared. Received FromTorch .*gradient"):
        choose.arrived(FromTorch(POINTS, error=gradient), "auto")


def test_an_engine_of_the_processor_gets_a_copy(shared):
    op = vbdm.estimate_operator(FromTorch(POINTS), 1.0, engine="scipy")
    assert op.settings.engine.name == "scipy"
    same = vbdm.estimate_operator(POINTS, 1.0, engine="scipy")
    assert (op.density == same.density).all()


def test_points_on_a_device_without_cupy(monkeypatch):
    monkeypatch.setattr(availability, "find_spec", lambda name: None)
    with pytest.raises(vbdm.DeviceError, match=r"needs CuPy.*such as X.cpu\(\)"):
        vbdm.estimate_operator(FromTorch(POINTS))


@pytest.mark.parametrize(("options", "words"), [
    ({"metric": "manhattan"}, "Other distances than Euclidean ones .*metric='manhattan'"),
    ({"metric": "precomputed"}, "Other distances"),
    ({"search": "brute"}, "This search .*Leave it out"),
    ({"placement": "disk"}, "Rows in blocks .*placement='disk'.*Leave `placement` out"),
    ({"placement": vbdm.placement.Memory(blocks=4)}, "Rows in blocks"),
])  # fmt: skip
def test_what_a_device_does_not_do(emulated, options, words):
    with pytest.raises(vbdm.DeviceError, match=words) as caught:
        vbdm.estimate_operator(POINTS, engine="cuda", **options)
    assert "Pass engine='numba', or 'scipy'" in str(caught.value)
    if "placement" not in options:
        with pytest.raises(vbdm.DeviceError, match=words):
            vbdm.estimate_operator(StrictArray(POINTS), **options)


def test_columns_and_graphs_that_a_device_does_not_take(emulated, tmp_path):
    np.save(tmp_path / "wide.npy", np.zeros((100, 65)))
    with pytest.raises(vbdm.DeviceError, match="65 columns"):
        vbdm.estimate_operator(tmp_path / "wide.npy", engine="cuda")
    with pytest.raises(vbdm.DeviceError, match=r"More than 64 columns .*65 columns.*vbdm.pca"):
        vbdm.estimate_operator(np.zeros((100, 65)), engine="cuda")
    with pytest.raises(vbdm.DeviceError, match=r"found elsewhere .*NeighborGraph.*Pass the points"):
        vbdm.estimate_operator(vbdm.neighbors(POINTS), engine="cuda")


def test_other_functions_take_a_copy_of_points_there():
    there = StrictArray(POINTS)
    np.testing.assert_array_equal(
        vbdm.neighbors(there, 8).indices, vbdm.neighbors(POINTS, 8).indices
    )
    reduced, known = (vbdm.pca(X, 1).apply(POINTS) for X in (there, POINTS))
    np.testing.assert_array_equal(reduced, known)


def test_the_command_speaks_of_its_options(monkeypatch, tmp_path):
    pytest.importorskip("click")
    from ..support.commands import vbdm_command

    monkeypatch.setattr(availability, "find_spec", lambda name: None)
    np.save(tmp_path / "points.npy", POINTS)
    done = vbdm_command("fit", tmp_path / "points.npy", "--engine", "cuda", "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert "needs CuPy" in done.stderr
    assert "or leave --engine out" in done.stderr
    assert not (tmp_path / "out").exists()


def test_results_on_a_device_where_none_computes():
    for engine in ("auto", "scipy"):
        with pytest.raises(vbdm.DeviceError, match=r"output='device' with .*Pass engine='cuda'"):
            vbdm.estimate_operator(POINTS, engine=engine, output="device")
    with pytest.raises(vbdm.InputError, match="'numpy', 'device'"):
        vbdm.estimate_operator(POINTS, output="cupy")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_points_are_checked_where_they_are(emulated, bad):
    wrong = POINTS.copy()
    wrong[17, 1] = bad
    for X, options in ((wrong, {"engine": "cuda"}), (StrictArray(wrong), {})):
        with pytest.raises(vbdm.InputError, match=r"1 row\(s\) with NaN or infinity.*at row 17"):
            vbdm.estimate_operator(X, **options)
    far = POINTS * 1e200
    with pytest.raises(vbdm.InputError, match="too far apart"):
        vbdm.estimate_operator(StrictArray(far))
    with pytest.raises(vbdm.InputError, match="complex numbers"):
        vbdm.estimate_operator(StrictArray(POINTS * 1j))
    with pytest.raises(vbdm.InputError, match="shape"):
        vbdm.estimate_operator(StrictArray(POINTS[:, 0]))


def test_the_first_use_is_said_once(tmp_path, capsys):
    def used(work="the operator"):
        first = FirstUse("NVIDIA H200", tmp_path / "cache", "0.1-cupy-14")
        with first.of(work):
            first.launched()
            with first.of("a part of it"):
                first.launched()
        return capsys.readouterr().err

    said = "vbdm: compiling for NVIDIA H200, first use only: up to a minute (the operator)\n"
    assert used() == said
    assert used() == ""
    assert "(the spectrum)" in used("the spectrum")
    assert used("the spectrum") == ""


def test_nothing_is_said_of_work_elsewhere_or_that_failed(tmp_path, capsys):
    first = FirstUse("NVIDIA H200", tmp_path, "0.1")
    with first.of("the operator"):
        pass
    first.launched()

    def fails():
        first.launched()
        raise KeyError

    with pytest.raises(KeyError), first.of("the operator"):
        fails()
    assert "first use only" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_who_listens_is_told_of_the_first_use(tmp_path, capsys):
    heard = []
    listener = type(
        "Listener", (), {"__call__": heard.append, "tell": lambda _, text: heard.append(text)}
    )()
    first = FirstUse("NVIDIA H200", tmp_path, "0.1")
    with listening(listener), first.of("the operator"):
        first.launched()
    assert heard == ["compiling for NVIDIA H200, first use only: up to a minute (the operator)"]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("options", "said"), [
    ({}, "compiling for a GPU\n"),
    ({"lines": sys.stderr}, '{"note": "compiling for a GPU", "kind": "Note"}\n'),
    ({"quiet": True}, ""),
])  # fmt: skip
def test_the_command_says_that_it_compiles(options, said, capsys):
    ledger = pytest.importorskip("vbdm.cli.timing").Ledger(**options)
    with listening(ledger):
        announce("compiling for a GPU")
    assert capsys.readouterr().err == said


def test_the_first_estimate_is_surrounded_though_it_finds_the_device(monkeypatch, capsys):
    seen = []

    class Block:
        def __init__(self, work):
            self.work = work

        def __enter__(self):
            seen.append(f"begin {self.work}")

        def __exit__(self, *error):
            seen.append(f"end {self.work}")

    @at_work.at_work("work")
    def work():
        at_work.surround(Block)
        seen.append("work")

    work()
    work()
    assert seen == ["begin work", "work", "end work"] * 2


def test_large_results_come_back_whole():
    values = np.random.default_rng(0).random((1 << 19, 3))
    there = StrictArray(values)
    assert values.size > AT_ONCE
    np.testing.assert_array_equal(fetched(there), values)
    assert not handed_out(there).flags.writeable
    assert handed_out(there, "device") is there
