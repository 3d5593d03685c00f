"""Numbers and counts in words: few digits, one form for a column, no plural of one."""

from fractions import Fraction

import numpy as np
import pytest

from vbdm.base.checks import a_switch, accepts, shown
from vbdm.base.files import plain
from vbdm.base.wording import common_style, counted, listed, one_of, percent, subscript, with_error


def mean_first_passage(kappa):
    """Stand for a function whose arguments are checked."""
    return kappa


def test_words():
    assert listed(np.array([3])) == "3"
    assert listed(np.array([1, 2, 5])) == "1, 2 and 5"
    assert listed(np.arange(20)).endswith("…")
    assert [percent(x) for x in (0, 0.0004, 0.0123, 0.42)] == [
        "0 %", "less than 0.1 %", "1.2 %", "42 %",
    ]  # fmt: skip
    assert percent(np.nan) == "an unknown share"
    assert subscript(12) == "₁₂"
    assert [counted(n, "point") for n in (0, 1, 1200)] == ["0 points", "1 point", "1,200 points"]
    assert [one_of(things, "it", "them") for things in ([1], [1, 2])] == ["it", "them"]


def test_whatever_is_shown_or_saved_has_words():
    """Python writes no whole numbers of thousands of digits."""
    assert shown(10**5000).endswith(" int")
    assert shown("a" * 100) == "'" + "a" * 78 + "…"
    assert plain({"share": Fraction(1, 3), 1: (np.float64(0.5),)}) == {
        "share": "1/3", "1": [0.5],
    }  # fmt: skip


def test_arguments_that_a_function_does_not_have_are_told_by_python():
    with pytest.raises(TypeError, match=r"mean_first_passage\(\) got an unexpected.*'into'"):
        accepts(kappa=a_switch)(mean_first_passage)(kappa=True, into=3)


def test_no_absurd_digits():
    assert with_error(1.1323381728811555, 4.4e-16) == "1.132"
    assert with_error(2.04, 0.02) == "2.04 ± 0.02"
    assert with_error(2.0, float("nan")) == "2"


def test_a_column_has_one_power_of_ten_and_as_many_decimals():
    style = common_style([0.0, -2e-7, -5.5e-6], [0.0, 3e-9, 1e-8])
    shown = [style.show(value) for value in (-2e-7, -5.5e-6)]
    assert shown == ["−0.2000·10⁻⁶", "−5.5000·10⁻⁶"]
    assert style.show(0.0) == "0"
    assert style.show(np.nan) == "—"
    # Errors far below the digits that make sense are not written as 0.
    assert common_style([-1.0], [1e-12]).show_error(1e-12) == "less than 0.00001"
