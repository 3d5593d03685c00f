"""The check of the columns' scales: units are noticed; noise, rotations and long shapes are not."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.decomposition import PCA

import vbdm
from vbdm.trust.operator_checks import scales_of

D = vbdm.datasets


def rng():
    """Return numbers that do not depend on which cases ran before."""
    return np.random.default_rng(4100)


def people():
    random = rng()
    height = random.normal(1.7, 0.1, 400)
    grams = 1000 * (70 + 80 * (height - 1.7) + random.normal(0, 8, 400))
    return np.c_[height, grams, random.integers(18, 80, 400)]


def rotated(X, part=slice(None)):
    return PCA(random_state=0).fit_transform(X)[part]


def angles():
    return rng().uniform(0, 20, 600)


def noise(shape):
    return np.random.default_rng(4101).normal(size=shape)


IN_UNITS = {
    "diabetes with its target": lambda: np.c_[load_diabetes(return_X_y=True)],
    "wine": lambda: load_wine().data,
    "breast cancer": lambda: load_breast_cancer().data,
    "people": people,
    "independent columns": lambda: rng().uniform(size=(500, 3)) * [1, 1000, 30],
    "two columns": lambda: D.ou(600, dim=2, random_state=4100).points * [1, 500],
}
OF_ONE_SPACE = {
    "circle": lambda: D.circle(600, random_state=4100).points,
    "ellipse": lambda: D.ellipse(600, random_state=4100).points,
    "clusters": lambda: D.clusters(600, random_state=4100).points,
    "swiss roll": lambda: D.swiss_roll(800, random_state=4100).points,
    "noise around a circle": lambda: D.noisy_circle(600, random_state=4100).points,
    "delays": lambda: D.lorenz63(1000).delayed(8),
    "helix": lambda: np.c_[np.cos(t := angles()), np.sin(t), 5 * t],
    "line in noise": lambda: np.c_[angles(), 0.01 * noise((600, 3))],
    "thick plane": lambda: np.c_[rng().uniform(size=(600, 2)), 0.002 * noise(600)],
    "principal components": lambda: rotated(load_wine().data),
    "those of a part": lambda: rotated(load_breast_cancer().data, slice(0, 569, 2)),
    "standardised": lambda: load_wine().data / load_wine().data.std(axis=0),
}


@pytest.mark.parametrize("name", IN_UNITS)
def test_columns_in_other_units_are_noticed(name):
    with pytest.warns(vbdm.errors.ScaleWarning, match=r"X\.std\(axis=0\), or `standardize`"):
        vbdm.estimate_operator(IN_UNITS[name]())


@pytest.mark.parametrize("name", OF_ONE_SPACE)
def test_columns_of_one_space_may_differ(name):
    found = scales_of(vbdm.estimate_operator(OF_ONE_SPACE[name]()))
    assert found is not None
    assert not found.hide_others


def test_the_column_and_its_share_are_named():
    with pytest.warns(
        vbdm.errors.ScaleWarning, match="Of 13 columns, column 12 has 99.8 % of all sq"
    ):
        op = vbdm.estimate_operator(load_wine().data)
    light = next(f.light for f in vbdm.diagnose(op.spectrum(3)) if f.name == "Columns")
    assert light == "amber"


def test_enough_points_resolve_a_thin_column():
    strip = rng().uniform(size=(4000, 2)) * [40, 1]
    assert not scales_of(vbdm.estimate_operator(strip)).hide_others
    assert scales_of(vbdm.estimate_operator(strip[:150])).hide_others


def test_angles_and_distances_have_no_scales():
    turns = rng().uniform(size=(300, 2)) * [1, 1000]
    assert scales_of(vbdm.estimate_operator(turns, period=[None, 1000])) is None
    far = np.linalg.norm(turns[:, None] - turns, axis=2)
    assert scales_of(vbdm.estimate_operator(far, metric="precomputed")) is None
