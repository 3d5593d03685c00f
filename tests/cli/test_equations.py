"""Questions to a run: committors, rates, equations; written into its folder, and told in words."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.support.commands import FAST, done, snapshot, vbdm_command, write_csv

import vbdm
from vbdm.base.estimate import Estimate
from vbdm.cli.questions import clarity
from vbdm.cli.runs import open_run, time_unit, unbroken
from vbdm.results import load_results
from vbdm.results.answers import read_answers

X = np.random.default_rng(3).standard_normal((600, 2)) * [1.0, 10.0] + [0.0, 5.0]
SETS = ("--from", "x < -1", "--to", "x > 1")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A run of standardised columns, with a page, a column of labels and one set aside."""
    folder = tmp_path_factory.mktemp("run")
    side = np.where(X[:, 0] < 0, "left", "right")
    lines = [
        f"{x!r},{y!r},{where},{x + y!r}" for (x, y), where in zip(X.tolist(), side, strict=True)
    ]
    (folder / "cloud.csv").write_text("\n".join(["x,y,side,both", *lines]))
    done("fit", folder / "cloud.csv", "--columns", "x,y", "--standardize", "-O", "generator",
         "-n", 4, "--no-figures", "--no-sensitivity", "-o", folder / "run")  # fmt: skip
    return folder / "run"


@pytest.fixture
def run(original, tmp_path):
    """A copy of that run."""
    import shutil

    return Path(shutil.copytree(original, tmp_path / "run"))


def table_of(path):
    return np.genfromtxt(path, delimiter=",", names=True)


def test_the_committor_is_that_of_the_library_in_the_units_of_the_file(run):
    text = done("committor", run, *SETS).stdout
    operator = load_results(run).spectrum.operator
    found = operator.committor(X[:, 0] < -1, X[:, 0] > 1)
    values = table_of(run / "committor.csv")
    np.testing.assert_array_equal(values["row"], np.arange(600))
    np.testing.assert_allclose(values["committor"], found.values, atol=1e-6)
    assert f"{found.rate}  D/" in text
    assert "Times are in units of" in text
    assert (run / "figures/committor.png").read_bytes().startswith(b"\x89PNG")
    page = (run / "report.html").read_text("utf-8")
    assert 'id="answer-committor"' in page
    assert 'href="#answer-committor"' in page
    assert "<code>x &lt; -1</code>" in page


def test_rates_have_errors_and_units(run):
    document = json.loads(done("rates", run, *SETS, "--json").stdout, parse_constant=pytest.fail)
    operator = load_results(run).spectrum.operator
    named = {own["name"]: own for own in document["quantities"]}
    found = operator.mean_first_passage(X[:, 0] > 1).mean(over=X[:, 0] < -1)
    time = named["mean time from A to B"]
    assert (time["value"], time["error"]) == pytest.approx(found, rel=1e-4)
    assert time["unit"].endswith("²/D")
    assert named["rate from B to A"]["unit"].startswith("D/")
    lines = (run / "rates.csv").read_text().splitlines()
    assert lines[0] == "quantity,value,standard_error,unit"
    assert len(lines) == 6


def test_an_equation_is_solved(run):
    done("solve", run, "--rhs", "both", "--screen", 2, "--fix", "x <= -1=0.5", "--fix", "x > 1 = 2",
         "--name", "mine", "-q")  # fmt: skip
    operator = load_results(run).spectrum.operator
    low, high = X[:, 0] <= -1, X[:, 0] > 1
    found = operator.solve(X.sum(axis=1), [(low, 0.5), (high, 2.0)], 2.0)
    np.testing.assert_allclose(table_of(run / "mine.csv")["mine"], found.values, atol=1e-4)
    assert {0.5, 2.0} <= set(found.values)


def test_labels_name_sets(run):
    one = done("committor", run, "--from", "left", "--to", "x > 1").stdout
    assert f"`left` ({int((X[:, 0] < 0).sum())} points)" in one
    done("rates", run, "--from", "left", "--to", "x > 1", "--labels", "side")


