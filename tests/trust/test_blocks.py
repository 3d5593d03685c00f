"""What is known about a spectrum in blocks is what is known about it in memory."""

from dataclasses import replace
from operator import attrgetter

import numpy as np
import pytest
from tests.support.blocks import rows_in, solved_in_blocks

import vbdm
from vbdm.graph.order import Copies, InCallerOrder, Order
from vbdm.rows.block_array import BlockArray
from vbdm.spectrum.limiter import Limits
from vbdm.spectrum.solve import normalised
from vbdm.spectrum.vectors import function_of, functions_at, in_blocks, known_eigenfunctions
from vbdm.trust import influences, series
from vbdm.trust.diagnose import diagnose
from vbdm.trust.edge import edge_of
from vbdm.trust.series import block_sums, in_series

pytestmark = pytest.mark.blocks

#: Numbers of a spectrum, whatever it lives in.
FIGURES = (
    "eigenvalues", "unresolved", "errors.covariance", "errors.standard", "errors.total",
    "errors.effective_points", "errors.bias", "errors.unresolved_share", "errors.functions",
    "errors.weak_links", "errors.overlaps",
)  # fmt: skip
#: What stands for many blocks, in memory and on disk.
BLOCKS = [(3, "memory"), (16, "disk")]


def cloud(name):
    """Return a cloud that has something special: a tail, copies, memory, an edge, two pieces."""
    rng = np.random.default_rng(3)
    if name == "series":
        return np.cumsum(rng.normal(size=(2500, 2)), axis=0)[::3] + rng.normal(size=(834, 2))
    if name == "square":
        return rng.uniform(size=(2500, 2))
    points = rng.normal(size=(2000, 2))
    if name == "copies":
        return np.concatenate([points, points[:500], points[:200]])
    return np.concatenate([points, rng.normal(size=(400, 2)) + 30])


@pytest.fixture(scope="module", params=["pieces", "copies", "series", "square"])
def whole(request):
    """Return a spectrum in memory."""
    operator = "generator" if request.param == "pieces" else "laplacian"
    return vbdm.estimate_operator(cloud(request.param), operator).spectrum(7)


@pytest.fixture(scope="module", params=BLOCKS)
def cut(request, whole):
    """Return the same spectrum in blocks."""
    return solved_in_blocks(whole, *request.param)


def same(found, expected):
    """Compare up to rounding."""
    assert isinstance(found, np.ndarray)
    size = np.abs(np.nan_to_num(expected)).max(initial=1e-300)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * size)


@pytest.mark.parametrize("figure", FIGURES)
def test_figures(whole, cut, figure):
    same(*(attrgetter(figure)(one) for one in (cut, whole)))


def test_figures_by_methods(whole, cut):
    same(cut.intervals(), whole.intervals())
    same(cut.errors.pointwise(2), whole.errors.pointwise(2))
    for found, expected in zip(cut.errors.mixing, whole.errors.mixing, strict=True):
        same(found, expected)


def test_findings(whole, cut):
    for found, expected in zip(diagnose(cut), diagnose(whole), strict=True):
        assert (found.name, found.light, found.words) == (
            expected.name, expected.light, expected.words
        )  # fmt: skip


def test_the_clouds_are_what_they_are_for(whole):
    names = {name: finding.light for name, finding in ((f.name, f) for f in diagnose(whole))}
    special = len(whole.operator.inside.degrees) < whole.operator.n_points
    special |= in_series(whole) or names["Boundary"] == "amber" or whole.pieces.n_pieces > 1
    assert special


def test_rows_on_disk_are_an_array_that_fetches_them(whole):
    found = solved_in_blocks(whole, 3, "disk").eigenfunctions
    assert isinstance(found, InCallerOrder)
    assert repr(found) == f"array of shape {whole.eigenfunctions.shape}, on disk"
    same(np.asarray(found), whole.eigenfunctions)


def test_eigenfunctions_in_the_callers_order(whole, cut):
    expected, rows = whole.eigenfunctions, np.array([5, 0, len(whole.eigenfunctions) - 1])
    same(functions_at(cut, rows), expected[rows])
    same(function_of(cut, 2), expected[:, 2])
    for found in (cut.eigenfunctions, InCallerOrder(in_blocks(cut), cut.operator.graph.order)):
        assert found.shape == expected.shape
        assert (found.dtype, found.ndim) == (expected.dtype, 2)
        same(np.asarray(found), expected)
        same(found[rows], expected[rows])
        same(found[7], expected[7])
        same(np.asarray(found[:, 3]), expected[:, 3])
        same(found[10:20, 1:3], expected[10:20, 1:3])


