"""Whatever is passed in place of an array of numbers: never numbers in silence, always a hint."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array
from tests.support.estimates import estimate_with

import vbdm

X = np.random.default_rng(0).standard_normal((60, 2))
pd = pytest.importorskip("pandas")


def masked(array, row=7):
    mask = np.zeros(array.shape, dtype=bool)
    mask[row, -1] = True
    return np.ma.masked_array(array, mask)


def adata(**obsm):
    return SimpleNamespace(obsm=obsm, obs=None, n_obs=60, shape=(60, 5))


DATES = np.datetime64("2020-01-01") + np.arange(120).reshape(60, 2)
NO_POINTS = {
    "masked": (masked(X), r"1 of 60 row\(s\) with masked values, the first at row 7.*getmaskarray"),
    "truth values": (X > 0, r"truth values.*astype\(float\)"),
    "text": (X.astype(str), r"text.*astype\(float\)"),
    "bytes": (X.astype("S8"), "text"),
    "text in objects": (X.astype(str).astype(object), "text"),
    "text in lists": ([["1", "2"], ["3", "4"]], "text"),
    "truth values in objects": ((X > 0).astype(object), "truth values"),
    "dates": (DATES, "dates"),
    "dates in objects": (DATES.astype(object), "dates"),
    "time spans": (DATES - DATES[0, 0], "time spans"),
    "huge": ([[10**400, 1]] * 60, "real numbers"),
    "path": ("points.csv", r"'points.csv'.*vbdm\.io\.read"),
    "path object": (Path("points.csv"), r"vbdm\.io\.read"),
    "sparse": (csr_array(X), r"sparse.*toarray\(\)"),
    "three axes": (X.reshape(15, 4, 2), r"reshape\(len\(X\), -1\)"),
    "one axis": (X[:, 0], r"reshape\(-1, 1\).*reshape\(1, -1\)"),
    "no axis": (3.0, r"shape \(\).*n_points"),
    "array without axes": (np.array(3.0), r"shape \(\).*n_points"),
    "module": (np, "real numbers"),
    "frame with text": (
        pd.DataFrame({"x": X[:, 0], "kind": ["a", "b"] * 30}),
        r"'kind' \(text\).*select_dtypes",
    ),
    "frame with dates": (pd.DataFrame({"x": X[:, 0], "day": DATES[:, 0]}), r"'day' \(dates\)"),
    "cells without components": (adata(X_umap=X), r"X_pca.*adata\.obsm\['X_umap'\]"),
    "transposed": (np.ones((2, 1000)) * [[1], [2]], r"X\.T"),
    "five points": (X[:5], "fewer than 10 points.*5 points in 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", NO_POINTS)
def test_no_points(name):
    wrong, words = NO_POINTS[name]
    with pytest.raises(vbdm.InputError, match=words):
        vbdm.estimate_operator(wrong)


@pytest.mark.parametrize(
    "name",
    sorted(
        set(NO_POINTS)
        - {"sparse", "huge", "three axes", "one axis", "no axis", "array without axes", "module"}
    ),
)
def test_no_points_for_the_estimator(name):
    wrong, words = NO_POINTS[name]
    with pytest.raises(ValueError, match=words):
        vbdm.DiffusionMap(n_components=2).fit(wrong)


def test_cells_are_accepted_as_they_are():
    cells = adata(X_pca=X, X_umap=X + 1)
    op = vbdm.estimate_operator(cells)
    np.testing.assert_array_equal(op.density, vbdm.estimate_operator(X).density)
    model = vbdm.DiffusionMap(n_components=2).fit(cells)
    np.testing.assert_array_equal(model.transform(cells), model.transform(X))


DISTANCES = np.linalg.norm(X[:, None] - X, axis=2)
NO_DISTANCES = {
    "masked": (masked(DISTANCES), "1 of 60 row"),
    "complex and sparse": (csr_array(DISTANCES * (1 + 1j)), "complex"),
    "complex": (DISTANCES * (1 + 1j), "complex"),
    "truth values": (DISTANCES < 1, "truth values"),
    "sparse truth values": (csr_array(DISTANCES < 1), "truth values"),
    "text": (DISTANCES.astype(str), "text"),
}


@pytest.mark.parametrize("name", NO_DISTANCES)
def test_no_distances(name):
    wrong, words = NO_DISTANCES[name]
    with pytest.raises(vbdm.InputError, match=words):
        vbdm.estimate_operator(wrong, metric="precomputed")


ONES = np.ones(60)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("potential", masked(ONES[:, None])[:, 0]), ("bandwidth", masked(ONES[:, None])[:, 0]),
        ("weights", masked(ONES[:, None])[:, 0]), ("weights", ONES.astype(str)),
        ("potential", ONES.astype(str)), ("potential", ONES.astype(str).astype(object)),
        ("bandwidth", ONES * 1j), ("potential", DATES[:, 0]), ("epsilon", "1"), ("dim", True),
        ("period", True), ("period", "1"), ("period", [None, "1"]), ("effort", "1"),
        ("beta", "-0.5"), ("epsilon", np.datetime64(1, "s")), ("epsilon", 10**400),
    ],
)  # fmt: skip
def test_no_numbers_for_an_argument(name, wrong):
    with pytest.raises(vbdm.InputError, match=name):
        estimate_with(X, **{name: wrong})


def test_masks_in_new_points_in_functions_and_in_series():
    op = vbdm.estimate_operator(X)
    spectrum = op.spectrum(3)
    calls = {
        "new": lambda: vbdm.extend(spectrum, masked(X)),
        "density": lambda: op.density_at(masked(X)),
        "function": lambda: op @ masked(X),
        "series": lambda: vbdm.estimate_operator([X, masked(X)]),
        "estimator": lambda: vbdm.DiffusionMap(n_components=2).fit(X).transform(masked(X)),
    }
    for call in calls.values():
        with pytest.raises(vbdm.InputError, match=r"masked.*row 7"):
            call()
    # A mask that hides nothing is none.
    whole = np.ma.masked_array(X, False)
    np.testing.assert_array_equal(vbdm.estimate_operator(whole).density, op.density)


def test_one_new_point_needs_a_row():
    spectrum = vbdm.estimate_operator(X).spectrum(3)
    with pytest.raises(vbdm.InputError, match=r"X\.reshape\(1, -1\) for one point\.$"):
        vbdm.extend(spectrum, [1.0, 0.0])


def test_no_new_points_give_no_values():
    op = vbdm.estimate_operator(X)
    spectrum = op.spectrum(3)
    nobody = np.empty((0, 2))
    assert vbdm.extend(spectrum, nobody).values.shape == (0, 3)
    assert op.density_at(nobody).shape == (0,)
    assert op.extend(X[:, 0], nobody).shape == (0,)
    assert op.extend(X, nobody).shape == (0, 2)
