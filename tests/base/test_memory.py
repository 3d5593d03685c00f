"""The memory formula against peaks measured in processes of their own."""

import os
import subprocess
import sys

import pytest

import vbdm
from vbdm.base import memory
from vbdm.base.memory import estimate_memory

MEASURE = """
import re, sys, warnings
import vbdm
warnings.simplefilter("ignore", vbdm.VbdmWarning)
# Not ru_maxrss: that one remembers the peak of the process that started this one.
status = lambda: open("/proc/self/status").read()
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status())[1])
points = getattr(vbdm.datasets, sys.argv[1])(40_000, random_state=0).points
vbdm.estimate_operator(points[:2000], "generator", run=sys.argv[2]).spectrum(10).errors.bias
before = peak()
op = vbdm.estimate_operator(points, "generator", run=sys.argv[2])
op.spectrum(10).errors.bias
print(op.n_neighbors, points.shape[1], peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("engine", [pytest.param("scipy", marks=pytest.mark.slow), "numba"])
@pytest.mark.parametrize("dataset", [pytest.param("ou", marks=pytest.mark.slow), "sphere"])
def test_estimate_is_within_thirty_per_cent(dataset, engine):
    if engine == "numba":
        pytest.importorskip("numba")
    task = [sys.executable, "-c", MEASURE, dataset, engine]
    out = subprocess.run(task, capture_output=True, text=True, check=True).stdout
    k, columns, peak = map(int, out.split())
    assert estimate_memory(40_000, k, columns) == pytest.approx(peak, rel=0.3)


MANY = """
import re, sys, warnings
import numpy as np
import vbdm
warnings.simplefilter("ignore", vbdm.VbdmWarning)
status = lambda: open("/proc/self/status").read()
peak = lambda: 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", status())[1])
n, columns, times = map(int, sys.argv[1:])
points = np.repeat(np.random.default_rng(4100).standard_normal((n, columns)), times, axis=0)
vbdm.estimate_operator(vbdm.datasets.ou(2000, dim=2, random_state=0).points).spectrum(10)
before = peak()
op = vbdm.estimate_operator(points, "generator")
op.spectrum(10)
print(op.n_neighbors, peak() - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize(("n", "columns", "times"), [(4000, 50, 1), (8000, 2, 2)])
def test_many_columns_and_copies_are_within_thirty_per_cent(n, columns, times):
    """The longest lists, and points that occur twice: 3.8 and 0.4 times the estimate before."""
    task = [sys.executable, "-c", MANY, str(n), str(columns), str(times)]
    out = subprocess.run(task, capture_output=True, text=True, check=True).stdout
    k, peak = map(int, out.split())
    said = estimate_memory(n * times, k, columns, n_distinct=n)
    assert said == pytest.approx(peak, rel=0.3)


#: Peaks in MB that `benchmarks/memory.py` measured: N, k, columns, different points, pieces.
PEAKS = {
    "plane": (139, 40_000, 109, 2, 40_000, 1),
    "clusters": (116, 20_000, 103, 2, 20_000, 4),
    "thirty columns": (1212, 10_000, 1088, 30, 10_000, 1),
    "fifty columns": (755, 6_000, 1088, 50, 6_000, 1),
    "hundred columns": (1460, 20_000, 1088, 100, 20_000, 1),
    "thirty columns, more points": (8100, 100_000, 1088, 30, 100_000, 1),
    "copies": (50, 50_000, 133, 2, 10_000, 1),
}


@pytest.mark.parametrize("name", PEAKS)
def test_the_formula_fits_measured_peaks(name):
    peak, n, k, columns, distinct, pieces = PEAKS[name]
    said = estimate_memory(n, k, columns, n_distinct=distinct, n_pieces=pieces)
    assert said == pytest.approx(1e6 * peak, rel=0.3)


def test_memory_grows_with_everything():
    base = estimate_memory(10_000, 100, 3, 10)
    assert base < estimate_memory(20_000, 100, 3, 10)
    assert base < estimate_memory(10_000, 200, 3, 10)
    assert base < estimate_memory(10_000, 100, 6, 10)
    assert base < estimate_memory(10_000, 100, 3, 20)
    assert base < estimate_memory(10_000, 100, 3, 10, n_pieces=2)
    assert base == estimate_memory(50_000, 100, 3, 10, n_distinct=10_000)


@pytest.mark.parametrize("arguments", [(0, 1), (10, 11), (10, 0), (10, 5, 0), (10, 5, 3, 11)])
def test_impossible_sizes_are_refused(arguments):
    with pytest.raises(ValueError):
        estimate_memory(*arguments)


def test_rows_on_disk_take_less_memory_and_need_space():
    whole, beside = (estimate_memory(10**6, 96, 2, placement=p) for p in ("memory", "disk"))
    assert beside < 0.4 * whole
    assert estimate_memory(10**6, 96, 2, placement="disk", n_blocks=1) > 1.5 * beside
    assert vbdm.estimate_disk(10**6, 96, 2) > 0.7 * whole
    assert vbdm.estimate_disk(10**6, 96, 2) < vbdm.estimate_disk(10**6, 150, 2)
    with pytest.raises(ValueError, match="known names"):
        estimate_memory(100, 10, placement="tape")


def test_a_cloud_that_will_not_fit_is_refused_before_the_search(monkeypatch):
    points = vbdm.datasets.sphere(2000, random_state=0).points
    monkeypatch.setattr(memory, "available_memory", lambda: 1_000_000)
    with pytest.raises(vbdm.errors.OutOfMemoryError, match=r"effort=0\.5") as caught:
        vbdm.estimate_operator(points, run="memory")
    assert isinstance(caught.value, MemoryError)
    assert "GB are free" in str(caught.value)


def test_what_is_free_is_read_from_system_and_container(tmp_path):
    table = tmp_path / "meminfo"
    whole = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    table.write_text("MemTotal: 100 kB\nMemAvailable:    50 kB\n")
    assert memory.free_in_system(str(table)) == 50 * 1024
    # Without that line, or without a number there, the whole memory counts.
    for text in ("MemTotal: 100 kB\n", "MemAvailable: much\n", "MemAvailable:\n"):
        table.write_text(text)
        assert memory.free_in_system(str(table)) == whole
    assert memory.free_in_system(str(tmp_path / "nowhere")) == whole
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("700\n")
    (tmp_path / "memory.stat").write_text("anon 5\ninactive_file 100\n")
    assert memory.free_in_group(str(tmp_path)) == 400
    (tmp_path / "memory.max").write_text("max\n")
    assert memory.free_in_group(str(tmp_path)) is None
    assert memory.free_in_group(str(tmp_path / "nowhere")) is None


def test_without_a_c_library_there_is_none(monkeypatch):
    def none_there(name):
        raise OSError("on purpose")

    monkeypatch.setattr(memory.ctypes, "CDLL", none_there)
    assert memory.c_library.__wrapped__() is None