def test_only_what_leaves_memory_is_fetched_on_demand(cut):
    on_disk = in_blocks(cut).rows.place.words == "on disk"
    assert isinstance(cut.eigenfunctions, InCallerOrder if on_disk else np.ndarray)


def test_columns_of_modes_without_eigenvalue_are_not_known(whole, cut):
    values = whole.eigenvalues.copy()
    values[3] = np.nan
    expected = known_eigenfunctions(replace(whole, eigenvalues=values))
    same(np.asarray(known_eigenfunctions(replace(cut, eigenvalues=values))), expected)
    assert np.isnan(expected[:, 3]).all()


def test_no_more_than_one_mode_is_fetched_at_a_time(whole, monkeypatch):
    """All modes together may not fit into the memory of the process that drives the work."""
    fresh = solved_in_blocks(whole, 16, "disk")
    fetched, some_rows = [], BlockArray.some_rows
    as_array = BlockArray.__array__

    def counted_rows(self, rows):
        fetched.append(rows.size * int(np.prod(self.kind[0])))
        return some_rows(self, rows)

    def counted_array(self, dtype=None, copy=None):
        fetched.append(int(np.prod(self.shape)))
        return as_array(self, dtype)

    monkeypatch.setattr(BlockArray, "some_rows", counted_rows)
    monkeypatch.setattr(BlockArray, "__array__", counted_array)
    monkeypatch.setattr(series, "ROWS_AT_ONCE", 64)
    monkeypatch.setattr(influences, "ROWS_AT_ONCE", 4)
    fresh.intervals(), diagnose(fresh), fresh.errors.functions, fresh.errors.pointwise(2)
    edge = 0 if edge_of(fresh.operator) is None else len(edge_of(fresh.operator).rows)
    if not edge:  # points near an edge are fetched with all their neighbours, at most 4,000
        assert 0 < max(fetched) <= 2 * len(fresh.operator.inside.degrees)


def test_verify_says_why_not(cut):
    with pytest.raises(vbdm.InputError, match="whole matrix in memory"):
        vbdm.verify(cut)


@pytest.mark.parametrize("blocks", BLOCKS)
def test_sign_of_the_first_of_equal_peaks(blocks):
    rng = np.random.default_rng(0)
    n, order = 1000, Order(rng.permutation(1000), None)
    functions = 0.5 * rng.normal(size=(n, 4)).clip(-1, 1)
    # Equal up to rounding, of both signs: the first row in the caller's order decides.
    functions[[700, 30, 400]] = np.array([[1], [-1 + 1e-9], [1]]) * 2.0
    expected = normalised(functions.copy())
    inside = rows_in(n, *blocks).spread(order.to_inside(functions))
    found = np.asarray(normalised(inside, order.caller_rows, None))
    same(order.to_caller(found), expected)
    assert (expected[30] > 0).all()


def test_copies_count_in_the_size():
    rng = np.random.default_rng(1)
    point_of = np.concatenate([np.arange(600), rng.integers(0, 600, size=300)])
    copies = Copies(point_of, np.arange(600), np.bincount(point_of).astype(float))
    order = Order(rng.permutation(600), copies)
    values = rng.normal(size=(600, 3))
    expected = normalised(order.to_caller(values))
    inside = rows_in(600, 5).spread(values)
    found = normalised(inside, order.caller_rows, order.counts)
    same(order.to_caller(np.asarray(found)), expected)


def test_long_series_are_summed_up_in_parts(monkeypatch):
    rows = np.random.default_rng(2).normal(size=(1000, 3))
    for length in (1, 7, 250):
        at_once = block_sums(rows, [600, 400], length)
        monkeypatch.setattr(series, "ROWS_AT_ONCE", 64)
        same(block_sums(rows, [600, 400], length), at_once)
        monkeypatch.undo()


def test_a_limit_of_its_own(whole, cut):
    """Modes with limits of their own have their own unresolved points."""
    if whole.limits.shared is None:
        pytest.skip("there is no limiter")
    lower = replace(
        whole.limits.shared,
        cut=whole.limits.shared.cut * 0.5,
        reference=whole.limits.shared.reference * 0.5,
    )
    limits = (lower, *whole.limits.of_modes[1:])
    expected = replace(whole, limits=Limits(whole.limits.shared, limits)).errors.unresolved_share
    same(replace(cut, limits=Limits(whole.limits.shared, limits)).errors.unresolved_share, expected)
