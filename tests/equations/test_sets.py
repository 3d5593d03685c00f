"""Sets of points by masks, rows, labels, conditions and distances; what is no set is refused."""

import time
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import vbdm
from vbdm.equations.sets import Naming, condition_on

N = 60
X = np.random.default_rng(0).normal(size=(N, 2))
LOW, HIGH = X[:, 0] < -0.5, X[:, 0] > 0.5
WORDS = np.where(LOW, "low", np.where(HIGH, "high", "middle"))


@pytest.fixture(scope="module")
def op():
    return vbdm.estimate_operator(X, "generator")


def mask(op, what, **named):
    return Naming(op, **named).read(what, "A").mask


@pytest.mark.parametrize(
    "what",
    [
        LOW, LOW.tolist(), LOW.astype(int), LOW.astype(float), LOW.astype(np.int8),
        LOW.astype(object), pd.Series(LOW), pd.Series(LOW, dtype="boolean"), np.flatnonzero(LOW),
        np.flatnonzero(LOW).tolist(), np.flatnonzero(LOW).astype(float), X[:, 0] + 0.5,
        "x0 < -0.5", "-0.5>x0", " ( x0 < -.5 ) ", "x0 < −0.5", "x0 < -5e-1 & x1 < 9e9",
        "x0 < -99 or x0 < -0.5", "(x0 < -0.5) | (x1 > 1e6)", "-100 <= x0 < -0.5 AND x1 > -99",
    ],
    ids=lambda what: what if isinstance(what, str) else type(what).__name__,
)  # fmt: skip
def test_the_same_set_in_many_ways(op, what):
    np.testing.assert_array_equal(mask(op, what), LOW)


@pytest.mark.parametrize(
    "labels",
    [WORDS, WORDS.tolist(), WORDS.astype(object), pd.Series(WORDS), pd.Categorical(WORDS)],
    ids=lambda labels: type(labels).__name__,
)
def test_labels(op, labels):
    np.testing.assert_array_equal(mask(op, "low", labels=labels), LOW)
    np.testing.assert_array_equal(mask(op, ["low", "high"], labels=labels), LOW | HIGH)
    np.testing.assert_array_equal(mask(op, HIGH, labels=labels), HIGH)
    np.testing.assert_array_equal(np.flatnonzero(mask(op, [3, 7], labels=labels)), [3, 7])
    np.testing.assert_array_equal(mask(op, "x0 > 0.5", labels=labels), HIGH)


def test_labels_that_are_numbers_and_labels_that_read_as_conditions(op):
    numbers = np.where(LOW, 7, np.where(HIGH, 8, 9))
    np.testing.assert_array_equal(mask(op, 7, labels=numbers), LOW)
    np.testing.assert_array_equal(mask(op, np.int32(8), labels=numbers), HIGH)
    np.testing.assert_array_equal(mask(op, [7, 8], labels=numbers), LOW | HIGH)
    np.testing.assert_array_equal(mask(op, LOW.astype(int), labels=numbers), LOW)
    with pytest.raises(vbdm.InputError, match="looks like labels"):
        mask(op, numbers, labels=numbers)
    assert np.flatnonzero(mask(op, [6, 7], labels=numbers)).tolist() == [6, 7]
    np.testing.assert_array_equal(np.flatnonzero(mask(op, np.arange(N - 1, -1, -1))), np.arange(N))
    odd = np.where(HIGH, "x0 < -0.5", "rest")
    np.testing.assert_array_equal(mask(op, "x0 < -0.5", labels=odd), HIGH)


def test_many_labels_are_looked_up_in_no_time():
    """A list of some of 10,000 different labels."""
    naming = Naming(SimpleNamespace(n_points=10_000), np.arange(10_000))
    start = time.process_time()
    assert naming.region(np.arange(5000), "A").mask.sum() == 5000
    assert time.process_time() - start < 0.2


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
def test_missing_labels_belong_to_no_set(op, missing):
    labels = WORDS.astype(object)
    labels[~LOW] = missing
    np.testing.assert_array_equal(mask(op, "low", labels=labels), LOW)
    with pytest.raises(vbdm.InputError, match=r"does not occur.*without a label are in no set"):
        mask(op, missing, labels=labels)


def test_columns_by_names(op):
    frame = pd.DataFrame({"phi (deg)": X[:, 0], "or else": X[:, 1], "word": WORDS})
    for columns in (frame, {"phi (deg)": X[:, 0].tolist()}, ["phi (deg)", "psi"]):
        np.testing.assert_array_equal(mask(op, "phi (deg) < -0.5", columns=columns), LOW)
        np.testing.assert_array_equal(mask(op, "`phi (deg)`<-0.5", columns=columns), LOW)
    np.testing.assert_array_equal(mask(op, "1 < -0.5", columns={1: X[:, 0]}), LOW)
    gaps = np.where(LOW, X[:, 0], np.nan)
    np.testing.assert_array_equal(mask(op, "a < 0", columns={"a": gaps}), LOW)


