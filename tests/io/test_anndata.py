"""AnnData: what scanpy keeps there can be read, and results go back where its users look."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix, issparse

import vbdm
from vbdm.errors import InputError
from vbdm.io import prepare, read, write_anndata

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")


def knn_matrix(points, k):
    """Distances as scanpy stores them: k - 1 per row, not symmetric, no diagonal, float32."""
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    near = np.argsort(distances, axis=1)[:, 1:k]
    rows = np.repeat(np.arange(len(points)), k - 1)
    values = np.take_along_axis(distances, near, axis=1).astype(np.float32)
    return csr_matrix((values.ravel(), (rows, near.ravel())), shape=distances.shape)


@pytest.fixture
def cells(tmp_path):
    """Cells on a circle, with coordinates and neighbours."""
    points = vbdm.datasets.circle(400, random_state=0).points
    adata = anndata.AnnData(
        csr_matrix(np.random.default_rng(0).poisson(1.0, (400, 5)).astype(np.float32)),
        obs=pd.DataFrame({"type": ["a", "b"] * 200}, index=[f"cell{i}" for i in range(400)]),
        var=pd.DataFrame(index=[f"gene{i}" for i in range(5)]),
        obsm={"X_pca": points, "frame": pd.DataFrame(points, columns=["u", "v"],
              index=[f"cell{i}" for i in range(400)])},
        obsp={"distances": knn_matrix(points, 30), "connectivities": csr_matrix(np.eye(400))},
    )  # fmt: skip
    adata.write_h5ad(tmp_path / "cells.h5ad")
    return adata, tmp_path / "cells.h5ad"


def test_coordinates(cells):
    adata, path = cells
    table = read(path)
    np.testing.assert_array_equal(table.values, adata.obsm["X_pca"])
    assert table.names == ("X_pca0", "X_pca1")
    assert table.source.selection == {"key": "obsm/X_pca"}
    frame = read(path, key="frame", columns="v")
    assert frame.names == ("v",)
    np.testing.assert_array_equal(frame.values[:, 0], adata.obsm["X_pca"][:, 1])
    genes = read(path, key="X")
    assert genes.names[1] == "gene1"
    np.testing.assert_array_equal(genes.values, adata.X.toarray())
    with pytest.raises(InputError, match=r"no such matrix.*X, obsm/X_pca, obsm/frame"):
        read(path, key="X_umap")
    with pytest.raises(InputError, match=r"key='obsm/X_pca'\.$"):
        read(path, key="pca")


def test_what_was_used_is_said_unless_it_was_asked_for(cells):
    _, path = cells
    cloud, _ = prepare(read(path))
    assert cloud.notes == ("X_pca of obsm was used; `key` takes obsm/frame, obsp/distances, X.",)
    assert prepare(read(path, key="X_pca"))[0].notes == ()


def test_without_pca_the_choice_is_asked_for(cells, tmp_path):
    adata, _ = cells
    del adata.obsm["X_pca"]
    adata.write_h5ad(tmp_path / "b.h5ad")
    with pytest.raises(InputError, match="Which matrix is meant"):
        read(tmp_path / "b.h5ad")
    del adata.obsm["frame"], adata.obsp["distances"]
    adata.write_h5ad(tmp_path / "c.h5ad")
    assert read(tmp_path / "c.h5ad").values.shape == (400, 5)


def test_neighbours_of_scanpy_are_enough(cells):
    _, path = cells
    table = read(path, key="distances")
    assert issparse(table.values)
    assert (table.metric, table.names) == ("precomputed", ())
    cloud, preparation = prepare(table)
    spectrum = vbdm.estimate_operator(cloud.points, metric=cloud.metric).spectrum(3)
    # Truth: 0, -1, -1; few neighbours and 400 points give 10 %.
    np.testing.assert_allclose(spectrum.eigenvalues, [0, -1, -1], atol=0.1)
    assert type(preparation).from_dict(preparation.as_dict()) == preparation
    with pytest.raises(InputError, match="from distances"):
        preparation.apply(table)


@pytest.mark.parametrize(
    "settings",
    [{"columns": "0"}, {"standardize": True}, {"delays": 2}, {"subsample": 9}, {"every": 2}],
)
def test_distances_are_taken_as_they_are(cells, settings):
    _, path = cells
    with pytest.raises(InputError, match="matrix of distances"):
        prepare(read(path, key="distances"), **settings)
    if "columns" in settings:
        with pytest.raises(InputError, match="matrix of distances"):
            read(path, key="distances", columns="0")


def test_new_points_are_never_distances(cells):
    _, path = cells
    _, preparation = prepare(read(path))
    again = read(path, key="obsp/distances", columns=preparation)
    assert again.metric == "precomputed"
    with pytest.raises(InputError, match="cannot be prepared from distances"):
        preparation.apply(again)


def test_results_go_back(cells, tmp_path):
    adata, path = cells
    cloud, _ = prepare(read(path), every=2)
    spectrum = vbdm.estimate_operator(cloud.points, dim=1).spectrum(4)
    before = path.read_bytes()
    out = tmp_path / "out.h5ad"
    settings = {"operator": "laplacian", "period": None, "columns": ["a", "b"], "delays": 1}
    write_anndata(path, out, cloud, spectrum, params=settings)
    assert path.read_bytes() == before
    back = anndata.read_h5ad(out)
    np.testing.assert_array_equal(back.obsm["X_vbdm"][::2], spectrum.eigenfunctions[:, 1:])
    assert np.isnan(back.obsm["X_vbdm"][1::2]).all()
    np.testing.assert_array_equal(back.obs["vbdm_density"][::2], spectrum.operator.density)
    found = back.uns["vbdm"]
    np.testing.assert_array_equal(found["eigenvalues"], spectrum.eigenvalues[1:])
    np.testing.assert_array_equal(found["standard_errors"], spectrum.standard_errors[1:])
    np.testing.assert_array_equal(found["total_errors"], spectrum.total_errors[1:])
    np.testing.assert_array_equal(found["intervals"], spectrum.intervals()[1:])
    assert found["epsilon"] == spectrum.operator.epsilon
    assert found["dim"] == spectrum.operator.dim
    assert found["params"] == {"operator": "laplacian", "columns": '["a", "b"]', "delays": 1}
    assert (back.obs["type"] == adata.obs["type"]).all()
    np.testing.assert_array_equal(back.X.toarray(), adata.X.toarray())
    assert not list(tmp_path.glob(".*"))


def test_nothing_is_overwritten(cells, tmp_path, monkeypatch):
    _, path = cells
    cloud, _ = prepare(read(path))
    spectrum = vbdm.estimate_operator(cloud.points, dim=1).spectrum(3)
    with pytest.raises(InputError, match="exists already"):
        write_anndata(path, path, cloud, spectrum)

    def full_disk(self, target):
        target.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(anndata.AnnData, "write_h5ad", full_disk)
    with pytest.raises(OSError, match="No space"):
        write_anndata(path, tmp_path / "out.h5ad", cloud, spectrum)
    assert [p.name for p in tmp_path.iterdir()] == ["cells.h5ad"]


def test_results_of_another_file_are_refused(cells, tmp_path):
    adata, path = cells
    cloud, _ = prepare(read(path))
    spectrum = vbdm.estimate_operator(cloud.points, dim=1).spectrum(3)
    adata[:300].write_h5ad(tmp_path / "other.h5ad")
    with pytest.raises(InputError, match="300 observations, where 400"):
        write_anndata(tmp_path / "other.h5ad", tmp_path / "out.h5ad", cloud, spectrum)


def test_the_layout_of_old_files(cells, tmp_path):
    """Before AnnData 0.7 the matrices of obsm were fields of one table."""
    h5py = pytest.importorskip("h5py")
    adata, path = cells
    points = adata.obsm["X_pca"].astype(np.float32)
    table = np.empty(len(points), [("X_pca", "f4", (2,)), ("X_umap", "f8", (2,))])
    table["X_pca"], table["X_umap"] = points, 3 * points
    with h5py.File(path, "r+") as file:
        del file["obsm"]
        file["obsm"] = table
    with pytest.raises(InputError, match=r"layout from before AnnData 0\.7.*read_h5ad"):
        read(path)
