"""Fields of AnnData objects, on a stand-in: what is set, against the truth, and what is refused."""

import numpy as np
import pytest
from tests.support.stand_ins import Cells

import vbdm
from vbdm.errors import InputError

single_cell = vbdm.single_cell


@pytest.fixture(scope="module")
def wells():
    """Cells in two wells, with labels of the wells' outer halves."""
    x = vbdm.datasets.double_well(3000, random_state=0).points
    label = np.select([x[:, 0] < -1, x[:, 0] > 1], ["left", "right"], "between")
    return Cells({"X_pca": x}, {"type": label})


@pytest.fixture(scope="module")
def op(wells):
    return vbdm.estimate_operator(wells.obsm["X_pca"], "generator")


def test_fates_are_committors(wells, op):
    found = single_cell.fate_probabilities(wells, "type", ["left", "right"], operator=op, copy=True)
    x = wells.obsm["X_pca"][:, 0]
    log_density = lambda y: -2 * (y**2 - 1) ** 2  # noqa: E731
    known = vbdm.datasets.line_transition(log_density, -1, 1, low=-2.6, high=2.6)
    fates = found.obsm["X_fate"]
    assert np.sqrt(np.mean((fates[:, 1] - known.committor(x)) ** 2)) < 0.02
    np.testing.assert_allclose(fates.sum(axis=1), 1.0, atol=1e-5)
    priming = found.obs["vbdm_fate_priming"]
    assert np.median(priming[np.abs(x) < 0.1]) < 0.1
    assert priming[np.abs(x) > 1].min() > 0.999
    assert found.uns["vbdm"]["fate"]["names"].tolist() == ["left", "right"]
    assert list(wells.obsm) == ["X_pca"]
    assert not wells.uns


def test_the_operator_is_estimated_if_none_is_given(wells, op):
    changed = wells.copy()
    assert single_cell.diffmap(changed, 3, key_added="own") is None
    assert changed.obsm["X_own"].shape == (3000, 3)
    np.testing.assert_allclose(changed.uns["own"]["eigenvalues"], op.spectrum(4).eigenvalues[1:])
    np.testing.assert_array_equal(changed.obs["own_density"], op.density)


def test_several_labels_are_one_fate(wells, op):
    both = {"out": ["left", "right"], "in": ["between"]}
    found = single_cell.fate_probabilities(wells, "type", both, operator=op, copy=True)
    out = wells.obs["type"] != "between"
    np.testing.assert_array_equal(found.obsm["X_fate"][:, 0], out)


def test_cells_of_another_piece_have_no_fate():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(400, 1)), 60 + rng.normal(size=(200, 1))])
    label = np.select([x[:, 0] < -1, (x[:, 0] > 1) & (x[:, 0] < 30)], ["left", "right"], "rest")
    cells = Cells({"X_pca": x}, {"type": label})
    with pytest.warns(vbdm.errors.UnreachedWarning, match="200 of 600 points"):
        single_cell.fate_probabilities(cells, "type", ["left", "right"])
    assert np.isnan(cells.obsm["X_fate"][400:]).all()
    assert np.isnan(cells.obs["vbdm_fate_priming"][400:]).all()
    assert np.isfinite(cells.obsm["X_fate"][:400]).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"adata": np.ones(3)}, "`adata` must be an AnnData object"),
        ({"groupby": "kind"}, "`groupby` is no name in `adata.obs`.*'type'"),
        ({"use_rep": "X_umap", "operator": None}, "`use_rep` is no name in `adata.obsm`.*'X_pca'"),
        ({"groups": ["left"]}, "two sets or more"),
        ({"groups": ["left", "up"]}, "label that does not occur"),
        ({"groups": "left"}, "`groups` must be a list of texts"),
        ({"groups": {"a": ["left"], "b": []}}, "`b` is empty"),
        ({"groups": {"a": ["left"], "b": ["left", "right"]}}, "overlap"),
        ({"operator": 3}, "`operator`"),
        ({"copy": "yes"}, "`copy`"),
        ({"key_added": 3}, "`key_added`"),
    ],
)
def test_words(wells, op, arguments, words):
    sensible = {"adata": wells, "groupby": "type", "groups": ["left", "right"], "operator": op}
    with pytest.raises(InputError, match=words):
        single_cell.fate_probabilities(**{**sensible, **arguments})


def test_an_operator_of_other_cells(wells):
    other = vbdm.estimate_operator(wells.obsm["X_pca"][:500], "generator")
    with pytest.raises(InputError, match="500 points, 3000 cells"):
        single_cell.diffmap(wells, operator=other)


def test_pseudotime_follows_the_data_from_the_root():
    rng = np.random.default_rng(0)
    along = np.sort(rng.random(800))
    curve = np.stack([np.cos(4 * along), np.sin(4 * along)], axis=1)
    cells = Cells({"X_pca": np.concatenate([curve, 50 + rng.normal(size=(200, 2))])}, (),
                  {"iroot": np.int64(0)})  # fmt: skip
    single_cell.pseudotime(cells)
    time = cells.obs["vbdm_pseudotime"]
    assert np.corrcoef(time[:800], along)[0, 1] > 0.95
    assert (time[0], time[:800].max()) == (0, 1)
    assert np.isnan(time[800:]).all()
    end = single_cell.pseudotime(cells, root=799, key_added="back", copy=True)
    assert end.obs["back"][799] == 0
    assert end.obs["back"][0] > 0.9
    assert "back" not in cells.obs
    with pytest.raises(InputError, match="'iroot'"):
        single_cell.pseudotime(Cells(cells.obsm))
    with pytest.raises(InputError, match=r"adata\.uns"):
        single_cell.pseudotime(Cells(cells.obsm, (), {"iroot": "first"}))
    with pytest.raises(InputError, match="root"):
        single_cell.pseudotime(cells, root=5000)
