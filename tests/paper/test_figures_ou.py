"""The figures of Sections 3 and 4, tiny: they compute, draw, and judge by their numbers."""

import numpy as np
import pytest

import paper
from paper import (
    base,
    ou_large,
    ou_outliers,
    ou_plane,
    ou_random,
    ou_sensitivity,
    section3,
)
from paper.ou import GOOD, H3

#: Module, its arguments for a tiny run, panels, colour bars included.
CASES = {
    "section3": (section3, {"n_points": 200}, 3),
    "ou_sensitivity": (ou_sensitivity, {"n_points": 200}, 4),
    "ou_large": (ou_large, {"n_points": 400}, 3),
    "ou_outliers": (ou_outliers, {"sizes": (200, 400, 800)}, 2),
    "ou_random": (ou_random, {"n_points": 300, "n_sets": 2}, 4),
    "ou_plane": (ou_plane, {"n_points": 250}, 6),
}


@pytest.fixture(scope="module")
def numbers():
    return {
        name: module.compute(quick=True, **size) for name, (module, size, _) in CASES.items()
    }  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_figures_compute_draw_and_judge(name, numbers):
    module, _, n_panels = CASES[name]
    assert paper.load(name) is module
    assert all(np.asarray(value).dtype.kind in "fiu" for value in numbers[name].values())
    assert len(module.draw(numbers[name]).axes) == n_panels
    claims = module.claims(numbers[name])
    assert claims
    for claim in claims:
        assert claim.verdict in ("reproduced", "not reproduced", "depends")
        assert all((claim.where, claim.statement, claim.printed, claim.found, claim.why))


def changed(numbers, **values):
    return {**numbers, **values}


def verdicts(module, numbers):
    return [claim.verdict for claim in module.claims(numbers)]


def whole(numbers, key, value):
    return {key: np.full_like(numbers[key], value)}


def rates(numbers, **values):
    """Return a fourth eigenvalue that is the same at every ε, for each kernel named."""
    made = {key: np.zeros_like(numbers[key]) for key in values}
    for key, value in values.items():
        made[key][:, H3] = value
    return made


def at_the_wall(numbers, absorbing):
    edge = float(numbers["edge"][-1])
    near = 0.6 if absorbing else 0.4
    walls = [ou_outliers.interval_rates(edge, kind)[1] for kind in (True, False)]
    return {"eigenvalues": np.full((3, 5), near * walls[0] + (1 - near) * walls[1])}


def three(last, first=0.1):
    return np.array([first, 0.05, last])


def cut_lists(worst):
    return {"counts": np.array([16, 64, 200]), "count_saturated": np.array([0.5, 0, 0]),
            "count_rates": -3 * np.array([9, worst, 1])}  # fmt: skip


def plateau(last):
    errors = {f"k0_{k0}_errors": np.array([1e-3]) for k0 in section3.DENSITY_NEIGHBORS}
    return errors | {"k0_64_errors": np.array([last]), "epsilons": np.array([section3.PLATEAU])}


def sets(**values):
    return {f"{name}_best": np.array(value) for name, value in values.items()}


