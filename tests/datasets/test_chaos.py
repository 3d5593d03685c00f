"""The Lorenz system: the right equations, the right order, the attractor, and delays."""

import numpy as np
import pytest

from vbdm.datasets import Trajectory, lorenz63


def test_the_flow_has_the_right_velocity():
    """Central differences of the states, against the equations themselves."""
    fine = lorenz63(400, step=1e-3, substeps=1, random_state=1)
    x, y, z = fine.points[1:-1].T
    expected = np.column_stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])
    measured = (fine.points[2:] - fine.points[:-2]) / 2e-3
    # Second order in the step; accelerations of third order reach 1e5.
    assert np.abs(measured - expected).max() < 0.05


def test_order_four():
    """Halving the inner step divides the error of a short flight by 16."""
    ends = [
        lorenz63(2, step=0.4, burn_in=0, substeps=n, random_state=0).points[-1]
        for n in (20, 40, 640)
    ]
    errors = [np.linalg.norm(end - ends[-1]) for end in ends[:2]]
    assert 3.5 < np.log2(errors[0] / errors[1]) < 4.5


def test_on_the_attractor():
    points = lorenz63(4000, random_state=0).points
    # Known means of the system, to what a time of 400 can tell.
    assert points[:, 2].mean() == pytest.approx(23.55, abs=0.5)
    assert abs(points[:, 0].mean()) < 1.5
    # The absorbing ellipsoid ρx² + σy² + σ(z - 2ρ)² <= const contains every state.
    x, y, z = points.T
    assert (28 * x**2 + 10 * y**2 + 10 * (z - 56) ** 2).max() < 10 * 56**2 * 1.2
    assert (points[:, 0] > 0).mean() == pytest.approx(0.5, abs=0.1)


def test_deterministic_and_frozen():
    first, again = lorenz63(200, random_state=3), lorenz63(200, random_state=3)
    assert np.array_equal(first.points, again.points)
    assert not np.allclose(first.points, lorenz63(200, random_state=4).points)
    assert isinstance(first, Trajectory)
    assert not first.points.flags.writeable
    assert np.allclose(np.diff(first.times), 0.1)


def test_delays():
    trajectory = lorenz63(100, random_state=0)
    rows = trajectory.delayed(4, lag=3, column=1)
    y = trajectory.points[:, 1]
    assert rows.shape == (91, 4)
    assert np.array_equal(rows[0], y[[9, 6, 3, 0]])
    assert np.array_equal(rows[-1], y[[99, 96, 93, 90]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: lorenz63(0), "n_samples"),
        (lambda: lorenz63(5, step=-1.0), "step"),
        (lambda: lorenz63(5, burn_in=np.nan), "burn_in"),
        (lambda: lorenz63(5, substeps=0), "substeps"),
        (lambda: lorenz63(50, step=5.0, substeps=1), "infinity"),
        (lambda: lorenz63(5, burn_in=1e300), "more than 10.300"),
        (lambda: lorenz63(5).delayed(0), "n_delays"),
        (lambda: lorenz63(5).delayed(6), "too short"),
        (lambda: lorenz63(5).delayed(2, column=3), "column"),
    ],
)
def test_errors_say_what_is_wrong(call, message):
    with pytest.raises(ValueError, match=message):
        call()
