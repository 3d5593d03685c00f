"""New points, pictures, pages and scans of a spectrum that was estimated and solved in blocks."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from tests.support.estimates import estimate_with
from tests.trust.test_blocks import same

import vbdm
from vbdm.report import page
from vbdm.report.found import what_was_found
from vbdm.rows.block_array import BlockArray
from vbdm.spectrum.vectors import in_blocks

pytestmark = pytest.mark.blocks

N = 3000
RNG = np.random.default_rng(5)
POINTS = RNG.uniform(-1, 1, size=(N, 2))
#: New points: training points, points beside them, others among them, and some far outside.
NEW = np.concatenate([
    POINTS[:50], POINTS[50:100] + 1e-4, RNG.uniform(-1, 1, size=(900, 2)),
    RNG.normal(size=(9, 2)) + 40,
])  # fmt: skip


def solved(**placement):
    """Return the spectrum of the points."""
    return estimate_with(POINTS, "generator", **placement).spectrum(6, tol=1e-10)


@pytest.fixture(scope="module")
def whole():
    """Return the spectrum in memory."""
    return solved()


@pytest.fixture(scope="module", params=["memory", "disk"])
def cut(request):
    """Return the spectrum in blocks."""
    places = {"memory": vbdm.placement.Memory(blocks=3), "disk": vbdm.placement.Disk(blocks=7)}
    return solved(placement=places[request.param])


def test_the_spectrum(whole, cut):
    assert in_blocks(cut) is not None
    same(cut.eigenvalues, whole.eigenvalues)
    same(cut.intervals(), whole.intervals())
    np.testing.assert_allclose(np.asarray(cut.eigenfunctions), whole.eigenfunctions, atol=1e-7)
    assert [found.words for found in vbdm.diagnose(cut)] == [
        found.words for found in vbdm.diagnose(whole)
    ]


@pytest.mark.parametrize("outside", ["nan", "nearest"])
def test_new_points(whole, cut, outside):
    expected, found = (one.extend(NEW, outside=outside) for one in (whole, cut))
    np.testing.assert_allclose(found.values, expected.values, atol=1e-7)
    same(found.density, expected.density)
    for flags in ("outside", "undefined", "training"):
        np.testing.assert_array_equal(getattr(found, flags), getattr(expected, flags))
    f = np.sin(POINTS)
    values = [one.operator.extend(f, NEW, outside=outside) for one in (whole, cut)]
    same(values[1], values[0])
    same(cut.operator.density_at(NEW), whole.operator.density_at(NEW))


def test_new_points_fetch_only_what_they_need(cut, monkeypatch):
    fetched = []
    some_rows = BlockArray.some_rows

    def counted(self, rows):
        fetched.append(len(rows))
        return some_rows(self, rows)

    monkeypatch.setattr(BlockArray, "some_rows", counted)
    cut.extend(NEW[60:62])
    assert 0 < max(fetched) < N / 4


def test_new_points_in_files_and_in_arrays_of_dask(whole, tmp_path):
    expected = whole.extend(NEW)
    array = pytest.importorskip("dask.array")
    np.save(tmp_path / "new.npy", NEW.astype(np.float32).astype(float))
    pytest.importorskip("zarr").save(tmp_path / "new.zarr", NEW)
    for source in (array.from_array(NEW, chunks=(300, 1)), tmp_path / "new.zarr"):
        found = whole.extend(source)
        same(found.values, expected.values)
        np.testing.assert_array_equal(found.outside, expected.outside)
    assert whole.extend(tmp_path / "new.npy").values.shape == expected.values.shape
    wrong = NEW.copy()
    wrong[700, 1] = np.nan
    with pytest.raises(vbdm.InputError, match="700"):
        whole.extend(array.from_array(wrong, chunks=(300, 2)))


def test_pictures(cut):
    for draw in (vbdm.plot.eigenfunctions, vbdm.plot.embedding, vbdm.plot.unresolved):
        assert draw(cut) is not None
    assert cut.plot() is not None
    plt.close("all")


def test_a_picture_draws_a_sample_and_says_so(cut, monkeypatch):
    monkeypatch.setattr("vbdm.plot._canvas.MOST_POINTS", 500)
    monkeypatch.setattr("vbdm.plot._canvas.thinned.__defaults__", (500, "points"))
    ax = vbdm.plot.embedding(cut)
    assert "500 of 3,000 points drawn" in ax.get_title()
    plt.close("all")


def test_page_and_words(whole, cut):
    assert what_was_found(cut) == what_was_found(whole)
    text = page(cut, n_drawn=400)
    assert "400 of 3,000 points are drawn" in text


def test_scan_over_epsilon(whole, cut):
    scans = [vbdm.scan_epsilon(one, (2.0,), n_drawn=200) for one in (whole, cut)]
    np.testing.assert_allclose(scans[1].eigenvalues, scans[0].eigenvalues, rtol=1e-3)
    np.testing.assert_array_equal(scans[1].rows, scans[0].rows)


def test_groups_of_very_many_points_are_those_of_a_sample(monkeypatch):
    two = RNG.normal(size=(1000, 2))
    two[600:, 0] += 5.5
    found = vbdm.estimate_operator(two, "generator").spectrum(4)
    exact = what_was_found(found)
    assert "Two groups, of " in exact
    assert "about" not in exact
    monkeypatch.setattr("vbdm.report.found.MOST_LOOKED_AT", 500)
    assert "Two groups, of about " in what_was_found(found)
