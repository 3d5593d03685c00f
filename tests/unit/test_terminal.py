"""What the terminal says about eigenvalues: errors stand beside what they belong to."""

import json
from pathlib import Path
from types import SimpleNamespace

import click
import numpy as np
import pytest
from vbdm.results import Origin, write_results

import vbdm
from vbdm.cli.demo import TRUTH, bundled_points, compare, draw
from vbdm.cli.demo import describe as describe_demo
from vbdm.cli.terminal import choices, describe, lights
from vbdm.trust.error_bars import groups_of

pytestmark = pytest.mark.filterwarnings("ignore::vbdm.VbdmWarning")


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
    assert [group["members"] for group in groups] == [group.tolist() for group in sphere.groups]
    for group in groups:
        members = group["members"]
        assert group["mean"] == pytest.approx(sphere.eigenvalues[members].mean())
        assert group["standard_error"] == sphere.standard_errors[members[0]]


def test_the_error_of_a_group_stands_beside_its_mean(sphere, summary):
    lines = [click.unstyle(line) for line in describe(summary)]
    assert any(line.endswith("-1/λ   group") for line in lines)
    mean, error = sphere.eigenvalues[4:9].mean(), sphere.standard_errors[4]
    first = next(line for line in lines if line.startswith("    4 "))
    assert first.endswith(f"4 to 8: mean {mean:.4g} ± {error:.2g}")
    rest = [line for line in lines if line[:6].strip() in {"5", "6", "7", "8"}]
    assert len(rest) == 4
    assert all(line.endswith("″") and f"{error:.2g}" not in line for line in rest)


def test_no_absurd_digits(summary):
    dimension = {"value": 1.1323381728811555, "standard_error": 4.4e-16}
    assert next(choices({**summary, "dimension": dimension})) == "  dimension    1.132"


def test_the_demonstration_compares_means_with_the_truth(sphere, tmp_path):
    lines = list(describe_demo(SimpleNamespace(spectrum=sphere, folder=Path("x"))))
    table = [line.split() for line in lines if line[:1].isdigit()]
    assert [row[-1] for row in table] == ["0", "-2", "-6", "-12"]
    means = [group.mean for group in groups_of(sphere)]
    np.testing.assert_allclose([float(row[-3]) for row in table], means, atol=6e-4)
    compare(None, sphere, tmp_path)
    kept = np.genfromtxt(tmp_path / "eigenvalues.csv", delimiter=",", names=True)
    assert set(kept["group_mean"].round(9)) == set(np.round(means, 9))


def test_the_picture_has_bands(sphere):
    plt = pytest.importorskip("matplotlib.pyplot")
    figure = draw(sphere)
    # A bar for the constant, and a band for each group.
    assert len(figure.axes[0].collections) == len(groups_of(sphere)) == 4
    plt.close(figure)


def test_advice_of_findings_is_given_in_options():
    finding = {"light": "amber", "name": "Spacing", "words": "Try leave_one_out=False or `dim`."}
    assert click.unstyle(next(lights([finding]))) == (
        "  ▲ Spacing: Try --no-leave-one-out or --dim."
    )
