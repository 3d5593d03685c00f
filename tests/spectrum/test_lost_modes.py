"""Modes whose eigenvalue is NaN, because they decay within one step of the kernel."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

import vbdm
from vbdm import DiffusionMap

#: A tail so heavy that only three of five modes have an eigenvalue.
TAIL = np.random.default_rng(0).pareto(2, size=(300, 1))


@pytest.fixture(scope="module")
def spectrum():
    found = vbdm.estimate_operator(TAIL, "generator").spectrum(6)
    assert 0 < np.isnan(found.eigenvalues).sum() < 5
    return found


def test_known_eigenfunctions_leave_them_out(spectrum):
    lost = np.isnan(spectrum.eigenvalues)
    known = spectrum.known_eigenfunctions
    assert np.isnan(known[:, lost]).all()
    np.testing.assert_array_equal(known[:, ~lost], spectrum.eigenfunctions[:, ~lost])


@pytest.mark.parametrize("time", [None, 0.1])
def test_their_coordinates_are_nan_or_for_a_classifier_0(time):
    model = DiffusionMap("generator", n_components=5, diffusion_time=time)
    embedding = model.fit_transform(TAIL)
    lost = np.isnan(model.eigenvalues_[1:])
    assert lost.any()
    assert np.isnan(embedding[:, lost]).all()
    assert np.isfinite(embedding[:, ~lost]).all()
    assert np.isnan(model.transform(TAIL[:5] + 0.01)[:, lost]).all()
    model.set_params(outside="nearest")
    assert (model.embedding_[:, lost] == 0).all()
    assert (model.transform(TAIL[:5] + 0.01)[:, lost] == 0).all()


def test_a_pipeline_has_no_nan_to_refuse():
    model = make_pipeline(
        DiffusionMap("generator", n_components=5, outside="nearest"), KNeighborsRegressor(3)
    )
    assert np.isfinite(model.fit(TAIL, TAIL[:, 0]).predict(TAIL + 0.01)).all()


def test_results_that_are_written_have_nan_there(spectrum, tmp_path):
    vbdm.results.write_results(tmp_path / "out", spectrum, figures=False, page=False)
    arrays = np.load(tmp_path / "out" / "results.npz")
    lost = np.isnan(arrays["eigenvalues"])
    np.testing.assert_array_equal(np.isnan(arrays["eigenfunctions"]).all(axis=0), lost)
    np.testing.assert_array_equal(np.isnan(arrays["eigenfunctions"]).any(axis=0), lost)


def test_so_do_cells(spectrum, tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = anndata.AnnData(np.zeros((300, 1), dtype=np.float32), obsm={"X_pca": TAIL})
    cells.write_h5ad(tmp_path / "cells.h5ad")
    cloud, _ = vbdm.io.prepare(vbdm.io.read(tmp_path / "cells.h5ad"))
    vbdm.io.write_anndata(tmp_path / "cells.h5ad", tmp_path / "out.h5ad", cloud, spectrum)
    written = anndata.read_h5ad(tmp_path / "out.h5ad")
    lost = np.isnan(written.uns["vbdm"]["eigenvalues"])
    np.testing.assert_array_equal(np.isnan(written.obsm["X_vbdm"]).all(axis=0), lost)
