"""Running the figures: what is written, what is said, and what happens when something fails."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import vbdm
from paper import FIGURES, load, ou_large, ou_plane, reproduce
from paper.__main__ import main, whole_figures
from vbdm.cli import commands


@pytest.fixture(scope="module")
def numbers():
    return {
        "ou_large": ou_large.compute(quick=True, n_points=400),
        "ou_plane": ou_plane.compute(quick=True, n_points=250),
    }


def test_every_figure_has_a_module():
    for name in FIGURES:
        assert name == load(name).NAME


def test_everything_is_written(tmp_path, monkeypatch, numbers):
    monkeypatch.setattr(ou_large, "compute", lambda quick: numbers["ou_large"])
    made = reproduce.reproduce(["ou_large"], tmp_path / "new", quick=True)
    written = sorted(path.name for path in (tmp_path / "new").iterdir())
    assert written == ["claims.json", "claims.md", "ou_large.npz", "ou_large.png"]
    assert {path.name for path in made.files} == set(written)
    kept = np.load(tmp_path / "new" / "ou_large.npz")
    assert ou_large.claims(dict(kept)) == tuple(claim for _, claim in made.claims)
    table = json.loads((tmp_path / "new" / "claims.json").read_text())
    assert [row["verdict"] for row in table["claims"]] == [c.verdict for _, c in made.claims]
    text = (tmp_path / "new" / "claims.md").read_text()
    assert all(claim.statement in text for _, claim in made.claims)


@pytest.mark.slow
def test_earlier_figures_of_the_same_size_stay_in_the_table(tmp_path, monkeypatch, numbers):
    for module, name in ((ou_large, "ou_large"), (ou_plane, "ou_plane")):
        monkeypatch.setattr(module, "compute", lambda quick, name=name: numbers[name])
    reproduce.reproduce(["ou_plane"], tmp_path, quick=True)
    both = reproduce.reproduce(["ou_large"], tmp_path, quick=True)
    names = [name for name, _ in both.claims]
    assert set(names) == {"ou_large", "ou_plane"}
    assert names == sorted(names)
    full = reproduce.reproduce(["ou_large"], tmp_path, quick=False)
    assert {name for name, _ in full.claims} == {"ou_large"}
    (tmp_path / "ou_plane.npz").write_bytes(b"damaged")
    assert "ou_plane" in reproduce.reproduce(["ou_large"], tmp_path).failures


def test_a_broken_figure_is_named(tmp_path, monkeypatch):
    def fail(quick):
        raise ZeroDivisionError("no numbers")

    monkeypatch.setattr(ou_large, "compute", fail)
    made = reproduce.reproduce(["ou_large"], tmp_path)
    assert made.failures == {"ou_large": "ZeroDivisionError: no numbers"}
    assert "no numbers" in (tmp_path / "claims.md").read_text()


def test_an_unknown_figure_is_refused(tmp_path):
    with pytest.raises(vbdm.InputError, match="Choose among"):
        reproduce.reproduce(["nothing"], tmp_path)


def test_the_command_says_what_it_found(tmp_path, monkeypatch, capsys, numbers):
    monkeypatch.setattr(ou_large, "compute", lambda quick: numbers["ou_large"])
    assert main(["ou_large", "--quick", "--out", str(tmp_path / "new")]) == 0
    assert (tmp_path / "new" / "claims.md").exists()
    printed = capsys.readouterr().out
    for claim in ou_large.claims(numbers["ou_large"]):
        assert claim.statement in printed


def test_the_command_can_be_quiet(tmp_path, monkeypatch, capsys, numbers):
    monkeypatch.setattr(ou_large, "compute", lambda quick: numbers["ou_large"])
    assert main(["ou_large", "--quick", "--quiet", "-o", str(tmp_path)]) == 0
    assert capsys.readouterr() == ("", "")


def test_the_command_fails_where_a_figure_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ou_large, "compute", lambda quick: {})
    assert main(["ou_large", "--out", str(tmp_path)]) == 1
    assert "failed: ou_large" in capsys.readouterr().err


def test_the_command_refuses_unknown_figures(tmp_path, capsys):
    assert main(["nothing", "--out", str(tmp_path / "new")]) == 2
    assert "Choose among" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_missing_matplotlib_is_found_before_the_work(tmp_path, monkeypatch, capsys):
    def too_early(*arguments):
        pytest.fail("something was computed")

    monkeypatch.setattr("paper.__main__.find_spec", lambda name: None)
    monkeypatch.setattr("paper.__main__.reproduce", too_early)
    assert main(["section3", "-o", str(tmp_path)]) == 2
    assert "pip install 'vbdm[plot]'" in capsys.readouterr().err


def test_what_is_left_of_interrupted_figures_is_said(monkeypatch, capsys):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("paper.__main__.reproduce", interrupted)
    assert main(["section3", "-o", "check"]) == 130
    assert "Interrupted. Figures that were finished are in check." in capsys.readouterr().err


def test_a_full_disk_leaves_the_earlier_file(tmp_path, monkeypatch):
    target = tmp_path / "claims.md"
    target.write_text("earlier")

    def full(*arguments):
        raise OSError("No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    with pytest.raises(OSError, match="No space"):
        reproduce.write_whole(target, b"later")
    assert target.read_text() == "earlier"
    assert [path.name for path in tmp_path.iterdir()] == ["claims.md"]


def test_progress_of_figures_is_told():
    seen = []
    tell = whole_figures(seen.append)
    tell(vbdm.progress.Progress("figures", 1, 11, "ou_large"))
    tell(vbdm.progress.Progress("kernel", 3, 9))
    tell(vbdm.progress.Progress("ou_large", 2, 4))
    assert [report.share for report in seen] == [0, 0.5]
    assert "ou_large (2 of 11)" in seen[-1].note


def test_the_installed_command_says_where_the_figures_are(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # A folder of this name, with an article in it, is not the one that is meant.
    (tmp_path / "paper").mkdir()
    said = CliRunner().invoke(commands, ["reproduce", "section3", "--quick", "-o", "check"])
    assert said.exit_code == 2
    assert "in a clone of vbdm's repository" in said.stderr
    assert "make reproduce" in said.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["paper"]


def test_the_installed_command_makes_figures_inside_a_clone(pytestconfig, monkeypatch):
    monkeypatch.chdir(pytestconfig.rootpath)
    # The command puts the folder on the path, which is put back after the test.
    monkeypatch.setattr("sys.path", [*sys.path])
    monkeypatch.setattr("paper.__main__.main", lambda arguments: len(arguments))
    made = CliRunner().invoke(commands, ["reproduce", "ou_large", "--quick", "-o", "check"])
    assert made.exit_code == 4, made.output
