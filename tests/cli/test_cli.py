"""The command line: from files to results and back, for people and for machines."""

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.support.commands import FAST, done, vbdm_command, write_csv

import vbdm
from vbdm.cli.terminal import say_json
from vbdm.cli.tune import curve_table
from vbdm.io.saved.persistence import read_notes
from vbdm.results import load_results

RNG = np.random.default_rng(1)
CLOUD = RNG.standard_normal((300, 2))


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    write_csv("data.csv", CLOUD, "x,y")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Everything there is: figures, page and sensitivity, once."""
    folder = tmp_path_factory.mktemp("whole")
    write_csv(folder / "cloud.csv", CLOUD, "x,y")
    out = folder / "results"
    arguments = ("fit", folder / "cloud.csv", "-o", out, "-O", "generator", "-n", 4, "--json")
    result = vbdm_command(*arguments)
    assert result.exit_code == 0, result.output
    return out, result


# --- fit -----------------------------------------------------------------------------------------


def test_the_folder_has_everything(whole):
    out, _ = whole
    names = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert {"model.vbdm", "results.npz", "results.json", "report.html"} <= names
    assert {name for name in names if name.startswith("figures/")} == {"figures/summary.png"}
    summary = json.loads((out / "results.json").read_text())
    assert set(summary["files"]) == names - {"results.json"}
    assert [path.name for path in out.parent.iterdir() if path.name.startswith(".")] == []


def test_the_same_numbers_as_in_python(whole):
    out, _ = whole
    spectrum = vbdm.estimate_operator(CLOUD, "generator").spectrum(4)
    results = load_results(out)
    np.testing.assert_array_equal(results.arrays["bias"], spectrum.errors.bias)
    np.testing.assert_array_equal(results.spectrum.errors.bias, spectrum.errors.bias)
    for name in ("eigenvalues", "total_errors", "standard_errors", "eigenfunctions", "unresolved"):
        np.testing.assert_array_equal(results.arrays[name], getattr(spectrum, name))
        np.testing.assert_array_equal(getattr(results.spectrum, name), getattr(spectrum, name))
    np.testing.assert_array_equal(results.arrays["intervals"], spectrum.intervals())
    np.testing.assert_array_equal(results.arrays["density"], spectrum.operator.density)
    listed = [row["value"] for row in results.summary["eigenvalues"]]
    assert listed == spectrum.eigenvalues.tolist()
    assert results.summary["epsilon"] == spectrum.operator.epsilon
    assert results.scan.eigenvalues.shape[1] == 4


def test_the_summary_says_where_it_came_from(whole):
    summary = load_results(whole[0]).summary
    assert summary["vbdm"] == vbdm.__version__
    assert summary["libraries"]["numpy"] == np.__version__
    assert summary["input"]["name"] == "cloud.csv"
    assert len(summary["input"]["sha256"]) == 64
    assert summary["input"]["columns"] == ["x", "y"]
    assert summary["settings"]["operator"] == "generator"
    assert set(summary["seconds"]) == {
        "reading", "neighbours", "pairs", "kernel", "eigenpairs", "error bars", "sensitivity",
        "figures", "page", "saving",
    }  # fmt: skip
    assert {entry["light"] for entry in summary["diagnostics"]} <= {"green", "amber", "red"}


def test_machines_get_one_document_and_lines(whole):
    _, result = whole
    document = json.loads(result.stdout, parse_constant=pytest.fail)
    assert document["n_points"] == 300
    lines = [json.loads(line) for line in result.stderr.splitlines()]
    rooms = [line["room"] for line in lines if "room" in line]
    assert rooms[:2] == ["reading", "neighbours"]
    assert all(set(line) in ({"room", "seconds"}, {"note", "kind"}) for line in lines)


def test_twice_the_same(whole):
    out, _ = whole
    again = ("-o", "again", "-O", "generator", "-n", 4, "--no-figures", "--no-report")
    done("fit", out.parent / "cloud.csv", *again)
    for name in ("results.npz", "model.vbdm"):
        assert Path("again", name).read_bytes() == (out / name).read_bytes()


def test_people_get_a_table_and_notes():
    text = done("fit", "data.csv", "-n", 3, *FAST)
    assert "from 300 points (data.csv)" in text.stdout
    assert "Results: data-vbdm" in text.stdout
    values = load_results("data-vbdm").eigenvalues
    for value in values[1:]:
        assert f"{value:.4g}" in text.stdout
    for room in ("reading", "neighbours", "pairs", "kernel", "eigenpairs", "saving", "together"):
        assert any(line.split()[:1] == [room] for line in text.stdout.splitlines())
    # A Gaussian has no Laplacian spectrum, and that is said without Python's own words.
    assert text.output.count("The density falls") == 1
    assert (
        "note: The density falls" in done("fit", "data.csv", "-n", 3, "-q", "--force", *FAST).stderr
    )
    assert "Warning" not in text.output


def test_quiet_means_quiet():
    assert done("fit", "data.csv", "-O", "generator", "-q", *FAST).stdout == ""


def test_settings_arrive():
    done("fit", "data.csv", "-O", 0.5, "--epsilon", 0.01, "--dim", 2, "-k", 60, "--beta", -0.25,
         "--density-neighbors", 12, "--search", "brute", *FAST)  # fmt: skip
    spectrum = load_results("data-vbdm").spectrum
    expected = vbdm.estimate_operator(
        CLOUD,
        0.5,
        epsilon=0.01,
        dim=2,
        bandwidth=vbdm.rules.PowerOfDensity(-0.25),
        method=vbdm.Resolved(n_neighbors=60, n_density_neighbors=12),
        run=vbdm.Run(search="brute"),
    )
    np.testing.assert_array_equal(spectrum.eigenvalues, expected.spectrum(10).eigenvalues)


def test_a_circle_by_its_angle():
    angles = RNG.uniform(0, 360, (400, 1))
    np.save("angles.npy", angles)
    done("fit", "angles.npy", "--period", "360", "-n", 3, *FAST)
    values = load_results("angles-vbdm").eigenvalues * (180 / np.pi) ** 2
    np.testing.assert_allclose(values, [0, -1, -1], atol=0.1)


def test_delays_repeat_the_period():
    angles = np.random.default_rng(0).uniform(0, 360, 300)
    np.save("angles.npy", angles)
    done("fit", "angles.npy", "--period", "360", "--delays", 2, "-n", 3, *FAST)
    graph = load_results("angles-vbdm").spectrum.operator.graph
    assert np.allclose(graph.period, [360, 360])


def test_few_points_get_as_many_eigenpairs_as_there_are():
    write_csv("few.csv", CLOUD[:6], "x,y")
    done("fit", "few.csv", "--dim", 2, *FAST)
    assert len(load_results("few-vbdm").eigenvalues) <= 6


def test_rows_that_were_left_out_are_counted():
    gaps = CLOUD.copy()
    gaps[[3, 8], 0] = np.nan
    write_csv("gaps.csv", gaps, "x,y")
    text = done("fit", "gaps.csv", "--drop-missing", "--every", 2, *FAST)
    assert "2 of 300 rows" in text.stderr
    results = load_results("gaps-vbdm")
    assert results.summary["input"]["n_dropped"] == 2
    kept = np.delete(np.arange(300), [3, 8])[::2]
    np.testing.assert_array_equal(results.rows, kept)


def test_points_that_need_a_missing_row_are_counted():
    gaps = CLOUD.copy()
    gaps[[30, 80], 0] = np.nan
    write_csv("gaps.csv", gaps, "x,y")
    text = done("fit", "gaps.csv", "--drop-missing", "--delays", 3, *FAST)
    assert "2 of 300 rows have missing values; 6 points" in text.stderr
    results = load_results("gaps-vbdm")
    assert results.summary["input"]["n_dropped"] == 6
    assert len(results.rows) == 300 - 2 - 6


@pytest.mark.skipif(sys.platform != "linux", reason="names that are no text")
def test_a_file_name_that_is_no_text():
    name = os.fsdecode(b"caf\xe9.csv")
    write_csv(name, CLOUD, "x,y")
    done("fit", name, "-o", "out", "--no-figures", "--no-sensitivity")
    assert load_results("out").summary["input"]["name"] == "caf\ufffd.csv"
    assert "caf\ufffd.csv" in Path("out/report.html").read_text("utf-8")


def test_anndata_comes_back(tmp_path):
    anndata = pytest.importorskip("anndata")
    anndata.AnnData(np.zeros((300, 1)), obsm={"X_pca": CLOUD}).write_h5ad("cells.h5ad")
    done("fit", "cells.h5ad", "--write-anndata", "-O", "laplacian", "-n", 4, *FAST)
    back = anndata.read_h5ad("cells-vbdm/cells-vbdm.h5ad")
    found = load_results("cells-vbdm").eigenfunctions[:, 1:]
    np.testing.assert_allclose(back.obsm["X_vbdm"], found)
    assert back.uns["vbdm"]["params"]["eigenpairs"] == 4
    assert back.uns["vbdm"]["params"]["operator"] == "laplacian"


# --- transform -----------------------------------------------------------------------------------


def fitted(*more):
    done("fit", "data.csv", "-O", "generator", "-n", 4, *more, *FAST)
    return load_results("data-vbdm")


def test_training_points_get_their_own_values():
    results = fitted()
    done("transform", "data-vbdm", "data.csv", "-o", "out.npz")
    with np.load("out.npz") as arrays:
        np.testing.assert_array_equal(arrays["eigenfunctions"], results.eigenfunctions)
        assert not arrays["outside"].any()
    done("transform", "data-vbdm", "data.csv", "-o", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), results.eigenfunctions)
    done("transform", "data-vbdm", "data.csv", "-o", "out.csv")
    rows = np.genfromtxt("out.csv", delimiter=",", names=True)
    np.testing.assert_array_equal(rows["phi1"], results.eigenfunctions[:, 1])


def test_new_points_are_prepared_alike_even_without_the_folder():
    scale = [1.0, 50.0]
    write_csv("data.csv", CLOUD * scale + 7, "x,y")
    fitted("--standardize", "--delays", "2")
    new = RNG.standard_normal((40, 2))
    # Other order, another column between, and a model that was carried away.
    write_csv("new.csv", np.c_[new[:, 1] * 50 + 7, np.zeros(40), new[:, 0] + 7], "y,other,x")
    Path("model.vbdm").write_bytes(Path("data-vbdm/model.vbdm").read_bytes())
    done("transform", "model.vbdm", "new.csv", "-o", "out.npz")
    learned = read_notes("model.vbdm")["preparation"]
    np.testing.assert_allclose(learned["center"], (CLOUD * scale + 7).mean(axis=0), rtol=0.05)
    np.testing.assert_allclose(learned["scale"], (CLOUD * scale).std(axis=0), rtol=0.05)
    z = (np.c_[new[:, 0], new[:, 1] * 50] + 7 - learned["center"]) / learned["scale"]
    points = np.c_[z[1:], z[:-1]]
    with np.load("out.npz") as arrays:
        np.testing.assert_array_equal(arrays["rows"], np.arange(1, 40))
        expected = vbdm.load("model.vbdm").extend(points, outside="nan")
        np.testing.assert_allclose(arrays["eigenfunctions"], expected.values, atol=1e-9)


def test_the_key_is_remembered_where_it_means_something():
    np.savez("train.npz", points=CLOUD, times=np.arange(300.0))
    done("fit", "train.npz", "--key", "points", "-n", 3, *FAST)
    np.savez("new.npz", times=np.arange(9.0), points=CLOUD[:9])
    for name in ("new.npz", "data.csv"):
        done("transform", "train-vbdm", name, "-o", f"{name}.npy")
    whole = load_results("train-vbdm").eigenfunctions
    np.testing.assert_array_equal(np.load("new.npz.npy"), whole[:9])
    np.testing.assert_array_equal(np.load("data.csv.npy"), whole)


def write_frames(name, seed):
    """Write a trajectory of four atoms, and the file that names them."""
    mdtraj = pytest.importorskip("mdtraj")
    topology = mdtraj.Topology()
    chain = topology.add_chain()
    for number in range(4):
        residue = topology.add_residue("ALA", chain, resSeq=number + 1)
        topology.add_atom("CA", mdtraj.element.carbon, residue)
    rng = np.random.default_rng(seed)
    places = np.eye(4, 3) + rng.normal(0, 0.1, (240, 4, 3))
    frames = mdtraj.Trajectory(places.astype(np.float32), topology)
    frames.save(name)
    frames[0].save("top.pdb")


def test_delays_of_new_frames_are_as_long_as_before(tmp_path, monkeypatch):
    write_frames("run.xtc", 0)
    how = ("run.xtc", "--topology", "top.pdb", "--stride", 2, "-n", 3)
    done("fit", *how, "-o", "delayed", "--delays", 3, *FAST)
    done("fit", *how, "-o", "alone", *FAST)
    whole = {name: load_results(name) for name in ("delayed", "alone")}
    # From another folder: the topology is found there, too.
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    done("transform", "../delayed", "../run.xtc", "-o", "same.npy")
    np.testing.assert_array_equal(np.load("same.npy"), whole["delayed"].eigenfunctions)
    done("transform", "../delayed", "../run.xtc", "-o", "short.npy", "--stride", 1)
    assert len(np.load("short.npy")) == 240 - 2
    # Without delays frames are only thinned, which is not for new ones.
    done("transform", "../alone", "../run.xtc", "-o", "all.npy")
    np.testing.assert_array_equal(np.load("all.npy")[::2], whole["alone"].eigenfunctions)


def test_the_variable_is_remembered_for_zarr():
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("zarr")
    pytest.importorskip("netCDF4")
    fields = {"wind": (("time", "place"), CLOUD), "rain": (("time", "place"), CLOUD[:, ::-1])}
    xarray.Dataset(fields).to_zarr("air.zarr", consolidated=False)
    done("fit", "air.zarr", "--variable", "wind", "-n", 3, *FAST)
    done("transform", "air-vbdm", "air.zarr", "-o", "out.npy")
    np.testing.assert_array_equal(np.load("out.npy"), load_results("air-vbdm").eigenfunctions)


def test_numpy_1_writes_the_arrays_as_well(monkeypatch):
    """Its savez takes every keyword for an array, so it is not used."""
    fitted()
    monkeypatch.delattr(np, "savez")
    done("transform", "data-vbdm", "data.csv", "-o", "out.npz")
    with np.load("out.npz", allow_pickle=False) as arrays:
        names = {"eigenvalues", "eigenfunctions", "density", "outside", "training", "rows"}
        assert set(arrays.files) == names


def test_json_is_strict(capsys):
    say_json({"file": Path("new.npz"), "eigenvalues": np.array([0, np.nan])})
    told = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert told == {"file": "new.npz", "eigenvalues": [0.0, None]}


def test_points_outside_are_flagged_and_named():
    fitted()
    write_csv("new.csv", [[0.0, 0.0], [99.0, 99.0]], "x,y")
    text = done("transform", "data-vbdm", "new.csv", "--json")
    assert json.loads(text.stdout)["n_outside"] == 1
    assert "1 of 2 new points" in json.loads(text.stderr.splitlines()[-1])["note"]
    with np.load("new-vbdm.npz") as arrays:
        assert arrays["outside"].tolist() == [False, True]
        assert np.isnan(arrays["eigenfunctions"][1]).all()
    done("transform", "data-vbdm", "new.csv", "--force", "--outside", "nearest")
    with np.load("new-vbdm.npz") as arrays:
        assert np.isfinite(arrays["eigenfunctions"]).all()


def test_a_model_saved_in_python_will_do():
    spectrum = vbdm.estimate_operator(CLOUD, "generator").spectrum(3)
    spectrum.save("mine.vbdm")
    vbdm.DiffusionMap("generator").fit(CLOUD).save("estimator.vbdm")
    for name in ("mine", "estimator"):
        done("transform", f"{name}.vbdm", "data.csv", "-o", f"{name}.npy")
        np.testing.assert_array_equal(np.load(f"{name}.npy"), spectrum.eigenfunctions)


# --- The others ----------------------------------------------------------------------------------


def test_tune_says_what_fit_takes():
    text = done("tune", "data.csv", "-O", "generator", "-o", "curve.csv", "-o", "curve.png")
    op = vbdm.estimate_operator(CLOUD, "generator")
    assert f"--epsilon {op.epsilon:.6g} --dim {op.dim:.4g}" in text.stdout
    assert "chosen" in text.stdout
    curve = np.genfromtxt("curve.csv", delimiter=",", names=True)
    np.testing.assert_allclose(curve["epsilon"], op.tuning.epsilons)
    assert Path("curve.png").read_bytes().startswith(b"\x89PNG")
    facts = json.loads(done("tune", "data.csv", "--json", "--method", "paper").stdout)
    assert facts["epsilon_rule"] == "slope"
    assert "degree_0.5" not in facts["curve"]
    assert (facts["n_neighbors"], facts["by_reach"]) == (64, False)


def test_tune_suggests_a_length_only_where_there_are_lists():
    text = done("tune", "data.csv", "-O", "generator").stdout
    assert "on average, all within reach" in text
    assert "--neighbors" not in text
    assert "--neighbors 64" in done("tune", "data.csv", "--method", "paper").stdout


def test_tune_has_no_curve_where_nothing_was_looked_for():
    given = ("tune", "data.csv", "--epsilon", 0.1, "--method", "paper")
    facts = json.loads(done(*given, "--json").stdout)
    assert (facts["epsilon"], facts["curve"]) == (0.1, {})
    text = done(*given).stdout
    assert "← chosen" not in text
    assert "--epsilon 0.1 " in text


def test_the_table_of_the_curve_ends_with_the_curve():
    curve = {"epsilon": [1.0, 2.0, 4.0], "dimension": [1.0, 1.5, None]}
    _, *rows = curve_table(curve, 1.1)
    assert [row.split()[:2] for row in rows] == [["1", "1.00"], ["2", "1.50"], ["4", "–"]]
    assert [row.endswith("chosen") for row in rows] == [True, False, False]


def test_the_engine_and_the_precision_are_passed_on():
    done("fit", "data.csv", "--engine", "scipy", "--precision", "double", "-n", 3, "--no-figures",
         "-o", "double")  # fmt: skip
    decided = json.loads(Path("double/results.json").read_text())["decided"]
    assert (decided["engine"], decided["engine_reason"]) == ("scipy", "chosen by the user")
    assert decided["precision"] == "double"
    assert decided["given"][-2:] == ["engine", "precision"]
    wrong = vbdm_command("fit", "data.csv", "--engine", "opencl")
    assert wrong.exit_code == 2
    assert "'auto', 'scipy', 'numba'" in wrong.stderr


@pytest.mark.parametrize("what", ["summary", "spectrum", "eigenfunctions", "density"])
def test_plot(what, whole):
    done("plot", whole[0], "--what", what, "--dpi", 30)
    assert Path(f"{what}.png").stat().st_size > 1000
    assert vbdm_command("plot", whole[0], "--what", what).exit_code == 2


def test_plot_for_a_paper(whole):
    done("plot", whole[0] / "model.vbdm", "--what", "embedding", "--which", "1,3", "-o", "map.pdf")
    assert Path("map.pdf").read_bytes().startswith(b"%PDF")


def test_the_page_can_be_made_again(whole):
    done("report", whole[0], "-o", "page.html", "--title", "Slow modes", "--draw", 50)
    assert "Slow modes" in Path("page.html").read_text("utf-8")
    page = whole[0] / "report.html"
    before = page.stat().st_size
    done("report", whole[0])
    assert abs(page.stat().st_size - before) < 0.01 * before


def test_the_page_is_opened_if_asked(whole, monkeypatch):
    opened = []
    monkeypatch.setattr("click.launch", opened.append)
    done("report", whole[0], "-o", "page.html", "--draw", 50)
    assert opened == []
    done("report", whole[0], "-o", "page.html", "--draw", 50, "--force", "--open")
    assert [Path(path) for path in opened] == [Path("page.html").resolve()]


def test_cite(whole):
    assert "Variable bandwidth diffusion kernels" in done("cite").stdout.replace("{", "")
    assert done("cite", whole[0]).stdout.startswith("@")
    assert "300 points" in done("cite", whole[0], "--methods").stdout
    assert "@" not in done("cite", "--text").stdout
    alone = done("cite", whole[0] / "model.vbdm", "--methods").stdout
    assert "300 points" in alone or "N = 300" in alone


def test_info(monkeypatch):
    text = done("info").stdout
    assert vbdm.__version__ in text
    assert ".csv" in text
    facts = json.loads(done("info", "--json").stdout)
    assert facts["threads"] >= 1
    assert "Engines:" in text
    assert facts["engines"]["few_points"] == "scipy"
    assert facts["engines"]["many_points"] in ("scipy", "numba")
    missing = [entry for entry in facts["features"] if not entry["installed"]]
    assert all(entry["install"] in text for entry in missing)


def test_demo_replaces_its_own_results_and_keeps_what_is_yours(monkeypatch):
    # Without what takes long; the whole demonstration runs whenever the package is built.
    monkeypatch.setattr("vbdm.estimate.scan_epsilon", lambda spectrum: None)
    monkeypatch.setattr("vbdm.results.writing.draw_figures", lambda spectrum, folder: None)
    text = done("demo")
    assert "truth" in text.stdout
    table = np.genfromtxt("results/eigenvalues.csv", delimiter=",", names=True)
    np.testing.assert_allclose(table["eigenvalue"], table["truth"], rtol=0.15)
    assert {"report.html", "eigenvalues.png"} <= {path.name for path in Path("results").iterdir()}
    Path("results/speed.json").write_text("{}")
    Path("results/eigenvalues.csv").write_text("changed")
    done("demo", "-q")
    assert Path("results/eigenvalues.csv").read_text() != "changed"
    assert Path("results/speed.json").read_text() == "{}"
