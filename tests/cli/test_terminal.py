"""What the terminal says about eigenvalues: errors stand beside what they belong to."""

import json
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pytest

import vbdm
from vbdm.cli.demo import TRUTH, bundled_points, compare, draw
from vbdm.cli.demo import describe as describe_demo
from vbdm.cli.terminal import choices, describe, lights
from vbdm.results import Origin, write_results


@pytest.fixture(scope="module")
def sphere():
    with bundled_points() as path:
        points = np.load(path).astype(np.float64)
    return vbdm.estimate_operator(points).spectrum(len(TRUTH))


@pytest.fixture(scope="module")
def summary(sphere, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results") / "sphere"
    write_results(folder, sphere, Origin(), figures=False, page=False)
    return json.loads((folder / "results.json").read_text("utf-8"))


def test_groups_are_in_the_summary(sphere, summary):
    groups = summary["groups"]
    assert [group["members"] for group in groups] == [
        group.tolist() for group in sphere.errors.groups
    ]
    for group in groups:
        members = group["members"]
        assert group["mean"] == pytest.approx(sphere.eigenvalues[members].mean())
        assert group["standard_error"] == sphere.standard_errors[members[0]]
        ends = sphere.errors.interval_of_group(members)
        assert (group["lower"], group["upper"]) == pytest.approx(ends)
        middle, half = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
        assert middle == pytest.approx(group["mean"])
        assert half == pytest.approx(1.959964 * group["total_error"], rel=1e-5)
        parts = group["error_parts"]
        assert parts["sampling"] == group["standard_error"]
        assert np.linalg.norm(list(parts.values())) == pytest.approx(group["total_error"])


def test_the_error_of_a_group_stands_beside_its_mean(sphere, summary):
    lines = [click.unstyle(line) for line in describe(summary)]
    head = "j eigenvalue -1/λ ± error 95 % interval mean of group"
    assert any(" ".join(line.split()) == head for line in lines)
    group = sphere.errors.by_group[2]
    mean, error = group.mean, group.total_error
    first = next(line for line in lines if line.split()[:1] == ["4"])
    ends = f"{group.lower:.2f} to {group.upper:.2f}"
    assert first.split()[3:] == f"{error:.2g} {ends} 4 to 8: {mean:.4g}".split()
    assert "  Errors are total errors, standard deviations; largest part: ε." in lines
    rest = [line for line in lines if {"5", "6", "7", "8"} & set(line.split()[:1])]
    assert len(rest) == 4
    assert all(line.endswith("″") and f"{error:.2g}" not in line for line in rest)


def test_no_absurd_digits(summary):
    dimension = {"value": 1.1323381728811555, "standard_error": 4.4e-16}
    assert next(choices({**summary, "dimension": dimension})) == "  dimension    1.132"


def test_the_demonstration_compares_means_with_the_truth(sphere, summary, tmp_path):
    results = SimpleNamespace(spectrum=sphere, folder=Path("x"), summary=summary)
    lines = list(describe_demo(results))
    table = [line.split() for line in lines if line.split()[0][:1].isdigit()]
    assert [row[-1] for row in table] == ["0", "-2", "-6", "-12"]
    means = [group.mean for group in sphere.errors.by_group]
    found = [row for row in table if row[-1] != "0"]
    np.testing.assert_allclose([float(row[3]) for row in found], means[1:], atol=6e-4)
    for row in found:
        lower, upper, truth = float(row[5]), float(row[7]), float(row[8])
        assert lower < truth < upper
    assert lines[-2].startswith("Errors are total errors of the means")
    compare(None, sphere, tmp_path)
    kept = np.genfromtxt(tmp_path / "eigenvalues.csv", delimiter=",", names=True)
    assert set(kept["group_mean"].round(9)) == set(np.round(means, 9))


def test_the_picture_has_bands(sphere):
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = draw(sphere)
    # Two bands for each group: its interval, and what sampling alone would give.
    assert [group.is_several for group in sphere.errors.by_group] == [False, True, True, True]
    assert len(figure.axes[0].collections) == 6
    plt.close(figure)


def test_advice_of_findings_is_given_in_options():
    finding = {"light": "amber", "name": "Spacing", "words": "Try leave_one_out=False or `dim`."}
    assert click.unstyle(next(lights([finding]))) == (
        "  ▲ Spacing: Try --no-leave-one-out or --dim."
    )


def test_the_terminal_begins_with_what_was_found(summary):
    lines = [click.unstyle(line) for line in describe(summary)]
    assert "as on a sphere, of radius 1" in summary["found"] or "radius 0.9" in summary["found"]
    assert " ".join(line.strip() for line in lines[2:4]) == summary["found"]
    # Folders of versions before these words are described without them.
    older = {name: value for name, value in summary.items() if name != "found"}
    assert lines[0] == click.unstyle(next(describe(older)))
    assert list(describe(older))[2].startswith("  dimension")
