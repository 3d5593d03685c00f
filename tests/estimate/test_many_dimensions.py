"""Many dimensions: no sample resolves them, and the estimate stays smooth and near the truth."""

import numpy as np
import pytest

import vbdm
from vbdm.kernel.epsilon import degree_target
from vbdm.spectrum.limiter import may_be_limited


@pytest.fixture(scope="module")
def gaussian():
    points = np.random.default_rng(4100).normal(size=(1000, 8))
    return points, vbdm.estimate_operator(points, "generator").spectrum(9)


def test_modes_of_a_gaussian_are_its_coordinates(gaussian):
    points, spectrum = gaussian
    basis, _ = np.linalg.qr(points - points.mean(axis=0))
    found = spectrum.eigenfunctions[:, 1:] / np.sqrt(len(points))
    assert np.square(basis.T @ found).sum() / 8 > 0.95  # it was 0.85
    largest = np.sort(np.square(found), axis=0)[-10:].sum(axis=0)
    assert largest.max() < 0.2  # it was 0.46; that of a coordinate is 0.07


def test_its_eigenvalues_are_near_the_truth_and_inside_their_intervals(gaussian):
    spectrum = gaussian[1]
    np.testing.assert_allclose(spectrum.eigenvalues[1:9].mean(), -1, atol=0.15)
    lower, upper = spectrum.intervals().T[:, 1:9]
    assert ((lower < -1) & (upper > -1)).all()
    # The change with ε is read off masses that follow it.
    assert (np.abs(spectrum.errors.bias[1:]) < 0.3).all()


def test_few_dimensions_are_as_they_were():
    assert may_be_limited(vbdm.Limiter(), 6) == vbdm.Limiter().cap
    assert degree_target(10_000, 6) == pytest.approx(17)
    assert degree_target(10_000, 7.5) == pytest.approx(1.5 * 17)
    points = vbdm.datasets.ou(800, dim=2, random_state=0).points
    spectrum = vbdm.estimate_operator(points, "generator").spectrum(5)
    assert spectrum.limit.cut <= spectrum.limit.highest
    assert spectrum.limit.without_many is spectrum.limit


def test_a_model_of_many_dimensions_can_be_kept(gaussian, tmp_path):
    spectrum = gaussian[1]
    assert spectrum.limit.cut > spectrum.limit.highest
    spectrum.save(tmp_path / "model.vbdm")
    again = vbdm.load(tmp_path / "model.vbdm")
    np.testing.assert_array_equal(again.eigenvalues, spectrum.eigenvalues)
    assert again.limits == spectrum.limits
    np.testing.assert_array_equal(again.total_errors, spectrum.total_errors)
