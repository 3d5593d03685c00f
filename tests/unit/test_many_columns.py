"""Many columns: one search, words that help, and fewer columns by linear preparation."""

import numpy as np
import pytest

import vbdm


def test_advice_at_the_longest_lists():
    """Lists end at a ceiling of ours: nobody is told to raise it."""
    X = np.random.default_rng(4100).standard_normal((1500, 30))
    with pytest.warns(vbdm.SaturatedNeighborsWarning) as caught:
        op = vbdm.estimate_operator(X, "generator")
    words = next(str(w.message) for w in caught if w.category is vbdm.SaturatedNeighborsWarning)
    assert op.n_neighbors == 1088
    assert "pca" in words
    assert "n_neighbors" not in words


def test_one_search_for_all(monkeypatch):
    """Dimension, density, ε and kernel use the same lists: all points are searched once."""
    from vbdm.graph import neighbor_graph

    lengths = []
    original = neighbor_graph.search_all

    def counted(index, cloud, k, *, keep):
        lengths.append(k)
        return original(index, cloud, k, keep=keep)

    monkeypatch.setattr(neighbor_graph, "search_all", counted)
    X = np.random.default_rng(4101).standard_normal((1200, 25))
    with pytest.warns(vbdm.SaturatedNeighborsWarning):
        vbdm.estimate_operator(X, "generator")
    assert lengths == [1088]