def test_labels_may_be_long_numbers(tmp_path):
    number = np.where(X[:, 0] < -1, 1_000_001, np.where(X[:, 0] > 1, 1_000_002, -3))
    write_csv(tmp_path / "cloud.csv", np.c_[X, number], "x,y,number")
    done("fit", "cloud.csv", "--columns", "x,y", "-O", "generator", "-n", 3, *FAST, "-o", "run")
    named = ("--from", "1000001", "--to", "1000002", "--labels", "number")
    told = done("committor", "run", *named, "--json").stdout
    known = done("committor", "run", *SETS, "--json", "--force").stdout
    assert json.loads(told)["quantities"] == json.loads(known)["quantities"]


def test_several_answers_stand_beside_each_other_until_the_run_is_made_anew(run):
    done("committor", run, *SETS)
    done("rates", run, *SETS, "--name", "there-and-back")
    names = [answer.name for answer in read_answers(run)]
    assert names == ["committor", "there-and-back"]
    done("report", run, "-o", "page.html")
    page = Path("page.html").read_text("utf-8")
    assert page.count('class="answer"') == 2
    assert ">Rates: there-and-back</h2>" in page
    done("committor", run, *SETS, "--force", "-q")
    assert [answer.name for answer in read_answers(run)] == names
    (run / "mine.txt").write_text("mine")
    write_csv("other.csv", X, "x,y")
    done("fit", "other.csv", "-O", "generator", "-n", 3, *FAST, "-o", run, "--force")
    left = {path.name for path in run.iterdir()}
    assert "mine.txt" in left
    assert left.isdisjoint({"committor.csv", "equations.json", "there-and-back.csv"})


def test_an_answer_is_replaced_only_if_asked(run):
    done("committor", run, *SETS, "-q")
    before = snapshot(run)
    refused = vbdm_command("committor", run, "--from", "x < -0.5", "--to", "x > 1")
    assert refused.exit_code == 2
    assert "Pass --force to replace it, or choose another --name" in refused.stderr
    assert snapshot(run) == before
    done("committor", run, "--from", "x < -0.5", "--to", "x > 1", "--force")
    assert len(read_answers(run)) == 1
    assert snapshot(run)["committor.csv"] != before["committor.csv"]


def test_without_a_page_none_is_made(run):
    (run / "report.html").unlink()
    assert "Written: " in done("rates", run, *SETS).stdout
    assert not (run / "report.html").exists()


def test_without_matplotlib_there_is_no_picture(run, monkeypatch):
    monkeypatch.setattr("vbdm.results.can_draw", lambda: False)
    assert "matplotlib is missing" in done("committor", run, *SETS).stderr
    assert "<img" not in (run / "report.html").read_text("utf-8")


def test_states_have_populations_and_rates(run):
    text = done("states", run, "--states", 2).stdout
    found = load_results(run).spectrum.states(2)
    (line,) = [line for line in text.splitlines() if "population of state 0" in line]
    assert line.endswith(f" {found.populations[0]}")
    assert "rate from state 1 to 0" in text
    assert f"{Estimate(found.timescales[0], found.timescale_errors[0])} " in text
    values = table_of(run / "states.csv")
    np.testing.assert_allclose(values["states_0"] + values["states_1"], 1)
    np.testing.assert_array_equal(values["states"], found.labels)
    assert (run / "figures/states.png").is_file()


def test_periodic_columns_are_those_of_the_file(tmp_path):
    """Points are wrapped into the box from 0 to 360; conditions are on what the file has."""
    angles = np.degrees(np.random.default_rng(0).vonmises([0, 2], [1, 3], (800, 2)))
    write_csv("angles.csv", angles, "phi,psi")
    done("fit", "angles.csv", "--period", 360, "-O", "generator", "-n", 3, *FAST)
    sets = ("--from", "-40 < phi < 40", "--to", "phi < -140 or phi > 140")
    done("committor", "angles-vbdm", *sets)
    phi = angles[:, 0]
    operator = load_results("angles-vbdm").spectrum.operator
    found = operator.committor(np.abs(phi) < 40, np.abs(phi) > 140)
    values = table_of("angles-vbdm/committor.csv")["committor"]
    np.testing.assert_allclose(values, found.values, atol=1e-6)
    # A folder that does not tell what the file had.
    summary = json.loads(Path("angles-vbdm/results.json").read_text())
    summary["input"]["lowest"] = None
    Path("angles-vbdm/results.json").write_text(json.dumps(summary))
    assert "the columns are phi mod 360" in vbdm_command("rates", "angles-vbdm", *sets).stderr
    with pytest.raises(vbdm.InputError, match="on a periodic column"):
        operator.committor("x0 < 40", "x0 > 140")
    same = operator.committor(np.abs(phi) < 40, "phi > 140 or phi < -140", columns={"phi": phi})
    np.testing.assert_allclose(same.values, found.values, atol=1e-6)


