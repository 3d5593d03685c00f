"""Every example of the gallery runs, and its main number is as near the truth as it promises."""

import runpy
import warnings
from pathlib import Path

import numpy as np
import pytest

import vbdm

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def run(capsys):
    """Run an example without a screen; return its names. No doubt may pass unsaid."""
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")

    def run_example(name):
        with warnings.catch_warnings():
            # An example catches the warnings it expects and prints them.
            warnings.simplefilter("error", vbdm.VbdmWarning)
            names = runpy.run_path(str(EXAMPLES / f"plot_{name}.py"))
        assert plt.get_fignums(), "an example without a picture"
        names["printed"] = capsys.readouterr().out
        return names

    yield run_example
    plt.close("all")


def misses(spectrum, truth, groups):
    """Distance of the mean of each group from the truth, in standard errors."""
    found = np.array([spectrum.eigenvalues[group].mean() for group in groups])
    exact = np.array([truth.eigenvalues[group].mean() for group in groups])
    errors = [spectrum.errors.of_group(group) for group in groups]
    return np.abs(found - exact) / errors


def check_ou_line(names):
    spectrum, truth = names["spectrum"], names["truth"]
    # "Right within about three error bars", and the fifth is not.
    assert (misses(spectrum, truth, [[1], [2], [3]]) < 3).all()
    assert misses(spectrum, truth, [[5]])[0] > 3
    np.testing.assert_allclose(names["finer"].eigenvalues[1:4], [-1, -2, -3], rtol=0.08)
    assert (np.diff(names["carried"]) < 0).all()
    assert names["carried"][5] < 20


def check_circle(names):
    pairs = [[1, 2], [3, 4], [5, 6], [7, 8]]
    for name, spectrum in names["spectra"].items():
        assert (misses(spectrum, names["sample"].truth(9, name), pairs) < 3).all()
    found = names["spectra"]["laplacian"].eigenvalues
    np.testing.assert_allclose(found, names["sample"].truth(9).eigenvalues, rtol=0.03)


def check_torus(names):
    truth = names["truth"]
    found = [names["spectrum"].eigenvalues[group].mean() for group in truth.groups[1:4]]
    # "Within about 1 %".
    np.testing.assert_allclose(found, [-1, -2, -4], rtol=0.015)
    assert abs(names["op"].dim - 2) < 0.05
    assert names["error"] < 0.005


def check_spheres(names):
    promised = {"S², uneven": 0.01, "S³, uniform": 0.025}
    for name, spectrum in names["spectra"].items():
        truth = names["samples"][name].truth(14)
        for group in truth.groups[1:3]:
            exact = truth.eigenvalues[group[0]]
            assert abs(spectrum.eigenvalues[group].mean() / exact - 1) < promised[name]
    # "Seen and predicted spread agree within a tenth."
    assert names["predicted"] == pytest.approx(names["seen"], rel=0.1)


def check_double_well(names):
    assert (misses(names["spectrum"], names["truth"], [[1], [2], [3], [4], [5]]) < 2.5).all()


def check_molecule(names):
    assert names["clock"].consistent
    biased = names["biased"].rate.times(names["D"])
    pairs = [
        (names["D"], names["D_true"]),
        ((names["slowest"], names["slowest_error"]), names["slowest_true"]),
        (names["rate"], names["rate_true"]),
        (biased, names["rate_true"]),
        (names["time"], names["time_true"]),
    ]
    for (value, error), truth in pairs:
        assert abs(value - truth) < 3 * error < 0.75 * truth
    assert biased.error < names["rate"].error / 2
    assert names["unweighted"].rate.times(names["D"]).value > 3 * names["rate_true"]
    # "Right to about a hundredth."
    assert max(names["committor_error"], names["biased_error"]) < 0.02
    assert len(names["states"]) == 2
    in_b = names["known"].flux / names["known"].rate_back
    value, error = names["states"].populations[1]
    assert abs(value - in_b) < 3 * error


def check_lorenz(names):
    assert abs(names["op"].dim - 2.06) < 0.1
    assert names["hidden_error"] < 0.04
    # The trajectory is chaotic, so other machines see other states: wide margins.
    linear = names["relative_error"](names["linear"], names["new_future"])
    assert names["skill"][5] < 0.15 < 0.6 < linear[5]
    assert (names["skill"][1:20] < linear[1:20]).all()


def check_digits(names):
    # No truth here but the labels; guessing gives 0.1.
    assert names["accuracy"] > 0.94
    assert names["raw"] - names["accuracy"] < 0.04
    assert np.isfinite(names["new_places"]).all()


def check_climate(names):
    assert names["days"] < 4
    assert names["index_likeness"] > 0.95
    assert names["likeness"] > 0.98
    assert abs(names["op"].dim - 2) < 0.4


def check_nino(names):
    ours, _, persistence, linear = names["acc"]
    np.testing.assert_allclose(ours[:3], [0.97, 0.83, 0.56], atol=0.05)
    # "Beats … from three months on; one month ahead the linear model is as good."
    assert (ours[1:] > np.maximum(persistence, linear)[1:]).all()
    assert abs(ours[0] - linear[0]) < 0.02
    assert (names["rmse"][0] < names["rmse"][1:].min(axis=0) + 0.01).all()
    outer = names["skill"].coverage90[0, :, 0]
    assert outer[0] > 0.91
    assert (np.abs(outer[1:] - 0.9) < 0.05).all()
    assert names["held"]["2010-06"] > names["held"]["2015-06"] > 0.5
    assert names["model"].season_ == 12
    # "The sea has grown warmer."
    assert np.mean(names["truth"] - names["anomaly"][names["kept"]]) > 0.15
    assert "SkillWarning" in names["printed"]


