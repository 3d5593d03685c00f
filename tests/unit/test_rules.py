"""Rules for ε, the dimension and the bandwidth: ours as objects, and rules of the user's own."""

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