# --- Time ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def series(tmp_path_factory):
    """A process with D = 0.5 in a parabolic well, whose rows are 0.2 ns apart."""
    rng, rows = np.random.default_rng(0), np.zeros(2000)
    for t in range(1, 2000):
        rows[t] = np.exp(-0.1) * rows[t - 1] + np.sqrt(1 - np.exp(-0.2)) * rng.normal()
    folder = tmp_path_factory.mktemp("series")
    write_csv(folder / "walk.csv", rows[:, None], "x")
    more = ("--unit", "nm", "--no-figures", "--no-sensitivity", "-o", folder / "run")
    told = done(
        "fit", folder / "walk.csv", "-O", "generator", "-n", 4, "--time-step", "0.2ns", *more
    )
    return folder, told.stdout


def test_times_are_told_in_the_unit_of_the_time_step(series):
    folder, told = series
    clock = json.loads((folder / "run/results.json").read_text())["clock"]
    assert abs(clock["diffusivity"]["value"] - 0.5) < 4 * clock["diffusivity"]["error"]
    assert (clock["unit"], clock["consistent"], clock["timescales"][0]) == ("ns", True, None)
    assert abs(clock["timescales"][1] - 2.0) < 4 * clock["timescale_errors"][1]
    assert "time, ns" in told
    assert "nm² per ns; the modes agree" in told
    page = (folder / "run/report.html").read_text("utf-8")
    assert "time, ns" in page
    assert "nm² per ns; the modes agree" in page


def test_rates_are_told_in_the_unit_of_the_run_or_of_the_question(series):
    folder, _ = series
    found = []
    for more in ((), ("--time-step", "200ps"), ("--time-step", "1")):
        text = done("rates", folder / "run", *SETS, "--json", "--force", *more).stdout
        found.append(json.loads(text)["quantities"])
    own, other, nameless = found
    assert [quantity["unit"] for quantity in own] == ["1/ns"] * 3 + ["ns"] * 2
    assert other[0]["unit"] == "1/ps"
    assert nameless[0]["unit"] == "1/units of the time step"
    assert own[0]["value"] == pytest.approx(1000 * other[0]["value"])
    assert own[3]["value"] == pytest.approx(other[3]["value"] / 1000)
    assert own[3]["value"] == pytest.approx(nameless[3]["value"] / 5)


def test_rows_that_were_left_out_count(series):
    """Every third row: steps are three times as long. Gaps are no steps."""
    folder, _ = series
    more = ("-O", "generator", "-n", 4, *FAST, "--time-step", "0.2ns")
    done("fit", folder / "walk.csv", "--every", 3, "-o", "third", *more)
    clock = json.loads(Path("third/results.json").read_text())["clock"]
    assert clock["step"] == pytest.approx(0.6)
    assert abs(clock["diffusivity"]["value"] - 0.5) < 4 * clock["diffusivity"]["error"]
    drawn = vbdm_command("fit", folder / "walk.csv", "--subsample", 500, "-o", "drawn", *more)
    assert drawn.exit_code == 2
    assert "--every" in drawn.stderr
    alone = vbdm_command("fit", folder / "walk.csv", "--no-series", "-o", "alone", *more)
    assert alone.exit_code == 2
    assert "follow each other in time" in alone.stderr
    assert unbroken(np.array([0, 3, 6, 12, 15]), 3, (5,)) == [3, 2]