def check_forecast_lorenz(names):
    assert names["model"].predictor_ == "neighbours"
    ours, climatology, persistence, linear = names["error"]
    # The trajectory is chaotic, so other machines see other states: wide margins.
    assert ours[2] < 0.1
    assert ours[7] < 0.75
    assert (ours < np.minimum(persistence, linear) + 0.02).all()
    assert (ours < climatology + 0.1).all()
    assert ((names["coverage"] > 0.87) & (names["coverage"] < 0.99)).all()
    assert names["wrong"][0] < 0.6 * names["ERROR"]
    assert (names["wrong"][1:] < 0.25 * names["new"].std(axis=0)[1:]).all()
    assert (names["inside"] > 0.87).all()
    assert names["errors"][np.argmax(names["evidence"])] == names["ERROR"]


def check_error_bars(names):
    for found, predicted, intervals, truth in names["results"].values():
        # Twenty samples leave 16 % on the observed spread: two and a half of these.
        assert predicted.mean() == pytest.approx(found.std(ddof=1), rel=0.4)
        assert np.mean((intervals[:, 0] < truth) & (truth < intervals[:, 1])) >= 0.9
    found, predicted, _, truth = names["results"]["double well, slowest"]
    assert np.mean(np.abs(found - truth) < 2 * predicted) >= 0.8


def check_epsilon(names):
    assert not names["opinions"].disagree
    assert names["doubtful"].disagree
    assert "TuningWarning" in names["printed"]
    truth = names["roll"].truth(4).eigenvalues
    np.testing.assert_allclose(names["enough"].eigenvalues[1:], truth[1:], rtol=0.1)
    assert np.abs(names["change"].mean(axis=1)).max() < 0.15


def check_new_points(names):
    assert names["same"]
    assert names["training_difference"] < 1e-3
    assert names["extension_error"] < 0.05
    assert np.median(names["density"] / names["test"].density) == pytest.approx(1, abs=0.1)
    assert "OutsideWarning" in names["printed"]


def check_outliers(names):
    exact = names["truth"][1:]
    np.testing.assert_allclose(names["spectrum"].eigenvalues[1:], exact, rtol=0.2)
    assert (names["unlimited"].eigenvalues[1:] > -0.1).all()
    assert names["found"] > 0.9
    assert "UnresolvedWarning" in names["printed"]


def check_disconnected(names):
    assert names["spectrum"].pieces.n_pieces == 3
    assert (names["spectrum"].eigenvalues[:3] == 0).all()
    np.testing.assert_allclose(names["spectrum"].eigenvalues[3:], -1, rtol=0.15)
    assert "all from one cluster: False" not in names["printed"]
    assert names["bridged"].pieces.n_pieces == 2
    assert -0.05 < names["bridged"].eigenvalues[2] < 0
    assert "WeakLinkWarning" in names["printed"]


def check_periodic(names):
    torus = names["unit"] * names["periodic"].eigenvalues
    np.testing.assert_allclose(torus, names["sample"].truth(9).eigenvalues, rtol=0.05, atol=1e-9)
    walls = names["unit"] * names["walls"].eigenvalues
    np.testing.assert_allclose(walls, names["walls_truth"], rtol=0.1, atol=1e-9)


def check_own_bandwidth(names):
    pairs = [[1, 2], [3, 4]]
    assert (misses(names["own"], names["truth"], pairs) < 3).all()
    exact = names["truth"].eigenvalues[1:5]
    np.testing.assert_allclose(names["by_potential"].eigenvalues[1:5], exact, rtol=0.04)
    np.testing.assert_allclose(names["plain"].eigenvalues[1:5], [-1, -1, -4, -4], rtol=0.04)


CHECKS = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}
#: Guides have their kind in the name of their file.
GUIDES = ("molecule", "lorenz", "digits", "climate", "nino", "forecast_lorenz")
FILES = {name: f"guide_{name}" for name in GUIDES}


#: Those that take longest are judged by `make test-slow`; `make docs` runs every one of them.
LONG = {
    "digits", "error_bars", "epsilon", "spheres", "ou_line", "disconnected", "outliers", "periodic",
    "forecast_lorenz", "nino", "molecule",
}  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in CHECKS]
)
def test_example(run, name):
    CHECKS[name](run(FILES.get(name, name)))


def test_every_example_is_checked_and_listed():
    found = {path.stem.removeprefix("plot_") for path in EXAMPLES.glob("plot_*.py")}
    assert found == {FILES.get(name, name) for name in CHECKS}
    header = (EXAMPLES / "GALLERY_HEADER.rst").read_text()
    assert all(f"_plot_{name}.py`" in header for name in found)


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("plot_*.py")), ids=lambda path: path.stem)
def test_examples_end_with_what_to_take_away(path):
    title, underline = path.read_text().splitlines()[1:3]
    assert underline == "=" * len(title)
    assert "# What to take away" in path.read_text().split("# %%")[-1]
