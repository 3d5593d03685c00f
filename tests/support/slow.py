"""Mark some cases of a parametrised test as slow, where the test stands."""

import pytest


def with_slow(cases, *slow):
    """Return the cases, those given marked as slow; each of these must be there.

    A case is the value of a parameter, or a tuple of several.
    """
    cases = list(cases)
    assert set(slow) <= set(cases), f"no such cases: {set(slow) - set(cases)}"
    return [as_slow(case) if case in slow else case for case in cases]


def as_slow(case):
    """Return a case with the mark."""
    values = case if isinstance(case, tuple) else (case,)
    return pytest.param(*values, marks=pytest.mark.slow)
