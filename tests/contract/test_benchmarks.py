"""The benchmarks run, so that they cannot rot: each in its smallest version."""

import re
import subprocess
import sys

import pytest
from tests.support.scripts import BENCHMARKS


def output_of(script, *arguments):
    command = [sys.executable, str(BENCHMARKS / script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_accuracy_table():
    text = output_of(
        "accuracy.py", "--table", "--problems", "circle", "S3", "--points", "400", "--seeds", "1"
    )
    rows = [line.split() for line in text.splitlines() if "resolved" in line]
    assert len(rows) == 2
    assert all(float(row[row.index("resolved") + 1]) < 0.25 for row in rows)
    assert "oracle" in text
    assert "paper" in text


@pytest.mark.slow
def test_bars_of_series():
    text = output_of("series_bars.py", "--series", "2", "--points", "300", "--first-seed", "4000")
    assert "predicted" in text
    assert sum("λ" in line for line in text.splitlines()) == 8
    assert text.count("largest change 0.0e+00") == 4


def test_beside_deeptime():
    """Our row of the table on the page "Coming from …": near the truth, within three bars."""
    text = output_of("deeptime_comparison.py", "--points", "5000", "--problems", "double well")
    truth, found = (next(line for line in text.splitlines() if line.startswith(name)).split()
                    for name in ("truth", "vbdm"))  # fmt: skip
    _, time, _, time_bar, committor, passage, _, passage_bar, *_ = found
    assert abs(float(time) - float(truth[1])) < 3 * float(time_bar) < 1.5
    assert abs(float(passage) - float(truth[2])) < 3 * float(passage_bar) < 5
    assert float(committor) < 0.02


#: Largest errors with 800 points. Most are about twice what is asked for with 10,000; those that
#: hang on few crossings, and gradients, up to four times that: so far eight seeds scattered.
OF_EQUATIONS = {
    "committor OU R": 0.03, "committor double well": 0.025,
    "committor OU R2, annulus, by masks": 0.06, "committor OU R2, annulus, by distances": 0.06,
    "committor Müller-Brown": 0.025, "rate A to B, relative error": 0.3,
    "committor Müller-Brown, sampled at 2 T, weights": 0.03,
    "rate A to B, relative error, sampled at 2 T, weights": 0.3,
    "committor Müller-Brown, sampled at 3 T, weights": 0.05,
    "rate A to B, relative error, sampled at 3 T, weights": 0.4,
    "exit of r < 2, OU R2, by mask": 0.1, "exit of r < 2, OU R2, by distance": 0.12,
    "time to reach r < 1/2, OU R2": 0.15,
    "Poisson and screened, sphere": 0.08, "Poisson and screened, OU R2, x": 0.2,
    "Poisson and screened, OU R2, x + y² - 1": 0.25,
    "8 kT double well sampled at U·0.25: λ1": 0.4, "8 kT double well sampled at U·0.1: λ1": 0.4,
    "D of a double well, step 0.02": 0.2, "D of a double well, step 0.2": 0.15,
    "semigroup, sphere": 0.07, "semigroup, OU R2, x + y²": 0.15,
    "change of the mean under the measure": 1e-10,
    "gradient, uneven sphere": 0.06, "gradient, OU R2, r < 2": 0.035,
    "tangents, sine of the angle": 0.04,
}  # fmt: skip


def test_equations():
    """All sections but that of large N: a row has a bound of its own."""
    sections = ("committors", "passage", "leaving", "poisson", "weights", "clock", "semigroup",
                "gradients")  # fmt: skip
    small = ("--points", "800", "--seeds", "1", "--first-seed", "4000")
    text = output_of("equations.py", *sections, *small)
    rows = [line.split("worst") for line in text.splitlines() if "worst" in line]
    found = {name.strip(): abs(float(rest.split()[0])) for name, rest in rows}
    assert found.keys() == OF_EQUATIONS.keys()
    assert not {name: error for name, error in found.items() if not error < OF_EQUATIONS[name]}
    biases = [float(share) for share in re.findall(r"bias ([-+.0-9]+)%", text)]
    assert len(biases) == 2
    assert max(map(abs, biases)) < 15
    assert text.count("inside intervals: [True]") == 2
    assert "weights 1: the same bits as none: True" in text


#: Largest figures with a fifth of the rows, or a tenth: some twice what is asked for with all.
OF_FORECASTS = {
    "Lorenz 63: nRMSE of x at lead 0.5": 0.35, "Lorenz 63: nRMSE of x at lead 1": 0.6,
    "Lorenz 63: nRMSE of x at lead 2": 0.95, "Lorenz 63: largest nRMSE of x at any lead": 1.1,
    "Lorenz 63: CRPS of x at lead 1 over climatology": 0.45,
    "double well: L1 of the density at t = 0.1": 0.25,
    "double well: L1 of the density at t = 1": 0.25,
    "double well: L1 of the density at t = 10": 0.35,
}  # fmt: skip
OF_FILTERS = {
    "filter OU: RMSE over Kalman's": 1.1, "filter OU: difference of means": 0.2,
    "filter OU: variance over Kalman's, largest": 1.3,
    "filter double well: RMSE over a grid filter's": 1.1,
    "filter Lorenz: RMSE of z from x with errors of 1": 3.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("sections", "scale", "bounds"),
    [
        pytest.param(("lorenz", "double-well"), "0.2", OF_FORECASTS, marks=pytest.mark.slow),
        (("filters",), "0.1", OF_FILTERS),
        pytest.param(("ou", "nino", "speed"), "0.1", {}, marks=pytest.mark.slow),
    ],
)
def test_forecasts(sections, scale, bounds):
    small = ("--scale", scale, "--seeds", "1", "--first-seed", "4000")
    text = output_of("forecast.py", *sections, *small)
    rows = [line.split("worst") for line in text.splitlines() if "worst" in line]
    found = {name.strip(): float(rest.split()[0]) for name, rest in rows}
    assert found
    assert not {name: error for name, error in bounds.items() if not found[name] < error}


@pytest.mark.parametrize("script", ["timing.py"])
def test_timing(script):
    assert "ratio" in output_of(script, "--points", "2000", "--neighbors", "16")


@pytest.mark.slow
def test_engines():
    text = output_of("engines.py", "--points", "600", "--columns", "30", "--dims", "2")
    assert text.count("agrees 1.0000") == 2


@pytest.mark.slow
def test_speed_and_its_picture(tmp_path):
    saved = tmp_path / "speed.json"
    text = output_of("speed.py", "--points", "2000", "--problems", "curve", "--check",
                     "--save", str(saved))  # fmt: skip
    assert "R=" in text
    table = output_of("speed_figure.py", str(saved), str(tmp_path / "speed.png"))
    assert "closed curve" in table
    assert (tmp_path / "speed.png").stat().st_size > 10_000


@pytest.mark.slow
def test_comparison_with_what_is_installed():
    text = output_of("compare.py", "--points", "2000", "--limit", "60")
    assert "vbdm:" in text
    assert "failed" not in text


@pytest.mark.parametrize("mode", ["walk", pytest.param("fit", marks=pytest.mark.slow)])
def test_modules_touched(mode):
    lines = output_of("modules_touched.py", mode).splitlines()
    assert lines[-1] == f"{mode}: {len(lines) - 1} modules"
    assert {"estimate.walk", "operator.operator", "spectrum.spectrum"} <= set(lines)
