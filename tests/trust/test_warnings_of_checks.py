"""Each doubt has its own warning, says what to do, and stays silent on healthy data."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import vbdm

D = vbdm.datasets


@pytest.mark.parametrize(
    "sample",
    [
        D.sphere(1500, axes=(1, 0.5, 0.3), random_state=1),
        D.circle(800, sampling="random", random_state=1),
        D.double_well(1500, random_state=1),
        D.interval(800, random_state=1),
    ],
    ids=lambda sample: sample.name,
)
def test_healthy_data_is_silent(sample):
    with warnings.catch_warnings():
        warnings.simplefilter("error", vbdm.VbdmWarning)
        spectrum = vbdm.estimate_operator(sample.points, sample.operator).spectrum(6)
    assert spectrum.left_out.size == 0
    assert not spectrum.errors.weak_links.any()


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_laplacian_of_a_gaussian(dim):
    points = D.ou(1500, dim=dim, random_state=2).points
    with pytest.warns(vbdm.errors.DensityTailWarning, match="operator='generator'"):
        vbdm.estimate_operator(points, "laplacian")


def test_noise_is_seen():
    with pytest.warns(vbdm.errors.NoiseWarning, match="give `dim`"):
        op = vbdm.estimate_operator(D.noisy_circle(2000, random_state=3).points)
    assert op.dimension.drift > 0.5
    assert 1.5 < op.tuning.dim < op.dim  # the kernel's scale looks through part of the noise


def test_student_tail_is_reported():
    """No spectral gap: whatever comes out, the result says that the tail is unresolved."""
    for seed in (4, 5, 6):
        op = vbdm.estimate_operator(D.student(3000, random_state=seed).points, "generator")
        with pytest.warns((vbdm.errors.UnresolvedWarning, vbdm.errors.WeakLinkWarning)):
            spectrum = op.spectrum(6)
        assert spectrum.unresolved.any()
        assert len(spectrum.eigenvalues) == 6


def test_outlying_modes_are_left_out_and_named():
    sample = D.with_outliers(D.ou(10_000, dim=2, random_state=3), random_state=4)
    op = vbdm.estimate_operator(sample.points, "generator")
    with pytest.warns(vbdm.errors.UnresolvedWarning, match="left out"):
        spectrum = op.spectrum(6)
    outliers = np.isnan(sample.density)
    assert spectrum.left_out.size >= 1
    assert spectrum.unresolved[outliers].mean() > 0.9


def test_a_thin_bridge_is_named():
    """Two squares joined by a row of points: the slow mode hangs on the row."""
    rng = np.random.default_rng(0)
    squares = rng.uniform(0, 1, (1400, 2))
    squares[700:, 0] += 2
    bridge = np.c_[np.linspace(1.02, 1.98, 30), np.full(30, 0.5)]
    op = vbdm.estimate_operator(np.concatenate([squares, bridge]), dim=2)
    with pytest.warns(vbdm.errors.WeakLinkWarning, match="Eigenvalue 1 hangs .* a bridge between"):
        spectrum = op.spectrum(4)
    assert spectrum.extent[1] < 6
    assert spectrum.errors.weak_links[1400:].mean() > 0.2
    assert spectrum.errors.weak_links[:1400].mean() < 0.1


def test_components_options():
    sample = D.clusters(900, separation=60.0, random_state=7)
    op = vbdm.estimate_operator(sample.points[:800], "generator")
    with pytest.raises(vbdm.InputError, match="2 pieces"):
        op.spectrum(4, components="error")
    with pytest.warns(vbdm.errors.DisconnectedWarning, match="400 points of others left out"):
        largest = op.spectrum(4, components="largest")
    assert (largest.eigenvalues[1:] < -0.5).all()
    np.testing.assert_array_equal(largest.unresolved >= (largest.components > 0), True)
    with pytest.raises(vbdm.InputError, match="components"):
        op.spectrum(4, components="some")


def test_warnings_point_at_the_users_own_line():
    """Also through the wrappers that scikit-learn puts around an estimator's methods."""
    points, far = D.ou(600, dim=2, random_state=0).points, [[50.0, 50.0]]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", vbdm.VbdmWarning)
        model = make_pipeline(vbdm.DiffusionMap(n_components=2)).fit(points)[0]
        model.transform(far)
        model.spectrum_.extend(far)
        vbdm.extend(model.spectrum_, far)
        model.spectrum_.operator.density_at(far)
        model.spectrum_.operator.extend(points, far)
    assert [warning.category.__name__ for warning in caught] == [
        "DensityTailWarning", *4 * ["OutsideWarning"],
    ]  # fmt: skip
    assert {warning.filename for warning in caught} == {__file__}
    assert len({warning.lineno for warning in caught}) == 5


def test_a_far_outlier_is_a_stray():
    X = D.ou(1500, dim=2, random_state=8).points.copy()
    X[5] = [1e4, 0.0]
    op = vbdm.estimate_operator(X, "generator")
    with pytest.warns(vbdm.errors.DisconnectedWarning, match="1 stray point"):
        spectrum = op.spectrum(4)
    assert spectrum.unresolved[5]
    assert spectrum.eigenvalues[1] < -0.8
    values = op @ X[:, 1]
    assert np.isnan(values[5])
    assert np.isfinite(np.delete(values, 5)).all()