NO_CONDITIONS = {
    "x0 < nan": "'nan' is no finite number",
    "x0 < 1e400": "'1e400' is no finite number",
    "x0 < -inf": "no finite number",
    "x0 < x1": "'x1' is no finite number",
    "phi < 1": "There is no column 'phi'",
    "< 1": "There is no column ''",
    "x0 <": "'' is no finite number",
    "x0 << 1": "There is no column ''",
    "1 < x0 < 2 < 3": "is no comparison of a column",
    "1 < 2": "There is no column '2'",
    "x0 < 1 and": "'' is no comparison",
    "x0 < 1 && x1 < 2": "'' is no comparison",
    "(x0 < 1 or x1 < 2) and x1 > 0": r"no column '\(x0'; brackets that join comparisons are not",
    "x0 < 1,5": "'1,5' is no finite number",
    "x0 < 1; import os": "no finite number",
    "((x0 < 1)": "brackets",
}


@pytest.mark.parametrize("text", NO_CONDITIONS)
def test_conditions_that_cannot_be_read(op, text):
    with pytest.raises(vbdm.InputError, match=r"`A` is a condition that cannot be read") as caught:
        mask(op, text)
    caught.match(NO_CONDITIONS[text])
    caught.match("the columns are x0, x1")


LONG_TEXTS = [
    "x0" + " " * 10**5 + "y <", "1" * 10**5 + "<x0", "x0<" + "9" * 10**5 + "e", "<" * 10**5,
    "(" * 10**4 + "y<1" + ")" * 10**4, " and ".join(["x0<1"] * 10**4) + " and ",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(LONG_TEXTS)))
def test_long_texts_take_no_time(number):
    start = time.process_time()
    with pytest.raises(vbdm.InputError) as caught:
        condition_on(LONG_TEXTS[number], {"x0": np.zeros(3)}, "A")
    assert time.process_time() - start < 2
    assert len(str(caught.value)) < 1000


NO_SETS = {
    "a mask that is too short": (LOW[:-1], "is no set of points"),
    "a table": (X, "is no set of points"),
    "a negative row": ([-1, 2], "is no set of points"),
    "a row beyond the last": ([N], f"row numbers from 0 to {N - 1}"),
    "half a row": ([0.5], "is no set of points"),
    "no row": ([np.nan], "is no set of points"),
    "complex rows": ([1j], "is no set of points"),
    "rows of unequal lengths": ([[1], [2, 3]], "is no set of points"),
    "words without labels": (["low"], "is no set of points"),
    "a dictionary": ({}, "is no set of points"),
    "nothing": (None, "is no set of points"),
    "a slice": (slice(3), "is no set of points"),
    "a word": ("low", "neither a condition nor a label"),
    "an equation": ("x0 = 3", "neither a condition nor a label"),
    "an empty list": ([], "The set `A` is empty"),
    "an empty mask": (np.zeros(N, bool), "The set `A` is empty"),
    "zeros": (np.zeros(N, int), "The set `A` is empty"),
    "an empty condition": ("x0 < -1e9", "The set `A` is empty"),
    "cluster numbers": (np.where(LOW, 3, 7), "looks like labels.*2 different ones.*Pass labels="),
    "distances with NaN": (np.where(LOW, np.nan, 1.5), "distances that are no numbers"),
    "distances without an inside": (np.abs(X[:, 0]) + 1, "The set `A` is empty"),
}


@pytest.mark.parametrize("name", NO_SETS)
def test_what_is_no_set(op, name):
    what, words = NO_SETS[name]
    with pytest.raises(vbdm.InputError, match=words):
        op.mean_first_passage(what) if name == "nothing" else mask(op, what)


def test_what_is_no_label_and_no_column(op):
    for labels in (WORDS[:-1], "low", {"low": LOW}, [[1, 2]] * N, [{}] * N, 3):
        with pytest.raises(vbdm.InputError, match="`labels` must have one label for each point"):
            mask(op, "low", labels=labels)
    for labels, words in ((WORDS[:-1], f"{N - 1} labels, {N} points"), ([[1, 2]] * N, r"\[1, 2\]")):
        with pytest.raises(vbdm.InputError, match=words):
            mask(op, "low", labels=labels)
    for what in ("Low", ["low", "Low"], {}, slice(3), 3.5, True):
        with pytest.raises(vbdm.InputError, match=r"label that does not occur.*'high', 'low', 'mi"):
            mask(op, what, labels=WORDS)
    for columns in (3, [1, 2], X, "phi"):
        with pytest.raises(vbdm.InputError, match="`columns` has columns by their names"):
            mask(op, LOW, columns=columns)
    with pytest.raises(vbdm.InputError, match=r"must name all columns.*1 names, 2 columns"):
        mask(op, "phi < 0", columns=["phi"])
    with pytest.raises(vbdm.InputError, match="The column 'word' has no numbers"):
        mask(op, "word < 0", columns={"word": WORDS})
    with pytest.raises(vbdm.InputError, match="There is no column 'short'"):
        mask(op, "short < 0", columns={"short": X[1:, 0], "wide": X})
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    with pytest.raises(vbdm.InputError, match="A condition on columns needs points"):
        mask(vbdm.estimate_operator(distances, metric="precomputed"), "x0 < 0")


def test_a_set_with_one_of_two_copies_has_both():
    op = vbdm.estimate_operator(np.concatenate([X, X[:9]]), "generator")
    assert np.flatnonzero(mask(op, [4])).tolist() == [4, N + 4]
    with pytest.raises(vbdm.InputError, match=r"overlap.*2 points.*copies of a point included"):
        op.committor([4, 30], [N + 4, 20])