def test_states_on_pieces_have_the_errors_of_the_clock(tmp_path):
    """Two pairs of wells with no way between them: a rate is 0, and the times are the clock's."""
    walk = partial(vbdm.datasets.double_well_series, 1000, step=0.2, barrier=1.0)
    rows = np.concatenate([walk(random_state=seed).points + 30 * seed for seed in (0, 1)])
    write_csv(tmp_path / "walk.csv", rows, "x")
    done("fit", "walk.csv", "-O", "generator", "-n", 6, "--series", *FAST, "-o", "run")
    asked = ("states", "run", "--states", 3, "--time-step", "0.2ns", "--json")
    named = {own["name"]: own for own in json.loads(done(*asked).stdout)["quantities"]}
    assert named["rate from state 0 to 1"]["value"] == pytest.approx(0, abs=1e-9)
    spectrum = load_results("run").spectrum
    clock = spectrum.clock(step=0.2, unit="ns")
    told = named["relaxation time 2"]
    assert told["value"] == pytest.approx(clock.timescales[2])
    assert told["error"] == pytest.approx(clock.timescale_errors[2])


def test_a_doubtful_clock_is_said_to_be_one():
    entry = {"diffusivity": {"value": 2.0, "error": 0.1}, "unit": "s", "consistent": False,
             "reason": "The modes disagree.", "timescales": [], "timescale_errors": []}  # fmt: skip
    unit = time_unit(entry, "m")
    assert unit.rate(Estimate(3.0, 0.3)) == pytest.approx((6.0, 6 * np.hypot(0.1, 0.05)))
    assert unit.rate(Estimate(0.0, 0.3)) == pytest.approx((0.0, 0.6))
    with pytest.raises(vbdm.InputError, match="is no clock"):
        time_unit({"unit": "s"}, "m")
    assert unit.notes == ["The clock is in doubt (D = 2.00 ± 0.10 m² per s): The modes disagree."]


def test_nothing_is_said_of_modes_inside_states_that_are_not_known():
    found = SimpleNamespace(crispness=0.75, gap=np.nan)
    assert clarity(found) == "Crispness 0.75: 1 if each point belongs to one state alone."
    found.gap = 7.0
    assert clarity(found).endswith("decays 7 times as fast as the rest.")


# --- Wrong questions -----------------------------------------------------------------------------

WRONG = {
    "no run": (["committor", "nowhere", *SETS], "not a results folder"),
    "a file": (["committor", "{run}/results.json", *SETS], "not a results folder"),
    "nothing asked": (["committor", "{run}"], "'--from'"),
    "an unknown column": (["committor", "{run}", "--from", "z < 1", "--to", "x > 1"],
                          "no column 'z'"),
    "no condition": (["committor", "{run}", "--from", "x <", "--to", "x > 1"],
                     "--from is a condition that cannot be read"),
    "an unknown label": (["rates", "{run}", "--from", "x < -1", "--to", "middle"], "'middle'"),
    "an unknown column of labels": (
        ["rates", "{run}", "--from", "left", "--to", "right", "--labels", "where"],
        "no such column of labels"),
    "an empty set": (["committor", "{run}", "--from", "x < -99", "--to", "x > 1"],
                     "The set --from is empty"),
    "sets that overlap": (["rates", "{run}", "--from", "x < 2", "--to", "x > 1"],
                          "The sets --from and --to overlap"),
    "held sets that overlap": (["solve", "{run}", "--fix", "x < 2=0", "--fix", "x > 1=1"],
                               "--fix 'x > 1'"),
    "a set without a value": (["solve", "{run}", "--fix", "x < 2"], "no set with a value"),
    "a value that is none": (["solve", "{run}", "--fix", "x < 2=high"], "no set with a value"),
    "a comparison for a value": (["solve", "{run}", "--fix", "x <= 2"], "no set with a value"),
    "an unknown right-hand side": (["solve", "{run}", "--rhs", "heat"], "The columns are"),
    "a negative screen": (["solve", "{run}", "--screen", "-1"], "--screen must not be negative"),
    "an absurd tolerance": (["rates", "{run}", *SETS, "--tol", "7"], "--tol must be a number"),
    "a name with a slash": (["rates", "{run}", *SETS, "--name", "../x"], "--name must be made of"),
    "too many states": (["states", "{run}", "--states", "9"], "--states must be 'auto' or"),
    "no states": (["states", "{run}"], "--states 3, if you know it"),
    "axes that are none": (["committor", "{run}", *SETS, "--axes", "x,z"], "--axes must name"),
    "a time that is none": (["rates", "{run}", *SETS, "--time-step", "soon"], "is no time"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_questions_are_refused_in_words(original, name):
    line, words = WRONG[name]
    before = snapshot(original)
    result = vbdm_command(*(str(word).replace("{run}", str(original)) for word in line))
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert snapshot(original) == before


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"answers": 3}', '{"answers": [{"name": "../../x"}]}']
)
def test_damaged_answers_are_named(run, damage):
    (run / "equations.json").write_text(damage)
    result = vbdm_command("rates", run, *SETS)
    assert result.exit_code == 2
    assert "equations.json" in result.stderr


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("row,committor\n0,high\n", "committor.csv cannot be read"),
        ("row,committor,more\n0,1,2\n", "committor.csv has other columns than equations.json"),
    ],
)
def test_damaged_values_of_an_answer_are_named(run, table, words):
    done("committor", run, *SETS)
    (run / "committor.csv").write_text(table)
    result = vbdm_command("report", run)
    assert result.exit_code == 2
    assert words in result.stderr


