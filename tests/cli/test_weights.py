"""``vbdm fit --weights``: a column of the file or of another one, a bias with its temperature."""

import re

import numpy as np
import pytest
from tests.support.commands import FAST, done, vbdm_command, write_csv

import vbdm
from vbdm.results import load_results

RNG = np.random.default_rng(4300)
ANGLES = RNG.uniform(-np.pi, np.pi, (500, 2))
KT = 0.00831446261815324 * 300
BIAS = KT * (1.5 * np.cos(ANGLES[:, 0]) + 0.5 * np.cos(ANGLES[:, 1]))
HEADER = "#! FIELDS time phi psi metad.rbias\n" + "".join(
    f"#! SET {end}_{name} {sign}pi\n"
    for name in ("phi", "psi")
    for end, sign in (("min", "-"), ("max", ""))
)


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = np.column_stack([np.arange(500), ANGLES, BIAS]).tolist()
    text = [" ".join(map(repr, row)) + "\n" for row in rows]
    (tmp_path / "COLVAR").write_text(HEADER + "".join(text[:300]) + HEADER + "".join(text[300:]))
    write_csv("points.csv", np.column_stack([ANGLES, np.exp(BIAS / KT)]), "phi,psi,w")
    np.save("weights.npy", np.exp(BIAS / KT))


def eigenvalues(*arguments):
    """Return the eigenvalues that the command finds."""
    done("fit", *arguments, "-O", "generator", "-n", 4, "-o", "out", "--force", *FAST, "-q")
    return load_results("out").arrays["eigenvalues"]


def expected(rows=slice(None)):
    op = vbdm.estimate_operator(
        ANGLES[rows], "generator", weights=np.exp(BIAS / KT)[rows], period=2 * np.pi
    )
    return op.spectrum(4).eigenvalues


BIASED = ("--weights", "COLVAR:metad.rbias", "--temperature", 300)
WAYS = {
    "all in one file": ("COLVAR", "--weights", "metad.rbias", "--temperature", 300),
    "columns chosen": ("COLVAR", "--columns", "phi,psi", *BIASED),
    "beside a table": ("points.csv", "--columns", "phi,psi", "--period", "2pi", *BIASED),
    "a column of the table": ("points.csv", "--period", "2pi", "--weights", "w"),
    "a column of its own file": (
        "COLVAR", "--weights", "weights.npy",
    ),
    "of another table": ("COLVAR", "--weights", "points.csv:w"),
}  # fmt: skip


@pytest.mark.parametrize("name", WAYS)
def test_ways_to_say_it(name):
    np.testing.assert_allclose(eigenvalues(*WAYS[name]), expected(), rtol=1e-9, atol=1e-9)


def test_rows_that_are_left_out_take_their_weights_with_them():
    found = eigenvalues("COLVAR", "--every", 2, *BIASED)
    np.testing.assert_allclose(found, expected(slice(None, None, 2)), rtol=1e-9, atol=1e-9)
    gaps = ANGLES.copy()
    gaps[7, 0] = np.nan
    write_csv("gaps.csv", gaps, "phi,psi")
    found = eigenvalues("gaps.csv", "--drop-missing", "--period", "2pi", *BIASED)
    kept = np.delete(np.arange(500), 7)
    np.testing.assert_allclose(found, expected(kept), rtol=1e-9, atol=1e-9)


def test_what_was_done_is_told():
    told = done("fit", "COLVAR", *BIASED, "-O", "generator", "-n", 3, *FAST).output
    assert "L f = Δf + ∇f·∇π/π" in told
    assert "weights      worth" in told
    summary = load_results("COLVAR-vbdm").summary
    assert summary["decided"]["weights"] == "measure"
    assert 100 < summary["decided"]["effective_points"] < 500
    assert vbdm.load("COLVAR-vbdm/model.vbdm").operator.settings.weighting.is_used
    done("transform", "COLVAR-vbdm", "COLVAR")


WRONG = {
    "no temperature": (("--weights", "COLVAR:metad.rbias"), "bias is an energy.*--temperature 300"),
    "no weights": (("--temperature", 300), "--temperature goes with --weights"),
    "no such column": (("--weights", "rbias", "--temperature", 300), "no such column.*rbias"),
    "no such file": (("--weights", "HILLS:rbias"), "not there.*'HILLS' in --weights HILLS:rbias"),
    "several columns": (("--weights", "points.csv"), "Weights are one column.*3 columns"),
    "another length": (("--weights", "short.npy"), "499 rows in 'short.npy' for 500 rows"),
    "missing weights": (("--weights", "gaps.npy"), "The weights must be finite.*first at row 3"),
    "zero weights": (("--weights", "zeros.npy"), "--weights must be positive.*1 of 500"),
    "a column that is words": (("--weights", "names.csv:word"), "word"),
    "a clock": ((*BIASED, "--time-step", "1ps"), "A biased run has no clock.*Leave --time-step"),
    "cold": ((*BIASED[:2], "--temperature", 0), "0.0 is not in the range"),
    "too cold": ((*BIASED[:2], "--temperature", 1e-3), "--weights must be positive.*zero"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_is_refused_in_words(name):
    arguments, words = WRONG[name]
    weights = np.exp(BIAS / KT)
    np.save("short.npy", weights[1:])
    np.save("gaps.npy", np.where(np.arange(500) == 3, np.nan, weights))
    np.save("zeros.npy", np.where(np.arange(500) == 3, 0.0, weights))
    with open("names.csv", "w") as stream:
        stream.write("word,x\n" + "low,1\n" * 500)
    result = vbdm_command("fit", "COLVAR", *arguments, "-O", "generator", *FAST)
    assert result.exit_code == 2
    assert re.search(words, " ".join(result.output.split())), result.output
