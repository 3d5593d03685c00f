"""The figures of Section 5 and appendix A: tiny runs, panels, verdicts that follow the numbers."""

import numpy as np
import pytest

import vbdm
from vbdm.figures import (
    circle_sensitivity,
    left_right_symmetric,
    nonuniform_circle,
    sphere_sensitivity,
)
from vbdm.figures.automatic import automatic, decades_below
from vbdm.figures.base import Settings, fixed

VERDICTS = {"reproduced", "not reproduced", "depends"}


def check_figure(module, numbers, n_panels, n_claims):
    assert len(module.draw(numbers).axes) == n_panels
    claims = module.claims(numbers)
    assert len(claims) == n_claims
    for claim in claims:
        assert claim.verdict in VERDICTS
        assert all((claim.where, claim.statement, claim.printed, claim.found, claim.why))
    assert module.TITLE
    assert module.CAPTION
    # Everything must fit into one file of arrays.
    assert all(np.asarray(value).dtype.kind in "fiub" for value in numbers.values())


@pytest.fixture(scope="module")
def circle():
    return circle_sensitivity.compute(quick=True, n_points=150)


@pytest.fixture(scope="module")
def sphere():
    return sphere_sensitivity.compute(quick=True, n_points=150)


@pytest.fixture(scope="module")
def three_kernels():
    return left_right_symmetric.compute(n_circle=600, n_torus=2500)


@pytest.fixture(scope="module")
def uneven():
    return nonuniform_circle.compute(n_points=400)


def test_circle(circle):
    check_figure(circle_sensitivity, circle, 3, 6)
    assert np.nanmin(circle["grid_fixed_all_errors"]) < 1e-3
    # At the smallest ε no two of so few points are joined: counted, and shown as gaps.
    assert circle["grid_fixed_all_failed"] == np.isnan(circle["grid_fixed_all_errors"]).sum()


def test_circle_verdicts_follow_the_numbers(circle):
    wide = circle | {
        f"{s}_fixed_{p}_errors": np.ones_like(circle["epsilons"])
        for s in circle_sensitivity.SAMPLINGS
        for p in ("all", "third")
    }
    assert circle_sensitivity.claims(wide)[0].verdict == "reproduced"
    narrow = circle | {
        f"grid_variable_{p}_errors": np.ones_like(circle["epsilons"]) for p in ("all", "third")
    }
    assert circle_sensitivity.claims(narrow)[0].verdict == "not reproduced"
    keys = [f"perturbed_{name}_all" for name in ("variable", "fixed")]
    printed = circle | {f"{key}_automatic": 2.0**-5 for key in keys}
    assert circle_sensitivity.claims(printed)[3].verdict == "reproduced"
    flat = circle | {f"{key}_slopes": np.full(40, 0.5) for key in keys}
    assert circle_sensitivity.claims(flat)[5].verdict == "reproduced"
    errors = {f"perturbed_variable_{p}_automatic_error": 1.0 for p in ("all", "third")}
    assert circle_sensitivity.claims(circle | errors)[4].verdict == "not reproduced"


def test_sphere(sphere):
    # Eight panels: the paper's six, every covariance, and the default method.
    check_figure(sphere_sensitivity, sphere, 8, 7)
    assert np.allclose(np.linalg.norm(sphere["points"], axis=1), 1)


def test_sphere_verdicts_follow_the_numbers(sphere):
    good = np.full(3, 1e-3)
    changed = sphere | {"every_fixed_error": good, "every_fixed_best": good}
    claims = sphere_sensitivity.claims(changed)
    assert claims[2].verdict == "not reproduced"
    assert claims[4].verdict == "reproduced"
    bad = sphere | {"every_variable_error": 10 * np.asarray(sphere["every_variable_best"])}
    assert sphere_sensitivity.claims(bad)[1].verdict == "not reproduced"
    low, right = (sphere | {"every_fixed_slope": np.full(3, s)} for s in (0.5, 0.91))
    assert sphere_sensitivity.claims(low)[6].verdict == "not reproduced"
    assert sphere_sensitivity.claims(right)[6].verdict == "reproduced"


def test_random_covariance_is_that_of_the_matrix():
    """The turned sample along the axes has the covariance A Aᵀ, up to the projection."""
    axes, turn = sphere_sensitivity.random_axes(3)
    matrix = np.random.default_rng(3).standard_normal((3, 3))
    assert np.allclose(turn @ np.diag(axes**2) @ turn.T, matrix @ matrix.T)


def test_three_kernels(three_kernels):
    check_figure(left_right_symmetric, three_kernels, 6, 7)
    # First order on the circle for the left kernel: a factor of ten.
    left = three_kernels["circle_errors"][0]
    assert 0.9 < np.log10(left[1] / left[2]) < 1.1


def test_three_kernels_verdicts_follow_the_numbers(three_kernels):
    assert left_right_symmetric.claims(three_kernels)[0].verdict == "reproduced"
    worse = three_kernels | {
        "circle_errors": np.ones((3, 3)),
        "circle_medians": np.ones((3, 3)),
    }
    assert left_right_symmetric.claims(worse)[0].verdict == "not reproduced"
    healthy = three_kernels | {"torus_saturated": np.array([[1.0, 0.5, 0.0]] * 3)}
    assert left_right_symmetric.claims(healthy)[-1].verdict == "reproduced"


def test_uneven_circle(uneven):
    check_figure(nonuniform_circle, uneven, 2, 4)
    # Eight random neighbours tell ρ to a fifth; on a grid there is nothing random.
    assert uneven["grid_scatter"] < 0.05 < uneven["random_scatter"]
    # Halving ε halves the error on a grid.
    assert uneven["grid_errors"][0, 1] / uneven["grid_errors"][0, 2] == pytest.approx(2, rel=0.2)


def test_uneven_circle_verdicts_follow_the_numbers(uneven):
    drawn = np.asarray(uneven["random_errors"]).copy()
    drawn[:, -1] = 0.01
    assert nonuniform_circle.claims(uneven | {"random_errors": drawn})[0].verdict == "reproduced"
    flat = uneven | {"grid_errors": np.ones((2, 3))}
    assert nonuniform_circle.claims(flat)[0].verdict == "not reproduced"
    same = uneven | {f"{s}_errors_true_density": uneven[f"{s}_errors"] for s in ("grid", "random")}
    assert nonuniform_circle.claims(same)[2].verdict == "reproduced"
    off = uneven | {"potential_errors": np.array([0.1, 0.2, 0.4])}
    assert nonuniform_circle.claims(off)[3].verdict == "not reproduced"


def test_automatic_choice_is_the_papers():
    graph = vbdm.neighbors(vbdm.datasets.circle(300).points, 300)
    assert automatic(graph, fixed("laplacian"), 1).epsilon == vbdm.tune(graph).epsilon
    assert automatic(graph, Settings(0.25, -0.5), 1).rule == "slope"


def test_decades_ignore_failed_solves():
    assert decades_below([1e-3, 1e-2, 1e-1], [np.nan, 0.01, 0.5], 0.1) == pytest.approx(1.0)
