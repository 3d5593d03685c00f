"""Rules for ε, the dimension and the bandwidth: ours as objects, and rules of the user's own."""

from dataclasses import dataclass

import numpy as np
import pytest

import vbdm


@pytest.fixture(scope="module")
def circle():
    return vbdm.datasets.circle(300, random_state=0).points


@pytest.mark.parametrize("number", [np.float64(0.01), np.float32(0.01), np.array(0.01)])
def test_numbers_of_numpy_are_no_rules(circle, number):
    """They have a method `choose`, as a rule for ε has."""
    op = vbdm.estimate_operator(circle, epsilon=number)
    assert op.tuning.rule == "given"
    assert op.epsilon == float(number)
    with pytest.raises(vbdm.InputError, match="epsilon"):
        vbdm.estimate_operator(circle, epsilon=np.array([0.01, 0.02]))


@dataclass(frozen=True)
class TenthNeighbor:
    """ε from the typical scaled distance of the tenth neighbour; it says nothing about itself."""

    factor: float = 0.25

    def choose(self, pairs):
        distances = np.concatenate([scaled[:, 10] for scaled in pairs.blocks()])
        return vbdm.rules.Tuning(self.factor * float(np.median(distances)))


@dataclass(frozen=True)
class NextWhole:
    """The estimate from neighbour distances, rounded."""

    def estimate(self, graph, rho0):
        found = vbdm.rules.ByRatios().estimate(graph, rho0)
        return vbdm.rules.Dimension(float(round(found.value)))


def test_what_a_rule_of_ones_own_found_was_not_given(circle):
    spectrum = vbdm.estimate_operator(circle, epsilon=TenthNeighbor(), dim=NextWhole()).spectrum(3)
    op = spectrum.operator
    assert op.tuning.rule == "TenthNeighbor"
    assert op.dimension.credit.name == "NextWhole"
    told = vbdm.report.methods_paragraph(spectrum)
    assert "dimension d = 1 was found by the rule NextWhole." in told
    assert f"= {op.epsilon:.3g} was chosen by the rule TenthNeighbor;" in told
    assert "given" not in told
    shown = vbdm.report.page(spectrum)
    assert "ε was chosen by the rule TenthNeighbor, and no other was looked at" in shown
    assert "<span>found by the rule NextWhole</span>" in shown
    assert "ε was given" not in shown
