"""The plateau over ε: how far the first eigenvalues move when ε is doubled or halved."""

from dataclasses import replace

import numpy as np
import pytest
from tests.support.findings import found_in, light_of
from tests.support.findings import made_up_scan as table

import vbdm
from vbdm.trust.diagnose import diagnose


@pytest.fixture(scope="module")
def sphere():
    return vbdm.estimate_operator(vbdm.datasets.sphere(600, random_state=0).points).spectrum(5)


def test_plateau(sphere):
    name = "Plateau over ε"
    flat = [[0, 2.0, 6.0], [0, 2.02, 6.1], [0, 2.03, 6.1]]
    sloped = [[0, 1.0, 3.0], [0, 2.0, 6.0], [0, 4.0, 12.0]]
    gentle = [[0, 1.8, 5.4], [0, 2.0, 6.0], [0, 2.1, 6.1]]
    assert light_of(sphere, name, table(flat)) == "green"
    assert light_of(sphere, name, table(gentle)) == "amber"
    # The same movement inside the error bars is no news.
    assert light_of(sphere, name, table(gentle, errors=0.5)) == "green"
    assert light_of(sphere, name, table(sloped)) == "red"
    # A part of the points moves more than all of them would.
    assert light_of(sphere, name, table(sloped, n_points=100)) == "amber"
    lost = [[0, np.nan, 6.0], [0, 2.0, 6.0], [0, 2.0, 6.0]]
    assert light_of(sphere, name, table(lost)) == "red"
    both = [[0, np.nan, np.nan], [0, 2.0, 6.0], [0, 2.0, 6.0]]
    assert light_of(sphere, name, table(both)) == "red"
    later = [[0, 2.0, np.nan], [0, 2.0, 6.0], [0, 2.0, 6.0]]
    assert light_of(sphere, name, table(later)) == "amber"
    nothing = found_in(sphere, name, table([[0.0], [0.0], [0.0]]))
    assert nothing.words == "There are no eigenvalues to compare over ε."
    assert nothing.light == "amber"
    assert name not in {d.name for d in diagnose(sphere)}


def test_little_movement_that_exceeds_the_intervals_is_a_systematic_error(sphere):
    moved = table([[0, 2.0, 6.0], [0, 2.04, 6.12], [0, 2.05, 6.15]])
    found = found_in(sphere, "Plateau over ε", moved)
    assert found.light == "green"
    assert "systematic error of 2.0 %, which is more than the 95 % intervals allow" in found.words
    within = found_in(sphere, "Plateau over ε", replace(moved, standard_errors=np.ones((3, 3))))
    assert "less than the sampling errors" in within.words


def test_total_errors_may_allow_for_the_movement_but_do_not_change_the_light(sphere):
    """Intervals grow with the movement over ε: a wide one is no excuse for a steep slope."""
    rates = [[0, 2.0, 6.0], [0, 2.5, 7.5], [0, 2.5, 7.5]]
    # The two are members of one group here: their mean, 5, moves by 1.
    for totals, words in (
        (0.511, "The 95 % intervals allow for it"),
        (0.510, "more than the 95 % intervals allow for"),
        (np.nan, "systematic error of 20 %. More data"),  # a scan of an older version
    ):
        found = found_in(sphere, "Plateau over ε", table(rates, totals=totals))
        assert found.light == "amber"
        assert words in found.words


def test_a_lost_member_of_a_group_leaves_the_mean_of_the_others():
    """Eigenvalue 8 is not among the first five, but in the group of the fourth and the fifth."""
    points = vbdm.datasets.sphere(600, random_state=0).points
    spectrum = vbdm.estimate_operator(points).spectrum(9)
    assert [4, 5, 6, 7, 8] in [group.tolist() for group in spectrum.errors.groups]
    rates = np.tile([0, 2, 2, 2, 6, 6, 6, 6, 6.4], (3, 1))
    rates[0, 8] = np.nan
    found = found_in(spectrum, "Plateau over ε", table(rates))
    assert (found.light, found.value) == ("green", 0)


def test_the_plateau_names_what_was_compared(sphere):
    rates = [[0, 1.8], [0, 2.0], [0, 2.1]]
    assert "when ε is doubled or halved" in found_in(sphere, "Plateau over ε", table(rates)).words
    fours = replace(table(rates), epsilons=4.0 ** np.arange(3))
    words = found_in(sphere, "Plateau over ε", fours).words
    assert "when ε is multiplied by 4 or divided by 4" in words
    # On a finer grid the neighbours are nearer than a factor of two, and are passed over.
    fine = table([[0, 1.8], [0, 1.9], [0, 2.0], [0, 2.0], [0, 2.0]])
    fine = replace(fine, epsilons=2.0 ** (np.arange(5) / 2), chosen=2)
    assert found_in(sphere, "Plateau over ε", fine).value == pytest.approx(0.1)
    lost = replace(table([[0, 2.0], [0, 2.0], [0, np.nan]]), epsilons=3.0 ** np.arange(3))
    words = found_in(sphere, "Plateau over ε", lost).words
    assert "cannot be followed when ε is multiplied by 3" in words
    assert "no mode there is like it." in words
    several = replace(lost, eigenvalues=-np.array([[0, 1, 2.0], [0, 1, 2], [0, np.nan, np.nan]]))
    words = found_in(sphere, "Plateau over ε", several).words
    assert "Eigenvalues 1 and 2 cannot" in words
    assert "no mode there is like them." in words


def test_members_of_a_group_may_move_if_the_mean_stays(sphere):
    turned = table([[0, 1.8, 2.0, 2.2], [0, 1.9, 2.0, 2.1], [0, 2.0, 2.0, 2.0]])
    found = found_in(sphere.operator.spectrum(4), "Plateau over ε", turned)
    assert found.light == "green"
    assert "less than the sampling errors" in found.words