def test_an_answer_without_numbers_has_no_table(run):
    done("rates", run, *SETS)
    table = '<table class="quantities">'
    assert table in (run / "report.html").read_text("utf-8")
    known = json.loads((run / "equations.json").read_text())
    known["answers"][0]["quantities"] = []
    (run / "equations.json").write_text(json.dumps(known))
    done("report", run)
    page = (run / "report.html").read_text("utf-8")
    assert 'id="answer-rates"' in page
    assert table not in page


def test_files_that_are_no_answers_are_never_replaced(run):
    (run / "rates.csv").write_text("mine")
    result = vbdm_command("rates", run, *SETS, "--force")
    assert result.exit_code == 2
    assert "which is no answer" in result.stderr
    assert (run / "rates.csv").read_text() == "mine"


@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_interruptions_leave_the_run_as_it_was(run, monkeypatch, error):
    done("rates", run, *SETS)
    before = snapshot(run)

    def broken(*_args, **_more):
        raise error

    monkeypatch.setattr("vbdm.results.answers.write_table", broken)
    result = vbdm_command("committor", run, *SETS)
    assert result.exit_code == (130 if error is KeyboardInterrupt else 1)
    assert snapshot(run) == before


def test_distances_have_labels_only(tmp_path):
    from scipy.spatial.distance import cdist

    np.save("distances.npy", cdist(X[:150], X[:150]))
    done("fit", "distances.npy", "--metric", "precomputed", "-O", "generator", "-n", 3, *FAST)
    result = vbdm_command("rates", "distances-vbdm", *SETS)
    assert result.exit_code == 2
    assert "no column 'x'" in result.stderr
    run = open_run(Path("distances-vbdm"))
    places, names = run.places(None)
    np.testing.assert_array_equal(places, run.spectrum.eigenfunctions[:, 1:3])
    assert names == ["eigenfunction 1", "eigenfunction 2"]


def test_many_columns_are_drawn_along_principal_axes(original):
    run = open_run(original)
    assert run.places(None)[1] == ["x", "y"]
    assert replace(run, coordinates=("x", "y", "u", "v")).places(None) == (None, None)


def test_columns_without_names_are_numbered(run):
    summary = json.loads((run / "results.json").read_text())
    summary["input"]["columns"] = None
    (run / "results.json").write_text(json.dumps(summary))
    found = open_run(run)
    assert found.coordinates == ("x0", "x1")
    np.testing.assert_allclose(found.columns["x1"], X[:, 1], rtol=1e-6)


def test_a_label_of_two_columns_is_asked_about(original):
    run = open_run(original)
    twice = replace(run, labels={**run.labels, "copy": run.labels["side"]})
    with pytest.raises(vbdm.InputError, match=r"They occur in side, copy.*--labels side"):
        twice.labels_with(["left"], None)
    np.testing.assert_array_equal(twice.labels_with(["left"], "copy"), run.labels["side"])


def test_the_solution_of_a_run_in_blocks(tmp_path):
    write_csv("cloud.csv", X, "x,y")
    done("fit", "cloud.csv", "--disk", "--blocks", 3, "-O", "generator", "-n", 3, *FAST)
    done("committor", "cloud-vbdm", *SETS)
    values = table_of("cloud-vbdm/committor.csv")["committor"]
    found = vbdm.estimate_operator(X, "generator").committor(X[:, 0] < -1, X[:, 0] > 1)
    np.testing.assert_allclose(values, found.values, atol=1e-3)