LESS, MORE = 0.99, 1.01
#: Figure and claim: numbers for which it is reproduced, and numbers for which it is not.
FLIPS = {
    ("section3", 0): (lambda n: plateau(1e-3), lambda n: plateau(GOOD * MORE)),
    ("section3", 1): (lambda n: cut_lists(1.019), lambda n: cut_lists(1.021)),
    ("section3", 3): (lambda n: {"pilot_ratio": 0.099}, lambda n: {"pilot_ratio": 0.101}),
    ("section3", 4): (
        lambda n: {"eigenvector_residual": 0.9e-8}, lambda n: {"eigenvector_residual": 1.1e-8},
    ),
    ("ou_sensitivity", 0): (
        lambda n: whole(n, "fixed_errors", GOOD * LESS),
        lambda n: whole(n, "fixed_errors", GOOD * MORE),
    ),
    ("ou_sensitivity", 1): (
        lambda n: whole(n, "fixed_errors", 0.2) | whole(n, "variable_errors", 0.1 * LESS),
        lambda n: whole(n, "fixed_errors", 0.2) | whole(n, "variable_errors", 0.1 * MORE),
    ),
    ("ou_sensitivity", 2): (
        lambda n: whole(n, "fixed_errors", 1.0) | whole(n, "variable_errors", 1e-3),
        lambda n: whole(n, "fixed_errors", 1e-3) | whole(n, "variable_errors", 1.0),
    ),
    ("ou_sensitivity", 3): (
        lambda n: rates(n, variable_eigenvalues=-3.1, fixed_eigenvalues=-3.2),
        lambda n: rates(n, variable_eigenvalues=-3.1, fixed_eigenvalues=-3.1),
    ),
    ("ou_large", 0): (
        lambda n: whole(n, "fixed_errors", 0.1 * MORE) | whole(n, "few_errors", 0.1 * MORE),
        lambda n: whole(n, "fixed_errors", 0.1 * LESS) | whole(n, "few_errors", 0.1 * LESS),
    ),
    ("ou_large", 1): (
        lambda n: whole(n, "variable_errors", GOOD * LESS),
        lambda n: whole(n, "variable_errors", GOOD * MORE),
    ),
    ("ou_large", 2): (
        lambda n: whole(n, "fixed_errors", 0.5) | whole(n, "fewer_points_errors", 0.49),
        lambda n: whole(n, "fixed_errors", 0.5) | whole(n, "fewer_points_errors", 0.51),
    ),
    ("ou_outliers", 0): (
        lambda n: {"variable": 0.0029, "variable_all": 0.0029},
        lambda n: {"variable": 0.0031, "variable_all": 0.0031},
    ),
    ("ou_outliers", 1): (
        lambda n: {"removed": 0.002 * (np.asarray(n["sizes"]) / 5.9e8) ** -0.5},
        lambda n: {"removed": 0.002 * (np.asarray(n["sizes"]) / 6.1e8) ** -0.5},
    ),
    ("ou_outliers", 2): (
        lambda n: {"removed": three(0.0101)}, lambda n: {"removed": three(0.0099)},
    ),
    ("ou_outliers", 3): (
        lambda n: {"removed": three(0.01), "kept": three(0.01, first=0.101)},
        lambda n: {"removed": three(0.01), "kept": three(0.01, first=0.099)},
    ),
    ("ou_outliers", 4): (lambda n: at_the_wall(n, True), lambda n: at_the_wall(n, False)),
    ("ou_random", 0): (
        lambda n: sets(fixed=[0.101, 0.2]),
        lambda n: sets(fixed=[0.099, 0.09]) | whole(n, "few_errors", 0.09),
    ),
    ("ou_random", 1): (
        lambda n: sets(fixed=[0.2, 0.3], variable=[0.19, 0.29]),
        lambda n: sets(fixed=[0.2, 0.3], variable=[0.21, 0.31]) | whole(n, "few_errors", 0.2),
    ),
    ("ou_random", 2): (
        lambda n: sets(variable=[0.1, 0.2], fewer=[0.1, 0.21]),
        lambda n: sets(variable=[0.1, 0.2], fewer=[0.1, 0.19]),
    ),
    ("ou_random", 3): (
        lambda n: sets(variable=[0.1, 0.1, 0.1, 0.31], fixed=[1.0] * 4),
        lambda n: sets(variable=[0.1, 0.1, 0.1, 0.29], fixed=[1.0] * 4),
    ),
    ("ou_plane", 0): (
        lambda n: whole(n, "variable_errors", 0.1 * LESS),
        lambda n: whole(n, "variable_errors", 0.1 * MORE),
    ),
    ("ou_plane", 1): (
        lambda n: whole(n, "fixed_errors", 0.1 * MORE) | whole(n, "cut_errors", 0.1 * MORE),
        lambda n: whole(n, "fixed_errors", 0.1 * LESS) | whole(n, "cut_errors", 0.1 * LESS),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("name", "claim"), FLIPS)
def test_numbers_decide_every_claim(name, claim, numbers):
    module, made = CASES[name][0], numbers[name]
    for change, outcome in zip(FLIPS[name, claim], ("reproduced", "not reproduced"), strict=True):
        assert verdicts(module, changed(made, **change(made)))[claim] == outcome


def test_no_claim_is_forgotten(numbers):
    every = {(name, i) for name in CASES for i in range(len(CASES[name][0].claims(numbers[name])))}
    # The third of Section 3 is arithmetic, and says so.
    assert every - set(FLIPS) == {("section3", 2)}
    assert "no computed number" in section3.claims(numbers["section3"])[2].why


def test_the_reason_follows_the_numbers_of_the_wall(numbers):
    found = numbers["ou_outliers"]
    reasons = [
        ou_outliers.claims(changed(found, **at_the_wall(found, kind)))[4].why
        for kind in (True, False)
    ]
    assert ["the edge reflects" in why for why in reasons] == [False, True]
    assert ["absorbing edge" in why for why in reasons] == [True, False]


def test_verdicts_follow_the_numbers_of_the_sensitivity(numbers):
    found = numbers["ou_sensitivity"]
    bad, good = (np.full_like(found["fixed_errors"], value) for value in (1.9, 1e-3))
    assert verdicts(ou_sensitivity, changed(found, fixed_errors=bad))[0] == "not reproduced"
    assert verdicts(ou_sensitivity, changed(found, fixed_errors=good))[0] == "reproduced"
    mixed = changed(found, fixed_errors=np.full_like(bad, 0.05),
                    variable_errors=np.where(np.arange(len(bad)) < 4, 1e-3, 1.0))  # fmt: skip
    assert verdicts(ou_sensitivity, mixed)[2] == "depends"


def test_verdicts_follow_the_numbers_of_many_points(numbers):
    found = numbers["ou_large"]
    bad = np.full_like(found["fixed_errors"], 1.0)
    cut = np.full_like(found["few_errors"], 1.0)
    assert verdicts(ou_large, changed(found, fixed_errors=bad, few_errors=cut))[0] == "reproduced"
    assert verdicts(ou_large, changed(found, fixed_errors=bad / 99, few_errors=cut))[0] == "depends"


def test_the_power_law_is_extrapolated(numbers):
    sizes = np.array([1e3, 1e4, 1e5])
    printed = 0.002 * (sizes / 6e7) ** -0.5
    made = changed(numbers["ou_outliers"], sizes=sizes, removed=printed)
    assert ou_outliers.points_needed(made, 0.002) == pytest.approx(6e7)
    assert verdicts(ou_outliers, made)[1] == "reproduced"
    assert verdicts(ou_outliers, changed(made, removed=printed[::-1]))[1] == "not reproduced"


def test_the_outermost_points_are_removed():
    x = np.array([-5.0, -1, -0.5, 0, 0.2, 0.4, 0.6, 0.8, 4.0])
    assert ou_outliers.without_outliers(x).tolist() == [-0.5, 0, 0.2, 0.4, 0.6, 0.8]


def test_walls_of_an_interval():
    """Half of the Dirichlet modes of OU on the line between zeros of H2 are known: -2 first."""
    assert ou_outliers.interval_rates(1.0, absorbing=True)[0] == pytest.approx(-2, abs=1e-3)
    assert ou_outliers.interval_rates(1.0, absorbing=False)[0] == pytest.approx(0, abs=1e-9)


def test_verdicts_follow_the_numbers_of_random_sets(numbers):
    found = numbers["ou_random"]
    none = changed(found, fixed_best=np.array([0.5, 0.6]), variable_best=np.array([0.01, 0.9]))
    assert verdicts(ou_random, none)[:2] == ["reproduced", "depends"]
    some = changed(found, fixed_best=np.array([0.05, 0.6]))
    assert verdicts(ou_random, some)[0] == "depends"
    every = changed(found, fixed_best=np.array([0.05, 0.06]), few_errors=np.array([0.05]))
    assert verdicts(ou_random, every)[0] == "not reproduced"


def test_verdicts_follow_the_numbers_of_the_plane(numbers):
    found = numbers["ou_plane"]
    small = np.full_like(found["variable_errors"], 0.01)
    assert verdicts(ou_plane, changed(found, variable_errors=small))[0] == "reproduced"
    assert verdicts(ou_plane, changed(found, variable_errors=100 * small))[0] == "not reproduced"


def test_verdicts_follow_the_numbers_of_section_3(numbers):
    found = numbers["section3"]
    one = {"epsilons": np.array([section3.PLATEAU])}
    errors = {f"k0_{k0}_errors": np.array([1e-3]) for k0 in section3.DENSITY_NEIGHBORS} | one
    assert verdicts(section3, changed(found, **errors))[0] == "reproduced"
    errors["k0_64_errors"] = np.array([5e-3])
    assert verdicts(section3, changed(found, **errors))[0] == "depends"
    errors["k0_64_errors"] = np.array([0.5])
    assert verdicts(section3, changed(found, **errors))[0] == "not reproduced"


def test_settings_are_those_of_the_paper():
    assert base.variable("generator", 2) == base.Settings(-0.5, -0.5)
    assert base.variable("laplacian", 1) == base.Settings(0.25, -0.5)
    assert base.fixed("laplacian") == base.Settings(1.0, 0.0)
